"""A night that another machine ran counts here, too, once its commit is here; one that left no trace is not missed."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest

from pipelines.queries.doctor import last_nights
from tests.agents.install.outside import system

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Memory

__all__ = ["system"]
pytestmark = pytest.mark.usefixtures("system")


@pytest.fixture
def other(memory: Memory, tmp_path: Path) -> Memory:
    """Return a clone on a machine that runs no nights of its own."""
    memory.write("Logs/2026-03-18.md", "- Decision: Use SQLite.\n")
    memory.curate("run", "--now", "2026-03-19T02:00")
    one = memory.aside(tmp_path / "other")
    memory.git("clone", "-q", ".", str(one.root))
    return one


def status(memory: Memory, now: str, exits: int = 0) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(memory.curate("status", "--json", "--now", now, exits=exits))
    return told


def test_a_machine_without_nights_goes_by_what_was_pulled(other: Memory) -> None:
    told = status(other, "2026-03-19T12:00")
    assert told["elsewhere"] == told["last_well"] == "2026-03-19T02:00:00+00:00"
    assert (told["last_run"], told["elsewhere_ended"]) == (None, "ended well")
    said = other.curate("status", "--now", "2026-03-19T12:00")
    assert "Elsewhere 2026-03-19 02:00+00:00, the last run of another machine, ended well\n" in said
    context = other.curate("context", "--now", "2026-03-19T12:00")
    assert "Another machine's night: 2026-03-19 02:00 UTC." in context
    assert "no run yet" not in context


def test_an_idle_week_elsewhere_is_no_overdue_night_before_a_day_waits(other: Memory) -> None:
    assert status(other, "2026-03-26T12:00")["overdue"] is None
    other.write("Logs/2026-03-26.md", "- Decision: Use Redis.\n")
    assert status(other, "2026-03-27T12:00")["overdue"] is None, "the day ended twelve hours ago"
    late = status(other, "2026-03-28T13:00", exits=1)
    assert late["overdue"] == "No run has ended well since 2026-03-19 02:00+00:00, 9 days ago."


def test_a_machine_that_stopped_running_nights_is_overdue_until_anothers_is_here(memory: Memory, other: Memory) -> None:
    other.curate("run", "--now", "2026-03-20T02:00")
    status(other, "2026-03-24T12:00", exits=1)
    assert "Curation is overdue: that was 4 days ago" in other.curate("context", "--now", "2026-03-24T12:00")
    memory.write("Logs/2026-03-23.md", "- Decision: Use Redis.\n")
    memory.curate("run", "--now", "2026-03-24T02:00")
    other.git("pull", "-q")
    assert status(other, "2026-03-24T12:00")["last_well"] == "2026-03-24T02:00:00+00:00"
    assert "overdue" not in other.curate("context", "--now", "2026-03-24T12:00")
    assert last_nights(other.root, datetime.fromisoformat("2026-03-24T12:00Z"))[0] == "ok"


def test_a_night_elsewhere_that_left_a_day_unread_did_not_end_well(memory: Memory, other: Memory) -> None:
    memory.write("Logs/2026-03-19.md", "- Decision: Use Redis.\n")
    page = (memory.root / "MEMORY.md").read_text("utf-8")
    memory.write("MEMORY.md", f"{page}\n- Fact: The roof is red.\n")  # which the run commits
    memory.curate("run", "--now", "2026-03-20T02:00", "--provider", "exec:/no/such/model", exits=1)
    other.git("pull", "-q")
    told = status(other, "2026-03-20T12:00", exits=1)
    why = "exec could not start its program (FileNotFoundError)."
    assert told["failed"] == f"The last run left days unread: {why}"
    assert told["elsewhere_ended"] == f"left something pending: {why}"
    assert told["last_well"] == "2026-03-19T02:00:00+00:00"
    memory.curate("run", "--now", "2026-03-20T14:00")
    other.git("pull", "-q")
    assert status(other, "2026-03-20T15:00")["last_well"] == "2026-03-20T14:00:00+00:00"


def test_what_a_person_did_elsewhere_by_a_verb_is_no_night(memory: Memory, other: Memory) -> None:
    memory.curate("add", "Fact", "The cache keeps 40 entries.", "--now", "2026-03-24T02:00")
    other.git("pull", "-q")
    assert status(other, "2026-03-24T12:00")["elsewhere"] == "2026-03-19T02:00:00+00:00"


def test_a_night_of_the_future_elsewhere_counts_for_nothing(memory: Memory, other: Memory) -> None:
    memory.write("Logs/2026-03-23.md", "- Decision: Use Redis.\n")
    memory.curate("run", "--now", "2031-03-24T02:00")
    other.git("pull", "-q")
    assert status(other, "2026-03-24T12:00")["elsewhere"] == "2026-03-19T02:00:00+00:00"
