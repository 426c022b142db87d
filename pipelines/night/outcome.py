"""Decided: what the stages of a night came to, and the report that says so."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pipelines.errors import TooMuchFromGit
from pipelines.extract.extraction import all_failures
from pipelines.store.layout import BRIEFING, REVIEW
from pipelines.store.secrets import find_secrets, veil
from pipelines.store.user_layout import told
from pipelines.usage import total

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pipelines.extract.extract_days import Extracted
    from pipelines.night.answers import Answered
    from pipelines.night.briefing import Pruned
    from pipelines.night.file_items import Promoted
    from pipelines.night.fold_logs import Captured, Clean
    from pipelines.night.reconcile import Reconciled
    from pipelines.night.report import RunReport
    from pipelines.night.settle import Settled
    from pipelines.review.llm_review import ReviewResult
    from pipelines.review.review import Verdict
    from pipelines.store.document import Document
    from pipelines.store.git import Git
    from pipelines.store.snapshot import Snapshot
    from pipelines.store.state import Tombstone


@dataclass(frozen=True)
class Decided:
    """What the stages came to, each one's result."""

    snapshot: Snapshot
    clean: Clean
    captured: Captured
    reconciled: Reconciled
    answered: Answered
    extracted: Extracted
    weighed: ReviewResult
    verdicts: tuple[Verdict, ...]
    promoted: Promoted
    settled: Settled
    pruned: Pruned
    state: Mapping[str, bytes]
    meaning: str

    @property
    def documents(self) -> Mapping[str, Document]:
        """All documents by path, as they are to be written."""
        return self.pruned.documents

    @property
    def stones(self) -> tuple[Tombstone, ...]:
        """The tombstones of this run."""
        return (*self.reconciled.retracted, *self.answered.retracted)


def report_of(begun: RunReport, git: Git, decided: Decided) -> RunReport:
    """Return a report that says what was decided, all but what writing it comes to.

    Args:
        begun: the report as far as it was known before, with what was odd by then.
        git: the memory's; tells whether a secret that was taken out of a log is in a commit.
        decided: what the stages came to.
    """
    left = [str(warned) for warned in decided.snapshot.warnings if warned.pending]
    return replace(
        _with_filed(_with_read(begun, decided), decided),
        warnings=[*left, *begun.warnings, *_warnings(git, decided)],  # why something is left comes first
        pending=bool(left),
    )


def _with_read(report: RunReport, decided: Decided) -> RunReport:
    extracted, weighed = decided.extracted, decided.weighed
    return replace(
        report,
        meaning=decided.meaning,
        logs_read=sum(bool(day.fresh) for day in extracted.read),
        entries_read=sum(len(day.fresh) for day in extracted.read),
        entries_pending=sum(len(day.fresh) for day in extracted.pending),
        candidates=len(extracted.candidates),
        ungrounded=extracted.ungrounded,
        spent=total(extracted.spent, weighed.spent),
        failures=all_failures(extracted.failures, weighed.failures),
        fallback=extracted.fallback,
        reread=tuple(day.day for day in extracted.read if day.again and day.day not in extracted.fallback),
        replies=(*extracted.replies, *weighed.replies),
        review=weighed.to_json(),
        verdicts=dict(Counter(str(verdict.kind) for verdict in decided.verdicts)),
        pending_days=tuple(day.day for day in extracted.pending if day.asked),
        failure=veil(extracted.failure),
        over_budget=extracted.over_budget,
        folded=decided.captured.folded,
        redacted={path: len(found) for path, found in decided.clean.redacted.items()},
    )


def _with_filed(report: RunReport, decided: Decided) -> RunReport:
    promoted, settled, shown = decided.promoted, decided.settled, decided.snapshot.shown
    asked = (decided.reconciled.asked, promoted.questions, promoted.held, settled.archives, settled.claims)
    return replace(
        report,
        types=dict(Counter(str(item.type) for _, item in promoted.added)),
        documents=dict(Counter(shown(path) for path, _ in promoted.added)),
        confirmed=len(promoted.confirmed),
        made=tuple(map(shown, promoted.made)),
        edited=len(decided.reconciled.edited),
        numbered=len(decided.reconciled.numbered),
        retracted=len(decided.stones),
        restored=len(decided.answered.restored),
        asked=sum(map(len, asked)),
        superseded=len(promoted.superseded),
        closed=len(settled.closed),
        briefing_bytes=decided.documents[BRIEFING].size if BRIEFING in decided.documents else 0,
        evicted=[
            {"id": moved.id, "from": shown(moved.source), "to": shown(moved.target)} for moved in decided.pruned.moved
        ],
    )


def _warnings(git: Git, decided: Decided) -> list[str]:
    root = decided.snapshot.root
    said = [told(root, note) for note in decided.answered.notes]
    said += [veil(told(root, note)) for note in (*decided.extracted.notes, *decided.weighed.notes)]
    return [
        *(str(warned) for warned in decided.snapshot.warnings if not warned.pending),
        *decided.clean.notes(_committed(git, decided.clean)),
        *(f"{path} names no day (DAY-NAME.md), so it was not folded." for path in decided.captured.odd),
        *_what_review_asks(decided),
        *said,
    ]


def _what_review_asks(decided: Decided) -> list[str]:
    """Return a sentence for each kind of question that this run puts into Review.md."""
    notes, review = [], decided.snapshot.shown(REVIEW)
    if asked := len(decided.reconciled.asked):
        notes.append(f"{asked} items are gone from their documents; {review} asks whether to retract or restore them.")
    if questions := len(decided.promoted.questions):
        count = "1 new item contradicts" if questions == 1 else f"{questions} new items contradict"
        notes.append(f"{count} what stands; {review} asks which holds.")
    if held := len(decided.promoted.held):
        count = "1 new item is" if held == 1 else f"{held} new items are"
        notes.append(f"{count} held in {review}: nobody vouches for what they say.")
    if claims := len(decided.settled.claims):
        count = "1 todo is" if claims == 1 else f"{claims} todos are"
        notes.append(f"{count} said to be done by who is trusted less; {review} asks.")
    if archives := [decided.snapshot.shown(path) for path in decided.settled.archives]:
        notes.append(f"{' and '.join(archives)} may be over; {review} asks whether to archive.")
    return notes


def _committed(git: Git, clean: Clean) -> frozenset[str]:
    """Return the redacted logs of which the last commit holds a version with a secret in it."""
    head = git.head() if clean.redacted else None
    tree = git.tree(head)
    return frozenset(path for path in clean.redacted if head and path in tree and _held_secret(git, head, path))


def _held_secret(git: Git, commit: str, path: str) -> bool:
    try:
        return bool(find_secrets(git.show(commit, path) or b""))
    except TooMuchFromGit:
        return False  # `curate check --secrets --history` looks through what is no log by its size
