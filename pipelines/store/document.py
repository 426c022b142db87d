"""A curated document: Markdown that people own, in which the pipeline owns only its item lines.

Any text parses. Editing changes item lines, missing sections, and named keys of the front matter; every other line
keeps its bytes. Former names are kept under `aliases` in the front matter and still find the document; links follow
when it is moved or renamed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, wraps
from operator import itemgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar
from urllib.parse import unquote

from pipelines.errors import BadFile
from pipelines.store.item import CLOSED, Item, ItemType, Status, ids_in, parse_item, render_item, row_of, without_mark
from pipelines.store.item_line import BY_WORD, ITEM_ID, OPENS, ROWS, is_generated_under, line_key, own_block_id
from pipelines.store.layout import Kind, kind_of
from pipelines.store.markdown import (
    KEY_LINE,
    FrontMatter,
    Heading,
    body_lines,
    headings_among,
    line_end,
    read_front_matter,
    split_lines,
)
from pipelines.store.wording import folded
from pipelines.text import stated_due

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence


SECTIONS: Final = {
    ItemType.DECISION: "Decisions",
    ItemType.FACT: "Facts",
    ItemType.RULE: "Rules",
    ItemType.TODO: "Next steps",
    ItemType.RISK: "Risks",
}
_WORDS = {title.casefold(): word for word, title in BY_WORD.items()}
_WORDS |= dict.fromkeys(map(str.casefold, SECTIONS.values()), "")
NOW_TITLE, STATE_TITLE, HISTORY = "Now", "State", "History"
ORDER: Final = (
    NOW_TITLE, STATE_TITLE, "Goals", "Open questions", "Contacts", "Decisions", "Facts", "Rules", "How to",
    "Next steps", "Risks", HISTORY, *ROWS,
)  # fmt: skip
"""The sections of a page, from top to bottom."""
_MARKS = ("-", "*", "+")
_DEPTH = " \t>"
_STATE = re.compile(r"- \[[/>!]\]")  # of a task that is open


class Placed(NamedTuple):
    """An item in its document: its line (from 0), the line after its notes, the section's title, its first note's line.

    An editor may wrap its words over several lines: up to the one with its mark, or without one as far as its first
    paragraph goes. With a mark that the ledger knows, it may be nested or quoted.
    """

    item: Item
    line: int
    end: int
    section: str
    notes: int

    @property
    def is_wrapped(self) -> bool:
        """Whether its words stand on several lines."""
        return self.notes > self.line + 1


@dataclass(frozen=True)
class Document:
    """One curated file.

    Args:
        path: relative to the memory.
        text: the whole file.
        rows: the rows of the ledger for the items that it marks, by id, and for the lines that runs wrote, by key.
        copied: id and text of its lines that only repeat an item in another place.
        reworded: the same of its lines that say something else: each becomes an item of its own with the next run.
        is_still: whether it is the committed version of a file that nothing may be written to; edits leave it as it is.
        refuses: why an edit of it fails instead, as the predicate of a sentence, so that no command says it is done.
    """

    path: str
    text: str
    rows: Mapping[str, str] = field(default_factory=dict, hash=False)
    copied: frozenset[tuple[str, str]] = frozenset()
    reworded: frozenset[tuple[str, str]] = frozenset()
    is_still: bool = False
    refuses: str = ""

    def with_text(
        self, text: str, items: Iterable[Item] = (), generated: Mapping[str, str] = MappingProxyType({})
    ) -> Document:
        """Return the document with another text, in which these items, and rows of generated lines, are new or changed.

        Raises:
            BadFile: it refuses edits.
        """
        rows = {**self.rows, **{item.id: row_of(item) for item in items if item.id}, **generated}
        is_same = (text, rows) == (self.text, self.rows)
        if self.refuses and not is_same:
            raise BadFile(self.path, self.refuses, "Nothing was changed.")
        if self.is_still or is_same:
            return self
        return replace(document_at(self.path, text, rows), copied=self.copied, reworded=self.reworded)

    @cached_property
    def lines(self) -> list[str]:
        """Its lines, with their ends."""
        return split_lines(self.text)

    @cached_property
    def front(self) -> FrontMatter:
        """Its front matter."""
        return read_front_matter(self.lines)

    @cached_property
    def headings(self) -> list[Heading]:
        """Its headings, in order."""
        return headings_among(self.body)

    @cached_property
    def body(self) -> list[tuple[int, str]]:
        """Number (from 0) and text of each line outside front matter, code fences and comments."""
        return body_lines(self.lines, self.front.lines)

    @cached_property
    def items(self) -> tuple[Placed, ...]:
        """Its items, in order. A line whose id has another place is none, nor one that repeats a line above it."""
        aside, ids = self.copied | self.reworded, [one.item.id for one in self.placed if one.item.id]
        if not aside and len(set(ids)) == len(ids):
            return self.placed  # nearly all documents
        seen, found = set[tuple[str, str]](), []
        for one in self.placed:
            words = (one.item.id, folded(one.item.text))
            if not one.item.id or not (words in seen or (one.item.id, one.item.text) in aside):
                found.append(one)
            seen.add(words)
        return tuple(found)

    @cached_property
    def placed(self) -> tuple[Placed, ...]:
        """Its item lines, copies among them, in order, except in code fences and comments."""
        lines, titles = self.lines, {h.line: h for h in self.headings}
        section, word, found = "", None, []
        if self.kind is Kind.EPISODE:
            return ()  # it cites items, and has none
        for number, line in self.body:
            if number in titles:
                section = titles[number].title
                word = _WORDS.get(section.casefold()) if titles[number].level > 1 else None
                continue
            if not (bare := line.lstrip(_DEPTH)).startswith(_MARKS) or number in self.generated:
                continue
            if bare != line and self.rows.keys().isdisjoint(ids_in(line)):
                continue
            words, notes, end = _extent(lines, number, bare)
            ident = (ids_in(words) or [""])[0]
            if item := parse_item(words, self.rows.get(ident, ""), word):
                found.append(Placed(item, number, end, section, notes))
        return tuple(found)

    @cached_property
    def generated(self) -> dict[int, tuple[str, str]]:
        """Line (from 0) → its heading's title and its row, for each line that a run wrote and nobody changed."""
        if not self.told:
            return {}
        titles, title = {h.line: h.title for h in self.headings}, ""
        found = dict[int, tuple[str, str]]()
        for number, line in self.body:
            title = titles.get(number, title)
            if number not in titles and is_generated_under(self.path, title):
                key = line_key(title, line)
                found |= {number: (title, self.rows[key])} if key in self.told else {}
        return found

    @cached_property
    def told(self) -> frozenset[str]:
        """The keys of its generated lines."""
        return frozenset(key for key in self.rows if not ITEM_ID.fullmatch(key))

    @cached_property
    def held(self) -> dict[str, tuple[str, Item]]:
        """Id → (path, item), for every item with an id; the last one of a duplicated id."""
        return {placed.item.id: (self.path, placed.item) for placed in self.items if placed.item.id}

    @cached_property
    def newest(self) -> str:
        """The latest day that an item was learnt or confirmed, or an empty string."""
        return max((day for one in self.items for day in (one.item.learnt, one.item.confirmed)), default="")

    @property
    def id(self) -> str:
        """Its id: its path without `.md`."""
        return self.path.removesuffix(".md")

    @property
    def kind(self) -> Kind:
        """Its kind, by its path."""
        return kind_of(self.path) or Kind.RESOURCE

    @property
    def title(self) -> str:
        """Its title: from the front matter, else the heading that it begins with, else its file name."""
        return self.own_title or unquote(self.id.rpartition("/")[2])  # Logseq writes a colon as %3A

    @property
    def own_title(self) -> str:
        """The title in its text, which does not change when the file is renamed; may be empty."""
        top = next((number for number, line in self.body if line.strip()), None)
        first = next((h.title for h in self.headings if h.level == 1 and h.line == top), "")
        return self.front.get("title") or first or self.front.get("name")

    @property
    def size(self) -> int:
        """Its size in bytes."""
        return len(self.text.encode())


