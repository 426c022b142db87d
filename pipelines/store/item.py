"""The item: one typed line worth keeping, and its Markdown grammar.

    - Decision: Use Terraform, not Pulumi. ^k7f3a9c2b
    - [ ] Todo: Ask legal about the DPA. ^k55b01aa0
    - ~~Fact: The office is in Bern.~~ ^k1c02d9e4

The mark at the end is its id; what a reader need not see is in its row of the ledger, one JSON object:

    {"id": "k7f3a9c2b", "since": "2026-02-11", "trust": "owner", "confidence": "high"}

`parse_item(render_item(item), row_of(item)) == item` for every item (property-tested). The same parser reads
hand-written lines (`* **decision**: ...`, no mark); they have no id until a run assigns one.

Two items repeat each other if their `folded` texts are equal.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pipelines.store.item_line import BY_WORD, ID_PATTERN, MARK, OPENS, read_item_line, split_mark, values_in
from pipelines.store.layout import day_of_log
from pipelines.text import fold, stated_due

if TYPE_CHECKING:
    from collections.abc import Container, Mapping


class ItemType(StrEnum):
    """The type of an item."""

    DECISION = "Decision"
    FACT = "Fact"
    RULE = "Rule"
    TODO = "Todo"
    RISK = "Risk"


class Status(StrEnum):
    """The status of an item, read from its line, never from its section. Of two, the later one here wins a merge."""

    LIVE = "live"
    OPEN = "open"
    WAITING = "waiting"
    ARCHIVED = "archived"
    DONE = "done"
    DROPPED = "dropped"
    RESOLVED = "resolved"
    OCCURRED = "occurred"
    ANSWERED = "answered"
    ENDED = "ended"
    MERGED = "merged"
    SUPERSEDED = "superseded"
    NEVER_HELD = "never-held"
    RETRACTED = "retracted"


class Trust(StrEnum):
    """Whose word an item rests on, highest first."""

    OWNER = "owner"
    SELF = "self"
    EXTERNAL = "external"
    UNTRUSTED = "untrusted"

    def may_end(self, item: Item, how: str) -> bool:
        """Whether who says so may end an item: one trusted no more, or done what the agent was asked in a session."""
        is_request = item.type is ItemType.TODO and bool(item.evidence)
        return self.reaches(item.trust) or (is_request and how == Status.DONE and self.reaches(Trust.SELF))

    def reaches(self, other: Trust) -> bool:
        """Return whether words of this trust may change an item of the other: this one is as high, or higher."""
        return _RANKS[self] <= _RANKS[other]


_RANKS = {trust: rank for rank, trust in enumerate(Trust)}


class Confidence(StrEnum):
    """How sure the extraction was, highest first."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    SPECULATIVE = "speculative"


UNSURE: Final = frozenset({Confidence.LOW, Confidence.SPECULATIVE})
UNSURE_SAID: Final = " (unsure)"
"""What stands behind the words of an item of such a confidence."""
ACTIVE: Final = frozenset({Status.LIVE, Status.OPEN})
CLOSED: Final = frozenset({Status.SUPERSEDED, Status.ENDED, Status.NEVER_HELD, Status.RETRACTED, Status.MERGED})
"""Statuses that move an item from its section to History at once."""
STRUCK: Final = CLOSED | {Status.DROPPED, Status.RESOLVED, Status.OCCURRED, Status.ANSWERED}
"""Statuses whose lines are struck through."""
OUTCOMES: Final = {
    ItemType.TODO: (Status.DONE, Status.DROPPED),
    ItemType.RISK: (Status.RESOLVED, Status.OCCURRED),
    ItemType.DECISION: (Status.ENDED,),
    ItemType.FACT: (Status.ENDED, Status.ANSWERED),
    ItemType.RULE: (Status.ENDED,),
}
"""How an item of each type can close without a successor; the first is the default."""
MAY_CONFLICT: Final = "may-conflict"
"""The kind of link to an earlier item that may conflict, until an agent or a person settles the pair."""
LINK_KINDS: Final = ("because", "supports", "contradicts", "supersedes", "related", "part-of", "next", MAY_CONFLICT)
QUIET: Final = "quiet"
"""What an open item is called that nobody mentions any more, and what asks about such items."""
META: Final = "meta."
"""Begins the keys of what a person said of an item by a key of their own: `meta.topic=kafka`."""
ID_DIGITS: Final = 8


