"""Where models lie in the user's cache, and whether a file there is the one that was pinned."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import IO, TYPE_CHECKING

from pipelines.errors import CurateError
from pipelines.store.files import writing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pipelines.models.embedders.pins import PinnedFile, PinnedModel

_PIECE = 1 << 20


def models_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder of all models: `$XDG_CACHE_HOME/memcurate/models`, else the same below `~/.cache`.

    Raises:
        CurateError: the environment names neither a cache nor a home.
    """
    cache, home = environ.get("XDG_CACHE_HOME", ""), environ.get("HOME", "")
    if Path(cache).is_absolute():  # the XDG rules say that a relative one is to be ignored
        return Path(cache, "memcurate", "models")
    if not home:
        raise CurateError("There is no place for models.", "Set HOME or XDG_CACHE_HOME.")
    return Path(home, ".cache", "memcurate", "models")


def is_complete(model: PinnedModel, folder: Path) -> bool:
    """Whether every file of a model is there with its size. Digests are compared when a file is used, not here."""
    try:
        return all((folder / file.name).stat().st_size == file.size for file in model.files)
    except OSError:
        return False


def digest(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def copy_pinned(source: IO[bytes], target: Path, pin: PinnedFile, progress: Callable[[int], None]) -> str:
    """Write what a source gives to a new file, flushed, and compare it with its pin on the way.

    Args:
        source: where the bytes come from; no more than one piece too many is read.
        target: the file to make; its folders are made, too.
        pin: what the file must be.
        progress: told the number of bytes of each piece.

    Returns:
        What is wrong with the bytes, as a sentence without its subject; nothing where they are the pinned ones.

    Raises:
        NotWritable: the disk refused.
    """
    found, size = hashlib.sha256(), 0
    with writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        file = target.open("wb")
    with file:
        while size <= pin.size and (piece := source.read(_PIECE)):
            found.update(piece)
            size += len(piece)
            with writing(target):  # a full disk is the disk's fault, not the source's
                file.write(piece)
            progress(len(piece))
        with writing(target):
            file.flush()
            os.fsync(file.fileno())
    if size != pin.size:
        return (
            f"{pin.name} ended after {size:,} of {pin.size:,} bytes" if size < pin.size else f"{pin.name} is too long"
        )
    if found.hexdigest() != pin.sha256:
        return f"{pin.name} has the sha256 {found.hexdigest()}, not the pinned {pin.sha256}"
    return ""
