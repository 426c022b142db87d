"""A proposal that is said again, word for word, after the votes: it was adopted, although no label says so."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from pipelines.models.rules.labelled import Found
from pipelines.models.rules.labels import is_near_miss
from pipelines.models.rules.marks import clean, overlap, words
from pipelines.models.rules.noise import is_bot, is_procedural
from pipelines.store.item import ItemType

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pipelines.models.rules.lines import Line
    from pipelines.store.log import Entry

_VOTE = re.compile(r"\+1(?!\d)")
_PROPOSER = re.compile(r"\s\*{1,2}\([^()\n]{1,60}\)\*{1,2}\s*$")
_SAME: Final = 0.9
_FEWEST_VOTES, _FEWEST_WORDS = 2, 3
_MOST_LINES: Final = 120  # a proposal that was not adopted within so many lines was left


@dataclass(slots=True)
class _Proposal:
    bag: Counter[str]
    line: int
    votes: int = 0


@dataclass(slots=True)
class _Floor:
    open: list[_Proposal] = field(default_factory=list)

    def propose(self, text: str, number: int) -> None:
        bag = Counter(words(_PROPOSER.sub("", text.partition(":")[2])))
        if bag.total() >= _FEWEST_WORDS:
            self.open = [*(one for one in self.open if number - one.line <= _MOST_LINES), _Proposal(bag, number)][-4:]

    def vote(self) -> None:
        for one in self.open:
            one.votes += 1

    def adopts(self, said: str) -> bool:
        bag = Counter(words(said))
        found = next((p for p in self.open if p.votes >= _FEWEST_VOTES and overlap(p.bag, bag) >= _SAME), None)
        if found:
            self.open.remove(found)
        return found is not None


def repeated(read: Iterable[tuple[Entry, Sequence[Line]]], taken: set[int]) -> list[Found]:
    """Return the lines of a day that repeat a proposal after at least two votes for it, as suggested decisions."""
    floor, result = _Floor(), list[Found]()
    for entry, lines in read:
        for line in lines:
            spoken = line.spoken
            if spoken is None or is_bot(spoken.speaker):
                continue
            said = spoken.said
            if is_near_miss(spoken):
                floor.propose(said, line.number)
            elif floor.open and _VOTE.match(said):
                floor.vote()
            elif floor.open and line.number not in taken and floor.adopts(said) and not is_procedural(said):
                found = Found(
                    ItemType.DECISION,
                    clean(said),
                    entry,
                    line.number,
                    line.number,
                    said.strip(),
                    sure=False,
                    reason=_REASON,
                )
                result.append(found)
    return result


_REASON: Final = "a proposal repeated after the votes"
