"""Every file of `.curate`, damaged: `check` names it, or its loss changes nothing; `--fix` mends it."""

from __future__ import annotations

import json
import os
import shutil
import sys
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

import pytest

from pipelines.search.damage import _READERS, KEPT, private_faults
from pipelines.store.secrets import load_redactor

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

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
HEALS: Final = (
    "*lock",
    "index.checked",
    "index.gate",
    "index.swap",
    "index.db-*",
    "context.txt",
    "displaced/*",
    "tmp/*",
)
"""Whatever is in these, nothing depends on it: they are locks, or made anew before they are used."""


@pytest.fixture
def lived(memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Memory:
    """Return a memory whose derived folder has a file of each kind, and a day that waits."""
    program, config = tmp_path / "model.py", tmp_path / "config.toml"
    program.write_text(MODEL)
    config.write_text(f'providers = ["exec:{sys.executable} {program}"]\n[limits]\nmax_tokens = 100000\n')
    monkeypatch.setenv("CURATE_CONFIG", str(config))
    memory.write("Logs/2026-03-10.md", f"- Fact: The mast is made of ash.\n- password = {SECRET}\n")
    memory.curate("run", "--now", "2026-03-11T02:00")
    private = memory.root / ".curate"
    (private / "shown.jsonl").write_text('{"at": "x", "session": "a", "how": "context", "ids": ["k1"]}\n')
    for name in ("schedule.json", "begun.json", "push.json", "refused.json", "stamps.json"):
        (private / name).write_text('{"due": "x"}')
    memory.write("Logs/2026-03-13.md", "- Fact: The lamp is on channel seven.\n")
    return memory


def files(memory: Memory) -> list[str]:
    private = memory.root / ".curate"
    return sorted(str(file.relative_to(private)) for file in private.rglob("*") if file.is_file())


def test_each_file_is_in_the_list(lived: Memory) -> None:
    there = files(lived)
    assert [name for name in there if not any(fnmatchcase(name, glob) for glob in _READERS)] == []
    assert {"ledger.jsonl", "secrets.jsonl", "kept/secrets.jsonl", "index.db"} <= set(there)
    assert any(name.startswith("replies/") for name in there)
    assert any(name.startswith("runs/") for name in there)
    assert "nothing is broken" in lived.curate("check")


@pytest.mark.parametrize("how", DAMAGE)
def test_damage_is_named_and_mended(lived: Memory, tmp_path: Path, how: str) -> None:
    for name in files(lived):
        here = lived.aside(tmp_path / "damaged")
        shutil.copytree(lived.root, here.root, symlinks=True)
        file = here.root / ".curate" / name
        before = file.read_bytes()
        file.write_bytes(DAMAGE[how](before))
        is_named = any(fault.path.endswith(name) for fault in private_faults(here.root))
        heals = file.read_bytes() == before or any(fnmatchcase(name, glob) for glob in HEALS)
        assert is_named or heals or name.startswith("kept/"), f"{name} is not named"
        here.curate("check", "--fix", *AT)
        assert "nothing is broken" in here.curate("check"), name
        here.curate("run", *AT)
        assert "nothing is broken" in here.curate("check"), name
        shutil.rmtree(here.root)


def test_what_is_deleted_and_derived_is_made_anew(lived: Memory) -> None:
    shutil.rmtree(lived.root / ".curate")
    assert "nothing is broken" in lived.curate("check")
    lived.curate("run", *AT)
    assert "nothing is broken" in lived.curate("check")


@pytest.mark.parametrize("how", [lambda file: file.write_bytes(b""), lambda file: file.unlink()])
@pytest.mark.parametrize("verb", [("check", "--fix"), ("run",)])
def test_known_secrets_and_what_was_allowed_come_back(
    lived: Memory, how: Callable[[Path], object], verb: tuple[str, ...]
) -> None:
    file = lived.root / ".curate" / KEPT[0]
    rows = file.read_text().splitlines()
    assert rows
    how(file)
    assert "secrets.jsonl: lacks what the last run left in it" in lived.curate("check", exits=1)
    lived.curate(*verb, *AT)
    assert file.read_text().splitlines() == rows
    assert SECRET not in load_redactor(lived.root).redact(f"it was {SECRET} again").text


def test_lines_that_cannot_be_read_go_and_the_others_stay(lived: Memory) -> None:
    file = lived.root / ".curate" / "shown.jsonl"
    row = file.read_text()
    file.write_text(f"{row}rubbish\n{row}")
    assert "shown.jsonl: has lines that cannot be read (1)" in lived.curate("check", exits=1)
    lived.curate("check", "--fix", *AT)
    assert [json.loads(line) for line in file.read_text().splitlines() if line.strip()] == [json.loads(row)] * 2


def test_a_folder_in_a_file_s_place_is_named_with_its_remedy(lived: Memory) -> None:
    (lived.root / ".curate" / "push.json").unlink()
    (lived.root / ".curate" / "push.json").mkdir()
    said = lived.curate("check", exits=1)
    assert f"`rm -r {lived.root}/.curate/push.json` removes it" in said
    assert "repairs" not in said


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_what_its_owner_may_not_read_is_opened_again(lived: Memory) -> None:
    for name in ("push.json", "index.db"):
        (lived.root / ".curate" / name).chmod(0)
    assert "cannot be read and written by you" in lived.curate("check", exits=1)
    lived.curate("check", "--fix", *AT)
    assert "nothing is broken" in lived.curate("check")
