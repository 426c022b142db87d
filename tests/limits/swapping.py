"""Somebody who puts a link to a folder outside in the place of a folder of the memory, and the folder back."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest

CALLS: Final = ("open", "rename", "link", "mkdir", "unlink", "rmdir", "stat", "lstat", "scandir", "listdir", "fsync")
"""Every call of ours after which the disk may be another one."""

LOOP: Final = """
import os, sys
folder, aside, outside = sys.argv[1:]
while True:
    try:
        os.rename(folder, aside)
        os.symlink(outside, folder)
        os.unlink(folder)
    except OSError:
        pass
    try:
        os.rename(aside, folder)
    except OSError:
        os.rename(folder, f"{aside}-{os.urandom(4).hex()}") if not os.path.islink(folder) else os.unlink(folder)
"""
"""The same without a pause, as a program of its own; a folder that came between is put aside as well."""


class Swapper:
    """Swaps once, right before the `at`-th of the calls that are watched.

    Args:
        folder: the folder of the memory.
        outside: where the link leads.
        at: which call, from 1.
    """

    def __init__(self, folder: Path, outside: Path, at: int) -> None:
        self.folder, self.outside, self.at = folder, outside, at
        self.aside = folder.with_name(f"{folder.name}.aside")
        self.calls = 0

    @property
    def fired(self) -> bool:
        """Whether there was such a call."""
        return self.calls >= self.at

    def watch(self, patch: pytest.MonkeyPatch) -> None:
        """Watch every call."""
        for name in CALLS:
            patch.setattr(os, name, self._watched(getattr(os, name)))

    def _watched(self, real: Callable[..., object]) -> Callable[..., object]:
        rename, symlink, isdir = os.rename, os.symlink, os.path.isdir

        def step(*arguments: object, **more: object) -> object:
            self.calls += 1
            if self.calls == self.at and isdir(self.folder):
                rename(self.folder, self.aside)
                symlink(self.outside, self.folder)
            return real(*arguments, **more)

        return step

    def restore(self) -> None:
        """Put the folder back."""
        if self.folder.is_symlink():
            self.folder.unlink()
            self.aside.rename(self.folder)
