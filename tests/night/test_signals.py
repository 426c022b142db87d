"""SIGTERM, SIGHUP and SIGINT at each stage of a run: a clear line, its exit code, and a sound memory."""

import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from pipelines.cli import main
from pipelines.night import report, run_night
from pipelines.store import git, journal
from tests.conftest import Memory

PLACES = (
    (report.Watch, "stage"), (journal, "put"), (journal, "_drop"), (git.Git, "advance"), (run_night, "recover"),
    (run_night, "save_report"),
)  # fmt: skip
STAGES = ("capture", "extract", "review", "promote", "prune", "commit", "reindex")
WRITES = ("recover", "put", "advance", "_drop", "save_report")
ENDS = {
    signal.SIGTERM: (143, "Ended by SIGTERM"),
    signal.SIGHUP: (129, "Ended by SIGHUP"),
    signal.SIGINT: (130, "Interrupted"),
}


def strike(holder: Any, name: str, place: str, number: int) -> None:
    """Have the process send itself a signal when it comes to a place, as somebody else could at that moment."""
    real = getattr(holder, name)

    def call(*told: Any, **more: Any) -> Any:
        if place in {name, *(one for one in told if isinstance(one, str))}:
            setattr(holder, name, real)
            os.kill(os.getpid(), number)
        return real(*told, **more)

    setattr(holder, name, call)


def ended(said: Path, place: str, number: int, *words: str) -> int:
    """Run a command in a process that is told to end at a place; return its exit code, and leave what it said."""
    if child := os.fork():
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    for one in ENDS:
        signal.signal(one, signal.default_int_handler if one is signal.SIGINT else signal.SIG_DFL)
    for holder, name in PLACES:
        strike(holder, name, place, number)
    sys.argv = ["curate", *words]
    with open(os.devnull, "w") as sys.stdout, said.open("w") as sys.stderr:  # noqa: PTH123
        code = main()
    os._exit(code)


# Each stage with one of the signals, and with the others behind `make torture`.
@pytest.mark.parametrize(
    ("place", "number"),
    [
        pytest.param(place, number, marks=[pytest.mark.torture] * (at != stage % len(ENDS)))
        for stage, place in enumerate(STAGES)
        for at, number in enumerate(ENDS)
    ]
    + [(place, signal.SIGTERM) for place in WRITES],
)
def test_a_run_that_is_told_to_end_leaves_nothing_half(
    memory: Memory, tmp_path: Path, place: str, number: signal.Signals
) -> None:
    memory.write("Logs/2026-03-02.md", "- 09:00 Fact: the cache keeps 40 entries\n- 09:10 Rule: never push on Friday\n")
    code, sentence = ENDS[number]
    words = ("run", "--now", "2026-03-02T23:00", "--memory", str(memory.root))
    assert ended(tmp_path / "said", place, number, *words) == code
    told = (tmp_path / "said").read_text()
    assert told.lstrip().startswith(f"curate: {sentence}")
    assert "Traceback" not in told
    memory.night("2026-03-02T23:30")
    texts = "".join(text.decode() for path, text in memory.files().items() if "Logs" not in path)
    assert texts.count("the cache keeps 40 entries ^k") == 1
    assert texts.count("never push on Friday ^k") == 1
    assert memory.json("check") == []
    assert memory.git("status", "--porcelain") == ""
    memory.git("fsck", "--strict")
    assert not (memory.root / ".curate" / "pending").exists()
