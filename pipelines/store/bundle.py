"""A whole memory in one file: a zip of git's own bundle with the history, and of the current files.

It includes uncommitted edits and transcripts, which git does not track. It excludes derived files and hidden ones, such
as hooks and other programs' settings. Nothing is compressed, so unpacking never yields more than the file's size.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
from typing import TYPE_CHECKING, BinaryIO
from zipfile import BadZipFile, ZipFile, ZipInfo

from pipelines.errors import BadFile, DamagedGit, GitFault
from pipelines.store.files import list_files, open_regular, writing
from pipelines.store.git import Git
from pipelines.store.journal import recover
from pipelines.store.layout import SESSIONS, SETTINGS
from pipelines.store.lock import private_folder, run_lock
from pipelines.store.template import make_missing_folders, own_files

if TYPE_CHECKING:
    from pathlib import Path


_HISTORY = "history.bundle"
_FILES = "memory/"
_NAME = re.compile(rf"{_HISTORY}|{_FILES}(?:[^./][^/]*/)*(?:[^./][^/]*|\.gitignore|\.gitattributes)", re.DOTALL)
"""The names in a bundle: none hidden, none outside."""
_COMMENT = re.compile(rb"memcurate bundle 1 sha1 refs/heads/(\S+)")
_REF = re.compile(rb"^([0-9a-f]{40}) (refs/(?:heads|tags)/\S+)$", re.MULTILINE)
_FAULTS = (BadZipFile, DamagedGit, EOFError, NotImplementedError, OSError, OverflowError, ValueError)
"""What reading a file raises if it is not a bundle, or is damaged."""
_OTHER = "Name one that `curate export` wrote."


def write_bundle(root: Path, out: BinaryIO) -> int:
    """Write a memory's bundle, and return its number of files. An interrupted run is completed first.

    Raises:
        GitFault: its history is incomplete, or git refuses.
        BadFile: a file cannot be read, or its name is not UTF-8.
        LockHeld: a run is in progress.
    """
    git = Git(root)
    with run_lock(root, "curate export"), ZipFile(out, "w") as archive:
        git.check()
        recover(git)
        if (git.repository.common_dir / "shallow").exists():
            advice = "Complete a shallow history with `git fetch --unshallow`."
            raise GitFault(f"{root} has no complete history, so it cannot be bundled.", advice)
        with tempfile.TemporaryDirectory(dir=private_folder(root)) as aside:
            git.run("bundle", "create", "--quiet", f"{aside}/{_HISTORY}", "HEAD", "--branches", "--tags")
            archive.write(f"{aside}/{_HISTORY}", _HISTORY)
        for path in (*own_files(root, (".gitattributes", ".gitignore")), *list_files(root, "", "")):
            if (opened := open_regular(root, path)) is None:
                continue
            with opened as file:
                about = ZipInfo(_FILES + path)
                about.external_attr = os.fstat(file.fileno()).st_mode << 16
                try:
                    member = archive.open(about, "w", force_zip64=True)
                except UnicodeEncodeError:
                    raise BadFile(path, "has a name that is not UTF-8", "Rename it.") from None
                with member:
                    shutil.copyfileobj(file, member)
        # Written last: an interrupted file is not a bundle.
        archive.comment = b"memcurate bundle 1 sha1 %b" % os.fsencode(git.repository.branch)
        return len(archive.namelist()) - 1


def restore_bundle(file: Path, root: Path) -> int:
    """Restore the memory in a bundle, and return its number of files.

    Everything is checked before the folder becomes a memory; a rejected bundle leaves nothing behind.

    Args:
        file: the bundle.
        root: the target: a folder that does not exist yet, or is empty.

    Raises:
        BadFile: the folder is not empty; or the file is not a bundle, is truncated, or has invalid content.
        NotWritable: the disk refuses.
    """
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise BadFile(root, "already exists", "Name a new folder, or an empty one: nothing is overwritten.")
    stage = root / ".restoring"
    try:
        with ZipFile(file) as archive:
            members, branch = _checked(archive, file.stat().st_size)
            with writing(root):
                stage.mkdir(mode=0o700, parents=True)
                for one in members:
                    path = stage / (".history" if one.filename == _HISTORY else one.filename.removeprefix(_FILES))
                    path.parent.mkdir(parents=True, exist_ok=True)
                    mode = 0o600 | (one.external_attr >> 16 & 0o755)
                    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as out:
                        shutil.copyfileobj(archive.open(one), out)
                _restore_history(stage, branch)
                os.sync()
                # A folder with curate.toml is a memory, so move that last.
                for inner in sorted(stage.iterdir(), key=(stage / SETTINGS).__eq__):
                    inner.rename(root / inner.name)
    except _FAULTS as fault:
        why = (
            fault.args[0].rstrip(".") if isinstance(fault, DamagedGit) else getattr(fault, "strerror", "") or str(fault)
        )
        raise BadFile(file, f"cannot be restored, and nothing was: {why or 'it is truncated'}", _OTHER) from None
    finally:
        shutil.rmtree(stage, ignore_errors=True)
    return len(members) - 1


def _checked(archive: ZipFile, room: int) -> tuple[list[ZipInfo], str]:
    """Return the members of a bundle, and its branch.

    Raises:
        BadZipFile: it has invalid content.
    """
    members, comment = archive.infolist(), _COMMENT.fullmatch(archive.comment)
    if comment is None or not {_HISTORY, _FILES + SETTINGS} <= {*archive.namelist()}:
        raise BadZipFile("it is not a bundle of a memory")
    for one in members:
        room -= one.file_size
        is_file = stat.S_IFMT(one.external_attr >> 16) in {0, stat.S_IFREG}
        if not (is_file and _NAME.fullmatch(one.filename)) or one.flag_bits & 1 or one.compress_type or room < 0:
            raise BadZipFile(f"it contains {one.filename} in a form that is not allowed")
    return members, os.fsdecode(comment[1])


def _restore_history(stage: Path, branch: str) -> None:
    """Create the repository beside the files without a checkout, so that no attribute or filter applies."""
    git, history = Git(stage), stage / ".history"
    git.init(branch)
    refs = _REF.findall(git.run("bundle", "unbundle", str(history)))
    git.run("update-ref", "--stdin", data=b"".join(b"create %b %b\n" % (name, ident) for ident, name in refs))
    git.run("fsck", "--strict", "--no-dangling", "--no-progress")
    git.check()
    git.run("read-tree", "HEAD")
    history.unlink()
    make_missing_folders(stage)
    if (sessions := stage / SESSIONS).is_dir():
        sessions.chmod(0o700)
