"""What a person may do to a page, and what the next run makes of it."""

import json

import pytest

from tests.conftest import Memory
from tests.contract.story import (
    ALPHA,
    CACHE,
    DAY,
    DISK,
    FRIDAY,
    LINES,
    MARA,
    NEXT,
    PORT,
    THIRD,
    asked,
    commits,
    found,
    held,
    ident,
    items,
    night,
    page_of,
    reline,
    reword,
    start,
    status,
    waiting,
)  # fmt: skip


def test_every_label_of_a_log_is_an_item_of_its_project(told: Memory) -> None:
    assert {(one["type"], text, one["document"]) for text, one in items(told).items()} == {
        (*line.split(": "), ALPHA) for line in LINES
    }


def test_a_night_with_nothing_new_changes_no_byte(told: Memory) -> None:
    before, count = told.files(), commits(told)
    night(told, DAY)
    assert (told.files(), commits(told)) == (before, count)


def test_an_exported_page_carries_what_the_ledger_knows(told: Memory) -> None:
    page = json.loads(told.curate("export", ALPHA))
    assert (page["path"], page["text"]) == (ALPHA, told.read(ALPHA))
    rows = {row["id"]: row for row in page["rows"] if "type" in row}
    assert rows.keys() == {ident(told, text) for text in items(told)}
    assert all(row["from"][0].startswith(f"Logs/{DAY[:10]}.md#L") for row in rows.values())


def test_new_words_are_the_persons_and_the_old_ones_are_in_the_history(told: Memory) -> None:
    who = ident(told, PORT)
    reword(told, "8080", "9090")
    night(told, NEXT)
    one = items(told)["The gateway listens on port 9090."]
    assert (one["id"], one["trust"]) == (who, "owner")
    assert "8080" in told.curate("history", who)


def test_a_log_does_not_overrule_what_a_person_wrote(told: Memory) -> None:
    reword(told, "8080", "9090")
    night(told, NEXT, "Correction: The gateway listens on port 7070.")
    assert "The gateway listens on port 9090." in held(told)
    assert any("7070" in str(one) for one in waiting(told))


def test_a_deleted_line_stays_deleted_though_the_log_still_has_it(told: Memory) -> None:
    reline(told, PORT, lambda _: "")
    night(told, NEXT, "Fact: The sky is clear today.")
    night(told, THIRD, LINES[1])
    assert PORT not in held(told)


def test_an_item_moves_with_its_line_to_another_page(told: Memory) -> None:
    who, line = ident(told, FRIDAY), ""

    def cut(text: str) -> str:
        nonlocal line
        line = text
        return ""

    reline(told, FRIDAY, cut)
    told.write("Areas/work.md", f"# Work\n\n{line}")
    night(told, NEXT)
    assert items(told)[FRIDAY]["document"] == "Areas/work.md"
    assert ident(told, FRIDAY) == who


@pytest.mark.parametrize(
    ("text", "change", "after"),
    [
        (MARA, lambda line: line.replace("[ ]", "[x]"), "done"),
        (MARA, lambda line: line.replace("[ ]", "[X]"), "done"),
        (CACHE, lambda line: line.replace(f"Decision: {CACHE}", f"~~Decision: {CACHE}~~"), "retracted"),
    ],
    ids=["ticked", "ticked with a capital", "struck"],
)
def test_a_mark_on_a_line_is_heeded(told: Memory, text: str, change: object, after: str) -> None:
    assert callable(change)
    reline(told, text, change)
    night(told, NEXT)
    assert status(told, text) == after
    assert text not in held(told)


def test_a_tick_that_is_taken_away_opens_the_todo_again(told: Memory) -> None:
    reline(told, MARA, lambda line: line.replace("[ ]", "[x]"))
    night(told, NEXT)
    reline(told, MARA, lambda line: line.replace("[x]", "[ ]"), page_of(told, MARA))
    night(told, THIRD)
    assert status(told, MARA) == "open"


def test_a_line_with_a_label_is_a_new_item_of_the_persons(told: Memory) -> None:
    told.write(ALPHA, told.read(ALPHA) + "\n- Decision: Ship on Mondays.\n")
    night(told, NEXT)
    one = items(told)["Ship on Mondays."]
    assert (one["type"], one["trust"], one["document"]) == ("Decision", "owner", ALPHA)


