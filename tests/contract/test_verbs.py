"""What the verbs by hand do, and how each is undone; what they say of bad input."""

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
    asked,
    commits,
    held,
    ident,
    items,
    night,
    page_of,
    start,
    status,
)  # fmt: skip

AT = ("--now", "2026-03-11T09:00")
OUTCOMES = [
    (("done", MARA), MARA, "done"), (("drop", MARA), MARA, "dropped"), (("resolve", DISK), DISK, "resolved"),
    (("end", FRIDAY), FRIDAY, "ended"), (("end", CACHE), CACHE, "ended"), (("retract", PORT), PORT, "never-held"),
    (("close", "--as", "occurred", DISK), DISK, "occurred"), (("close", "--as", "answered", PORT), PORT, "answered"),
]  # fmt: skip


@pytest.mark.parametrize(("words", "text", "over"), OUTCOMES)
def test_a_verb_gives_an_item_its_outcome_in_one_commit(
    told: Memory, words: tuple[str, ...], text: str, over: str
) -> None:
    count = commits(told)
    told.curate(*words, *AT)
    one = items(told)[text]
    assert (one["status"], one["until"]) == (over, "2026-03-11")
    told.curate(*words[:-1], one["id"], *AT)
    assert commits(told) == count + 1, "what is over already is not ended again"
    assert text not in start(told).partition("=== Yesterday")[0]


@pytest.mark.parametrize(("words", "text"), [(words, text) for words, text, _ in OUTCOMES[::2]])
def test_what_a_verb_ended_can_be_opened_again_and_undone(told: Memory, words: tuple[str, ...], text: str) -> None:
    before = items(told)[text]["status"]
    told.curate(*words, *AT)
    told.curate("undo", *AT)
    assert status(told, text) == before
    told.curate(*words, *AT)
    told.curate("reopen", ident(told, text), *AT)
    assert status(told, text) == before


def test_an_outcome_survives_the_next_nights(told: Memory) -> None:
    for words in {text: words for words, text, _ in OUTCOMES}.values():
        told.curate(*words, *AT)
    night(told, NEXT, "Fact: The kettle is new.")
    assert held(told) == {"The kettle is new."}


def test_correct_replaces_and_says_by_what(told: Memory) -> None:
    told.curate("correct", "8080", "The gateway listens on port 9090.", *AT)
    new = items(told)["The gateway listens on port 9090."]
    assert (new["trust"], items(told)[PORT]["superseded_by"]) == ("owner", new["id"])


def test_a_corrected_todo_is_due_when_its_new_words_say(told: Memory) -> None:
    told.curate("add", "Todo", "Pay the rent (due 2026-04-01)", "--document", ALPHA, *AT)
    for new, due in (("Pay the rent by 2026-04-15", "2026-04-15"), ("Pay the rent in full by 20 April", "2026-04-20")):
        told.curate("correct", "Pay the rent", new, *AT)
        assert items(told)[new]["due"] == due
    told.curate("correct", "in full by 20 April", "Pay the whole rent", *AT)
    assert items(told)["Pay the whole rent"].get("due") in {None, ""}


def test_add_takes_a_persons_word_to_the_page_that_is_named(told: Memory) -> None:
    told.curate("add", "Fact", "The kettle is new.", "--document", ALPHA, *AT)
    one = items(told)["The kettle is new."]
    assert (one["trust"], one["document"]) == ("owner", ALPHA)


def test_move_pin_and_unpin(told: Memory) -> None:
    told.write("Areas/work.md", "# Work\n")
    told.curate("move", FRIDAY, "Areas/work.md", *AT)
    assert page_of(told, FRIDAY) == "Areas/work.md"
    told.curate("pin", FRIDAY, *AT)
    assert told.row(FRIDAY)["pinned"]
    told.curate("unpin", FRIDAY, *AT)
    assert "pinned" not in told.row(FRIDAY)


def test_projects_are_made_renamed_merged_and_closed(told: Memory) -> None:
    told.write("Projects/beacon.md", "# Beacon\n")
    told.curate("project", "rename", "alpha", "Orion", *AT)
    assert page_of(told, PORT) == "Projects/orion.md"
    told.curate("project", "merge", "orion", "Beacon", *AT)
    assert page_of(told, PORT) == "Projects/beacon.md"
    night(told, NEXT, "Fact: The gateway has two fans.")
    assert page_of(told, "The gateway has two fans.") == "Projects/beacon.md"
    told.curate("project", "close", "beacon", "--yes", *AT)
    assert "Beacon" not in told.read("MEMORY.md")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("done", "no such thing at all"), 2), (("done", "knothing0000"), 1), (("correct", MARA, ""), 2),
        (("undo", "no-such-run"), 1), (("why", "kffffffffff"), 1), (("search",), 2), (("nosuchverb",), 2),
        (("move", PORT, "../outside.md"), 2), (("review", "qffffffff", "--accept"), 1), (("run", "--days", "x"), 2),
        (("project", "rename", "nowhere", "Else"), 2), (("add", "Wish", "for rain"), 2), (("recap", "2026-13-45"), 2),
        (("run", "--provider", "nonsense"), 2), (("resolve", MARA), 2),
    ],
)  # fmt: skip
def test_bad_input_is_named_without_a_traceback_and_changes_nothing(
    told: Memory, words: tuple[str, ...], code: int
) -> None:
    before = told.files()
    said = told.curate(*words, exits=code)
    assert said.strip()
    assert "Traceback" not in said
    assert told.files() == before


def test_a_word_that_fits_two_items_asks_which(told: Memory) -> None:
    night(told, NEXT, "Todo: Tell Mara about the kettle")
    said = told.curate("done", "Mara", "--now", "2026-03-12T09:00", exits=2)
    assert ident(told, MARA)[:6] in said
    assert status(told, MARA) == "open"


def test_check_finds_an_untouched_memory_sound(told: Memory) -> None:
    assert asked(told, "check") == []
    assert "ended well" in told.curate("status", *AT)


def test_evidence_moves_with_its_line(told: Memory) -> None:
    told.write(f"Logs/{DAY}.md", told.read(f"Logs/{DAY}.md").replace("- Decision", "- Coffee.\n- Tea.\n- Decision", 1))
    (place,) = asked(told, "why", ident(told, PORT))["evidence"]
    assert (place["start_line"], place["quote"]) == (6, f"- {LINES[1]}")


def test_a_todo_that_is_corrected_keeps_its_due_day(memory: Memory) -> None:
    night(memory, DAY, "Todo: Pay the printer (due 2026-03-12)")
    memory.curate("correct", "printer", "Pay the printer in cash", *AT)
    assert "due 2026-03-12" in start(memory)


def test_a_recap_of_a_project_tells_nothing_of_another(told: Memory) -> None:
    night(told, NEXT, "Fact: The kettle is new.", project="Harbor")
    told.night("2026-03-13T02:00")
    assert "kettle" in told.curate("recap", NEXT)
    assert "kettle" not in told.curate("recap", NEXT, "--project", "alpha")
