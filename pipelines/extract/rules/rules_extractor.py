"""The extractor that needs no key: labels first, then the few sentences that only sound like items."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from pipelines.extract.extraction import Candidate, Extraction
from pipelines.extract.rules.cues import MOST, best, suggest
from pipelines.extract.rules.label_reader import Found, LabelReader
from pipelines.extract.rules.labels import is_near_miss
from pipelines.extract.rules.lines import clean, overlap, same_key, words
from pipelines.extract.rules.noise import is_bot, is_procedural
from pipelines.store.item import Confidence, ItemType

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pipelines.extract.extraction import ExtractionRequest
    from pipelines.extract.rules.lines import Line
    from pipelines.store.log import Entry


NAME: Final = "rules@1"
_FEW: Final = 5  # entries of speech that make a day a meeting, where they are a share of all its entries, too
_SHARE: Final = 3


class RulesExtractor:
    """Reads typed lines, the labels of meetings and code, and cue phrases. It asks nobody and never fails."""

    @property
    def name(self) -> str:
        """Who it is, with its version."""
        return NAME

    def extract(self, request: ExtractionRequest) -> Extraction:
        """Return the day's candidates in log order: what a label says with confidence high, the rest with medium."""
        reader = LabelReader()
        read = [(entry, reader.read(entry)) for entry in request.entries]
        suggested = repeated(read, reader.taken)
        if not _is_meeting([lines for _, lines in read]):
            suggested += [one for entry, lines in read for one in suggest(entry, lines, reader.taken)]
        labelled = _once(reader.found)
        sure = [found for found in labelled if found.sure]
        unsure = [found for found in labelled if not found.sure]
        kept = [*sure, *best([*unsure, *suggested], sure, MOST)]
        return Extraction(tuple(_candidate(found) for found in sorted(kept, key=lambda found: found.start_line)))


def _is_meeting(entries: Sequence[Sequence[Line]]) -> bool:
    """Return whether a day's entries are the minutes of a meeting, or a chat: a fair share of them is speech."""
    speaking = sum(lines[0].spoken is not None and lines[0].spoken.is_speech for lines in entries)
    return speaking >= _FEW and speaking * _SHARE >= len(entries)


def _once(found: Iterable[Found]) -> list[Found]:
    """Keep the first real occurrence of what is said more than once in a day, in log order."""
    first: dict[tuple[str, str], Found] = {}
    for one in sorted(found, key=lambda one: (one.repeats, not one.sure, one.start_line)):
        first.setdefault((one.type, same_key(one.text)), one)
    return sorted(first.values(), key=lambda one: one.start_line)


def _candidate(found: Found) -> Candidate:
    return Candidate(
        type=found.type,
        text=found.text,
        entry=found.entry,
        start_line=found.start_line,
        end_line=found.end_line,
        quote=found.quote,
        confidence=Confidence.HIGH if found.sure else Confidence.MEDIUM,
        reason=found.reason,
        by=NAME,
        closed=found.closed,
    )


# ---------------------------------------- A proposal that is said again
# word for word, after the votes: it was adopted, although no label says so.


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
