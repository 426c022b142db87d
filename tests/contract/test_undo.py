"""What an undo takes back, and what it leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.contract.story import (
    CACHE,
    DAY,
    FRIDAY,
    LINES,
    MARA,
    NEXT,
    PORT,
    THIRD,
    asked,
    commits,
    held,
    ident,
    items,
    night,
    page_of,
    reword,
    start,
    status,
    waiting,
)  # fmt: skip

if TYPE_CHECKING:
    from tests.conftest import Memory

AT = ("--now", "2026-03-13T09:00")
KETTLE = "The kettle is new."


@pytest.fixture
def told(memory: Memory) -> Memory:
    """Return a memory with two nights: the second adds an item, closes one and replaces one."""
    night(memory, DAY, *LINES)
    night(memory, NEXT, f"Fact: {KETTLE}", f"Done: {MARA}", "Correction: the gateway listens on port 9090, not 8080")
    return memory


def test_a_run_is_taken_back_whole(told: Memory) -> None:
    told.curate("undo", *AT)
    assert (status(told, MARA), status(told, PORT)) == ("open", "live")
    assert KETTLE not in held(told)
    assert not [text for text in held(told) if "9090" in text]


def test_what_was_taken_back_is_not_proposed_again(told: Memory) -> None:
    told.curate("undo", *AT)
    night(told, THIRD, f"Fact: {KETTLE}", "Fact: It rains.")
    assert held(told) >= {"It rains.", MARA, PORT}
    assert KETTLE not in held(told)


def test_an_undo_can_be_undone(told: Memory) -> None:
    before = items(told)
    told.curate("undo", *AT)
    told.curate("undo", asked(told, "runs")[0]["run"], "--now", "2026-03-13T10:00")
    assert items(told) == before


def test_one_item_of_a_run_is_taken_back(told: Memory) -> None:
    told.curate("undo", "--item", ident(told, MARA), *AT)
    assert status(told, MARA) == "open"
    assert KETTLE in held(told)


def test_an_older_run_is_taken_back_and_what_came_later_stays(told: Memory) -> None:
    first = next(one["run"] for one in asked(told, "runs") if one["added"] == len(LINES))
    told.curate("undo", first, *AT)
    assert CACHE not in held(told)
    assert KETTLE in held(told)


def test_what_a_person_changed_since_is_kept(told: Memory) -> None:
    run = next(one["run"] for one in asked(told, "runs") if one["added"] == 2)
    reword(told, KETTLE, "The kettle is new and blue.")
    reword(told, MARA, f"{MARA} tonight", page_of(told, MARA))
    night(told, THIRD)
    told.curate("undo", run, *AT)
    assert {"The kettle is new and blue.", f"{MARA} tonight"} <= set(items(told))
    assert status(told, PORT) == "live"


def test_an_undo_of_a_deletion_brings_the_line_back(told: Memory) -> None:
    reword(told, KETTLE, "gone")
    night(told, THIRD)
    told.curate("undo", *AT)
    assert told.git("status", "--porcelain") == ""


def test_a_dry_run_of_an_undo_shows_and_writes_nothing(told: Memory) -> None:
    before = told.files()
    assert KETTLE in told.curate("undo", "--dry-run", *AT)
    assert told.files() == before


@pytest.mark.parametrize(
    "words",
    [("done", MARA), ("end", FRIDAY), ("correct", CACHE, "Use Postgres for the cache."), ("pin", FRIDAY),
     ("add", "Fact", "It snows."), ("retract", CACHE), ("drop", MARA)],
)  # fmt: skip
def test_every_verb_is_taken_back_without_a_trace_in_what_is_held(memory: Memory, words: tuple[str, ...]) -> None:
    night(memory, DAY, *LINES)
    before, shown, count = items(memory), start(memory, AT[1]), commits(memory)
    memory.curate(*words, *AT)
    assert commits(memory) == count + 1
    memory.curate("undo", *AT)
    assert (items(memory), start(memory, AT[1])) == (before, shown)


def test_a_decision_in_the_inbox_is_taken_back(memory: Memory) -> None:
    night(memory, DAY, "Decision: Tests run on Jest.")
    night(memory, NEXT, "Correction: the deploy takes 12 minutes, not 40")
    for one in waiting(memory):
        memory.curate("review", one["id"], "--reject", *AT)
    assert waiting(memory) == []
    memory.curate("undo", *AT)
    assert waiting(memory)


def test_a_git_revert_of_a_night_is_heeded(told: Memory) -> None:
    told.git("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "revert", "--no-edit", "HEAD")
    told.curate("run", "--now", "2026-03-13T02:00")
    assert told.git("status", "--porcelain") == ""
    assert status(told, PORT) == "live"


def test_what_a_person_deleted_stays_deleted_when_the_run_that_saw_it_is_undone(told: Memory) -> None:
    text = told.read("Projects/alpha.md")
    told.write("Projects/alpha.md", "".join(line for line in text.splitlines(keepends=True) if KETTLE not in line))
    night(told, THIRD, "Fact: It rains.")
    told.curate("undo", *AT)
    night(told, "2026-03-13", f"Fact: {KETTLE}")
    assert not {KETTLE, "It rains."} & held(told)
