"""A night that another machine ran counts here, too, once its commit is here; one that left no trace is not missed."""

from pathlib import Path

import pytest

from tests.agents.install.outside import system
from tests.conftest import Memory
from tests.night.test_health import nights, status

__all__ = ["system"]
pytestmark = pytest.mark.usefixtures("system")


@pytest.fixture
def other(memory: Memory, tmp_path: Path) -> Memory:
    """Return a clone on a machine that runs no nights of its own."""
    memory.day("2026-03-18", "- Decision: Use SQLite.\n")
    one = memory.aside(tmp_path / "other")
    memory.git("clone", "-q", ".", str(one.root))
    return one


def test_a_night_elsewhere_that_left_a_day_unread_did_not_end_well(memory: Memory, other: Memory) -> None:
    memory.write("Logs/2026-03-19.md", "- Decision: Use Redis.\n")
    page = (memory.root / "MEMORY.md").read_text("utf-8")
    memory.write("MEMORY.md", f"{page}\n- Fact: The roof is red.\n")  # which the run commits
    memory.night("2026-03-20T02:00", "--provider", "exec:/no/such/model", exits=1)
    other.git("pull", "-q")
    told = status(other, "2026-03-20T12:00", exits=1)
    why = "exec could not start its program (FileNotFoundError)."
    assert nights(told) == f"The last run left something pending: {why}"
    assert (told["last_run"]["here"], told["last_run"]["ended"]) == (False, "pending")
    assert told["last_well"] == "2026-03-19T02:00:00+00:00"
    memory.night("2026-03-20T14:00")
    other.git("pull", "-q")
    assert status(other, "2026-03-20T15:00")["last_well"] == "2026-03-20T14:00:00+00:00"
