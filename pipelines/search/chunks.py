"""Split a text into units, which search finds and returns, each with its position and metadata.

A text is first split into small blocks: list item, turn, paragraph, table, code fence.
"""

from __future__ import annotations

import re
from itertools import chain, groupby
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, NamedTuple

from pipelines.search.chunk_context import normalised
from pipelines.search.schema import NEVER, PAST, SHOWN, Strings
from pipelines.store.document import Document, Placed, document_at
from pipelines.store.evidence import voice_in
from pipelines.store.generated import read_sentence
from pipelines.store.item import (
    QUIET,
    STRUCK,
    Confidence,
    Status,
    Trust,
    ids_in,
    parse_item,
    without_mark,
    written_words,
)
from pipelines.store.layout import Kind, day_of_log, is_log, log_path
from pipelines.store.log import CLOCKED, is_message, parse_entries, tags_of
from pipelines.store.markdown import DRAWN, Heading, body_lines, headings_among, without_spans
from pipelines.store.provenance import Provenance
from pipelines.store.session_state import load_seals
from pipelines.store.template import aliases_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


# Never believed, or not to be shown for any day.
UNTOLD = frozenset({Status.WAITING, Status.NEVER_HELD})

DAY = re.compile(r"(?<!\d)\d{4}-\d\d-\d\d(?!\d)")
_TRUSTS, _CONFIDENCES = frozenset(Trust), frozenset(Confidence)

_NO_SCALAR = "[{|>&*"
PIECE_BYTES = 1600
"""The size at which long prose is split: about 400 tokens of four bytes."""
WHOLE_BYTES = 8 * PIECE_BYTES
"""The limit up to which a table or a code fence stays whole; a larger one is not an answer but a file."""
NESTED_BYTES = 400
"""The limit up to which a list item keeps its nested items; in a longer one, they are units of their own."""

_BLANK = re.compile(r"[\s>]*|\s{0,3}(?:[-*_]\s*){3,}")
_LISTED = re.compile(r"([ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]+\S")
_TABLE = re.compile(r"[ \t]*\|")
_NO_VALUE = re.compile(r"[-*+] \**[^\W\d_][\w ]{0,30}\**:\**\s*(?:[*_]\([^()\n]{0,200}\)[*_])?")
"""A field that nobody has filled in."""
# The delimiter row of a table without outer pipes.
_RULER = re.compile(r"[ \t]*:?-+:?(?:[ \t]*\|[ \t]*:?-+:?)+[ \t]*")
# The start of a turn: a speaker's name with a colon, often bold, and perhaps quoted.
_SPEAKER = re.compile(
    r"\s{0,3}(?:>\s?)*"
    r"(?:(?P<mark>\*\*|__|\*|_)[^*_\n]{1,60}(?::(?P=mark)|(?P=mark):)(?:\s|$)"
    r"|[A-Z][\w.'-]{1,30}(?: [A-Z][\w.'-]{0,30}){0,3}:\s)"
)
_LEAD, _ADJOINING = 80, 2
"""Characters of a line that introduces a list, and lines from one block to the next with an empty line between."""
_COMMENT = "<!--", "-->"
_BULLET = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s")
_BLANKS = re.compile(r"\s*")
_WORD = re.compile(r"\w")
_ONLY_LINK = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s+!?\[(?:\[[^\[\]]+\]|[^\[\]]*\]\([^()]*\)$)\]?")
_SENTENCE_END = re.compile(r"[.!?…](?=\s)|[\u3002\uff01\uff1f]")


class Unit(NamedTuple):
    """What search finds and returns.

    Args:
        start_line: first line, counted from 1.
        end_line: last line, inclusive.
        text: the text to show: verbatim lines, or an item's label and sentence; without HTML comments.
        headings: the headings above, outermost first.
        title: its document's own title; empty in a log, or if only the file's name serves as title.
        date: a log's day, an item's `since`, a document's `updated`; `YYYY-MM-DD` or empty.
        until: the first day on which an item no longer held; `YYYY-MM-DD` or empty.
        types: the types of the items in it.
        project: the project's title, or the one named in the log entry; may be empty.
        tags: the `#tag` words of its text and its document, without the mark.
        trust: an item's or its document's; in a log, as decided by its seal or its lead-in.
        confidence: an item's or its document's; empty if unknown.
        confidence_reason: the model's reason for an item, or the document's for its confidence; may be empty.
        source: where an item was first said, as `PATH:LINE`; for an episode its day's log; otherwise the source named
            in its document; may be empty.
        cites: for an episode, the ids of the items it is based on.
        status: an item's, or `quiet`; empty for other units.
        item: the item's id, or empty.
        meta: its document's front matter, as lower-case `key=value` pairs.
        said: the item's own metadata, as it was written.
        record: the transcript's record behind a log line, as `PATH:LINE`, or empty.
        hidden: whether results and neighbours' contexts leave it out: `SHOWN`, `PAST` or `NEVER`.
    """

    start_line: int
    end_line: int
    text: str
    headings: Strings = ()
    title: str = ""
    date: str = ""
    until: str = ""
    types: Strings = ()
    project: str = ""
    tags: Strings = ()
    trust: str = ""
    confidence: str = ""
    confidence_reason: str = ""
    source: str = ""
    cites: Strings = ()
    status: str = ""
    item: str = ""
    meta: Strings = ()
    said: Strings = ()
    record: str = ""
    hidden: int = SHOWN


