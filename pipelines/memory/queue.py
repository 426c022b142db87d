"""Review.md, the queue of what waits for a person: entries under headings, choices as boxes, items as waiting lines.

    ## 7 items are gone from Projects/alpha.md <!-- review gone 2026-03-20 -->

    Why, in a sentence or two.

    - [ ] retract: …
    - [ ] restore: …

    - Decision: … <!-- k… status=waiting home=Projects/alpha.md was=live … -->

A ticked box is applied by the next run. What people write around it stays.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from pipelines.memory.documents import Document
from pipelines.memory.items import Status, render_item
from pipelines.memory.markdown import line_end

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pipelines.memory.items import Item

_MARK: Final = re.compile(r"<!-- review (?P<kind>[a-z-]+) (?P<day>\d{4}-\d{2}-\d{2}) -->")
_BOX: Final = re.compile(r"[-*+][ \t]+\[(?P<tick>[ xX])\][ \t]+(?P<choice>[a-z]+(?: [a-z]+)?)\b")


@dataclass(frozen=True, slots=True)
class QueueEntry:
    """One entry of the queue.

    Args:
        kind: what it asks about (`gone`).
        first: its heading's line, from 0.
        end: the line past it.
        ticked: the choices whose boxes are ticked.
        items: its waiting items, by line.
    """

    kind: str
    first: int
    end: int
    ticked: tuple[str, ...]
    items: tuple[Item, ...]


def read_queue(document: Document) -> tuple[QueueEntry, ...]:
    """Return the entries of Review.md; headings without a run's mark are the person's own."""
    headings = document.headings
    found = []
    for number, heading in enumerate(headings):
        mark = _MARK.search(document.lines[heading.line])
        if mark:
            end = headings[number + 1].line if number + 1 < len(headings) else len(document.lines)
            boxes = [box for line in document.lines[heading.line : end] if (box := _BOX.match(line))]
            ticked = tuple(box["choice"] for box in boxes if box["tick"] in "xX")
            items = tuple(placed.item for placed in document.items if heading.line < placed.line < end)
            found.append(QueueEntry(mark["kind"], heading.line, end, ticked, items))
    return tuple(found)


def with_entry(  # noqa: PLR0913, PLR0917  the parts of an entry, in the order in which it shows them
    document: Document, kind: str, day: str, title: str, why: str, choices: Sequence[str], items: Iterable[Item]
) -> Document:
    """Return Review.md with an entry put at its end.

    Args:
        document: Review.md as it is.
        kind: what the entry asks about, by which its answer is applied.
        day: the memory's day.
        title: its heading.
        why: what happened and why it is asked, in a sentence or two.
        choices: each one's word and what it does, `word: what it does`.
        items: the items that wait, as `waiting` made them.
    """
    end = line_end(document.lines)
    rows = [f"## {title} <!-- review {kind} {day} -->", "", why, ""]
    rows += [*(f"- [ ] {choice}" for choice in choices), "", *map(render_item, items)]
    text = document.text if not document.text or document.text.endswith("\n") else document.text + end
    gap = end if text.strip() and not text.endswith(f"{end}{end}") else ""
    return Document(document.path, text + gap + "".join(row + end for row in rows))


def without_entries(document: Document, entries: Iterable[QueueEntry]) -> Document:
    """Return Review.md without these entries."""
    lines = list(document.lines)
    for entry in sorted(entries, key=lambda one: one.first, reverse=True):
        del lines[entry.first : entry.end]
    return Document(document.path, "".join(lines))


def waiting(item: Item, home: str) -> Item:
    """Return an item as it waits in Review.md: it remembers where it stood and what it was."""
    extra = [pair for pair in item.extra if pair[0] not in {"home", "was"}]
    return replace(item, status=Status.WAITING, extra=(*extra, ("home", home), ("was", item.status.value)))


def released(item: Item) -> tuple[str, Item]:
    """Return where a waiting item stood, and the item as it was; the inverse of `waiting`."""
    told = dict(item.extra)
    was = told.get("was", "")
    extra = tuple(pair for pair in item.extra if pair[0] not in {"home", "was"})
    status = Status(was) if was in frozenset(Status) else Status.LIVE
    return told.get("home", ""), replace(item, status=status, extra=extra)
