"""The extractor that needs no key: labels first, then the few best sentences that only sound like items.

With a local embedder the head reads what is left: what has neither label nor cue phrase, told by its meaning.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from pipelines.errors import CurateError
from pipelines.memory.items import Confidence
from pipelines.models.extraction import Candidate, Extraction
from pipelines.models.rules.labelled import LabelReader
from pipelines.models.rules.marks import same_key
from pipelines.models.rules.proposals import repeated
from pipelines.models.rules.suggested import MOST_OWN, MOST_SPOKEN, Suggested, best, suggest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from collections.abc import Set as AbstractSet

    from pipelines.memory.entries import Entry
    from pipelines.models.embedding import Embedder
    from pipelines.models.extraction import ExtractionRequest
    from pipelines.models.rules.labelled import Found
    from pipelines.models.rules.lines import Line
    from pipelines.models.rules.understood import Understood

NAME: Final = "rules@1"
HEAD: Final = "rules-head@1"
_LABEL_SCORE: Final = 10.0  # a label that could mean something else still tells more than any cue
_MEDIUM: Final = 3.0
_FEW: Final = 5  # entries of speech that make a day a meeting, where they are a share of all its entries, too
_SHARE: Final = 3


class RulesExtractor:
    """Reads typed lines, the labels of meetings and code, and cue phrases. It asks nobody and never fails.

    Args:
        embedder: gives the embedder that the head's weights go with, or None where there is none; it is asked when the
            first day is read. Without it, labels and cue phrases are all that is read.
    """

    def __init__(self, embedder: Callable[[], Embedder | None] = lambda: None) -> None:
        self._embedder: Callable[[], Embedder | None] = cache(embedder)

    @property
    def name(self) -> str:
        """Who it is, with its version."""
        return NAME

    def extract(self, request: ExtractionRequest) -> Extraction:
        """Return the day's candidates in log order: what a label says with confidence high, the rest below."""
        reader = LabelReader()
        read = [(entry, reader.read(entry)) for entry in request.entries]
        meeting = is_meeting([lines for _, lines in read])
        suggested = repeated(read, reader.taken)
        suggested += [one for entry, lines in read for one in suggest(entry, lines, reader.taken, meeting=meeting)]
        labelled = _once(reader.found)
        sure = [found for found in labelled if found.sure]
        unsure = [Suggested(found, _LABEL_SCORE) for found in labelled if not found.sure]
        further = best([*unsure, *suggested], sure, MOST_SPOKEN if meeting else MOST_OWN)
        scores = {id(one.found): one.score for one in further}
        kept = sorted([*sure, *(one.found for one in further)], key=lambda found: found.start_line)
        by_words = [_candidate(found, _confidence(scores.get(id(found)))) for found in kept]
        understood, notes = self._understand(read, reader.taken, kept, meeting=meeting)
        by_meaning = [_candidate(one.found, one.confidence, HEAD) for one in understood]
        # Sorting keeps the order of those on one line: what a label says comes first.
        return Extraction(tuple(sorted([*by_words, *by_meaning], key=lambda one: one.start_line)), notes=notes)

    def _understand(
        self,
        read: Sequence[tuple[Entry, Sequence[Line]]],
        taken: AbstractSet[int],
        kept: Sequence[Found],
        *,
        meeting: bool,
    ) -> tuple[list[Understood], tuple[str, ...]]:
        """Ask the head, where there is an embedder for it; what fails there costs nothing of the rest."""
        try:
            embedder = self._embedder()
            if embedder is None:
                return [], ()
            from pipelines.models.rules.understood import Day, understand  # noqa: PLC0415  only with an embedder

            day = Day(read, taken, meeting, labelled=any(found.sure for found in kept))
            return understand(day, embedder, kept), ()
        except CurateError as fault:
            self._embedder = lambda: None  # what fails on this machine fails for every day, and is told once
            return [], (f"{fault.sentence} Labels and cue phrases were read; what carries neither was not.",)


def is_meeting(entries: Sequence[Sequence[Line]]) -> bool:
    """Return whether a day's entries are the minutes of a meeting, or a chat: a fair share of them is speech."""
    speaking = sum(lines[0].spoken is not None and lines[0].spoken.is_speech for lines in entries)
    return speaking >= _FEW and speaking * _SHARE >= len(entries)


def _once(found: Iterable[Found]) -> list[Found]:
    """Keep the first real occurrence of what is said more than once in a day, in log order."""
    first: dict[tuple[str, str], Found] = {}
    for one in sorted(found, key=lambda one: (one.repeats, not one.sure, one.start_line)):
        first.setdefault((one.type, same_key(one.text)), one)
    return sorted(first.values(), key=lambda one: one.start_line)


def _candidate(found: Found, confidence: Confidence, by: str = NAME) -> Candidate:
    return Candidate(
        type=found.type,
        text=found.text,
        entry=found.entry,
        start_line=found.start_line,
        end_line=found.end_line,
        quote=found.quote,
        confidence=confidence,
        reason=found.reason,
        by=by,
        closed=found.closed,
    )


def _confidence(score: float | None) -> Confidence:
    if score is None:
        return Confidence.HIGH
    return Confidence.MEDIUM if score >= _MEDIUM else Confidence.LOW
