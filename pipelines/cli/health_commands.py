"""`curate status` shows the state of the memory; `curate doctor` checks the set-up.

The status has three parts: what the memory holds, its runs, and its search. Each part returns what `--json` prints and
the fields that a person reads, from the same facts.
"""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from pipelines import __version__
from pipelines.agents.session_places import swept_agents
from pipelines.cli.options import flag_option, json_option, now_option, with_memory, with_root
from pipelines.cli.output import (
    count,
    day_shown,
    dollars,
    moment_shown,
    on_terminal,
    say,
    say_fields,
    say_json,
    say_table,
    skipped_lines,
    warn,
)
from pipelines.clock import day_of, moment
from pipelines.errors import EXPECTED, FINE, BadSettings
from pipelines.night import unattended
from pipelines.night.report import read_reports
from pipelines.night.run_history import RunEnd
from pipelines.queries.health import Health, health_of, installed_nights, next_run, waiting_days
from pipelines.search.index_facts import VectorFacts, index_facts
from pipelines.search.indexed_files import skipped
from pipelines.settings import Settings, load_settings
from pipelines.store.days import moment_of
from pipelines.store.layout import BRIEFING, REVIEW
from pipelines.store.left_out import MISSING, left_out
from pipelines.store.review_queue import read_queue
from pipelines.store.secrets.redact import without_secrets
from pipelines.store.secrets.scan import without_secret_files
from pipelines.store.snapshot import read_snapshot
from pipelines.store.state import push_state
from pipelines.store.trees import read_version
from pipelines.usage import spent

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pipelines.cli.options import OpenMemory
    from pipelines.night.run_history import PastRun

    Fields = list[tuple[str, str]]
    Part = tuple[dict[str, object], Fields]


NIGHTS = 30
"""The number of days for which `curate status` sums up spending."""


@click.command()
@json_option("Print it as JSON.")
@flag_option("--notify", "Also notify you on the desktop.")
@with_memory
def curate_status(*, as_json: bool, notify: bool, opened: OpenMemory) -> int:
    """Show the state of the memory: its last run, what waits, how full the briefing is, and its search.

    The first sentence says how things are and what to do. The exit code is 1 when no run has ended well for a day and a
    half, or when the last run failed and has not been made up for, so a monitor can watch it.
    """
    root, settings, when = opened
    held, held_lines, notes = _held(root, settings, when)
    state = health_of(root, held["days_waiting"], when, settings)
    nights, night_lines = _nights(root, state, when)
    search, search_lines = _search(root)
    sessions = swept_agents(root)
    if as_json:
        looked = [
            {"agent": name, "swept": one.at or None, "says": says, "passed": one.passed}
            for name, (one, says) in sessions.items()
        ]
        say_json(held | nights | search | {"sessions": looked})
    else:
        say(f"{_how_it_is(state, held, nights)}\n")
        first = [("Memory", str(root)), ("Last run", _run(state.last) if state.last else "none yet")]
        held_lines += [("Sessions", f"{name}: {says}") for name, (_, says) in sessions.items()]
        say_fields([*first, *held_lines, *night_lines, *search_lines, *notes, ("Version", f"memcurate {__version__}")])
    if notify:
        left = state.last is not None and state.last.ended is RunEnd.PENDING
        text = unattended.notification_text(root, overdue=bool(state.overdue), left=left)
        warn("Notified you on the desktop." if unattended.notify(text) else text)
    return EXPECTED if state.is_bad else FINE