Documents = Mapping[str, Document]
"""Documents by their paths."""


def _extent(lines: Sequence[str], first: int, bare: str) -> tuple[str, int, int]:
    """Return the words of an item, the line after them, and the line after its notes.

    If its line has no mark, its words go on up to it or the paragraph's end. A person's notes, indented below the item,
    move with it, but not another item.

    Args:
        lines: the document's lines.
        first: the line on which the item begins.
        bare: that line without what it is nested in.
    """
    after = end = first + 1
    begins, depth = {" ", "\t", lines[first][:1]}, len(lines[first]) - len(bare)
    while end < len(lines):
        line, note = lines[end], lines[end].lstrip(_DEPTH)
        is_below = line[:1] in begins and len(line) - len(note) > depth and note.strip()
        if not is_below or (note.startswith(_MARKS) and ids_in(line)):
            break
        end += 1
    if ids_in(lines[first]):
        return bare, after, end
    while after < end and not lines[after].lstrip().startswith((*_MARKS, ">", "`", "~", "|", "<")):
        after += 1
        if ids_in(lines[after - 1]):
            break
    else:
        after = first + 1 if lines[first].rstrip().endswith("~~") else after  # what is struck ends there
    return " ".join(map(str.strip, lines[first:after])), after, end


def document_at(path: str, text: str, ledger: Mapping[str, str] | None = None) -> Document:
    """Return the document at a path.

    Args:
        path: relative to the memory.
        text: the whole file.
        ledger: rows by id and key, of whatever items and lines.
    """
    if not ledger:
        return Document(path, text)
    keys = (*ids_in(text), *keys_for_runs(path, text))
    return Document(path, text, {key: ledger[key] for key in keys if key in ledger})


