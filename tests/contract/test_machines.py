"""Two machines share a memory through a remote: nothing is lost, nothing doubled, and both end alike."""

from pathlib import Path

import pytest

from pipelines.cli import run_cli
from tests.conftest import Memory, Once
from tests.contract.story import (
    ALPHA,
    DAY,
    FRIDAY,
    LINES,
    MARA,
    NEXT,
    PORT,
    THIRD,
    asked,
    held,
    ident,
    items,
    log,
    night,
    reline,
    reword,
    shares,
    status,
    waiting,
)  # fmt: skip

Pair = tuple[Memory, Memory]
EVENING = ("--now", "2026-03-12T23:00")
KETTLE, FANS = "The kettle is new.", "The gateway has two fans."


def on_two_machines(memory: Memory) -> None:
    other = shares(memory, memory.root.parent)
    night(memory, DAY, *LINES)
    other.curate("sync", "--now", "2026-03-11T03:00")


@pytest.fixture
def pair(once: Once, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pair:
    """Return a memory that has one night behind it, on two machines."""
    monkeypatch.setenv("CURATE_CONFIG", str(tmp_path / "config.toml"))
    one = once(on_two_machines)
    return one, one.aside(tmp_path / "other")


def meet(*machines: Memory) -> None:
    """Let each machine sync, and the first once more, for what the others said."""
    for one in (*machines, machines[0]):
        one.curate("sync", *EVENING)


def check_alike(one: Memory, other: Memory) -> None:
    """Both hold the same files and items, each item once, and nothing is left to commit."""
    assert one.files() == other.files()
    texts = [item["text"] for item in asked(one, "items")]
    assert len(texts) == len(set(texts))
    assert asked(other, "check") == []
    for machine in (one, other):
        assert machine.git("status", "--porcelain") == ""


def test_a_clone_has_the_items_of_the_first(pair: Pair) -> None:
    one, other = pair
    assert items(other) == items(one)


def test_logs_of_both_are_read_once(pair: Pair) -> None:
    one, other = pair
    log(one, NEXT, f"Fact: {KETTLE}")
    log(other, NEXT, f"Fact: {FANS}")
    meet(other, one)
    night(one, NEXT)
    meet(one, other)
    night(other, NEXT)
    meet(one, other)
    assert {KETTLE, FANS} <= held(one)
    check_alike(one, other)


def test_nights_on_both_file_each_item_once(pair: Pair) -> None:
    one, other = pair
    log(one, NEXT, f"Fact: {KETTLE}", f"Fact: {FANS}")
    log(other, NEXT, f"Fact: {KETTLE}", "Fact: It rains.")
    night(one, NEXT)
    night(other, NEXT)
    meet(one, other)
    assert {KETTLE, FANS, "It rains."} <= held(one)
    check_alike(one, other)


def test_edits_of_different_lines_are_both_kept(pair: Pair) -> None:
    one, other = pair
    reword(one, "8080", "9090")
    reword(other, "SQLite", "Postgres")
    meet(one, other)
    assert {"The gateway listens on port 9090.", "Use Postgres for the cache."} <= held(one)
    check_alike(one, other)


def test_a_line_typed_here_and_read_there_is_one_item(pair: Pair) -> None:
    one, other = pair
    one.write(ALPHA, f"{one.read(ALPHA)}\n- Fact: {KETTLE}\n")
    meet(one, other)
    night(other, THIRD)
    other.curate("sync", *EVENING)
    log(one, THIRD, f"Fact: {FANS}")
    one.curate("sync", "--now", "2026-03-14T08:00")
    meet(other, one)
    assert KETTLE in held(one)
    check_alike(one, other)


def test_a_mark_that_went_here_is_that_of_its_item(pair: Pair) -> None:
    one, other = pair
    before = items(one)
    reline(one, PORT, lambda line: line.partition(" ^")[0] + "\n")
    other.curate("log", f"Fact: {KETTLE}", *EVENING)
    meet(one, other)
    assert items(other) == before
    check_alike(one, other)


def test_what_one_closed_and_the_other_left_is_closed(pair: Pair) -> None:
    one, other = pair
    one.curate("done", MARA, *EVENING)
    log(other, NEXT, f"Fact: {KETTLE}")
    night(other, NEXT)
    meet(one, other)
    assert status(other, MARA) == "done"
    check_alike(one, other)


def test_a_line_deleted_here_and_left_there_stays_deleted(pair: Pair) -> None:
    one, other = pair
    reline(one, PORT, lambda _: "")
    night(one, NEXT, f"Fact: {KETTLE}")
    meet(one, other)
    night(other, THIRD, "Fact: It rains.")
    meet(other, one)
    assert PORT not in held(one)
    check_alike(one, other)


def test_a_line_deleted_here_and_reworded_there_is_kept(pair: Pair) -> None:
    one, other = pair
    reline(one, PORT, lambda _: "")
    reword(other, "8080", "9090")
    meet(one, other)
    assert "9090" in one.read(ALPHA) + one.read("Review.md")


def test_prose_of_both_stays(pair: Pair) -> None:
    one, other = pair
    one.write(ALPHA, one.read(ALPHA).replace("# Alpha\n", "# Alpha\n\nWords of the first.\n", 1))
    other.write(ALPHA, other.read(ALPHA) + "\nWords of the other.\n")
    meet(one, other)
    assert "Words of the first." in other.read(ALPHA)
    assert "Words of the other." in one.read(ALPHA)


def test_a_page_of_the_same_name_from_each_is_one_page_with_all_items(pair: Pair) -> None:
    one, other = pair
    night(one, NEXT, f"Fact: {KETTLE}", project="Beta")
    night(other, NEXT, f"Fact: {FANS}", project="Beta")
    meet(one, other)
    assert {items(one)[KETTLE]["document"], items(one)[FANS]["document"]} == {"Projects/beta.md"}
    check_alike(one, other)


def test_a_page_renamed_here_takes_the_items_of_there(pair: Pair) -> None:
    one, other = pair
    one.curate("project", "rename", "alpha", "Orion", *EVENING)
    night(other, NEXT, f"Fact: {KETTLE}")
    meet(one, other)
    assert {one["document"] for one in items(other).values()} == {"Projects/orion.md"}
    check_alike(one, other)


def test_an_undo_here_reaches_there(pair: Pair) -> None:
    one, other = pair
    night(one, NEXT, f"Fact: {KETTLE}")
    meet(one, other)
    other.curate("undo", *EVENING)
    meet(other, one)
    assert KETTLE not in held(one)
    check_alike(one, other)


def test_without_the_remote_a_night_works_and_says_so(pair: Pair, tmp_path: Path) -> None:
    one, other = pair
    (tmp_path / "remote.git").rename(tmp_path / "away")
    night(one, NEXT, f"Fact: {KETTLE}")
    assert KETTLE in held(one)
    assert "All is well" not in one.curate("status", *EVENING)
    (tmp_path / "away").rename(tmp_path / "remote.git")
    meet(one, other)
    assert KETTLE in held(other)


def test_what_waits_is_one_question_on_both(pair: Pair) -> None:
    one, other = pair
    for machine in pair:
        night(machine, NEXT, "Correction: the deploy takes 12 minutes, not 40")
    meet(one, other)
    assert len(waiting(one)) == len(waiting(other)) == 1
    one.curate("review", waiting(one)[0]["id"], "--reject", *EVENING)
    meet(one, other)
    assert waiting(other) == []
    check_alike(one, other)


def test_a_memory_made_from_a_bundle_is_the_memory(pair: Pair, tmp_path: Path) -> None:
    one, _ = pair
    one.curate("export", str(tmp_path / "all.bundle"))
    again = one.aside(tmp_path / "again")
    assert run_cli(["init", str(again.root), "--from", str(tmp_path / "all.bundle")]) == 0
    assert items(again) == items(one)


def test_what_one_closed_and_the_other_pinned_is_closed(pair: Pair) -> None:
    one, other = pair
    one.curate("end", FRIDAY, *EVENING)
    other.curate("pin", FRIDAY, *EVENING)
    meet(one, other)
    assert (status(one, FRIDAY), status(other, FRIDAY)) == ("ended", "ended")


def test_corrections_of_one_item_on_two_machines_are_one_question(pair: Pair) -> None:
    one, other = pair
    for machine, port in ((one, "9090"), (other, "7070")):
        machine.curate("correct", ident(machine, PORT), f"The gateway listens on port {port}.", *EVENING)
    meet(one, other)
    (question,) = waiting(one)
    assert "9090" in str(question)
    assert "7070" in str(question)
    check_alike(one, other)
