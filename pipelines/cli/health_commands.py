"""`curate status`, how the memory fares at a glance, and `curate doctor`, whether the set-up can work.

The status has three parts: what the memory holds, its nights, and its search. Each part gives what `--json` prints
and the lines that a person reads, from the same facts.
"""

from __future__ import annotations

import os
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from pipelines import __version__
from pipelines.cli.options import json_option, now_option, with_memory, with_root
from pipelines.cli.output import dollars, say, say_json, say_table, skipped_lines, warn
from pipelines.clock import day_of, moment
from pipelines.errors import EXPECTED, FINE, BadSettings
from pipelines.extract.choose_models import probe
from pipelines.night.report import last_report, read_reports
from pipelines.night.unattended import sentence, tell
from pipelines.queries.health import health_of, installed_nights, minutes, next_run, waiting_days
from pipelines.search.damage import index_facts
from pipelines.search.indexed_files import unread
from pipelines.settings import load_settings
from pipelines.store.days import moment_of
from pipelines.store.git import Git
from pipelines.store.layout import BRIEFING, REVIEW
from pipelines.store.secrets import veil
from pipelines.store.snapshot import read_snapshot
from pipelines.store.state import NIGHTS, not_reached, push_state, spent
from pipelines.store.user_layout import layout_of
from pipelines.user_settings import load_user_settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from pipelines.cli.options import OpenMemory
    from pipelines.queries.health import Health
    from pipelines.search.damage import VectorFacts
    from pipelines.settings import Settings

    Part = tuple[dict[str, object], list[str]]


@click.command()
@json_option("Print it as JSON.")
@click.option(
    "--probe", "probing", is_flag=True, help="Ask the models' providers, within seconds, whether they answer."
)
@click.option("--notify", is_flag=True, help="Tell you on your desktop, or by mail, that a night did not end well.")
@with_memory
def curate_status(*, as_json: bool, probing: bool, notify: bool, opened: OpenMemory) -> int:
    """Say when the last run was and how it ended, what waits, how full the briefing is, and how search fares.

    The exit code is 1 when no night ended well for more than a day and a half, or when the last run failed and days
    wait for it, or what it wrote is not committed yet: any monitor can watch that.
    """
    root, settings, when = opened
    held, held_lines, notes = _held(root, settings, when)
    reports = read_reports(root)
    state = health_of(root, reports, held["days_waiting"], when, settings)
    nights, night_lines = _nights(root, state, reports.values(), when, probing=probing)
    search, search_lines = _search(root)
    if as_json:
        say_json(held | nights | search)
    else:
        say(*held_lines, *night_lines, *search_lines, *notes, f"Version   memcurate {__version__}")
    if notify:
        how = tell(sentence(root, overdue=bool(state.overdue)))
        warn(f"You were told by {how}." if how else "There is neither a desktop nor a mail program to tell you by.")
    return EXPECTED if state.is_bad else FINE


def _held(root: Path, settings: Settings, when: datetime) -> tuple[dict[str, Any], list[str], list[str]]:
    """Return what the memory holds: what `--json` prints, the first lines, and the notes that come last."""
    today = day_of(when, settings)
    snapshot = read_snapshot(root)
    waiting = waiting_days(snapshot, today)
    last = last_report(root)
    briefing, path, cap = snapshot.documents.get(BRIEFING), snapshot.shown(BRIEFING), settings.caps.briefing
    size = briefing.size if briefing else 0
    items, documents = sum(1 for _ in snapshot.items()), len(snapshot.documents)
    warnings = [*settings.ignored_note, *map(str, snapshot.warnings)]
    skipped, partial = ([asdict(one) for one in files] for files in unread(root))
    facts = {
        "memory": str(root),
        "version": __version__,
        "day": today,
        "last_run": {key: last[key] for key in ("run", "now", "exit_code", "commit", "error") if key in last}
        if last
        else None,
        "days_waiting": waiting,
        "briefing": {"path": path, "bytes": size, "cap": cap},
        "items": items,
        "documents": documents,
        "repository": Git(root).is_repository(),
        "warnings": warnings,
        "skipped": skipped,
        "partial": partial,
    }
    days = f"{len(waiting)} {'day' if len(waiting) == 1 else 'days'}, from {waiting[0]}" if waiting else "nothing"
    lines = [
        f"Memory    {root}",
        f"Last run  {_last_run(last) if last else 'no run yet'}",
        f"Waiting   {days}",
        f"{path} {size:,} of {cap:,} bytes",
        f"Holds     {items:,} items in {documents:,} documents",
    ]
    over = f"{path} is over its cap by what was written in it by hand; shorten it."
    notes = [f"Note      {note}" for note in ([over] if size > cap else []) + warnings]
    notes += [f"Skipped   {line}" for line in skipped_lines(skipped)]
    notes += [f"Note      {line}" for line in skipped_lines(partial)]
    return facts, lines, notes


def _last_run(last: Mapping[str, object]) -> str:
    """Return when a run was, as the other lines show a moment where it can be read, and how it ended."""
    when, error = moment_of(last), last.get("error")
    how = "ended well" if last.get("exit_code") == 0 else "left something pending"
    if isinstance(error, dict):
        how = f"failed: {error.get('sentence')}"
    return f"{minutes(when) if when else last.get('now')}, {how}"


