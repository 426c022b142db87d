"""What of a page or a log a session may see, cut into entries: nothing that holds no longer, no comments, no secrets.

Tokens are counted without a tokenizer.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from pipelines.queries.startup.suspicion import suspicious
from pipelines.store.document import HISTORY, Document
from pipelines.store.generated import read_sentence
from pipelines.store.item import Item, without_mark
from pipelines.store.item_line import ROWS
from pipelines.store.layout import slug
from pipelines.store.log import INLINE_PROJECT
from pipelines.store.markdown import fenced, without_spans
from pipelines.store.spoken_lines import parse_spoken

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


_BULLETS = ("- ", "* ", "+ ", "-\t", "*\t", "+\t")
_CLOSED = HISTORY.casefold()
_REWRITTEN = frozenset(title.casefold() for title in ROWS) - {"people", "where the rest is"}
"""Sections of the briefing whose rows other parts of the context tell better."""
_KINDS_OPEN = frozenset("Todo Risk Question".split())
_LEAST = 20  # tokens below which the end of an overlong entry says nothing

_WITHOUT_LETTERS = str.maketrans("", "", " \t\r\nabcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_WITHOUT_DIGITS = str.maketrans("", "", "0123456789")


@dataclass(frozen=True)
class Snippet:
    """What is kept or cut whole: a heading, a list item with what is indented under it, a paragraph.

    Args:
        text: its lines.
        date: what it is kept by where not all fits, the greatest first, after what has none: the day since which it
            holds or on which it was confirmed; of what is weighed, the weight.
        heading: its level, 0 for what is no heading.
        ids: the items that it shows, or that a generated sentence rests on.
    """

    text: str
    date: str = ""
    heading: int = 0
    ids: tuple[str, ...] = ()

    @cached_property
    def size(self) -> int:
        """Its tokens, with those of its line's end."""
        return tokens(self.text) + 1


Snippets = list[Snippet]
Kept = tuple[Snippets, int]
"""What of some snippets is kept, and how many are cut."""


class ShownLine(NamedTuple):
    """A line: its number from 0, its text, the level of a heading, and of an item its day and id."""

    number: int
    text: str = ""
    heading: int = 0
    date: str = ""
    ids: tuple[str, ...] = ()
    is_code: bool = False


def is_shown(document: Document, item: Item) -> bool:
    """Whether an item holds and is the owner's or the agent's word; one whose row is lost is nobody's."""
    return item.active and item.is_ours and (not item.id or item.id in document.rows)


def is_open(item: Item) -> bool:
    """Whether an item that holds is a todo, a risk or a question."""
    return bool(item.id) and item.called in _KINDS_OPEN


def document_entries(document: Document, *, with_open: bool, ranks: Mapping[str, str]) -> Snippets:
    """Return the entries of a document that hold: without front matter, History, and items that are closed.

    Items from outside are left out, too: a session that has a question finds them, marked as such; and those of the
    briefing's generated rows that other parts of the context tell better.

    Args:
        document: the document.
        with_open: whether what is open is among them; it may be listed elsewhere.
        ranks: what items are kept by, if not by their day.
    """
    items, found = {one.line: one for one in document.items}, list[ShownLine]()
    repeats, hidden, section = {one.line for one in document.placed} - items.keys(), 0, ""
    levels, start = {one.line: one.level for one in document.headings}, document.front.lines
    code = fenced([line.rstrip("\r\n") for line in document.lines])
    lines = [ShownLine(number, line.rstrip(), levels.get(number, 0)) for number, line in document.body]
    lines += [ShownLine(number, document.lines[number].rstrip(), is_code=True) for number in code if number >= start]
    for line in sorted(lines):
        placed = items.get(line.number)
        if line.heading:
            section = line.text[line.heading :].strip().casefold()
        if placed and not (is_shown(document, placed.item) and (with_open or not is_open(placed.item))):
            hidden = placed.end  # with its notes
        elif section == _CLOSED and not (placed and placed.item.id):
            hidden = max(hidden, line.number + 1)
        row = document.generated.get(line.number, ("", ""))[1]
        is_told = section in _REWRITTEN if row else not placed and _is_over(line.text)
        if is_told or line.number < hidden or line.number in repeats:
            found.append(ShownLine(line.number))
        elif placed:
            item = placed.item
            date = ranks.get(item.id, max(item.since, item.confirmed))
            found.append(line._replace(date=date, ids=(item.id,) if item.id else ()))
        else:
            found.append(line._replace(ids=read_sentence("", row).ids) if row else line)
    bare = (one._replace(text=without_spans(without_mark(one.text), "<!--", "-->").rstrip()) for one in found)
    return _without_empty_headings([one for one in _entries(bare) if not _is_blank_form(one.text)])


def _entries(lines: Iterable[ShownLine]) -> Snippets:
    """Return lines as entries: a bullet, a heading or an empty line ends the one before it; code belongs to it."""
    found, current = Snippets(), list[ShownLine]()
    for line in (*lines, ShownLine(0)):
        begins = not line.is_code and (not line.text or line.heading or line.text.startswith(_BULLETS))
        if current and (begins or current[-1].heading):
            ids = tuple(ident for one in current for ident in one.ids)
            text, date = "\n".join(one.text for one in current), max(one.date for one in current)
            found.append(Snippet(text, date, current[0].heading, ids))
            current = []
        current += [line] if line.text or line.is_code else []
    return found


