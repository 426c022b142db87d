"""What a run decided, stage by stage, and the report on it before anything is written."""

from __future__ import annotations

import contextlib
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pipelines.errors import TooMuchFromGit
from pipelines.night.report import RunReport
from pipelines.store.git_history import run_id
from pipelines.store.layout import BRIEFING, REVIEW
from pipelines.store.review_queue import MOST_SHOWN, read_queue
from pipelines.store.secrets.redact import format_found, load_redactor, without_secrets
from pipelines.usage import Tally

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from pipelines.extract.claims import Verdict
    from pipelines.extract.extract_days import Extracted
    from pipelines.extract.extraction import Told
    from pipelines.night.answers import Answered
    from pipelines.night.brief import Brief, Proposal
    from pipelines.night.caps import Pruned
    from pipelines.night.file_items import Promoted
    from pipelines.night.fold_logs import FoldedLogs
    from pipelines.night.plan import Night
    from pipelines.night.reconcile import Reconciled
    from pipelines.night.skipped import NotUnderstood
    from pipelines.review.review import Ruling
    from pipelines.store.git import Git
    from pipelines.store.secrets.redact import FoundSecret, Redactor
    from pipelines.store.snapshot import Snapshot
    from pipelines.store.state import Tombstone


@dataclass(frozen=True)
class Checked:
    """A day after the second reader.

    Args:
        rulings: those to apply or ask about.
        verdicts: those on the sentences of the brief.
        told: day → what happened on it.
        counts: how many claims there were, and how many were not supported.
        tally: the cost of the call.
        failure: why there are no verdicts, or empty.
    """

    rulings: list[Ruling]
    verdicts: Mapping[Proposal, Verdict] = field(default_factory=dict)
    told: Mapping[str, Sequence[Told]] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    tally: Tally = field(default_factory=Tally)
    failure: str = ""


@dataclass(frozen=True)
class Captured:
    """The memory at the beginning of a run: its logs, cleaned, and the documents with what people did to them.

    Args:
        folded: the logs, cleaned for reading.
        partials: path → bytes of each partial log, cleaned.
        redacted: log → the secrets removed from it.
        private: logs that hold, or held, something private.
        reconciled: people's edits.
        answered: people's answers in Review.md.
        stones: the hashes of what people removed.
        vetoed: what people deleted from the generated sentences.
    """

    folded: FoldedLogs
    partials: Mapping[str, bytes]
    redacted: Mapping[str, Sequence[FoundSecret]]
    private: Sequence[str]
    reconciled: Reconciled
    answered: Answered
    stones: frozenset[Tombstone]
    vetoed: frozenset[str]


@dataclass(frozen=True)
class Decided:
    """The results of the stages of a run, in their order.

    Args:
        captured: the memory at its beginning.
        extracted: what was read.
        checked: the rulings to carry out, and the second reader's answers.
        promoted: what was filed.
        skipped: the lines that were not understood.
        claims: ids of items that a log line speaks of, where a person must decide.
        archives: paths of projects proposed for Archives.
        briefed: what a model wrote of the night.
        later: how many more days are left for the runs that follow.
        pruned: the documents as they will be written, and what a cap moved.
        state: path → bytes of each file under State.
    """

    captured: Captured
    extracted: Extracted
    checked: Checked
    promoted: Promoted
    skipped: tuple[NotUnderstood, ...]
    claims: tuple[str, ...]
    archives: tuple[str, ...]
    briefed: Brief
    later: int
    pruned: Pruned
    state: Mapping[str, bytes]

    @property
    def tally(self) -> Tally:
        """The cost of all model calls."""
        tally = Tally()
        for part in (self.extracted.tally, self.briefed.tally, self.checked.tally):
            tally.add(part)
        return tally


