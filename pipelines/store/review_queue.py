"""Review.md, the queue of questions for a person: entries under headings, choices as boxes, items as waiting lines.

    ## 7 items are gone from Projects/alpha.md <!-- review gone 2026-03-20 -->

    Why, in a sentence or two.

    - [ ] retract: …
    - [ ] restore: …

    - Decision: … ^k…

The next run applies a ticked box. What people write around it stays.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left, bisect_right
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from pipelines.store.document import Document, Documents, document_at, kept_with_document
from pipelines.store.item import HeldItem, Item, Status, render_item
from pipelines.store.layout import REVIEW
from pipelines.store.markdown import line_end
from pipelines.store.secrets.redact import without_secrets

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


_MARK = re.compile(r"<!-- review (?P<kind>[a-z-]+) (?P<day>\d{4}-\d{2}-\d{2}) -->")
_BOX = re.compile(
    r"[-*+][ \t]+\[(?P<tick>[ xX])\][ \t]+"
    r"(?P<choice>[a-z]+(?: (?:k[0-9a-f]{8,64}|[a-z]+))?)\b:?[ \t]*(?P<means>[^\r\n]*)"
)


class QueueEntry(NamedTuple):
    """One entry of the queue.

    Args:
        kind: what it asks about (`gone`, `contradict`, `correction`, `quarantine`, `archive`, `done`).
        first: its heading's line, from 0.
        end: the line after it.
        ticked: the choices with a ticked box.
        items: its waiting items, by line.
        day: the day on which it was asked.
        title: its heading, without the mark.
        why: the lines between the heading and the boxes, those that are quoted without their marks.
        choices: each choice's word, and what it does.
    """

    kind: str
    first: int
    end: int
    ticked: tuple[str, ...]
    items: tuple[Item, ...]
    day: str = ""
    title: str = ""
    why: tuple[str, ...] = ()
    choices: tuple[tuple[str, str], ...] = ()

    @property
    def id(self) -> str:
        """The id of the whole entry for commands: `q` and a hash of its heading."""
        asked = f"{self.kind}\x1f{self.day}\x1f{self.title}"
        return "q" + hashlib.sha256(asked.encode()).hexdigest()[:8]


@kept_with_document
def read_queue(document: Document | None) -> tuple[QueueEntry, ...]:
    """Return the entries of Review.md (none if it does not exist); headings without a run's mark are a person's."""
    if document is None:
        return ()
    lines, placed_at, found = document.lines, [placed.line for placed in document.items], []
    firsts = [heading.line for heading in document.headings]
    for first, end in zip(firsts, [*firsts[1:], len(lines)], strict=False):
        if (mark := _MARK.search(lines[first])) is None:
            continue
        boxes = [(number, box) for number in range(first, end) if (box := _BOX.match(lines[number]))]
        items = document.items[bisect_right(placed_at, first) : bisect_left(placed_at, end)]
        asked = min([number for number, _ in boxes] + [placed.line for placed in items], default=end)
        why = "".join(lines[first + 1 : asked]).strip().replace("\n> ", "\n")
        found.append(
            QueueEntry(
                mark["kind"],
                first,
                end,
                tuple(box["choice"] for _, box in boxes if box["tick"] in "xX"),
                tuple(placed.item for placed in items),
                mark["day"],
                lines[first][: mark.start()].strip("# \t"),
                tuple(why.splitlines()),
                tuple((box["choice"], box["means"].strip()) for _, box in boxes),
            )
        )
    return tuple(found)


def with_entry(  # noqa: PLR0913, PLR0917  the parts of an entry, in the order of the text
    documents: Documents, kind: str, day: str, title: str, why: str, choices: Sequence[str], items: Iterable[Item] = ()
) -> dict[str, Document]:
    """Return the documents with an entry appended to Review.md, which is created if needed.

    Args:
        documents: every document by path.
        kind: what the entry asks about; decides how its answer is applied.
        day: the memory's day.
        title: its heading.
        why: what happened and why it is asked: the reason first, then, in a paragraph of its own, what it is about.
        choices: the choices, as `word: what it does`.
        items: the waiting items, made by `waiting`.
    """
    document = documents.get(REVIEW) or document_at(REVIEW, "# Review\n")
    end = line_end(document.lines)
    heading, why = without_secrets(title), without_secrets(why)
    rows = [f"## {heading} <!-- review {kind} {day} -->", "", *why.splitlines(), ""]
    rows += [*(f"- [ ] {choice}" for choice in choices), "", *map(render_item, waits := list(items))]
    text = document.text if not document.text or document.text.endswith("\n") else document.text + end
    gap = end if text.strip() and not text.endswith(f"{end}{end}") else ""
    return {**documents, REVIEW: document.with_text(text + gap + "".join(row + end for row in rows), waits)}


def without_answered(document: Document, answered: Iterable[tuple[QueueEntry, Sequence[str]]]) -> Document:
    """Return Review.md without answered questions.

    Args:
        document: Review.md.
        answered: each entry, and the ids of its answered items; an entry without remaining items is removed.
    """
    lines = list(document.lines)
    placed = {one.item.id: one for one in document.items}
    for entry, idents in sorted(answered, key=lambda one: one[0].first, reverse=True):
        left = [item for item in entry.items if item.id not in idents]
        if not left:
            del lines[entry.first : entry.end]
            continue
        for one in sorted((placed[ident] for ident in idents), key=lambda one: one.line, reverse=True):
            del lines[one.line : one.end]
    return document.with_text("".join(lines))


def waiting(item: Item, home: str) -> Item:
    """Return an item as it waits in Review.md; it records its document and status."""
    extra = (*_own_extra(item), ("home", home), ("was", item.status.value))
    return replace(item, status=Status.WAITING, extra=extra)


def released(item: Item) -> HeldItem:
    """Return the document of a waiting item, and the item as it was; the inverse of `waiting`."""
    extras = dict(item.extra)
    was = extras.get("was", "")
    status = Status(was) if was in frozenset(Status) else Status.LIVE
    return extras.get("home", ""), replace(item, status=status, extra=_own_extra(item))


def _own_extra(item: Item) -> tuple[tuple[str, str], ...]:
    return tuple(pair for pair in item.extra if pair[0] not in {"home", "was"})
