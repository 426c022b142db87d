"""SIGTERM, SIGHUP and SIGINT at each stage of a run: a clear line, its exit code, and a sound memory."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Memory

# The run sends itself the signal when it comes to the place, as somebody else could at that moment.
_CHILD = """
import os, sys
from pipelines.cli import main
place, number = sys.argv.pop(1), int(sys.argv.pop(1))
def struck(module, name):
    holder = __import__(module, fromlist=["x"])
    if "." in name:
        owner, name = name.split(".")
        holder = getattr(holder, owner)
    real = getattr(holder, name)
    def call(*a, **k):
        if place in (name, *(x for x in a if isinstance(x, str))):
            setattr(holder, name, real)
            os.kill(os.getpid(), number)
        return real(*a, **k)
    setattr(holder, name, call)
import pipelines.night.run_night
struck("pipelines.night.report", "Watch.stage")
struck("pipelines.store.journal", "put")
struck("pipelines.store.journal", "_drop")
struck("pipelines.store.git", "Git.advance")
struck("pipelines.night.run_night", "recover")
struck("pipelines.night.run_night", "save_report")
sys.exit(main())
"""
STAGES = ("capture", "extract", "review", "promote", "prune", "commit", "reindex")
WRITES = ("recover", "put", "advance", "_drop", "save_report")
ENDS = {
    signal.SIGTERM: (143, "Ended by SIGTERM"),
    signal.SIGHUP: (129, "Ended by SIGHUP"),
    signal.SIGINT: (130, "Interrupted"),
}


# Each stage with one of the signals, and with the others behind `make torture`.
@pytest.mark.parametrize(
    ("place", "number"),
    [
        pytest.param(place, number, marks=[pytest.mark.torture] * (at != stage % len(ENDS)))
        for stage, place in enumerate(STAGES)
        for at, number in enumerate(ENDS)
    ]
    + [(place, signal.SIGTERM) for place in WRITES]
    + [("put", signal.SIGHUP), ("put", signal.SIGINT)],
)
def test_a_run_that_is_told_to_end_leaves_nothing_half(memory: Memory, place: str, number: signal.Signals) -> None:
    memory.write("Logs/2026-03-02.md", "- 09:00 Fact: the cache keeps 40 entries\n- 09:10 Rule: never push on Friday\n")
    command = [sys.executable, "-c", _CHILD, place, str(int(number)), "run", "--now", "2026-03-02T23:00"]
    told = subprocess.run(
        [*command, "--memory", str(memory.root)], capture_output=True, text=True, check=False, env={**os.environ}
    )
    code, sentence = ENDS[number]
    assert told.returncode == code, told.stdout + told.stderr
    assert told.stderr.lstrip().startswith(f"curate: {sentence}")
    assert "Traceback" not in told.stderr
    memory.curate("run", "--now", "2026-03-02T23:30")
    texts = "".join(text.decode() for path, text in memory.files().items() if "Logs" not in path)
    assert texts.count("the cache keeps 40 entries ^k") == 1
    assert texts.count("never push on Friday ^k") == 1
    assert json.loads(memory.curate("check", "--json")) == []
    assert memory.git("status", "--porcelain") == ""
    memory.git("fsck", "--strict")
    assert not (memory.root / ".curate" / "pending").exists()
