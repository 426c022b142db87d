"""The real daemon is stopped in the middle of a real night: nothing is left half, and the next start makes it up."""

import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pipelines.store.lock import run_lock
from tests.conftest import Memory

WORDS = "the cache keeps 40 entries"


@contextmanager
def daemon(memory: Memory) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "pipelines.cli", "schedule", "--memory", str(memory.root)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, bufsize=1, env={**os.environ}) as process:
        patience = threading.Timer(60, process.kill)
        patience.start()
        try:
            yield process
        finally:
            patience.cancel()
            process.kill()


def line_with(process: subprocess.Popen[str], words: str) -> str:
    """Return the next line that holds the words; what comes before it is passed over."""
    assert process.stderr
    while True:
        line = process.stderr.readline()
        assert line, f"it ended, or was silent for a minute, without a word of {words}"
        if words in line:
            return line


class Reader:
    """A program that reads logs: it says that it was asked, and gives no answer until it is killed."""

    def __init__(self, folder: Path) -> None:
        self.asked, self.config = folder / "asked", folder / "config.toml"
        os.mkfifo(self.asked)
        program = folder / "reader"
        program.write_text(f"#!/bin/sh\nexec > {self.asked}\necho asked\nexec tail -f /dev/null\n")
        program.chmod(0o755)
        self.hangs = f'providers = ["exec:{program}"]\n'

    @contextmanager
    def reading(self) -> Iterator[int]:
        """Wait until it is asked, and give the pipe that it holds open while it lives."""
        pipe = os.open(self.asked, os.O_RDONLY | os.O_NONBLOCK)
        try:
            assert select.select([pipe], [], [], 60)[0], "it was not asked for a minute"
            assert os.read(pipe, 100) == b"asked\n"
            yield pipe
        finally:
            os.close(pipe)


@pytest.fixture
def reader(memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Reader:
    one = Reader(tmp_path)
    memory.night("2026-03-01T23:00")
    memory.write("Logs/2026-03-02.md", f"- 09:00 Fact: {WORDS}\n- 09:10 we may want to look at the queue again\n")
    one.config.write_text(one.hangs)
    monkeypatch.setenv("CURATE_CONFIG", str(one.config))
    return one


def has_ended(pipe: int) -> bool:
    """Whether nobody holds the other end any more; that is waited for."""
    return bool(select.select([pipe], [], [], 60)[0]) and os.read(pipe, 100) == b""


def test_a_night_in_the_middle_of_a_stage_ends_cleanly_and_is_made_up(memory: Memory, reader: Reader) -> None:
    with daemon(memory) as process, reader.reading() as pipe:
        process.send_signal(signal.SIGINT)
        assert "level=warning job=night exit=143" in line_with(process, "event=job-ended")
        assert "level=info killed=0" in line_with(process, "event=stopped")
        assert process.wait(30) == 0
        assert has_ended(pipe), "the program that read is ended, too"
    with run_lock(memory.root, "the test"):
        assert not (memory.root / ".curate/pending").exists()
    assert memory.git("status", "--porcelain").split() == [], "what a person wrote is committed, and nothing is half"
    assert "failed: It was stopped by SIGTERM" in memory.curate("status", exits=1)
    assert memory.curate("items").count(WORDS) == 0

    reader.config.write_text('providers = ["rules"]\n')
    with daemon(memory) as process:
        line_with(process, "event=night-missed")
        assert "exit=0" in line_with(process, "event=job-ended")
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    assert memory.curate("items").count(WORDS) == 1
    assert memory.json("check") == []
    memory.git("fsck", "--strict")
    memory.curate("status")


def test_a_run_by_hand_meets_the_daemons_night_and_says_so(memory: Memory, reader: Reader) -> None:
    with daemon(memory) as process, reader.reading():
        assert "Another run holds the lock" in memory.curate("run", exits=75)
        process.send_signal(signal.SIGTERM)
        line_with(process, "event=stopped")