def _nights(
    root: Path, state: Health, reports: Iterable[Mapping[str, object]], when: datetime, *, probing: bool
) -> Part:
    """Return how the nights fare: whether they happen, what is to come, what they cost, who was reached."""
    probes = probe(load_user_settings(os.environ)) if probing else None
    installed = installed_nights(root)
    upcoming = next_run(root, installed, when)
    costs, push = spent(reports, when), push_state(root)
    models = [found for report in reports if isinstance(found := report.get("model"), dict) and found.get("calls")]
    failed = (models[-1].get("failing") if models else None) or {}
    queue = layout_of(root).real(REVIEW)
    try:
        count = (root / queue).read_text(encoding="utf-8").count("<!-- review ")
    except (OSError, ValueError):
        count = 0
    facts: dict[str, object] = {
        "overdue": state.overdue or None,
        "failed": state.failed or None,
        "last_well": state.last_well.isoformat() if state.last_well else None,
        "elsewhere": state.elsewhere.isoformat() if state.elsewhere else None,
        "next_run": {"at": upcoming[0].isoformat(), "by": upcoming[1]} if upcoming else None,
        "schedule": [asdict(one) for one in installed],
        "review": count,
        "cost_30_days": costs,
        "push": dict(push) if push else None,
        "models": None if probes is None else [asdict(one) for one in probes],
        "failing": failed,
    }
    begins = "not scheduled; `curate install systemd`, `cron` or `launchd` does it"
    if upcoming:
        begins = f"{minutes(upcoming[0])}, by {upcoming[1]}"
    elif installed:
        begins = "not in force; `curate install --list` says what is installed"
    pushed = "nothing is pushed"
    if push:
        reason = f": {push['reason']}" if push.get("reason") else ""
        pushed = f"{push['state']} ({push['remote']}, {push['at']}){reason}{not_reached(push)}"
    waits = f"{count} {'entry waits' if count == 1 else 'entries wait'} in {queue}; `curate review`"
    lines = [
        f"Overdue   {state.overdue}{'' if state.happens else ' Run `curate run`.'}" if state.overdue else "",
        f"Failed    {state.failed}" if state.failed else "",
        f"Note      {state.ahead}" if state.ahead else "",
        f"Elsewhere {minutes(state.elsewhere)}, the last night of another machine that is here"
        if state.elsewhere
        else "",
        f"Next run  {begins}",
        f"Review    {waits if count else 'nothing waits'}",
        f"Cost      {_cost(costs)}",
        f"Push      {pushed}",
    ]
    if not state.failed:  # which says why
        lines += [f"Provider  {name} gave no usable answer in the last run ({kind})." for name, kind in failed.items()]
    if probes is not None:
        answers = [
            f"{one.provider} {f'answers, in {one.seconds:.1f} s' if one.reached else one.why}." for one in probes
        ]
        lines += [f"Model     {line}" for line in answers or ["none is asked: the rules read, here."]]
    return facts, list(filter(None, lines))


def _cost(costs: Mapping[str, object]) -> str:
    if not costs["tokens"]:
        return f"nothing in the last {NIGHTS} days"
    usd, runs = costs["usd"], costs["runs"]
    paid = dollars(usd) if isinstance(usd, float) else "an unknown sum"
    return f"{paid} in the last {NIGHTS} days: {runs} {'run' if runs == 1 else 'runs'}, {costs['tokens']:,} tokens"


def _search(root: Path) -> Part:
    """Return how search fares: whether the index follows the files, and who embeds."""
    from pipelines.search.embed import chosen_embedder  # noqa: PLC0415  the verb's work, not its help

    facts = index_facts(root)
    try:
        embedder, why = chosen_embedder()
        name = embedder.name if embedder else None
    except BadSettings as fault:
        name, why = None, f"Keyword search only: {fault.sentence}"
    index = facts.sentence
    if facts.state in {"current", "behind"}:
        index = f"{facts.units:,} units of {facts.files:,} files; {facts.sentence or 'no file changed since.'}"
    lines = [f"Index     {index}", f"Embedder  {why}"]
    if facts.vectors or name:
        lines.append(f"Vectors   {_vectors(facts.vectors, name)}")
    return {"index": asdict(facts), "embedder": {"name": name, "why": why}}, lines


def _vectors(vectors: VectorFacts | None, embedder: str | None) -> str:
    if vectors is None:
        return "none yet; `curate index` makes them."
    present = f"{vectors.present:,} present, {vectors.missing:,} missing"
    if embedder is None:
        return f"{present}, by {vectors.model}; unused until there is an embedder."
    if embedder != vectors.model:
        return f"{present}, by {vectors.model}; search goes by words alone until `curate index` has embedded anew."
    return f"{present}{'; `curate index` embeds them.' if vectors.missing else '.'}"


@click.command()
@click.option(
    "--probe", "probing", is_flag=True, help="Ask git's remotes and the models' providers, too, within seconds."
)
@json_option("Print it as JSON.")
@with_root
@now_option
def curate_doctor(*, probing: bool, as_json: bool, root: Path, now: str | None) -> int:
    """Check git, the disk, settings and keys, the memory, its index, what starts nights and how the last ones ended.

    Nothing is changed. Each check is ok, worth a look, or wrong; the exit code is 1 when one is wrong. What is said
    last is the one next thing to do.
    """
    from pipelines.queries.doctor import State, examine, next_thing  # noqa: PLC0415  the verb's work, not its help

    try:
        when = moment(now, load_settings(root))
    except BadSettings:  # which is a finding
        when = datetime.now(UTC)
    findings = examine(root, when, probing=probing)
    first = next_thing(findings)
    if as_json:
        say_json({"findings": [asdict(one) for one in findings], "next": asdict(first) if first else None})
    else:
        say_table(("check", "state", "what was found"), [(one.check, one.state, _line(one.says)) for one in findings])
        say(f"\nNext, for {first.check}: {_line(first.to_do)}" if first else "\nThere is nothing to do.")
    return EXPECTED if any(one.state is State.WRONG for one in findings) else FINE


def _line(text: str) -> str:
    return " ".join(veil(text).split())