def report_on(night: Night, git: Git, snapshot: Snapshot, decided: Decided) -> RunReport:
    """Return the report on what was decided, without the fields that writing fills in."""
    extracted, promoted, shown = decided.extracted, decided.promoted, snapshot.shown
    briefing, left = decided.pruned.documents.get(BRIEFING), [str(one) for one in snapshot.warnings if one.pending]
    people, answered = decided.captured.reconciled, decided.captured.answered
    asked_about = (people.asked, promoted.questions, decided.archives, decided.claims)
    return RunReport(
        run=run_id(night.now, git.head()),
        now=night.now.isoformat(timespec="seconds"),
        day=night.today,
        logs={
            "read": sum(bool(day.fresh) for day in extracted.read),
            "folded": decided.captured.folded.folded,
            "redacted": {path: len(found) for path, found in decided.captured.redacted.items()},
        },
        again=night.again or None,
        read_days=tuple(dict.fromkeys(day.day for day in extracted.read if day.asked)),
        pending_days=tuple(day.day for day in extracted.pending if day.asked),
        entries={
            "read": sum(len(day.fresh) for day in extracted.read),
            "pending": sum(len(day.fresh) for day in extracted.pending),
            "left": len(decided.skipped),
        },
        candidates=len(extracted.candidates),
        ungrounded=extracted.ungrounded,
        verdicts=Counter("ask" if one.asks else str(one.kind) for one in decided.checked.rulings),
        review=dict(decided.checked.counts),
        brief=dict(decided.briefed.counts),
        items={
            "added": len(promoted.added),
            "confirmed": len(promoted.confirmed),
            "superseded": len(promoted.superseded),
            "closed": len(promoted.closed),
            "by_type": Counter(str(item.type) for _, item in promoted.added.values()),
            "by_document": Counter(shown(path) for path, _ in promoted.added.values()),
        },
        documents_made=tuple(map(shown, promoted.made)),
        people={
            "edited": len(people.edited),
            "numbered": len(people.numbered),
            "retracted": len(people.retracted) + len(answered.retracted),
            "restored": len(answered.restored),
            "asked": sum(map(len, asked_about)),
        },
        briefing={"bytes": briefing.size if briefing else 0, "cap": night.settings.caps.briefing},
        evicted=[
            {"id": moved.id, "from": shown(moved.source), "to": shown(moved.target)} for moved in decided.pruned.moved
        ],
        skipped=[one.to_json() for one in decided.skipped],
        extractor=night.extractor.name,
        tally=decided.tally,
        failure=without_secrets(" ".join(filter(None, (extracted.failure, decided.checked.failure)))),
        over_budget=extracted.over_budget,
        fallback=extracted.fallback,
        reread=tuple(day.day for day in extracted.read if day.again and day.day not in extracted.fallback),
        # The reason something is pending comes first.
        warnings=[*left, *night.settings.ignored_note, *_warnings(git, snapshot, decided)],
        pending=bool(left),
    )


def _warnings(git: Git, snapshot: Snapshot, decided: Decided) -> list[str]:
    review, promoted = snapshot.shown(REVIEW), decided.promoted
    notes = [str(warned) for warned in snapshot.warnings if not warned.pending]
    if snapshot.layout.in_place:  # the logs are a person's own; a log with a secret is named when the run is over
        why = "holds text marked as private. The file was neither changed nor committed, and that text was not read"
        notes += [f"{snapshot.shown(path)} {why}." for path in decided.captured.private]
    else:
        purge = ". Git history still has a copy: `curate check --secrets --history` shows how to purge it"
        held_by_git = (
            _with_secret_in_git(git, decided.captured.redacted, load_redactor(snapshot.root))
            if decided.captured.redacted
            else set[str]()
        )
        notes += [
            f"{path}: {format_found(found)} redacted{purge if path in held_by_git else ''}."
            for path, found in sorted(decided.captured.redacted.items())
        ]
        notes += [f"{path}: the text marked as private was removed." for path in decided.captured.private]
    notes += [
        f"{path} was not folded, because its name has no date. Rename it to DAY-NAME.md."
        for path in decided.captured.folded.odd
    ]
    notes += [
        f"{snapshot.shown(path)}: a generated sentence was left out, because it would hold a secret."
        for path in decided.pruned.left_out
    ]
    if gone := len(decided.captured.reconciled.asked):
        notes.append(f"{gone} items are gone from their documents. Retract or restore them in {review}.")
    foreign = len(decided.captured.reconciled.foreign)
    notes += [f"Items came from elsewhere ({foreign}). Keep or drop them in {review}."] * bool(foreign)
    if questions := sum(one.rival is not None for one in promoted.questions):
        count = (
            "1 new item contradicts an existing one" if questions == 1 else f"{questions} new items contradict others"
        )
        notes.append(f"{count}. Decide in {review} which to keep.")
    if waiting := len(promoted.questions) - questions:
        count = "1 new item waits" if waiting == 1 else f"{waiting} new items wait"
        notes.append(f"{count} in {review} for your approval.")
    if claims := len(decided.claims):
        count = "1 item" if claims == 1 else f"{claims} items"
        notes.append(f"The logs say that {count} may be over or wrong. Decide in {review}.")
    if (folded := len(read_queue(decided.pruned.documents.get(REVIEW))) - MOST_SHOWN) > 0:
        count = "1 more question waits" if folded == 1 else f"{folded} more questions wait"
        notes.append(f"{count} in {review}, folded away below the first {MOST_SHOWN}.")
    if archives := [snapshot.shown(path) for path in decided.archives]:
        it = "it" if len(archives) == 1 else "them"
        notes.append(f"{' and '.join(archives)} may be finished. Decide in {review} whether to archive {it}.")
    read = [f"{snapshot.shown(path)}: {note}" for path, note in decided.extracted.notes]
    if failure := decided.briefed.failure:
        read.append(f"No model could write what stands at the top of {BRIEFING}. {failure}")
    return [
        *notes,
        *decided.captured.answered.notes,
        *map(without_secrets, read),
    ]


def _with_secret_in_git(git: Git, paths: Collection[str], redactor: Redactor) -> set[str]:
    """Return the logs whose version in the last commit holds a secret."""
    found: set[str] = set()
    if (head := git.head()) is None:
        return found
    for path in paths:
        with contextlib.suppress(TooMuchFromGit):  # `curate check --secrets --history` has no size limit
            if path in git.tree(head) and redactor.find(git.show(head, path) or b""):
                found.add(path)
    return found
