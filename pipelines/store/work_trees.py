"""Which repository a folder belongs to: work trees and clones of one repository are one project.

A repository is known by the remote that it was cloned from and by its first commit. Its own files tell the remote; git
is asked for the commit, hardened, where it can answer at once.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator


_LONGEST: Final = 1 << 16
_MOST_PACKED: Final = 16 << 20
"""The bytes of the pack indexes of a repository through whose history git goes in a second."""


def repository_of(folder: str) -> tuple[Path, str] | None:
    """Return the main work tree of the repository that a folder is in, and its remote as `remote_in` names it."""
    here = Path(folder)
    for top in (here, *here.parents) if here.is_absolute() else ():
        git = top / ".git"
        if not (git / "HEAD").exists():
            told = _read(git)
            if not told.startswith("gitdir:"):
                continue
            git = top / told.removeprefix("gitdir:").strip()
        shared = _read(git / "commondir").strip()
        common = Path(os.path.normpath(git / shared))
        main = top if not shared else common.parent if common.name.startswith(".") else common
        return main, remote_in(_url_in(_read(common / "config")))
    return None


def _url_in(config: str) -> str:
    """Return the address of the first remote that a repository's settings name, or an empty string."""
    is_remote = False
    for line in config.splitlines():
        key, _, value = line.strip().partition("=")
        if key.startswith("["):
            is_remote = key.startswith('[remote "')
        elif is_remote and key.rstrip() == "url":
            return value.strip().strip('"')
    return ""


def _read(path: Path) -> str:
    try:
        if not path.is_file():
            return ""
        with path.open(errors="replace") as file:
            return file.read(_LONGEST)
    except OSError:
        return ""


def remote_in(url: str) -> str:
    """Return owner and name of the repository that a URL of any form, or a path, leads to: `ada/harbor`."""
    return "/".join(re.split(r"[/:@\\]+", url.strip().rstrip("/").removesuffix(".git"))[-2:])


def keys_of(main: Path | None, remote: str) -> Iterator[str]:
    """Yield what stands for a repository on every machine: its remote, and its first commit.

    Args:
        main: its main work tree, or None where it is not on this disk.
        remote: owner and name, or empty.
    """
    from pipelines.errors import GitFault  # noqa: PLC0415  a session's start asks for the remote alone
    from pipelines.store.git_process import GitCommands  # noqa: PLC0415  as above

    if remote:
        yield remote
    packs = main.glob(".git/objects/pack/*.idx") if main else ()
    if main and sum(pack.stat().st_size for pack in packs) < _MOST_PACKED:
        git = GitCommands()
        git.root = main
        try:
            yield min(git.run("rev-list", "--max-parents=0", "HEAD").decode().split())
        except (GitFault, OSError, ValueError):  # it has no commit, or is somebody else's
            return