class Evidence(NamedTuple):
    """Where an item comes from: lines of a file as a hint, and the hash of the quote there.

    Args:
        path: relative to the memory, with `/`.
        start_line: first line, counted from 1.
        end_line: last line, inclusive.
        digest: `quote_digest` of the text of those lines when they were read.
    """

    path: str
    start_line: int
    end_line: int
    digest: str

    @property
    def height(self) -> int:
        """The number of lines."""
        return self.end_line - self.start_line + 1

    def render(self) -> str:
        """Return `PATH#L42~HASH`, or `PATH#L42-L44~HASH` for more than one line."""
        lines = f"L{self.start_line}" if self.end_line == self.start_line else f"L{self.start_line}-L{self.end_line}"
        return f"{self.path}#{lines}~{self.digest}"

    @classmethod
    def parse(cls, text: str) -> Evidence | None:
        """Return the evidence that `render` wrote as `text`, or None if it is not valid."""
        found = _EVIDENCE.fullmatch(text)
        if not found:
            return None
        path, start, end, digest = found.groups()
        return cls(path, int(start), int(end or start), digest)


_EVIDENCE = re.compile(r"(?P<path>.+)#L(?P<start>\d{1,9})(?:-L(?P<end>\d{1,9}))?~(?P<digest>[0-9a-f]{4,64})")


def quote_digest(quote_text: str) -> str:
    """Return the hash that identifies a quote: eight hex digits of SHA-256 over its folded text."""
    return hashlib.sha256(fold(quote_text).encode()).hexdigest()[:8]


