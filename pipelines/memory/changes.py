"""The change set of a run: all that it would write, checked whole before the first byte is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipelines.memory.items import parse_item, render_item
from pipelines.memory.layout import BRIEFING, kind_of

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

    from pipelines.memory.documents import Document
    from pipelines.memory.items import Item


@dataclass(frozen=True, slots=True)
class Change:
    """One file before and after; None where it is not there."""

    path: str
    before: bytes | None
    after: bytes | None


def document_changes(before: Mapping[str, Document], after: Mapping[str, Document]) -> list[Change]:
    """Return the changes that lead from one set of documents to the other, in order of paths."""
    return [
        Change(path, _data(before.get(path)), _data(after.get(path)))
        for path in sorted(before.keys() | after.keys())
        if _text(before.get(path)) != _text(after.get(path))
    ]


def _text(document: Document | None) -> str | None:
    return document.text if document else None


def _data(document: Document | None) -> bytes | None:
    return document.text.encode() if document else None


def check_documents(
    before: Mapping[str, Document],
    after: Mapping[str, Document],
    cap: int,
    *,
    added: Iterable[str] = (),
    gone: Container[str] = (),
) -> list[str]:
    """Return what the new documents would break; an empty list means that they may be written.

    Conservation: every item that stood somewhere stands somewhere still, and so does every new one. Ids stay unique,
    links resolve, every item line reads back as itself, and MEMORY.md is under its cap unless what people wrote
    exceeds it alone.

    Args:
        before: every document as the run found it.
        after: every document as it would be.
        cap: of MEMORY.md, in bytes.
        added: ids of items that are new.
        gone: ids of items that leave on purpose, each with a tombstone.
    """
    faults = _not_conserved(before, after, added, gone)
    for path, document in after.items():
        if document is before.get(path):
            continue
        if kind_of(path) is None:
            faults.append(f"{path} is no place for a document")
        faults += [
            f"{placed.item.id} in {path} would not read back as itself"
            for placed in document.items
            if placed.item.id and not _reads_back(document.lines[placed.line], placed.item)
        ]
    briefing = after.get(BRIEFING)
    if briefing and briefing is not before.get(BRIEFING) and briefing.size > cap and _has_own_items(briefing):
        faults.append(f"{BRIEFING} would have {briefing.size:,} bytes, over its cap of {cap:,}")
    return faults


def _reads_back(line: str, item: Item) -> bool:
    """Whether an item that was read from a line is read again from the line that it is written as."""
    rendered = render_item(item)
    return rendered == line.rstrip("\r\n") or parse_item(rendered) == item


def _not_conserved(
    before: Mapping[str, Document], after: Mapping[str, Document], added: Iterable[str], gone: Container[str]
) -> list[str]:
    """Return which items would vanish, stand twice, or name what is nowhere.

    Most documents stay as they are, the very same objects: of those only the ids are looked at.
    """
    stays = [document for path, document in after.items() if document is before.get(path)]
    still = {ident for document in stays for ident in document.ids}
    was = _places(document for path, document in before.items() if document is not after.get(path))
    now = _places(document for path, document in after.items() if document is not before.get(path))
    there = now.keys() | still
    faults = [f"{ident} of {was[ident][0]} would vanish" for ident in was if ident not in there and ident not in gone]
    faults += [f"{ident} is new and would stand nowhere" for ident in added if ident not in there]
    # What stands in a document that stays stands twice as soon as one more than before comes to stand elsewhere.
    twice = [ident for ident in now if len(now[ident]) > max(ident not in still, len(was.get(ident, ())))]
    beside = _places(stays) if twice else {}
    faults += [f"{ident} would stand in {' and '.join((*beside.get(ident, ()), *now[ident]))}" for ident in twice]
    lost = _dangling(after.values(), there) - _dangling(before.values(), was.keys() | still)
    return faults + [
        f"{ident} would name {named}, which is nowhere" for ident, named in sorted(lost) if named not in gone
    ]


def _places(documents: Iterable[Document]) -> dict[str, list[str]]:
    places: dict[str, list[str]] = {}
    for document in documents:
        for ident in document.ids:
            places.setdefault(ident, []).append(document.path)
    return places


def _dangling(documents: Iterable[Document], known: Container[str]) -> set[tuple[str, str]]:
    """Return (id, named id) of each link that leads nowhere."""
    return {link for document in documents for link in document.links if link[1] not in known}


def _has_own_items(document: Document) -> bool:
    """Whether a document holds items that a run extracted, as against lines that people wrote."""
    return any(placed.item.by for placed in document.items)
