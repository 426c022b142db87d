"""`curate status` shows the state of the memory; `curate doctor` checks the set-up; `curate check` looks for damage.

What the checks find is the same in the first two: the status shows those of the runs, beside what the memory holds and
the state of its search. `curate check` looks for lost items, `curate secrets` for secrets.
"""

from __future__ import annotations

import shlex
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
    say_verbatim,
    skipped_lines,
    warn,
)
from pipelines.clock import day_of, moment
from pipelines.errors import EXPECTED, FINE, BadSettings, UsageFault
from pipelines.night.report import read_reports
from pipelines.queries.health import WRONG, Finding, health_of, installed_nights, next_run, waiting_days
from pipelines.search.index_facts import VectorFacts, index_facts
from pipelines.search.indexed_files import skipped
from pipelines.settings import Settings, load_settings
from pipelines.store.conservation import check_memory
from pipelines.store.days import moment_of
from pipelines.store.git import Git
from pipelines.store.layout import BRIEFING, REVIEW
from pipelines.store.review_queue import read_queue
from pipelines.store.secrets.redact import known_values, load_redactor, without_secrets
from pipelines.store.secrets.scan import scan_files, scan_history, without_secret_files
from pipelines.store.snapshot import read_snapshot
from pipelines.store.trees import MISSING, left_out
from pipelines.usage import spent

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pipelines.cli.options import OpenMemory
    from pipelines.night.run_history import PastRun

    Fields = list[tuple[str, str]]
    Part = tuple[dict[str, object], Fields]
    from collections.abc import Sequence

    from pipelines.store.secrets.redact import FoundSecret


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
    from pipelines.queries import doctor  # noqa: PLC0415  the verb's work, not its help

    root, settings, when = opened
    held, held_lines, notes = _held(root, settings, when)
    state = health_of(root, held["days_waiting"], when, settings)
    installed = installed_nights(root)
    upcoming = next_run(root, installed, when)
    findings = {
        "nights": state.finding,
        "briefing": doctor.briefing(*held["briefing"].values()),
        "push": doctor.push(root),
        "schedule": doctor.schedule(installed, upcoming),
        "sessions": doctor.sessions(root),
    }
    first = doctor.next_thing(findings)
    costs = _costs(root, when)
    search, search_lines = _search(root)
    if as_json:
        nights = {
            "last_run": state.last.to_json() | {"here": state.last.here} if state.last else None,
            "last_well": state.last_well.isoformat() if state.last_well else None,
            "next_run": {"at": upcoming[0].isoformat(), "by": upcoming[1]} if upcoming else None,
            "cost_30_days": costs,
            "sessions": [
                {"agent": name, "swept": one.at or None, "says": says, "passed": one.passed}
                for name, (one, says) in swept_agents(root).items()
            ],
        }
        say_json(held | nights | search | {"findings": _rows(findings)})
    else:
        waits = f"All is well, and {count(held['review'], 'entry waits', 'entries wait')} for you. Run `curate review`."
        well = waits if held["review"] else "All is well. There is nothing to do."
        say(f"{first[1]}\n" if first else f"{well}\n")
        told = [(name.capitalize(), str(one)) for name, one in findings.items() if one.to_do or name != "nights"]
        run = ("Last run", _run(state.last) if state.last else "none yet")
        last = [("Cost", _cost(costs)), *search_lines, *notes, ("Version", f"memcurate {__version__}")]
        say_fields([("Memory", str(root)), run, *held_lines, *told, *last])
    if notify:
        from pipelines.agents.timers import notify as notified  # noqa: PLC0415  timers alone ask for it

        warn(notified(root))
    return EXPECTED if state.finding.state is WRONG else FINE


def _rows(findings: Mapping[str, Finding]) -> list[dict[str, str]]:
    return [{"check": name, **asdict(one)} for name, one in findings.items()]


def _held(root: Path, settings: Settings, when: datetime) -> tuple[dict[str, Any], Fields, Fields]:
    """Return what the memory holds: what `--json` prints, the first lines, and the notes that come last."""
    today = day_of(when, settings)
    snapshot = read_snapshot(root)
    waiting = waiting_days(snapshot, today)
    briefing = snapshot.documents.get(BRIEFING)
    items, documents = sum(1 for _ in snapshot.items()), len(snapshot.documents)
    left, gone = left_out(root), left_out(root, MISSING)
    warnings = [*settings.ignored_note, *map(str, without_secret_files(snapshot).warnings)]
    warnings += [f"{one} is gone, and counts until you decide: `curate review`." for one in gone]
    if told := len(left) - len(gone):
        warnings.append(f"git leaves {count(told, 'file')} out of the disk; the last commit's count.")
    passed = [one._asdict() for one in skipped(root)]
    entries = len(read_queue(snapshot.documents.get(REVIEW)))
    facts = {
        "memory": str(root),
        "version": __version__,
        "day": today,
        "days_waiting": waiting,
        "briefing": {"bytes": briefing.size if briefing else 0, "cap": settings.caps.briefing},
        "items": items,
        "documents": documents,
        "review": entries,
        "left_out": list(left),
        "warnings": warnings,
        "skipped": passed,
    }
    waits = count(entries, "entry waits", "entries wait")
    days = f"{count(len(waiting), 'day')}, from {day_shown(waiting[0])}" if waiting else "nothing"
    lines = [
        ("Waiting", days),
        ("Holds", f"{count(items, 'item')} in {count(documents, 'document')}"),
        ("Review", f"{waits} in {REVIEW}; `curate review`" if entries else "nothing waits"),
    ]
    notes = [("Note", note) for note in warnings]
    notes += [("Note", line) for line in skipped_lines(passed)]
    return facts, lines, notes


