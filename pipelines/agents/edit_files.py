"""Changing files that people own: the whole plan is worked out first, each file is replaced whole, links stay links."""

from __future__ import annotations

import contextlib
import difflib
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pipelines.agents.settings_files import CannotEdit, json_as_written
from pipelines.errors import BadFile, ChangedUnderRun
from pipelines.store.files import sync_folder, writing

if TYPE_CHECKING:
    from pipelines.agents.install_plan import Edit, Plan


ADVICE: Final = "Nothing was written; mend the file, then run this again."
_ATTEMPTS: Final = 5
_SECRET, _COMMON = 0o600, 0o644


@dataclass(frozen=True, slots=True)
class Change:
    """A file before and after.

    Args:
        edit: what was asked for.
        file: the file itself, behind whatever links lead to it.
        before: its text, or None where there is none.
        after: its text, or None where it is to go.
    """

    edit: Edit
    file: Path
    before: str | None
    after: str | None

    @property
    def name(self) -> str:
        """The file as a person knows it, with where a link leads."""
        linked = self.edit.path.is_symlink()
        return f"{self.edit.path} (a link to {self.file})" if linked else str(self.edit.path)

    @property
    def backup(self) -> Path | None:
        """Where the text before is kept, since an edit of JSON writes the whole file anew; None for other files."""
        is_rewritten = self.file.suffix == ".json" and bool(self.before) and self.after is not None
        return self.file.with_name(f"{self.file.name}.memcurate.bak") if is_rewritten else None

    def diff(self) -> str:
        """Return what changes; JSON is laid out as an edit writes it first."""
        text = json_as_written(self.before or "") if self.file.suffix == ".json" else self.before or ""
        return bare_diff(text, self.after or "", str(self.file))


def changes(plan: Plan) -> list[Change]:
    """Return what a plan would change, file by file, without writing anything.

    Raises:
        BadFile: a file cannot be read or understood.
    """
    return [change for change in map(_change, plan.edits) if change.before != change.after]


def carry_out(plan: Plan) -> list[Change]:
    """Do what a plan says and return what was changed. All of it is worked out before the first file is written.

    Raises:
        BadFile: a file cannot be read or understood; nothing was written.
        NotWritable: the disk refused a file; it is as it was, and so are those after it.
        ChangedUnderRun: another program kept changing a file.
    """
    return [_write(change) for change in changes(plan)]


def bare_diff(before: str, after: str, name: str) -> str:
    """Return what changes, as lines of a diff without what stands around them: that may be secret."""
    lines = difflib.unified_diff(before.splitlines(keepends=True), after.splitlines(keepends=True), name, name, n=0)
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def read_text(path: Path) -> tuple[Path, str | None]:
    """Return the file behind a path, and its text with its line ends as they are, or None where there is none.

    Raises:
        BadFile: it is no regular file, cannot be read, is not UTF-8, or is a link to nothing.
    """
    file = Path(os.path.realpath(path))
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        if path.is_symlink() and not file.parent.is_dir():
            raise BadFile(path, f"is a link to {file}, whose folder is not there", ADVICE) from None
        return file, None
    except OSError as fault:
        raise BadFile(path, f"cannot be read: {(fault.strerror or str(fault)).lower()}", ADVICE) from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise BadFile(path, "is no regular file", ADVICE)
    with os.fdopen(descriptor, "rb") as opened:
        try:
            return file, opened.read().decode()
        except UnicodeDecodeError as fault:
            raise BadFile(path, f"is not UTF-8 at byte {fault.start}", ADVICE) from None


def _change(edit: Edit) -> Change:
    file, before = read_text(edit.path)
    try:
        after = edit.change(before or "")
    except CannotEdit as fault:
        raise BadFile(edit.path, fault.why, ADVICE) from None
    if not after and before is not None and edit.path.is_symlink():
        return Change(edit, file, before, edit.empty)
    return Change(edit, file, before, after or None)


def _write(change: Change) -> Change:
    """Write one file, or work the change out anew where another program was quicker."""
    for _ in range(_ATTEMPTS):
        if read_text(change.edit.path)[1] != change.before:
            change = _change(change.edit)
            continue
        file = change.file
        with writing(file):
            if change.backup:
                _put(change.backup, change.before or "", file)
            if change.after is None:
                file.unlink(missing_ok=True)
            else:
                file.parent.mkdir(parents=True, exist_ok=True)
                _put(file, change.after, file)
        return change
    raise ChangedUnderRun([str(change.file)])


def _put(file: Path, text: str, like: Path) -> None:
    """Write a file whole, with the mode and the owner of another."""
    known = like.stat() if like.exists() else None
    mode = stat.S_IMODE(known.st_mode) if known else _COMMON if file.suffix == ".md" else _SECRET
    aside = file.with_name(f".{file.name}.{os.getpid()}")
    descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, _SECRET)
    try:
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(text.encode())
            opened.flush()
            os.fchmod(descriptor, mode)
            if known:
                with contextlib.suppress(PermissionError):  # who may not give it away keeps it
                    os.fchown(descriptor, known.st_uid, known.st_gid)
            os.fsync(descriptor)
        aside.replace(file)
    finally:
        aside.unlink(missing_ok=True)
    sync_folder(file.parent)
