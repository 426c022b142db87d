"""What can go wrong while nobody watches: it is told where people and monitors look, and the next night mends it."""

import pytest

from tests.agents.install.outside import system
from tests.conftest import Memory
from tests.night.test_pings import monitor

__all__ = ["monitor", "system"]
pytestmark = pytest.mark.usefixtures("system")
WORDS = "the cache keeps 40 entries"


def test_a_clock_that_was_set_back_keeps_no_night_from_running(memory: Memory) -> None:
    memory.write("Logs/2026-03-18.md", f"- Fact: {WORDS}\n")
    memory.night("2031-01-01T02:00")
    memory.write("Logs/2026-03-19.md", "- Fact: the queue has 3 readers\n")
    memory.curate("status", "--now", "2026-03-21T13:00", exits=1)
    memory.night("2026-03-21T14:00")
    assert len(memory.json("items")) == 2
    assert "ended well since" not in memory.curate("status", "--now", "2026-03-21T15:00")


def test_a_zone_that_does_not_exist_is_named_by_whatever_is_asked(memory: Memory) -> None:
    memory.write("curate.toml", 'timezone = "Mars/Olympus"\n')
    for verb in ("run", "status", "schedule"):
        said = memory.curate(verb, exits=1)
        assert "curate.toml" in said
        assert "timezone: not a known time zone" in said
    assert "timezone: not a known time zone" in " ".join(memory.curate("doctor", exits=1).split())
