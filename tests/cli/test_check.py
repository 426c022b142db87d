"""`curate check`: what a careless hand edit breaks is named with file, line and item, and mended where it can be."""

import pytest

from tests.conftest import Memory, Once

ALPHA = "Projects/alpha.md"
NOW = ("--now", "2026-03-20T02:00")


def a_night(memory: Memory) -> None:
    lines = "".join(f"- Decision: choice number {n}\n" for n in range(1, 5))
    memory.day("2026-03-10", f"project: Alpha\n\n{lines}")
    assert "Everything is accounted for" in memory.curate("check")


@pytest.fixture
def alpha(once: Once) -> Memory:
    return once(a_night)


def faults(memory: Memory, *more: str, exits: int = 1) -> list[dict[str, object]]:
    told: list[dict[str, object]] = memory.json("check", *more, exits=exits)
    return told


def line_of(memory: Memory, part: str) -> tuple[int, str]:
    return next((n, line) for n, line in enumerate(memory.read(ALPHA).splitlines(), 1) if part in line)


def ident(line: str) -> str:
    return line.rpartition("^")[2]


def test_broken_front_matter_and_an_item_in_code(alpha: Memory) -> None:
    _, line = line_of(alpha, "number 3")
    text = alpha.read(ALPHA).replace("status: active", "no key here").replace(line, f"```\n{line}\n```")
    alpha.write(ALPHA, text)
    kinds = {(fault["kind"], fault["line"]) for fault in faults(alpha)}
    number, _ = line_of(alpha, "number 3")
    assert {("front-matter", 4), ("broken-comment", number)} <= kinds


def test_an_item_that_vanished_is_found_in_history_and_asked_about(alpha: Memory) -> None:
    _, line = line_of(alpha, "number 4")
    alpha.write(ALPHA, alpha.read(ALPHA).replace(line + "\n", ""))
    alpha.git("add", "-A")
    alpha.git("commit", "-qm", "careless")
    [fault] = faults(alpha)
    assert (fault["kind"], fault["item"], fault["path"]) == ("vanished", ident(line), ALPHA)
    alpha.curate("run", *NOW)
    assert faults(alpha, exits=0) == []
    assert ident(line) in alpha.read("State/tombstones.jsonl")


def test_of_a_page_with_a_blank_in_its_name_too_and_a_mention_is_no_item(alpha: Memory) -> None:
    _, line = line_of(alpha, "number 4")
    page = "Projects/alpha two.md"
    alpha.write(
        page, "# Alpha two\n\n" + line.replace(ident(line), "kdeadbeef00") + "\n\nSee the old ^kdeadbeef11 there.\n"
    )
    for _ in range(2):
        alpha.git("add", "-A")
        alpha.git("commit", "-qm", "careless")
        alpha.write(page, "# Alpha two\n")
    [fault] = faults(alpha)
    assert (fault["kind"], fault["item"], fault["path"]) == ("vanished", "kdeadbeef00", page)


def test_an_item_whose_tombstone_is_lost_is_named_with_where_its_line_is(alpha: Memory) -> None:
    _, line = line_of(alpha, "number 4")
    alpha.write(ALPHA, alpha.read(ALPHA).replace(line + "\n", ""))
    alpha.curate("run", *NOW)
    (alpha.root / "State/tombstones.jsonl").unlink()
    alpha.git("commit", "-qam", "careless")
    [fault] = faults(alpha)
    assert (fault["kind"], fault["item"]) == ("vanished", ident(line))
    command = str(fault["what"]).split("`")[1]
    assert line in alpha.git(*command.split()[1:])


def test_an_item_of_a_page_that_is_gone_from_the_disk_is_where_the_last_commit_has_it(alpha: Memory) -> None:
    alpha.curate("add", "Fact", "The kettle leaks.", "--document", "Kettle", *NOW)
    (alpha.root / "Projects/kettle.md").unlink()
    [fault] = faults(alpha)
    command = str(fault["what"]).split("`")[1]
    assert "The kettle leaks." in alpha.git(*command.split()[1:])


def test_state_that_is_damaged_is_named_with_what_restores_it(alpha: Memory) -> None:
    _, line = line_of(alpha, "number 4")
    alpha.write(ALPHA, alpha.read(ALPHA).replace(line + "\n", ""))
    alpha.curate("run", *NOW)
    stones = alpha.read("State/tombstones.jsonl")
    alpha.write("State/tombstones.jsonl", stones[: len(stones) // 2])
    alpha.write("State/progress.jsonl", alpha.read("State/progress.jsonl") + "{half\n")
    found = {(fault["path"], fault["line"], fault["kind"]) for fault in faults(alpha)}
    assert {("State/tombstones.jsonl", 1, "state"), ("State/progress.jsonl", 2, "state")} <= found
    for command in {str(fault["what"]).split("`")[1] for fault in faults(alpha)}:
        alpha.git(*command.split()[1:])
    assert alpha.read("State/tombstones.jsonl") == stones
    assert faults(alpha, exits=0) == []
