"""The input and output of an extractor: the interface that the rules and all models implement."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from pipelines.search.chunk_context import normalised, parted, spaced, unspaced_pairs
from pipelines.store.evidence import voice_in, without_pointer
from pipelines.store.item import Confidence, Evidence, Item, ItemType, Status, Trust
from pipelines.store.secrets.redact import without_secrets
from pipelines.store.session_state import NO_SEALS, Seals
from pipelines.text import content_words, fold
from pipelines.usage import Tally

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pipelines.extract.nearby import Nearby
    from pipelines.extract.rules.labels import ClosingForm
    from pipelines.store.log import Entry


_TIME = re.compile(r"[-*+][ \t]+(\d\d:\d\d)\b")


class DocumentChoice(NamedTuple):
    """One document of the closed list that a candidate may name.

    Args:
        id: the id for models: the file name without `.md`, or the whole path if two files share the name.
        title: its title, which helps a model understand it.
        kind: project, area, resource, user or briefing.
        document: its path without `.md` (`Projects/alpha`, `Areas/general`, `USER`, `MEMORY`).
        purpose: one line on what the page is for, or empty.
    """

    id: str
    title: str
    kind: str
    document: str
    purpose: str = ""


class ExtractionRequest(NamedTuple):
    """One day's unread entries, in order, and the documents and items that a reply may name.

    The seals prove which entries are the owner's acts; without them, none is.
    """

    day: str
    entries: tuple[Entry, ...]
    documents: tuple[DocumentChoice, ...] = ()
    nearby: Nearby | None = None
    seals: Seals = NO_SEALS


Said = TypeVar("Said")


def as_said(found: Iterable[Said], entry_of: Callable[[Said], Entry]) -> list[Said]:
    """Return what days brought in the order in which it was said.

    That is the order of the log, but for a session that capture appended below later lines. Then the times count, if
    all have one.
    """
    after: list[Said] = []
    for _, day in groupby(found, key=lambda one: entry_of(one).day):
        some = list(day)
        heads = [entry_of(one).head for one in some]
        times = [_TIME.match(head) for head in heads]
        if all(times) and any(map(voice_in, heads)):
            clocks = [time[1] for time in times if time]
            some = [one for _, one in sorted(zip(clocks, some, strict=True), key=itemgetter(0))]
        after += some
    return after


class Place(NamedTuple):
    """Lines of an entry, and the words there that count: all of them, unless the rules quote a part."""

    entry: Entry
    start_line: int
    end_line: int
    quote: str

    @classmethod
    def whole(cls, entry: Entry, start_line: int = 0, end_line: int = 0) -> Place:
        """Return the place of all of an entry's lines, or of those from one to another."""
        first, last = max(start_line, entry.start_line), min(end_line or entry.end_line, entry.end_line)
        lines = entry.text.split("\n")[first - entry.start_line : last - entry.start_line + 1]
        return cls(entry, first, last, "\n".join(map(without_pointer, lines)))

    @property
    def path(self) -> str:
        """The log."""
        return self.entry.path

    def meets(self, other: Place | Evidence) -> bool:
        """Whether they have a line in common."""
        is_apart = self.end_line < other.start_line or other.end_line < self.start_line
        return self.path == other.path and not is_apart

    @property
    def lines(self) -> list[str]:
        """The log lines, unchanged."""
        first = self.entry.start_line
        return self.entry.text.split("\n")[self.start_line - first : self.end_line - first + 1]


@dataclass(frozen=True)
class Candidate:
    """An item that an extractor proposes.

    Args:
        type: one of the five.
        text: the sentence to keep.
        places: the evidence in the log, one place or several (a question and its answer); the first sets the day.
        confidence: high for a label, medium or low for a cue, speculative if nobody stated it.
        reason: the reason, in a few words.
        by: the extractor and its version (`rules@1`, `anthropic:claude-haiku-5-5@extract/1`).
        replaces: the items, held or of the same reply, that no longer hold because of it.
        document: the id of a document of the list, or empty if the extractor names none.
        new_project: the title of a new project document, or empty.
        new_area: the title of a new area document, or empty.
        closed: its outcome, if it was over when the log first mentioned it; else empty.
        page_section: its section on the page, if its type does not imply one; else empty.
        name: for a contact, the person's name.
        since: the day it holds from, if the log names another day than its own; else empty.
        due: the day by which a todo is owed, or empty.
        on: the day of an appointment or event, or empty.
        links: kind and id of each linked item; only ids that the extractor was shown.
        trust: whose word it rests on. Code decides that by the source, never an extractor.
        source: who said it, if neither the owner nor the agent; else empty. Code decides that, too.
        beside: what else a second reader needs: its page, other lines of the day, and which of its names and small
            numbers were not shown.
        id: the temporary id (`n12`) that operations of the same run use.
        page: the path of the document that it names, or empty. Code fills in this and what follows.
        home: the path of the document that it would be filed in: that one, if it names one.
        doubt: why a person must approve it, as a clause; or empty.
        decider: of a doubted one, the place whose word it is.
        echo: whether it repeats the memory's own words.
        recited: whether an agent said it with the memory in its context, so that a repeat proves nothing.
    """

    type: ItemType
    text: str
    places: tuple[Place, ...]
    confidence: Confidence
    reason: str
    by: str
    replaces: tuple[str, ...] = ()
    document: str = ""
    new_project: str = ""
    new_area: str = ""
    closed: Status | None = None
    page_section: str = ""
    name: str = ""
    since: str = ""
    due: str = ""
    on: str = ""
    links: Links = ()
    trust: Trust = Trust.SELF
    source: str = ""
    beside: tuple[str, ...] = ()
    id: str = ""
    page: str = ""
    home: str = ""
    doubt: str = ""
    decider: Place | None = None
    echo: bool = False
    recited: bool = False

    @property
    def by_rules(self) -> bool:
        """Whether the rules proposed it."""
        return self.by.startswith("rules@")

    @property
    def entry(self) -> Entry:
        """The entry of its first place."""
        return self.places[0].entry

    @property
    def day(self) -> str:
        """The day it holds from."""
        return self.since or self.entry.day


