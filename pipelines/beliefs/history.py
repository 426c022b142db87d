"""The history of one item: every wording and state it had, with when, by which commit, and who changed it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pipelines.beliefs.holdings import beliefs_of
from pipelines.beliefs.versions import Author, commits_of
from pipelines.store.days import read_days
from pipelines.store.files import read_bytes
from pipelines.store.layout import TOMBSTONES
from pipelines.store.state import Reason, read_tombstones

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pipelines.beliefs.holdings import Holding
    from pipelines.beliefs.versions import Commit
    from pipelines.store.days import Days
    from pipelines.store.git import Git
    from pipelines.store.item import Item
    from pipelines.store.state import Tombstone


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
