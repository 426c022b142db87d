"""What goes to an extractor and what comes back: the one interface that every provider fills."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Final, Protocol

from pipelines.store.evidence import quote_stands
from pipelines.store.item import LINK_KINDS, ItemType, Trust, content_words, fold
from pipelines.store.priority import Weights, priority
from pipelines.store.secrets import veil
from pipelines.store.session_state import NO_SEALS
from pipelines.usage import Tally

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from pipelines.store.item import Confidence, Item, Status
    from pipelines.store.log import Entry
    from pipelines.store.session_state import Seals


@dataclass(frozen=True, slots=True)
class DocumentChoice:
    """One document of the closed list that a candidate may name.

    Args:
        id: by which a model names it: the file's name without `.md`, or its whole path where two files share the name.
        title: its title, for a model to understand it by.
        kind: project, area, resource, user or briefing.
        document: the document's id, its path without `.md` (`Projects/alpha`, `Areas/general`, `USER`, `MEMORY`).
    """

    id: str
    title: str
    kind: str
    document: str = ""


@dataclass(frozen=True, slots=True)
class ExtractionRequest:
    """One day's uncurated entries, in order, and the documents and items that a reply may name.

    The seals tell which entries are the owner's acts: without them, none is.
    """

    day: str
    entries: tuple[Entry, ...]
    documents: tuple[DocumentChoice, ...] = ()
    nearby: Nearby | None = field(default=None, compare=False)
    seals: Seals = field(default=NO_SEALS, compare=False)


@dataclass(frozen=True, slots=True)
class Place:
    """Lines of an entry, and verbatim words of them on which something rests; code checks that they are there."""

    entry: Entry
    start_line: int
    end_line: int
    quote: str

    @property
    def lines(self) -> list[str]:
        """The lines of the log, as they are."""
        first = self.entry.start_line
        return self.entry.text.split("\n")[self.start_line - first : self.end_line - first + 1]

    @property
    def stands(self) -> bool:
        """Whether the quote stands in its lines, and those in the entry."""
        entry = self.entry
        is_within = entry.start_line <= self.start_line <= self.end_line <= entry.end_line
        return is_within and quote_stands(self.quote, self.lines)


@dataclass(frozen=True, slots=True)
class Candidate:
    """An item that an extractor proposes.

    Args:
        type: one of the five.
        text: the sentence to keep.
        places: where the log says it, one place or several (a question and its answer); the first tells its day.
        confidence: what a label says is high; what a cue suggests is medium or low; what nobody stated is speculative.
        reason: why, in a few words.
        by: who extracted it, and by which version (`rules@1`, `anthropic:claude-haiku-5-5@extract/1`).
        document: the id of a document of the list, or empty where the extractor does not say.
        new_project: the title of a project document to be made, or empty.
        closed: how it is over already, where the log first tells of it when it is; else empty.
        page_section: where on its page it belongs where its type does not say, or empty.
        name: of a contact, the person's name.
        since: the day from which it holds, where the log names another than its own; else empty.
        due: the day by which a Todo is to be done, or empty.
        links: kind and id of each item that it is linked to; only ids that the extractor was shown.
        unlinked: how many links it came with that could not be kept.
        trust: whose word it rests on. No extractor says that: code looks it up from where the words come.
        source: who said it where that is neither the owner nor the agent, or empty; code looks that up, too.
        id: the temporary id (`n12`) by which operations of the same run name it.
        unverified: whether a second reader has yet to compare it with its quotes.
    """

    type: ItemType
    text: str
    places: tuple[Place, ...]
    confidence: Confidence
    reason: str
    by: str
    document: str = ""
    new_project: str = ""
    closed: Status | None = None
    page_section: str = ""
    name: str = ""
    since: str = ""
    due: str = ""
    links: Links = ()
    unlinked: int = 0
    trust: Trust = Trust.SELF
    source: str = ""
    id: str = ""
    unverified: bool = False

    @property
    def entry(self) -> Entry:
        """The entry in which it was found first."""
        return self.places[0].entry

    @property
    def start_line(self) -> int:
        """The first of its lines."""
        return self.places[0].start_line

    @property
    def day(self) -> str:
        """The day from which it holds."""
        return self.since or self.entry.day

    @property
    def lines(self) -> list[str]:
        """The lines of the log that it rests on."""
        return [line for place in self.places for line in place.lines]

    @property
    def quotes(self) -> list[str]:
        """The verbatim words that it rests on."""
        return [place.quote for place in self.places]


class OperationKind(StrEnum):
    """What may become of a candidate, and of items of the memory."""

    ADD = "add"
    CONFIRM = "confirm"
    SUPERSEDE = "supersede"
    UPDATE = "update"
    CLOSE = "close"
    RETRACT = "retract"
    QUESTION = "question"
    IGNORE = "ignore"


@dataclass(frozen=True, slots=True)
class Operation:
    """What is to become of a candidate, or of items of which the log says something.

    Args:
        kind: what is done.
        ids: the items to which it is done, of the memory (`k…`) or proposed in the same run (`n…`).
        text: the new sentence of an update.
        how: how it closes, for `close`.
        document: the id of the document where the candidate belongs, or empty where that which it has will do.
        links: kind and id of items that the candidate is linked to.
        reason: why, in a few words.
        places: what the log says of it, where it is about no candidate.
        by: who says so.
    """

    kind: OperationKind
    ids: tuple[str, ...] = ()
    text: str = ""
    how: Status | None = None
    document: str = ""
    links: Links = ()
    reason: str = ""
    places: tuple[Place, ...] = ()
    by: str = ""

    @property
    def day(self) -> str:
        """The day of the log that says it."""
        return self.places[0].entry.day


@dataclass(frozen=True, slots=True)
class Extraction:
    """What came back for one request.

    Args:
        candidates: in log order.
        operations: what the day says of items that the extractor was shown.
        tally: what the calls came to, those that failed on the way included, and the kept replies that it rests on.
        dropped: items that were proposed and dropped because the log does not say what they say.
        fallback: whether the rules read the day because no model could, though there is one.
        notes: what the extractor says of its own work, a sentence each, without a word of the log.
    """

    candidates: tuple[Candidate, ...]
    operations: tuple[Operation, ...] = ()
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


MOST_OPEN: Final = 60
"""So many Todos, Risks and questions are shown, the weightiest first."""
MOST_NEAR: Final = 30
"""So many other items are shown, those nearest to the log."""
MOST_LINKS: Final = 3
"""So many links of an item are kept; one that names more says little with each."""
PROPOSED_KINDS: Final = tuple(kind for kind in LINK_KINDS if kind != "supersedes")
"""The kinds of links that a model may propose; what supersedes is an operation."""
Links = tuple[tuple[str, str], ...]
"""Kind and id of each link."""
_LENGTH: Final = 300
_COMMON: Final = 200
"""A word of more items than this tells nothing of any of them."""
# Marks that no reader sees but a model obeys: tags, directions, zero-width ones except the two that scripts need.
HIDDEN: Final = re.compile("[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")


class Nearby:
    """Items of the memory that a model is shown beside a day's log; threads may share it.

    Words alone decide which are near: tracked files and the log tell them, so that a replay shows the same.

    Args:
        items: those that may be shown, each with its document's id, in an order that hangs on tracked files alone.
        weights: by which the weightiest of what is open come first.
        newest: the latest day that any log speaks of.
    """

    def __init__(self, items: Iterable[tuple[str, Item]], weights: Weights | None = None, newest: str = "") -> None:
        self._items, self._weights, self._newest = tuple(items), weights or Weights(), newest

    @cached_property
    def open(self) -> list[tuple[str, Item]]:
        """Todos, Risks and questions, the weightiest first, with their documents' ids."""
        pending = [one for one in self._items if is_pending(one[1])]
        pending.sort(key=lambda one: (-priority(one[1], self._newest, self._weights), one[1].id))
        return pending[:MOST_OPEN]

    @cached_property
    def _places(self) -> Mapping[str, Sequence[int]]:
        """Word → the places of the items that hold it; made when a model first asks, for the rules need none."""
        found: dict[str, list[int]] = {}
        shown = {one.id for _, one in self.open}
        for at, (_, one) in enumerate(self._items):
            for word in content_words(one.text) if one.id not in shown else ():
                found.setdefault(word, []).append(at)
        return found

    def nearest(self, text: str) -> list[tuple[str, Item]]:
        """Return at most so many items that share telling words with a text, the nearest first; none that is open."""
        scores: dict[int, float] = {}
        for word in sorted(content_words(text)):
            places = self._places.get(word, ())
            if len(places) <= _COMMON:
                for at in places:
                    scores[at] = scores.get(at, 0.0) + 1 / (1 + len(places))
        ranked = sorted(scores, key=lambda at: (-round(scores[at], 9), at))[:MOST_NEAR]
        return [self._items[at] for at in ranked]


def is_pending(item: Item) -> bool:
    """Whether an item waits for an end: an open Todo, a Risk, or a question."""
    return item.active and (item.type in {ItemType.TODO, ItemType.RISK} or item.page_section == "questions")


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
