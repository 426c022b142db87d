"""Find the repository that a folder belongs to: work trees and clones of one repository are one project.

A repository is identified by the remote it was cloned from, which is read from its files. The start of a session waits
for this, so no git is asked, and nothing heavy is imported.
"""

from __future__ import annotations

import os

_LONGEST = 1 << 16
_NOWHERE = frozenset("tmp temp src code desktop documents downloads workspace".split())


def repository_of(folder: str) -> tuple[str, str] | None:
    """Return the main work tree of a folder's repository, and its remote as `remote_in` names it."""
    above = "" if os.path.isabs(folder) else folder
    while folder != above:
        above, git = folder, f"{folder}/.git"
        if not os.path.exists(f"{git}/HEAD"):
            pointer = _read(git)
            if not pointer.startswith("gitdir:"):
                folder = os.path.dirname(folder)
                continue
            git = os.path.join(folder, pointer.removeprefix("gitdir:").strip())
        shared = _read(f"{git}/commondir").strip()
        common = os.path.normpath(os.path.join(git, shared))
        name = os.path.basename(common)
        main = folder if not shared else os.path.dirname(common) if name.startswith(".") else common
        return main, remote_in(_url_in(_read(f"{common}/config")))
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


def _read(path: str) -> str:
    try:
        if not os.path.isfile(path):
            return ""
        with open(path, errors="replace") as file:
            return file.read(_LONGEST)
    except OSError:
        return ""


def remote_in(url: str) -> str:
    """Return owner and name of the repository at a URL of any form, or at a path: `ada/harbor`."""
    for mark in ":@\\":
        url = url.replace(mark, "/")
    return "/".join([part for part in url.strip().rstrip("/").removesuffix(".git").split("/") if part][-2:])


def as_project(name: str) -> str:
    """Return a folder's name as a project name; empty for generic names such as `src`."""
    return "" if name.casefold() in _NOWHERE else name.replace("[", "(").replace("]", ")")[:80].strip()


def project_of_repository(folder: str, root: str) -> tuple[str, str]:
    """Return the main work tree of a folder's repository, and the project that it begins, or two empty strings.

    Args:
        folder: a folder.
        root: the memory, whose own repository, or one around it, is no project of it.
    """
    main, remote = repository_of(folder) or ("", "")
    if not main or f"{os.path.realpath(root)}/".startswith(f"{os.path.realpath(main)}/"):
        return "", ""
    return main, as_project(remote.rpartition("/")[2] or os.path.basename(main))
