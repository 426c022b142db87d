"""Score the search of your own memory on questions whose evidence you know.

usage: python -m benchmarks.search_questions FILE [--memory DIR] [--json]

FILE has one question a line: {"query": "...", "evidence": [["Logs/2026-01-02.md", 7]]}.

This compares search by words and by words and meaning: how much of the evidence is in the first 500, 1000 and 2000
words of the results, and how many of its files are among the first 5 and 10; the reciprocal rank of the first correct
hit; and the time an answer takes, without the embedder.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from pipelines.cli.output import say, say_json, say_table, warn
from pipelines.errors import BadFile, CurateError
from pipelines.search import embed
from pipelines.search.build import freshen
from pipelines.search.query import SearchRequest, answer
from pipelines.search.schema import reading
from pipelines.store.files import read_text
from pipelines.store.user_layout import find_memory
from pipelines.text import count, escape_terminal_line

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from pipelines.search.hits import Hit


WORDS: Final = (500, 1000, 2000)
FILES: Final = (5, 10)
LIMIT: Final = 100
_SHOWN = "SELECT start_line, end_line FROM units WHERE file = ? AND NOT hidden"
_NAMES = (
    *(f"recall@{words}w" for words in WORDS),
    *(f"day@{files}" for files in FILES),
    *("mrr", "median_ms", "p95_ms"),
)


@dataclass(frozen=True, config=ConfigDict(strict=True))
class GoldQuestion:
    """A question and the places (path, line from 1) that answer it."""

    query: Annotated[str, Field(pattern=r"\S")]
    evidence: Annotated[frozenset[tuple[str, int]], Field(min_length=1)]


_QUESTION = TypeAdapter(GoldQuestion)


def read_questions(path: Path) -> list[GoldQuestion]:
    """Return the questions of a file with one JSON object per line; blank lines and other keys are ignored.

    Raises:
        BadFile: it cannot be read, or a line is not a question; the message says which.
    """
    lines = enumerate(read_text(path).split("\n"), 1)
    found = [_question(path, number, line) for number, line in lines if line.strip()]
    if not found:
        raise BadFile(path, "contains no question")
    return found


def _question(path: Path, number: int, line: str) -> GoldQuestion:
    try:
        return _QUESTION.validate_json(line)
    except ValidationError:
        shape = '{"query": "...", "evidence": [["Logs/2026-01-02.md", 7]]}'
        raise BadFile(path, f"has no valid question in line {number}; it should look like {shape}") from None


def out_of_reach(root: Path, questions: Sequence[GoldQuestion]) -> list[tuple[str, int]]:
    """Return the evidence that no search can find, in order, because no visible unit contains it.

    Args:
        root: the memory.
        questions: the questions with the evidence.

    Raises:
        IndexUnusable: there is no index, or it cannot be read.
    """
    wanted = {place for question in questions for place in question.evidence}
    with reading(root) as connection:
        files = {path: file for file, path in connection.execute("SELECT id, path FROM files")}
        shown = {path: connection.execute(_SHOWN, (files.get(path),)).fetchall() for path, _ in wanted}
    return [
        (path, line) for path, line in sorted(wanted) if not any(first <= line <= last for first, last in shown[path])
    ]


def measure(
    root: Path, questions: Sequence[GoldQuestion], asked: Sequence[SearchRequest], stale: Collection[str] = ()
) -> dict[str, dict[str, float]]:
    """Answer every question by words and by both, and score each mode; without vectors, by words alone.

    Args:
        root: the memory.
        questions: the questions.
        asked: how each is asked, with its vector if there is an embedder.
        stale: files to leave out.

    Returns:
        For each mode, the means of `score` over the questions, by name, and the time of an answer in milliseconds: the
        median and the 95th percentile.

    Raises:
        IndexUnusable: there is no index.
    """
    with_vectors = all(one.vector is not None for one in asked)
    found: dict[str, dict[str, float]] = {}
    with reading(root) as connection:
        for mode in ("keyword", "hybrid") if with_vectors else ("keyword",):
            figures, times = [], []
            for question, how in zip(questions, asked, strict=True):
                ask = how if mode == "hybrid" else how._replace(vector=None)
                began = time.perf_counter()
                hits, outcome = answer(root, connection, question.query, LIMIT, stale, ask)
                times.append(1000 * (time.perf_counter() - began))
                figures.append(score(question, hits if outcome != "nothing" else []))
            means = [statistics.fmean(column) for column in zip(*figures, strict=True)]
            late = sorted(times)[min(len(times) - 1, int(0.95 * len(times)))]
            found[mode] = dict(zip(_NAMES, (*means, statistics.median(times), late), strict=True))
    return found


def score(question: GoldQuestion, hits: Sequence[Hit]) -> list[float]:
    """Return one question's figures: recall within each of `WORDS`, files within each of `FILES`, reciprocal rank."""
    covered: set[tuple[str, int]] = set()
    recall: list[float] = []
    files: dict[str, None] = {}
    words, rank = 0, 0.0
    for place, hit in enumerate(hits, 1):
        words += len(hit.text.split())
        while len(recall) < len(WORDS) and words > WORDS[len(recall)]:
            recall.append(len(covered) / len(question.evidence))
        spans = [(one.path, one.start_line, one.end_line) for one in (hit, *hit.evidence)]
        answered = {
            (path, line)
            for path, line in question.evidence
            for at, *ends in spans
            if at == path and ends[0] <= line <= ends[1]
        }
        rank = rank or (1 / place if answered else 0.0)
        covered |= answered
        files.setdefault(hit.path)
    recall += [len(covered) / len(question.evidence)] * (len(WORDS) - len(recall))
    wanted = {path for path, _ in question.evidence}
    return [*recall, *(len(wanted & set(list(files)[:first])) / len(wanted) for first in FILES), rank]


def _warn_of_places(root: Path, questions: Sequence[GoldQuestion]) -> None:
    if lost := out_of_reach(root, questions):  # a path may be misspelt, or lines have moved
        path, line = lost[0]
        warn(
            f"The index has nothing at {len(lost):,} of the"
            f" {len({place for question in questions for place in question.evidence}):,} places given as evidence"
            f" (the first is {escape_terminal_line(path)}:{line}); they count as not found."
        )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("--memory", type=Path, metavar="DIR")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    try:
        questions, root = read_questions(given.file), find_memory(given.memory)
        fresh = freshen(root)
        embedder, _ = embed.chosen_embedder()
        vectors = [embed.vector_of(embedder, one.query)[0] if embedder else None for one in questions]
        name = embedder.name if embedder else ""
        asked = [SearchRequest(vector=vector, embedder=name) for vector in vectors]
        warn(*fresh.notes)
        _warn_of_places(root, questions)
        found = measure(root, questions, asked, fresh.stale)
    except CurateError as fault:
        sys.exit(str(fault))
    if given.json:
        modes = {mode: {name: round(value, 4) for name, value in one.items()} for mode, one in found.items()}
        say_json({"questions": len(questions), "modes": modes})
        return
    say_table(
        ("mode", "@500w", "@1000w", "@2000w", "day@5", "day@10", "MRR", "median ms", "p95 ms"),
        [
            (mode, *(f"{share:.3f}" for share in shares), f"{median:.1f}", f"{p95:.1f}")
            for mode, (*shares, median, p95) in ((mode, one.values()) for mode, one in found.items())
        ],
    )
    say(count(len(questions), "question"))


if __name__ == "__main__":
    main()
