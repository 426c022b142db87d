"""Extract: the extractor reads the entries that no run has read, day by day, and its results are checked.

Only new entries are read, however many nights were missed, so the cost of a night follows what was said since.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from pipelines.errors import ModelFailed
from pipelines.extract.extraction import (
    Candidate,
    DocumentChoice,
    Extraction,
    ExtractionRequest,
    Extractor,
    OpenList,
    Operation,
    Told,
)
from pipelines.store.evidence import voice_in
from pipelines.store.layout import day_of_log, is_note
from pipelines.store.log import FORGOTTEN, Entry, lines_of, parse_entries
from pipelines.store.markdown import conflicts
from pipelines.store.session_state import NO_SEALS, Seals
from pipelines.store.state import LogProgress, file_hash
from pipelines.usage import FailureKind, Tally

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping, Sequence

    from pipelines.extract.nearby import Nearby
    from pipelines.extract.rules.labels import ClosingForm


class DayToRead(NamedTuple):
    """One log with entries to read.

    Args:
        path: the log.
        day: its day.
        file: the hash of its bytes; empty while it has marks of a conflict, so that its day stays open.
        entries: all of its entries.
        fresh: the entries that no run has read, in log order.
    """

    path: str
    day: str
    file: str
    entries: tuple[Entry, ...]
    fresh: tuple[Entry, ...]


@dataclass(frozen=True)
class Extracted:
    """The result of the extraction.

    Args:
        candidates: in order of days and lines.
        operations: what the days say about items that the extractor was shown.
        forms: the documented forms that close or correct items.
        seen: id → the last day that says again what a shown item says.
        open_lists: day and list, of the lists that say what is open as a whole.
        episodes: day → what happened on it, as the extractor told it.
        read: the days that were read; the others stay pending.
        pending: the days without a usable answer.
        tally: the cost of the calls, those of failed days included.
        failure: how the models failed, or empty.
        over_budget: the user's cap that left days pending, or empty.
        notes: path of the log, and a note of the extractor on it.
        is_stopped: whether the failure was not the day's own, so that later days were not tried.
    """

    candidates: tuple[Candidate, ...] = ()
    operations: tuple[Operation, ...] = ()
    forms: tuple[ClosingForm, ...] = ()
    seen: Mapping[str, str] = field(default_factory=dict)
    open_lists: tuple[tuple[str, OpenList], ...] = ()
    episodes: Mapping[str, tuple[Told, ...]] = field(default_factory=dict)
    read: tuple[DayToRead, ...] = ()
    pending: tuple[DayToRead, ...] = ()
    tally: Tally = field(default_factory=Tally)
    failure: str = ""
    over_budget: str = ""
    notes: tuple[tuple[str, str], ...] = ()
    is_stopped: bool = False


_BLOTTED = re.compile(rf"^(?:[^\w\n]|\d)*{re.escape(FORGOTTEN)}[ \t]*(?:<!-- .*)?$", re.MULTILINE)
"""A line whose words a person had forgotten."""


def days_to_read(
    logs: Mapping[str, bytes],
    progress: Mapping[str, Sequence[LogProgress]],
    today: str,
    read_before: Callable[[str, str], frozenset[str]],
    taken_back: Container[tuple[str, int]] = (),
) -> list[DayToRead]:
    """Return the logs with new entries, oldest first; days after `today` are not read.

    Args:
        logs: path → bytes.
        progress: what earlier runs read.
        today: the memory's day, `YYYY-MM-DD`.
        read_before: (path, file) → the entry hashes of a closed day's log as it was read; none if they are unknown: the
            day is then read again, and the review drops what is known.
        taken_back: records of transcripts, whose entries nobody says any more.
    """
    found = []
    for path, data in logs.items():
        is_marked = b"<<<<<<<" in data and conflicts(lines_of(data.decode()))
        day, file = day_of_log(path), "" if is_marked else file_hash(data)
        records = progress.get(path, ())
        # When its day has ended, even an unchanged log is read once more, to drop its hashes.
        is_done = day >= today or is_note(path)  # git has no version of one to take hashes from
        is_known = any(file and record.file == file and (is_done or not record.entries) for record in records)
        if day > today or is_known:
            continue
        entries = parse_entries(path, day, data.decode())
        closed = [record.file for record in records if not record.entries]
        known = {key for record in records for key in record.entries}
        known = known.union(*(read_before(path, was) for was in closed))
        fresh: dict[str, Entry] = {}  # a repeated entry is read once
        for entry in entries:
            if (voice := voice_in(entry.head)) and voice[:2] in taken_back:
                continue
            # On a closed day, an entry was read when it had the words; elsewhere its other lines may be new.
            is_blotted = _BLOTTED.search(entry.text) if closed else not _BLOTTED.sub("", entry.text).strip()
            if entry.key not in known and not is_blotted:
                fresh.setdefault(entry.key, entry)
        found.append(DayToRead(path, day, file, entries, tuple(fresh.values())))
    return found


def extract(
    days: Sequence[DayToRead],
    extractor: Extractor,
    documents: tuple[DocumentChoice, ...],
    done: Callable[[int], None],
    nearby: Nearby | None = None,
    seals: Seals = NO_SEALS,
) -> Extracted:
    """Extract the logs of a run, in their order. If a model fails at one, all stay pending: they are of one day.

    Args:
        days: what to read.
        extractor: the extractor.
        documents: the closed list that a candidate may name.
        done: receives the number of logs read so far.
        nearby: the existing items that the extractor may name, or None to show none.
        seals: prove which entries are the owner's acts.
    """
    answers, tally = list[tuple[DayToRead, Extraction]](), Tally()
    try:
        for number, day in enumerate(days, 1):
            if day.fresh:
                request = ExtractionRequest(day.day, day.fresh, documents, nearby, seals)
                answers.append((day, extractor.extract(request)))
                tally.add(answers[-1][1].tally)
            done(number)
    except ModelFailed as fault:
        tally.add(fault.tally or Tally())
        said, is_over = fault.sentence, fault.kind is FailureKind.OVER_BUDGET
        failure, over_budget = ("", said) if is_over else (said, "")
        return Extracted(
            pending=tuple(days), tally=tally, failure=failure, over_budget=over_budget,
            is_stopped=fault.kind.concerns_provider,
        )  # fmt: skip
    episodes = dict[str, tuple[Told, ...]]()
    for day, answer in answers:  # a day may have several logs
        episodes[day.day] = episodes.get(day.day, ()) + answer.episode
    proposed = [candidate for _, answer in answers for candidate in answer.candidates]
    return Extracted(
        candidates=tuple(one for one in proposed if not _REDACTED.search(one.text)),
        operations=tuple(one for _, answer in answers for one in answer.operations),
        forms=tuple(one for _, answer in answers for one in answer.forms),
        seen={ident: day.day for day, answer in answers for ident in answer.seen},
        open_lists=tuple((day.day, one) for day, answer in answers for one in answer.open_lists),
        episodes={day: told for day, told in episodes.items() if told},
        read=tuple(days),
        tally=tally,
        notes=tuple((day.path, note) for day, answer in answers for note in answer.notes),
    )


_REDACTED = re.compile(
    r"(?:\b(?:is|was|are|ist|lautet|est|es)|[=:：＝是为為は])\W{0,9}\[redacted:[a-z0-9-]{1,40}:[0-9a-f]{4}\]\W{0,9}\Z"
)
"""A sentence without content, since its value was a secret: "The password is [redacted:password:1f3a]"."""
