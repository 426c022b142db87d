"""What is held: every item of a set of documents by its id, with where it stands and who names it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from pipelines.store.item import Status
from pipelines.store.snapshot import read_documents
from pipelines.store.template import named_item
from pipelines.store.user_layout import real_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from pipelines.store.document import Document
    from pipelines.store.item import Item


@dataclass(frozen=True, slots=True)
class Holding:
    """An item where it stands.

    Args:
        item: the item.
        path: its document, relative to the memory, as the program calls it.
        line: its line, counted from 1.
        section: the title of the section that holds it.
        notes: the lines that a person wrote under it, with their ends.
        real: what people call the document, where that is not what the program calls it.
    """

    item: Item
    path: str
    line: int
    section: str = ""
    notes: tuple[str, ...] = ()
    real: str = ""

    @property
    def shown(self) -> str:
        """What people call its document: the path on the disk."""
        return self.real or self.path

    @property
    def place(self) -> str:
        """Its citation, `PATH:LINE`."""
        return f"{self.shown}:{self.line}"

    @property
    def home(self) -> str:
        """The document that it belongs to: for one that waits in Review.md, the one that it would be filed in."""
        return dict(self.item.extra).get("home", self.path) if self.item.status is Status.WAITING else self.path

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON has it, without its evidence."""
        item = self.item
        return {
            "id": item.id or None,
            "type": item.type,
            "text": item.text,
            "status": item.status,
            "document": self.shown,
            "line": self.line,
            "since": item.since or None,
            "until": item.until or None,
            "confirmed": item.confirmed or None,
            "trust": item.trust,
            "confidence": item.confidence,
            "by": item.by or None,
            "superseded_by": item.superseded_by or None,
            "merged_into": item.merged_into or None,
        }


def holdings_in(document: Document, shown: Callable[[str], str] = str) -> Iterator[Holding]:
    """Yield the items of a document, in order of lines; `shown` says what people call the file at a path."""
    real = shown(document.path)
    for placed in document.items:
        notes = tuple(document.lines[placed.line + 1 : placed.end])
        yield Holding(placed.item, document.path, placed.line + 1, placed.section, notes, real)


@dataclass(frozen=True)
class Beliefs:
    """All items of a memory, as it stands or as it stood.

    Args:
        holdings: every item, in order of documents and lines; those without an id, too.
    """

    holdings: tuple[Holding, ...]

    @classmethod
    def of(cls, documents: Mapping[str, Document], shown: Callable[[str], str] = str) -> Beliefs:
        """Return what a set of documents holds; `shown` says what people call the file at a path."""
        return cls(tuple(one for path in sorted(documents) for one in holdings_in(documents[path], shown)))

    @cached_property
    def by_id(self) -> Mapping[str, Holding]:
        """Id → item; of one that stands twice the first."""
        found: dict[str, Holding] = {}
        for one in self.holdings:
            if one.item.id:
                found.setdefault(one.item.id, one)
        return found

    @cached_property
    def newest_day(self) -> str:
        """The latest day that any item speaks of, or an empty string."""
        return max((max(one.item.since, one.item.confirmed) for one in self.holdings), default="")

    def named(self, prefix: str, *further: Iterable[str]) -> str:
        """Return the id that begins so, among those that stand, else among `further` ones.

        Raises:
            UnknownItem: there is none, or more than one.
        """
        return named_item(prefix, self.by_id, *further)


def beliefs_of(root: Path) -> Beliefs:
    """Return what a memory holds as it stands."""
    return Beliefs.of(read_documents(root), partial(real_path, root))
