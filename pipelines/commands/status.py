"""`curate status`: how the memory fares, at a glance."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from pipelines import __version__
from pipelines.clock import day_of, moment
from pipelines.commands.nights_told import night_facts, night_lines, tell_person
from pipelines.commands.options import memory_option, memory_root, now_option
from pipelines.commands.output import say, say_json
from pipelines.commands.passed_over import passed_over
from pipelines.commands.searchable import search_facts, search_lines
from pipelines.errors import EXPECTED, FINE
from pipelines.extract.extract_days import days_to_read
from pipelines.night.fold_logs import capture
from pipelines.night.report import last_report
from pipelines.search.indexed_files import unread
from pipelines.settings import load_settings
from pipelines.store.days import moment_of
from pipelines.store.git import Git
from pipelines.store.layout import BRIEFING, PROGRESS
from pipelines.store.snapshot import read_snapshot
from pipelines.store.state import read_progress

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
@click.option("--probe", is_flag=True, help="Ask the models' providers, within seconds, whether they answer.")
@click.option("--notify", is_flag=True, help="Tell you on your desktop, or by mail, that a night did not end well.")
@memory_option
@now_option
def command(*, as_json: bool, probe: bool, notify: bool, memory: Path | None, now: str | None) -> int:
    """Say when the last run was and how it ended, what waits, how full the briefing is, and how search fares.

    The exit code is 1 when no night ended well for more than a day and a half, or when the last run failed and days
    wait for it, or what it wrote is not committed yet: any monitor can watch that.
    """
    root = memory_root(memory)
    facts = status_facts(root, now)
    told = night_facts(root, now, facts["days_waiting"], probe=probe)
    if as_json:
        say_json(facts | told.to_json() | search_facts(root))
    else:
        for line in status_lines(facts, [*night_lines(told), *search_lines(root)]):
            say(line)
    if notify:
        tell_person(root, told)
    return EXPECTED if told.health.is_bad else FINE


def status_facts(root: Path, now: str | None) -> dict[str, object]:
    """Return what `--json` prints."""
    settings = load_settings(root)
    today = day_of(moment(now, settings), settings)
    snapshot = read_snapshot(root)
    logs = capture(snapshot.logs, snapshot.partials, today).logs
    waiting = days_to_read(logs, read_progress(snapshot.state.get(PROGRESS)), today, lambda *_: None)
    last = last_report(root)
    briefing = snapshot.documents.get(BRIEFING)
    return {
        "memory": str(root),
        "version": __version__,
        "day": today,
        "last_run": {key: last[key] for key in ("run", "now", "exit_code", "commit", "error") if key in last}
        if last
        else None,
        "days_waiting": list(dict.fromkeys(day.day for day in waiting if day.fresh)),
        "briefing": {
            "path": snapshot.shown(BRIEFING),
            "bytes": briefing.size if briefing else 0,
            "cap": settings.caps.briefing,
        },
        "items": sum(1 for _ in snapshot.items()),
        "documents": len(snapshot.documents),
        "repository": Git(root).is_repository(),
        "warnings": [*settings.ignored_note, *map(str, snapshot.warnings)],
        **_unread(root),
    }


def _unread(root: Path) -> dict[str, object]:
    """Return which files the index lacks, whole or in part, as of its last update."""
    skipped, partial = unread(root)
    return {"skipped": [asdict(one) for one in skipped], "partial": [asdict(one) for one in partial]}


def _ending(last: dict[str, object]) -> str:
    error = last.get("error")
    if isinstance(error, dict):
        return f"failed: {error.get('sentence')}"
    return "ended well" if last["exit_code"] == 0 else "left something pending"


def _shown(when: str) -> str:
    """Return a moment of a report as the other lines show theirs; as it is where it cannot be read."""
    found = moment_of({"now": when})
    return found.isoformat(" ", timespec="minutes") if found else when


def status_lines(facts: dict[str, object], search: list[str]) -> list[str]:
    """Return the status as a person reads it, with the lines that tell how search fares before what is to be noted."""
    last, waiting, briefing = facts["last_run"], facts["days_waiting"], facts["briefing"]
    if not (isinstance(waiting, list) and isinstance(briefing, dict) and isinstance(facts["warnings"], list)):
        raise TypeError(facts)
    ended = "no run yet"
    if isinstance(last, dict):
        ended = f"{_shown(str(last['now']))}, {_ending(last)}"
    waits = "nothing"
    if waiting:
        waits = f"{len(waiting)} {'day' if len(waiting) == 1 else 'days'}, from {waiting[0]}"
    lines = [
        f"Memory    {facts['memory']}",
        f"Last run  {ended}",
        f"Waiting   {waits}",
        f"{briefing['path']} {briefing['bytes']:,} of {briefing['cap']:,} bytes",
        f"Holds     {facts['items']:,} items in {facts['documents']:,} documents",
        *search,
    ]
    if briefing["bytes"] > briefing["cap"]:
        lines.append(f"Note      {briefing['path']} is over its cap by what was written in it by hand; shorten it.")
    lines += [f"Note      {warning}" for warning in facts["warnings"]]
    for label, key in (("Skipped", "skipped"), ("Note", "partial")):
        files = facts[key]
        lines += [f"{label:<9} {line}" for line in passed_over(files if isinstance(files, list) else [])]
    return [*lines, f"Version   memcurate {facts['version']}"]
