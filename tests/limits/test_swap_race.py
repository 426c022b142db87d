"""Folders that are swapped for links in the moment of a write: not one byte leaves the memory."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
from typing import TYPE_CHECKING, Final

import pytest

from pipelines.errors import BadFile, CurateError, NotWritable
from pipelines.night.report import read_reports
from pipelines.store import rename_exchange as swap
from pipelines.store.append_log import append_line
from pipelines.store.atomic_replace import put, settle
from pipelines.store.change_set import Change
from pipelines.store.files import create_file, read_bytes, replace_file
from pipelines.store.folders import holding
from pipelines.store.lock import run_lock
from pipelines.store.transcripts.reader import keep, recording
from tests.limits.swapping import LOOP, Swapper

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DOCUMENT: Final = "Projects/alpha.md"
LOG: Final = "Logs/2026-03-18.md"
OLD, NEW = b"# Alpha\n\nmine\n", b"# Alpha\n\nmine\n\nand more\n"


def exchanged(root: Path) -> None:
    changes = [Change(DOCUMENT, OLD, NEW), Change("Projects/beta.md", None, NEW), Change(LOG, OLD, None)]
    with holding(root, ".curate/pending") as folder:
        for number, change in enumerate(changes):
            put(root, folder, number, change)
        settle(root, folder, changes)


def appended(root: Path) -> None:
    append_line(root, "2026-03-18", "- 09:00 one")
    append_line(root, "2026-03-19", "- 09:00 two")


def replaced(root: Path) -> None:
    replace_file(root, DOCUMENT, NEW)
    create_file(root, "Projects/photo.png.meta.json", b"{}")


def recorded(root: Path) -> None:
    with recording(root, io.BytesIO(b"{}\n"), bytes, 0) as (recorder, copy):
        recorder.readline(1 << 20)
        recorder.flush()
        keep(root, copy, "Sessions/2026-03-18/tool-s1.jsonl")


def locked(root: Path) -> None:
    with run_lock(root, "which tests"):
        read_reports(root)


WRITES: Final[dict[str, tuple[Callable[[Path], None], tuple[str, ...]]]] = {
    "exchange": (exchanged, ("Projects", "Logs", ".curate/pending", ".curate")),
    "append": (appended, ("Logs", ".curate")),
    "replace": (replaced, ("Projects", ".curate/tmp", ".curate")),
    "record": (recorded, ("Sessions", "Sessions/2026-03-18", ".curate/tmp", ".curate")),
    "lock": (locked, (".curate", ".curate/runs")),
}


def laid_down(root: Path) -> None:
    for name in ("Projects", "Logs", "Sessions/2026-03-18", ".curate/pending", ".curate/displaced", ".curate/tmp"):
        (root / name).mkdir(parents=True, exist_ok=True)
    (root / ".curate/runs").mkdir(exist_ok=True)
    (root / DOCUMENT).write_bytes(OLD)
    (root / LOG).write_bytes(OLD)


def baited(outside: Path) -> dict[str, bytes]:
    """Lay out what a write could hit: files of the same names as the memory's, and what such a write would change."""
    for name in ("alpha.md", "2026-03-18.md", "lock", "log.lock", "pending/x", "displaced/x", "tmp/x", "runs/x.json"):
        (outside / name).parent.mkdir(parents=True, exist_ok=True)
        (outside / name).write_bytes(b"not ours\n")
    return told(outside)


def told(outside: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(outside)): path.read_bytes() if path.is_file() else b""
        for path in sorted(outside.rglob("*"))
    }


CASES: Final = [(name, folder, "kernel") for name, (_, some) in WRITES.items() for folder in some]


@pytest.mark.parametrize(
    ("write", "folder", "exchange"), [*CASES, *((*case[:2], "links") for case in CASES if case[0] == "exchange")]
)
def test_swapped_before_any_call_of_a_write_nothing_leaves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: str, folder: str, exchange: str
) -> None:
    if exchange == "links":
        monkeypatch.setattr(swap, "_renamed", lambda *_: False)
    outside = tmp_path / "outside"
    before = baited(outside)
    refused = done = at = 0
    while True:
        at += 1
        root = tmp_path / str(at)
        laid_down(root)
        swapper = Swapper(root / folder, outside, at)
        with monkeypatch.context() as patch:
            swapper.watch(patch)
            try:
                WRITES[write][0](root)
                done += 1
            except (BadFile, NotWritable):
                refused += 1
        swapper.restore()
        assert told(outside) == before, f"call {at}"
        assert b"not ours" not in b"".join(data for name, data in told(root).items())
        if not swapper.fired:
            break
    assert refused or folder == ".curate/runs", "it was never swapped in time"
    assert done, "the last one was left alone"


def test_a_process_that_swaps_all_the_time_leads_no_write_elsewhere(tmp_path: Path) -> None:
    root, outside = tmp_path / "memory", tmp_path / "outside"
    laid_down(root)
    before = baited(outside)
    tallies = {"done": 0, "refused": 0}
    command = [sys.executable, "-c", LOOP, str(root / "Logs"), str(root / "aside"), str(outside)]
    with subprocess.Popen(command) as swapper:
        try:
            for number in range(20_000):
                try:
                    append_line(root, "2026-03-18", f"- 09:00 line {number}")
                    tallies["done"] += 1
                except CurateError:
                    tallies["refused"] += 1
                with contextlib.suppress(BadFile):
                    assert b"not ours" not in (read_bytes(root, LOG) or b"")
                if min(tallies.values()) >= 100:
                    break
        finally:
            swapper.kill()
    assert told(outside) == before
    assert min(tallies.values()) >= 100, f"the race was none: {tallies}"
