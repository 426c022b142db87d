"""What an undo takes back, and what it leaves."""

import re

import pytest

from tests.conftest import Memory, Once
from tests.contract.story import (
    ALPHA,
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

AT = ("--now", "2026-03-13T09:00")
KETTLE = "The kettle is new."


def second_night(memory: Memory) -> None:
    night(memory, NEXT, f"Fact: {KETTLE}", f"Done: {MARA}", "Correction: the gateway listens on port 9090, not 8080")


@pytest.fixture
def twice(told: Memory, once: Once) -> Memory:  # noqa: ARG001  it comes before
    """Return a memory with two nights: the second adds an item, closes one and replaces one."""
    return once(second_night)


def test_a_run_is_taken_back_whole(twice: Memory) -> None:
    twice.curate("undo", *AT)
    assert (status(twice, MARA), status(twice, PORT)) == ("open", "live")
    assert KETTLE not in held(twice)
    assert not [text for text in held(twice) if "9090" in text]


def test_an_undo_names_what_brings_it_back(twice: Memory) -> None:
    before = held(twice)
    found = re.search(r"`curate (undo \w+)` brings it back", twice.curate("undo", *AT))
    assert found
    twice.curate(*found[1].split(), *AT)
    assert held(twice) == before


def test_an_item_is_named_by_words_and_only_pages_are_shown_before(twice: Memory) -> None:
    shown = twice.curate("undo", "--item", "the kettle", "--dry-run", *AT)
    assert f"-- Fact: {KETTLE}" in shown
    assert "State/" not in shown
    twice.curate("undo", "--item", "the kettle", *AT)
    assert KETTLE not in held(twice)
    assert status(twice, MARA) == "done"


def test_what_was_taken_back_is_not_proposed_again(twice: Memory) -> None:
    twice.curate("undo", *AT)
    night(twice, THIRD, f"Fact: {KETTLE}", "Fact: It rains.")
    assert held(twice) >= {"It rains.", MARA, PORT}
    assert KETTLE not in held(twice)


def test_a_run_that_only_took_in_edits_is_no_reason_to_undo_another(twice: Memory) -> None:
    reword(twice, KETTLE, "The kettle is old.")
    twice.night("2026-03-13T08:00")
    assert "only took in what you edited" in twice.curate("undo", *AT, exits=1)
    assert status(twice, "The kettle is old.") == "live"


def test_an_undo_of_an_unknown_run_commits_no_edits(twice: Memory) -> None:
    twice.write("Projects/notes.md", "# Notes\n\nStill a draft.\n")
    before = commits(twice)
    twice.curate("undo", "zzzz", *AT, exits=1)
    assert commits(twice) == before


def test_an_undo_can_be_undone(twice: Memory) -> None:
    before, run = items(twice), asked(twice, "runs")[0]["run"]
    twice.curate("undo", *AT)
    assert "was undone already" in twice.curate("undo", run, exits=1)
    twice.curate("undo", asked(twice, "runs")[0]["run"], "--now", "2026-03-13T10:00")
    assert items(twice) == before
    assert "undone" not in twice.read("State/tombstones.jsonl"), "what is back is vetoed no more"


def test_one_item_of_a_run_is_taken_back(twice: Memory) -> None:
    twice.curate("undo", "--item", ident(twice, MARA), *AT)
    assert status(twice, MARA) == "open"
    assert KETTLE in held(twice)


def test_an_older_run_is_taken_back_and_what_came_later_stays(twice: Memory) -> None:
    first = next(one["run"] for one in asked(twice, "runs") if one["added"] == len(LINES))
    twice.curate("undo", first, *AT)
    assert CACHE not in held(twice)
    assert KETTLE in held(twice)


def test_what_a_person_changed_since_is_kept(twice: Memory) -> None:
    run = next(one["run"] for one in asked(twice, "runs") if one["added"] == 2)
    reword(twice, KETTLE, "The kettle is new and blue.")
    reword(twice, MARA, f"{MARA} tonight", page_of(twice, MARA))
    night(twice, THIRD)
    twice.curate("undo", run, *AT)
    assert {"The kettle is new and blue.", f"{MARA} tonight"} <= set(items(twice))
    assert status(twice, PORT) == "live"


def test_a_dry_run_of_an_undo_shows_and_writes_nothing(twice: Memory) -> None:
    before = twice.files()
    assert KETTLE in twice.curate("undo", "--dry-run", *AT)
    assert twice.files() == before


@pytest.mark.parametrize(
    "words",
    [("done", MARA), ("end", FRIDAY), ("correct", CACHE, "Use Postgres for the cache."), ("pin", FRIDAY),
     ("add", "Fact", "It snows.")],
)  # fmt: skip
def test_every_verb_is_taken_back_without_a_trace_in_what_is_held(told: Memory, words: tuple[str, ...]) -> None:
    before, shown, count = items(told), start(told, AT[1]), commits(told)
    told.curate(*words, *AT)
    assert commits(told) == count + 1
    told.curate("undo", *AT)
    assert (items(told), start(told, AT[1])) == (before, shown)


def test_a_git_revert_of_a_night_is_heeded(twice: Memory) -> None:
    twice.git("revert", "--no-edit", "HEAD")
    twice.night("2026-03-13T02:00")
    assert twice.git("status", "--porcelain") == ""
    assert status(twice, PORT) == "live"


def test_what_a_person_deleted_stays_deleted_when_the_run_that_saw_it_is_undone(twice: Memory) -> None:
    text = twice.read("Projects/alpha.md")
    twice.write("Projects/alpha.md", "".join(line for line in text.splitlines(keepends=True) if KETTLE not in line))
    night(twice, THIRD, "Fact: It rains.")
    twice.curate("undo", *AT)
    night(twice, "2026-03-13", f"Fact: {KETTLE}")
    assert not {KETTLE, "It rains."} & held(twice)


def test_a_decision_in_the_inbox_is_taken_back_after_later_nights(memory: Memory) -> None:
    night(memory, DAY, "Decision: Tests run on Jest.")
    night(memory, NEXT, "Correction: the deploy takes 12 minutes, not 40")
    (one,) = waiting(memory)
    memory.curate("review", one["id"], "--reject", *AT)
    decided = asked(memory, "runs")[0]["run"]
    night(memory, "2026-03-13", f"Fact: {KETTLE}", "Correction: the build takes 3 minutes, not 9")
    (other,) = waiting(memory)
    memory.curate("undo", decided, "--now", "2026-03-14T09:00")
    assert {one["id"] for one in waiting(memory)} == {one["id"], other["id"]}
    assert KETTLE in held(memory)
    assert asked(memory, "check") == []


def test_a_rename_is_taken_back_with_what_came_since(told: Memory) -> None:
    told.curate("project", "rename", "alpha", "Orion", *AT)
    night(told, "2026-03-12", f"Fact: {KETTLE}", project="Orion")
    renamed = next(one["run"] for one in asked(told, "runs") if "rename" in one["why"].lower())
    told.curate("undo", renamed, "--now", "2026-03-14T09:00")
    assert {one["document"] for one in items(told).values()} == {"Projects/alpha.md"}
    assert {KETTLE, PORT} <= held(told)
    assert asked(told, "check") == []


def test_what_was_changed_since_is_asked_about_once(twice: Memory) -> None:
    run = next(one["run"] for one in asked(twice, "runs") if one["added"] == 2)
    reword(twice, KETTLE, "The kettle is new and blue.")
    night(twice, THIRD)
    twice.curate("undo", run, "--now", "2026-03-14T09:00")
    (one,) = waiting(twice)
    assert "The kettle is new and blue." in str(one)
    twice.curate("review", one["id"], "--choose", "first", "--now", "2026-03-14T10:00")
    assert waiting(twice) == []


def test_an_undo_reaches_a_page_of_any_name(told: Memory) -> None:
    told.write('Projects/the "new" kiln.md', "# Kiln\n")
    told.write(f"Logs/{NEXT}.md", "project: Kiln\n\n- Fact: It is lit.\n")
    told.night("2026-03-13T02:00")
    assert "It is lit." in told.read('Projects/the "new" kiln.md')
    told.curate("undo", *AT)
    assert "It is lit." not in held(told)


def test_an_undo_follows_a_page_that_was_renamed_since(twice: Memory) -> None:
    (twice.root / ALPHA).rename(twice.root / "Projects/omega.md")
    twice.curate("undo", *AT)
    assert {one["document"] for one in items(twice).values()} == {"Projects/omega.md"}
    assert (status(twice, MARA), status(twice, PORT)) == ("open", "live")
    assert KETTLE not in held(twice)


def test_the_episodes_of_later_days_stay_when_an_earlier_run_is_undone(twice: Memory) -> None:
    run = next(one["run"] for one in asked(twice, "runs") if one["added"] == 2)
    reword(twice, KETTLE, "The kettle is red.")
    night(twice, THIRD, "Fact: It rains.")
    night(twice, "2026-03-13", "Fact: Mara paints the fence.")
    twice.curate("undo", run, "--now", "2026-03-15T09:00")
    (question,) = waiting(twice)
    assert "kettle" in str(question)
    episodes = twice.read("Episodes/2026-03.md")
    assert "The kettle is red." in episodes
    assert "It rains." in episodes
    assert "Mara paints the fence." in episodes
    assert "9090" not in episodes
