"""The unit: what is found and given back. Each knows where it stands and what it rests on."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from pipelines.index.blocks import split_blocks, without_comments
from pipelines.index.schema import NEVER, PAST, SHOWN
from pipelines.store.document import Document
from pipelines.store.evidence import pointer_in
from pipelines.store.item import Confidence, Status, Trust, parse_item
from pipelines.store.layout import LOGS, Kind
from pipelines.store.log import parse_entries, tags_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pipelines.index.blocks import Block
    from pipelines.store.log import Entry

# Closed for belief: what replaced or withdrew them is what holds. They held once, and can be asked for as of a day.
CLOSED: Final = frozenset({Status.SUPERSEDED, Status.RETRACTED, Status.MERGED})
# Never believed, or not to be told again on any day.
UNTOLD: Final = frozenset({Status.FORGOTTEN, Status.WAITING})

_DAY: Final = re.compile(r"(?<!\d)\d{4}-\d\d-\d\d(?!\d)")
_TRUSTS, _CONFIDENCES = frozenset(Trust), frozenset(Confidence)


@dataclass(frozen=True, slots=True)
class Unit:
    """What search finds and gives back.

    Args:
        start_line: first line, counted from 1.
        end_line: last line, inclusive.
        text: what is shown: verbatim lines, an item as its label and sentence; never an HTML comment.
        headings: the headings above, outermost first.
        title: what its document calls itself; empty in a log, and where only the file's name tells.
        date: a log's day, an item's `since`, a document's `updated`; `YYYY-MM-DD` or empty.
        until: the first day on which an item held no more; `YYYY-MM-DD` or empty.
        types: the types of the items in it.
        project: the project's title, or what the log entry says; may be empty.
        tags: the `#tag` words of its text and its document, without the mark.
        trust: an item's or its document's; a log is the agent's own journal (self).
        confidence: an item's or its document's; empty where nobody said.
        status: an item's; empty for what is no item.
        item: the item's id, or empty.
        record: the transcript's record that a log's line tells of, as `PATH:LINE`, or empty.
    """

    start_line: int
    end_line: int
    text: str
    headings: tuple[str, ...] = ()
    title: str = ""
    date: str = ""
    until: str = ""
    types: tuple[str, ...] = ()
    project: str = ""
    tags: tuple[str, ...] = ()
    trust: str = ""
    confidence: str = ""
    status: str = ""
    item: str = ""
    record: str = ""

    @property
    def hidden(self) -> int:
        """Whether it is left out of results and of its neighbours' surroundings: `SHOWN`, `PAST` or `NEVER`.

        What was closed on a day that nobody wrote down held until nobody knows when, so it is told for no day.
        """
        if self.status in UNTOLD:
            return NEVER
        return (PAST if self.until else NEVER) if self.status in CLOSED else SHOWN


def read_units(path: str, text: str) -> tuple[Unit, ...]:
    """Return the units of a file, in order.

    Args:
        path: relative to the memory, with `/`; its place tells a log from a document.
        text: the whole file.
    """
    return tuple(_log_units(path, text) if path.startswith(f"{LOGS}/") else _document_units(path, text))


def _log_units(path: str, text: str) -> Iterator[Unit]:
    """Yield the units of a log: its entries, cut where one is long or holds several turns."""
    day = found[0] if (found := _DAY.search(path.rpartition("/")[2])) else ""
    base = Unit(0, 0, "", date=day, trust=Trust.SELF)
    entries = parse_entries(path, day, text)
    units = [unit for entry in entries for unit in _entry_units(base, entry)]
    yield from sorted((*units, *_bare_headings(base, Document(path, text), entries)), key=lambda unit: unit.start_line)


def _entry_units(base: Unit, entry: Entry) -> Iterator[Unit]:
    above = entry.start_line - 1
    told = pointer_in(entry.text.partition("\n")[0])
    for block in split_blocks(entry.text.split("\n")):
        unit = _prose(base, block)
        if unit.text:
            yield replace(
                unit,
                start_line=above + block.start_line,
                end_line=above + block.end_line,
                headings=entry.headings,
                project=entry.project,
                types=_types(block),
                record=f"{told[0]}:{told[1]}" if told else "",
            )


def _bare_headings(base: Unit, document: Document, entries: Sequence[Entry]) -> Iterator[Unit]:
    """Yield the headings of a log that no entry stands under: there, the heading is all that was said."""
    told = {title for entry in entries for title in entry.headings}
    taken = {line for entry in entries for line in range(entry.start_line, entry.end_line + 1)}
    for heading in document.headings:
        line = heading.line + 1
        if heading.title not in told | {"", base.date} and line not in taken:
            yield replace(base, start_line=line, end_line=line, text=heading.title)


def _types(block: Block) -> tuple[str, ...]:
    items = [] if block.verbatim else [parse_item(line) for line in block.text.split("\n")]
    return tuple(dict.fromkeys(str(item.type) for item in items if item))


def _document_units(path: str, text: str) -> Iterator[Unit]:
    document = Document(path, text)
    front = document.front
    trust, confidence = front.get("trust"), front.get("confidence")
    base = Unit(
        0,
        0,
        "",
        title=document.own_title,
        date=_day(front.get("updated")),
        project=document.title if document.kind is Kind.PROJECT else "",
        tags=tuple(re.findall(r"[\w/-]+", front.get("tags"))),
        trust=trust if trust in _TRUSTS else Trust.OWNER,
        confidence=confidence if confidence in _CONFIDENCES else "",
    )
    titles = {heading.line + 1 for heading in document.headings}
    for block in split_blocks(document.lines, front.lines):
        unit = _prose(base, block) if block.verbatim else _item(base, block) or _prose(base, block)
        if unit.text and block.start_line not in titles:
            yield unit


def _item(base: Unit, block: Block) -> Unit | None:
    """Return the unit of an item with the notes under it, or None where the block holds no item."""
    line, _, notes = block.text.partition("\n")
    item = parse_item(line)
    if item is None:
        return None
    return replace(
        _prose(base, block),
        text=without_comments(f"{item.type}: {item.text}\n{without_comments(notes)}"),
        date=_day(item.since) or base.date,
        until=_day(item.until),
        types=(str(item.type),),
        trust=item.trust,
        confidence=item.confidence,
        status=item.status,
        item=item.id,
    )


def _day(text: str) -> str:
    """Return the day that a text begins with, or an empty string: what is no day could not be compared with one."""
    return found[0] if (found := _DAY.match(text)) else ""


def _prose(base: Unit, block: Block) -> Unit:
    text = block.text if block.verbatim else without_comments(block.text)
    tags = () if block.verbatim else tags_of(text)
    return replace(
        base,
        start_line=block.start_line,
        end_line=block.end_line,
        text=text,
        headings=block.headings,
        tags=tuple(dict.fromkeys((*base.tags, *tags))),
    )
