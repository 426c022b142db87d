"""`curate status`: how the memory fares, at a glance."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, cast

import click

from pipelines import __version__
from pipelines.cli.options import memory_option, memory_root, now_option
from pipelines.cli.output import dollars, passed_over, say, say_json, warn
from pipelines.clock import day_of, moment
from pipelines.errors import EXPECTED, FINE, BadSettings
from pipelines.extract.extract_days import days_to_read
from pipelines.night.fold_logs import capture
from pipelines.night.report import last_report, read_reports
from pipelines.night.unattended import sentence, tell
from pipelines.queries.health import health_of, installed_nights, next_run
from pipelines.search.damage import index_facts
from pipelines.search.indexed_files import unread
from pipelines.settings import load_settings
from pipelines.store.days import moment_of
from pipelines.store.git import Git
from pipelines.store.layout import BRIEFING, PROGRESS, REVIEW
from pipelines.store.snapshot import read_snapshot
from pipelines.store.state import NIGHTS, not_reached, push_state, read_progress, spent
from pipelines.store.user_layout import real_path

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from pipelines.agents.timers import Found
    from pipelines.extract.choose_models import Probe
    from pipelines.queries.health import Health
    from pipelines.search.damage import IndexFacts, VectorFacts


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
@click.option("--probe", is_flag=True, help="Ask the models' providers, within seconds, whether they answer.")
@click.option("--notify", is_flag=True, help="Tell you on your desktop, or by mail, that a night did not end well.")
@memory_option
@now_option
def curate_status(*, as_json: bool, probe: bool, notify: bool, memory: Path | None, now: str | None) -> int:
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


# ---------------------------------------- what `curate status` says of the nights
# whether they happen, what is to come, what they cost, who was reached.


@dataclass(frozen=True, slots=True)
class NightFacts:
    """How the nights of a memory stand.

    Args:
        health: whether they happen and end well.
        upcoming: when the next run begins and by what, or None.
        schedule: what is installed for it.
        review: how many entries wait in Review.md, and where that stands.
        spent: what the last 30 days cost.
        push: how the last push went, or None where nothing is pushed.
        probes: how the models' providers answered, or None where they were not asked.
    """

    health: Health
    upcoming: tuple[datetime, str] | None
    schedule: Sequence[Found]
    review: tuple[int, str]
    spent: Mapping[str, object]
    push: Mapping[str, object] | None
    probes: Sequence[Probe] | None

    def to_json(self) -> dict[str, object]:
        """Return what `--json` prints."""
        return {
            "overdue": self.health.overdue or None,
            "failed": self.health.failed or None,
            "last_well": self.health.last_well.isoformat() if self.health.last_well else None,
            "elsewhere": self.health.elsewhere.isoformat() if self.health.elsewhere else None,
            "next_run": {"at": self.upcoming[0].isoformat(), "by": self.upcoming[1]} if self.upcoming else None,
            "schedule": [asdict(one) for one in self.schedule],
            "review": self.review[0],
            "cost_30_days": dict(self.spent),
            "push": dict(self.push) if self.push else None,
            "models": None if self.probes is None else [asdict(one) for one in self.probes],
        }


def night_facts(root: Path, now: str | None, waiting: object, *, probe: bool) -> NightFacts:
    """Return how the nights stand; providers are asked only with `probe`."""
    settings = load_settings(root)
    when = moment(now, settings)
    reports = read_reports(root)
    nights = installed_nights(root)
    return NightFacts(
        health_of(root, reports, cast("list[str]", waiting), when, settings),
        next_run(root, nights, when),
        nights,
        _review(root),
        spent(reports.values(), when),
        push_state(root),
        _probes() if probe else None,
    )


def night_lines(facts: NightFacts) -> list[str]:
    """Return them as a person reads them."""
    advice = "" if facts.health.happens else " Run `curate run`."
    lines = [f"Overdue   {facts.health.overdue}{advice}"] if facts.health.overdue else []
    lines += [f"Failed    {facts.health.failed}"] if facts.health.failed else []
    lines += [f"Note      {facts.health.ahead}"] if facts.health.ahead else []
    if facts.health.elsewhere:
        when = facts.health.elsewhere.isoformat(" ", timespec="minutes")
        lines.append(f"Elsewhere {when}, the last night of another machine that is here")
    lines.append(f"Next run  {_next(facts)}")
    count, queue = facts.review
    lines.append(f"Review    {f'{count} {_waits(count)} in {queue}; `curate review`' if count else 'nothing waits'}")
    lines += [
        f"Cost      {_cost(facts.spent)}",
        f"Push      {_push(facts.push) if facts.push else 'nothing is pushed'}",
    ]
    return [*lines, *_reached(facts.probes)]


def _reached(probes: Sequence[Probe] | None) -> list[str]:
    if probes is None:
        return []
    told = [f"{one.provider} {f'answers, in {one.seconds:.1f} s' if one.reached else one.why}" for one in probes]
    return [f"Model     {line}." for line in told] or ["Model     none is asked: the rules read, here."]


def tell_person(root: Path, facts: NightFacts) -> None:
    """Tell a person that a night did not end well, and say on standard error how they were told."""
    how = tell(sentence(root, overdue=bool(facts.health.overdue)))
    told = f"You were told by {how}." if how else "There is neither a desktop nor a mail program to tell you by."
    warn(told)


def _next(facts: NightFacts) -> str:
    if facts.upcoming:
        when, by = facts.upcoming
        return f"{when.isoformat(' ', timespec='minutes')}, by {by}"
    if facts.schedule:
        return "not in force; `curate install --list` says what is installed"
    return "not scheduled; `curate install systemd`, `cron` or `launchd` does it"


def _review(root: Path) -> tuple[int, str]:
    queue = real_path(root, REVIEW)
    try:
        return (root / queue).read_text(encoding="utf-8").count("<!-- review "), queue
    except (OSError, ValueError):
        return 0, queue


def _waits(count: int) -> str:
    return "entry waits" if count == 1 else "entries wait"


def _cost(told: Mapping[str, object]) -> str:
    if not told["tokens"]:
        return f"nothing in the last {NIGHTS} days"
    usd, runs = told["usd"], told["runs"]
    paid = dollars(usd) if isinstance(usd, float) else "an unknown sum"
    return f"{paid} in the last {NIGHTS} days: {runs} {'run' if runs == 1 else 'runs'}, {told['tokens']:,} tokens"


def _push(told: Mapping[str, object]) -> str:
    reason = f": {told['reason']}" if told.get("reason") else ""
    return f"{told['state']} ({told['remote']}, {told['at']}){reason}{not_reached(told)}"


def _probes() -> list[Probe]:
    from pipelines.extract.choose_models import probe  # noqa: PLC0415  only where it is asked for
    from pipelines.user_settings import load_user_settings  # noqa: PLC0415  as above

    return probe(load_user_settings(os.environ))


# ---------------------------------------- what `curate status` says of search
# whether the index follows the files, and who embeds.


def search_facts(root: Path) -> dict[str, object]:
    """Return what `--json` prints of search: `index` with its units and vectors, and `embedder` with the reason."""
    name, why = _embedder()
    return {"index": index_facts(root).to_json(), "embedder": {"name": name, "why": why}}


def search_lines(root: Path) -> list[str]:
    """Return the same as a person reads it."""
    facts, (name, why) = index_facts(root), _embedder()
    lines = [f"Index     {_index(facts)}", f"Embedder  {why}"]
    if facts.vectors or name:
        lines.append(f"Vectors   {_vectors(facts.vectors, name)}")
    return lines


def _embedder() -> tuple[str | None, str]:
    from pipelines.search.embed import chosen_embedder  # noqa: PLC0415  the verb's work, not its help

    try:
        embedder, why = chosen_embedder()
    except BadSettings as fault:
        return None, f"Keyword search only: {fault.sentence}"
    return embedder.name if embedder else None, why


def _index(facts: IndexFacts) -> str:
    if facts.state not in {"current", "behind"}:
        return facts.sentence
    units = f"{facts.units:,} units of {facts.files:,} files"
    return f"{units}; {facts.sentence or 'no file changed since.'}"


def _vectors(vectors: VectorFacts | None, embedder: str | None) -> str:
    if vectors is None:
        return "none yet; `curate index` makes them."
    told = f"{vectors.present:,} present, {vectors.missing:,} missing"
    if embedder is None:
        return f"{told}, by {vectors.model}; unused until there is an embedder."
    if embedder != vectors.model:
        return f"{told}, by {vectors.model}; search goes by words alone until `curate index` has embedded anew."
    return f"{told}{'; `curate index` embeds them.' if vectors.missing else '.'}"