@dataclass(frozen=True)
class Item:
    """One typed line.

    `text` is the sentence alone, folded to one line, without label, box and mark. `id` is empty for a hand-written
    line that no run has numbered yet. Days are `YYYY-MM-DD` or empty: the item holds from `since`, a Todo is due by
    `due`, and the item was called into question on `doubted`. `evidence` has the places where it was first said and the
    last one where it was repeated; `seen` counts all of them. `page_section` names its section if its type does not
    determine it (`questions`), and `reason` is the model's. `extra` keeps other keys in order.

    Args:
        source: who said it, if neither the owner nor the agent: a person who told the agent (trust `self`), or a source
            that was copied in (trust `external`). Its line names them.
        person: the name of the person, if it is a contact.
        on: the day of the appointment or event that it tells of.
        quiet: the day since which nobody has mentioned an open item, or since which its day is long over.
        perhaps: how an open item may be over, with the day and the line that says so: `done 2026-03-04: …`.
        closed_by: `owner` if a person closed it: no agent can reopen it.
    """

    type: ItemType
    text: str
    id: str = ""
    status: Status = Status.LIVE
    since: str = ""
    until: str = ""
    confirmed: str = ""
    trust: Trust = Trust.OWNER
    confidence: Confidence = Confidence.HIGH
    evidence: tuple[Evidence, ...] = ()
    seen: int = 0
    by: str = ""
    superseded_by: str = ""
    merged_into: str = ""
    links: tuple[tuple[str, tuple[str, ...]], ...] = ()
    pinned: bool = False
    page_section: str = ""
    due: str = ""
    doubted: str = ""
    reason: str = ""
    source: str = ""
    person: str = ""
    on: str = ""
    quiet: str = ""
    perhaps: str = ""
    closed_by: str = ""
    extra: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        """Fold the text, so that no item can carry structure into a document; the due day that it names counts."""
        object.__setattr__(self, "text", fold(self.text))
        if self.type is ItemType.TODO:
            object.__setattr__(self, "due", stated_due(self.text)[1] or self.due)

    @property
    def active(self) -> bool:
        """Whether the item is believed now: live, or an open Todo."""
        return self.status in ACTIVE

    def yields_to(self, other: Item) -> bool:
        """Whether an agent's word is enough to let another item take its place: no one's words end somebody else's."""
        return Trust.SELF.reaches(self.trust) and other.source in {"", self.source}

    @property
    def called(self) -> str:
        """What a reader is told that it is: its type, or a question."""
        return "Question" if self.page_section == "questions" else str(self.type)

    @property
    def is_ours(self) -> bool:
        """Whether it rests on the word of the owner or the agent."""
        return self.trust.reaches(Trust.SELF)

    @property
    def unsure(self) -> str:
        """What stands behind its words if it is barely believed; else nothing."""
        return UNSURE_SAID * (self.confidence in UNSURE)

    @property
    def closed_by_person(self) -> bool:
        """Whether a person closed it: by a command, or by striking its line out."""
        return self.status is Status.RETRACTED or self.closed_by == "owner"

    @property
    def last(self) -> str:
        """What puts it behind all others, if a person said so: `curate set ID last=yes`."""
        return self.metadata.get("last", "")

    @property
    def metadata(self) -> dict[str, str]:
        """What a person said of it, by their own keys."""
        return {key.removeprefix(META): value for key, value in self.extra if key.startswith(META)}

    @cached_property
    def learnt(self) -> str:
        """The day of the log that it comes from; `since` if it comes from none."""
        return (day_of_log(self.evidence[0].path) if self.evidence else "") or self.since

    @property
    def linked(self) -> tuple[str, ...]:
        """The ids of all items that it names: by links, as its successor, or as what it was merged into."""
        named = (ident for _, ids in self.links for ident in ids)
        return (*named, *filter(None, (self.superseded_by, self.merged_into)))


HeldItem = tuple[str, Item]
"""The path of a document, and an item in it."""


def with_extra(item: Item, key: str, value: str) -> Item:
    """Return an item with a value under a key of its own, or without the key if the value is empty."""
    extra = tuple(pair for pair in item.extra if pair[0] != key)
    return replace(item, extra=(*extra, (key, value)) if value else extra)


def with_metadata(item: Item, said: Mapping[str, str]) -> Item:
    """Return an item with other metadata; a key without a value is left out."""
    extra = (pair for pair in item.extra if not pair[0].startswith(META))
    return replace(item, extra=(*extra, *((f"{META}{key}", value) for key, value in sorted(said.items()) if value)))


def brought_back(item: Item) -> Item:
    """Return an archived item as an active one; any other item as it is."""
    status = Status.OPEN if item.type is ItemType.TODO else Status.LIVE
    return replace(item, status=status) if item.status is Status.ARCHIVED else item


def new_id(item: Item, path: str, taken: Container[str]) -> str:
    """Return a new item's id: a hash of type, text, document and day, with as many digits as `taken` requires."""
    birth = f"{item.type}\x1f{item.text}\x1f{path.removesuffix('.md')}\x1f{item.since}"
    digest = hashlib.sha256(birth.encode()).hexdigest()
    for length in range(ID_DIGITS, len(digest) + 1):
        if (candidate := "k" + digest[:length]) not in taken:
            return candidate
    return new_id(item, path + "\x1f", taken)


def last_successor(ident: str, items: Mapping[str, Item]) -> str:
    """Return the id at the end of the chain of those that took an item's place; items that it leads to twice end it."""
    seen = {ident}
    while (after := items[ident].superseded_by) in items and after not in seen:
        seen.add(ident := after)
    return ident


