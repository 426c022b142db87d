"""`curate runs`: the runs with what they changed, cost and came to; or one of them whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from pipelines.cli.options import json_option, memory_option, memory_root
from pipelines.cli.output import dollars, say, say_json, say_lines, say_table
from pipelines.night.run_history import Ended, all_runs, named, whole
from pipelines.store.git import Git

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from pipelines.night.run_history import Run, RunDetail
    from pipelines.store.change_set import ItemChange, Standing


_SHOWN: Final = 20


@click.command()
@click.argument("run", required=False, default="")
@click.option("--limit", type=click.IntRange(1), default=_SHOWN, show_default=True, help="How many at most.")
@json_option("Print JSON: an array, or an object for one RUN.")
@memory_option
def curate_runs(*, run: str, limit: int, as_json: bool, memory: Path | None) -> None:
    """List the runs, newest first; with RUN (an id or a commit, or the start of one) show that one whole."""
    root = memory_root(memory)
    git = Git(root)
    runs = all_runs(root, git)
    if run:
        detail = whole(named(runs, run), git)
        if as_json:
            say_json(_detail_json(detail))
        else:
            _tell(detail)
    elif as_json:
        say_json([one.to_json() for one in runs[:limit]])
    else:
        rows = [
            (
                one.id,
                one.when,
                _what_changed(one),
                _cost(one),
                one.commit.commit[:10] if one.commit else "-",
                _ending(one),
            )
            for one in runs[:limit]
        ]
        say_table(("run", "date", "changed", "cost", "commit", "ended"), rows)


def _what_changed(run: Run) -> str:
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


def _cost(run: Run) -> str:
    """Return what a run cost: requests, tokens and money, or a dash where no report tells."""
    if not isinstance(run.told("model"), dict):
        return "-"
    calls = run.number("model", "calls")
    tokens = run.number("model", "input_tokens") + run.number("model", "output_tokens")
    usd = run.told("model", "usd")
    paid = f", {dollars(usd)}" if isinstance(usd, float) and usd else ""
    return f"{calls:,} {'call' if calls == 1 else 'calls'}, {tokens:,} tokens{paid}"


def _ending(run: Run) -> str:
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


def _detail_json(detail: RunDetail) -> dict[str, object]:
    """Return what `--json` prints of one run."""
    sides = [(_standing(one.id, one.before), _standing(one.id, one.after)) for one in detail.items]
    return {
        **detail.run.to_json(),
        "items": {
            "added": [after for before, after in sides if not before],
            "changed": [
                {"id": after["id"], "before": before, "after": after} for before, after in sides if before and after
            ],
            "removed": [before for before, after in sides if not after],
        },
        "warnings": list(detail.warnings),
        "report": detail.run.report,
    }


def _standing(ident: str, one: Standing | None) -> dict[str, object]:
    """Return an item where it stood, empty where it did not."""
    if one is None:
        return {}
    item = one.item
    return {"id": ident, "type": item.type, "text": item.text, "status": item.status, "document": one.path}


def _tell(detail: RunDetail) -> None:
    run = detail.run
    commit = run.commit.commit if run.commit else "-"
    say(f"Run       {run.id}\nDate      {run.when}\nEnded     {_ending(run)}\nCommit    {commit}")
    if run.report and "entries" in run.report:
        say(f"Read      {run.number('entries', 'read')} entries of {run.number('logs', 'read')} logs")
    say(f"Changed   {_what_changed(run)}")
    say(f"Cost      {_cost(run)}")
    say_lines(_lines(detail.items))
    say_lines(f"Note      {warning}" for warning in detail.warnings)


def _lines(changes: Iterable[ItemChange]) -> Iterator[str]:
    for change in changes:
        before, after = change.before, change.after
        if after:
            sign, how = ("~", f" ({', '.join(_aspects(before, after))})") if before else ("+", "")
            yield f"  {sign} {change.id} {after.path}: {after.item.type}: {after.item.text}{how}"
        elif before:
            yield f"  - {change.id} {before.path}: {before.item.type}: {before.item.text}"


def _aspects(before: Standing, after: Standing) -> Iterator[str]:
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
