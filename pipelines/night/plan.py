"""The plan of a night: from the memory as it is to one change set and its report, through the stages in their order.

Nothing here writes. What a plan would do can be shown (`--dry-run`) or applied (`pipelines.night.run_night`).
"""

from __future__ import annotations

import contextlib
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pipelines.clock import day_of
from pipelines.errors import BrokenChangeSet, TooMuchFromGit
from pipelines.extract.extract_days import advanced_progress, days_to_read, extract
from pipelines.extract.extraction import DocumentChoice, Nearby
from pipelines.night.answers import apply_answers
from pipelines.night.briefing import tidied
from pipelines.night.choose_document import Catalog, file_candidate
from pipelines.night.file_items import promote
from pipelines.night.fold_logs import capture, clean_logs
from pipelines.night.projects import propose_archives
from pipelines.night.reconcile import understand_edits
from pipelines.night.report import RunReport
from pipelines.night.reread import buried_by, reread_in, split_known, without_recounts
from pipelines.review.close_todos import claimed, close_todos
from pipelines.review.existing_items import Vectors
from pipelines.review.item_links import find_ties, linkable
from pipelines.review.llm_review import ReviewContext, review_candidates
from pipelines.review.questions import Sources, asked
from pipelines.review.review import SameMeaning
from pipelines.review.trust.gate import Gate
from pipelines.store.change_set import Change, check_documents, document_changes
from pipelines.store.document import Document
from pipelines.store.evidence import Quotes
from pipelines.store.git_history import run_id
from pipelines.store.layout import BRIEFING, PROGRESS, REVIEW, SETTINGS, TOMBSTONES, day_of_log, kind_of
from pipelines.store.log import parse_entries
from pipelines.store.secrets import find_secrets, format_found, load_redactor, veil
from pipelines.store.secrets.scan import without_held
from pipelines.store.session_state import load_seals
from pipelines.store.snapshot import read_snapshot, with_links_told_apart
from pipelines.store.state import entries_digest, read_progress, read_tombstones, render_progress, render_tombstones
from pipelines.store.template import missing_files
from pipelines.templating import resource
from pipelines.usage import Tally

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from pipelines.extract.extract_days import Extracted
    from pipelines.extract.extraction import Extractor
    from pipelines.extract.llm.model_reviewer import Reviewer
    from pipelines.night.answers import Answered
    from pipelines.night.briefing import Pruned
    from pipelines.night.file_items import Promoted
    from pipelines.night.fold_logs import Captured
    from pipelines.night.progress import Watch
    from pipelines.night.reconcile import Reconciled
    from pipelines.night.sync import Sharing
    from pipelines.review.llm_review import ReviewResult
    from pipelines.search.embedders.embedder import Embedder
    from pipelines.settings import Settings
    from pipelines.store.git import Git
    from pipelines.store.item import Trust
    from pipelines.store.log import Entry
    from pipelines.store.secrets import Found
    from pipelines.store.snapshot import Snapshot


@dataclass(frozen=True)
class Night:
    """What a run is given.

    Args:
        root: the memory.
        settings: its settings.
        extractor: who reads the logs.
        now: the moment at which the run acts.
        again: a day to be read anew, its tombstones set aside; empty for none.
        at_once: how many days the extractor is asked about at the same time.
        rereads: whether the extractor is a model, who reads again what only the rules could read on earlier nights.
        embedder: gives the local model by which the review tells that two sentences mean the same, or None.
        vectors: those of items, by which the review finds neighbours; it finds them by words alone where none is given.
        reviewer: the models that are asked what becomes of the candidates, or None where the rules alone judge them.
        rules_from: whose rules are filed unasked: `self` for the agent's own journal and the owner's, or `owner`.
        sharing: the remote that the memory is shared by, or None.
    """

    root: Path
    settings: Settings
    extractor: Extractor
    now: datetime
    again: str = ""
    at_once: int = 1
    rereads: bool = False
    embedder: Callable[[], Embedder | None] = lambda: None
    vectors: Vectors = field(default_factory=Vectors)
    reviewer: Reviewer | None = None
    rules_from: str = "self"
    sharing: Sharing | None = None

    @property
    def today(self) -> str:
        """The memory's day."""
        return day_of(self.now, self.settings)


