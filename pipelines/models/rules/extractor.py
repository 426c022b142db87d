"""The extractor that needs no key: labels first, then the few sentences that only sound like items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pipelines.models.extraction import Candidate, Extraction
from pipelines.models.rules.labelled import LabelReader
from pipelines.models.rules.marks import same_key
from pipelines.models.rules.proposals import repeated
from pipelines.models.rules.suggested import MOST, best, suggest
from pipelines.store.item import Confidence

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pipelines.models.extraction import ExtractionRequest
    from pipelines.models.rules.labelled import Found
    from pipelines.models.rules.lines import Line

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
