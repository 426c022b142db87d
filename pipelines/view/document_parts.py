"""A document split into the parts that the page shows: headings, items, generated sentences and prose."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

from pipelines.store.document import HISTORY
from pipelines.store.generated import is_pointer, read_sentence
from pipelines.text import escape_terminal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markdown_it import MarkdownIt

    from pipelines.store.document import Document
    from pipelines.store.item import Item


_LEAST_LEVEL: Final = 2
_DEEPEST: Final = 6


@dataclass(frozen=True, slots=True)
class PagePart:
    """A part of a document.

    Args:
        kind: `heading`, `item`, `sentence` or `prose`.
        text: the words of a heading or sentence, the HTML of prose, or the notes under an item as HTML.
        level: the level of a heading.
        item: the item.
        ids: the items that a sentence rests on.
        line: its line, counted from 1.
    """

    kind: str
    text: str
    level: int = 0
    item: Item | None = None
    ids: tuple[str, ...] = ()
    line: int = 0


def parts_of(document: Document) -> tuple[list[PagePart], list[PagePart]]:
    """Return the parts of a document above `## History`, and those below it, in order."""
    held: list[PagePart] = []
    history: list[PagePart] = []
    into = held
    for part in _parts(document):
        if part.kind == "heading":
            into = history if part.text == HISTORY and part.level == _LEAST_LEVEL else held
            if into is history:
                continue
        into.append(part)
    return _without_empty(held), _without_empty(history)


def _without_empty(parts: Sequence[PagePart]) -> list[PagePart]:
    """Leave out headings without content before the next one of their level."""
    kept: list[PagePart] = []
    below = _LEAST_LEVEL - 1
    for part in reversed(parts):
        is_heading = part.kind == "heading"
        if not is_heading or part.level < _LEAST_LEVEL or below > part.level:
            kept.append(part)
            below = part.level if is_heading else _DEEPEST + 1
    return kept[::-1]


def _parts(document: Document) -> Iterator[PagePart]:
    lines, placed = document.lines, {one.line: one for one in document.items}
    headings = {one.line: one for one in document.headings}
    prose: list[str] = []
    number = document.front.lines
    while number < len(lines):
        line, begin = lines[number].rstrip("\r\n"), number
        generated = read_sentence(line) if "<!-- s:" in line else None
        number = placed[number].end if number in placed else number + 1
        if begin not in placed and begin not in headings and not generated:
            prose.append(line.partition(" <!-- p:")[0] if is_pointer(line) else line)
            continue
        if shown := html_of("\n".join(prose)):
            yield PagePart("prose", shown)
        prose = []
        if one := placed.get(begin):
            notes = "".join(lines[begin + 1 : one.end])
            yield PagePart("item", html_of(notes), item=one.item, line=begin + 1)
        elif heading := headings.get(begin):
            yield PagePart("heading", heading.title, heading.level)
        elif generated:
            yield PagePart("sentence", generated[0].text, ids=generated[0].ids)
    if shown := html_of("\n".join(prose)):
        yield PagePart("prose", shown)


def html_of(text: str) -> str:
    """Return Markdown as HTML, without raw HTML and images, and with control characters written out."""
    return _renderer().render(escape_terminal(text)).strip() if text.strip() else ""


@cache
def _renderer() -> MarkdownIt:
    from markdown_it import MarkdownIt  # noqa: PLC0415  only where a page is drawn

    return MarkdownIt("commonmark", {"html": False}).disable("image").enable("table")
