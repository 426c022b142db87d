"""`curate eval extract`: measure what an extractor finds in logs whose items are known, and what that costs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipelines.commands.output import say, say_json, say_table
from pipelines.commands.progress import watch_for_people
from pipelines.errors import UsageFault

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipelines.extract.extraction import Extractor
    from pipelines.queries.evaluate import GoldDay, Score, Tally


@click.command("extract")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--provider", metavar="NAME", default="", help="Who reads, instead of the user's providers.")
@click.option("--compare", metavar="A,B", default="", help="Several providers, side by side.")
@click.option("--days", type=click.IntRange(min=1), help="Read only so many days, spread evenly over all.")
@click.option("--json", "as_json", is_flag=True, help="Print it as one JSON object.")
def command(folder: Path, *, provider: str, compare: str, days: int | None, as_json: bool) -> int:
    """Score an extractor on DIR, which holds Logs/YYYY-MM-DD.md and gold.jsonl, the items that are in them.

    A line of gold.jsonl: {"date": "2026-01-02", "type": "Decision", "text": "..."}. What is found is told by type, with
    precision, recall and F1; how many candidates were dropped because the log does not say what they say; calls,
    tokens, and the cost by the price table. No memory is read or written. NAME is a provider as the settings name
    them. A model is asked, and paid, for every day: --days keeps it small.
    """
    from pipelines.queries.evaluate import read_gold_days, sample  # noqa: PLC0415  the verb's work, not its help

    if provider and compare:
        raise UsageFault("--provider and --compare exclude each other.", "Name all of them with --compare a,b.")
    names = [name.strip() for name in compare.split(",") if name.strip()] if compare else [provider]
    readers = [(name, _extractor(name)) for name in names]
    read = read_gold_days(folder)
    scores = _scores(sample(read, days) if days else read, readers)
    if as_json:
        say_json({"days": scores[0][1].days, "providers": {name: score.to_json() for name, score in scores}})
    else:
        _tell(scores)
    return 1 if any(score.failed for _, score in scores) else 0


def _extractor(name: str) -> Extractor:
    from pipelines.extract.choose_models import choose_extractor  # noqa: PLC0415  as above
    from pipelines.user_settings import load_user_settings  # noqa: PLC0415  as above

    return choose_extractor(load_user_settings(os.environ, name))


def _scores(days: Sequence[GoldDay], readers: Sequence[tuple[str, Extractor]]) -> list[tuple[str, Score]]:
    from pipelines.queries.evaluate import evaluate  # noqa: PLC0415  as above

    found = []
    with watch_for_people() as watch:
        for name, reader in readers:
            with watch.stage(name or "extract"):
                score = evaluate(days, reader, lambda done: watch.advance(done, len(days)))
            found.append((name or score.name, score))
    return found


def _tell(scores: Sequence[tuple[str, Score]]) -> None:
    parts = ("kept", "P", "R", "F1")
    titles = ["type", "gold", *(f"{name} {part}" if len(scores) > 1 else part for name, _ in scores for part in parts)]
    first = scores[0][1]
    rows = [[str(kind), f"{tally.gold:,}"] for kind, tally in first.types.items()] + [["all", f"{first.all.gold:,}"]]
    for _, score in scores:
        for row, tally in zip(rows, (*score.types.values(), score.all), strict=True):
            row.extend(_cells(tally))
    say_table(titles, rows)
    say()
    for name, score in scores:
        say(f"{name}: {_summary(score)}")
        for failure in score.failures:
            say(f"  {failure}")


def _cells(tally: Tally) -> list[str]:
    shares = (tally.precision, tally.recall, tally.f1)
    return [f"{tally.kept:,}", *("-" if share is None else f"{share:.3f}" for share in shares)]


def _summary(score: Score) -> str:
    levels = [f"{level} {one.right:,} of {one.kept:,} right" for level, one in score.confidence.items() if one.kept]
    cost = "cost not known (the price table lacks the model)" if score.usd is None else f"{score.usd:.4f} USD"
    parts = [
        f"{score.days:,} days" + (f", {score.failed:,} of them failed" if score.failed else ""),
        *([f"{score.fallback:,} days read by the rules, because no model could"] if score.fallback else []),
        *(["by confidence: " + ", ".join(levels)] if levels else []),
        f"{score.ungrounded:,} without grounds dropped",
        *([f"{score.unjudged:,} of types that the gold does not hold"] if score.unjudged else []),
        f"{score.calls:,} calls, {score.input_tokens:,} tokens sent, {score.output_tokens:,} received, {cost}",
        f"{score.seconds:.1f} s",
    ]
    return "; ".join(parts)
