"""The one way from a tree to its items: its files are read as documents, which parse their own lines.

A tree is the disk, a commit, or a side of a merge. Nothing else parses an item's line, or asks git for one.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from pipelines.store.document import Document, document_at
from pipelines.store.item import ids_in, without_comment
from pipelines.store.layout import kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pipelines.store.document import Placed
    from pipelines.store.git import Git


def read_documents_in(tree: Mapping[str, bytes]) -> dict[str, Document]:
    """Return the documents among a tree's files, by path; one that is not UTF-8 is left out.

    Args:
        tree: path → bytes.
    """
    found: dict[str, Document] = {}
    for path in filter(kind_of, tree):
        with contextlib.suppress(UnicodeDecodeError):
            found[path] = document_at(path, tree[path].decode())
    return found


def read_version(path: str, data: bytes | None) -> Document:
    """Return one version of a document; what is not UTF-8 in it is replaced, and without any bytes it is empty."""
    return Document(path, (data or b"").decode(errors="replace"))


def committed(git: Git, commit: str | None, path: str) -> Document:
    """Return a document as a commit has it; empty if it has none."""
    return read_version(path, git.show(commit, path) if commit else None)


def words_on_page(document: Document, placed: Placed) -> str:
    """Return an item's line as people read it, without what only the machine needs."""
    return without_comment(document.lines[placed.line].rstrip())


def document_versions(git: Git, form: str, *narrowed: str) -> Iterator[tuple[str, Document, Document, str]]:
    """Yield each document that a commit changed, newest commit first.

    Args:
        git: the memory's git.
        form: the `git log --format` for each commit.
        narrowed: further arguments of `git log`.

    Yields:
        The formatted commit, the document before and after it, and its path on disk.
    """
    commit = ""
    for row in _log(git, form, "--raw", "--no-abbrev", *narrowed):
        if row.startswith(b"\0"):
            commit = row[1:].decode(errors="replace")
        elif row.startswith(b":"):
            about, _, name = row.partition(b"\t")
            real, blobs = os.fsdecode(name), about.decode().split(" ")[2:4]
            path = git.layout.canonical(real)
            # Git may report other files too; a document that lost its role could still hold items.
            if real.endswith(".md") and (path is None or kind_of(path)):
                before, after = (read_version(path or real, git.blob(blob)) for blob in blobs)
                yield commit, before, after, real


def changed_ids(git: Git, form: str, *narrowed: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the formatted commit and the ids of each line that it removed or added; the arguments are those above."""
    commit = ""
    for raw in _log(git, form, "--patch", "--unified=0", "--no-color", *narrowed):
        if raw.startswith(b"\0"):  # no line of a patch starts with a zero byte
            commit = raw[1:].decode(errors="replace")
        elif raw[:1] in {b"-", b"+"} and (ids := ids_in(raw.decode(errors="replace"))):
            yield commit, ids


def _log(git: Git, form: str, *how: str) -> Iterator[bytes]:
    plain = ("--no-ext-diff", "--no-textconv", "--no-renames", "--relative")  # `-G` would run a textconv, too
    return git.rows("log", f"--format=%x00{form}", *plain, *how, "--", *git.layout.pathspecs)
