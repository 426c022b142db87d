"""The scheduler under a clock that the test turns, with real nights: a week asleep on a budget, a week that fails."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest

from tests.agents.install.outside import system
from tests.extract.days import reply_item, reply_text
from tests.extract.wire import KEY, anthropic_wire, message
from tests.night.schedule.driving import Life, living
from tests.night.test_pings import monitor
from tests.test_missed_nights import DECIDED

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.conftest import Memory
    from tests.extract.wire import Body, Prepared
    from tests.night.test_pings import Monitor

__all__ = ["monitor", "system"]
pytestmark = pytest.mark.usefixtures("system")
ZURICH = ZoneInfo("Europe/Zurich")
SETTINGS = 'timezone = "Europe/Zurich"\n[schedule]\nnight = "02:30"\ncapture_hours = 0\nindex_minutes = 0\n'


@dataclass
class RealLife(Life):
    """A life whose nights are real runs, as of the clock's moment."""

    memory: Memory | None = None

    def work(self, commands: Sequence[Sequence[str]]) -> int:
        assert self.memory
        self.done.append(("night", self.now))
        self.memory.curate(*commands[0], "--now", self.now.astimezone(ZURICH).isoformat(), exits=self.exits)
        self.now += self.takes
        return self.exits


def real_life(monkeypatch: pytest.MonkeyPatch, memory: Memory, now: str) -> RealLife:
    memory.write("curate.toml", SETTINGS)
    return living(monkeypatch, RealLife(memory.root, datetime.fromisoformat(now), memory=memory))


def decide(memory: Memory, day: str, number: int) -> None:
    memory.write(f"Logs/{day}.md", f"# {day}\n\n- 10:00 Decision: {DECIDED[number]}.\n")


def answer(request: Body) -> Prepared:
    """Answer as a model that keeps what was decided on the day that it is shown, and has nothing else to say."""
    found = re.search(f"Decision: ((?:{'|'.join(DECIDED)}).)", json.dumps(request["messages"]))
    if not found or "Each line has its number" not in json.dumps(request["messages"]):
        return message('{"items": []}')
    return message(reply_text(reply_item([3, 3], text=found[1], document="")))


def pending(memory: Memory) -> list[list[str]]:
    """Return the days that each night left, oldest night first: its last run says so."""
    reports = map(json.loads, (one.read_text() for one in sorted((memory.root / ".curate/runs").glob("*.json"))))
    return list({report["now"]: report["pending_days"] for report in reports}.values())


def test_a_week_asleep_is_made_up_for_in_order_and_within_the_budget(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    life = real_life(monkeypatch, memory, "2026-03-20T12:00+00:00")
    days = [f"2026-03-{day:02}" for day in range(21, 28)]
    monkeypatch.setenv("CURATE_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    with anthropic_wire() as wire:
        wire.by_request = answer
        (tmp_path / "config.toml").write_text(
            f"providers = ['anthropic']\n[anthropic]\nbase_url = '{wire.url}'\nmax_tokens = 256\nconcurrency = 1\n"
            "[limits]\nmax_tokens = 6500\n"
        )
        daemon = life.daemon()
        life.live(daemon, datetime(2026, 3, 21, 12, tzinfo=UTC))
        for number, day in enumerate(days):
            decide(memory, day, number)
        life.now += timedelta(days=7)
        woken = life.now
        life.live(daemon, woken + timedelta(hours=1))
        decide(memory, "2026-03-28", 7)
        life.live(daemon, datetime(2026, 4, 2, 12, tzinfo=UTC))
        said = [json.dumps(request["messages"]) for request in wire.requests]
        asked = [re.findall("|".join(DECIDED), text) for text in said if "Each line has its number" in text]
    nights = [f"{night.astimezone(ZURICH):%m-%d %H:%M}" for night in life.nights()]
    assert nights[:4] == ["03-21 02:30", "03-28 13:00", "03-29 03:30", "03-30 02:30"], "02:30 is skipped on the 29th"
    left = pending(memory)
    assert left[1] == days[2:], "one run at once, the oldest days first"
    assert [len(some) for some in left[1:]] == sorted((len(some) for some in left[1:]), reverse=True)
    assert left[-1] == []
    order = [DECIDED.index(one) for found in asked for one in dict.fromkeys(found)]
    assert order == list(range(8)), "each day once, in order, and what came last is read last"
    items = json.loads(memory.curate("items", "--json"))
    dated = {item["text"]: item["since"] for item in items}
    assert dated == {f"{DECIDED[number]}.": day for number, day in enumerate([*days, "2026-03-28"])}


def test_a_failing_week_is_seen_every_night_and_made_up_for(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, monitor: Monitor
) -> None:
    life = real_life(monkeypatch, memory, "2026-10-22T12:00+00:00")
    life.exits = 1
    config = tmp_path / "config.toml"
    monkeypatch.setenv("CURATE_CONFIG", str(config))
    config.write_text(f'providers = ["exec:false"]\n[ping]\nurl = "{monitor.url}/me"\n')
    daemon = life.daemon()
    for number in range(7):
        decide(memory, f"2026-10-{22 + number}", number)
        noon = datetime(2026, 10, 23 + number, 12, tzinfo=UTC)
        life.live(daemon, noon)
        said = memory.curate("status", "--now", noon.isoformat(), exits=1)
        assert "Failed    The last run left days unread: " in said
        assert ("Overdue   No run has ended well yet" in said) == (number > 1)
        assert "left something pending" in memory.curate("context", "--now", noon.isoformat())
    nights = [f"{night.astimezone(ZURICH):%d %H:%M %Z}" for night in life.nights()]
    told = [f"{day} 02:30 {'CEST' if day < 26 else 'CET'}" for day in range(23, 30)]
    assert nights == [*told[:3], "25 02:30 CET", *told[3:]], "02:30 comes twice on the 25th"
    assert monitor.heard == ["/me/start", "/me/fail"] * 8

    life.exits = 0
    config.write_text(f'providers = ["rules"]\n[ping]\nurl = "{monitor.url}/me"\n')
    life.live(daemon, datetime(2026, 10, 30, 12, tzinfo=UTC))
    assert monitor.heard[16:] == ["/me/start", "/me"]
    assert "Overdue" not in memory.curate("status", "--now", "2026-10-30T13:00")
    assert "ended well" in memory.curate("context", "--now", "2026-10-30T13:00")
    dated = {item["text"]: item["since"] for item in json.loads(memory.curate("items", "--json"))}
    assert dated == {f"{DECIDED[number]}.": f"2026-10-{22 + number}" for number in range(7)}
