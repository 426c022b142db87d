"""A log that was read to its end is not read every night: nothing else depends on that."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import pytest

from pipelines.store import files, snapshot
from tests.asking import items

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.store.folders import Below
    from tests.conftest import Memory

LATER = 120_000_000_000
DAYS = [f"2026-03-{day:02}" for day in range(1, 13)]
NIGHT = ("run", "--now", "2026-03-14T02:00")


@pytest.fixture
def settled(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> Memory:
    """A memory whose twelve logs were read some minutes ago."""
    for number, day in enumerate(DAYS):
        memory.write(f"Logs/{day}.md", f"# {day}\n\n- Fact: Crate {number} is on quay {number * 7}.\n")
    memory.curate("run", "--now", "2026-03-13T02:00")
    now = time.time_ns()
    monkeypatch.setattr(time, "time_ns", lambda: now + LATER)
    memory.curate("run", "--now", "2026-03-13T03:00")
    return memory


def read_by(memory: Memory, monkeypatch: pytest.MonkeyPatch, *command: str, exits: int = 0) -> list[str]:
    """Run a command, and return the logs that it read to decide on."""
    read: list[str] = []

    def told(root: Path, path: str, most: int = files.MAX_BYTES, below: Below | None = None) -> bytes | None:
        read.append(path)
        return files.read_bytes(root, path, most, below)

    with monkeypatch.context() as patch:
        patch.setattr(snapshot, "read_bytes", told)
        memory.curate(*command, exits=exits)
    return [path for path in read if path.startswith("Logs/")]


def test_only_what_changed_is_read(settled: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_by(settled, monkeypatch, *NIGHT) == []
    settled.write("Logs/2026-03-13.md", "- Fact: Crate 13 is on quay 91.\n")
    assert read_by(settled, monkeypatch, *NIGHT) == ["Logs/2026-03-13.md"]
    assert read_by(settled, monkeypatch, "status", exits=1) == ["Logs/2026-03-13.md"]  # no night was run for months
    assert "Crate 13 is on quay 91." in items(settled)


def test_a_line_added_to_a_settled_log_is_learnt(settled: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    path = f"Logs/{DAYS[3]}.md"
    settled.write(path, (settled.root / path).read_text() + "- Fact: Crate 50 is on quay 2.\n")
    assert json.loads(settled.curate("status", "--json", exits=1))["days_waiting"] == [DAYS[3]]
    assert read_by(settled, monkeypatch, *NIGHT) == [path]
    assert "Crate 50 is on quay 2." in items(settled)


def test_lines_that_a_person_committed_are_learnt(settled: Memory) -> None:
    for number, day in enumerate(DAYS):
        path = settled.root / f"Logs/{day}.md"
        path.write_text(f"{path.read_text()}- Fact: Barge {number} is in dock {number * 3}.\n")
    settled.git("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "-qam", "By hand")
    settled.curate(*NIGHT)
    assert "Barge 7 is in dock 21." in items(settled)


def test_the_log_of_a_day_that_has_ended_since_is_read_once_more(
    settled: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = "Logs/2026-03-13.md"
    settled.write(path, "- Fact: Crate 13 is on quay 91.\n")
    settled.curate("run", "--now", "2026-03-13T20:00")
    (settled.root / ".curate/stamps.json").unlink()  # or one new stamp would not be written
    settled.curate("run", "--now", "2026-03-13T21:00")
    assert read_by(settled, monkeypatch, *NIGHT) == [path]
    assert read_by(settled, monkeypatch, *NIGHT) == []


def test_a_partial_log_is_folded_into_a_settled_one(settled: Memory) -> None:
    path = settled.root / f"Logs/{DAYS[4]}.md"
    before = path.read_text()
    settled.write(f"Logs/partial/{DAYS[4]}-late.md", "- Fact: Crate 51 is on quay 3.\n")
    settled.curate(*NIGHT)
    assert path.read_text().startswith(before)
    assert {"Crate 4 is on quay 28.", "Crate 51 is on quay 3."} <= items(settled).keys()


def test_a_settled_day_can_be_read_again(settled: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_by(settled, monkeypatch, *NIGHT, "--again", DAYS[5]) == [f"Logs/{DAYS[5]}.md"]


def test_a_settled_day_without_an_episode_gets_one(settled: Memory) -> None:
    page = settled.root / "Episodes/2026-03.md"
    page.unlink()
    settled.curate(*NIGHT)
    assert "Crate 5 is on quay 35" in page.read_text()


def test_a_project_that_a_settled_log_mentions_is_not_over(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.write("Logs/2026-01-02.md", "project: Harbour Crane\n\n- Todo: Oil the winch.\n")
    memory.curate("run", "--now", "2026-01-03T02:00")
    memory.write("Logs/2026-01-04.md", "project: Harbour Crane\n\n- Done: Oil the winch.\n")
    for day in DAYS:
        memory.write(f"Logs/{day}.md", "- We walked past the harbour crane today.\n")
    memory.curate("run", "--now", "2026-03-13T02:00")
    now = time.time_ns()
    monkeypatch.setattr(time, "time_ns", lambda: now + LATER)
    memory.curate("run", "--now", "2026-03-13T03:00")
    memory.curate(*NIGHT)
    assert "Harbour Crane" not in (memory.root / "Review.md").read_text()


@pytest.mark.parametrize("rows", ['{"Logs/2026-03-01.md": [1, ', '{"Logs/2026-03-01.md": {}}', "[]"])
def test_unreadable_stamps_cost_nothing_but_time(settled: Memory, monkeypatch: pytest.MonkeyPatch, rows: str) -> None:
    settled.write(".curate/stamps.json", rows)
    assert f"Logs/{DAYS[0]}.md" in read_by(settled, monkeypatch, "status", exits=1)
    assert read_by(settled, monkeypatch, *NIGHT) == []
