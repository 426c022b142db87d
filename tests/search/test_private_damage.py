"""Every file of `.curate`, damaged or lost: the next run goes well and changes nothing."""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from tests.conftest import Memory

AT: Final = ("--now", "2026-03-14T02:00")
SECRET: Final = "Xk29fjW0qLmZ83hsTq"  # noqa: S105  a made-up one
DAMAGE: Final[dict[str, Callable[[bytes], bytes]]] = {
    "emptied": lambda _: b"",
    "cut": lambda data: data[: len(data) // 2].rstrip(b"}\n"),  # two equal lines would be cut between them
    "garbage": lambda _: b"\x00\xffgarbage\n" * 4,
}
MODEL: Final = """
import json, sys
asked = json.load(sys.stdin)
print(json.dumps({"extract": {"items": []}, "verify": {"verdicts": []}}.get(asked["task"], {})))
"""


@pytest.fixture
def lived(memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Memory:
    """Return a memory whose derived folder has a file of each kind, and a day that waits."""
    program, config = tmp_path / "model.py", tmp_path / "config.toml"
    program.write_text(MODEL)
    config.write_text(f'providers = ["exec:{sys.executable} {program}"]\n[limits]\nmax_tokens = 100000\n')
    monkeypatch.setenv("CURATE_CONFIG", str(config))
    memory.day("2026-03-10", f"- Fact: The mast is made of ash.\n- password = {SECRET}\n")
    private = memory.root / ".curate"
    (private / "shown.jsonl").write_text('{"at": "x", "session": "a", "how": "context", "ids": ["k1"]}\n')
    for name in ("schedule.json", "push.json", "vectors.json", "stamps.json"):
        (private / name).write_text('{"due": "x"}')
    memory.write("Logs/2026-03-13.md", "- Fact: The lamp is on channel seven.\n")
    return memory


def files(memory: Memory) -> list[str]:
    private = memory.root / ".curate"
    return sorted(str(file.relative_to(private)) for file in private.rglob("*") if file.is_file())


def damage(lived: Memory, tmp_path: Path, first: int, together: int) -> None:
    """Damage the files so many at a time, each in one of the ways, and let a night follow."""
    there = files(lived)
    assert {"secrets.jsonl", "index.db"} <= set(there)
    assert any(name.startswith("runs/") for name in there)
    sound = lived.aside(tmp_path / "sound")
    shutil.copytree(lived.root, sound.root, symlinks=True)
    sound.curate("run", *AT)
    for begin in range(0, len(there), together):
        here = lived.aside(tmp_path / "damaged")
        shutil.copytree(lived.root, here.root, symlinks=True)
        some = there[begin : begin + together]
        for at, name in enumerate(some, first + begin):
            file = here.root / ".curate" / name
            file.write_bytes(DAMAGE[list(DAMAGE)[at % 3]](file.read_bytes()))
        assert "The mast is made of ash" in here.curate("search", "mast"), some
        here.curate("run", *AT)
        assert "The lamp is on channel seven" in here.curate("search", "lamp"), some
        assert "nothing is broken" in here.curate("check"), some
        assert documents(here) == documents(sound), some
        shutil.rmtree(here.root)


def test_whatever_is_damaged_the_next_run_goes_well(lived: Memory, tmp_path: Path) -> None:
    damage(lived, tmp_path, 0, len(files(lived)))


@pytest.mark.torture
@pytest.mark.parametrize("first", [0, 1, 2])
def test_whatever_alone_is_damaged_the_next_run_goes_well(lived: Memory, tmp_path: Path, first: int) -> None:
    damage(lived, tmp_path, first, 1)


def documents(memory: Memory) -> dict[str, bytes]:
    return {path: data for path, data in memory.files().items() if not path.startswith("State/runs/")}


def test_what_is_deleted_and_derived_is_made_anew(lived: Memory) -> None:
    shutil.rmtree(lived.root / ".curate")
    assert "nothing is broken" in lived.curate("check")
    lived.curate("run", *AT)
    assert "nothing is broken" in lived.curate("check")
