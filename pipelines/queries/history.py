"""The history of one item: every wording and state it had, with when, by which commit, and who changed it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from pipelines.queries.item_graph import beliefs_of
from pipelines.store.days import read_days
from pipelines.store.files import read_bytes
from pipelines.store.item import parse_item
from pipelines.store.layout import BRIEFING, FOLDERS, REVIEW, TOMBSTONES, USER, kind_of
from pipelines.store.state import Reason, read_tombstones
from pipelines.store.user_layout import names_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from pipelines.queries.item_graph import Holding
    from pipelines.store.days import Days
    from pipelines.store.git import Git
    from pipelines.store.item import Item
    from pipelines.store.state import Tombstone
    from pipelines.store.user_layout import Names


# ---------------------------------------- what git tells of one item
# every commit that changed its line, wherever that stood, with the line before and after.
#
# One git process looks through the whole history; documents alone are searched, never logs. Paths are those of the
# disk.


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


@dataclass(frozen=True, slots=True)
class Version:
    """An item as one commit left it.

    Args:
        when: when, ISO 8601; empty for what is not committed yet.
        day: the memory's day of that moment, or empty.
        commit: the commit's id, or empty.
        subject: the first line of its message.
        author: who made it.
        path: the document in which it stood from then on, or empty where it stood nowhere.
        item: what it said, or None where it stood nowhere.
        changed: what was different of it, in a few words each.
    """

    when: str
    day: str
    commit: str
    subject: str
    author: Author
    path: str
    item: Item | None
    changed: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {
            "date": self.when or None,
            "day": self.day or None,
            "commit": self.commit or None,
            "subject": self.subject or None,
            "by": "person" if self.author.is_person else "run",
            "author": self.author.name or None,
            "run": self.author.run or None,
            "document": self.path or None,
            "type": self.item.type if self.item else None,
            "text": self.item.text if self.item else None,
            "status": self.item.status if self.item else None,
            "changed": list(self.changed),
        }


@dataclass(frozen=True, slots=True)
class History:
    """The history of one item.

    Args:
        id: its id.
        versions: oldest first.
        holding: where it stands now, or None.
        buried: its tombstone, where it was deleted, undone or forgotten, or None.
    """

    id: str
    versions: tuple[Version, ...]
    holding: Holding | None
    buried: Tombstone | None

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON has it; the words of what was forgotten are left out."""
        return {
            "id": self.id,
            "stands": self.holding.place if self.holding else None,
            "gone": {"day": self.buried.day, "reason": self.buried.reason} if self.buried else None,
            "versions": [self._veiled(one.to_json()) for one in self.versions],
        }

    @property
    def forgotten(self) -> bool:
        """Whether a person had it forgotten, so that its words are not to be shown."""
        return self.buried is not None and self.buried.reason is Reason.FORGOTTEN

    def _veiled(self, told: dict[str, Any]) -> dict[str, Any]:
        from pipelines.store.secrets import veil  # noqa: PLC0415  git may keep what was redacted since

        return told | {"text": veil(told["text"]) if told["text"] and not self.forgotten else None}


def history_of(root: Path, git: Git, prefix: str) -> History:
    """Return the history of the item whose id begins so, also of one that stands nowhere any more.

    Raises:
        UnknownItem: there is none, or more than one.
    """
    beliefs = beliefs_of(root)
    stones = {stone.id: stone for stone in sorted(read_tombstones(read_bytes(root, TOMBSTONES)))}
    ident = beliefs.named(prefix, stones)
    return history_in(git, read_days(root), ident, beliefs.by_id.get(ident), stones.get(ident))


def history_in(git: Git, days: Days, ident: str, holding: Holding | None, buried: Tombstone | None = None) -> History:
    """Return the history of an item.

    Args:
        git: the memory's git.
        days: how the memory cuts its days.
        ident: the item's id.
        holding: where it stands now, or None.
        buried: its tombstone, or None.
    """
    return History(ident, tuple(_versions(commits_of(git, ident), days, holding)), holding, buried)


def _versions(commits: list[Commit], days: Days, holding: Holding | None) -> Iterator[Version]:
    places: dict[str, Item] = {}
    path, item = "", None
    for one in commits:
        for gone, _ in one.removed:
            places.pop(gone, None)
        places |= dict(one.added)
        was = path, item
        path, item = next(iter(sorted(places.items(), key=lambda place: place[0])), ("", None))
        if changed := tuple(_changes(was, (path, item), one)):
            day = days.of(datetime.fromisoformat(one.when))
            yield Version(one.when, day, one.id, one.subject, one.author, path, item, changed)
    now = (holding.shown, holding.item) if holding else ("", None)
    if (commits or holding) and now != (path, item):
        changed = tuple(_changes((path, item), now, None))
        yield Version("", "", "", "", Author(""), now[0], now[1], changed)


def _changes(was: tuple[str, Item | None], now: tuple[str, Item | None], commit: Commit | None) -> Iterator[str]:
    """Yield what is different of an item, in a few words each."""
    before, after = was[1], now[1]
    if before is None and after is not None:
        by_hand = commit and any((one.type, one.text) == (after.type, after.text) for one in commit.unnumbered)
        yield "numbered: a person had written it by hand" if by_hand else "filed"
    elif before is not None and after is None:
        yield "taken out"
    elif before is not None and after is not None:
        if was[0] != now[0]:
            yield f"moved from {was[0]}"
        yield from _differences(before, after)


def _differences(before: Item, after: Item) -> Iterator[str]:
    for name in ("type", "status", "trust", "confidence"):
        old, new = getattr(before, name), getattr(after, name)
        if old != new:
            yield f"{'' if name == 'status' else f'{name} '}{old} to {new}"
    if before.text != after.text:
        yield "reworded"
    for name, told in (("superseded_by", "superseded by"), ("merged_into", "merged into"), ("until", "until")):
        if (new := getattr(after, name)) != getattr(before, name):
            yield f"{told} {new}" if new else f"no longer {told} {getattr(before, name)}"
    if before.evidence != after.evidence or before.confirmed != after.confirmed:
        yield "confirmed" if after.seen >= before.seen else "evidence changed"
    if before.links != after.links:
        yield "links changed"
    if before.pinned != after.pinned:
        yield "pinned" if after.pinned else "no longer pinned"
    if (before.since, before.by, before.extra) != (after.since, after.by, after.extra):
        yield "taken over by a person" if before.by and not after.by else "written otherwise"
