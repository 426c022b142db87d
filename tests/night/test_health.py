"""Whether nights happen and end well: what `curate status` says, and its exit code, which monitors watch."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from pipelines.errors import GitFault
from pipelines.night.report import save_failure, save_report
from pipelines.store.lock import SCHEDULE, run_lock
from tests.agents.install.outside import SYSTEMCTL, System, system
from tests.conftest import Memory

__all__ = ["system"]
pytestmark = pytest.mark.usefixtures("system")
NOW = datetime.fromisoformat("2026-03-20T12:00:00+00:00")


def status(memory: Memory, now: str, *more: str, exits: int = 0) -> dict[str, Any]:
    told: dict[str, Any] = memory.json("status", "--now", now, *more, exits=exits)
    return told


def nights(told: dict[str, Any], check: str = "nights") -> str:
    """Return what was found wrong, or worth a look, with the nights; empty if all is well."""
    (found,) = (one for one in told["findings"] if one["check"] == check)
    return "" if found["state"] == "ok" else str(found["says"])


def test_a_night_that_did_not_happen_is_overdue_after_a_day_and_a_half(memory: Memory) -> None:
    memory.day("2026-03-18", "- Decision: Use SQLite.\n")
    assert not nights(status(memory, "2026-03-20T13:59"))
    late = status(memory, "2026-03-20T14:01", exits=1)
    assert nights(late) == "No run has ended well since 2026-03-19 02:00+00:00, 36 hours ago."
    assert late["last_well"] == "2026-03-19T02:00:00+00:00"
    said = memory.curate("status", "--now", "2026-03-29T02:00", exits=1)
    assert said.startswith("No run has ended well since 2026-03-19 02:00+00:00, 10 days ago. Run `curate run`;")
    assert "Curation is overdue: that was 10 days ago" in memory.curate("context", "--now", "2026-03-29T02:00")
    memory.night("2026-03-29T02:00")
    assert not nights(status(memory, "2026-03-29T02:01"))


def test_a_night_that_failed_is_bad_whether_days_wait_or_not(memory: Memory) -> None:
    memory.write("Logs/2026-03-17.md", "- Decision: Use SQLite.\n")
    memory.night("2026-03-19T02:00")
    save_failure(memory.root, "20260320T020000-aa", NOW.replace(hour=2), GitFault("git refused.", "Mend it."))
    assert nights(status(memory, "2026-03-20T12:00", exits=1)) == "The last run failed: git refused. Mend it."
    assert "failed: git refused" in memory.curate("context", "--now", "2026-03-20T12:00")
    memory.night("2026-03-20T13:00")
    assert not nights(status(memory, "2026-03-20T14:00"))


def test_a_model_that_fails_is_a_failed_night(memory: Memory, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text('providers = ["exec:false"]\n')
    monkeypatch.setenv("CURATE_CONFIG", str(config))
    memory.write("Logs/2026-03-18.md", "- 09:00 we go with SQLite\n")
    memory.night("2026-03-19T02:00", exits=1)
    assert nights(status(memory, "2026-03-19T03:00", exits=1)).startswith("The last run left something pending: ")


def reported(memory: Memory, *reports: dict[str, object]) -> None:
    """Keep reports of runs, as `curate run` does."""
    for number, report in enumerate(reports):
        save_report(memory.root, {"run": f"{str(report['now'])[:4]}{number}", **report})


def test_a_clock_that_was_set_back_hides_nothing(memory: Memory) -> None:
    reported(
        memory,
        {"now": "2026-03-10T02:00:00+00:00", "exit_code": 0},
        {"now": "2031-01-01T02:00:00+00:00", "exit_code": 0},
        {"now": "no moment", "exit_code": 0},
    )
    told = status(memory, NOW.isoformat(), exits=1)
    assert "10 days ago" in nights(told)
    assert told["last_run"]["date"] == "2026-03-10T02:00:00+00:00"
    said = memory.curate("context", "--now", NOW.isoformat())
    assert "last run 2026-03-10 02:00" in said
    assert "10 days ago" in said


@pytest.mark.parametrize(
    ("last", "told"),
    [
        ({"now": "2026-03-20T02:00+00:00", "warnings": ["A.md is odd.", "More."]}, "pending: A.md is odd."),
        ({"now": "2026-03-20T02:00+00:00", "error": {"sentence": "Git refused."}}, "The last run failed: Git refused."),
    ],
)
def test_nights_that_happen_and_leave_something_say_what(memory: Memory, last: dict[str, object], told: str) -> None:
    reported(memory, {"now": "2026-03-18T01:00+00:00", "exit_code": 0}, {**last, "exit_code": 1})
    assert nights(status(memory, NOW.isoformat(), exits=1)).endswith(told)


def test_a_run_that_only_the_caps_ended_is_no_failure_and_not_all_is_well(memory: Memory) -> None:
    memory.write("Logs/2026-03-01.md", "- Decision: Use SQLite.\n")
    why = "The limit of 100 tokens a day was reached."
    reported(memory, {"now": NOW.isoformat(), "model": {"over_budget": why}, "exit_code": 0})
    assert nights(status(memory, NOW.isoformat())) == why
    assert memory.curate("status", "--now", NOW.isoformat()).startswith(f"{why} Raise that limit")
    for verb in (["context", "--now", NOW.isoformat()], ["runs"]):
        assert f"left something pending: {why.rstrip('.')}" in memory.curate(*verb)


def test_a_first_night_that_left_something_is_told_as_that(memory: Memory) -> None:
    assert nights(status(memory, NOW.isoformat())) == "Nothing has been curated yet."
    reported(memory, {"now": NOW.isoformat(), "warnings": ["A.md is odd."], "exit_code": 1})
    assert nights(status(memory, NOW.isoformat())) == "The last run left something pending: A.md is odd."


def test_what_the_last_thirty_days_cost(memory: Memory) -> None:
    def report(day: str, usd: float | None) -> dict[str, object]:
        return {"now": f"{day}T02:00:00+00:00", "model": {"usd": usd, "input_tokens": 10, "output_tokens": 1}}

    told = [report("2026-02-17", 5.0), report("2026-02-19", 0.25), report("2026-03-20", 0.5), report("2026-03-21", 9.0)]
    assert status(memory, NOW.isoformat())["cost_30_days"] == {"runs": 0, "tokens": 0, "usd": 0}
    reported(memory, *told)
    assert '"cost_30_days": {"runs": 2, "tokens": 22, "usd": 0.75}' in memory.curate(
        "status", "--json", "--now", NOW.isoformat(), exits=1
    )


def test_status_says_the_next_run_of_what_is_installed(memory: Memory, system: System) -> None:
    assert status(memory, "2026-03-20T12:00")["next_run"] is None
    assert "Schedule  No run is scheduled." in memory.curate("status", "--now", "2026-03-20T12:00")
    system.cron()
    memory.curate("install", "cron", "--time", "02:30")
    assert status(memory, "2026-03-20T02:00")["next_run"] == {"at": "2026-03-20T02:30:00+00:00", "by": "cron"}
    told = status(memory, "2026-03-20T12:00")
    assert told["next_run"] == {"at": "2026-03-21T02:30:00+00:00", "by": "cron"}
    system.program("systemctl", SYSTEMCTL)
    memory.curate("install", "systemd", "--time", "01:00")
    assert status(memory, "2026-03-20T12:00")["next_run"]["by"] == "cron", "a timer that is not in force starts nothing"
    memory.write(".curate/schedule.json", '{"next": "2026-03-20T23:00:00+01:00"}')
    assert status(memory, "2026-03-20T12:00")["next_run"]["by"] == "cron", "a daemon that has ended starts nothing"
    with run_lock(memory.root, "which runs the nights", SCHEDULE):
        told = status(memory, "2026-03-20T12:00")["next_run"]
        assert told == {"at": "2026-03-20T22:00:00+00:00", "by": "curate schedule"}
        assert status(memory, "2026-03-20T23:00")["next_run"]["by"] == "cron", "it said nothing since"


def test_the_next_run_is_right_on_the_nights_when_clocks_change(memory: Memory, system: System) -> None:
    system.program("systemctl", SYSTEMCTL)
    memory.write("curate.toml", 'timezone = "Europe/Zurich"\n')
    memory.curate("install", "systemd", "--time", "02:30")
    units = Path.home() / "config/systemd/user"
    (units / "timers.target.wants").mkdir()
    (units / "timers.target.wants/memcurate.timer").symlink_to(units / "memcurate.timer")
    assert "Europe/Zurich" in (units / "memcurate.timer").read_text()
    for now, at in (
        ("2026-03-28T12:00", "2026-03-29T03:30:00+02:00"),
        ("2026-03-29T12:00", "2026-03-30T02:30:00+02:00"),
        ("2026-10-25T01:00", "2026-10-25T02:30:00+02:00"),
        ("2026-10-25T12:00", "2026-10-26T02:30:00+01:00"),
    ):
        when = datetime.fromisoformat(status(memory, now)["next_run"]["at"])
        assert when == datetime.fromisoformat(at)


def test_status_says_how_the_last_push_went_and_what_waits(memory: Memory) -> None:
    told = status(memory, "2026-03-20T12:00")
    assert (nights(told, "push"), told["review"]) == ("", 0)
    state: dict[str, object] = {
        "remote": "origin",
        "state": "diverged",
        "at": "2026-03-20T02:00:10+00:00",
        "reason": "Theirs changed.",
    }
    state |= {"pushed": "2026-03-17T02:00:09+00:00"}
    memory.write(".curate/push.json", json.dumps(state))
    memory.write(
        "Review.md", "# Review\n\n## A <!-- review gone 2026-03-19 -->\n\n## B <!-- review gone 2026-03-19 -->\n"
    )
    told = status(memory, "2026-03-20T12:00")
    assert nights(told, "push").startswith("origin: diverged: Theirs changed.")
    assert told["review"] == 2
    said = memory.curate("status", "--now", "2026-03-20T12:00")
    assert said.startswith("origin: diverged: Theirs changed.")
    assert "Theirs changed. The last push was 2026-03-17T02:00:09+00:00. `curate sync`" in said
    assert "Review    2 entries wait in Review.md; `curate review`\n" in said
    for broken in ("{", "[]", '{"state": 5}', "\0"):
        memory.write(".curate/push.json", broken)
        assert not nights(status(memory, "2026-03-20T12:00"), "push")
