"""`curate runs`: the runs with what they changed, cost and came to; or one of them whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from pipelines.cli.options import memory_option, memory_root
from pipelines.cli.output import dollars, say, say_json, say_table
from pipelines.night.run_history import Ended, all_runs, named, whole
from pipelines.store.git import Git

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pipelines.night.run_history import Run, RunDetail
    from pipelines.store.change_set import ItemChange, ItemPlace


SHOWN: Final = 20
_TITLES: Final = ("run", "date", "changed", "cost", "commit", "ended")


@click.command()
@click.argument("run", required=False, default="")
@click.option("--limit", type=click.IntRange(1), default=SHOWN, show_default=True, help="How many at most.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: an array, or an object for one RUN.")
@memory_option
def curate_runs(*, run: str, limit: int, as_json: bool, memory: Path | None) -> None:
    """List the runs, newest first; with RUN (an id or a commit, or the start of one) show that one whole."""
    root = memory_root(memory)
    git = Git(root)
    runs = all_runs(root, git)
    if run:
        detail = whole(named(runs, run), git)
        if as_json:
            say_json(detail_json(detail))
        else:
            _tell(detail)
    elif as_json:
        say_json([one.to_json() for one in runs[:limit]])
    else:
        say_table(_TITLES, [_row(one) for one in runs[:limit]])


def _row(run: Run) -> tuple[str, ...]:
    commit = run.commit.commit[:10] if run.commit else "-"
    return run.id, run.when, what_changed(run), cost(run), commit, ending(run)


def what_changed(run: Run) -> str:
    """Return what a run changed, in a few words."""
    if run.commit and run.undoes:
        return f"undoes {run.undoes}: {run.commit.subject.rpartition(': ')[2]}"
    told = [f"{run.added} added"] if run.added else []
    evicted = run.told("evicted")
    moved = len(evicted) if isinstance(evicted, list) else 0
    confirmed = run.number("items", "confirmed")
    told += [f"{confirmed} confirmed"] if confirmed else []
    told += [f"{moved} moved"] if moved else []
    other = run.changed - confirmed - moved
    told += [f"{other} changed"] if other > 0 else []
    return ", ".join(told) or "nothing"


def cost(run: Run) -> str:
    """Return what a run cost: requests, tokens and money, or a dash where no report tells."""
    if not isinstance(run.told("model"), dict):
        return "-"
    calls = run.number("model", "calls")
    tokens = run.number("model", "input_tokens") + run.number("model", "output_tokens")
    usd = run.told("model", "usd")
    paid = f", {dollars(usd)}" if isinstance(usd, float) and usd else ""
    return f"{calls:,} {'call' if calls == 1 else 'calls'}, {tokens:,} tokens{paid}"


def ending(run: Run) -> str:
    """Return how a run ended, in a few words."""
    told = {
        Ended.WELL: "well",
        Ended.PENDING: f"left something pending: {run.why}",
        Ended.FAILED: f"failed: {run.why}",
        Ended.UNDONE: f"undone by {run.why}",
        Ended.COMMITTED: f"committed; {run.why}",
        Ended.ASTRAY: run.why,
        Ended.BY_HAND: f"by hand: {run.why}",
    }
    return told[run.ended].rstrip(".")


def detail_json(detail: RunDetail) -> dict[str, object]:
    """Return what `--json` prints of one run."""
    return {
        **detail.run.to_json(),
        "items": {
            "added": [_standing(one.id, one.after) for one in detail.items if not one.before],
            "changed": [
                {"id": one.id, "before": _standing(one.id, one.before), "after": _standing(one.id, one.after)}
                for one in detail.items
                if one.before and one.after
            ],
            "removed": [_standing(one.id, one.before) for one in detail.items if not one.after],
        },
        "warnings": list(detail.warnings),
        "report": detail.run.report,
    }


def _standing(ident: str, one: ItemPlace | None) -> dict[str, object] | None:
    if one is None:
        return None
    item = one.item
    return {"id": ident, "type": item.type, "text": item.text, "status": item.status, "document": one.path}


def _tell(detail: RunDetail) -> None:
    run = detail.run
    say(f"Run       {run.id}")
    say(f"Date      {run.when}")
    say(f"Ended     {ending(run)}")
    say(f"Commit    {run.commit.commit if run.commit else '-'}")
    if run.report and "entries" in run.report:
        say(f"Read      {run.number('entries', 'read')} entries of {run.number('logs', 'read')} logs")
    say(f"Changed   {what_changed(run)}")
    say(f"Cost      {cost(run)}")
    for change in detail.items:
        for line in _lines(change):
            say(line)
    for warning in detail.warnings:
        say(f"Note      {warning}")


def _lines(change: ItemChange) -> Iterator[str]:
    before, after = change.before, change.after
    if after and not before:
        yield f"  + {change.id} {after.path}: {after.item.type}: {after.item.text}"
    elif before and not after:
        yield f"  - {change.id} {before.path}: {before.item.type}: {before.item.text}"
    elif before and after:
        told = ", ".join(_aspects(before, after))
        yield f"  ~ {change.id} {after.path}: {after.item.type}: {after.item.text} ({told})"


def _aspects(before: ItemPlace, after: ItemPlace) -> Iterator[str]:
    """Yield what is different of an item, in a few words each."""
    if before.path != after.path:
        yield f"moved from {before.path}"
    elif before.section != after.section:
        yield f"moved to {after.section}"
    if before.item.text != after.item.text:
        yield "reworded"
    if before.item.status is not after.item.status:
        yield f"{before.item.status} to {after.item.status}"
    if before.item.seen != after.item.seen or before.item.evidence != after.item.evidence:
        yield "confirmed" if after.item.seen >= before.item.seen else "evidence"
    if before.place == after.place and before.item == after.item:
        yield "written otherwise"
