"""Which living git process could hold a repository's locks: asked of /proc, else of lsof."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

PROC: Final = Path("/proc")

# They live long (in a pager, beside an editor) and take no lock; one that has a lock file open counts all the same.
_READERS: Final = frozenset({
    "blame", "cat-file", "credential-cache--daemon", "daemon", "diff", "fsmonitor--daemon", "grep", "help", "log",
    "rev-list", "shortlog", "show",
})  # fmt: skip
_WITH_VALUE: Final = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env"})
_LSOF_SECONDS: Final = 20


class Doubt:
    """Nobody can be asked: the processes of this machine, or those of the lock's owner, are not ours to see."""


def holder_of(places: Sequence[Path], locks: Sequence[Path], proc: Path = PROC) -> str | Doubt | None:
    """Return who could hold the locks, in words, or None where no living process could, or that it is in doubt.

    A git process counts when it works in one of the places, or was told one of them; any process does that has a lock
    file open.

    Args:
        places: the folders of the repository, links resolved.
        locks: its lock files.
        proc: where the kernel shows its processes.
    """
    if _owned_by_others(locks):
        return Doubt()
    if (proc / "self" / "cwd").exists():
        return _from_proc(places, locks, proc)
    return _from_lsof(places, locks)


def _owned_by_others(locks: Iterable[Path]) -> bool:
    """Whether a lock belongs to another user, whose processes need not be visible to this one."""
    user = os.geteuid()
    for lock in locks:
        try:
            if user and lock.lstat().st_uid != user:
                return True
        except FileNotFoundError:
            continue
    return False


def _from_proc(places: Sequence[Path], locks: Sequence[Path], proc: Path) -> str | None:
    names = {os.path.realpath(lock) for lock in locks}
    for process in proc.iterdir():
        if not process.name.isdecimal() or int(process.name) == os.getpid():
            continue
        try:
            words = [os.fsdecode(word) for word in (process / "cmdline").read_bytes().split(b"\0")]
            if words == [""]:
                continue  # it has ended, and nobody has asked how
            if _has_open(process, names) or (_is_writing_git(process, words) and _works_in(process, words, places)):
                return f"process {process.name} (`{_called(words)}`)"
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has ended
    return None


def _has_open(process: Path, names: set[str]) -> bool:
    try:
        return any(_link(descriptor) in names for descriptor in (process / "fd").iterdir())
    except PermissionError:
        return False


def _link(path: Path) -> str:
    try:
        return str(path.readlink())
    except OSError:
        return ""


def _is_writing_git(process: Path, words: Sequence[str]) -> bool:
    name = (process / "comm").read_text(errors="replace").strip()
    return name.startswith("git") and _subcommand(words) not in _READERS


def _called(words: Sequence[str]) -> str:
    name = Path(words[0]).name
    return f"git {_subcommand(words)}".strip() if name == "git" else name


def _subcommand(words: Sequence[str]) -> str:
    rest = iter(words[1:])
    for word in rest:
        if word in _WITH_VALUE:
            next(rest, "")
        elif not word.startswith("-"):
            return word
    return ""


def _works_in(process: Path, words: Sequence[str], places: Sequence[Path]) -> bool:
    """Whether a git process works on the repository; one whose folder cannot be seen might."""
    try:
        folder = str((process / "cwd").readlink())
        told = [*words, *_told_by_environment(process)]
    except PermissionError:
        return process.stat().st_uid == os.geteuid()
    named = [os.path.realpath(os.path.join(folder, word.rpartition("=")[2])) for word in told if "/" in word]  # noqa: PTH118  words are no paths yet
    return any(_inside(path, places) for path in (folder, *named))


def _told_by_environment(process: Path) -> Iterator[str]:
    for pair in (process / "environ").read_bytes().split(b"\0"):
        name, _, value = os.fsdecode(pair).partition("=")
        if name in {"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR"}:
            yield f"./{value}" if not value.startswith("/") else value


def _inside(path: str, places: Iterable[Path]) -> bool:
    return any(Path(path).is_relative_to(place) for place in places)


def _from_lsof(places: Sequence[Path], locks: Sequence[Path]) -> str | Doubt | None:
    """Ask lsof for who has a lock open, and for the folders of all git processes."""
    program = shutil.which("lsof")
    if program is None:
        return Doubt()
    rows = [*_lsof([program, "-F", "pn", "--", *map(str, locks)])]
    if rows:
        return f"process {rows[0][0]}"
    for pid, folder in _lsof([program, "-w", "-a", "-c", "/^git/", "-d", "cwd", "-F", "pn"]):
        if _inside(os.path.realpath(folder), places):
            return f"process {pid} (git)"
    return None


def _lsof(command: list[str]) -> Iterator[tuple[str, str]]:
    told = subprocess.run(command, capture_output=True, check=False, timeout=_LSOF_SECONDS, env={"LC_ALL": "C"})
    pid = ""
    for line in told.stdout.decode(errors="surrogateescape").splitlines():
        if line.startswith("p"):
            pid = line[1:]
        elif line.startswith("n") and int(pid) != os.getpid():
            yield pid, line[1:]
