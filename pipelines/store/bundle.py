"""A whole memory as one file: a zip of git's own bundle, which is the history, and of every file as it stands.

So edits that are not committed and transcripts, which git does not track, are in it. What can be derived is not; nor is
anything hidden, for hooks and the settings of other programs are. Nothing is compressed, so nothing can unpack to more
than the file has bytes.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
from typing import TYPE_CHECKING, BinaryIO, Final
from zipfile import BadZipFile, ZipFile, ZipInfo

from pipelines.errors import BadFile, DamagedGit, GitFault
from pipelines.store.files import writing
from pipelines.store.folders import Below
from pipelines.store.git import Git
from pipelines.store.journal import recover
from pipelines.store.layout import SESSIONS, SETTINGS
from pipelines.store.lock import run_lock
from pipelines.store.template import make_missing_folders
from pipelines.store.user_layout import at

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


_HISTORY: Final = "history.bundle"
_FILES: Final = "memory/"
_NAME: Final = re.compile(rf"{_HISTORY}|{_FILES}(?:[^./][^/]*/)*(?:[^./][^/]*|\.gitignore|\.gitattributes)", re.DOTALL)
"""What a bundle holds: nothing hidden, nothing outside."""
_COMMENT: Final = re.compile(rb"memcurate bundle 1 (sha1|sha256) refs/heads/(\S+)")
_REF: Final = re.compile(rb"^([0-9a-f]{40,64}) (refs/(?:heads|tags)/\S+)$", re.MULTILINE)
_FAULTS: Final = (BadZipFile, DamagedGit, EOFError, NotImplementedError, OSError, OverflowError, ValueError)
"""What comes of a file that is no bundle, or is damaged, while it is read."""
_OTHER: Final = "Name one that `curate export --bundle` wrote."


def write_bundle(root: Path, out: BinaryIO) -> int:
    """Write a memory, and return how many files it has. A run that was cut short is finished first.

    Raises:
        GitFault: the memory is only a part of a repository, or its history is only in part here, or git refuses.
        BadFile: a file cannot be read, or its name cannot be written down.
        LockHeld: a run is at work.
    """
    git = Git(root)
    with run_lock(root, "curate export"), Below(root) as below, ZipFile(out, "w") as archive:
        git.check()
        recover(root, git)
        if git.repository.prefix or (git.repository.common_dir / "shallow").exists():
            advice = "Copy the repository's whole folder; where the history is cut, `git fetch --unshallow` brings it."
            raise GitFault(f"{root} has no whole history of its own, so no bundle can hold it.", advice)
        with archive.open(_HISTORY, "w", force_zip64=True) as member:
            for piece in git.pieces("bundle", "create", "--quiet", "-", "HEAD", "--branches", "--tags"):
                member.write(piece)
        for path in _files(root):
            if (descriptor := below.open(path)) is None:
                continue
            with os.fdopen(descriptor, "rb") as file:
                about = ZipInfo(_FILES + path)
                about.external_attr = os.fstat(descriptor).st_mode << 16
                try:
                    member = archive.open(about, "w", force_zip64=True)
                except UnicodeEncodeError:
                    raise BadFile(path, "has a name that is not UTF-8", "Rename it.") from None
                with member:
                    shutil.copyfileobj(file, member)
        kind = git.run("rev-parse", "--show-object-format").strip()
        # At the end: what stops before, leaves no bundle.
        archive.comment = b"memcurate bundle 1 %b %b" % (kind, os.fsencode(git.repository.branch))
        return len(archive.namelist()) - 1


def _files(root: Path) -> Iterator[str]:
    """Yield every regular file of a memory that belongs in a bundle, by its path on the disk; links are passed over."""

    def refuse(fault: OSError) -> None:
        raise BadFile(fault.filename, f"cannot be listed: {fault.strerror}")

    for folder, inner, names in os.walk(root, onerror=refuse):
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        for place in (f"{folder}/{name}" for name in sorted(names)):
            path = os.path.relpath(place, root)
            if _NAME.fullmatch(_FILES + path) and stat.S_ISREG(os.lstat(place).st_mode):
                yield path


def restore_bundle(file: Path, root: Path) -> int:
    """Make the memory anew that a bundle holds, and return how many files it has.

    All of it is checked before the folder becomes a memory; of a bundle that is refused nothing stays.

    Args:
        file: the bundle.
        root: where the memory shall be: a folder that is not there yet, or is empty.

    Raises:
        BadFile: the folder is not empty; or the file is no bundle, is cut short, or holds what no bundle does.
        NotWritable: the disk refuses.
    """
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise BadFile(root, "is there already", "Name a new folder, or an empty one: nothing is overwritten.")
    stage = root / ".restoring"
    try:
        with ZipFile(file) as archive:
            members, kind, branch = _checked(archive, file.stat().st_size)
            with writing(root):
                stage.mkdir(mode=0o700, parents=True)
                for one in members:
                    _unpack(archive, one, stage)
                _restore_history(stage, kind, branch)
                os.sync()
                # A folder with curate.toml is a memory, so that comes last.
                for inner in sorted(stage.iterdir(), key=(stage / SETTINGS).__eq__):
                    inner.rename(root / inner.name)
    except _FAULTS as fault:
        why = (
            fault.args[0].rstrip(".") if isinstance(fault, DamagedGit) else getattr(fault, "strerror", "") or str(fault)
        )
        raise BadFile(file, f"cannot be restored, and nothing was: {why or 'it is cut short'}", _OTHER) from None
    finally:
        shutil.rmtree(stage, ignore_errors=True)
    return len(members) - 1


def _checked(archive: ZipFile, room: int) -> tuple[list[ZipInfo], str, str]:
    """Return what a bundle holds, curate.toml first, the kind of its ids and its branch.

    Raises:
        BadZipFile: it holds what no bundle does.
    """
    members, comment, first = archive.infolist(), _COMMENT.fullmatch(archive.comment), _FILES + SETTINGS
    if comment is None or not {_HISTORY, first} <= {*archive.namelist()}:
        raise BadZipFile("it is no bundle of a memory")
    for one in members:
        room -= one.file_size
        is_file = stat.S_IFMT(one.external_attr >> 16) in {0, stat.S_IFREG}
        if not (is_file and _NAME.fullmatch(one.filename)) or one.flag_bits & 1 or one.compress_type or room < 0:
            raise BadZipFile(f"it holds {one.filename} in a way that no bundle does")
    return sorted(members, key=lambda one: one.filename != first), comment[1].decode(), os.fsdecode(comment[2])


def _unpack(archive: ZipFile, one: ZipInfo, stage: Path) -> None:
    path = stage / (".history" if one.filename == _HISTORY else one.filename.removeprefix(_FILES))
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 | (one.external_attr >> 16 & 0o755))
    with os.fdopen(descriptor, "wb") as file, archive.open(one) as data:
        shutil.copyfileobj(data, file)


def _restore_history(stage: Path, kind: str, branch: str) -> None:
    """Make the repository beside the files; none of them is checked out, so no attribute and no filter counts."""
    git, history = Git(stage), stage / ".history"
    git.init(branch, kind)
    refs = _REF.findall(git.run("bundle", "unbundle", str(history)))
    git.run("update-ref", "--stdin", data=b"".join(b"create %b %b\n" % (name, ident) for ident, name in refs))
    git.run("fsck", "--strict", "--no-dangling", "--no-progress")
    git.check()
    git.run("read-tree", "HEAD")
    history.unlink()
    make_missing_folders(stage)
    if (sessions := at(stage, SESSIONS)).is_dir():
        sessions.chmod(0o700)
