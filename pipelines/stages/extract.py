"""Extract: the entries that no run has read yet go to an extractor, day by day; what comes back is checked.

Only uncurated entries are read, however many nights were missed, so the cost of a night follows what was said since.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pipelines.errors import ModelFailed
from pipelines.memory.layout import LOGS, log_day
from pipelines.memory.logs import parse_entries
from pipelines.memory.progress import LogProgress, entries_digest, file_hash
from pipelines.memory.quotes import quote_stands
from pipelines.models.extraction import ExtractionRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pipelines.memory.entries import Entry
    from pipelines.models.extraction import Candidate, DocumentChoice, Extractor


@dataclass(frozen=True, slots=True)
class DayToRead:
    """One log with something new in it: its path, its day, the hash of its bytes, its entries, and the new ones."""

    path: str
    day: str
    file: str
    entries: tuple[Entry, ...]
    fresh: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Extracted:
    """What the extractor found.

    Args:
        candidates: in order of days and lines; every quote stands in its lines.
        read: the days that were read; the others stay pending.
        pending: the days that no usable answer came for.
        calls: requests to a model.
        input_tokens: tokens sent.
        output_tokens: tokens received.
        ungrounded: candidates dropped because their quote did not stand where they said.
        failure: what the model's failure was, or empty.
        notes: what the extractor says of its own work.
    """

    candidates: tuple[Candidate, ...] = ()
    read: tuple[DayToRead, ...] = ()
    pending: tuple[DayToRead, ...] = ()
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    ungrounded: int = 0
    failure: str = ""
    notes: tuple[str, ...] = field(default=())


def days_to_read(
    logs: Mapping[str, bytes],
    progress: Mapping[str, Sequence[LogProgress]],
    today: str,
    read_before: Callable[[str, str], frozenset[str] | None],
) -> list[DayToRead]:
    """Return the logs with uncurated entries, oldest first; days after `today` are not read.

    Args:
        logs: path → bytes.
        progress: what earlier runs have read.
        today: the memory's day, `YYYY-MM-DD`.
        read_before: (path, digest) → the entry hashes that a closed day's digest stands for, or None where they cannot
            be told; the day is then read anew, and review drops what is known.
    """
    found = []
    for path, data in logs.items():
        day = log_day(path.removeprefix(f"{LOGS}/"))
        records = progress.get(path, ())
        if day > today or any(
            record.file == file_hash(data) and not _reopened(record, day, today) for record in records
        ):
            continue
        entries = parse_entries(path, day, data.decode())
        keys = {entry.key for entry in entries}
        known: set[str] = set()
        for record in records:
            if record.digest and record.digest == entries_digest(keys):
                known |= keys
            elif record.digest:
                known |= read_before(path, record.digest) or set()
            known |= record.entries
        found.append(DayToRead(path, day, file_hash(data), entries, _unread(entries, known)))
    return found


def _reopened(record: LogProgress, day: str, today: str) -> bool:
    """Whether an unchanged log needs another look: an open day that has ended is closed, its hashes become a digest."""
    return not record.digest and day < today


def _unread(entries: Iterable[Entry], known: set[str]) -> tuple[Entry, ...]:
    seen = set(known)
    fresh = []
    for entry in entries:
        if entry.key not in seen:
            seen.add(entry.key)
            fresh.append(entry)
    return tuple(fresh)


def extract(
    days: Sequence[DayToRead],
    extractor: Extractor,
    documents: tuple[DocumentChoice, ...],
    done: Callable[[int], None],
) -> Extracted:
    """Ask the extractor about each day, in order; its first failure leaves that day and the later ones pending.

    Args:
        days: what to read.
        extractor: who reads it.
        documents: the closed list that a candidate may name.
        done: told the number of days read so far.
    """
    candidates: list[Candidate] = []
    notes: list[str] = []
    calls = sent = received = ungrounded = 0
    for number, day in enumerate(days):
        try:
            answer = extractor.extract(ExtractionRequest(day.day, day.fresh, documents)) if day.fresh else None
        except ModelFailed as fault:
            return Extracted(
                tuple(candidates), tuple(days[:number]), tuple(days[number:]), calls, sent, received,
                ungrounded, fault.sentence, tuple(notes),
            )  # fmt: skip
        if answer:
            grounded = [candidate for candidate in answer.candidates if is_grounded(candidate)]
            candidates += grounded
            ungrounded += len(answer.candidates) - len(grounded)
            calls, sent, received = calls + answer.calls, sent + answer.input_tokens, received + answer.output_tokens
            notes += [f"{day.path}: {note}" for note in answer.notes]
        done(number + 1)
    return Extracted(
        tuple(candidates), tuple(days), (), calls, sent, received, ungrounded, notes=tuple(notes)
    )  # fmt: skip


def is_grounded(candidate: Candidate) -> bool:
    """Whether a candidate's quote stands in the lines it names, and those lines in its entry. No quote, no item."""
    entry = candidate.entry
    if not entry.start_line <= candidate.start_line <= candidate.end_line <= entry.end_line or not candidate.text:
        return False
    return quote_stands(candidate.quote, evidence_lines(candidate))


def evidence_lines(candidate: Candidate) -> list[str]:
    """Return the lines of the log that a candidate rests on."""
    first = candidate.entry.start_line
    return candidate.entry.text.split("\n")[candidate.start_line - first : candidate.end_line - first + 1]


def advanced_progress(
    progress: Mapping[str, tuple[LogProgress, ...]], read: Iterable[DayToRead], today: str
) -> dict[str, tuple[LogProgress, ...]]:
    """Return the progress after these days were read: a day before `today` is closed and collapses to a digest."""
    after = dict(progress)
    for day in read:
        keys = frozenset(entry.key for entry in day.entries)
        closed = day.day < today
        after[day.path] = (
            LogProgress(day.file, entries_digest(keys) if closed else "", frozenset() if closed else keys),
        )
    return after