def _run(run: PastRun) -> str:
    """Return when a run was, and how it ended."""
    when = moment_shown(run.when) if on_terminal() else run.when[:16].replace("T", " ")
    return f"{when}{'' if run.here else ' on another machine'}, {run.outcome}"


def _costs(root: Path, when: datetime) -> dict[str, object]:
    reports = read_reports(root).values()
    told = [(moment_of(report), found) for report in reports if isinstance(found := report.get("model"), dict)]
    return spent(one for at, one in told if at and timedelta() <= when - at <= timedelta(days=NIGHTS))


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
    from pipelines.queries.doctor import examine, next_thing  # noqa: PLC0415  the verb's work, not its help

    try:
        when = moment(now, load_settings(root))
    except BadSettings:  # `examine` reports it
        when = datetime.now(UTC)
    findings = examine(root, when, probing=probing)
    first = next_thing(findings)
    if as_json:
        say_json({"findings": _rows(findings), "next": _rows(dict([first]))[0] if first else None})
    else:
        say_table(
            ("check", "state", "what was found"), [(n, one.state, _line(one.says)) for n, one in findings.items()]
        )
        say(f"\nNext ({first[0]}): {_line(first[1].to_do)}" if first else "\nThere is nothing to do.")
    return EXPECTED if any(one.state is WRONG for one in findings.values()) else FINE


def _line(text: str) -> str:
    return " ".join(without_secrets(text).split())


@click.command()
@json_option("Print the faults as JSON.")
@with_root
def curate_check(*, as_json: bool, root: Path) -> int:
    """Check that no item was lost, and that no edit broke anything.

    This names each fault with its file, line and item; the exit code is 1 if there are any. Nothing is changed.
    """
    settings = load_settings(root)
    git = Git(root)
    git.check()
    faults = check_memory(read_snapshot(root), git, settings.caps.briefing)
    if as_json:
        say_json([fault.to_json() for fault in faults])
    else:
        say(*map(str, faults))
        if not faults:
            say("Everything is accounted for, and nothing is broken.")
    return EXPECTED if faults else FINE


@click.command()
@click.argument("action", type=click.Choice(("list", "allow")), default="list")
@click.argument("tag", default="")
@flag_option("--history", "Also look in every version in git.")
@json_option("Print the secrets as JSON.")
@with_root
def curate_secrets(action: str, tag: str, *, history: bool, as_json: bool, root: Path) -> int:
    """List the secrets in the memory's files by rule and tag, but never a value; the exit code is 1 if there are any.

    With --history it prints the commands that remove them from git's history. Nothing is changed. A value that was
    found once is redacted wherever it occurs; `curate secrets allow TAG` stops that for one value.
    """
    if action == "allow":
        if not known_values(root).allow(tag):
            raise UsageFault("No known secret has that tag.", "It stands in the mark, as in [redacted:token:TAG].")
        say("Allowed: this value is no longer treated as a secret. What was redacted stays redacted.")
        return FINE
    git, redactor = Git(root), load_redactor(root)
    git.check()
    files = list(scan_files(root, redactor))
    past = scan_history(git, redactor) if history else []
    if as_json:
        say_json([asdict(leak) for leak in (*files, *past)])
    else:
        _tell_secrets(root, files, past, git if history else None)
    return EXPECTED if files or past else FINE


def _tell_secrets(root: Path, files: Sequence[FoundSecret], past: Sequence[FoundSecret], git: Git | None) -> None:
    """Print what was found and how to purge the history, which only the user may rewrite."""
    say(*map(str, (*files, *past)))
    if not (files or past):
        say(f"No secret was found in the files{' or in any version that git holds' if git else ''}.")
        return
    say(
        "\nRevoke each secret where it was issued, because whoever saw it keeps it. To allow a false positive, add"
        " <!-- allow-secret --> to its line. Remove the others from your documents; the next run redacts the logs."
    )
    if not git:
        say("`curate secrets --history` also searches git's history, and prints how to purge it.")
    if not (past and git):
        return
    top = shlex.quote(str(git.root))
    listed = shlex.quote(f"{root}/.curate/purge.txt")
    blobs = " ".join(dict.fromkeys(leak.blob for leak in past))
    say(
        "\nOnce no file holds any of them and that is committed, purge the history with git-filter-repo. This removes"
        " the versions above, and every later commit gets a new id:\n"
    )
    say_verbatim(f"  cp -a {top} {shlex.quote(f'{git.root}.before-purge')}")
    say_verbatim(f"  printf '%s\\n' {blobs} > {listed}")
    say_verbatim(f"  git -C {top} filter-repo --force --strip-blobs-with-ids {listed}")
    say("\nIf it was ever pushed, add the remote again, run `git push --force --all`, and clone it again elsewhere.")
