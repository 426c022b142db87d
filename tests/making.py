"""Small makers for the stages' tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.extract.extraction import Candidate, Place
from pipelines.store.item import Confidence, ItemType
from pipelines.store.log import Entry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipelines.store.item import Status


def entry(
    text: str,
    *,
    day: str = "2026-03-10",
    line: int = 3,
    headings: Sequence[str] = (),
    project: str = "",
    tags: Sequence[str] = (),
) -> Entry:
    last = line + text.count("\n")
    return Entry(f"Logs/{day}.md", line, last, text, tuple(headings), project, tuple(tags), day)


def place(of: Entry, quote: str = "", lines: tuple[int, int] | None = None) -> Place:
    """Return a place of an entry: all of its lines where none are named, and all their words where no quote is."""
    first, last = lines or (of.start_line, of.end_line)
    whole = Place(of, first, last, quote)
    return whole if quote else Place(of, first, last, "\n".join(whole.lines))


def candidate(
    text: str,
    kind: ItemType = ItemType.DECISION,
    *,
    confidence: Confidence = Confidence.HIGH,
    closed: Status | None = None,
    of: Entry | None = None,
    at: Place | None = None,
) -> Candidate:
    """Return a candidate that rests on one place: `at`, or else all lines of an entry, with its text as their quote."""
    home = of or entry(f"- {kind}: {text}")
    return Candidate(kind, text, (at or place(home, text),), confidence, "test", "rules@1", closed=closed)