def _is_over(line: str) -> bool:
    """Whether a line that is no item is ticked or struck through."""
    bare = line[2:].lstrip().lower() if line.startswith(_BULLETS) else ""
    return bare.startswith("[x] ") or bare.removeprefix("[ ] ").lstrip().startswith("~~")


def _is_blank_form(entry: str) -> bool:
    """Whether an entry is a line of a form that nobody filled in: `- Name:`."""
    return entry.startswith(_BULLETS) and entry.endswith(":") and entry[2:-1].replace(" ", "").isalpha()


def _without_empty_headings(entries: Snippets) -> Snippets:
    """Return the entries without headings that nothing stands under."""
    kept = Snippets()
    deepest = 7
    for entry in reversed(entries):
        if not entry.heading:
            deepest = 7
            kept.append(entry)
        elif kept and (not kept[-1].heading or entry.heading < deepest):
            kept.append(entry)
            deepest = entry.heading
    return kept[::-1]


def fitting(entries: Snippets, room: int) -> Kept:
    """Return the entries that fit into `room` tokens, in their order, and how many were cut.

    What has no date comes first, from the top; then the newest. A heading stays with what stands under it.
    """
    body = [number for number, entry in enumerate(entries) if not entry.heading]
    dated = sorted((n for n in body if entries[n].date), key=lambda n: entries[n].date, reverse=True)
    return _kept(entries, [*(n for n in body if not entries[n].date), *dated], room)


def said_first(entries: Snippets, room: int, project: str, *, whole: bool) -> Kept:
    """Return the entries of a log that fit into `room` tokens, with the headings above them, and how many were cut.

    Those of other projects come after all others, and agents' turns after what people said and what was logged; of
    each kind the newest come first. Agents' turns of other projects are never shown.

    Args:
        entries: in the order of the log.
        room: the most tokens.
        project: the slug of the session's project, or empty.
        whole: whether the end of an entry that is itself too long is no use.
    """
    body = [number for number, entry in enumerate(entries) if not entry.heading]
    ranks = dict[int, tuple[bool, bool]]()  # whether an entry is of another project, and whether it is an agent's turn
    for number in body:
        head = entries[number].text.partition("\n")[0]
        named, is_agents = INLINE_PROJECT.search(head), parse_spoken(head).speaker == "assistant"
        ranks[number] = bool(project and named and slug(named[1]) != project), is_agents
    order = sorted((n for n in body if not all(ranks[n])), key=lambda number: (ranks[number], -number))
    kept, cut = _kept(entries, order, room)
    if order and not kept and not whole:
        return _end_of(entries[order[0]], room), len(body)
    return kept, cut + len(body) - len(order)


def _kept(entries: Snippets, order: list[int], room: int) -> Kept:
    """Return what fits when entries are taken in some order, each with the headings above it."""
    kept, headings, above = set[int](), list[list[int]](), list[int]()
    for number, entry in enumerate(entries):
        if entry.heading:
            above = [*(one for one in above if entries[one].heading < entry.heading), number]
        headings.append(above)
    for number in order:
        wanted = {number, *headings[number]} - kept
        size = sum(entries[n].size for n in wanted)
        if size <= room:
            kept |= wanted
            room -= size
    return [entries[n] for n in sorted(kept)], sum(n not in kept for n in order)


def _end_of(entry: Snippet, room: int) -> Snippets:
    """Return the end of an entry that is itself too long, with whoever said it; nothing, if that says nothing."""
    spoken = parse_spoken(head := entry.text.partition("\n")[0])
    marks = head.removesuffix(spoken.said) if spoken.speaker else ""
    if (room := room - tokens(marks)) <= _LEAST:
        return []
    text = entry.text[len(marks) :][-8 * room :]
    while tokens(text) + 3 > room:
        text = text[len(text) // 16 + 1 :]
    return [Snippet(f"{marks}… {text.split(None, 1)[-1]}")]


def redacted(text: str) -> str:
    """Return a text without secrets; the rules are slow, so a quick look comes first."""
    if not suspicious(text):
        return text
    from pipelines.store.secrets.redact import without_secrets

    return without_secrets(text)


def tokens(text: str) -> int:
    """Return about how many tokens a text is: in byte-pair vocabularies of 200,000 entries, seldom more than it says.

    Fitted to what such a vocabulary counted in 20 languages, journals, code and the context itself: a letter or a blank
    is .225 of a token, a digit half, a mark three quarters, and a letter of another script .4, .9 or 1.4, as UTF-8 has
    two bytes for it (Cyrillic, Greek, Arabic), three (Chinese, Japanese, Hindi) or four. Rounded up once, so that a
    text is never more than its parts together.
    """
    others = text.translate(_WITHOUT_LETTERS)
    marks = others.translate(_WITHOUT_DIGITS)
    plain = len(marks.encode("ascii", "ignore"))
    foreign = len(marks.encode("utf-8", "surrogatepass")) - plain
    signs = len(marks) - plain
    letters, digits = len(text) - len(others), len(others) - len(marks)
    return -(-(9 * letters + 20 * digits + 30 * plain + 20 * foreign - 24 * signs) // 40)