class OperationKind(StrEnum):
    """What a review can do with a candidate or with existing items."""

    ADD = "add"
    CONFIRM = "confirm"
    SUPERSEDE = "supersede"
    UPDATE = "update"
    CLOSE = "close"
    RETRACT = "retract"
    QUESTION = "question"
    IGNORE = "ignore"


class Operation(NamedTuple):
    """An operation on existing items that the log speaks of, or on a candidate.

    Args:
        kind: the kind of operation.
        ids: the items it applies to, existing (`k…`) or proposed in the same run (`n…`).
        text: the new sentence of an update.
        how: the outcome, for `close`.
        reason: the reason, in a few words.
        places: the evidence in the log, that of the candidate if there is one.
        by: who proposed it.
        beside: other lines of the day that a second reader needs.
    """

    kind: OperationKind
    ids: tuple[str, ...] = ()
    text: str = ""
    how: Status | None = None
    reason: str = ""
    places: tuple[Place, ...] = ()
    by: str = ""
    beside: tuple[str, ...] = ()

    @property
    def day(self) -> str:
        """The day of its log."""
        return self.places[0].entry.day


class Told(NamedTuple):
    """A sentence of a day's episode, the lines of the log that it rests on, and what else a second reader needs."""

    text: str
    places: tuple[Place, ...]
    beside: tuple[str, ...]


class OpenList(NamedTuple):
    """A list of a log that says what is open.

    Args:
        places: its entries.
        document: the page it is about, or empty for all.
        depth: how many headings name it, a title of the log among them; if 0, the one right above it does.
        whole: whether its reader says that it lists all that is open. Of others, what they repeat tells.
        boxes: what its boxes say, ticked ones too.
    """

    places: tuple[Place, ...]
    document: str = ""
    depth: int = 0
    whole: bool = True
    boxes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Extraction:
    """The reply to one request.

    Args:
        candidates: in log order.
        operations: what the day says about items that the extractor was shown.
        forms: the documented forms in the day that close or correct items, such as `Done: …`.
        seen: ids of shown items that the day says again.
        open_lists: the lists that say what is open.
        episode: what happened on the day, in order of consequence.
        tally: the cost of the calls, failed ones included, and the kept replies used.
        notes: the extractor's notes on its own work, a sentence each, without text of the log.
    """

    candidates: tuple[Candidate, ...]
    operations: tuple[Operation, ...] = ()
    forms: tuple[ClosingForm, ...] = ()
    seen: tuple[str, ...] = ()
    open_lists: tuple[OpenList, ...] = ()
    episode: tuple[Told, ...] = ()
    tally: Tally = field(default_factory=Tally)
    notes: tuple[str, ...] = ()


class Extractor(Protocol):
    """Reads a day and proposes candidates."""

    @property
    def name(self) -> str:
        """Its name and version, as recorded in an item's `by`."""

    def extract(self, request: ExtractionRequest) -> Extraction:
        """Return the candidates of one day.

        Raises:
            ModelFailed: no usable answer came; the day's entries stay pending. Its `tally`, if any, is what was spent.
        """


# ---------------------------------------- items, as readers of the log compare and show them


MOST_LINKS = 3
"""How many links of an item to keep; with more, each says little."""
Links = tuple[tuple[str, str], ...]
"""Kind and id of each link."""
_LENGTH = 360
_STEM = 5
# Characters invisible to people but not to models: tags, directions, and zero-width ones that no script needs.
HIDDEN = re.compile("[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")


@lru_cache(4096)
def matter_words(text: str) -> frozenset[str]:
    """Return what texts on one matter share, in any script: beginnings of words and of parts of names, and pairs.

    Endings say little, a line names `error-capture` where an item says `captureError`, and Korean words of two letters
    have many endings. The number in front of a shown line is none.
    """
    plain = normalised(parted(text, " "))
    words = content_words(re.sub(r"[\W_]+", " ", spaced(plain)))
    return frozenset([*(word[:_STEM] for word in words), *re.findall(r"\d++(?!\|)", plain), *unspaced_pairs(plain)])


def is_pending(item: Item) -> bool:
    """Whether an item is open-ended: an open todo, a risk, or a question."""
    return item.active and (item.type in {ItemType.TODO, ItemType.RISK} or item.page_section == "questions")


def shown_text(text: str, most: int = _LENGTH) -> str:
    """Return text on one line, without secrets, invisible characters and the names of transcripts, and not too long."""
    plain = fold(HIDDEN.sub("", without_secrets(without_pointer(text))))
    return plain if len(plain) <= most else f"{plain[: most - 1].rstrip()}…"


def shown_with_doubt(item: Item) -> str:
    """Return an item's sentence, and how it may be over."""
    return shown_text(item.text) + (f" (perhaps {shown_text(item.perhaps)})" if item.perhaps else "")
