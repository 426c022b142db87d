"""Scan a memory for secrets: its current files, and every version of them in git.

A document or log with a secret is not changed, but kept out of every commit, and reported.
"""

from __future__ import annotations

import contextlib
import io
from dataclasses import replace
from typing import TYPE_CHECKING, BinaryIO

from pipelines.errors import BadFile
from pipelines.store.files import list_files, open_regular
from pipelines.store.layout import NOTES, PRIVATE, SESSIONS, TRACKED, Kind
from pipelines.store.secrets.redact import FoundSecret, Redactor, format_found, load_redactor, locate
from pipelines.store.snapshot import FileWarning, Snapshot
from pipelines.store.template import own_files
from pipelines.store.user_layout import layout_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from pipelines.store.git import Git


_BATCH = 8 << 20


def scan_files(root: Path, redactor: Redactor) -> Iterator[FoundSecret]:
    """Yield the secrets in the memory's current files, its kept transcripts and the notes that it reads in place.

    Links are not followed.
    """
    layout = layout_of(root)
    notes = list_files(root, NOTES, ".md", globs=(*layout.logs, *layout.notes))
    for path, file in _opened(root, (*own_files(root, (*TRACKED, SESSIONS)), *notes)):
        yield from secrets_in(path, file, redactor, marks=not path.startswith(f"{SESSIONS}/"))


def _opened(root: Path, paths: Iterable[str]) -> Iterator[tuple[str, BinaryIO]]:
    """Yield those files that exist and are readable, each open until the next one is requested."""
    for path in paths:
        with contextlib.suppress(BadFile):
            if file := open_regular(root, path):
                with file:
                    yield path, file


def scan_history(git: Git, redactor: Redactor) -> list[FoundSecret]:
    """Return the secrets in every version of every file reachable from any branch, tag, stash or reflog."""
    first = dict[str, tuple[str, str]]()
    commit = ""
    how = ("--all", "--reflog", "--reverse", "--root", "-m", "--raw", "--no-abbrev", "--no-renames", "--format=%x00%H")
    for row in git.run("log", *how).decode(errors="replace").splitlines():
        about, _, path = row.partition("\t")
        if row.startswith("\0"):
            commit = row[1:]
        elif path:
            first.setdefault(about.split()[3], (path, commit))
    found = []
    for blob, (path, commit) in first.items():
        leaks = secrets_in(path, io.BytesIO(git.blob(blob) or b""), redactor)
        found += [leak._replace(blob=blob, commit=commit) for leak in leaks]
    return found


def secrets_in(path: str, file: BinaryIO, redactor: Redactor, *, marks: bool = True) -> Iterator[FoundSecret]:
    """Yield the secrets of a file, in batches of lines, so that little of it is held."""
    before = 0
    while lines := file.readlines(_BATCH):
        data = b"".join(lines)
        for one in locate(redactor, data, redactor.find(data, marks=marks)):
            yield one._replace(line=before + one.line, path=path)
        before += len(lines)


def without_secret_files(snapshot: Snapshot) -> Snapshot:
    """Return a snapshot in which documents with a secret count as unreadable, so that nothing overwrites them.

    It leaves something pending, but for a note under Resources without items: no night writes it, so it is only named.
    """
    redactor, documents, warnings = load_redactor(snapshot.root), dict(snapshot.documents), list(snapshot.warnings)
    for path, document in snapshot.documents.items():
        if spans := redactor.find(data := document.text.encode()):
            why = held_because(locate(redactor, data, spans))
            pending = document.kind is not Kind.RESOURCE or bool(document.held)
            warnings.append(FileWarning(path, why, pending=pending))
            del documents[path]
    return replace(snapshot, documents=documents, warnings=tuple(warnings))


_COPIES = ("replies", "index.db", "start")


def clean_copies(root: Path, redactor: Redactor) -> None:
    """Delete the copies that hold secrets, made before they were known: replies and the index.

    Both are derived: replies are requested again when needed, and the index is rebuilt.
    """
    copies = (path for path in own_files(root, (PRIVATE,)) if path.split("/", 2)[1].startswith(_COPIES))
    held = {path for path, file in _opened(root, copies) if any(secrets_in(path, file, redactor))}
    for path in held:
        for copy in root.glob(f"{PRIVATE}/index.db*") if "index.db" in path else (root / path,):
            copy.unlink(missing_ok=True)


def held_because(secrets: Sequence[FoundSecret]) -> str:
    """Return why a file is not committed, as the predicate of a sentence about it."""
    lines = sorted({one.line for one in secrets})
    where = f"line {lines[0]}" if len(lines) == 1 else f"{len(lines)} lines, the first is line {lines[0]}"
    return (
        f"contains {format_found(secrets)}, {where}; the file was not changed and is not committed: remove the secret, "
        "or mark its line with <!-- allow-secret -->"
    )