def _how_it_is(state: Health, held: Mapping[str, Any], nights: Mapping[str, Any]) -> str:
    """Return one sentence on how things are, the most pressing first, and what to do."""
    briefing, past = held["briefing"], sum(day < held["day"] for day in held["days_waiting"])
    over, review = briefing["bytes"] - briefing["cap"], nights["review"]
    sentences = {
        "The last run failed. `curate doctor` shows what to do.": state.failed,
        "The last runs left work undone. `curate doctor` shows what to do.": state.overdue and state.happens,
        "No run has ended well for more than a day. Run `curate run`.": state.overdue,
        "Nothing has been curated yet. Run `curate run`.": not state.last,
        f"{briefing['path']} is {over:,} bytes too long. Shorten what you wrote in it.": over > 0,
        "Your budget kept the last run from reading everything.": state.unread,
        "The last push did not succeed. `curate doctor` shows what to do.": (nights["push"] or {}).get("reason"),
        f"All is well, and {count(review, 'entry waits', 'entries wait')} for you. Run `curate review`.": review,
        "All is well. There is nothing to do.": nights["next_run"],
        f"{count(past, 'day')} of logs {'waits' if past == 1 else 'wait'} to be read. Run `curate run`.": past,
    }
    unscheduled = "All is well, but no run is scheduled: see `curate install --help`."
    return next((sentence for sentence, holds in sentences.items() if holds), unscheduled)


def _held(root: Path, settings: Settings, when: datetime) -> tuple[dict[str, Any], Fields, Fields]:
    """Return what the memory holds: what `--json` prints, the first lines, and the notes that come last."""
    today = day_of(when, settings)
    snapshot = read_snapshot(root)
    waiting = waiting_days(snapshot, today)
    briefing, path, cap = snapshot.documents.get(BRIEFING), BRIEFING, settings.caps.briefing
    size = briefing.size if briefing else 0
    items, documents = sum(1 for _ in snapshot.items()), len(snapshot.documents)
    left, gone = left_out(root), left_out(root, MISSING)
    warnings = [*settings.ignored_note, *map(str, without_secret_files(snapshot).warnings)]
    warnings += [f"{one} is gone, and counts until you decide: `curate review`." for one in gone]
    if told := len(left) - len(gone):
        warnings.append(f"git leaves {count(told, 'file')} out of the disk; the last commit's count.")
    passed = [one._asdict() for one in skipped(root)]
    facts = {
        "memory": str(root),
        "version": __version__,
        "day": today,
        "days_waiting": waiting,
        "briefing": {"path": path, "bytes": size, "cap": cap},
        "items": items,
        "documents": documents,
        "left_out": list(left),
        "warnings": warnings,
        "skipped": passed,
    }
    days = f"{count(len(waiting), 'day')}, from {day_shown(waiting[0])}" if waiting else "nothing"
    lines = [
        ("Waiting", days),
        ("Briefing", f"{path} has {size:,} of {cap:,} bytes"),
        ("Holds", f"{count(items, 'item')} in {count(documents, 'document')}"),
    ]
    notes = [("Note", note) for note in warnings]
    notes += [("Note", line) for line in skipped_lines(passed)]
    return facts, lines, notes


def _run(run: PastRun) -> str:
    """Return when a run was, and how it ended."""
    when = moment_shown(run.when) if on_terminal() else run.when[:16].replace("T", " ")
    return f"{when}{'' if run.here else ' on another machine'}, {run.outcome}"


def _nights(root: Path, state: Health, when: datetime) -> Part:
    """Return the state of the runs: whether they happen, when the next one is, what they cost."""
    from pipelines.queries import doctor  # noqa: PLC0415  the verb's work, not its help

    installed = installed_nights(root)
    upcoming = next_run(root, installed, when)
    reports = read_reports(root).values()
    told = [(moment_of(report), found) for report in reports if isinstance(found := report.get("model"), dict)]
    costs = spent(one for at, one in told if at and timedelta() <= when - at <= timedelta(days=NIGHTS))
    push = push_state(root)
    try:
        entries = len(read_queue(read_version(REVIEW, (root / REVIEW).read_bytes())))
    except OSError:
        entries = 0
    facts: dict[str, object] = {
        "last_run": state.last.to_json() | {"here": state.last.here} if state.last else None,
        "overdue": state.overdue or None,
        "failed": state.failed or None,
        "unread": state.unread or None,
        "last_well": state.last_well.isoformat() if state.last_well else None,
        "next_run": {"at": upcoming[0].isoformat(), "by": upcoming[1]} if upcoming else None,
        "schedule": [asdict(one) for one in installed],
        "review": entries,
        "cost_30_days": costs,
        "push": dict(push) if push else None,
    }
    waits = f"{count(entries, 'entry waits', 'entries wait')} in {REVIEW}; `curate review`"
    lines = [
        ("Overdue", f"{state.overdue}{'' if state.happens or not state.overdue else ' Run `curate run`.'}"),
        ("Failed", state.failed),
        ("Unread", state.unread),
        ("Schedule", " ".join(doctor.schedule(root, when)[1:]).rstrip()),
        ("Review", waits if entries else "nothing waits"),
        ("Cost", _cost(costs)),
        ("Push", " ".join(doctor.push(root)[1:]).rstrip()),
    ]
    return facts, [(label, text) for label, text in lines if text]


