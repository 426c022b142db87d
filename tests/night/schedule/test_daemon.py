"""The daemon through both changes of the clocks, a week asleep, and a failing week."""

import json
import threading
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from apscheduler.executors.pool import ThreadPoolExecutor

from pipelines.night.schedule import Daemon
from pipelines.settings import load_settings
from tests.night.schedule.driving import life_at

ZURICH = ZoneInfo("Europe/Zurich")
SETTINGS = 'timezone = "Europe/Zurich"\n[schedule]\nnight = "02:30"\n'


@pytest.fixture
def root(bare_memory: Path) -> Path:
    (bare_memory / "curate.toml").write_text(SETTINGS)
    return bare_memory


@pytest.mark.parametrize(("begun", "ended"), [("2026-03-25", "2026-04-02"), ("2026-10-21", "2026-10-29")])
def test_each_day_has_its_night_through_a_change_of_the_clocks(
    monkeypatch: pytest.MonkeyPatch, root: Path, begun: str, ended: str
) -> None:
    life = life_at(monkeypatch, root, f"{begun}T12:00+00:00")
    life.live(life.daemon(), datetime.fromisoformat(f"{ended}T12:00+00:00"))
    days = [night.astimezone(ZURICH).date() for night in life.nights()]
    assert sorted(set(days)) == [
        datetime.fromisoformat(begun).date() + timedelta(days=number) for number in range(1, 9)
    ]
    assert [day for day in set(days) if days.count(day) > 1] == ([date(2026, 10, 25)] if begun > "2026-10" else [])
    assert {line["event"] for line in life.lines} == {"job-ended"}


def test_a_night_that_was_missed_while_nothing_ran_is_made_up_at_the_start(
    monkeypatch: pytest.MonkeyPatch, root: Path
) -> None:
    life = life_at(monkeypatch, root, "2026-05-01T12:00+00:00")
    life.live(life.daemon(), datetime(2026, 5, 2, 12, tzinfo=UTC))
    life.now = begun = datetime(2026, 5, 6, 12, tzinfo=UTC)
    life.live(life.daemon(), begun + timedelta(hours=1))
    assert [night.day for night in life.nights()] == [2, 6]
    life.live(life.daemon(), begun + timedelta(hours=2))
    assert len(life.nights()) == 2, "a restart repeats nothing"


def test_a_failing_week_is_tried_once_a_night_and_said(monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
    life = life_at(monkeypatch, root, "2026-05-01T12:00+00:00")
    life.exits = 1
    daemon = life.daemon()
    life.live(daemon, datetime(2026, 5, 8, 12, tzinfo=UTC))
    assert len(life.nights()) == 7
    assert {(line["exit"], line["level"]) for line in life.lines} == {(1, "warning")}
    restarted = life.daemon()
    life.live(restarted, life.now + timedelta(hours=3))
    assert len(life.nights()) == 7, "a restart bills nothing twice"


def test_a_disk_that_refuses_ends_no_daemon(monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
    (root / ".curate" / "schedule.json").mkdir(parents=True)
    life = life_at(monkeypatch, root, "2026-05-01T12:00+00:00")
    life.live(life.daemon(), datetime(2026, 5, 3, 12, tzinfo=UTC))
    assert len(life.nights()) == 2


def test_when_the_next_night_is_due_stands_where_others_read_it(monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
    life = life_at(monkeypatch, root, "2026-05-01T12:00+00:00")
    life.daemon().look()
    told = json.loads((root / ".curate" / "schedule.json").read_text())
    assert told["next"] == "2026-05-02T02:30:00+02:00"


def test_several_nights_a_day_and_the_last_that_was_missed(monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
    (root / "curate.toml").write_text(SETTINGS.replace('"02:30"', '["02:30", "14:00"]'))
    life = life_at(monkeypatch, root, "2026-05-01T06:00+00:00")
    life.live(life.daemon(), datetime(2026, 5, 2, 6, tzinfo=UTC))
    life.now = datetime(2026, 5, 2, 13, tzinfo=UTC)
    life.live(life.daemon(), datetime(2026, 5, 2, 23, tzinfo=UTC))
    told = [f"{night.astimezone(ZURICH):%d %H:%M}" for night in life.nights()]
    assert told == ["01 14:00", "02 02:30", "02 15:00"]


def test_the_last_job_says_how_it_ended_before_the_daemon_has_ended(
    monkeypatch: pytest.MonkeyPatch, root: Path
) -> None:
    begun, waited, lines = threading.Event(), threading.Event(), list[str]()

    pool = ThreadPoolExecutor(3)
    ends = pool.shutdown

    def shutdown(wait: object) -> None:
        if wait:
            waited.set()
        ends(wait)

    def work() -> int:
        begun.set()
        return 0 if waited.wait(30) else 1

    def log(event: str, **_: object) -> None:
        lines.append(event)

    monkeypatch.setattr(pool, "shutdown", shutdown)
    daemon = Daemon(root, load_settings(root), work, lambda: datetime.now(UTC), log, pool)

    def end() -> None:
        daemon._scheduler.modify_job("night", next_run_time=datetime.now(UTC))
        assert begun.wait(30)
        daemon.stop()

    daemon.run(threading.Thread(target=end).start)
    assert lines == []
    daemon.wait()
    assert lines == ["job-ended"]
