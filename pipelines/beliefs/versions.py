"""What git tells of one item: every commit that changed its line, wherever that stood, with the line before and after.

One git process looks through the whole history; documents alone are searched, never logs. Paths are those of the disk.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Final

from pipelines.store.item import parse_item
from pipelines.store.layout import BRIEFING, FOLDERS, REVIEW, USER, kind_of
from pipelines.store.user_layout import names_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pipelines.store.git import Git
    from pipelines.store.item import Item
    from pipelines.store.user_layout import Names

DOCUMENTS: Final = (BRIEFING, USER, REVIEW, *(f"{folder}/*.md" for folder in FOLDERS))
_TRAILERS: Final = ("Run-Id", "Undoes", "Extractor")
_FORMAT: Final = "%x00" + "%x1f".join(
    ["%H", "%cI", *(f"%(trailers:key={key},valueonly,separator=%x20)" for key in _TRAILERS), "%an", "%s"]
)
_FIELDS: Final = 4 + len(_TRAILERS)
_MARK: Final = b"\0"
_OWNER: Final = "owner"


@dataclass(frozen=True, slots=True)
class Author:
    """Who made a commit.

    Args:
        name: the commit's author.
        run: the run's id, or empty for a commit that no run made.
        undoes: the run that it takes back, or empty.
        reader: who read the logs for it, or empty.
    """

    name: str
    run: str = ""
    undoes: str = ""
    reader: str = ""

    @property
    def is_person(self) -> bool:
        """Whether a person did it: with an editor, or with a verb such as `curate add` or `curate undo`."""
        return not self.run or self.reader == _OWNER or bool(self.undoes)


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit that changed an item's line.

    Args:
        id: the commit's id.
        when: when it was made, ISO 8601.
        subject: the first line of its message.
        author: who made it.
        removed: (path, item) of each line of the item that it took out.
        added: (path, item) of each line of the item that it put in.
        unnumbered: the items without an id of the lines that it took out.
    """

    id: str
    when: str
    subject: str
    author: Author
    removed: tuple[tuple[str, Item], ...]
    added: tuple[tuple[str, Item], ...]
    unnumbered: tuple[Item, ...] = ()


def commits_of(git: Git, ident: str) -> list[Commit]:
    """Return the commits that changed an item's line, oldest first; those that only name it elsewhere are left out."""
    if git.head() is None:
        return []
    names = names_of(git.root)
    told = git.rows(
        "log", f"--format={_FORMAT}", f"-G{ident}", "--text", "--patch", "--unified=0", "--no-color", "--no-ext-diff",
        "--no-textconv", "--no-renames", "--relative", "--", *(DOCUMENTS if names is None else names.pathspecs),
    )  # fmt: skip
    found = [_commit(part, ident, names) for part in _parts(told)]
    return [one for one in reversed(found) if one.removed or one.added]


def _parts(told: Iterable[bytes]) -> Iterator[Iterator[bytes]]:
    """Yield the head of each commit and the lines of its patch; the mark between two begins no line of a patch."""
    heads = 0

    def number(row: bytes) -> int:
        nonlocal heads
        heads += row.startswith(_MARK)
        return heads

    for _, part in groupby(told, number):
        yield part


def _commit(patch: Iterator[bytes], ident: str, names: Names | None) -> Commit:
    fields = next(patch).removeprefix(_MARK).decode(errors="replace").split("\x1f", _FIELDS - 1)
    commit, when, run, undoes, reader, name, subject = fields
    removed: list[tuple[str, Item]] = []
    added: list[tuple[str, Item]] = []
    unnumbered: list[Item] = []
    for path, sign, line in _lines(patch):
        item = parse_item(line) if names is None or _holds_items(path, names) else None
        if item and item.id == ident:
            (removed if sign == "-" else added).append((path, item))
        elif item and not item.id and sign == "-":
            unnumbered.append(item)
    author = Author(name, run.strip(), undoes.strip(), reader.strip())
    return Commit(commit, when, subject, author, tuple(removed), tuple(added), tuple(unnumbered))


def _holds_items(path: str, names: Names) -> bool:
    """Whether a file at which git was told to look can hold items; one that played a part once, and lost it, could."""
    own = names.canonical(path)
    return path.endswith(".md") and (own is None or kind_of(own) is not None)


def _lines(patch: Iterable[bytes]) -> Iterator[tuple[str, str, str]]:
    """Yield path, sign and text of each line that a patch takes out or puts in."""
    paths, heading = {"-": "", "+": ""}, True
    for raw in patch:
        if raw.startswith(b"diff --git "):
            heading = True
        elif heading and raw.startswith((b"--- a/", b"+++ b/")):
            paths[chr(raw[0])] = os.fsdecode(raw[6:]).rstrip("\t")
        elif raw.startswith(b"@@ "):
            heading = False
        elif not heading and raw[:1] in {b"-", b"+"}:
            sign = chr(raw[0])
            yield paths[sign], sign, raw[1:].decode(errors="replace")
