"""Files that a verb writes for a person outside the memory: whole or not at all, and readable by nobody else."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from pipelines.store.files import writing

if TYPE_CHECKING:
    from collections.abc import Iterable


def write_out(name: str, texts: Iterable[str]) -> None:
    """Write texts one after the other to a file, or to standard output for `-`.

    Raises:
        NotWritable: the disk refused; what was there before is there still.
    """
    if name == "-":
        _copy(texts, sys.stdout.buffer)
        return
    target = Path(name).expanduser()
    part = target.with_name(f".{target.name}.part")
    try:
        with writing(target):
            part.unlink(missing_ok=True)
            part.touch(mode=0o600, exist_ok=False)
            with part.open("wb") as file:
                _copy(texts, file)
            part.replace(target)
    finally:
        with writing(target):
            part.unlink(missing_ok=True)


def _copy(texts: Iterable[str], file: BinaryIO) -> None:
    file.writelines(text.encode(errors="replace") for text in texts)
    file.flush()
