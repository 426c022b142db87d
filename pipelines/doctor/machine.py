"""The machine: git, the disk, and who may read what is private."""

from __future__ import annotations

import os
import re
import shutil
import stat
from typing import TYPE_CHECKING, Final

from pipelines.agents.timers import call
from pipelines.doctor.findings import look, ok, wrong
from pipelines.store.layout import PRIVATE, SESSIONS

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.doctor.findings import Finding

_OLDEST_GIT: Final = (2, 30)
_MEGABYTE: Final = 1 << 20
_LITTLE, _SCARCE = 500 * _MEGABYTE, 50 * _MEGABYTE
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


def git_program(_: Path) -> Finding:
    """Look for git, and at its version."""
    answer = call(("git", "--version"))
    found = re.search(r"(\d{1,9})\.(\d{1,9})\S*", answer.out)
    if answer.code or not found:
        return wrong("git", f"It cannot be run: {answer.why}.", "Install git 2.30 or newer.")
    if (int(found[1]), int(found[2])) < _OLDEST_GIT:
        return wrong("git", f"Version {found[0]} is too old.", "Install git 2.30 or newer.")
    return ok("git", f"Version {found[0]}.")


def disk(root: Path) -> Finding:
    """Look at the room that is left where the memory is."""
    free = shutil.disk_usage(root).free
    says = f"{free // _MEGABYTE:,} MB are free."
    if free < _SCARCE:
        return wrong("disk", says, "Free some room: a night that finds none changes nothing and fails.")
    return look("disk", says, "Free some room before nights need it.") if free < _LITTLE else ok("disk", says)


def privacy(root: Path) -> Finding:
    """Look whether others can read what is private."""
    for name in (PRIVATE, SESSIONS):
        folder = root / name
        if not folder.exists():
            continue
        known = folder.stat()
        if known.st_uid != os.getuid():
            return wrong("privacy", f"{name} belongs to another user.", f"Give it back: `chown -R $USER '{folder}'`.")
        if known.st_mode & _OTHERS:
            return look("privacy", f"Others can look into {name}.", f"Close it: `chmod -R go= '{folder}'`.")
    return ok("privacy", f"{PRIVATE} and {SESSIONS} are yours alone.")