def _cost(costs: Mapping[str, object]) -> str:
    if not costs["tokens"]:
        return f"nothing in the last {NIGHTS} days"
    usd, runs = costs["usd"], int(str(costs["runs"]))
    paid = dollars(usd) if isinstance(usd, float) else "an unknown sum"
    return f"{paid} in the last {NIGHTS} days: {count(runs, 'run')}, {costs['tokens']:,} tokens"


def _search(root: Path) -> Part:
    """Return the state of search: whether the index is up to date, and which embedder is used."""
    from pipelines.search.embed import chosen_embedder  # noqa: PLC0415  the verb's work, not its help

    facts = index_facts(root)
    try:
        embedder, why = chosen_embedder()
        name = embedder.name if embedder else None
    except BadSettings as fault:
        name, why = None, f"Keyword search only: {fault.sentence}"
    index = facts.sentence
    if facts.state in {"current", "behind"}:
        index = f"{count(facts.units, 'unit')} of {count(facts.files, 'file')}; {facts.sentence or 'up to date.'}"
    lines = [("Index", index), ("Embedder", why)]
    if facts.vectors or name:
        lines.append(("Vectors", _vectors(facts.vectors, name)))
    return {"index": asdict(facts), "embedder": {"name": name, "why": why}}, lines


def _vectors(vectors: VectorFacts | None, embedder: str | None) -> str:
    if vectors is None:
        return "none yet; `curate index` makes them."
    present = f"{vectors.present:,} present, {vectors.missing:,} missing"
    if embedder != vectors.model:
        return f"{present}, by {vectors.model}; until `curate index` embeds with another, search uses words alone."
    return f"{present}{'; the next runs embed them, `curate index` does it now.' if vectors.missing else '.'}"


@click.command()
@flag_option("--probe", "Also ask the models' providers; takes a few seconds.", "probing")
@json_option("Print it as JSON.")
@with_root
@now_option
def curate_doctor(*, probing: bool, as_json: bool, root: Path, now: str | None) -> int:
    """Check git, settings and keys, the schedule, the last runs and the agents; `curate check` checks the memory.

    It changes nothing. Each check is ok, worth a look, or wrong; the exit code is 1 if one is wrong. The last line is
    the next thing to do.
    """
    from pipelines.queries.doctor import State, examine, next_thing  # noqa: PLC0415  the verb's work, not its help

    try:
        when = moment(now, load_settings(root))
    except BadSettings:  # `examine` reports it
        when = datetime.now(UTC)
    findings = examine(root, when, probing=probing)
    first = next_thing(findings)
    if as_json:
        say_json({"findings": [asdict(one) for one in findings], "next": asdict(first) if first else None})
    else:
        say_table(("check", "state", "what was found"), [(one.check, one.state, _line(one.says)) for one in findings])
        say(f"\nNext ({first.check}): {_line(first.to_do)}" if first else "\nThere is nothing to do.")
    return EXPECTED if any(one.state is State.WRONG for one in findings) else FINE


def _line(text: str) -> str:
    return " ".join(without_secrets(text).split())
