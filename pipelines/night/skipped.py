"""The lines of the logs that a run did not understand: it made nothing of them, and no person would know."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pipelines.review.rulings import evidence_of
from pipelines.store.evidence import Quotes, without_pointer
from pipelines.store.item import Evidence, ItemType, Trust, quote_digest
from pipelines.store.provenance import is_told
from pipelines.store.secrets.redact import without_secrets
from pipelines.store.spoken_lines import is_of_program, parse_spoken, read_lines
from pipelines.text import clipped, fold

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from pipelines.extract.extract_days import Extracted
    from pipelines.extract.extraction import Candidate
    from pipelines.extract.rules.labels import ClosingForm
    from pipelines.review.review import ReviewContext
    from pipelines.review.rulings import Ruling
    from pipelines.store.log import Entry


NOTHING_NAMED: Final = "no single open item matches it"
NO_SUBJECT: Final = "it does not say whose it is"
NO_FORM: Final = "it has no label and no known form"
NOT_KEPT: Final = "the model kept nothing of it"
_LONGEST = 200


def skipped_lines(
    extracted: Extracted,
    unplaced: Sequence[Candidate],
    rulings: Sequence[Ruling],
    context: ReviewContext,
    *,
    by_model: bool,
) -> list[dict[str, object]]:
    """Return what was not understood of the entries that were read for the first time, in order of the logs.

    Each row is a line, or an entry that was not understood as a whole: where it is, and why nothing came of it, as a
    clause. The report keeps no text of the logs. Text of external origin and code are not meant to be kept.

    Args:
        extracted: what was read.
        unplaced: proposed items that were dropped since they name no subject.
        rulings: the night's rulings.
        context: what they rest on.
        by_model: whether a model read it.
    """
    ruled = {
        place for one in rulings for place in (*one.operation.places, *(one.candidate.places if one.candidate else ()))
    }
    lost = [one for one in extracted.forms if one.how and one.place not in ruled and not _is_over(one, context)]
    dropped = {one.places[0]: NO_SUBJECT for one in unplaced} | {one.place: NOTHING_NAMED for one in lost}
    heard = {one.place.entry for one in extracted.forms} | {one.entry for one in unplaced}
    proposed = (*(one.places for one in extracted.candidates), *(one.places for one in extracted.operations))
    heard |= {place.entry for places in proposed for place in places}
    found = [
        (evidence_of(place), why) for place, why in dropped.items() if _is_own(place.entry, place.lines[0], context)
    ]
    why = NOT_KEPT if by_model else NO_FORM
    for day in extracted.read:
        for entry in day.fresh:
            first = entry.head
            if entry not in heard and _says_something(entry) and _is_own(entry, first, context):
                ends = Evidence(entry.path, entry.start_line, entry.end_line, quote_digest(entry.text))
                found.append((ends, why))
    return [{**place._asdict(), "why": why} for place, why in sorted(found, key=lambda one: one[0][:3])]


def _is_over(form: ClosingForm, context: ReviewContext) -> bool:
    """Whether a form repeats what is over already."""
    same = (context.known.same(kind, form.target, "") for kind in ItemType)
    return any(one is not None and not one.item.active for one in same)


def _is_own(entry: Entry, line: str, context: ReviewContext) -> bool:
    return context.word_of(entry, line).reaches(Trust.SELF) or is_told(parse_spoken(line).marked)


def _says_something(entry: Entry) -> bool:
    """Whether an entry has words outside code, and no program sent them."""
    said = (line.spoken.said for line in read_lines(entry) if line.spoken)
    return not is_of_program(entry) and any(map(str.isalpha, "".join(said)))


def with_texts(root: Path, reported: Iterable[Mapping[str, object]]) -> Iterator[dict[str, object]]:
    """Yield what a report calls skipped, with its text as the log has it now, redacted; None if it is gone.

    Args:
        root: the memory.
        reported: rows of the report.
    """
    quotes = Quotes(root)
    for row in reported:
        place = Evidence(str(row["path"]), int(str(row["start_line"])), int(str(row["end_line"])), str(row["digest"]))
        found = quotes.found(place)
        said = None if found.quote is None else fold(without_pointer(found.quote.replace("\n", " ")))
        text = None if said is None else clipped(without_secrets(said), _LONGEST)
        yield {"path": found.path, "line": found.start_line, "why": row["why"], "text": text}
