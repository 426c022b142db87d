"""Find the repository that a folder belongs to: work trees and clones of one repository are one project.

A repository is identified by the remote it was cloned from and by its first commit. The remote is read from its files;
git is asked for the commit, hardened, if it can answer quickly.
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
"""Pack index bytes of a repository whose history git can walk within a second."""


def repository_of(folder: str) -> tuple[Path, str] | None:
    """Return the main work tree of a folder's repository, and its remote as `remote_in` names it."""
    here = Path(folder)
    for top in (here, *here.parents) if here.is_absolute() else ():
        git = top / ".git"
        if not (git / "HEAD").exists():
            pointer = _read(git)
            if not pointer.startswith("gitdir:"):
                continue
            git = top / pointer.removeprefix("gitdir:").strip()
        shared = _read(git / "commondir").strip()
        common = Path(os.path.normpath(git / shared))
        main = top if not shared else common.parent if common.name.startswith(".") else common
        return main, remote_in(_url_in(_read(common / "config")))
    return None


def _url_in(config: str) -> str:
    """Return the URL of the first remote in a git config, or an empty string."""
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
    """Return owner and name of the repository at a URL of any form, or at a path: `ada/harbor`."""
    return "/".join(re.split(r"[/:@\\]+", url.strip().rstrip("/").removesuffix(".git"))[-2:])


def keys_of(main: Path | None, remote: str) -> Iterator[str]:
    """Yield what identifies a repository on every machine: its remote and its first commit.

    Args:
        main: its main work tree, or None if it is not on this disk.
        remote: owner and name, or empty.
    """
    from pipelines.errors import GitFault  # noqa: PLC0415  the start of a session needs only the remote
    from pipelines.store.git_process import GitCommands  # noqa: PLC0415  as above

    if remote:
        yield remote
    packs = main.glob(".git/objects/pack/*.idx") if main else ()
    if main and sum(pack.stat().st_size for pack in packs) < _MOST_PACKED:
        git = GitCommands()
        git.root = main
        try:
            yield min(git.run("rev-list", "--max-parents=0", "HEAD").decode().split())
        except (GitFault, OSError, ValueError):  # no commit yet, or another user's repository
            return
