"""The few remarks of a day that the head tells to be items, beside what labels and cue phrases gave already."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pipelines.models.rules.head import LEAST, STRICT, tell
from pipelines.models.rules.labelled import Found
from pipelines.models.rules.marks import overlap, same_key, words
from pipelines.models.rules.remarks import remarks
from pipelines.models.rules.suggested import MOST_OWN, MOST_SPOKEN, with_speaker
from pipelines.models.rules.weights import shipped_weights

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from pipelines.memory.entries import Entry
    from pipelines.memory.items import Confidence
    from pipelines.models.embedding import Embedder
    from pipelines.models.rules.head import Told
    from pipelines.models.rules.lines import Line
    from pipelines.models.rules.remarks import Remark

_SAME: Final = 0.6
_MOST_KNOWN: Final = 2000  # bounds the comparisons of a day, however long its log


@dataclass(frozen=True, slots=True)
class Understood:
    """What the head found, and how sure it is: medium or low."""

    found: Found
    confidence: Confidence


@dataclass(frozen=True, slots=True)
class Day:
    """What the label reader made of a day.

    Args:
        read: each entry with its lines.
        taken: the numbers of the lines that were understood, or refused.
        meeting: whether it is the minutes of a meeting, or a chat.
        labelled: whether a label said outright what something is: whoever labels leaves little unlabelled.
    """

    read: Sequence[tuple[Entry, Sequence[Line]]]
    taken: AbstractSet[int]
    meeting: bool
    labelled: bool


def understand(day: Day, embedder: Embedder, known: Sequence[Found]) -> list[Understood]:
    """Return what the head finds in a day that is not known yet, in log order.

    A day with labels is read strictly, and gives no more suggestions, those by cue phrases included, than one without.

    Args:
        day: the day.
        embedder: makes vectors for the shipped weights.
        known: what labels and cue phrases gave.

    Raises:
        ModelFailed: the embedder gave no usable vectors.
    """
    said = [one for entry, lines in day.read for one in remarks(entry, lines, day.taken, meeting=day.meeting)]
    least, room = LEAST, MOST_OWN
    if day.labelled:
        room = max(0, (MOST_SPOKEN if day.meeting else MOST_OWN) - sum(not found.sure for found in known))
        least = STRICT
    told = tell(said, shipped_weights(), embedder, least) if room else []
    kept = _new(sorted(told, key=lambda one: (-one.chance, one.at)), said, known)[:room]
    return [Understood(_found(said[one.at], one), one.confidence) for one in sorted(kept, key=lambda one: one.at)]


def _new(told: Sequence[Told], said: Sequence[Remark], known: Sequence[Found]) -> list[Told]:
    """Leave out what was said already: on the same lines, or elsewhere in most of the same words."""
    before = [_Said(one.text, Counter(words(one.text)), one.start_line, one.end_line) for one in known[:_MOST_KNOWN]]
    kept: list[Told] = []
    for one in told:
        remark = said[one.at]
        new = _Said(remark.text, Counter(words(remark.text)), remark.start_line, remark.end_line)
        if not any(new.repeats(old) for old in before):
            before.append(new)
            kept.append(one)
    return kept


@dataclass(frozen=True, slots=True)
class _Said:
    text: str
    bag: Counter[str]
    start_line: int
    end_line: int

    def repeats(self, old: _Said) -> bool:
        """Whether it says what another said. Two of other numbers differ: `close #12` is not `close #13`."""
        common = (self.bag & old.bag).total()
        if self.start_line <= old.end_line and old.start_line <= self.end_line:
            return 2 * common >= min(self.bag.total(), old.bag.total())
        if overlap(self.bag, old.bag) < _SAME:
            return False
        return self.numbers == old.numbers or same_key(self.text) == same_key(old.text)

    @property
    def numbers(self) -> frozenset[str]:
        """The words in it that hold a digit."""
        return frozenset(word for word in self.bag if any(char.isdigit() for char in word))


def _found(remark: Remark, told: Told) -> Found:
    found = Found(
        type=told.type,
        text=remark.text,
        entry=remark.entry,
        start_line=remark.start_line,
        end_line=remark.end_line,
        quote=remark.quote,
        sure=False,
        reason=f"reads like a {told.type.lower()}",
    )
    raw = remark.entry.text.split("\n")[remark.start_line - remark.entry.start_line]
    return with_speaker(found, remark.speaker, remark.start_line, raw)