@dataclass(frozen=True)
class Plan:
    """What a run would do: its change set, and its report so far."""

    changes: tuple[Change, ...]
    report: RunReport


@dataclass(frozen=True)
class _Decided:
    """What the stages of a night came to, one after the other.

    Args:
        captured: the logs as they may be read.
        redacted: log → the secrets that were taken out of it.
        private: logs that hold, or held, something private.
        reconciled: people's edits.
        answered: people's answers in Review.md.
        extracted: what was read.
        reviewed: the review, with a verdict on every candidate.
        meaning: the local model that could be asked, or empty.
        promoted: what was filed.
        closed: ids of Todos that the log says are done.
        claims: ids of Todos that a person is asked about: who says that they are done is trusted less.
        archives: paths of projects that are proposed for Archives.
        pruned: the documents as they are to be written, and what a cap moved.
        logs: path → bytes of each log as it is to be written; None where it goes.
        state: path → bytes of each file under State.
    """

    captured: Captured
    redacted: Mapping[str, Sequence[Found]]
    private: Sequence[str]
    reconciled: Reconciled
    answered: Answered
    extracted: Extracted
    reviewed: ReviewResult
    meaning: str
    promoted: Promoted
    closed: tuple[str, ...]
    claims: tuple[str, ...]
    archives: tuple[str, ...]
    pruned: Pruned
    logs: Mapping[str, bytes | None]
    state: Mapping[str, bytes]


def plan_night(night: Night, git: Git, watch: Watch) -> Plan:
    """Read the memory and decide everything; nothing is written.

    Raises:
        BrokenChangeSet: the changes would break a promise.
    """
    snapshot = with_links_told_apart(without_held(read_snapshot(night.root)), git)
    template = missing_files(night.root, resource("memory_template"))
    made = {path: Document(path, data.decode()) for path, data in template.items() if kind_of(path)}
    found = {**snapshot.documents, **made}
    decided = _decide(night, git, snapshot, found, watch)
    promoted, documents = decided.promoted, decided.pruned.documents
    gone = frozenset(stone.id for stone in (*decided.reconciled.retracted, *decided.answered.retracted))
    added = [*promoted.added, *(one.item.id for one in promoted.questions)]
    if faults := check_documents(found, documents, night.settings.caps.briefing, added=added, gone=gone):
        raise BrokenChangeSet(faults)
    logs, state = {**snapshot.logs, **snapshot.partials}, snapshot.state
    changes = (
        *(Change(path, None, data) for path, data in template.items() if not kind_of(path) and path != SETTINGS),
        *(Change(path, logs.get(path), data) for path, data in decided.logs.items() if logs.get(path) != data),
        *document_changes(snapshot.documents, documents),
        *(Change(path, state.get(path), data) for path, data in decided.state.items() if state.get(path, b"") != data),
    )
    return Plan(changes, _report(night, git, snapshot, decided))


