"""Measure what it is worth to rank higher what was found before: `[search] access` in curate.toml.

usage: python benchmarks/uses.py MEMORY [MEMORY ...] [--splits N]

Each MEMORY is indexed and holds `queries.jsonl`, as `curate eval search` reads it. Half of its questions, drawn at
random, are asked first, and what their first ten hits were is counted as used, as `curate search` counts it; the other
half is scored, with nothing used and with each weight of `access`. One line a weight: means over all scored questions.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.queries.search_settings import asker
from pipelines.search.evaluate_search import LIMIT, read_questions, score
from pipelines.search.filters import Filters
from pipelines.search.query import search
from pipelines.search.rank import record_uses, uses_of

if TYPE_CHECKING:
    from pipelines.search.evaluate_search import Question
    from pipelines.search.query import Asked

WEIGHTS = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2)
SHOWN = 10
TITLES = ("access", "@500w", "@1000w", "@2000w", "day@5", "day@10", "MRR")


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("memories", type=Path, nargs="+")
    parser.add_argument("--splits", type=int, default=3)
    given = parser.parse_args()
    figures: dict[float, list[list[float]]] = {weight: [] for weight in WEIGHTS}
    for root in given.memories:
        who = asker(root, Filters())
        asked = [(question, who.ask(question.query)) for question in read_questions(root / "queries.jsonl")]
        for seed in range(given.splits):
            random.Random(seed).shuffle(asked)
            first, second = asked[: len(asked) // 2], asked[len(asked) // 2 :]
            with tempfile.TemporaryDirectory() as folder:
                scored(root, Path(folder), first, second, figures)
    print("\t".join(TITLES))
    for weight, rows in figures.items():
        print("\t".join([f"{weight:g}", *(f"{statistics.fmean(column):.4f}" for column in zip(*rows, strict=True))]))
    print(f"{len(figures[0.0]):,} scored questions")


def scored(
    root: Path,
    used: Path,
    first: list[tuple[Question, Asked]],
    second: list[tuple[Question, Asked]],
    figures: dict[float, list[list[float]]],
) -> None:
    """Ask the first half, then score the second with each weight."""
    (used / ".curate").mkdir()
    for question, how in first:
        record_uses(used, [hit.known_as for hit in search(root, question.query, SHOWN, (), how)])
    for weight, rows in figures.items():
        for question, how in second:
            ranking = replace(how.ranking, access=weight)
            uses = partial(uses_of, used)
            rows.append(
                score(question, search(root, question.query, LIMIT, (), replace(how, ranking=ranking, uses=uses)))
            )


if __name__ == "__main__":
    main()
