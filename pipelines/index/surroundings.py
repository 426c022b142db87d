"""What a unit is scored with: its neighbours, the words about it, and the passage it stands in.

A small unit alone seldom holds the words of the question; the lines around it do. So each unit is scored by its own
text, less by its neighbours', and by the best of the passages (a window over the same section) that it belongs to;
the unit alone is given back. On questions about long conversations, recall of the evidence inside the first 1000 words
of results was 0.74 with the unit alone, 0.83 with its neighbours, and 0.85 with its passages, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from pipelines.index.words import day_words, marker, searchable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pipelines.index.units import Unit

WINDOW: Final = 8
"""Units a passage."""
STEP: Final = 4
"""A passage begins at every fourth unit of a section, so that each unit but the outermost belongs to two."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A unit with what it is scored by. Its passages are numbers within the file, or None for a hidden unit."""

    unit: Unit
    about: str
    around: str
    first_passage: int | None = None
    last_passage: int | None = None


def surround(path: str, units: Sequence[Unit]) -> tuple[list[Placed], list[str]]:
    """Return the units of a file with their surroundings, and the texts of the file's passages.

    Surroundings never cross a heading, and hidden units are nobody's.
    """
    placed: list[Placed] = []
    passages: list[str] = []
    for section in _sections(units):
        seen = [unit for unit in section if not unit.hidden]
        starts = list(_starts(len(seen)))
        first, last = len(passages), len(starts) - 1
        passages += [_passage(seen[start : start + WINDOW]) for start in starts]
        at = 0
        for unit in section:
            if unit.hidden:
                placed.append(Placed(unit, _about(path, unit), ""))
                continue
            around = searchable(" ".join(near.text for near in (*seen[max(0, at - 1) : at], *seen[at + 1 : at + 2])))
            earliest, latest = max(0, (at - WINDOW + STEP) // STEP), min(last, at // STEP)
            placed.append(Placed(unit, _about(path, unit), around, first + earliest, first + latest))
            at += 1
    return placed, passages


def _sections(units: Sequence[Unit]) -> Iterator[list[Unit]]:
    for _, section in groupby(units, key=lambda unit: unit.headings):
        yield list(section)


def _starts(length: int) -> Iterator[int]:
    for start in range(0, length, STEP):
        yield start
        if start + WINDOW >= length:
            return


def _passage(units: Sequence[Unit]) -> str:
    return searchable(" ".join((*(unit.text for unit in units), day_words(units[0].date))))


def _about(path: str, unit: Unit) -> str:
    """Return the words by which a unit is found that are not in its text."""
    headings = [searchable(heading) for heading in dict.fromkeys((unit.title, *unit.headings)) if heading]
    labels = [marker("type", name) for name in unit.types] + [marker("tag", tag) for tag in unit.tags]
    project = [marker("project", searchable(unit.project))] if unit.project else []
    return " ".join((*headings, day_words(unit.date), searchable(_name(path)), unit.item, *project, *labels)).strip()


def _name(path: str) -> str:
    """Return a path without its first folder and its suffix: words that so many share would tell nothing apart."""
    name = path.partition("/")[2] or path
    return name.removesuffix(PurePosixPath(name).suffix)
