"""`curate status` shows the state of the memory; `curate doctor` checks the set-up; `curate check` looks for damage.

The checks are the same in the first two: the status shows those of the nights, beside what the memory holds. `curate
check` looks for lost items, `curate secrets` for secrets.
"""

from __future__ import annotations

import shlex
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import click

from pipelines import __version__
from pipelines.agents.session_places import swept_agents
from pipelines.cli.options import OpenMemory, flag_option, json_option, now_option, with_memory, with_root
from pipelines.cli.output import (
    day_shown,
    dollars,
    moment_shown,
    on_terminal,
    say,
    say_fields,
    say_json,
    say_table,
    say_verbatim,
    warn,
)
from pipelines.clock import moment
from pipelines.errors import EXPECTED, FINE, BadSettings, UsageFault
from pipelines.night.report import PastRun, read_reports
from pipelines.queries.health import CHECKS, OF_NIGHTS, WRONG, Checkup, Finding, examine, next_thing
from pipelines.settings import load_settings
from pipelines.store.conservation import check_memory
from pipelines.store.days import moment_of
from pipelines.store.git import Git
from pipelines.store.layout import BRIEFING, REVIEW
from pipelines.store.review_queue import read_queue
from pipelines.store.secrets.redact import FoundSecret, load_redactor, without_secrets
from pipelines.store.secrets.scan import scan_files, scan_history, without_secret_files
from pipelines.store.snapshot import read_snapshot
from pipelines.store.trees import MISSING, left_out
from pipelines.text import count
from pipelines.usage import spent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


NIGHTS = 30
"""The number of days for which `curate status` sums up spending."""


@click.command()
@json_option("Print it as JSON.")
@flag_option("--notify", "Also notify you on the desktop.")
@with_memory
def curate_status(*, as_json: bool, notify: bool, opened: OpenMemory) -> int:
    """Show the state of the memory: its last run, what waits, and how full the briefing is.

    The first sentence says how things are and what to do. The exit code is 1 when no run has ended well for a day and a
    half, when the last run failed and has not been made up for, or when marks of a conflict keep logs unread, so a
    monitor can watch it.
    """
    root, settings, when = opened
    checkup = Checkup(root, when)
    findings, documents = examine(checkup, OF_NIGHTS), checkup.snapshot.documents
    last = next(iter(checkup.nights), None)
    items, review = sum(1 for _ in checkup.snapshot.items()), len(read_queue(documents.get(REVIEW)))
    notes = [*settings.ignored_note, *map(str, without_secret_files(checkup.snapshot).warnings)]
    gone = left_out(root, MISSING)
    notes += [f"{one} is gone, and counts until you decide: `curate review`." for one in gone]
    if unseen := len(left_out(root)) - len(gone):
        notes.append(f"git was told to leave {count(unseen, 'file')} off the disk: the last commit is read instead.")
    reports = read_reports(root).values()
    told = [(moment_of(report), found) for report in reports if isinstance(found := report.get("model"), dict)]
    costs = spent(one for at, one in told if at and timedelta() <= when - at <= timedelta(days=NIGHTS))
    if as_json:
        briefing = documents.get(BRIEFING)
        well = next((run.moment.isoformat() for run in checkup.nights if run.did_its_work and run.moment), None)
        say_json({
            "memory": str(root), "version": __version__, "days_waiting": checkup.waiting, "items": items,
            "briefing": {"bytes": briefing.size if briefing else 0, "cap": settings.caps.briefing},
            "documents": len(documents), "review": review, "warnings": notes,
            "last_run": last.to_json() | {"here": last.here} if last else None, "last_well": well,
            "next_run": {"at": coming[0].isoformat(), "by": coming[1]} if (coming := checkup.upcoming) else None,
            "cost_30_days": costs,
            "sessions": [
                {"agent": name, "swept": one.at or None, "says": says, "passed": one.passed}
                for name, (one, says) in swept_agents(root).items()
            ],
            "findings": _rows(findings),
        })  # fmt: skip
    else:
        first, days = next_thing(findings), checkup.waiting
        waits = f"{count(review, 'entry waits', 'entries wait')}"
        well = f"All is well, and {waits} for you. Run `curate review`." if review else "All is well."
        lead = str(first[1] if first else well)
        say(f"{lead}\n")
        say_fields([
            ("Memory", str(root)),
            ("Last run", _ended(last, lead) if last else "none yet"),
            ("Waiting", f"{count(len(days), 'day')}, from {day_shown(days[0])}" if days else "nothing"),
            ("Holds", f"{count(items, 'item')} in {count(len(documents), 'document')}"),
            ("Review", f"{waits} in {REVIEW}; `curate review`" if review else "nothing waits"),
            *((name.capitalize(), str(one)) for name, one in findings.items()
              if str(one) != lead and (one.to_do or name != "nights")),
            ("Cost", _cost(costs)),
            *(("Note", note) for note in notes if note not in lead),
            ("Version", f"memcurate {__version__}"),
        ])  # fmt: skip
    if notify:
        from pipelines.agents.timers import notify as notified  # noqa: PLC0415  timers alone ask for it

        warn(notified(root))
    return EXPECTED if findings["nights"].state == WRONG else FINE


def _ended(last: PastRun, lead: str) -> str:
    """Return when and how a run ended, without the reason if that was said already."""
    when = moment_shown(last.when) if on_terminal() else last.when[:16].replace("T", " ")
    outcome = last.outcome.partition(":")[0] if last.why and last.why in lead else last.outcome
    return f"{when}{'' if last.here else ' on another machine'}, {outcome}"


def _rows(findings: Mapping[str, Finding]) -> list[dict[str, str]]:
    return [{"check": name, **one._asdict()} for name, one in findings.items()]


def _cost(costs: Mapping[str, object]) -> str:
    if not costs["tokens"]:
        return f"nothing in the last {NIGHTS} days"
    usd, runs = costs["usd"], int(str(costs["runs"]))
    paid = dollars(usd) if isinstance(usd, float) else "an unknown sum"
    return f"{paid} in the last {NIGHTS} days: {count(runs, 'run')}, {costs['tokens']:,} tokens"


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
    try:
        when = moment(now, load_settings(root))
    except BadSettings:  # a check reports it
        when = datetime.now(UTC)
    findings = examine(Checkup(root, when), [name for name in CHECKS if probing or name != "models"])
    first = next_thing(findings)
    if as_json:
        say_json({"findings": _rows(findings), "next": _rows(dict([first]))[0] if first else None})
    else:
        rows = [(name, one.state, _line(one.says)) for name, one in findings.items()]
        say_table(("check", "state", "what was found"), rows)
        say(f"\nNext ({first[0]}): {_line(first[1].to_do)}" if first else "\nThere is nothing to do.")
    return EXPECTED if any(one.state == WRONG for one in findings.values()) else FINE


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
    git, redactor = Git(root), load_redactor(root)
    if action == "allow":
        if not (redactor.known and redactor.known.allow(tag)):
            raise UsageFault("No known secret has that tag.", "It stands in the mark, as in [redacted:token:TAG].")
        say("Allowed: this value is no longer treated as a secret. What was redacted stays redacted.")
        return FINE
    git.check()
    files = list(scan_files(root, redactor))
    past = scan_history(git, redactor) if history else []
    if as_json:
        say_json([leak._asdict() for leak in (*files, *past)])
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