def test_prose_stays_where_it_was_written(told: Memory) -> None:
    prose = "\nThe gateway was Odile's idea.\n\n> She drew it on a napkin.\n\n```\nnot - Fact: an item\n```\n"
    head, mark, rest = told.read(ALPHA).partition("# Alpha\n")
    told.write(ALPHA, head + mark + prose + rest)
    night(told, NEXT, "Fact: The gateway has two fans.")
    assert prose in told.read(ALPHA)
    assert "an item" not in held(told)


def test_an_item_in_a_fence_or_a_quotation_is_words(told: Memory) -> None:
    told.write(ALPHA, told.read(ALPHA) + "\n```\n- Fact: In a fence.\n```\n\n> - Fact: Quoted.\n")
    night(told, NEXT)
    assert held(told) == {CACHE, PORT, FRIDAY, MARA, DISK}


def test_the_words_of_a_line_may_be_formatted(told: Memory) -> None:
    who = ident(told, CACHE)
    reword(told, "SQLite", "**SQLite**")
    night(told, NEXT)
    assert [one["id"] for text, one in items(told, "live").items() if "cache" in text] == [who]


def test_a_line_that_is_copied_is_no_second_item(told: Memory) -> None:
    reline(told, PORT, lambda line: line + line)
    night(told, NEXT)
    assert [one["text"] for one in asked(told, "items")].count(PORT) == 1


def test_a_page_that_is_renamed_keeps_its_items(told: Memory) -> None:
    before = {text: one["id"] for text, one in items(told).items()}
    (told.root / ALPHA).rename(told.root / "Projects/omega.md")
    night(told, NEXT)
    assert {text: one["id"] for text, one in items(told).items()} == before
    assert page_of(told, PORT) == "Projects/omega.md"


@pytest.mark.parametrize(("choice", "after"), [("restore", {CACHE, PORT, FRIDAY, MARA, DISK}), ("retract", set[str]())])
def test_a_page_that_is_deleted_is_asked_about_once(told: Memory, choice: str, after: set[str]) -> None:
    (told.root / ALPHA).unlink()
    night(told, NEXT)
    (one,) = waiting(told)
    assert "Projects/alpha.md" in one["title"]
    told.curate("review", one["id"], "--choose", choice, "--now", "2026-03-12T09:00")
    assert waiting(told) == []
    assert held(told) == after


def test_windows_line_ends_stay(told: Memory) -> None:
    told.write(ALPHA, told.read(ALPHA).replace("\n", "\r\n"))
    night(told, NEXT, "Fact: The gateway has two fans.")
    text = told.read(ALPHA)
    assert "two fans" in text
    assert text.count("\n") == text.count("\r\n")


def test_a_tracked_page_without_a_remembered_commit_of_its_lines_comes_from_elsewhere(told: Memory) -> None:
    line = next(line for line in told.read(ALPHA).splitlines() if PORT in line)
    strange = line.replace(ident(told, PORT), "kdeadbeef01").replace(PORT, "The safe opens with 1234.")
    told.write("Areas/strange.md", f"# Strange\n\n{strange}\n")
    night(told, NEXT)
    assert "The safe opens with 1234." not in start(told, "2026-03-12T08:00")
    assert any("1234" in str(one) for one in waiting(told))


def test_a_hand_edit_counts_at_once(told: Memory) -> None:
    reword(told, "8080", "9090")
    assert "9090" in start(told)
    assert "9090" in found(told, "gateway port")[0]["text"]
    assert "The gateway listens on port 9090." in held(told)


def test_front_matter_of_a_persons_own_stays_and_is_found(told: Memory) -> None:
    told.write(ALPHA, told.read(ALPHA).replace("---\n", "---\nclient: Tidewater\n", 1))
    night(told, NEXT, "Fact: The gateway has two fans.")
    assert "client: Tidewater" in told.read(ALPHA)
    assert found(told, "client=Tidewater")


def test_a_page_closed_by_hand_is_no_longer_worked_on(told: Memory) -> None:
    told.write(ALPHA, told.read(ALPHA).replace("status: active", "status: done"))
    night(told, NEXT)
    assert "Alpha" not in told.read("MEMORY.md")
    assert found(told, "gateway port")


def test_a_log_with_the_old_words_does_not_bring_them_back(told: Memory) -> None:
    reword(told, "8080", "9090")
    night(told, NEXT)
    night(told, THIRD, LINES[1])
    assert PORT not in held(told)
    assert waiting(told) == []