def render_item(item: Item) -> str:
    """Return the item's line, without a line end. With `row_of`, the inverse of `parse_item`."""
    words = written_words(item)
    is_told = item.id and item.page_section in BY_WORD and item.status not in CLOSED | {Status.WAITING}
    # Its heading says what it is, and its words do not look like more.
    is_plain = is_told and OPENS.match(words) and read_item_line(f"- {words}") is None
    body = words if is_plain else f"{item.type}: {words}".rstrip(" ")
    is_todo, is_dropped = item.type is ItemType.TODO, item.status is Status.DROPPED
    if item.status in STRUCK and not (is_todo and is_dropped):  # the box says it
        body = f"~~{body}~~"
    mark = "x" if item.status is Status.DONE else "-" if item.status in STRUCK else " "
    box = f"[{mark}] " if is_todo else ""
    return f"- {box}{body} ^{item.id}" if item.id else f"- {box}{body}"


def written_words(item: Item) -> str:
    """Return an item's words as its line has them: with whose word it is, how sure that is, and when it is due."""
    whose = brackets_of(item.source, item.trust, item.confidence) if item.id and item.text else []
    due = item.due if item.type is ItemType.TODO and not stated_due(item.text)[1] else ""
    words = _LOOKS.sub(lambda found: _ENTITIES.get(found[0]) or f"&amp;{found[0][1:]}", "".join([item.text, *whose]))
    return words + (f" (due {due})" if due else "")


def brackets_of(source: str, trust: Trust, confidence: Confidence) -> list[str]:
    """Return what stands behind an item's words: whose word it is, if nobody's of the memory, and how sure it is."""
    said = f" ({'says' if trust is Trust.SELF else 'reported by'} {fold(source)})" if source.strip() else ""
    said = " (quoted)" if source == "a quotation" else said or " (reported)" * (trust is Trust.EXTERNAL)
    return [*filter(None, (said, UNSURE_SAID * (confidence in UNSURE)))]


def row_of(item: Item) -> str:
    """Return the item's row of the ledger: what its line does not say, as one JSON object."""
    struck, done = item.status in STRUCK, item.type is ItemType.TODO and item.status is Status.DONE
    is_said = item.status is _status(item.type, item.superseded_by, item.merged_into, struck=struck, done=done)
    row: dict[str, object] = {"id": item.id, "type": item.type}
    row |= {key: getattr(item, name) for name, key in _TEXTS.items()}
    row |= {"due": ""} if item.type is ItemType.TODO and stated_due(item.text)[1] else {}  # its words name the day
    row |= {"trust": item.trust, "confidence": item.confidence, "from": [one.render() for one in item.evidence]}
    row |= {"seen": str(item.seen or ""), "pinned": "yes" if item.pinned else ""}
    row |= {"status": "" if is_said else item.status} | {kind: " ".join(ids) for kind, ids in item.links}
    written = {key: value for key, value in row.items() if value} | dict(item.extra)
    return json.dumps(written, ensure_ascii=False)


def _status(kind: ItemType, superseded: str, merged: str, *, struck: bool, done: bool) -> Status:
    """Return the status that the line alone implies: by its box, its strike-through and the ids it names."""
    if struck:
        return Status.SUPERSEDED if superseded else Status.MERGED if merged else Status.RETRACTED
    return Status.DONE if done else Status.OPEN if kind is ItemType.TODO else Status.LIVE


# In the words of an item, an entity breaks what would hide a part of the page, or look like a mark. Where the words
# already have that entity, it gains an `amp;`, so that decoding is exact.
_LOOKS = re.compile(rf"<!--|(?<!\S)\^(?={ID_PATTERN}(?!\S)|[A-Za-z0-9-]+$)|&(?:amp;)*(?:lt;!--|#94;[A-Za-z0-9-])")
_ENTITIES = {"<!--": "&lt;!--", "^": "&#94;"}
_ENTITY = re.compile(r"&(?:amp;)*(?:lt;!--|#94;(?=[A-Za-z0-9-]))")


