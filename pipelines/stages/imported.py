"""Import: items of another memory, or of an earlier state of this one, are put where their records say they stood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pipelines.store.document import HISTORY, SECTIONS, Document, edited, insert_rows, section_of
from pipelines.store.item import render_item
from pipelines.store.markdown import line_end

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pipelines.store.item import Item

_ORDER: Final = (*SECTIONS.values(), HISTORY)


@dataclass(frozen=True, slots=True)
class Home:
    """A document as a record tells of it."""

    path: str
    title: str
    kind: str
    status: str


@dataclass(frozen=True, slots=True)
class Incoming:
    """An item as a record tells of it.

    Args:
        line: the record's line in its file, from 1.
        path: its document.
        item: the item.
        section: the title of the section that it stood in; may be empty.
        notes: the lines under it, without their ends.
    """

    line: int
    path: str
    item: Item
    section: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Imported:
    """The documents after an import.

    Args:
        documents: every document by path.
        added: ids of items that are new; those of lines without an id are empty.
        replaced: ids of items that say something else now.
        skipped: how many were there already.
        made: paths of documents that were made.
    """

    documents: dict[str, Document]
    added: tuple[str, ...]
    replaced: tuple[str, ...]
    skipped: int
    made: tuple[str, ...]


def clashing(documents: Mapping[str, Document], incoming: Iterable[Incoming]) -> list[Incoming]:
    """Return the records whose ids stand already and say something else."""
    there = _there(documents)
    return [one for one in incoming if one.item.id in there and not _same(there[one.item.id][1], one.item)]


def imported(documents: Mapping[str, Document], homes: Sequence[Home], incoming: Sequence[Incoming]) -> Imported:
    """Return the documents with the items in them; what stands already and says the same is passed over.

    Args:
        documents: every document by path.
        homes: documents that may have to be made.
        incoming: the items, in the order in which they stood.
    """
    after, there = dict(documents), _there(documents)
    plain = {(path, p.item.type, p.item.text) for path, one in documents.items() for p in one.items}
    known = [one for one in incoming if one.item.id in there or (_bare(one) in plain and not one.item.id)]
    changed = [one for one in known if one.item.id and not _same(there[one.item.id][1], one.item)]
    for one in changed:
        path = there[one.item.id][0]
        after[path] = edited(after[path], replace={one.item.id: one.item})
    fresh: dict[str, list[Incoming]] = {}
    for one in incoming:
        if one not in known:
            fresh.setdefault(one.path, []).append(one)
    told = {home.path: home for home in homes}
    made = [path for path in fresh if path not in after] + [path for path in told if path not in {**after, **fresh}]
    for path in made:
        after[path] = _made(told.get(path) or Home(path, "", "", "active"), fresh.get(path, ()))
    for path, rows in fresh.items():
        if path not in made:
            after[path] = _filled(after[path], rows)
    added = tuple(one.item.id for rows in fresh.values() for one in rows)
    return Imported(after, added, tuple(one.item.id for one in changed), len(known) - len(changed), tuple(made))


def _there(documents: Mapping[str, Document]) -> dict[str, tuple[str, Item]]:
    return {p.item.id: (path, p.item) for path, document in documents.items() for p in document.items if p.item.id}


def _same(there: Item, item: Item) -> bool:
    return (there.type, there.text) == (item.type, item.text)


def _bare(one: Incoming) -> tuple[str, object, str]:
    return one.path, one.item.type, one.item.text


def _rows(one: Incoming, end: str) -> list[str]:
    return [render_item(one.item) + end, *(note + end for note in one.notes)]


def _made(home: Home, incoming: Sequence[Incoming]) -> Document:
    """Return a document that holds just these items, in their order, under the headings that they stood under."""
    title = home.title or home.path.rpartition("/")[2].removesuffix(".md")
    front = [
        "---",
        f"title: {title}",
        f"kind: {home.kind or 'resource'}",
        f"status: {home.status}",
        "source: logs",
        "---",
    ]
    lines = [
        *(front if home.status else []),
        *(row.rstrip() for one in incoming if not one.section for row in _rows(one, "")),
    ]
    lines += [f"# {title}"]
    section = title
    for one in incoming:
        if one.section and one.section != section:
            section = one.section
            lines += ["", f"## {section}"]
        if one.section:
            lines += ([""] if lines[-1].startswith("#") else []) + _rows(one, "")
    return Document(home.path, "\n".join(lines) + "\n")


def _filled(document: Document, incoming: Sequence[Incoming]) -> Document:
    """Return a document with these items at the end of the sections that they stood in."""
    lines, end = list(document.lines), line_end(document.lines)
    sections: dict[str, list[str]] = {}
    for one in incoming:
        sections.setdefault(one.section or section_of(one.item), []).extend(_rows(one, end))
    for title, rows in sections.items():
        lines = insert_rows(lines, title, rows, _ORDER)
    return document.with_text("".join(lines))