def read_units(
    path: str, text: str, ledger: Mapping[str, str] | None = None, word: str = Trust.OWNER
) -> tuple[Unit, ...]:
    """Return the units of a file, in order.

    Args:
        path: relative to the memory, with `/`; it distinguishes logs from documents.
        text: the whole file. A log is split into entries, and long entries or those with several turns are split again.
        ledger: the rows of a document's items by id.
        word: whose word a document's prose is that does not say so itself.
    """
    if not is_log(path):
        return tuple(unit for unit in _document_units(document_at(path, text, ledger), word) if _WORD.search(unit.text))
    day = day_of_log(path) or (found[0] if (found := DAY.search(path.rpartition("/")[2])) else "")
    base = Unit(0, 0, "", date=day, trust=Trust.SELF)
    entries, units = parse_entries(path, day, text), list[Unit]()
    provenance = Provenance({path: entries}, load_seals())
    for entry in entries:
        above, record = entry.start_line - 1, voice_in(entry.head)
        for block in split_blocks(entry.text.split("\n")):
            unit = _prose(base, block)
            if not _WORD.search(unit.text):
                continue
            items = [] if block.verbatim else [parse_item(line) for line in block.text.split("\n")]
            trust, _ = provenance.word(entry, block.start_line - 1, block.text, decides=True)
            unit = unit._replace(
                start_line=above + block.start_line,
                end_line=above + block.end_line,
                headings=entry.headings,
                project=entry.project,
                trust=trust,
                types=tuple(dict.fromkeys(str(item.type) for item in items if item)),
                record=f"{record[0]}:{record[1]}" if record else "",
            )
            units.append(unit)
    return tuple(units)


def _document_units(document: Document, word: str) -> Iterator[Unit]:
    front = document.front
    trust, confidence = front.get("trust"), front.get("confidence")
    base = Unit(
        *(0, 0, ""),
        title=document.own_title,
        date=_day(front.get("updated")),
        project=document.title if document.kind is Kind.PROJECT else "",
        tags=tuple(re.findall(r"[\w/-]+", front.get("tags"))),
        trust=trust if trust in _TRUSTS else word,
        confidence=confidence if confidence in _CONFIDENCES else "",
        confidence_reason=front.get("confidence_reason"),
        source=front.get("source"),
        meta=tuple(
            normalised(f"{key}={said}")
            for key, said in (*front.values, *(("aliases", name) for name in aliases_of(document)))
            if said and said[0] not in _NO_SCALAR
        ),
    )
    if document.kind is Kind.EPISODE:
        yield from _episode_units(base, document)
        return
    named = _day(document.path.rpartition("/")[2])  # `2026-04-23_Meeting.md`
    lines, page = document.lines, base._replace(date=base.date or document.newest or named)
    items = {placed.line + 1: placed for placed in document.placed}
    if document.generated:  # what runs wrote only repeats items
        lines = ["\n" if number in document.generated else line for number, line in enumerate(lines)]
    # One that is nested, or quoted, is found by itself, too.
    deep = {place.line for place in items.values() if lines[place.line][0] in " \t>"}
    lines = [line.lstrip(" \t>") if number in deep else line for number, line in enumerate(lines)] if deep else lines
    item: Unit | None = None
    for block in _under_what_introduces(split_blocks(lines, front.lines)):
        below = item if block.text[:1].isspace() else None
        placed = None if block.verbatim else items.get(block.start_line)
        item = _item(base, block, placed, document.rows) if placed else below
        unit = item or _prose(page, block)
        if item and item is below:  # a person's note below it
            unit = _prose(page, block)._replace(date=item.date, until=item.until, hidden=item.hidden)
        if not _NO_VALUE.fullmatch(block.text):
            yield unit


