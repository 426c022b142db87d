"""The review of one night, driven from candidates, lines and items."""

from collections.abc import Sequence
from dataclasses import replace

from pipelines.extract.extraction import Candidate, Operation
from pipelines.extract.rules.label_reader import read_labels
from pipelines.review.review import ReviewContext, review
from pipelines.review.rulings import KnownItems, Ruling
from pipelines.store.item import Item, Trust
from pipelines.store.log import Entry

GENERAL = "Areas/general.md"
Held = tuple[str, Item]


def context(
    held: Sequence[Held] = (),
    *,
    home: str = GENERAL,
    buried: frozenset[str] = frozenset(),
    word: Trust = Trust.SELF,
) -> ReviewContext:
    """Return a context in which all is filed in one document, and all lines are one's word."""
    return ReviewContext(
        KnownItems(held),
        lambda one: one.text in buried,
        lambda one: replace(one, home=home),
        lambda *_: word,
    )


def rulings(
    found: Sequence[Candidate],
    by: ReviewContext,
    said: Sequence[Operation] = (),
    lines: Sequence[Entry] = (),
) -> list[Ruling]:
    """Return what the review rules; candidates get their temporary ids (`n1` is the first)."""
    filed = [one if one.home else by.file(one) for one in found]
    numbered = [replace(one, id=f"n{at}") for at, one in enumerate(filed, 1)]
    return review(numbered, said, read_labels(lines).forms, by)


def told(rulings: Sequence[Ruling]) -> list[tuple[str, tuple[str, ...]]]:
    """Return what each ruling does, and to which items; `ask` where a person decides."""
    return [("ask" if one.asks else one.kind.value, one.operation.ids) for one in rulings]
