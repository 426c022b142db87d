"""A run interrupted amid its calls: the real SDK against a local server, and a program."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.conftest import Memory
from tests.extract.wire import KEY, Prepared, anthropic_wire

WAIT = 60
NOW = "2026-03-20T02:00"


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "config.toml"
    monkeypatch.setenv("CURATE_CONFIG", str(file))
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    return file


DAY = "2026-03-01"


def claude(config: Path, url: str) -> None:
    config.write_text(f'providers = ["anthropic"]\n[anthropic]\nbase_url = "{url}"\n')


def long_day(memory: Memory, count: int) -> None:
    """Write a log of so many entries."""
    entries = [f"- 09:14 We go with plan {number}.\n" for number in range(count)]
    memory.write(f"Logs/{DAY}.md", f"# {DAY}\n\n{''.join(entries)}")


def interrupted(memory: Memory, *arguments: str) -> subprocess.Popen[bytes]:
    curate = [sys.executable, "-m", "pipelines.cli", "run", "--memory", str(memory.root), "--now", NOW]
    return subprocess.Popen([*curate, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def ends(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=WAIT)
    assert (process.returncode, said.strip()) == (
        130,
        b"curate: Interrupted. The next run continues where this one stopped.",
    )


def test_an_interrupted_run_waits_for_no_answer(memory: Memory, config: Path) -> None:
    long_day(memory, 3)
    asked = threading.Barrier(2, timeout=WAIT)  # the call, and the test
    with anthropic_wire() as wire:
        claude(config, wire.url)
        wire.answers = [Prepared(hold=True, gate=asked.wait) for _ in range(3)]
        process = interrupted(memory)
        asked.wait()
        ends(process)
        wire.answers = []
        assert memory.json("run", "--now", NOW)["entries"]["read"] == 3


def test_programs_of_an_interrupted_run_end_with_it(memory: Memory, config: Path, tmp_path: Path) -> None:
    long_day(memory, 3)
    config.write_text("")
    pipe = tmp_path / "alive"
    os.mkfifo(pipe)
    program = tmp_path / "asleep.py"
    alive = f"held = open({str(pipe)!r}, 'w')"
    program.write_text(f"import time\n{alive}\nheld.write('x')\nheld.flush()\ntime.sleep(3600)\n")
    process = interrupted(memory, "--provider", f"exec:{sys.executable} {program}")
    with pipe.open() as told:
        assert told.read(1) == "x"
        ends(process)
        assert told.read() == "", "the pipe is closed when nobody is left who could write"
