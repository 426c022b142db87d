"""One writer: many runs at once, and lines logged meanwhile. Never two at once, and every line stands once."""

import itertools
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import pipelines
from pipelines.store.snapshot import read_documents
from tests.torture.conftest import Prepared
from tests.torture.figures import Series
from tests.torture.small import NOW, curated, git
from tests.torture.strace import STRACE, needs_strace

pytestmark = needs_strace
DAY = "2026-03-20"


def start(root: Path, *words: str, log: Path | None = None) -> subprocess.Popen[str]:
    """Start a `curate` of its own; with `log`, when it holds the run lock is noted there."""
    told = {**os.environ, "PYTHONPATH": str(Path(pipelines.__file__).parents[1])}
    traced = [STRACE, "-ttt", "-y", "-o", str(log), "-e", "trace=flock,close"] if log else []
    command = [*traced, sys.executable, "-m", "pipelines.cli", *words, "--memory", str(root)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=told)


def held(log: Path) -> tuple[float, float] | None:
    """Return from when until when a run held the lock, or None where it never did."""
    text = log.read_text()
    taken = re.search(r"^([\d.]+) flock\(\d+<[^>]*/\.curate/lock>, LOCK_EX\|LOCK_NB\) = 0", text, re.MULTILINE)
    if taken is None:
        return None
    let_go = re.search(r"^([\d.]+) close\(\d+<[^>]*/\.curate/lock>\)", text[taken.end() :], re.MULTILINE)
    return float(taken[1]), float(let_go[1]) if let_go else float("inf")


def all_at_once(prepared: Prepared, runs: int, lines: int, series: Series) -> None:
    root = prepared.copy()
    logs = [root.parent / f"run-{number}.log" for number in range(runs)]
    said = [f"gauge {number} reads {number * 7 + 3} bar" for number in range(lines)]
    begun = [start(root, "run", "--now", NOW, log=log) for log in logs]
    noted = [start(root, "log", "--now", f"{DAY}T12:00", f"Fact: {text}") for text in said]
    ended = [(process.communicate(timeout=300)[0], process.returncode) for process in begun]
    told = [process.communicate(timeout=300)[0] for process in noted]
    written = [f"Logs/{DAY}.md: - 12:00 Fact: {text}\n" for text in said]
    wrong = [text for text, line in zip(told, written, strict=True) if text != line]
    wrong += wrong_endings(ended) + overlaps(logs, ended)
    lost = lost_lines(root, said)
    code, error = curated(root)
    wrong += [f"the next run ended with {code}: {error}"] if code else []
    items = Counter(placed.item.text for document in read_documents(root).values() for placed in document.items)
    wrong += [f"{text} stands {items[text]} times" for text in said if items[text] != 1]
    wrong += [trouble] if (trouble := git(root, "fsck", "--strict", "--no-dangling")) else []
    series.tried = runs
    for number in range(runs):
        series.point(f"run {number}", wrong + lost if number == 0 else [], lost=bool(lost))
    series.close()


def wrong_endings(ended: list[tuple[str, int]]) -> list[str]:
    """Return what is wrong with how the runs ended: each is done, or says who holds the lock and exits 75."""
    odd = [f"a run ended with {code}: {text}" for text, code in ended if code not in {0, 75}]
    return odd + [f"it does not say who holds it: {text}" for text, code in ended if code == 75 and not _says_who(text)]


def overlaps(logs: list[Path], ended: list[tuple[str, int]]) -> list[str]:
    """Return where two runs held the lock at once, read off the calls by which they took it and let it go."""
    times = sorted(found for log in logs if (found := held(log)))
    wrong = [f"two at once: {one} and {two}" for one, two in itertools.pairwise(times) if two[0] < one[1]]
    done = sum(code == 0 for _, code in ended)
    return wrong if len(times) == done else [*wrong, f"{len(times)} runs held the lock, and {done} were done"]


def lost_lines(root: Path, said: list[str]) -> list[str]:
    """Return what is wrong with the log: each line stands there once and whole, and nothing else does."""
    there = Counter((root / "Logs" / f"{DAY}.md").read_text().splitlines())
    wanted = Counter([f"# {DAY}", "", *(f"- 12:00 Fact: {text}" for text in said)])
    return [f"{line!r} stands {there[line]} times" for line in sorted({*there, *wanted}) if there[line] != wanted[line]]


def _says_who(text: str) -> bool:
    return bool(re.search(r"process \d+ since \d{4}-\d\d-\d\dT|a run that has just begun", text))


@pytest.mark.torture
def test_sixteen_runs_and_fifty_lines_at_once(prepared: Prepared) -> None:
    all_at_once(prepared, 16, 50, Series("one writer: 16 runs, 50 lines"))