def keys_for_runs(path: str, text: str) -> Iterator[str]:
    """Yield the keys of the lines under headings that runs own; most pages have none."""
    title = ""
    for line in text.split("\n") if kind_of(path) in _WRITTEN or _HAS_STATE.search(text) else ():
        if line.startswith("#") and OPENS.match(line) is None:
            title = line.strip("# \r")
        elif line.strip() and is_generated_under(path, title):
            yield line_key(title, line)


_WRITTEN = frozenset({Kind.BRIEFING, Kind.EPISODE})
_HAS_STATE = re.compile(rf"^#+ {STATE_TITLE}", re.MULTILINE | re.IGNORECASE)


_D = TypeVar("_D", Document, Document | None)
_T = TypeVar("_T")


def kept_with_document(work: Callable[[_D], _T]) -> Callable[[_D], _T]:
    """Keep what a function returns for a document with that document, as a cached property does."""
    name = f"{work.__module__}.{work.__qualname__}"

    @wraps(work)
    def kept(document: _D) -> _T:
        values: dict[str, _T] = getattr(document, "__dict__", {})  # nothing is kept with None
        if name not in values:
            values[name] = work(document)
        return values[name]

    return kept


def numbered(documents: Iterable[Document]) -> Iterator[tuple[Document, Placed]]:
    """Yield every item with an id, and its document."""
    return ((document, placed) for document in documents for placed in document.items if placed.item.id)


def section_of(item: Item) -> str:
    """Return the title of an item's section: the one that it names, else that of its type.

    Closed items belong in the History.
    """
    return HISTORY if item.status in CLOSED else BY_WORD.get(item.page_section, SECTIONS[item.type])


@dataclass(frozen=True, slots=True)
class Block:
    """An item to add to a document, with the notes that a person wrote below it (whole lines, with line ends).

    `section` is the title of its section; if empty, `section_of` decides.
    """

    item: Item
    notes: tuple[str, ...] = ()
    section: str = ""


def block_of(document: Document, placed: Placed) -> Block:
    """Return an item of a document, with its notes, as a block to be moved elsewhere."""
    return Block(placed.item, tuple(document.lines[placed.notes : placed.end]))


def edited(
    document: Document,
    *,
    add: Iterable[Block] = (),
    replace: Mapping[str, Item] | None = None,
    remove: Iterable[str] = (),
) -> Document:
    """Return the document with items added to their sections, replaced in place, or removed.

    A section that loses its last item goes if a run can add it again.

    Args:
        document: the document.
        add: blocks to append to their sections, in order; missing sections are added.
        replace: new items by id; the line is rewritten, its notes stay.
        remove: ids of items to remove with their notes.
    """
    replace, gone, lines, added = replace or {}, set(remove), list(document.lines), list(add)
    end = line_end(lines)
    items, aside = {one.line for one in document.items}, document.copied | document.reworded
    for placed in reversed(document.placed):
        if placed.item.id in gone and (placed.item.id, placed.item.text) not in aside:  # repeats of it, too
            del lines[placed.line : placed.end]
        elif placed.line in items and (new := replace.get(placed.item.id)):
            bare = lines[placed.line].lstrip(_DEPTH)
            state = _STATE.match(bare) if new.status is Status.OPEN else None
            row = state[0] + render_item(new)[len(state[0]) :] if state else render_item(new)
            own = own_block_id(without_mark(lines[placed.notes - 1].rstrip()))
            lines[placed.line : placed.notes] = [lines[placed.line].removesuffix(bare) + row + own + end]
    sections = dict[str, list[str]]()
    for block in added:
        rows = sections.setdefault(block.section or section_of(block.item), [])
        rows += [render_item(block.item) + end, *block.notes]
    for title in (title for title in ORDER if title in sections):
        lines = insert_rows(lines, title, sections[title])
    for title in {placed.section for placed in document.items if placed.item.id in gone}.intersection(ORDER):
        lines = without_empty(lines, title)
    return document.with_text("".join(lines), [*(block.item for block in added), *replace.values()])