_SIGNS = {entity: sign for sign, entity in _ENTITIES.items()}
_TEXTS = {
    name: {"page_section": "section", "person": "name"}.get(name, name.replace("_", "-"))
    for name in """since until confirmed by superseded_by merged_into page_section due doubted reason source person on
    quiet perhaps closed_by""".split()
}
"""What of an item is a text of its row, and its key there."""
_KNOWN = {*_TEXTS.values(), *LINK_KINDS, "id", "type", "trust", "confidence", "from", "seen", "pinned", "status", "rev"}
_TYPES = {kind.lower(): kind for kind in ItemType}


@lru_cache(maxsize=32_768)
def parse_item(line: str, row: str = "", section: str | None = None) -> Item | None:
    """Return the item in a line of a document, and in its row of the ledger; None for any other line.

    An item is a top-level list item with one of the five labels, in any case, possibly bold; with a row, or under one
    of the headings of `BY_WORD`, it needs none. Broken or missing values in the row default to those of a line that the
    owner wrote. Results are cached: a run meets the same line in many versions of a document.

    Args:
        line: the line.
        row: its row.
        section: the key of `BY_WORD` that its heading gives it, empty for none; None leaves that to the row.
    """
    pairs = values_in(row) if row else {}
    if (read := read_item_line(line.rstrip("\r\n"), pairs.get("type") or ("Fact" if section else ""))) is None:
        return None
    kind, text, struck = _TYPES[read.label], read.words, read.is_struck
    pairs |= {} if section is None else {"section": section}
    box = read.box if kind is ItemType.TODO else " "
    done = box in "xX"
    texts: dict[str, Any] = {name: pairs.get(key, "") for name, key in _TEXTS.items()}
    named, seen = pairs.get("status", ""), pairs.get("seen", "")
    status = _STATUSES.get(named)
    if status is None or done or (status in STRUCK) != struck:
        status = _status(kind, texts["superseded_by"], texts["merged_into"], struck=struck, done=done)
    if box == "-" and status is Status.OPEN and named not in STRUCK - {Status.DROPPED}:  # else the strike alone counts
        status = Status.DROPPED
    if status in ACTIVE:  # whatever the row says: a person removed the strike-through or the tick
        texts |= {"superseded_by": "", "merged_into": "", "until": ""}
    if kind is ItemType.TODO:
        bare, texts["due"] = stated_due(text)
        text = bare if "due" in pairs else text
    trust = _TRUSTS.get(pairs.get("trust", ""), Trust.OWNER)
    confidence = _CONFIDENCES.get(pairs.get("confidence", ""), Confidence.HIGH)
    if "&" in text:
        text = _ENTITY.sub(lambda found: _SIGNS.get(found[0]) or found[0].replace("&amp;", "&", 1), text)
    for one in reversed(brackets_of(texts["source"], trust, confidence) if row else []):
        text = text.removesuffix(one)
    return Item(
        type=kind,
        text=text,
        id=read.id,
        status=status,
        trust=trust,
        confidence=confidence,
        evidence=tuple([found for one in pairs.get("from", ()) if (found := Evidence.parse(one))]),
        seen=int(seen) if seen.isdecimal() else 0,
        links=tuple((key, tuple(value.split())) for key, value in pairs.items() if key in LINK_KINDS),
        pinned=pairs.get("pinned") == "yes",
        extra=tuple((key, value) for key, value in pairs.items() if key not in _KNOWN),
        **texts,
    )


def ids_in(text: str) -> list[str]:
    """Return the ids of the items whose marks stand in a text, wherever that is."""
    return MARK.findall(text) if "^k" in text else []


def without_mark(line: str) -> str:
    """Return an item's line (without its end) without its mark."""
    bare, ident = split_mark(line)
    return bare if ident else line


_STATUSES = {str(status): status for status in Status}
_TRUSTS = {str(trust): trust for trust in Trust}
_CONFIDENCES = {str(confidence): confidence for confidence in Confidence}
