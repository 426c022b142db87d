"""What goes to an extractor and what comes back: the one interface that every provider fills."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final, Protocol

from pipelines.store.item import LINK_KINDS, Trust, content_words, fold
from pipelines.store.secrets import veil
from pipelines.usage import Tally

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from pipelines.store.item import Confidence, Item, ItemType
    from pipelines.store.log import Entry


@dataclass(frozen=True, slots=True)
class DocumentChoice:
    """One document of the closed list that a candidate may name.

    Args:
        id: the document's id, its path without `.md` (`Projects/alpha`, `Areas/general`, `USER`, `MEMORY`).
        title: its title, for a model to understand it by.
        kind: project, area, resource, user or briefing.
    """

    id: str
    title: str
    kind: str


@dataclass(frozen=True, slots=True)
class ExtractionRequest:
    """One day's uncurated entries, in order, and the documents and items that a candidate may name."""

    day: str
    entries: tuple[Entry, ...]
    documents: tuple[DocumentChoice, ...] = ()
    nearby: Nearby | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Candidate:
    """An item that an extractor proposes.

    Args:
        type: one of the five.
        text: the sentence to keep.
        entry: where it was found.
        start_line: first line of the evidence, within the entry.
        end_line: last line of the evidence, inclusive.
        quote: verbatim words of those lines; code checks that they stand there.
        confidence: what a label says is high; what a cue suggests is medium or low.
        reason: why, in a few words.
        by: who extracted it, and by which version (`rules@1`, `anthropic:claude-haiku-5-5@extract/1`).
        document: the id of a `DocumentChoice`, or empty where the extractor does not say.
        new_project: the title of a project document to be made, or empty.
        closed: for a Todo, whether the log says that it is already done (a ticked box).
        links: kind and id of each item of the memory that it is linked to; only ids that the extractor was shown.
        unlinked: how many links it came with that could not be kept.
        trust: whose word it rests on. No extractor says that: code looks it up from where the words come.
    """

    type: ItemType
    text: str
    entry: Entry
    start_line: int
    end_line: int
    quote: str
    confidence: Confidence
    reason: str
    by: str
    document: str = ""
    new_project: str = ""
    closed: bool = False
    links: Links = ()
    unlinked: int = 0
    trust: Trust = Trust.SELF

    @property
    def lines(self) -> list[str]:
        """The lines of the log that it rests on."""
        first = self.entry.start_line
        return self.entry.text.split("\n")[self.start_line - first : self.end_line - first + 1]


@dataclass(frozen=True, slots=True)
class Extraction:
    """What came back for one request.

    Args:
        candidates: in log order.
        tally: what the calls came to, those that failed on the way included, and the kept replies that it rests on.
        dropped: items that were proposed and dropped because the log does not say what they say.
        fallback: whether the rules read the day because no model could, though there is one.
        notes: what the extractor says of its own work, a sentence each, without a word of the log.
    """

    candidates: tuple[Candidate, ...]
    tally: Tally = field(default_factory=Tally)
    dropped: int = 0
    fallback: bool = False
    notes: tuple[str, ...] = ()


class Extractor(Protocol):
    """Who reads a day and proposes candidates."""

    @property
    def name(self) -> str:
        """Who it is, with its version, as an item's `by` records it."""

    def extract(self, request: ExtractionRequest) -> Extraction:
        """Return the candidates of one day.

        Raises:
            ModelFailed: no usable answer came; the day's entries stay pending. Its `tally`, where there is one, says
                what was spent all the same.
        """


# ---------------------------------------- what of the memory a model is shown: items that it can name by their ids


MOST_SHOWN: Final = 20
MOST_LINKS: Final = 3
"""So many links of an item are kept; one that names more says little with each."""
PROPOSED_KINDS: Final = tuple(kind for kind in LINK_KINDS if kind not in {"supersedes", "contradicts"})
"""The kinds of links that a model may propose; what supersedes or contradicts is the review's verdict."""
Links = tuple[tuple[str, str], ...]
"""Kind and id of each link."""
_LENGTH: Final = 300
_COMMON: Final = 200
"""A word of more items than this tells nothing of any of them."""
# Marks that no reader sees but a model obeys: tags, directions, zero-width ones except the two that scripts need.
HIDDEN: Final = re.compile("[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")


class Nearby:
    """Items of the memory, to be found by the words that a text shares with them; threads may share it.

    Words alone decide: tracked files and the log tell them, so that a replay shows the same.

    Args:
        items: those that may be shown, in an order that hangs on tracked files alone.
    """

    def __init__(self, items: Iterable[Item]) -> None:
        self._items = tuple(items)

    @cached_property
    def _places(self) -> Mapping[str, Sequence[int]]:
        """Word → the places of the items that hold it; made when a model first asks, for the rules need none."""
        found: dict[str, list[int]] = {}
        for at, one in enumerate(self._items):
            for word in content_words(one.text):
                found.setdefault(word, []).append(at)
        return found

    def nearest(self, text: str) -> tuple[Item, ...]:
        """Return at most so many items that share telling words with a text, the nearest first, in words as shown."""
        scores: dict[int, float] = {}
        for word in sorted(content_words(text)):
            places = self._places.get(word, ())
            if len(places) <= _COMMON:
                for at in places:
                    scores[at] = scores.get(at, 0.0) + 1 / (1 + len(places))
        ranked = sorted(scores, key=lambda at: (-round(scores[at], 9), at))[:MOST_SHOWN]
        return tuple(replace(self._items[at], text=shown_text(self._items[at].text)) for at in ranked)


def shown_text(text: str, most: int = _LENGTH) -> str:
    """Return words of the memory on one line, without secrets and marks that no reader sees, and not too long."""
    plain = fold(HIDDEN.sub("", veil(text)))
    return plain if len(plain) <= most else f"{plain[: most - 1].rstrip()}…"


def proposed_links(raw: object, shown: Container[str]) -> tuple[Links, int]:
    """Return the links of a reply that can be kept, and how many were left out.

    Args:
        raw: what a reply has for them, unchecked: a list of `{"kind": …, "id": …}`.
        shown: the ids that the model was shown.
    """
    if not isinstance(raw, list):
        return (), int(raw is not None)
    found: dict[str, str] = {}
    for one in raw:
        kind, ident = (one.get("kind"), one.get("id")) if isinstance(one, dict) else (None, None)
        if kind in PROPOSED_KINDS and isinstance(ident, str) and ident in shown and ident not in found:
            found[ident] = str(kind)
    links = tuple((kind, ident) for ident, kind in found.items())[:MOST_LINKS]
    return links, len(raw) - len(links)