def with_marks(document: Document, items: Mapping[int, Item]) -> Document:
    """Return the document with items that lines state, marked and with their rows; the lines' words keep their bytes.

    A Todo's line gains the day when it is due, unless it states one.

    Args:
        document: the document.
        items: line (from 0) → the parsed item, with the values for its row.
    """
    lines, wrapped = list(document.lines), {one.line: one.notes for one in document.placed if one.is_wrapped}
    for line, item in sorted(items.items(), key=itemgetter(0), reverse=True):
        end, below = line_end(lines[line : line + 1]), wrapped.get(line, line + 1)
        words = " ".join(map(str.strip, lines[line:below])) if line in wrapped else lines[line].rstrip("\r\n")
        own = own_block_id(words := without_mark(words).rstrip())
        due = f" (due {item.due})" if item.type is ItemType.TODO and item.due and not stated_due(words)[1] else ""
        marked = f"{words.removesuffix(own)}{due} ^{item.id}{own}"
        lines[line:below] = [f"{marked}{end if lines[line].endswith(end) else ''}"]
    return document.with_text("".join(lines), items.values())


def with_front_matter(document: Document, values: dict[str, str]) -> Document:
    """Return the document with these keys of its front matter set, if that is valid; other lines stay as they are.

    A document without front matter gains it.
    """
    front, lines, end = document.front, document.lines, line_end(document.lines)
    if front.faults:
        return document
    block = lines[: front.lines] or [f"---{end}", f"---{end}"]
    left, out = dict(values), block[:1]
    for line in block[1:-1]:
        found = KEY_LINE.match(line)
        if found and found[1] in values:  # set duplicate keys alike: readers differ in which one counts
            value = values[found[1]]
            left.pop(found[1], None)
            out.append(line if (found[2] or "").strip("\"'") == value else f"{found[1]}: {value}{end}")
        else:
            out.append(line)
    out += [f"{key}: {value}{end}" for key, value in left.items()]
    return document.with_text("".join([*out, block[-1], *lines[front.lines :]]))


def insert_rows(lines: list[str], title: str, rows: list[str], order: tuple[str, ...] = ORDER) -> list[str]:
    """Return `lines` with rows appended to the section `title`; if it is missing, add it where `order` has it."""
    lines = list(lines)
    end, start = line_end(lines), read_front_matter(lines).lines
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += end
    headings = headings_among(body_lines(lines, start))
    sections = [(h.title.casefold(), h.line) for h in headings if h.level > 1]
    first = next((line + 1 for name, line in sections if name == title.casefold()), None)
    if first is None:  # add it before the next section in the order, else at the end
        later = {name.casefold() for name in order[order.index(title) + 1 :]} if title in order else set()
        place = next((line for name, line in sections if name in later), len(lines))
        before = [end] if place and lines[place - 1].strip() else []
        after = [end] if place < len(lines) else []
        return [*lines[:place], *before, f"## {title}{end}", end, *rows, *after, *lines[place:]]
    place = stop = next((h.line for h in headings if h.line >= first), len(lines))
    while place > first and not lines[place - 1].strip():
        place -= 1
    before = [] if place > first and lines[place - 1].startswith((*_MARKS, " ", "\t")) else [end]
    blank = lines[place:stop][bool(before) and stop - place > 1 :]  # one that stands there is not added again
    after = (blank or [end]) if stop < len(lines) else []
    return [*lines[:place], *before, *rows, *after, *lines[stop:]]


def without_empty(lines: list[str], title: str) -> list[str]:
    """Return `lines` without the section of that title (level two) if it is empty."""
    headings = headings_among(body_lines(lines, 0))
    for number, heading in enumerate(headings):
        if heading.level == 2 and heading.title == title:  # noqa: PLR2004  the level of all sections
            stop = headings[number + 1].line if number + 1 < len(headings) else len(lines)
            if not "".join(lines[heading.line + 1 : stop]).strip():
                above = lines[: heading.line]
                while stop == len(lines) and above and not above[-1].strip():
                    above.pop()
                return [*above, *lines[stop:]]
    return lines
