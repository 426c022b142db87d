"""Measure search by words alone and with meaning, on conversations whose questions have known evidence.

usage: python benchmarks/search_quality.py DATA [--json]      (make bench-search DATA=DIR)

DATA is LoCoMo as downloaded (locomo10.json, or a folder that holds it), or a folder of folders with Logs/ and
queries.jsonl. Each conversation becomes a memory in a temporary folder. The embedder is the one that your settings
choose; without one, the row by words alone is printed.

Printed is a table: the share of the evidence inside the first 500, 1000 and 2000 words of what was found, the share of
its days among the first five files, the reciprocal rank of the first hit that is evidence, and how many questions gain
and lose against words alone at 1000 words.
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
from benchmarks.searching import search
from pipelines.errors import CurateError
from pipelines.search.build import rebuild_index
from pipelines.search.embed import chosen_embedder, embed_index
from pipelines.search.query import SearchRequest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.conversations import Conversation
    from pipelines.search.embedders.embedder import Embedder

WORDS_ALONE, BOTH = "words", "both"
TITLES = ("@500w", "@1000w", "@2000w", "day@5", "day@10", "MRR")


def answered(conversation: Conversation, embedder: Embedder | None) -> Iterator[dict[str, list[float]]]:
    """Yield the figures of every question of a conversation, by way."""
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
            ways = {WORDS_ALONE: SearchRequest()}
            if embedder:
                ways[BOTH] = SearchRequest(vector=embedder.embed_query(question.query), embedder=embedder.name)
            yield {
                name: score(question, search(root, question.query, LIMIT, (), asked)) for name, asked in ways.items()
            }


def table(figures: Sequence[dict[str, list[float]]]) -> list[dict[str, float | str]]:
    """Return a row a way: its means over the questions, and who gains and loses against words alone."""
    rows: list[dict[str, float | str]] = []
    for name in figures[0]:
        means = [round(statistics.fmean(column), 4) for column in zip(*(one[name] for one in figures), strict=True)]
        differences = [one[name][1] - one[WORDS_ALONE][1] for one in figures]
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
    error = statistics.pstdev([one[WORDS_ALONE][1] for one in figures]) / math.sqrt(len(figures))
    if asked.json:
        print(json.dumps({"questions": len(figures), "standard_error": round(error, 4), "rankings": rows}))
    else:
        print(f"{markdown(rows)}\n\n{len(figures)} questions; the standard error of @1000w is {error:.3f}.")


if __name__ == "__main__":
    main()
