"""Changing files that people own: every change is worked out first, each file is replaced whole, links stay links.

Only what is ours is put in, replaced or taken out: an entry of settings, or a marked block of text.
"""

from __future__ import annotations

import difflib
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.agents.settings_files import CannotEdit
from pipelines.errors import BadFile, reason_of
from pipelines.store.files import replace_synced, writing

if TYPE_CHECKING:
    from pipelines.agents.install_plan import Edit, InstallPlan


ADVICE = "Nothing was written. Fix the file, then run this again."
_SECRET, _COMMON = 0o600, 0o644


@dataclass(frozen=True, slots=True)
class FileEdit:
    """A file before and after an edit.

    Args:
        edit: the edit.
        file: the file itself, behind any links.
        before: its text, or None if there is no file.
        after: its new text, or None to remove it.
    """

    edit: Edit
    file: Path
    before: str | None
    after: str | None

    @property
    def name(self) -> str:
        """The file as a person knows it; for a link, also where it leads."""
        linked = self.edit.path.is_symlink()
        return f"{self.edit.path} (a link to {self.file})" if linked else str(self.edit.path)


def changes(plan: InstallPlan) -> list[FileEdit]:
    """Return what a plan would change, file by file, without writing anything.

    Raises:
        BadFile: a file cannot be read or understood.
    """
    return [change for change in map(_change, plan.edits) if change.before != change.after]


def carry_out(plan: InstallPlan) -> list[FileEdit]:
    """Carry out a plan and return what changed. Everything is worked out before the first file is written.

    Raises:
        BadFile: a file cannot be read or understood; nothing was written.
        NotWritable: the disk refused a file; it and the files after it are unchanged.
    """
    return [_write(change.edit) for change in changes(plan)]


def bare_diff(before: str, after: str, name: str) -> str:
    """Return a diff of the changed lines alone: the lines around them may hold secrets."""
    lines = difflib.unified_diff(before.splitlines(keepends=True), after.splitlines(keepends=True), name, name, n=0)
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def read_text(path: Path) -> tuple[Path, str | None]:
    """Return the file behind a path and its text, line endings included; None if there is no file.

    Raises:
        BadFile: it is not a regular file, cannot be read, is not UTF-8, or is a dangling link.
    """
    file = Path(os.path.realpath(path))
    if path.is_symlink() and not file.parent.is_dir():
        raise BadFile(path, f"is a link to {file}, whose folder does not exist", ADVICE)
    try:
        if not stat.S_ISREG(file.stat().st_mode):
            raise BadFile(path, "is not a regular file", ADVICE)
        return file, file.read_bytes().decode()
    except (FileNotFoundError, NotADirectoryError):
        return file, None
    except OSError as fault:
        raise BadFile(path, f"cannot be read: {reason_of(fault)}", ADVICE) from None
    except UnicodeDecodeError as fault:
        raise BadFile(path, f"is not UTF-8 at byte {fault.start}", ADVICE) from None


def _change(edit: Edit) -> FileEdit:
    file, before = read_text(edit.path)
    try:
        after = edit.change(before or "")
    except CannotEdit as fault:
        raise BadFile(edit.path, str(fault), ADVICE) from None
    return FileEdit(edit, file, before, after or None)


def _write(edit: Edit) -> FileEdit:
    """Write one file. The change is worked out again right before: other programs write their settings, too."""
    change = _change(edit)
    with writing(change.file):
        if change.after is None:
            change.file.unlink(missing_ok=True)
        else:
            change.file.parent.mkdir(parents=True, exist_ok=True)
            usual = _COMMON if change.file.suffix == ".md" else _SECRET
            mode = stat.S_IMODE(change.file.stat().st_mode) if change.before is not None else usual
            replace_synced(change.file, change.after.encode(), mode)
    return change
