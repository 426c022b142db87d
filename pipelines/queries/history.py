"""The history of one item: every wording and status, with the time, the commit and the author of each change.

Read from the commits that changed the item's line, in whatever document it was, never from the logs'.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from pipelines.store.days import read_days
from pipelines.store.files import read_bytes
from pipelines.store.layout import TOMBSTONES
from pipelines.store.state import Reason, Tombstone, read_tombstones
from pipelines.store.template import named_item
from pipelines.store.trees import document_versions

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pipelines.queries.item_graph import Beliefs, Holding
    from pipelines.store.document import Document
    from pipelines.store.git import Git
    from pipelines.store.item import Item

    Place = tuple[str, Item | None]


_TRAILERS = ("Run-Id", "Undoes", "Extractor")
_FORMAT = "%x1f".join(
    ["%H", "%cI", *(f"%(trailers:key={key},valueonly,separator=%x20)" for key in _TRAILERS), "%an", "%s"]
)
_FIELDS = 4 + len(_TRAILERS)
_OWNER = "owner"


@dataclass(frozen=True, slots=True)
class Version:
    """An item as one commit left it, or an edit that is not committed yet.

    Args:
        path: the document that held it from then on, or empty if none did.
        item: the item, or None if it was gone.
        changed: what changed, in a few words each.
        commit: the commit's id; like the next five, empty for an edit that is not committed.
        when: when it was made, ISO 8601.
        day: the memory's day at that moment.
        run: the run's id, or empty if no run made the commit.
        author: the commit's author.
        subject: the first line of its message.
        is_person: whether a person made the change, with an editor or with a verb such as `curate add`.
    """

    path: str
    item: Item | None
    changed: list[str]
    commit: str = ""
    when: str = ""
    day: str = ""
    run: str = ""
    author: str = ""
    subject: str = ""
    is_person: bool = True

    def to_json(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {
            "date": self.when or None,
            "day": self.day or None,
            "commit": self.commit or None,
            "subject": self.subject or None,
            "by": "person" if self.is_person else "run",
            "author": self.author or None,
            "run": self.run or None,
            "document": self.path or None,
            "type": self.item.type if self.item else None,
            "text": self.item.text if self.item else None,
            "status": self.item.status if self.item else None,
            "reason": (self.item.reason if self.item else "") or None,
            "changed": self.changed,
        }


@dataclass(frozen=True, slots=True)
class History:
    """The history of one item.

    Args:
        id: its id.
        versions: oldest first.
        holding: where it is now, or None.
        buried: its tombstone if it was deleted, undone or forgotten, or None.
    """

    id: str
    versions: list[Version]
    holding: Holding | None
    buried: Tombstone | None

    @property
    def end(self) -> tuple[str, str]:
        """Why it is gone, and since which day; empty if it is not."""
        return (self.buried.reason, self.buried.day) if self.buried else ("", "")

    @property
    def forgotten(self) -> bool:
        """Whether a person had it forgotten, so that its words must not be shown."""
        return self.buried is not None and self.buried.reason is Reason.FORGOTTEN

    def to_json(self) -> dict[str, Any]:
        """Return it for JSON, without the words of a forgotten item."""
        from pipelines.store.secrets.redact import without_secrets  # noqa: PLC0415  git may keep what was redacted since

        versions = [one.to_json() for one in self.versions]
        for told in versions:
            for key in ("text", "reason"):
                told[key] = without_secrets(told[key]) if told[key] and not self.forgotten else None
        return {
            "id": self.id,
            "stands": self.holding.place if self.holding else None,
            "gone": {"day": self.buried.day, "reason": self.buried.reason} if self.buried else None,
            "versions": versions,
        }


def history_of(root: Path, git: Git, prefix: str, beliefs: Beliefs) -> History:
    """Return the history of the item whose id begins with `prefix`, even if it is gone; `beliefs` are all items now.

    Raises:
        UnknownItem: there is none, or more than one.
    """
    stones = {stone.id: stone for stone in sorted(read_tombstones(read_bytes(root, TOMBSTONES)))}
    ident = named_item(prefix, beliefs.by_id, stones)
    holding = beliefs.by_id.get(ident)
    return History(ident, list(_versions_of(root, git, ident, holding)), holding, stones.get(ident))


def _versions_of(root: Path, git: Git, ident: str, holding: Holding | None) -> Iterator[Version]:
    """Yield the versions of an item, oldest first; commits that only mention its id are none.

    Args:
        root: the memory.
        git: its repository.
        ident: the item's id.
        holding: where it is now, or None.
    """
    found = document_versions(git, _FORMAT, f"-G{ident}", "--text") if git.head() else ()
    commits = [
        (head, [(after.path, _held(before, ident), _held(after, ident)) for _, before, after in versions])
        for head, versions in groupby(found, key=itemgetter(0))
    ]
    days = read_days(root)
    places: dict[str, Item] = {}
    was: Place = ("", None)
    for head, sides in reversed(commits):
        changed_sides = [(path, new) for path, old, new in sides if old != new]
        for path, _ in changed_sides:
            places.pop(path, None)
        places |= {path: new for path, new in changed_sides if new}
        now: Place = min(places.items(), key=itemgetter(0), default=("", None))
        if changed := list(_changes(was, now)):
            commit, when, run, undoes, reader, author, subject = head.split("\x1f", _FIELDS - 1)
            day, run = days.of(datetime.fromisoformat(when)), run.strip()
            is_person = not run or reader.strip() == _OWNER or bool(undoes.strip())
            yield Version(*now, changed, commit, when, day, run, author, subject, is_person)
        was = now
    now = (holding.path, holding.item) if holding else ("", None)
    if now != was:
        yield Version(now[0], now[1], list(_changes(was, now)))


def _held(document: Document, ident: str) -> Item | None:
    return document.held.get(ident, ("", None))[1]


def _changes(was: Place, now: Place) -> Iterator[str]:
    """Yield what changed, in a few words each."""
    before, after = was[1], now[1]
    if after is None:
        yield from ["removed"] if before else []
    elif before is None:
        yield "filed"
    else:
        if was[0] != now[0]:
            yield f"moved from {was[0]}"
        yield from differences(before, after)


_OTHERS = ("since", "by", "links", "source", "person", "on", "quiet", "perhaps", "closed_by", "extra")


def differences(before: Item, after: Item) -> Iterator[str]:
    """Yield what changed about an item, in a few words each."""
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
    if before.pinned != after.pinned:
        yield "pinned" if after.pinned else "no longer pinned"
    if any(getattr(before, name) != getattr(after, name) for name in _OTHERS):
        yield "taken over by a person" if before.by and not after.by else "metadata changed"