def _under_what_introduces(blocks: Iterable[TextBlock]) -> Iterator[TextBlock]:
    """Yield blocks, those of a list right below a short line such as `Not allowed:` under it, as under a heading."""
    lead, above, end = "", Strings(), 0
    for block in blocks:
        adjoins = block.headings == above and block.start_line - end <= _ADJOINING
        is_listed = _BULLET.match(block.text) or block.text[:1].isspace()
        if not is_listed:
            said = block.text.strip().strip("*_")
            lead = said if said.endswith(":") and len(said) <= _LEAD and "\n" not in said else ""
        elif not adjoins:
            lead = ""
        above, end = block.headings, block.end_line
        yield block._replace(headings=(*above, lead)) if lead and is_listed else block


def _episode_units(base: Unit, document: Document) -> Iterator[Unit]:
    """Yield the episodes of a page, one unit per day, with the items they cite, which lead to log lines."""
    for headings, blocks in groupby(split_blocks(document.lines, document.front.lines), attrgetter("headings")):
        first, *rest = blocks
        end = rest[-1].end_line if rest else first.end_line
        within = range(first.start_line - 1, end)
        rows = (document.generated[number][1] for number in within if number in document.generated)
        sentences = [read_sentence("", row) for row in rows]
        text = "\n".join(document.lines[number].rstrip() for number in within)
        day = _day(headings[-1]) if headings else ""
        yield _prose(base, TextBlock(first.start_line, end, text, headings))._replace(
            date=day,
            trust=Trust.SELF if sentences else base.trust,
            source=f"{log_path(day)}:{re.split('[-,]', sentences[0].lines)[0] or 1}" if sentences and day else "",
            cites=tuple(dict.fromkeys(ident for one in sentences for ident in one.ids if ident.isalnum())),
        )


def _item(base: Unit, block: TextBlock, placed: Placed, rows: Mapping[str, str]) -> Unit:
    """Return the unit of an item with the notes below it.

    Whose word it is, its row says; without one, nobody's.
    """
    item, notes = placed.item, "\n".join(block.text.split("\n")[placed.notes - placed.line :])
    date, until, hidden = _day(item.since) or base.date, _day(item.until), SHOWN
    if item.status is Status.NEVER_HELD:
        until, hidden = date, PAST  # it held on no day
    elif item.status in UNTOLD:
        hidden = NEVER
    elif item.status in STRUCK:
        # It once held, and can be found for days before it was closed; today it leads to what overruled it. If it was
        # closed on an unknown day, it is not found.
        hidden = PAST if until else NEVER
    # HTML comments are for machines and template authors.
    text = without_spans(f"{item.called}: {written_words(item)}\n{notes.strip()}", *_COMMENT).strip()
    return _prose(base, block, text)._replace(
        date=date,
        until=until,
        types=(str(item.type),),
        trust=Trust.EXTERNAL if item.id and item.id not in rows else item.trust,
        confidence=item.confidence,
        confidence_reason=item.reason,
        source=f"{item.evidence[0].path}:{item.evidence[0].start_line}" if item.evidence else "",
        status=QUIET if item.quiet and item.active else item.status,
        item=item.id,
        said=tuple(f"{key}={value}" for key, value in item.metadata.items()),
        hidden=hidden,
    )


def _day(text: str) -> str:
    """Return the day at the start of a text, or an empty string, since only valid days can be compared."""
    return found[0] if (found := DAY.match(text)) else ""


def _prose(base: Unit, block: TextBlock, text: str | None = None) -> Unit:
    """Return the unit of a block, with its own text or another one."""
    if text is None:
        text = block.text if block.verbatim else without_spans(block.text, *_COMMENT).strip()
        text = "\n".join(map(without_mark, text.split("\n"))) if "^k" in text else text
    tags = () if block.verbatim else tags_of(text)
    return base._replace(
        start_line=block.start_line,
        end_line=block.end_line,
        text=text,
        headings=block.headings,
        tags=tuple(dict.fromkeys((*base.tags, *tags))),
    )


class TextBlock(NamedTuple):
    """Lines of a text that belong together.

    Args:
        start_line: first line, counted from 1.
        end_line: last line, inclusive.
        text: those lines, or a part of one that is too long; not empty.
        headings: the headings above, outermost first.
        verbatim: whether it is a code fence, where every character counts.
    """

    start_line: int
    end_line: int
    text: str
    headings: Strings
    verbatim: bool = False


def split_blocks(lines: Sequence[str], start: int = 0) -> Iterator[TextBlock]:
    """Yield the non-empty blocks of a Markdown or plain text, in order.

    Args:
        lines: the lines of the whole file, with their ends.
        start: the first line after the front matter, counted from 0.
    """
    for headings, numbers, verbatim in _groups(lines, start):
        first = lines[numbers[0]]
        rows = [(n, lines[n].rstrip()) for n in numbers]
        is_ruled = len(rows) > 1 and "|" in first and _RULER.fullmatch(rows[1][1])
        if verbatim or is_ruled or _TABLE.match(first):
            yield from _blocks(rows, headings, WHOLE_BYTES, verbatim=verbatim)
        elif ids_in(first):  # keep an item whole
            yield from _blocks(rows, headings, max(PIECE_BYTES, len(first.encode())))
        else:
            yield from _blocks(rows, headings)


