"""The real daemon as a process: one a memory, and what each signal does to it and to the run below it."""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from tests.conftest import Memory


class Started(NamedTuple):
    process: subprocess.Popen[str]

    def line(self) -> str:
        """Return its next line, which is waited for."""
        assert self.process.stderr
        assert select.select([self.process.stderr], [], [], 30)[0], "it said nothing for half a minute"
        return self.process.stderr.readline()


@pytest.fixture
def started(memory: Memory) -> Iterator[Started]:
    command = [sys.executable, "-m", "pipelines.cli", "schedule", "--memory", str(memory.root)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, bufsize=1, env={**os.environ})
    with process:
        one = Started(process)
        assert "event=started" in one.line()
        yield one
        process.kill()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_stops_when_it_is_told_to(started: Started, number: signal.Signals) -> None:
    started.process.send_signal(number)
    assert "event=stopped" in started.line()
    assert started.process.wait(30) == 0


def test_a_second_one_says_who_is_there(memory: Memory, started: Started) -> None:
    said = memory.curate("schedule", exits=75)
    assert f"process {started.process.pid} since" in said
    started.process.kill()
    started.process.wait()


def test_faults_of_the_schedule_are_all_named(memory: Memory) -> None:
    memory.write("curate.toml", 'timezone = "Mars/Olympus"\n[schedule]\nnight = "25:00"\n')
    said = memory.curate("schedule", exits=1)
    assert "2 faults" in said


@pytest.mark.parametrize(
    ("night", "why"),
    [
        ("[]", "an empty list; write it like ['02:00', '14:00']"),
        ('["02:00", "24:30"]', "not a time of day; write it like 04:00"),
    ],
)
def test_a_night_that_cannot_be_is_named(memory: Memory, night: str, why: str) -> None:
    memory.write("curate.toml", f"[schedule]\nnight = {night}\n")
    assert why in " ".join(memory.curate("schedule", exits=1).split())