def _decide(night: Night, git: Git, snapshot: Snapshot, found: Mapping[str, Document], watch: Watch) -> _Decided:
    """Run the stages in their order."""
    today, closed = night.today, snapshot.unreadable()
    progress = read_progress(snapshot.state.get(PROGRESS))
    with watch.stage("capture"):
        redactor = load_redactor(night.root)
        logs, partials, redacted, private = clean_logs(snapshot.logs, snapshot.partials, progress, redactor)
        captured = capture(logs, partials, today, closed)
        reconciled = understand_edits(git, snapshot, found, today)
        answered = apply_answers(reconciled.documents, today, snapshot.theirs(), snapshot.shown)
    catalog = Catalog(answered.documents, closed)
    items = [(path, placed.item) for path, one in sorted(catalog.documents.items()) for placed in one.items]
    stones = read_tombstones(snapshot.state.get(TOMBSTONES)) | {*reconciled.retracted, *answered.retracted}
    with watch.stage("extract"):
        if night.again:
            progress = {path: read for path, read in progress.items() if day_of_log(path) != night.again}
        days = days_to_read(captured.logs, progress, today, _read_before(git), rereads=night.rereads)
        choices = tuple(
            DocumentChoice(one.id, one.title, one.kind)
            for path, one in sorted(catalog.documents.items())
            if not path.startswith("Archives/") and path != REVIEW
        )
        nearby, read = Nearby(linkable(items)), lambda done: watch.advance(done, len(days))
        extracted = extract(days, night.extractor, choices, read, night.at_once, nearby)
    with watch.stage("review"):
        gate = Gate(days, load_seals(), night.rules_from, frozenset(item.id for _, item in items))
        is_reread, same_meaning = reread_in(days, night.again), SameMeaning(night.embedder, night.vectors)
        buried = buried_by(stones, night.again, is_reread)
        context = ReviewContext(items, buried, lambda one: file_candidate(one, catalog), choices, same_meaning)
        candidates = [gate.look(replace(one, text=veil(one.text))) for one in extracted.candidates]
        filed = [
            replace(file_candidate(one.candidate, catalog), doubt=one.doubt, echo=one.echo, recited=one.recited)
            for one in candidates
        ]
        unknown, known = split_known(filed, items, is_reread)
        reviewed = review_candidates(unknown, context, night.reviewer)
        reviewed = replace(reviewed, verdicts=(*known, *reviewed.verdicts))
    with watch.stage("promote"):
        ties = find_ties([verdict.candidate for verdict in reviewed.verdicts], items)
        promoted = promote(without_recounts(reviewed.verdicts, is_reread), catalog, ties)
        fresh = [entry for day in extracted.read for entry in day.fresh]
        documents, done, claims, archives = _close_and_ask(
            night, snapshot, promoted, fresh, gate.word_of, captured.logs
        )
    with watch.stage("prune"):
        pruned = tidied(documents, snapshot, night.settings)
    if extracted.read:
        progress = advanced_progress(progress, extracted.read, today, extracted.fallback)
    state = {PROGRESS: render_progress(progress), TOMBSTONES: render_tombstones(stones)}
    written: dict[str, bytes | None] = {**captured.logs, **partials, **dict.fromkeys(captured.folded)}
    if snapshot.layout.in_place:
        redacted, written = {}, {}  # the logs are a person's own files, and keep what they hold
    meaning = same_meaning.name if extracted.read else ""
    return _Decided(
        captured, redacted, private, reconciled, answered, extracted, reviewed, meaning, promoted, done, claims,
        archives, pruned, written, state,
    )  # fmt: skip


