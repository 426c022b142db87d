"""A start page is printed again while nothing that it rests on changed; the day is the settings' day."""

import re
import time
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from pipelines.clock import day_of, moment
from pipelines.night.run import night_of
from pipelines.queries.startup import kept
from pipelines.queries.startup.fast import session_start
from pipelines.settings import load_settings
from pipelines.user_settings import UserSettings
from tests.conftest import Memory

BEGIN = int(datetime(2026, 3, 1, tzinfo=UTC).timestamp())
CHANGES = (
    "MEMORY.md",
    "SOUL.md",
    "Logs/partial/new.md",
    "Projects/new.md",
    "Areas/sub/new.md",
    "curate.toml",
    ".curate/runs/z.json",
    "log",
)


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> float:
    """A moment at noon, some days after the files were written."""
    when = time.time() // 86400 * 86400 + 86400 * 9 + 43200
    monkeypatch.setattr("pipelines.queries.startup.fast.time.time", lambda: when)
    monkeypatch.setattr("pipelines.queries.startup.context.datetime", _Noon)
    _Noon.at = when
    return when


class _Noon(datetime):
    at: float

    @classmethod
    def now(cls, tz: object = None) -> "_Noon":
        return cls.fromtimestamp(cls.at, tz)  # type: ignore[arg-type]  # a zone


def asked(memory: Memory, **more: object) -> str:
    what = {"budget": 4000, "project": "", "folder": "/"}
    return session_start(str(memory.root), "text", what | more)


def is_kept(memory: Memory, now: float) -> bool:
    key = "text {'budget': 4000, 'project': '', 'folder': '/'}"
    return bool(kept.kept_page(str(memory.root), key, now))


@pytest.mark.parametrize("name", CHANGES)
def test_a_page_holds_until_a_file_changes(memory: Memory, now: float, name: str) -> None:
    (memory.root / ".curate/runs").mkdir(parents=True, exist_ok=True)
    first = asked(memory)
    assert is_kept(memory, now)
    assert not is_kept(memory, now + kept.HOLDS_SECONDS + 1)
    assert asked(memory) == first
    day = datetime.fromtimestamp(now, UTC).date().isoformat()
    memory.write(f"Logs/{day}.md" if name == "log" else name, "- 09:00 Rigged the crane.\n" if name == "log" else "\n")
    assert not is_kept(memory, now)
    assert ("Rigged the crane" in asked(memory)) is (name == "log")


def test_another_question_has_another_page(memory: Memory, now: float) -> None:
    asked(memory)
    memory.write("Projects/alpha.md", "# Alpha\n\n- Fact: It floats.\n")
    assert "It floats." in asked(memory, project="alpha")
    assert not is_kept(memory, now)
    first = asked(memory)
    assert is_kept(memory, now)
    for number in range(7):
        asked(memory, folder=f"/{number}")
        assert is_kept(memory, now), "who works on several projects asks from each folder"
    assert asked(memory) == first
    asked(memory, folder="/8")
    assert not is_kept(memory, now), "eight pages are kept"
    settings, user = load_settings(memory.root), UserSettings()
    for days, are_there in ((9, True), (0, False)):
        when = datetime.fromtimestamp(now - days * 86400, UTC)
        assert night_of(memory.root, settings, when, "", user).agents is are_there, "agents ask, and a night knows"


def test_what_has_just_changed_may_change_again_under_the_same_stamp(memory: Memory) -> None:
    asked(memory)
    assert not is_kept(memory, time.time())


@pytest.mark.usefixtures("now")
def test_only_the_owner_reads_a_page_and_forgetting_deletes_it(memory: Memory) -> None:
    memory.write("Projects/alpha.md", "# Alpha\n\n- Fact: Odile sings.\n")
    memory.night("2026-03-18T02:00")
    page = memory.root / kept.PAGE
    assert "Odile sings" in asked(memory, project="alpha")
    assert page.stat().st_mode & 0o777 == 0o600
    ident = next(iter(re.findall(r"\^(k\w+)", memory.read("Projects/alpha.md"))))
    memory.curate("forget", ident, "--yes")
    assert not page.exists() or "Odile" not in page.read_text()


@pytest.mark.parametrize("zone", ["UTC", "Europe/Zurich", "America/St_Johns", "Australia/Lord_Howe", "Asia/Kathmandu"])
def test_the_day_is_that_of_the_settings_through_both_changes_of_the_clock(tmp_path: Path, zone: str) -> None:
    (tmp_path / "curate.toml").write_text(f'timezone = "{zone}"\nday_end = "04:30"\n')
    settings = load_settings(tmp_path)
    zone_at = [datetime.fromtimestamp(BEGIN + 3600 * hour, ZoneInfo(zone)).utcoffset() for hour in range(24 * 390)]
    changes = [hour for hour in range(1, len(zone_at)) if zone_at[hour - 1] != zone_at[hour]]
    near = {hour for change in changes for hour in range(change - 26, change + 4)}
    for hour in sorted(near | {*range(0, len(zone_at), 97)}):
        told = BEGIN + 3600 * hour + 1799
        there = moment(datetime.fromtimestamp(told, UTC).isoformat(), settings)
        assert kept.day_and_time(str(tmp_path), told) == (day_of(there, settings), f"{there:%H:%M}")


@pytest.mark.parametrize(
    "text", ["timezone = 7", "timezone = 'Asia/Tokyo'", 'timezone = "Mars/Base"', 'timezone = "../zoneinfo/UCT"']
)
def test_a_clock_that_is_told_in_an_unusual_way_is_left_to_the_verb_proper(tmp_path: Path, text: str) -> None:
    (tmp_path / "curate.toml").write_text(text)
    with pytest.raises((ValueError, LookupError)):
        kept.day_and_time(str(tmp_path), BEGIN)
    (tmp_path / "curate.toml").write_text(f"[other]\n{text}\n")
    assert kept.day_and_time(str(tmp_path), 0) == ("1970-01-01", "00:00")
    (tmp_path / "curate.toml").write_text('\ufeff"timezone" = "Asia/Tokyo"  # far\r\n')
    assert kept.day_and_time(str(tmp_path), 0) == ("1970-01-01", "09:00")
