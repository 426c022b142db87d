"""Input made to take all the time and memory there is: a night ends, within bounds that its process cannot exceed."""

import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from tests.conftest import Memory

MEMORY: Final = 2 << 30
SECONDS: Final = 600
N: Final = 10_000
SHAPES: Final[dict[str, Callable[[], str]]] = {
    "headings": lambda: "".join(f"## Heading {n}\n\n" for n in range(N)),
    "headings with items": lambda: "".join(f"## Heading {n}\n\n- Fact: Port {n} is in hall {n}\n" for n in range(N)),
    "nested lists": lambda: "".join(f"{' ' * (n % 2000)}- item {n}\n" for n in range(N)),
    "nested quotes": lambda: f"{'> ' * N}deep\n" * 20,
    "brackets": lambda: f"{'[' * N}x{'](' * N}\n",
    "comments": lambda: "<!-- " * 10 * N,
    "fences": lambda: "```\n" * N,
    "emphasis": lambda: "*_" * 10 * N,
    "table": lambda: f"{'|' * 10 * N}\n{'|-' * 10 * N}\n",
    "line of words": lambda: f"- Fact: {'word ' * 1_000_000}\n",
    "line of one word": lambda: f"- Fact: {'a' * 5_000_000}\n",
    "private": lambda: "<private>" * 10 * N,
    "links": lambda: "[[a" * 10 * N,
    "front matter": lambda: f"---\n{'a: [' * N}\n---\n# x\n",
    "flow": lambda: f"---\ntitle: {'{a: ' * N}\n---\n# x\n",
}


def bounded(root: Path, *verb: str) -> subprocess.CompletedProcess[str]:
    """Run a verb in a process that may have no more than two gigabytes."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    command = [sys.executable, "-m", "pipelines.cli", *verb, "--memory", str(root)]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=SECONDS, check=False, preexec_fn=limit, env={**os.environ}
    )


def ended(done: subprocess.CompletedProcess[str]) -> str:
    said = done.stdout + done.stderr
    assert done.returncode in {0, 1}, said[-2000:]
    assert "MemoryError" not in said
    return said


@pytest.mark.torture
@pytest.mark.parametrize("path", ["Logs/2026-03-18.md", "Projects/alpha.md"])
@pytest.mark.parametrize("shape", list(SHAPES))
def test_a_night_over_it_ends(memory: Memory, shape: str, path: str) -> None:
    memory.write(path, SHAPES[shape]())
    ended(bounded(memory.root, "run", "--now", "2026-03-19T02:00"))
    ended(bounded(memory.root, "context"))


@pytest.mark.torture
def test_a_line_of_a_gigabyte(memory: Memory, tmp_path: Path) -> None:
    for name in ("Logs/2026-03-18.md", "Projects/alpha.md", "Resources/huge.txt", "Review.md"):
        memory.write(name, "- Fact: x")
        with (memory.root / name).open("ab") as file:
            file.truncate(1 << 30)
    session = tmp_path / "session.jsonl"
    with session.open("ab") as file:
        file.write(b'{"type":"user","message":"')
        file.truncate(1 << 30)
        file.seek(0, os.SEEK_END)
        file.write(b'"}\n')
    assert "1,073,741,824 bytes" in ended(bounded(memory.root, "run", "--now", "2026-03-19T02:00"))
    ended(bounded(memory.root, "index"))
    ended(bounded(memory.root, "capture", str(session)))
    ended(bounded(memory.root, "context"))
