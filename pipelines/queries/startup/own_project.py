"""The project of a working directory: what a session that starts there is shown, and where what is logged belongs."""

from __future__ import annotations

import os

from pipelines.queries.startup.kept import was_asked_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


_HEAD = 4096
"""As many characters of a page as its front matter is looked for in: a line that is logged waits for this."""


def project_of_folder(root: str, paths: Iterable[str], folder: str) -> str:
    """Return the path of the project's document that a working directory belongs to, or an empty string.

    The folder's own name is looked for, then that of each folder above it, then those of its repository, which may be
    a work tree or a clone of another name. The memory's own folder belongs to none, and neither does the home folder.

    Args:
        root: the memory.
        paths: its documents.
        folder: the working directory, or an empty string.
    """
    there = {_key(page_name(path)): path for path in sorted(paths) if path.startswith("Projects/")}
    if not there or f"{os.path.realpath(folder)}/".startswith(f"{os.path.realpath(root)}/"):
        return ""
    names = list[str]()
    for name in map(_key, _names(folder)):
        if path := there.get(name):
            return path
        names.append(name)
    former = dict[str, str]()  # the names that projects had before they were renamed or merged
    for path in there.values():
        if not os.path.isfile(f"{root}/{path}"):
            continue
        with open(f"{root}/{path}", encoding="utf-8", errors="replace") as file:
            head = file.read(_HEAD)
        if head.startswith("---") and "\naliases:" in head:
            from pipelines.store.document import document_at
            from pipelines.store.template import aliases_of

            former |= {_key(name): path for name in aliases_of(document_at(path, head))}
    return next((former[name] for name in names if name in former), "")


def _names(folder: str) -> Iterator[str]:
    """Yield the names of a folder, of those above it, and of its repository."""
    here, top, home = folder.rstrip("/"), "", os.path.expanduser("~")
    while here != home and (name := os.path.basename(here)):
        yield name
        top = top or (here if os.path.lexists(f"{here}/.git") else "")
        here = os.path.dirname(here)
    if top:
        from pipelines.store.work_trees import repository_of

        yield from (page_name(one) for one in repository_of(top) or ())


def project_of_line(root: str, text: str, named: str) -> str:
    """Return the name of the project that a logged line belongs to: the one named, else the working directory's.

    A line that names a project itself belongs to no other. A path means the page that is there. In a repository without
    a page, where a session was started, the line begins one, as the session does when it is captured.

    Raises:
        UsageFault: no page has that path.
    """
    if "/" in named or named.endswith(".md"):
        from pathlib import Path

        from pipelines.store.snapshot import read_documents
        from pipelines.store.template import named_documents

        return page_name(named_documents(read_documents(Path(root)), named)[0])
    if named.strip() or "[project:" in text.lower():
        return named
    pages = [
        f"{os.path.relpath(above, root)}/{name}"
        for above, _, names in os.walk(f"{root}/Projects")
        for name in names
        if name.endswith(".md") and name.isprintable()
    ]
    folder = working_directory()
    if page := project_of_folder(root, pages, folder):
        return page_name(page)
    from pipelines.store.work_trees import project_of_repository

    main, project = project_of_repository(folder, root)
    return project if project and was_asked_from(root, main) else ""


def working_directory() -> str:
    """Return the working directory, or an empty string where it was deleted."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return ""


def page_name(path: str) -> str:
    """Return the name of a page: that of its file."""
    return path.rpartition("/")[2].removesuffix(".md")


def _key(name: str) -> str:
    """Return a name's slug; of a plain one it is made here, since a line that is logged waits for no import."""
    if name.isascii():
        return "-".join("".join(c if c.isalnum() else " " for c in name.lower()).split())
    from pipelines.store.layout import slug

    return slug(name)