def _groups(lines: Sequence[str], start: int) -> Iterator[tuple[Strings, list[int], bool]]:
    """Yield line numbers that belong together, with the headings above, and whether they are a code fence."""
    body = body_lines(lines, start)
    titles = {heading.line: heading for heading in headings_among(body)}
    above: tuple[Heading, ...] = ()
    group = list[int]()
    at = start
    for number, line in chain(body, [(len(lines), None)]):
        hidden, at = list(range(at, number)), number + 1
        heading = titles.get(number)
        closes = heading is not None or line is None or _BLANK.fullmatch(line) is not None
        if group and (hidden or closes or _begins(lines, group, number)):
            yield tuple(one.title for one in above), group, False
            group = []
        if hidden and not (lines[hidden[0]].lstrip().startswith(("<!--", "<<<<<<<")) or DRAWN.match(lines[hidden[0]])):
            yield tuple(one.title for one in above), hidden, True
        if heading is not None:
            above = (*(one for one in above if one.level < heading.level), heading)
        elif not closes:
            group.append(number)


def _begins(lines: Sequence[str], group: Sequence[int], number: int) -> bool:
    """Return whether a line starts a new block rather than continuing the one above."""
    first, line = lines[group[0]], lines[number]
    if _ONLY_LINK.fullmatch(line.rstrip()) and _ONLY_LINK.fullmatch(first.rstrip()):  # a list of links leads on
        return False
    if _TABLE.match(line) or _TABLE.match(first):
        return not (_TABLE.match(line) and _TABLE.match(first))
    if listed := _LISTED.match(line):
        nested = listed[1] and (above := _LISTED.match(first)) and len(above[1]) < len(listed[1])
        return not nested or sum(len(lines[n].encode()) for n in (*group, number)) > NESTED_BYTES
    chat = is_message(first, in_chat=False)
    clocks = bool(CLOCKED.match(line) and CLOCKED.match(first))
    return clocks or is_message(line, in_chat=chat) or _SPEAKER.match(line) is not None


def prose_pieces(text: str) -> Iterator[str]:
    """Yield a plain text in pieces near `PIECE_BYTES`, split between lines if possible, else between sentences."""
    for block in _blocks(list(enumerate(text.split("\n"))), ()):
        yield block.text.strip()


Rows = list[tuple[int, str]]
"""Lines with their numbers from 0; parts of one line share its number."""


def _blocks(rows: Rows, headings: Strings, limit: int = PIECE_BYTES, *, verbatim: bool = False) -> Iterator[TextBlock]:
    """Yield lines whole up to a limit, else in pieces near it; search scores each with those beside it."""
    whole = "\n".join(row for _, row in rows).rstrip()
    if len(whole.encode()) <= limit:
        if whole:
            yield TextBlock(rows[0][0] + 1, rows[-1][0] + 1, whole, headings, verbatim)
        return
    parts = [(number, part) for number, row in rows for part in _parts(row, limit)]
    piece = Rows()
    size = 0
    for at, (number, part) in enumerate(parts, 1):
        piece.append((number, part))
        size += len(part.encode()) + 1
        if at < len(parts) and size + len(parts[at][1].encode()) <= limit:
            continue
        lines = ("".join(one for _, one in same) for _, same in groupby(piece, key=itemgetter(0)))
        if text := "\n".join(lines).rstrip():
            yield TextBlock(piece[0][0] + 1, number + 1, text, headings, verbatim)
        piece, size = [], 0


def _parts(row: str, limit: int) -> Iterator[str]:
    """Yield a line in parts that fit: split at the last end of a sentence, else at the last blank, else anywhere.

    Blanks at a cut belong to the part before it.
    """
    at = 0
    while len(row) - at > limit // 4 and len(row[at : at + limit + 1].encode()) > limit:
        window = row[at : at + limit].encode()[:limit].decode(errors="ignore")
        ends = [found.end() for found in _SENTENCE_END.finditer(window)]
        cut = next((end for end in reversed(ends) if end > len(window) // 2), 0) or window.rfind(" ") + 1 or len(window)
        after = _BLANKS.match(row, at + cut)
        end = after.end() if after else at + cut
        yield row[at:end]
        at = end
    if at < len(row) or not at:
        yield row[at:]
