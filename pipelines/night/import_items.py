"""`curate import`: import the JSONL of `curate export`, all of it or nothing."""

from __future__ import annotations

import json
import unicodedata
from dataclasses import dataclass
from dataclasses import replace as replaced
from typing import TYPE_CHECKING, Any, Final

from pipelines.errors import BadFile, UsageFault
from pipelines.night.manual import ManualChange, change_by_hand
from pipelines.store.change_set import items_by_id
from pipelines.store.conservation import buried_ids
from pipelines.store.document import ORDER, Document, edited, insert_rows, section_of
from pipelines.store.item import fold, parse_item, render_item
from pipelines.store.jsonl import check_header, from_record, placement_of
from pipelines.store.layout import FOLDERS, NOTES, Kind, can_stand, kind_of
from pipelines.store.markdown import line_end
from pipelines.store.user_layout import InPlaceLayout, layout_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from pipelines.settings import Settings
    from pipelines.store.item import Item

    Home = tuple[str, str, str]
    """The title, kind and status of a document."""
    Export = tuple[Mapping[str, Home], tuple["Incoming", ...]]
    """What a file holds: its documents, path → home, and its items in order."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """An item as a record describes it.

    Args:
        line: the record's line in its file, from 1.
        path: its document.
        item: the item.
        section: the title of its section; may be empty.
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
        added: ids of new items; empty for lines without an id.
        replaced: ids of items that were reworded.
        skipped: how many existed already.
        made: paths of new documents.
    """

    documents: dict[str, Document]
    added: tuple[str, ...]
    replaced: tuple[str, ...]
    skipped: int
    made: tuple[str, ...]


def imported(documents: Mapping[str, Document], export: Export) -> Imported:
    """Return the documents with the items added; items that exist unchanged are skipped.

    Args:
        documents: every document by path.
        export: the items, and the documents to create if missing.
    """
    after, existing, (homes, incoming) = dict(documents), items_by_id(documents), export
    plain = {(path, p.item.type, p.item.text) for path, one in documents.items() for p in one.items}
    known: list[Incoming] = []
    fresh: dict[str, list[Incoming]] = {}
    for one in incoming:
        repeats = (one.path, one.item.type, one.item.text) in plain
        if one.item.id in existing or (repeats and not one.item.id):
            known.append(one)
        else:
            fresh.setdefault(one.path, []).append(one)
    changed = _clashing(existing, known)
    for one in changed:
        path = existing[one.item.id][0]
        after[path] = edited(after[path], replace={one.item.id: one.item})
    made = [path for path in fresh if path not in after] + [path for path in homes if path not in {**after, **fresh}]
    for path in made:
        after[path] = _made(path, homes.get(path, ("", "", "active")), fresh.get(path, ()))
    for path, rows in fresh.items():
        if path not in made:
            after[path] = _filled(after[path], rows)
    added = tuple(one.item.id for rows in fresh.values() for one in rows)
    return Imported(after, added, tuple(one.item.id for one in changed), len(known) - len(changed), tuple(made))


def _clashing(existing: Mapping[str, tuple[str, Item]], incoming: Iterable[Incoming]) -> list[Incoming]:
    """Return the records whose ids exist already with other words."""
    found = ((one, existing[one.item.id][1]) for one in incoming if one.item.id in existing)
    return [one for one, old in found if (old.type, old.text) != (one.item.type, one.item.text)]


def _rows(one: Incoming, end: str) -> list[str]:
    return [render_item(one.item) + end, *(note + end for note in one.notes)]


def _made(path: str, home: Home, incoming: Sequence[Incoming]) -> Document:
    """Return a document with exactly these items, in their order, under their headings."""
    title, kind, status = home
    title = section = title or path.rpartition("/")[2].removesuffix(".md")
    keys = (f"title: {title}", f"kind: {kind or 'resource'}", f"status: {status}", "source: logs")
    lines = ["---", *keys, "---"] if status else []
    lines += [row.rstrip() for one in incoming if not one.section for row in _rows(one, "")] + [f"# {title}"]
    for one in incoming:
        if one.section and one.section != section:
            section = one.section
            lines += ["", f"## {section}"]
        if one.section:
            lines += ([""] if lines[-1].startswith("#") else []) + _rows(one, "")
    return Document(path, "\n".join(lines) + "\n")


def _filled(document: Document, incoming: Sequence[Incoming]) -> Document:
    """Return a document with these items at the end of their sections."""
    lines, end = list(document.lines), line_end(document.lines)
    sections: dict[str, list[str]] = {}
    for one in incoming:
        sections.setdefault(one.section or section_of(one.item), []).extend(_rows(one, end))
    for title, rows in sections.items():
        lines = insert_rows(lines, title, rows, ORDER)
    return document.with_text("".join(lines))


_SHOWN: Final = 20
MAX_LINE: Final = 1024 * 1024
MOST_RECORDS: Final = 500_000
_LONGEST_SHOWN: Final = 200


def read_export(name: str, lines: Iterable[bytes | None]) -> Export:
    """Return the contents of an export file.

    Args:
        name: the file's name, for messages.
        lines: its lines; None for one that is longer than `MAX_LINE`.

    Raises:
        BadFile: a line cannot be read; the message lists such lines by number.
    """
    homes: dict[str, Home] = {}
    items: list[Incoming] = []
    faults: list[str] = []
    ids: dict[str, int] = {}
    number = 0
    for number, record in _records(lines, faults):
        try:
            if number == 1:
                check_header(record)
            elif record.get("record") == "document":
                path, home = _home(record)
                homes[path] = home
            elif record.get("record") == "item":
                one = _item(number, record)
                if one.item.id and (first := ids.setdefault(one.item.id, number)) != number:
                    raise ValueError(f"{one.item.id} is in line {first} already")  # noqa: TRY301  one way to report
                items.append(one)
        except ValueError as error:
            faults.append(f"line {number}: {error}")
    if not (number or faults):
        faults.append("line 1: there is no header; the file is empty")
    if faults:
        why = f"cannot be imported, so nothing was:{_listed(faults)}"
        raise BadFile(name, why, "Correct the file, then import it again.")
    return homes, tuple(items)


def _records(lines: Iterable[bytes | None], faults: list[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(lines, 1):
        if number > MOST_RECORDS:
            faults.append(f"line {number}: the file exceeds the limit of {MOST_RECORDS:,} lines")
            return
        if line is None:
            faults.append(f"line {number}: it exceeds the limit of {MAX_LINE:,} bytes")
            continue
        if not line.strip() and number > 1:
            continue
        try:
            record = json.loads(line.decode())
        except (ValueError, RecursionError):
            faults.append(f"line {number}: it is not JSON")
            continue
        if isinstance(record, dict):
            yield number, record
        else:
            faults.append(f"line {number}: it is not a JSON object")


def _home(record: dict[str, Any]) -> tuple[str, Home]:
    fields = [record.get(key) or "" for key in ("path", "title", "kind", "status")]
    if not all(isinstance(one, str) for one in fields):
        raise ValueError("a document's path, title, kind and status must be texts")
    path, title, kind, status = map(str, fields)
    return _checked(path), (fold(title), fold(kind), fold(status))


def _checked(path: str) -> str:
    """Return the path of a document, if it is a valid one.

    Raises:
        ValueError: it is not.
    """
    plain = all(can_stand(part) and can_stand(part.removesuffix(".md")) for part in path.split("/"))
    if (
        kind_of(path) in {None, Kind.EPISODE}
        or not plain
        or not path.isprintable()
        or not unicodedata.is_normalized("NFC", path)
    ):
        shown = path if len(path) <= _LONGEST_SHOWN else f"{path[:_LONGEST_SHOWN]}…"
        raise ValueError(f"{shown!r} is not a valid path for a document")
    return path


def _item(number: int, record: dict[str, Any]) -> Incoming:
    path, item = from_record(record)
    section, notes = placement_of(record)
    if parse_item(render_item(item)) != item:
        raise ValueError("the item would not read back as itself")
    if any(not note[:1].isspace() or not note.strip() for note in notes):
        raise ValueError("a note under an item must be indented")
    return Incoming(number, _checked(path), item, fold(section), notes)


def import_items(root: Path, settings: Settings, when: datetime, export: Export, *, replace: bool) -> Imported:
    """Import the items into a memory in one commit; if all of them exist already, write nothing.

    Args:
        root: the memory.
        settings: its settings.
        when: the time of the import.
        export: what to import.
        replace: whether to replace existing items that have other words.

    Raises:
        UsageFault: ids exist already with other words.
        CurateError: any error of a manual change.
    """
    export = _placed(root, export)
    with change_by_hand(root, settings, when, "curate import") as held:
        existing = items_by_id(held.documents)
        if not replace and (clash := _clashing(existing, export[1])):
            shown = _listed([f"line {one.line}: {one.item.id}" for one in clash])
            raise UsageFault(
                f"These ids exist already with other words, so nothing was imported:{shown}",
                "\nTo take the words of the file, add --replace.",
            )
        after = imported(held.documents, export)
        if after.added or after.replaced or after.made:
            # Ids that items of the export link to but no item has: the exporting memory had lost them.
            known = {*existing, *buried_ids(held.snapshot), *(one.item.id for one in export[1])}
            absent = sorted({ident for one in export[1] for ident in one.item.linked} - known)
            summary = f"Import {len(after.added)} {'item' if len(after.added) == 1 else 'items'}"
            added = [ident for ident in after.added if ident]
            held.write(ManualChange(after.documents, summary, added=added, changed=len(after.replaced), absent=absent))
        return after


def _placed(root: Path, export: Export) -> Export:
    """Return an export with its paths adapted to this memory.

    A path in Notes is a person's own file, which runs may not write unless it is opted in here. Its items go to the
    document of the same path outside Notes, or below Resources.
    """
    layout = layout_of(root)

    def here(path: str) -> str:
        if not path.startswith(f"{NOTES}/") or (isinstance(layout, InPlaceLayout) and layout.is_writable(path)):
            return path
        bare = path.removeprefix(f"{NOTES}/")
        return bare if bare.partition("/")[0] in FOLDERS else f"Resources/{bare}"

    homes, items = export
    placed = tuple(replaced(one, path=here(one.path)) for one in items)
    return {here(path): home for path, home in homes.items()}, placed


def _listed(faults: Sequence[str]) -> str:
    """Return the faults, one a line, and how many more there are."""
    more = [f"and {len(faults) - _SHOWN} more"] if len(faults) > _SHOWN else []
    return "".join(f"\n  {fault}" for fault in [*faults[:_SHOWN], *more])
