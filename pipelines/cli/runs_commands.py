"""The verbs that look back: `curate runs` lists the runs, and `undo` undoes one.

`curate why` shows what an item rests on, its past and what needs it, `recap` what happened on some days.
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

import click

from pipelines.cli.manual_changes import diff_of, item_named
from pipelines.cli.options import (
    OpenMemory,
    TextCommand,
    Words,
    flag_option,
    json_option,
    project_option,
    with_memory,
    with_root,
)
from pipelines.cli.output import (
    dollars,
    moment_shown,
    on_terminal,
    say,
    say_bold,
    say_fields,
    say_json,
    say_table,
    say_verbatim,
)
from pipelines.clock import day_of, span_of
from pipelines.errors import UsageFault
from pipelines.night.own_items import looks_like_id
from pipelines.night.report import PastRun, RunEnd, all_runs, edits_before, find_run, items_changed
from pipelines.queries.item_graph import Beliefs, item_json, safe
from pipelines.queries.why import changes, why, why_lines
from pipelines.store.evidence import Quotes, without_pointer
from pipelines.store.git import Git
from pipelines.store.git_history import BY_PEOPLE
from pipelines.store.item import Evidence
from pipelines.store.secrets.redact import without_secrets
from pipelines.store.snapshot import read_documents
from pipelines.text import clipped, count, fold

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from pipelines.store.change_set import ItemChange


_LONGEST = 200


@click.command()
@click.argument("run", required=False, default="")
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True, help="Show at most this many.")
@flag_option("--skipped", "List the lines that RUN, or the last run, did not understand.")
@json_option("Print JSON: an array, or an object for one RUN.")
@with_root
def curate_runs(*, run: str, limit: int, skipped: bool, as_json: bool, root: Path) -> None:
    """List the runs, newest first. With RUN (an id or commit, or the start of one), show that run in full."""
    git = Git(root)
    if skipped and as_json:
        raise UsageFault("--skipped and --json exclude each other.", "Give one of them.")
    if skipped:
        _tell_skipped(root, git, run)
    elif run:
        one = find_run(root, git, run)
        by_hand = edits_before(one, git)
        is_edits = bool(one.commit and one.commit.extractor == BY_PEOPLE)  # these are all that it is about
        changed = [] if is_edits else items_changed(one, git)
        if as_json:
            told = {"items": _changes_json(changed), "by_hand": _changes_json(by_hand)}
            say_json({**one.to_json(), **told, "warnings": one.warnings, "report": one.report})
        else:
            _tell(one, changed, by_hand)
    else:
        runs = all_runs(root, git)[:limit]
        if as_json:
            say_json([one.to_json() for one in runs])
            return
        rows = [
            (
                one.id,
                moment_shown(one.when),
                _cost(one),
                one.commit.commit[:10] if one.commit else "-",
                f"{_what_changed(one)}; {_ending(one)}",
            )
            for one in runs
        ]
        say_table(("run", "date", "cost", "commit", "what it did"), rows)


def _tell_skipped(root: Path, git: Git, run: str) -> None:
    """Print the lines that a run did not understand, as the logs have them now, and how many are gone."""
    runs = [find_run(root, git, run)] if run else [one for one in all_runs(root, git) if one.number("entries", "read")]
    reports: Iterator[tuple[str, Any]] = ((one.id, one.reported("skipped")) for one in runs)
    ident, rows = next(((ident, rows) for ident, rows in reports if isinstance(rows, list)), ("", None))
    if rows is None:
        raise UsageFault("This machine has no list of skipped lines of that run.", "Only where it ran is it kept.")
    if not rows:
        say(f"Run {ident} understood every line that it read.")
    quotes, gone = Quotes(root), 0
    for row in rows:
        found = quotes.found(Evidence(row["path"], row["start_line"], row["end_line"], row["digest"]))
        if found.quote:
            text = clipped(without_secrets(fold(without_pointer(found.quote.replace("\n", " ")))), _LONGEST)
            say_verbatim(f"{found.path}:{found.start_line}: {text}")
            say(f"  {row['why']}")
        else:
            gone += 1
    if gone:
        say(f"{count(gone, 'line has', 'lines have')} changed in the log since.")


@click.command()
@click.argument("run", required=False, default="")
@click.option("--item", default="", metavar="ID", help="Take back only what the last run did to this item.")
@flag_option("--dry-run", "Show what would change, as a diff, and write nothing.")
@with_memory
def curate_undo(*, run: str, item: str, dry_run: bool, opened: OpenMemory) -> None:
    """Undo RUN (its id or commit, or the start of one) with a new commit.

    Without RUN, undo the newest run that changed something and still stands. Items that the run added are removed and
    not proposed again, items that it changed or moved are restored, and later changes are kept. An undo is itself a run
    that you can undo.
    """
    from pipelines.night.undo import carry_out_undo  # noqa: PLC0415  only who takes back needs it

    if run and item:
        raise UsageFault("RUN and --item exclude each other.", "Give one of them.")
    if item and not looks_like_id(item):
        item = item_named(read_documents(opened[0]), item)
    plan, commit = carry_out_undo(opened, run, item, is_dry=dry_run)
    if dry_run:
        if diff := diff_of(opened[0], plan.changes).rstrip("\n"):
            say_verbatim(f"{diff}\n")
        say(f"{plan.change.summary} (dry run: nothing was written)")
    else:
        say(f"{plan.change.summary}{f'; `curate undo {commit[:10]}` brings it back' if commit else ''}.")
    if not run and not item:  # the user may have meant a later edit, which is not a run
        say(f"That run was: {plan.run.subject} (commit {plan.run.commit[:10]}).")
    say(*(f"Note: {ident} {why}." for ident, why in sorted(plan.kept.items())))


def _what_changed(run: PastRun) -> str:
    """Return what a run changed, in a few words."""
    if run.commit and run.commit.undoes:
        undone = f"{run.commit.undoes} {run.commit.item}".strip()
        return f"undoes {undone}: {run.commit.subject.rpartition(': ')[2]}"
    evicted, confirmed = run.reported("evicted"), run.number("items", "confirmed")
    moved = len(evicted) if isinstance(evicted, list) else 0
    counts = {
        "added": run.added,
        "confirmed": confirmed,
        "moved": moved,
        "changed": max(0, run.changed - confirmed - moved),
        "asked": run.number("people", "asked"),
    }
    return ", ".join(f"{number} {what}" for what, number in counts.items() if number) or "nothing"


def _cost(run: PastRun) -> str:
    """Return what a run cost, or how many requests it made if that is unknown; a dash if no model was asked."""
    calls, usd = run.number("model", "calls"), run.reported("model", "usd")
    if not calls:
        return "-"
    return dollars(usd) if isinstance(usd, float) and usd else count(calls, "call")


def _ending(run: PastRun) -> str:
    """Return how a run ended, in a few words."""
    failing = run.reported("model", "failing")
    without = f", without {', '.join(failing)}, which failed" if isinstance(failing, dict) and failing else ""
    told = run.outcome.removeprefix("ended ").removeprefix("was ").rstrip(".")
    return f"{told}{without if run.ended is RunEnd.WELL else ''}"


def _changes_json(changes: Sequence[ItemChange]) -> dict[str, object]:
    both = ((one.before, one.after) for one in changes)
    sides = [[item_json(side.item, side.path) if side else {} for side in sides] for sides in both]
    return {
        "added": [after for before, after in sides if not before],
        "changed": [
            {"id": after["id"], "before": before, "after": after} for before, after in sides if before and after
        ],
        "removed": [before for before, after in sides if not after],
    }


def _tell(run: PastRun, changed: Sequence[ItemChange], by_hand: Sequence[ItemChange]) -> None:
    read = ""
    if run.report and "entries" in run.report:
        entries, logs = run.number("entries", "read"), run.number("logs", "read")
        read = f"{count(entries, 'entry', 'entries')} of {count(logs, 'log')}"
    tokens = run.number("model", "input_tokens") + run.number("model", "output_tokens")
    fields = {
        "Run": run.id,
        "Date": moment_shown(run.when),
        "Ended": _ending(run),
        "Commit": run.commit.commit if run.commit else "-",
        "Read": read,
        "Changed": _what_changed(run),
        "Cost": f"{_cost(run)}{f', {tokens:,} tokens' if tokens else ''}",
    }
    say_fields((label, text) for label, text in fields.items() if text)
    _tell_changes(changed)
    if by_hand:
        say("By hand, before it:" if changed else "By hand:")
        _tell_changes(by_hand)
    say_fields(("Note", warning) for warning in run.warnings)


def _tell_changes(changed: Sequence[ItemChange]) -> None:
    for change in changed:
        was, now = ((side.path, side.item) if side else ("", None) for side in (change.before, change.after))
        path, item = now if now[1] else was
        sign, how = ("+", []) if was[1] is None else ("~" if now[1] else "-", [*changes(was, now)])
        if item:
            told = f" ({', '.join(how) or 'rewritten'})" if sign != "+" else ""
            say(f"  {sign} {change.id} {path}: {item.type}: {item.text}{told}", hang="      ")


# ---------------------------------------- what is believed, and what happened


@click.command(cls=TextCommand)
@click.argument("item", metavar="ID", nargs=-1, required=True)
@json_option()
@with_root
def curate_why(*, item: Words, as_json: bool, root: Path) -> None:
    """Show why the item ID is believed. ID is the start of an item's id, or a few words of it.

    This shows the words of the log that it rests on, what was said in the session behind them, the run, model and
    prompt version that extracted it, the items it rests on, what rests on it, and every wording and
    status that it had, with who changed it. Of a deleted item, its id finds the past.
    """
    beliefs = Beliefs.of(read_documents(root))
    ident = " ".join(item)  # an id may be of an item that is gone
    if not looks_like_id(ident):
        ident = item_named(beliefs.documents, ident)
    found = why(root, Git(root), ident, beliefs)
    if as_json:
        say_json(found.to_json())
    for line in () if as_json else why_lines(found, moment_shown):  # what begins without a blank is a heading
        (say if line.startswith(" ") else say_bold)(line)


@click.command(cls=TextCommand)
@click.argument("when", metavar="[WHEN]", nargs=-1)
@project_option("Only what is about this project or area.")
@json_option("Print a JSON array with an object for each day.")
@with_memory
def curate_recap(*, when: Words, project: str, as_json: bool, opened: OpenMemory) -> None:
    """Show what happened: the episodes of WHEN, in order.

    WHEN is a day (2026-04-09, "9 Apr", yesterday, Monday, "3 days ago"), a month (2026-04), or "this week", "last
    week", "this month" or "last month". The default is the last seven days.
    """
    from pipelines.queries.recap import recap  # noqa: PLC0415  the verb's work, not its help

    root, settings, moment = opened
    since, until = span_of(" ".join(when), day_of(moment, settings))
    found = recap(read_documents(root), since, until, project)
    if as_json:
        say_json([one.to_json() for one in found])
    for one in () if as_json else found:
        day = date.fromisoformat(one.day)
        say_bold(f"{day:%A}, {day.day} {day:%b %Y}" if on_terminal() else f"{one.day}, {day:%A}")
        say(*(f"  {safe(sentence.text)}" for sentence in one.sentences))
    if not (found or as_json):
        days = since if since == until else f"{since} to {until}"
        about = f" about {project}" if project else ""
        say(f"There is no episode for {days}{about}. A run writes one for each day that left an item.")
