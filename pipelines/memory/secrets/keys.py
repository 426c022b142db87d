"""The key of the tags: beside the user's settings, outside every memory, made when it is first needed."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pipelines.memory.files import sync_folder, writing
from pipelines.memory.lock import private_folder
from pipelines.memory.secrets.redacting import Redactor

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME: Final = "redaction.key"
_BYTES: Final = 32
_LONGEST: Final = 1024


def load_redactor(root: Path) -> Redactor:
    """Return the user's redactor. Its key is read, or made, when the first secret is found, and not before.

    Raises:
        NotWritable: later, when there is no key and nowhere to put one.
    """
    return Redactor(lambda: redaction_key(root, os.environ))


def redaction_key(root: Path, environ: Mapping[str, str]) -> bytes:
    """Return the key that `$XDG_CONFIG_HOME/memcurate/redaction.key` holds, made where there is none.

    Without a home, or with one that cannot be written, the key is kept under `.curate/`, which is never committed:
    equal secrets can still be told equal, but whoever can read that folder can test guesses against the tags.

    Raises:
        NotWritable: there is no key, and neither place takes one.
    """
    for folder in _folders(environ):
        with contextlib.suppress(OSError):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            return _key_in(folder)
    folder = private_folder(root)
    with writing(folder / NAME):
        return _key_in(folder)


def key_outside(name: str, environ: Mapping[str, str], *, make: bool) -> bytes:
    """Return the key of that name beside the user's settings; empty where there is none, and none is or can be made.

    Unlike the key of the tags it is never kept in a memory: whoever can write there could then use it.
    """
    for folder in _folders(environ):
        with contextlib.suppress(OSError):
            if make:
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                return _key_in(folder, name)
            return (folder / name).read_bytes()[:_LONGEST]
    return b""


def _folders(environ: Mapping[str, str]) -> list[Path]:
    config, home = environ.get("XDG_CONFIG_HOME", ""), environ.get("HOME", "")
    if Path(config).is_absolute():  # the XDG rules say that a relative one is to be ignored
        return [Path(config, "memcurate")]
    return [Path(home, ".config", "memcurate")] if Path(home).is_absolute() else []


def _key_in(folder: Path, name: str = NAME) -> bytes:
    """Return the key of a folder; of several processes that make one at the same time, all come to the same."""
    file = folder / name
    if not file.exists():
        _make(file)
    return file.read_bytes()[:_LONGEST]


def _make(file: Path) -> None:
    new = file.with_name(f"{file.name}.{os.getpid()}.{os.urandom(4).hex()}")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as out:
            out.write(os.urandom(_BYTES).hex().encode() + b"\n")
            out.flush()
            os.fsync(out.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(new, file)
    finally:
        new.unlink(missing_ok=True)
    sync_folder(file.parent)
