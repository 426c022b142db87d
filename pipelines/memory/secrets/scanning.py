"""Scanning a memory: its files as they are, and every version of them that git holds."""

from __future__ import annotations

import io
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from pipelines.errors import BadFile
from pipelines.memory.files import open_regular
from pipelines.memory.layout import SESSIONS
from pipelines.memory.names import real_path
from pipelines.memory.secrets.finding import find_secrets
from pipelines.memory.secrets.redacting import told_of
from pipelines.memory.tracked import own_files, tracked_files
from pipelines.text import plain_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from typing import BinaryIO

    from pipelines.memory.git import Git
    from pipelines.memory.secrets.redacting import Redactor

_BATCH: Final = 32 << 20
_LARGEST: Final = 256 << 20
_NAMED: Final = 200
"""Versions whose commits are looked up: each costs a walk through the history."""


@dataclass(frozen=True, slots=True)
class Leak:
    """A secret that was found.

    Args:
        path: the file, relative to the memory, or to the repository's top for a version in git.
        line: counted from 1.
        rule: which rule found it.
        tag: by which equal secrets are told equal; empty where another program found it.
        blob: the version in git that holds it; empty for the file as it is.
        commit: the first commit with that version.
    """

    path: str
    line: int
    rule: str
    tag: str = ""
    blob: str = ""
    commit: str = ""

    def __str__(self) -> str:
        tag = f" ({self.tag})" if self.tag else ""
        where = f" in commit {self.commit[:10]}" if self.commit else f" in {self.blob[:10]}" if self.blob else ""
        return f"{plain_line(self.path)}:{self.line}{where}: {self.rule}{tag}"


def scan_files(root: Path, redactor: Redactor) -> Iterator[Leak]:
    """Yield the secrets in the memory's own files and its kept transcripts, as they are now; links are not followed."""
    for path in (*tracked_files(root), *own_files(root, (SESSIONS,))):
        try:
            file = open_regular(root, path)
        except BadFile:
            continue
        if file:
            with file:
                yield from _leaks(real_path(root, path), file, redactor, marks=not path.startswith(f"{SESSIONS}/"))


def scan_history(git: Git, redactor: Redactor) -> list[Leak]:
    """Return the secrets in every version of every file that any branch, tag, stash or reflog of git leads to."""
    paths: dict[str, str] = {}
    for row in git.run("rev-list", "--objects", "--all", "--reflog").decode(errors="replace").splitlines():
        ident, _, path = row.partition(" ")
        paths.setdefault(ident, path)
    found = []
    for ident, data in _blobs(git, list(paths)):
        found += [replace(leak, blob=ident) for leak in _leaks(paths[ident], io.BytesIO(data), redactor, marks=True)]
    commits = {blob: _first_commit(git, blob) for blob in list(dict.fromkeys(leak.blob for leak in found))[:_NAMED]}
    return [replace(leak, commit=commits.get(leak.blob, "")) for leak in found]


def _leaks(path: str, file: BinaryIO, redactor: Redactor, *, marks: bool) -> Iterator[Leak]:
    """Yield the secrets of a file, line by line where it is long, so that little of it is held."""
    first = 1
    while lines := file.readlines(_BATCH):
        data = b"".join(lines)
        spans = find_secrets(data, marks=marks)
        for one in told_of(redactor, data, spans):
            yield Leak(path, first + one.line - 1, one.rule, one.tag)
        first += len(lines)


def _blobs(git: Git, idents: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """Yield the blobs among objects with their bytes, some megabytes at a time."""
    asked = "".join(f"{ident}\n" for ident in idents).encode()
    batch: list[str] = []
    size = 0
    for row in git.run("cat-file", "--batch-check", data=asked).decode().splitlines():
        ident, kind, length = row.split(" ")
        if kind != "blob" or int(length) > _LARGEST:
            continue
        if batch and size + int(length) > _BATCH:
            yield from _read(git, batch)
            batch, size = [], 0
        batch.append(ident)
        size += int(length)
    yield from _read(git, batch)


def _read(git: Git, idents: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    told = git.run("cat-file", "--batch", data="".join(f"{ident}\n" for ident in idents).encode()) if idents else b""
    at = 0
    for ident in idents:
        end = told.index(b"\n", at)
        size = int(told[at:end].split(b" ")[2])
        yield ident, told[end + 1 : end + 1 + size]
        at = end + size + 2


def _first_commit(git: Git, blob: str) -> str:
    listed = git.run("log", "--all", "--reflog", "--format=%H", f"--find-object={blob}").decode().split()
    return listed[-1] if listed else ""
