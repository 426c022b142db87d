"""The two meanings of "as of a day": what held on it (since and until), and what the memory held at its end (git)."""

from __future__ import annotations

import contextlib
import tempfile
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from pipelines.search.chunks import UNTOLD
from pipelines.store.days import read_days
from pipelines.store.document import Document
from pipelines.store.files import writing
from pipelines.store.git_history import read_blobs
from pipelines.store.item import STRUCK
from pipelines.store.layout import BRIEFING, FOLDERS, LOGS, NOTES, SETTINGS, USER, kind_of
from pipelines.store.snapshot import read_documents

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pipelines.queries.item_graph import Holding
    from pipelines.store.git import Git


_LINK = "120000"
_SEARCHED = frozenset({BRIEFING, USER, LOGS, NOTES, *FOLDERS})


def known_on(root: Path, git: Git, day: str) -> tuple[str, str]:
    """Return the last commit by the end of a day, as the memory ends its days; merges follow the first parent.

    Returns:
        The commit, or empty if there was none, and a sentence that says so.
    """
    if git.head() is None:
        return "", "The memory has no commit yet, so its past is unknown."
    days, made_on = read_days(root), ""
    for row in git.run("log", "--first-parent", "--format=%H %cI").decode().splitlines():
        commit, _, when = row.partition(" ")
        made_on = days.of(datetime.fromisoformat(when))
        if made_on <= day:
            return commit, ""
    return "", f"The memory held nothing on {day}; its first commit is from {made_on}."


def documents_of(git: Git, commit: str) -> dict[str, Document]:
    """Return the documents of a commit by path; binary files are left out."""
    found = {}
    for path, data in _files_of(git, commit, lambda path: kind_of(path) is not None).items():
        with contextlib.suppress(UnicodeDecodeError):
            found[path] = Document(path, data.decode())
    return found


def _files_of(git: Git, commit: str, wanted: Callable[[str], bool]) -> dict[str, bytes]:
    """Return path → bytes of the wanted files of a commit, links left out."""
    blobs = {path: blob for path, (mode, blob) in git.tree(commit or None).items() if mode != _LINK and wanted(path)}
    read = read_blobs(git, set(blobs.values()))
    return {path: read[blob] for path, blob in blobs.items() if blob in read}


def documents_on(root: Path, git: Git, day: str) -> tuple[dict[str, Document], str]:
    """Return the documents as they were at the end of a day, and a note if there were none yet.

    Args:
        root: the memory.
        git: its repository.
        day: the day, or empty for the documents as they are now.
    """
    if not day:
        return read_documents(root), ""
    commit, note = known_on(root, git, day)
    return documents_of(git, commit), note


def holds_on(holding: Holding, day: str, updated: Mapping[str, str]) -> bool:
    """Return whether an item held on a day: from its `since` on, and before its `until`.

    An item that was closed on an unknown day counts for no day, and neither does one that waits for a person or never
    held. The search index follows the same rule.

    Args:
        holding: the item.
        day: the day.
        updated: path → the day on which a document was last updated, for items without a day.
    """
    item = holding.item
    if item.status in UNTOLD or (item.status in STRUCK and not item.until):
        return False
    began = item.since or updated.get(holding.path, "")
    return bool(began) and began <= day and (not item.until or item.until > day)


def days_updated(documents: Mapping[str, Document]) -> dict[str, str]:
    """Return path → the day on which each document was last updated, from its front matter."""
    return {path: document.front.get("updated") for path, document in documents.items()}


def first_day_note(documents: Mapping[str, Document], day: str) -> str:
    """Return a sentence for a day before the first on which anything held, and nothing for a later day."""
    days = [placed.item.since for one in documents.values() for placed in one.items if placed.item.since]
    first = min(days, default="")
    return f"The memory begins on {first}." if day < first else ""


@contextlib.contextmanager
def checkout_files(root: Path, git: Git, commit: str) -> Iterator[Path]:
    """Give a folder that holds the logs and documents of a commit; it is readable by its owner alone, and goes again.

    Settings are those of now. Transcripts, PDF files and images are left out.

    Args:
        root: the memory.
        git: its repository.
        commit: the commit, or empty for a memory that holds nothing.

    Raises:
        NotWritable: there is no room for it.
    """
    files = _files_of(git, commit, _is_searched)
    with tempfile.TemporaryDirectory(prefix="curate-known-") as name:
        folder = Path(name)
        with writing(folder):
            (folder / SETTINGS).write_bytes((root / SETTINGS).read_bytes())
            for path, data in files.items():
                target = folder / git.layout.real(path)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data)
        yield folder


def _is_searched(path: str) -> bool:
    """Whether a file is searched, and its path leads nowhere else: a tree is data, and may have been forged."""
    parts = PurePosixPath(path).parts
    return parts[0] in _SEARCHED and path.endswith((".md", ".txt")) and ".." not in parts and not path.startswith("/")
