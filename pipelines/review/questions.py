"""Questions: what a run cannot decide is put into Review.md, where a ticked box answers it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from pipelines.review.item_links import AGAINST
from pipelines.review.trust.attacks import made_inert, suspicion_of
from pipelines.store.evidence import without_pointer
from pipelines.store.item import fold
from pipelines.store.review_queue import waiting, with_entry
from pipelines.store.secrets import veil
from pipelines.text import without_unseen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from pipelines.store.document import Document
    from pipelines.store.item import Evidence, Item


CONTRADICT: Final = "contradict"
CHOICES: Final[tuple[str, ...]] = (
    "keep new: it holds from its day on, and what stood is history",
    "keep old: what stands holds, and the new one is never proposed again",
    "keep both: each holds, of something else",
    "drop: the new one is not worth keeping, and the old one stays as it is",
)
QUARANTINE: Final = "quarantine"
KEEP_OR_DROP: Final[tuple[str, ...]] = (
    "keep: you vouch for it, and it is filed",
    "drop: it is not kept, and never proposed again",
)
_TITLE, _QUOTE = 60, 300


@dataclass(frozen=True, slots=True)
class Question:
    """A new item that waits for a person: it speaks against one that stands, or nobody vouches for it.

    Args:
        item: the new one, as it would stand.
        home: the document where it would stand.
        why: why both cannot hold, as the end of a sentence; or why it is held, after *it*.
        rival: the one that stands meanwhile; None where nobody vouches for the new one.
    """

    item: Item
    home: str
    why: str
    rival: Item | None = None

    @property
    def waiting(self) -> Item:
        """The new item as it waits."""
        item = waiting(self.item, self.home)
        return replace(item, extra=(*item.extra, (AGAINST, self.rival.id))) if self.rival else item


@dataclass(frozen=True, slots=True)
class Sources:
    """How a question tells of places.

    Args:
        quote: the words of the log that evidence names, or an empty string where they are nowhere.
        shown: what people call the file at a path.
    """

    quote: Callable[[Evidence], str]
    shown: Callable[[str], str] = str


def asked(
    documents: Mapping[str, Document], questions: Iterable[Question], sources: Sources, today: str
) -> Mapping[str, Document]:
    """Return the documents with an entry in Review.md for each item that contradicts one, or that nobody vouches for.

    Args:
        documents: every document by path.
        questions: what is to be asked.
        sources: how places are told of.
        today: the memory's day.
    """
    for one in questions:
        rival, ground = one.rival, grounds(one.item, sources)
        if rival is None:
            kind, choices = QUARANTINE, KEEP_OR_DROP
            mind = suspicion_of(" ".join([one.item.text, *map(sources.quote, one.item.evidence)]))
            note = f" Mind that it {mind}." if mind else ""
            why = f"It {one.why}. What was read{ground}. It is believed by nobody until you keep it.{note}"
        else:
            kind, choices = CONTRADICT, CHOICES
            held = f"“{plain(rival.text)}”{grounds(rival, sources)}"
            old = f"What stands is {rival.id} of {rival.since or 'no day'}: {held}."
            new = f"What the log says on {one.item.since}: “{plain(one.item.text)}”{ground}."
            why = f"{one.why[:1].upper()}{one.why[1:]}. {old} {new} Until you tick a box, the older one stands."
        title = f"{kind}: {plain(one.item.text, _TITLE)}"
        documents = with_entry(documents, kind, today, title, why, choices, [one.waiting])
    return documents


def grounds(item: Item, sources: Sources) -> str:
    """Return where an item's last evidence stands, with its words, as a part of a sentence."""
    if not item.evidence:
        return ", written by hand"
    last = item.evidence[-1]
    words = plain(veil(without_pointer(sources.quote(last))))
    return f" ({sources.shown(last.path)} line {last.start_line}{f': “{words}”' if words else ''})"


def plain(text: str, most: int = _QUOTE) -> str:
    """Return words of a log as they may stand within a line of Review.md: one line, no comment, not too long."""
    text = made_inert(without_unseen(fold(text))).replace("<!--", "<! --").replace("-->", "-- >")
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"
