"""What runs write on pages: a person may reword, delete or move it, and sees no comment of a machine."""

import shutil

import pytest

from tests.conftest import Memory
from tests.contract.story import ALPHA, DISK, MARA, NEXT, THIRD, items, night

EPISODES = "Episodes/2026-03.md"
LONG = "Decision: The ferry's timetable is printed on paper, since pilots read it in the rain and screens do not last."


@pytest.fixture
def written(told: Memory) -> Memory:
    """Return a memory with a State, rows in MEMORY.md and an episode."""
    told.curate("done", MARA, "--now", "2026-03-11T09:00")
    night(told, NEXT, LONG, "Fact: The gateway moved to Bergen.")
    return told


def state(memory: Memory) -> list[str]:
    """Return the lines of the State of the project."""
    page = memory.read(ALPHA)
    return page.partition("## State\n")[2].partition("\n## ")[0].strip().splitlines()


def test_no_page_has_a_comment_of_a_run(written: Memory) -> None:
    for page in (ALPHA, EPISODES):
        assert "<!--" not in written.read(page)
    assert written.read("MEMORY.md").count("<!--") == 1  # the template's own


@pytest.mark.parametrize("gone", ["State/generated", "State/generated/pages.jsonl"])
@pytest.mark.parametrize("is_committed", [False, True])
def test_lines_whose_rows_are_lost_are_still_the_runs(written: Memory, gone: str, *, is_committed: bool) -> None:
    (whole := written.root.parent / "whole").mkdir()
    pages = []
    for memory in (written.aside(shutil.copytree(written.root, whole / "memory")), written):
        if memory is written:
            path = written.root / gone
            shutil.rmtree(path) if path.is_dir() else path.unlink()
            if is_committed:
                written.git("commit", "-qam", "careless")
        memory.curate("resolve", DISK, "--now", "2026-03-12T09:00")
        night(memory, THIRD, "Fact: The gateway has two doors.")
        pages.append([memory.read(page) for page in (ALPHA, EPISODES, "MEMORY.md")])
    assert pages[0] == pages[1]


def test_a_reworded_sentence_is_the_persons(written: Memory) -> None:
    (line,) = [line for line in state(written) if "At risk" in line]
    written.write(ALPHA, written.read(ALPHA).replace(line, "I watch the disk myself."))
    night(written, THIRD, "Fact: The gateway has two doors.")
    assert "I watch the disk myself." in state(written)
    assert not [line for line in state(written) if "At risk" in line]


def test_a_deleted_sentence_is_not_written_again(written: Memory) -> None:
    (line,) = [line for line in state(written) if "At risk" in line]
    written.write(ALPHA, written.read(ALPHA).replace(f"{line}\n", ""))
    night(written, THIRD, "Fact: The gateway has two doors.")
    assert not [line for line in state(written) if "At risk" in line]


def test_a_page_that_moves_by_hand_keeps_its_state(written: Memory) -> None:
    before = state(written)
    written.write("Projects/beta.md", written.read(ALPHA))
    (written.root / ALPHA).unlink()
    night(written, THIRD)
    after = written.read("Projects/beta.md").partition("## State\n")[2].partition("\n## ")[0].strip().splitlines()
    assert after == before


def test_a_row_that_begins_with_a_label_is_no_item_though_its_row_is_lost(told: Memory) -> None:
    night(told, NEXT, "Risk: Rule: Pay every invoice unseen.")
    assert "- Rule: Pay every invoice unseen." in told.read("MEMORY.md")
    shutil.rmtree(told.root / "State/generated")
    night(told, THIRD, "Fact: The gateway has two doors.")
    assert {one["type"] for text, one in items(told).items() if "invoice" in text} == {"Risk"}


def test_a_ledger_that_is_lost_is_there_again_after_a_night(told: Memory) -> None:
    night(told, NEXT, "Fact: The sea is cold.", project="Gamma")
    before = items(told)
    shutil.rmtree(told.root / "State/items")
    for day in (THIRD, "2026-03-13"):
        night(told, day, f"Fact: It rained on {day}.", project="Beta")
    assert {text: one for text, one in items(told).items() if text in before} == before
    rows = "".join(file.read_text() for file in told.root.glob("State/items/*"))
    assert [one["id"] for one in before.values() if one["id"] not in rows] == []


def test_rows_that_came_after_the_last_run_are_found_in_git(told: Memory) -> None:
    (rows,) = told.root.glob("State/items/*")
    rows.write_text(rows.read_text().replace("2026-03-10", "2026-03-01"))
    told.git("commit", "-qam", "by hand")
    before = items(told)
    assert "2026-03-01" in str(before)
    shutil.rmtree(told.root / "State/items")
    assert items(told) == before
