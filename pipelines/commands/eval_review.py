"""`curate eval review`: measure the review that needs no model, on pairs of sentences whose relation is known."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipelines.commands.output import say, say_json, say_table

if TYPE_CHECKING:
    from pipelines.queries.pairs import PairScore


@click.command("review")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--wrong", is_flag=True, help="Show the pairs that were judged wrongly, those held back left out.")
@click.option("--json", "as_json", is_flag=True, help="Print it as one JSON object.")
def command(file: Path, *, wrong: bool, as_json: bool) -> None:
    """Score the review on FILE, one pair a line: {"old": "...", "new": "...", "label": "supersede"}.

    The labels are duplicate, supersede, contradict and distinct. The pairs are scored in two parts, by a hash of each:
    two thirds to tune rules on, and one third that is held back. What was merged wrongly is counted by itself;
    "guarded" are pairs whose "why" says that they differ in a number, a date, a name or a negation.
    """
    from pipelines.queries.pairs import read_pairs, score_pairs  # noqa: PLC0415  the verb's work, not its help

    pairs = read_pairs(file)
    scores = {
        "tuned": score_pairs(pair for pair in pairs if not pair.held_back),
        "held back": score_pairs(pair for pair in pairs if pair.held_back),
        "all": score_pairs(pairs),
    }
    if as_json:
        say_json({name: score.to_json() for name, score in scores.items()})
        return
    _tell(scores)
    if wrong:
        for pair, verdict in scores["tuned"].wrong:
            say(f"{pair.label} taken for {verdict}: {pair.old} | {pair.new}")


def _tell(scores: dict[str, PairScore]) -> None:
    from pipelines.review.judging import Relation  # noqa: PLC0415  as above

    titles = ["pairs", "count", "macro-F1", *(f"{one} F1" for one in Relation), "merged wrongly", "guarded"]
    rows = [
        [
            name,
            f"{score.pairs:,}",
            f"{score.macro_f1:.3f}",
            *(f"{score.of(one)[2]:.3f}" for one in Relation),
            f"{score.merged:,}",
            f"{score.merged_guarded:,}",
        ]
        for name, score in scores.items()
    ]
    say_table(titles, rows)
