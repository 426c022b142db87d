"""Measure what each part of the ranking is worth, on conversations whose questions have known evidence.

usage: python benchmarks/search_quality.py DATA [--json]      (make bench-search DATA=DIR)

DATA is LoCoMo as downloaded (locomo10.json, or a folder that holds it), or a folder of folders with Logs/ and
queries.jsonl. Each conversation becomes a memory in a temporary folder. The embedder is the one that your settings
choose; without one, only the rows that need none are printed.

Printed is a table: the share of the evidence inside the first 500, 1000 and 2000 words of what was found, the share of
its days among the first five files, the reciprocal rank of the first hit that is evidence, and how many questions gain
and lose against the default at 1000 words.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.conversations import read_conversations
from benchmarks.search_questions import LIMIT, score
from pipelines.errors import CurateError
from pipelines.search.build import rebuild_index
from pipelines.search.embed import chosen_embedder, embed_index
from pipelines.search.query import SearchRequest, search
from pipelines.search.rank import Ranking

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.conversations import Conversation
    from pipelines.search.embedders.embedder import Embedder

DEFAULT = "default"
RANKINGS = {
    DEFAULT: Ranking(),
    'mode = "keyword"': Ranking(mode="keyword"),
    'mode = "vector"': Ranking(mode="vector"),
    'fusion = "rrf"': Ranking(fusion="rrf"),
    "vector_weight = 0.7": Ranking(vector_weight=0.7),
    "vector_weight = 0.6": Ranking(vector_weight=0.6),
    "vector_weight = 0.4": Ranking(vector_weight=0.4),
    "vector_weight = 0.3": Ranking(vector_weight=0.3),
    "mmr = 0.9": Ranking(mmr=0.9),
    "mmr = 0.7": Ranking(mmr=0.7),
    "half_life_days = 30": Ranking(half_life_days=30),
    "half_life_days = 365": Ranking(half_life_days=365),
    "vector_weight = 0.7, mmr = 0.7, half_life_days = 30": Ranking(vector_weight=0.7, mmr=0.7, half_life_days=30),
    "without neighbours": Ranking(neighbours=0.0),
    "without passages": Ranking(passages=0.0),
    "without both": Ranking(neighbours=0.0, passages=0.0),
}
WORDS_ALONE = (DEFAULT, "without neighbours", "without passages", "without both")
TITLES = ("@500w", "@1000w", "@2000w", "day@5", "day@10", "MRR")


def answered(conversation: Conversation, embedder: Embedder | None) -> Iterator[dict[str, list[float]]]:
    """Yield the figures of every question of a conversation, by ranking."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "curate.toml").touch()
        for path, text in conversation.logs.items():
            (root / path).parent.mkdir(exist_ok=True)
            (root / path).write_text(text, "utf-8")
        rebuild_index(root)
        if embedder:
            embed_index(root, embedder)
        for question in conversation.questions:
            asked = SearchRequest()
            if embedder:
                asked = asked._replace(vector=embedder.embed_query(question.query), embedder=embedder.name)
            yield {
                name: score(question, search(root, question.query, LIMIT, (), asked._replace(ranking=ranking)))
                for name, ranking in RANKINGS.items()
                if embedder or name in WORDS_ALONE
            }


def table(figures: Sequence[dict[str, list[float]]]) -> list[dict[str, float | str]]:
    """Return a row a ranking: its means over the questions, and who gains and loses against the default."""
    rows: list[dict[str, float | str]] = []
    for name in figures[0]:
        means = [round(statistics.fmean(column), 4) for column in zip(*(one[name] for one in figures), strict=True)]
        differences = [one[name][1] - one[DEFAULT][1] for one in figures]
        rows.append(
            {"ranking": name}
            | dict(zip(TITLES, means, strict=True))
            | {"gain": sum(one > 0 for one in differences), "lose": sum(one < 0 for one in differences)}
        )
    return rows


def markdown(rows: Sequence[dict[str, float | str]]) -> str:
    """Return the rows as the table that the documentation shows."""
    titles = list(rows[0])
    lines = [f"| {' | '.join(titles)} |", f"|{'---|' * len(titles)}"]
    for row in rows:
        told = [f"{value:.3f}" if isinstance(value, float) else str(value) for value in row.values()]
        lines.append(f"| {' | '.join(told)} |")
    return "\n".join(lines)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    try:
        conversations = read_conversations(asked.data)
        embedder, why = chosen_embedder()
    except CurateError as fault:
        raise SystemExit(f"{fault}") from None
    print(why, file=sys.stderr)
    figures: list[dict[str, list[float]]] = []
    for number, conversation in enumerate(conversations, 1):
        figures += answered(conversation, embedder)
        print(f"{number} of {len(conversations)}: {conversation.name}, {len(figures)} questions", file=sys.stderr)
    rows = table(figures)
    error = statistics.pstdev([one[DEFAULT][1] for one in figures]) / math.sqrt(len(figures))
    if asked.json:
        print(json.dumps({"questions": len(figures), "standard_error": round(error, 4), "rankings": rows}))
    else:
        print(f"{markdown(rows)}\n\n{len(figures)} questions; the standard error of @1000w is {error:.3f}.")


if __name__ == "__main__":
    main()
