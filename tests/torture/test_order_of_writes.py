"""The order in which a run writes: fsync(file) → rename → fsync(folder), read off a trace of all its calls.

A power cut may keep any part of what was not flushed. This order is what makes each step lean only on steps that last.
"""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from pipelines.store.layout import TRACKED
from tests.torture.conftest import Prepared
from tests.torture.strace import STRACE, curate, needs_strace

pytestmark = needs_strace
_CALLS: Final = "write,pwrite64,fsync,fdatasync,rename,renameat,renameat2,link,linkat,unlink,unlinkat"
_LINE: Final = re.compile(r"\d+ +(\w+)\((.*)")
_HELD: Final = re.compile(r'(?:\d+|AT_FDCWD)<([^>]*)>, "([^"]*)"')
_PATH: Final = re.compile(r'<([^>]*)>|"([^"]*)"')
_KINDS: Final = {"renameat": "rename", "linkat": "link", "unlinkat": "unlink"}
"""Calls that name a file in a folder that is held do what those do that name a path."""


@dataclass(frozen=True)
class Event:
    """One call: its kind, and the paths it names, the last one the one that it makes, flushes or removes."""

    kind: str
    paths: tuple[str, ...]

    @property
    def source(self) -> str:
        return self.paths[0]

    @property
    def target(self) -> str:
        return self.paths[-1]


@pytest.fixture(scope="module")
def trace(prepared: Prepared) -> tuple[Path, list[Event]]:
    """Trace one night, its git and all, and return where it was and what it did in order."""
    root = prepared.copy()
    log = root.parent / "strace.log"
    ended = curate(root, prefix=(STRACE, "-f", "-y", "-s", "4096", "-o", str(log), "-e", f"trace={_CALLS}"))
    assert ended.code == 0, ended.said
    events = []
    for line in log.read_text(errors="replace").splitlines():
        if (found := _LINE.match(line)) and " = -1 " not in line:
            kind, rest = found.groups()
            events.append(
                Event(_KINDS.get(kind, kind), tuple(os.path.normpath(root / path) for path in _named(kind, rest)))
            )
    return root, events


def _named(kind: str, rest: str) -> list[str]:
    """Return the paths that a call names, those in a folder that is held put together."""
    told = [a or b for a, b in _PATH.findall(rest)]
    if kind in {"write", "pwrite64", "fsync", "fdatasync"}:
        return told[:1]
    return [f"{folder}/{name}" for folder, name in _HELD.findall(rest)] or told


def _moves(events: list[Event], wanted: Callable[[str], bool]) -> list[tuple[int, Event]]:
    kinds = {"rename", "renameat2", "link"}
    return [(at, event) for at, event in enumerate(events) if event.kind in kinds and wanted(event.target)]


def _is_flushed(events: list[Event], at: int, path: str) -> bool:
    """Whether the last write to a file before a moment was followed by a flush of it."""
    kinds = [event.kind for event in events[:at] if event.target == path]
    last = max((n for n, kind in enumerate(kinds) if kind in {"write", "pwrite64"}), default=-1)
    return "fsync" in kinds[last + 1 :]


def _folder_is_flushed(events: list[Event], start: int, stop: int, path: str) -> bool:
    folder = str(Path(path).parent)
    return any(event.kind == "fsync" and event.target == folder for event in events[start + 1 : stop])


def _first(events: list[Event], kind: str, ending: str) -> int:
    return next(at for at, event in enumerate(events) if event.kind == kind and event.target.endswith(ending))


def _last(events: list[Event], kind: str, ending: str) -> int:
    return max(at for at, event in enumerate(events) if event.kind == kind and event.target.endswith(ending))


def _own(root: Path) -> Callable[[str], bool]:
    def own(path: str) -> bool:
        return Path(path).is_relative_to(root) and Path(path).relative_to(root).parts[0] in TRACKED

    return own


def test_every_file_of_the_memory_is_flushed_renamed_and_its_folder_flushed(trace: tuple[Path, list[Event]]) -> None:
    root, events = trace
    dropped = _first(events, "unlink", "pending/manifest.json")
    moves = _moves(events, _own(root))
    names = {str(Path(move.target).relative_to(root)) for _, move in moves}
    assert names >= {"MEMORY.md", "Areas/general.md", "Logs/2026-03-19.md", "State/progress.jsonl"}
    for at, move in moves:
        assert _is_flushed(events, at, move.source) or _was_staged(events, at, move.source), move
        assert _folder_is_flushed(events, at, dropped, move.target), move


def _was_staged(events: list[Event], at: int, path: str) -> bool:
    """Whether a file came to its name by a rename, and was flushed before that."""
    origin = [(n, event) for n, event in enumerate(events[:at]) if event.kind == "rename" and event.target == path]
    return bool(origin) and _is_flushed(events, origin[-1][0], origin[-1][1].source)


def test_no_file_of_the_memory_is_written_in_place(trace: tuple[Path, list[Event]]) -> None:
    root, events = trace
    own = _own(root)
    assert [event for event in events if event.kind in {"write", "pwrite64"} and own(event.target)] == []


def test_the_journal_is_whole_on_the_disk_before_the_first_file_is_replaced(trace: tuple[Path, list[Event]]) -> None:
    root, events = trace
    sealed = _last(events, "rename", "pending/manifest.json")
    first = min(at for at, move in _moves(events, _own(root)) if move.kind != "link" or at > sealed)
    assert _is_flushed(events, sealed, events[sealed].source)
    assert sealed < first
    assert _folder_is_flushed(events, sealed, first, events[sealed].target)
    staged = {event.target for event in events[:sealed] if re.search(r"pending/\d+\.(before|after)$", event.target)}
    assert staged
    assert all(_is_flushed(events, sealed, path) for path in staged)
    assert _folder_is_flushed(events, 0, sealed, events[sealed].target)


def test_every_object_of_git_lasts_before_the_branch_names_it(trace: tuple[Path, list[Event]]) -> None:
    _, events = trace
    branches = [at for at, event in enumerate(events) if event.kind == "rename" and event.target.endswith("heads/main")]
    assert len(branches) == 2, "the edits, and the night"
    objects = _moves(events, lambda path: re.search(r"/objects/pack/pack-\w+\.(?:pack|idx)$", path) is not None)
    assert len(objects) == 4, "a pack and its index for each commit"
    for at, move in objects:
        assert _is_flushed(events, at, move.source), move
        assert _folder_is_flushed(events, at, next(b for b in branches if b > at), move.target), move
    for at in branches:
        assert _is_flushed(events, at, events[at].source)


def test_the_branch_lasts_before_the_journal_goes(trace: tuple[Path, list[Event]]) -> None:
    _, events = trace
    branch = _last(events, "rename", "heads/main")
    dropped = _first(events, "unlink", "pending/manifest.json")
    assert branch < dropped
    assert _folder_is_flushed(events, branch, dropped, events[branch].target)
    assert _folder_is_flushed(events, dropped, len(events), events[dropped].target)
