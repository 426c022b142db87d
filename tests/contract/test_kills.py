"""A command that is killed where it changes something loses nothing: the next run ends what it began."""

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from pipelines.cli import run_cli
from tests.conftest import Memory
from tests.contract.story import ALPHA, LINES, MARA, NEXT, PORT, asked, held, items, log, night, reword

CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.truncate", "subprocess.Popen"}
MORE = 100_000
KETTLE = "The kettle is new."
EVENING = ("--now", "2026-03-12T02:00")


def killed(root: Path, at: int, *words: str) -> int:
    """Run a command in a process that ends, as by a kill, before the AT-th call that changes something.

    Returns:
        How many such calls it came to.
    """
    reads, tells = os.pipe()
    if not (child := os.fork()):
        count = 0

        def counts(event: str, told: tuple[Any, ...]) -> None:
            nonlocal count
            writes = event == "open" and isinstance(told[2], int) and told[2] & (os.O_WRONLY | os.O_RDWR)
            count += bool(writes or event in CHANGES)
            if count >= at:
                _end(count)

        def _end(count: int) -> None:
            os.write(tells, str(count).encode())
            os._exit(0)

        sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123
        sys.addaudithook(counts)
        run_cli([*words, "--memory", str(root)])
        _end(count)
    os.waitpid(child, 0)
    os.close(tells)
    with os.fdopen(reads) as said:
        return int(said.read())


@pytest.mark.parametrize(
    ("words", "tells"),
    [
        (("run", *EVENING), {KETTLE}), (("done", MARA, *EVENING), set[str]()),
        (("correct", "8080", "The gateway listens on port 9090.", *EVENING), set[str]()),
        (("undo", *EVENING), set[str]()),
        (("project", "rename", "alpha", "Orion", *EVENING), set[str]()),
    ],
    ids=lambda one: one[0] if isinstance(one, tuple) else "",
)  # fmt: skip
def test_killed_at_any_change_everything_stands_once_after_the_next_run(
    told: Memory, tmp_path: Path, words: tuple[str, ...], tells: set[str]
) -> None:
    log(told, NEXT, f"Fact: {KETTLE}")
    told.write("Areas/own.md", "# Own\n\nWords of mine.\n")
    reword(told, "# Alpha", "# Alpha\n\nMine alone.")
    shutil.copytree(told.root, tmp_path / "whole", symlinks=True)
    count = killed(tmp_path / "whole", MORE, *words)
    assert 5 < count < MORE
    for number in range(1, count + 1, max(1, count // 2)):
        one = told.aside(tmp_path / f"killed{number}")
        shutil.copytree(told.root, one.root, symlinks=True)
        assert killed(one.root, number, *words) == number
        one.night("2026-03-12T03:00")
        texts = [item["text"] for item in asked(one, "items")]
        assert len(texts) == len(set(texts))
        assert {KETTLE, *tells} <= held(one) | {KETTLE for _ in [0] if words[0] == "undo"}
        assert set(items(told)) - {PORT} <= set(items(one)) or words[0] == "undo"
        everything = b"".join(one.files().values()).decode()
        assert "Words of mine." in everything
        assert "Mine alone." in everything
        assert all(line in everything for line in LINES)
        assert one.git("status", "--porcelain") == ""
        one.git("fsck", "--strict")
        assert asked(one, "check") == []


@pytest.mark.parametrize("at", [pytest.param(at, marks=[pytest.mark.torture] * (at % 8 != 1)) for at in range(1, 42)])
def test_an_edit_during_a_run_is_kept(told: Memory, at: int) -> None:
    page, left = told.root / ALPHA, at

    def edits(event: str, _: tuple[Any, ...]) -> None:
        nonlocal left
        left -= event in CHANGES
        if left == 0:
            left = -1
            page.write_text(page.read_text() + "\nTyped during the run.\n")

    sys.addaudithook(edits)
    night(told, NEXT, f"Fact: {KETTLE}")
    assert left < 0
    told.night("2026-03-12T03:00")
    assert page.read_text().count("Typed during the run.") == 1
    assert {KETTLE, *held(told)} == held(told)


def test_a_full_disk_fails_the_run_and_the_next_makes_it_good(told: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    log(told, NEXT, f"Fact: {KETTLE}")
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", _no_space)
        said = told.curate("run", *EVENING, exits=1)
    assert "Traceback" not in said
    assert "space" in said.lower()
    told.night("2026-03-12T03:00")
    assert {KETTLE, PORT} <= held(told)


def _no_space(_: int) -> None:
    raise OSError(28, "No space left on device")
