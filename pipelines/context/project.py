"""Which project a session is about: the one it names, or the one whose name its working directory has."""

from __future__ import annotations

import os


def project_path(root: str, named: str, folder: str, folders: tuple[str, ...] = ("Projects/",)) -> tuple[str, str]:
    """Return the path of a project's document, or an empty string, and a sentence where the one named is not there.

    Args:
        root: the memory.
        named: what the session asks for: a title or a file's name, in any case; empty for none.
        folder: the session's working directory: its own name is looked for, then that of each folder above it.
        folders: where the documents of projects stand, each with `/` at its end; of two alike the first one's counts.
    """
    paths = [f"{one}{name}" for one in reversed(folders) for name in _documents(f"{root}/{one}")]
    there = {_plain(_name(path)): path for path in paths}
    if named:
        bare = next((named.removeprefix(one) for one in (*folders, "Projects/") if named.startswith(one)), named)
        found = there.get(_plain(bare.removesuffix(".md"))) or _by_title(root, there, named)
        known = ", ".join(sorted(map(_name, there.values()))[:20]) or "none yet"
        return found, "" if found else f"There is no project {named}; there are: {known}."
    if not folder:
        return "", ""
    inside = f"{os.path.realpath(folder)}/".startswith(f"{os.path.realpath(root)}/")
    while folder and not inside and folder != os.path.dirname(folder):
        if path := there.get(_plain(os.path.basename(folder))):
            return path, ""
        folder = os.path.dirname(folder)
    return "", ""


def _name(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".md")


def _documents(folder: str) -> list[str]:
    try:
        names = [name for name in os.listdir(folder) if name.endswith(".md") and not name.startswith(".")]
    except OSError:
        return []
    return [name for name in names if _can_be_told(name)]


def _can_be_told(name: str) -> bool:
    """Return whether a name can stand in a line; a document of another one is left alone by runs, too."""
    if name.isascii() and name.isprintable():
        return True
    from pipelines.text import is_plain_line

    return is_plain_line(name)


def _by_title(root: str, there: dict[str, str], named: str) -> str:
    """Return the path of the project with that title; files are read only where no file has the name."""
    from pipelines.context.reading import read_head

    wanted = _plain(named)
    for path in there.values():
        try:
            head = read_head(root, path, 2048)
        except OSError:
            continue
        lines = head.split("\n")
        titles = [line.partition(" ")[2] for line in lines if line.startswith(("title: ", "# "))]
        if any(_plain(title) == wanted for title in titles):
            return path
    return ""


def _plain(name: str) -> str:
    """Return a name as files are named: lower case, a dash for every run of other characters."""
    low = name.strip().casefold()
    return "-".join("".join([one if one.isalnum() else " " for one in low]).split()) or low
