"""The memory as a commit has it, laid out in a folder aside, so that it can be searched like any other."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

from pipelines.beliefs.moments import LINK
from pipelines.store.files import writing
from pipelines.store.git_history import read_blobs
from pipelines.store.layout import BRIEFING, FOLDERS, LOGS, NOTES, SETTINGS, USER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pipelines.store.git import Git

_TOPS: Final = frozenset({BRIEFING, USER, LOGS, NOTES, *FOLDERS})
_TEXTS: Final = (".md", ".txt")


@contextlib.contextmanager
def laid_out(root: Path, git: Git, commit: str) -> Iterator[Path]:
    """Give a folder that holds the logs and documents of a commit; it is readable by its owner alone, and goes again.

    Settings are those of now. Transcripts, PDF files and images are left out.

    Args:
        root: the memory.
        git: its repository.
        commit: the commit, or empty for a memory that holds nothing.

    Raises:
        NotWritable: there is no room for it.
    """
    files = {path: blob for path, (mode, blob) in git.tree(commit or None).items() if mode != LINK and _fits(path)}
    read = read_blobs(git, set(files.values()))
    with tempfile.TemporaryDirectory(prefix="curate-known-") as name:
        folder = Path(name)
        with writing(folder):
            (folder / SETTINGS).write_bytes((root / SETTINGS).read_bytes())
            for path, blob in files.items():
                target = folder / git.real(path)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(read.get(blob, b""))
        yield folder


def _fits(path: str) -> bool:
    """Whether a file is searched, and its path leads nowhere else: a tree is data, and may have been forged."""
    parts = PurePosixPath(path).parts
    return parts[0] in _TOPS and path.endswith(_TEXTS) and ".." not in parts and not path.startswith("/")