def _close_and_ask(
    night: Night,
    snapshot: Snapshot,
    promoted: Promoted,
    fresh: Sequence[Entry],
    word_of: Callable[[Entry, str], Trust],
    logs: Mapping[str, bytes],
) -> tuple[Mapping[str, Document], tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Close what is done, ask what cannot be decided, and propose what is over.

    Returns:
        The documents; the ids of Todos that were closed, and of those that a person is asked about; the paths of
        projects that are proposed for Archives.
    """
    quotes, today = Quotes(snapshot.root), night.today
    sources = Sources(lambda evidence: quotes.found(evidence).quote or "", snapshot.shown)
    closed = close_todos(promoted.documents, fresh, word_of)
    documents = asked(closed.documents, promoted.questions, sources, today)
    documents, claims = claimed(documents, (*promoted.claims.values(), *closed.claims), sources, today)
    documents, archives = propose_archives(documents, logs, today, night.settings.review.idle_days, snapshot.shown)
    return documents, closed.ids, claims, archives


def _read_before(git: Git) -> Callable[[str, str], frozenset[str] | None]:
    """Return how to find what a closed day's digest stands for: the version of the log in git that gives it."""

    def find(path: str, digest: str) -> frozenset[str] | None:
        for commit in git.versions(path):
            try:
                data = git.show(commit, path)
            except TooMuchFromGit:
                continue  # no log was ever read that is so large
            keys = [entry.key for entry in parse_entries(path, "", (data or b"").decode(errors="replace"))]
            if entries_digest(keys) == digest:
                return frozenset(keys)
        return None

    return find


def _report(night: Night, git: Git, snapshot: Snapshot, decided: _Decided) -> RunReport:
    """Return a report that says what was decided, all but what writing it comes to."""
    extracted, reviewed, promoted, shown = decided.extracted, decided.reviewed, decided.promoted, snapshot.shown
    briefing, left = decided.pruned.documents.get(BRIEFING), [str(one) for one in snapshot.warnings if one.pending]
    tally = Tally()
    for part in (extracted.tally, reviewed.reviewed.tally):
        tally.add(part)
    people, answered = decided.reconciled, decided.answered
    asked_about = (people.asked, promoted.questions, decided.archives, decided.claims)
    return RunReport(
        run=run_id(night.now, git.head()),
        now=night.now.isoformat(timespec="seconds"),
        day=night.today,
        logs={
            "read": sum(bool(day.fresh) for day in extracted.read),
            "folded": decided.captured.folded,
            "redacted": {path: len(found) for path, found in decided.redacted.items()},
        },
        again=night.again or None,
        pending_days=tuple(day.day for day in extracted.pending if day.asked),
        entries={
            "read": sum(len(day.fresh) for day in extracted.read),
            "pending": sum(len(day.fresh) for day in extracted.pending),
        },
        candidates=len(extracted.candidates),
        ungrounded=extracted.ungrounded,
        verdicts=Counter(str(verdict.kind) for verdict in reviewed.verdicts),
        review=reviewed.counts,
        items={
            "added": len(promoted.added),
            "confirmed": len(promoted.confirmed),
            "superseded": len(promoted.superseded),
            "closed": len(decided.closed),
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
        extractor=night.extractor.name,
        tally=tally,
        failure=veil(extracted.failure),
        over_budget=extracted.over_budget,
        fallback=extracted.fallback,
        reread=tuple(day.day for day in extracted.read if day.again and day.day not in extracted.fallback),
        meaning=decided.meaning,
        # Why something is left comes first.
        warnings=[*left, *night.settings.ignored_note, *_warnings(git, snapshot, decided)],
        pending=bool(left),
    )


def _warnings(git: Git, snapshot: Snapshot, decided: _Decided) -> list[str]:
    review, promoted = snapshot.shown(REVIEW), decided.promoted
    notes = [str(warned) for warned in snapshot.warnings if not warned.pending]
    if snapshot.layout.in_place:  # the logs keep what they hold; one with a secret is named when the run is over
        why = "has something marked as private in it; it is left as it is and not committed, and that is not read"
        notes += [f"{snapshot.shown(path)} {why}." for path in decided.private]
    else:
        purge = "; git holds it still, and `curate check --secrets --history` says how to purge that"
        held_by_git = _with_secret_in_git(git, decided.redacted) if decided.redacted else set[str]()
        notes += [
            f"{path}: {format_found(found)} redacted{purge if path in held_by_git else ''}."
            for path, found in sorted(decided.redacted.items())
        ]
        notes += [f"{path}: what was marked as private is gone from it." for path in decided.private]
    notes += [f"{path} names no day (DAY-NAME.md), so it was not folded." for path in decided.captured.odd]
    if gone := len(decided.reconciled.asked):
        notes.append(f"{gone} items are gone from their documents; {review} asks whether to retract or restore them.")
    if questions := sum(one.rival is not None for one in promoted.questions):
        count = "1 new item contradicts" if questions == 1 else f"{questions} new items contradict"
        notes.append(f"{count} what stands; {review} asks which holds.")
    if waiting := len(promoted.questions) - questions:
        count = "1 new item is" if waiting == 1 else f"{waiting} new items are"
        notes.append(f"{count} held in {review}: nobody vouches for what they say.")
    if claims := len(decided.claims):
        count = "1 todo is" if claims == 1 else f"{claims} todos are"
        notes.append(f"{count} said to be done by who is trusted less; {review} asks.")
    if archives := [snapshot.shown(path) for path in decided.archives]:
        notes.append(f"{' and '.join(archives)} may be over; {review} asks whether to archive.")
    read = [f"{snapshot.shown(path)}: {note}" for path, note in decided.extracted.notes]
    return [*notes, *decided.answered.notes, *map(veil, (*read, *decided.reviewed.notes))]


def _with_secret_in_git(git: Git, paths: Collection[str]) -> set[str]:
    """Return the logs of which the last commit holds a version with a secret in it."""
    found: set[str] = set()
    if (head := git.head()) is None:
        return found
    for path in paths:
        with contextlib.suppress(TooMuchFromGit):  # `curate check --secrets --history` looks by no log's size
            if path in git.tree(head) and find_secrets(git.show(head, path) or b""):
                found.add(path)
    return found
