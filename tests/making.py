"""Small makers for the stages' tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.extract.extraction import Candidate
from pipelines.store.item import Confidence, ItemType
from pipelines.store.log import Entry

if TYPE_CHECKING:
    from collections.abc import Sequence


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


def candidate(
    text: str,
    kind: ItemType = ItemType.DECISION,
    *,
    confidence: Confidence = Confidence.HIGH,
    closed: bool = False,
    of: Entry | None = None,
) -> Candidate:
    home = of or entry(f"- {kind}: {text}")
    return Candidate(
        kind, text, home, home.start_line, home.end_line, text, confidence, "test", "test@1", closed=closed
    )
