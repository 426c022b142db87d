"""What the journal of systemd gets: lines of counts, with a priority, and never a word of the memory."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from pipelines.text import key_values

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Memory

MARKER = "quetzalcoatl"


@pytest.fixture
def journal(memory: Memory, tmp_path: Path) -> Path:
    memory.write("Logs/2026-03-18.md", f"project: {MARKER}\n\n- Decision: Use {MARKER}.\n- Fact: {MARKER} is odd.\n")
    memory.write(f"Projects/{MARKER}-2.md", f"---\ntitle: {MARKER}\n---\nkey: ghp_{'a1B2c3D4e5' * 4}\n")
    return tmp_path / "journal"


def run(memory: Memory, journal: Path, *more: str, **environ: str) -> tuple[int, str]:
    """Run a night as systemd does: both streams lead to the journal, which the environment names."""
    with journal.open("wb") as stream:
        known = os.fstat(stream.fileno())
        words = [sys.executable, "-m", "pipelines.cli", "run", "--memory", str(memory.root), *more]
        named = {**os.environ, "JOURNAL_STREAM": f"{known.st_dev}:{known.st_ino}", **environ}
        done = subprocess.run(words, stdout=stream, stderr=stream, env=named, check=False, timeout=60)
    return done.returncode, journal.read_text()


def test_a_night_is_two_lines_of_counts(memory: Memory, journal: Path) -> None:
    code, said = run(memory, journal, "--now", "2026-03-19T02:00")
    first, last = said.splitlines()
    assert first == "<6>event=night-begins"
    assert last.startswith("<4>event=night-")
    told = dict(re.findall(r"(\w+)=(\S+)", last))
    assert told["run"].startswith("20260319T020000-")
    assert (told["added"], told["logs"], told["day"], told["exit"]) == ("2", "1", "2026-03-19", str(code))
    assert float(told["seconds"]) > 0
    assert int(told["warnings"]) >= 1, "the document with a key in it was named to a person, not here"
    assert MARKER not in said
    code, said = run(memory, journal, "--now", "2026-03-19T02:30")
    assert "added=0" in said
    assert MARKER not in said


def test_a_night_that_fails_says_its_kind_and_no_word(memory: Memory, journal: Path, tmp_path: Path) -> None:
    memory.git("checkout", "-q", "--detach")
    code, said = run(memory, journal, "--now", "2026-03-20T02:00")
    assert code == 1
    assert '<3>event=night-failed kind=DetachedHead why="' in said
    assert MARKER not in said
    memory.git("checkout", "-q", "-")
    broken = (
        f"import pipelines.night.run_night as n\nfrom pipelines.errors import BadFile\n"
        f"def f(*_):\n raise BadFile('Projects/{MARKER}.md', 'cannot be read')\nn.plan_night = f\n"
    )
    (tmp_path / "sitecustomize.py").write_text(broken)
    code, said = run(memory, journal, "--now", "2026-03-20T02:00", PYTHONPATH=str(tmp_path))
    assert code == 1
    assert re.search(r"^<3>event=night-failed kind=BadFile seconds=[\d.]+ exit=1$", said, re.MULTILINE), said
    assert MARKER not in said
    assert MARKER in memory.curate("runs"), "who may read the memory is told why"


def test_a_bug_says_where_and_not_what(memory: Memory, journal: Path, tmp_path: Path) -> None:
    broken = f"import pipelines.night.run_night as n\ndef f(*_):\n raise ValueError('{MARKER}')\nn.plan_night = f\n"
    (tmp_path / "sitecustomize.py").write_text(broken)
    code, said = run(memory, journal, "--now", "2026-03-20T02:00", PYTHONPATH=str(tmp_path))
    assert code == 3
    assert re.search(r"^<3>event=night-failed kind=ValueError at=sitecustomize.py:3 .*exit=3$", said, re.MULTILINE)
    assert MARKER not in said


@pytest.mark.parametrize(("number", "code"), [("SIGTERM", 143), ("SIGHUP", 129), ("SIGINT", 130)])
def test_a_night_that_a_signal_ended_says_its_exit_code(
    memory: Memory, journal: Path, tmp_path: Path, number: str, code: int
) -> None:
    struck = "import os, signal\nimport pipelines.night.run_night as n\n"
    struck += f"def f(*_):\n os.kill(os.getpid(), signal.{number})\n"
    (tmp_path / "sitecustomize.py").write_text(f"{struck}n.plan_night = f\n")
    ended, said = run(memory, journal, "--now", "2026-03-20T02:00", PYTHONPATH=str(tmp_path))
    assert ended == code
    assert re.search(rf"^<4>event=night-failed kind=\w+ seconds=[\d.]+ exit={code}$", said, re.MULTILINE), said
    assert MARKER not in said


def test_elsewhere_a_night_is_one_line(memory: Memory, journal: Path) -> None:
    code, said = run(memory, journal, "--now", "2026-03-19T02:00", JOURNAL_STREAM="1:2")
    assert "Curated 2026-03-18: 2 items added" in said
    assert "event=" not in said
    assert code in {0, 1}
    (memory.root / f"Projects/{MARKER}-2.md").unlink()
    run(memory, journal, "--now", "2026-03-20T02:00", JOURNAL_STREAM="")
    _, said = run(memory, journal, "--now", "2026-03-21T02:00", JOURNAL_STREAM="")
    assert said.count("\n") == 1


def test_a_value_with_blanks_is_quoted() -> None:
    assert key_values(event="x", a=1, b="c d\n", c=None) == 'event=x a=1 b="c d\\n"'
