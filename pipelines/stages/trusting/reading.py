"""A text as the reader of meanings goes through it: where which words stand, and where sentences and clauses end."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cached_property
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipelines.stages.trusting.fields import Field

_ASIDE: Final = 160
"""So far on either side of what was said its clause is looked for."""
_SENTENCE: Final = re.compile(r"[;!?。]|\.(?!\w)")
_CLAUSE: Final = re.compile(r"[;!?。,、:]|\.(?!\w)| - ")


class Reading:
    """A skeleton, and where in it which field stands; each is looked for once.

    Args:
        text: the skeleton.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._places: dict[tuple[str, str], list[tuple[int, int]]] = {}

    def places(self, field: Field) -> list[tuple[int, int]]:
        """Return where a field stands, the first place first."""
        key = (field.name, field.language)
        if key not in self._places:
            self._places[key] = [found.span() for found in field.pattern.finditer(self.text)]
        return self._places[key]

    def has(self, field: Field, least: int, most: int, hole: tuple[int, int] = (0, 0)) -> bool:
        """Return whether a field stands between two places, and does not begin within a hole between them."""
        places = self.places(field)
        for at in range(bisect_left(places, (least, 0)), len(places)):
            first, last = places[at]
            if first >= most:
                return False
            if last <= most and not hole[0] <= first < hole[1]:
                return True
        return False

    def sentence(self, begin: int, end: int) -> tuple[int, int]:
        """Return where the sentence begins and ends that something stands in."""
        return _around(self._sentences, begin, end, len(self.text))

    def clause(self, begin: int, end: int) -> tuple[int, int]:
        """Return where the clause begins and ends that something stands in, or what of it is near."""
        least, most = _around(self._clauses, begin, end, len(self.text))
        return max(least, begin - _ASIDE), min(most, end + _ASIDE)

    @cached_property
    def _sentences(self) -> list[int]:
        return [found.start() for found in _SENTENCE.finditer(self.text)]

    @cached_property
    def _clauses(self) -> list[int]:
        return [found.start() for found in _CLAUSE.finditer(self.text)]


def _around(marks: Sequence[int], begin: int, end: int, length: int) -> tuple[int, int]:
    before, after = bisect_left(marks, begin), bisect_left(marks, end)
    return (marks[before - 1] if before else 0), (marks[after] if after < len(marks) else length)
