"""A log that was read to its end: what comes to it later is learnt, and what rests on it stays."""

import pytest

from tests.asking import items
from tests.conftest import Memory

DAYS = [f"2026-03-{day:02}" for day in range(1, 13)]
NIGHT = ("run", "--now", "2026-03-14T02:00")


@pytest.fixture
def settled(memory: Memory) -> Memory:
    """A memory whose twelve logs were read."""
    for number, day in enumerate(DAYS):
        memory.write(f"Logs/{day}.md", f"# {day}\n\n- Fact: Crate {number} is on quay {number * 7}.\n")
    memory.night("2026-03-13T02:00")
    return memory


def test_lines_that_a_person_committed_are_learnt(settled: Memory) -> None:
    for number, day in enumerate(DAYS):
        path = settled.root / f"Logs/{day}.md"
        path.write_text(f"{path.read_text()}- Fact: Barge {number} is in dock {number * 3}.\n")
    settled.git("commit", "-qam", "By hand")
    settled.curate(*NIGHT)
    assert "Barge 7 is in dock 21." in items(settled)


def test_a_settled_day_without_an_episode_gets_one(settled: Memory) -> None:
    page = settled.root / "Episodes/2026-03.md"
    page.unlink()
    settled.curate(*NIGHT)
    assert "Crate 5 is on quay 35" in page.read_text()


def test_a_project_that_a_settled_log_mentions_is_not_over(memory: Memory) -> None:
    memory.day("2026-01-02", "project: Harbour Crane\n\n- Todo: Oil the winch.\n")
    memory.write("Logs/2026-01-04.md", "project: Harbour Crane\n\n- Done: Oil the winch.\n")
    for day in DAYS:
        memory.write(f"Logs/{day}.md", "- We walked past the harbour crane today.\n")
    memory.night("2026-03-13T02:00")
    memory.curate(*NIGHT)
    assert "Harbour Crane" not in (memory.root / "Review.md").read_text()
