"""Measure a search on questions whose evidence is known."""

from __future__ import annotations

import json
import statistics
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from pipelines.errors import BadFile
from pipelines.search.query import answer
from pipelines.search.schema import reading
from pipelines.store.user_layout import names_of

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from pipelines.search.hits import Hit
    from pipelines.search.query import Asked
    from pipelines.search.rank import Mode


WORDS: Final = (500, 1000, 2000)
FILES: Final = (5, 10)
LIMIT: Final = 100
_SHOWN: Final = "SELECT start_line, end_line FROM units WHERE file = ? AND NOT hidden"
_MODES: Final[tuple[Mode, ...]] = ("keyword", "vector", "hybrid")


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the places (path, line from 1) that answer it."""

    query: str
    evidence: frozenset[tuple[str, int]]


@dataclass(frozen=True, slots=True)
class Measures:
    """What a way of searching reached, as means over the questions.

    Args:
        recall: shares of the evidence inside the first `WORDS` words of what was found.
        days: shares of the evidence's files among the first `FILES` files.
        mrr: the reciprocal rank of the first hit that is evidence.
        median: milliseconds an answer.
        p95: milliseconds that 95 in 100 answers stay under.
    """

    recall: tuple[float, ...]
    days: tuple[float, ...]
    mrr: float
    median: float
    p95: float

    def to_json(self) -> dict[str, float]:
        """Return it as what `json` can write."""
        told = {f"recall@{words}w": value for words, value in zip(WORDS, self.recall, strict=True)}
        told |= {f"day@{files}": value for files, value in zip(FILES, self.days, strict=True)}
        told |= {"mrr": self.mrr, "median_ms": self.median, "p95_ms": self.p95}
        return {name: round(value, 4) for name, value in told.items()}


def read_questions(path: Path) -> list[Question]:
    """Return the questions of a file with one JSON object a line; blank lines and other keys are passed over.

    Raises:
        BadFile: it cannot be read, or a line holds no question; the sentence says which.
    """
    try:
        lines = path.read_text("utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise BadFile(path, f"cannot be read: {getattr(error, 'strerror', None) or 'it is not UTF-8'}") from None
    found = [_question(path, number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if not found:
        raise BadFile(path, "holds no question")
    return found


def _question(path: Path, number: int, line: str) -> Question:
    try:
        raw: Any = json.loads(line)
        evidence = frozenset((_kind(file, str), _kind(at, int)) for file, at in raw["evidence"])
        question = Question(_kind(raw["query"], str), evidence)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        question = None
    if question is None or not (question.evidence and question.query.strip()):
        shape = '{"query": "...", "evidence": [["Logs/2026-01-02.md", 7]]}'
        raise BadFile(path, f"holds no question in line {number}; it should look like {shape}")
    return question


def _kind(value: Any, kind: type[Any]) -> Any:  # noqa: ANN401  what JSON may hold
    if type(value) is not kind:
        raise TypeError(value)
    return value


def out_of_reach(root: Path, questions: Sequence[Question]) -> list[tuple[str, int]]:
    """Return the evidence that no search can find, in order, because nothing that it shows stands there.

    Args:
        root: the memory.
        questions: whose evidence.

    Raises:
        IndexUnusable: there is no index, or it cannot be read.
    """
    names = names_of(root)
    wanted = {place for question in questions for place in question.evidence}
    paths = {path: path if names is None else names.canonical(path) for path, _ in wanted}
    with reading(root) as connection:
        files = {path: file for file, path in connection.execute("SELECT id, path FROM files")}
        shown = {path: connection.execute(_SHOWN, (files.get(own),)).fetchall() for path, own in paths.items()}
    return [
        (path, line) for path, line in sorted(wanted) if not any(first <= line <= last for first, last in shown[path])
    ]


def measure(
    root: Path, questions: Sequence[Question], asked: Sequence[Asked], stale: Collection[str] = ()
) -> dict[str, Measures]:
    """Answer every question by words, by meaning and by both, and score each way; without vectors, by words alone.

    Args:
        root: the memory.
        questions: what to ask.
        asked: how each is asked, with its vector where there is an embedder.
        stale: files that are left out.

    Raises:
        IndexUnusable: there is no index.
    """
    with_vectors = all(one.vector is not None for one in asked)
    found: dict[str, Measures] = {}
    with reading(root) as connection:
        for mode in _MODES if with_vectors else _MODES[:1]:
            figures, times = [], []
            for question, how in zip(questions, asked, strict=True):
                ask = replace(how, ranking=replace(how.ranking, mode=mode))
                began = time.perf_counter()
                hits = answer(root, connection, question.query, LIMIT, stale, ask)
                times.append(1000 * (time.perf_counter() - began))
                figures.append(score(question, hits))
            found[mode] = _means(figures, times)
    return found


def _means(figures: Sequence[Sequence[float]], times: Sequence[float]) -> Measures:
    means = [statistics.fmean(column) for column in zip(*figures, strict=True)]
    late = sorted(times)[min(len(times) - 1, int(0.95 * len(times)))]
    recall, days = tuple(means[: len(WORDS)]), tuple(means[len(WORDS) : -1])
    return Measures(recall, days, means[-1], statistics.median(times), late)


def score(question: Question, hits: Sequence[Hit]) -> list[float]:
    """Return one question's figures: recall inside each of `WORDS`, files inside each of `FILES`, reciprocal rank."""
    covered: set[tuple[str, int]] = set()
    recall: list[float] = []
    files: dict[str, None] = {}
    words, rank = 0, 0.0
    for place, hit in enumerate(hits, 1):
        words += len(hit.text.split())
        while len(recall) < len(WORDS) and words > WORDS[len(recall)]:
            recall.append(len(covered) / len(question.evidence))
        told = {one for one in question.evidence if one[0] == hit.path and hit.start_line <= one[1] <= hit.end_line}
        rank = rank or (1 / place if told else 0.0)
        covered |= told
        files.setdefault(hit.path)
    recall += [len(covered) / len(question.evidence)] * (len(WORDS) - len(recall))
    wanted = {path for path, _ in question.evidence}
    return [*recall, *(len(wanted & set(list(files)[:count])) / len(wanted) for count in FILES), rank]
