"""Measure how fast the index is at 10,000, 100,000 and 1,000,000 units, with made-up texts and vectors.

usage: python -m benchmarks.speed [UNITS ...] [--dimension D] [--queries N] [--folder DIR] [--beside PYTHON]...

The texts are 8 to 52 words drawn by Zipf's law from 50,000, a log a day of 500 units; the vectors lie around topics, as
real ones do. Vectors are handed to the index as an embedder's would be, so that all but the model itself is measured.
One JSON object a size is printed:

  index_us      building the index whole, microseconds a unit
  vectors_us    keeping the vectors, microseconds a unit
  hybrid_ms     in-process hybrid query, top 10, the index open: median and 95th percentile; keyword_ms
                likewise
  opening_ms    the same hybrid query where each one opens the index anew
  cold_ms       `curate search` as a whole process: by words alone; with vectors, the local model loaded and asked
  changed_s     one changed file of 500 units brought into the index: a line more at its end, or at its top
  numpy_ms      in the same run, the ten nearest by a plain numpy scan of all vectors, which knows no words
  beside        in the same run, over the same texts and vectors, what `peer_engines.py` measures with each PYTHON
  bytes         disk a unit: index, vectors
  memory_mb     the most that a process held that asked one hybrid question
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import date, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.searching import search
from pipelines.search.build import rebuild_index, update_index
from pipelines.search.embed import chosen_embedder, embed_index
from pipelines.search.query import SearchRequest, answer
from pipelines.search.schema import reading
from pipelines.search.vectors import VectorModel, stored_vectors

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

A_FILE = 500
TOPICS = 1000
VOCABULARY = 50_000
STOP = 100  # a question's first hundred words are stop words, which are never looked for


class Made:
    """An embedder without a model: a text's vector is one of the topics and noise, both by the text's hash.

    It has the local model's name where that is here and gives as many numbers, so that `curate search` asks that one.
    """

    def __init__(self, dimension: int) -> None:
        """Draw the topics."""
        local, _ = chosen_embedder()
        self.is_local = local is not None and local.dimension == dimension
        self.name, self.dimension = local.name if local and self.is_local else "bench:made", dimension
        self._topics = np.random.default_rng(1).standard_normal((TOPICS, dimension), np.float32)

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a vector a text."""
        return np.stack([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a text."""
        seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")
        vector = self._topics[seed % TOPICS] + np.random.default_rng(seed).standard_normal(self.dimension, np.float32)
        return np.asarray(vector / np.linalg.norm(vector), np.float32)


def words(chance: random.Random, count: int, first: int = 1) -> str:
    """Return words as often as words are: the second half as often as the first, the third a third."""
    ranks = (first * (VOCABULARY / first) ** chance.random() for _ in range(count))
    return " ".join(f"w{int(rank):05d}" for rank in ranks)


def make_memory(root: Path, units: int) -> None:
    """Lay down logs."""
    chance = random.Random(7)
    (root / "Logs").mkdir(parents=True)
    (root / "curate.toml").write_text("")
    for number in range(0, units, A_FILE):
        day = date(2000, 1, 1) + timedelta(days=number // A_FILE)
        lines = "".join(f"- {words(chance, chance.randint(8, 52))}\n" for _ in range(min(A_FILE, units - number)))
        (root / f"Logs/{day}.md").write_text(f"# {day}\n\n{lines}")


def milliseconds(times: Sequence[float]) -> dict[str, float]:
    """Return median and 95th percentile."""
    ordered = sorted(times)
    return {
        "median": round(1000 * statistics.median(times), 2),
        "p95": round(1000 * ordered[int(0.95 * len(ordered))], 2),
    }


def query_times(
    ask: Callable[[str, SearchRequest], object], embedder: Made, queries: int, *, by_meaning: bool = True
) -> dict[str, float]:
    """Return how long a query takes in a process that goes on, its vector given."""
    chance, times = random.Random(9), []
    for number in range(queries + 3):
        query = words(chance, 6, STOP)
        asked = SearchRequest(vector=embedder.embed_query(query) if by_meaning else None, embedder=embedder.name)
        began = time.perf_counter()
        ask(query, asked)
        times += [time.perf_counter() - began] if number >= 3 else []  # noqa: PLR2004  the first ones warm up
    return milliseconds(times)


def all_query_times(root: Path, embedder: Made, queries: int) -> dict[str, dict[str, float]]:
    """Return how long queries take, by each way of searching and of opening the index."""
    told = {}
    with reading(root) as connection:
        ask = partial(_answer, root, connection)
        told["hybrid_ms"] = query_times(ask, embedder, queries)
        told["keyword_ms"] = query_times(ask, embedder, queries, by_meaning=False)
    told["opening_ms"] = query_times(partial(_search, root), embedder, queries)
    return told


def _answer(root: Path, connection: sqlite3.Connection, query: str, asked: SearchRequest) -> object:
    return answer(root, connection, query, 10, (), asked)[0]


def _search(root: Path, query: str, asked: SearchRequest) -> object:
    return search(root, query, 10, (), asked)


def vectors_of(root: Path, embedder: Made) -> NDArray[np.float32]:
    """Return all vectors, in the order in which they are stored."""
    stored = stored_vectors(root, VectorModel(embedder.name, embedder.dimension))
    rows: NDArray[np.float32] = stored["row"].astype("f4") * stored["factor"][:, None]
    return rows


def numpy_times(rows: NDArray[np.float32], embedder: Made, queries: int) -> dict[str, float]:
    """Return how long the plainest way to the ten nearest takes."""
    times = []
    for number in range(min(queries, 20) + 2):
        question = embedder.embed_query(f"question {number}")
        began = time.perf_counter()
        np.argpartition(-(rows @ question), 10)
        times += [time.perf_counter() - began] if number > 1 else []
    return milliseconds(times)


def beside(root: Path, rows: NDArray[np.float32], embedder: Made, pythons: Sequence[str]) -> dict[str, Any]:
    """Return what other memories' engines take over the same texts, vectors and questions."""
    told: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(dir=root.parent) as folder:
        given = Path(folder)
        logs = sorted((root / "Logs").iterdir())
        texts = [line[2:] for log in logs for line in log.read_text().splitlines() if line.startswith("- ")]
        chance = random.Random(9)
        questions = [words(chance, 6, STOP) for _ in range(23)]
        (given / "texts.txt").write_text("\n".join(texts))
        (given / "questions.txt").write_text("\n".join(questions))
        np.save(given / "vectors.npy", rows[: len(texts)])
        np.save(given / "questions.npy", embedder.embed_documents(questions))
        for python in pythons:
            command = [python, str(Path(__file__).with_name("peer_engines.py")), folder]
            told |= json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    return told


def asking(root: Path) -> list[str]:
    """Return the command of one search as a whole process."""
    code = "from pipelines.start import main; main()"
    return [sys.executable, "-c", code, "search", "w00120 w00345 w02222", "--memory", str(root)]


def cold(root: Path) -> float:
    """Return how long a whole process takes: the median of nine."""
    times = []
    for _ in range(9):
        began = time.perf_counter()
        told = subprocess.run(asking(root), check=True, capture_output=True, text=True)
        times.append(time.perf_counter() - began)
        if told.stderr:
            raise SystemExit(told.stderr)  # it did not go by what was to be measured
    return round(1000 * statistics.median(times), 1)


def memory_mb(root: Path) -> int:
    """Return the most that a process held that asked one hybrid question, in MB."""
    asked = subprocess.Popen(asking(root), stdout=subprocess.DEVNULL)
    return round(os.wait4(asked.pid, 0)[2].ru_maxrss / 1024)


def changed(root: Path) -> dict[str, float]:
    """Return how long one changed file takes, the median of five: a line more at its end, and one more at its top."""
    path, chance = min((root / "Logs").iterdir()), random.Random(3)
    times: dict[str, list[float]] = {"end": [], "top": []}
    for where in ("end", "top") * 5:
        head, body = path.read_text().split("\n\n", maxsplit=1)
        line = f"- {words(chance, 30)}\n"
        path.write_text(f"{head}\n\n{body}{line}" if where == "end" else f"{head}\n\n{line}{body}")
        began = time.perf_counter()
        update_index(root)
        times[where].append(time.perf_counter() - began)
    return {where: round(statistics.median(took), 3) for where, took in times.items()}


def measure(root: Path, units: int, dimension: int, queries: int, pythons: Sequence[str]) -> dict[str, Any]:
    """Return all figures of one size."""
    make_memory(root, units)
    told: dict[str, Any] = {"units": units, "dimension": dimension}
    began = time.perf_counter()
    rebuild_index(root)
    told["index_us"] = round(1e6 * (time.perf_counter() - began) / units, 1)
    told["cold_ms"] = {"keyword": cold(root)}
    embedder = Made(dimension)
    began = time.perf_counter()
    embed_index(root, embedder)
    told["vectors_us"] = round(1e6 * (time.perf_counter() - began) / units, 1)
    told |= all_query_times(root, embedder, queries)
    rows = vectors_of(root, embedder)
    told["numpy_ms"] = numpy_times(rows, embedder, queries)
    if pythons:
        told["beside"] = beside(root, rows, embedder, pythons)
    if embedder.is_local:
        told["cold_ms"]["hybrid"] = cold(root)
    told["bytes"] = {
        name: round(sum(path.stat().st_size for path in (root / ".curate").glob(pattern)) / units)
        for name, pattern in (("index", "index.db*"), ("vectors", "vectors-*"))
    }
    told["memory_mb"] = memory_mb(root)
    told["changed_s"] = changed(root)
    return told


def main() -> None:
    """Measure each size asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("units", type=int, nargs="*", default=[10_000, 100_000])
    parser.add_argument("--dimension", type=int, default=384)
    parser.add_argument("--queries", type=int, default=50)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--beside", action="append", default=[], metavar="PYTHON")
    asked = parser.parse_args()
    for units in asked.units:
        with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
            told = measure(Path(folder, "memory"), units, asked.dimension, asked.queries, asked.beside)
            print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
