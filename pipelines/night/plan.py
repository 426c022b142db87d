"""The plan of a night: from the memory as it is to one change set and its report, through the stages in their order.

Nothing here writes. What a plan would do can be shown (`--dry-run`) or applied (`pipelines.night.run_night`).
"""

from __future__ import annotations

import contextlib
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from pipelines.clock import day_of
from pipelines.errors import BrokenChangeSet, TooMuchFromGit
from pipelines.extract.extract_days import DayToRead, Extracted, advanced_progress, days_to_read, extract
from pipelines.extract.extraction import Extractor, Nearby, OperationKind
from pipelines.extract.rules.label_reader import read_forms
from pipelines.night.answers import Answered, apply_answers, put_back
from pipelines.night.brief import Brief, brief
from pipelines.night.caps import Pruned, with_caps_applied
from pipelines.night.choose_document import (
    Catalog,
    begun_projects,
    document_choices,
    file_candidate,
    has_subject,
    in_own_projects,
    one_project_each,
    without_projects_from_outside,
)
from pipelines.night.file_items import Promoted, promote
from pipelines.night.fold_logs import FoldedLogs, capture, clean_logs
from pipelines.night.projects import propose_archives
from pipelines.night.reconcile import Reconciled, understand_edits
from pipelines.night.report import RunReport, Watch
from pipelines.night.reread import buried_by, reread_in, without_known
from pipelines.night.skipped import NotUnderstood, skipped_lines
from pipelines.review.existing_items import KnownItems
from pipelines.review.item_links import linkable, with_named_links
from pipelines.review.llm_review import ModelReview
from pipelines.review.meaning import Vectors
from pipelines.review.outcomes import claimed, without_questions
from pipelines.review.questions import Sources, asked
from pipelines.review.review import ReviewContext, Ruling, review
from pipelines.review.trust import TrustGate
from pipelines.review.verification import Checked, verified
from pipelines.store.change_set import Change, check_documents, document_changes
from pipelines.store.document import Document
from pipelines.store.evidence import Quotes
from pipelines.store.generated import vetoed_by
from pipelines.store.git_history import run_id
from pipelines.store.layout import BRIEFING, PROGRESS, REVIEW, SETTINGS, TOMBSTONES, day_of_log, document_id, kind_of
from pipelines.store.log import parse_entries
from pipelines.store.review_queue import MOST_SHOWN, read_queue
from pipelines.store.secrets import format_found, load_redactor, without_secrets
from pipelines.store.secrets.known import rules_changed
from pipelines.store.secrets.scan import without_secret_files
from pipelines.store.session_state import load_seals
from pipelines.store.snapshot import Snapshot, read_snapshot, with_links_told_apart
from pipelines.store.state import (
    Tombstone,
    entries_digest,
    read_tombstones,
    render_progress,
    render_tombstones,
)
from pipelines.store.template import missing_files
from pipelines.templating import resource
from pipelines.usage import Tally

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from pipelines.extract.claims import Verifier
    from pipelines.extract.llm.model_briefer import ModelBriefer
    from pipelines.extract.llm.model_reviewer import Reviewer
    from pipelines.night.sync import Sharing
    from pipelines.settings import Settings
    from pipelines.store.git import Git
    from pipelines.store.secrets import FoundSecret, Redactor


@dataclass(frozen=True)
class Night:
    """The input of a run.

    Args:
        root: the memory.
        settings: its settings.
        extractor: who reads the logs.
        now: the time the run acts at.
        again: a day to read again, with its tombstones set aside; empty for none.
        at_once: how many days the extractor reads in parallel.
        rereads: whether the extractor is a model, and reads again what only the rules could read before.
        vectors: of items, so that the review finds neighbours; without them it compares words only.
        reviewer: the models that decide what becomes of candidates, or None if the rules decide.
        verifier: the models that check items against their quotes, or None if no model reads.
        writer: the models that write states and episodes, or None if code does.
        rules_from: whose rules are filed without asking: `self` (the agent's and the owner's) or `owner`.
        sharing: the remote that shares the memory, or None.
    """

    root: Path
    settings: Settings
    extractor: Extractor
    now: datetime
    again: str = ""
    at_once: int = 1
    rereads: bool = False
    vectors: Vectors = field(default_factory=Vectors)
    reviewer: Reviewer | None = None
    verifier: Verifier | None = None
    writer: ModelBriefer | None = None
    rules_from: str = "self"
    sharing: Sharing | None = None

    @property
    def today(self) -> str:
        """The memory's day."""
        return day_of(self.now, self.settings)


@dataclass(frozen=True)
class NightPlan:
    """What a run would do: its change set, and its report so far."""

    changes: tuple[Change, ...]
    report: RunReport


@dataclass(frozen=True)
class _Decided:
    """The results of the stages of a night, in order.

    Args:
        captured: the logs, cleaned for reading.
        redacted: log → the secrets removed from it.
        private: logs that hold, or held, something private.
        reconciled: people's edits.
        answered: people's answers in Review.md.
        extracted: what the extractor read.
        reviewed: the models' verdicts on the candidates, or None if no model was asked.
        checked: the rulings to carry out, and the second reader's answers.
        meaning: the local embedding model that was available, or empty.
        promoted: what was filed.
        skipped: the lines that were not understood.
        claims: ids of items that a log line speaks of, where a person must decide.
        archives: paths of projects proposed for Archives.
        briefed: the states and episodes that were written.
        pruned: the documents as they will be written, and what a cap moved.
        logs: path → bytes of each log as it will be written; None to delete it.
        state: path → bytes of each file under State.
    """

    captured: FoldedLogs
    redacted: Mapping[str, Sequence[FoundSecret]]
    private: Sequence[str]
    reconciled: Reconciled
    answered: Answered
    extracted: Extracted
    reviewed: ModelReview | None
    checked: Checked
    meaning: str
    promoted: Promoted
    skipped: tuple[NotUnderstood, ...]
    claims: tuple[str, ...]
    archives: tuple[str, ...]
    briefed: Brief
    pruned: Pruned
    logs: Mapping[str, bytes | None]
    state: Mapping[str, bytes]

    @property
    def tally(self) -> Tally:
        """The cost of all model calls."""
        tally, reviewed = Tally(), self.reviewed.tally if self.reviewed else Tally()
        for part in (self.extracted.tally, reviewed, self.checked.tally, self.briefed.tally):
            tally.add(part)
        return tally


def plan_night(night: Night, git: Git, watch: Watch) -> NightPlan:
    """Read the memory and decide everything; write nothing.

    Raises:
        BrokenChangeSet: the changes would break a promise.
    """
    read = read_snapshot(night.root, night.again, every_log=rules_changed(night.root))
    snapshot = with_links_told_apart(without_secret_files(read), git)
    template = missing_files(night.root, resource("memory_template"))
    made = {path: Document(path, data.decode()) for path, data in template.items() if kind_of(path)}
    found = {**snapshot.documents, **made}
    decided = _decide(night, git, snapshot, found, watch)
    promoted, documents = decided.promoted, decided.pruned.documents
    gone = frozenset(stone.id for stone in (*decided.reconciled.retracted, *decided.answered.retracted))
    added = [*promoted.added, *(one.item.id for one in promoted.questions)]
    if faults := check_documents(found, documents, night.settings.caps.briefing, added=added, gone=gone):
        raise BrokenChangeSet(faults)
    logs, state = {**snapshot.logs.fresh, **snapshot.partials}, snapshot.state
    changes = (
        *(Change(path, None, data) for path, data in template.items() if not kind_of(path) and path != SETTINGS),
        *(Change(path, logs.get(path), data) for path, data in decided.logs.items() if logs.get(path) != data),
        *document_changes(snapshot.documents, documents),
        *put_back(replace(decided.answered, documents=dict(documents)), snapshot.documents),
        *(Change(path, state.get(path), data) for path, data in decided.state.items() if state.get(path, b"") != data),
    )
    return NightPlan(changes, _report(night, git, snapshot, decided))


def _decide(night: Night, git: Git, snapshot: Snapshot, found: Mapping[str, Document], watch: Watch) -> _Decided:
    """Run the stages in their order."""
    today, closed = night.today, snapshot.unreadable()
    progress = snapshot.progress
    with watch.stage("capture"):
        redactor = load_redactor(night.root)
        cleaned = {} if rules_changed(night.root) else progress
        logs, partials, redacted, private = clean_logs(snapshot.logs.fresh, snapshot.partials, cleaned, redactor)
        captured = capture(logs, partials, today, closed)
        every_log = snapshot.logs.with_fresh(captured.logs)
        reconciled = understand_edits(git, snapshot, found, today)
        answered = apply_answers(reconciled.documents, today, snapshot.theirs(), snapshot.shown)
    catalog = Catalog(answered.documents, closed)
    items = catalog.items
    stones = read_tombstones(snapshot.state.get(TOMBSTONES)) | {*reconciled.stones, *answered.retracted}
    with watch.stage("extract"):
        if night.again:
            progress = {path: read for path, read in progress.items() if day_of_log(path) != night.again}
        days = days_to_read(captured.logs, progress, today, partial(_read_before, git), rereads=night.rereads)
        choices = document_choices(catalog)
        newest = max((day for _, one in items for day in (one.since, one.confirmed)), default="")
        held = [(document_id(path), item) for path, item in linkable(items)]
        nearby = Nearby(held, newest, (one for day in days for one in day.asked))
        extracted = extract(
            days, night.extractor, choices, lambda done: watch.advance(done, len(days)), night.at_once, nearby,
            load_seals(),
        )  # fmt: skip
    with watch.stage("review"):
        asked_model = ModelReview(night.reviewer, choices) if night.reviewer else None
        rulings, context, skipped = _rule(night, days, extracted, catalog, stones, asked_model)
    with watch.stage("verify"):
        quotes = Quotes(snapshot.root)
        waiting = [item for _, item in items if item.unverified and item.active]
        checked = verified(
            rulings, waiting, context.known, lambda one: quotes.found(one).quote or "", night.verifier, today
        )
    with watch.stage("promote"):
        promoted = promote(with_named_links(checked.rulings, items), catalog.documents, checked.items)
        documents, claims, archives = _ask(night, snapshot, promoted, quotes, every_log)
    vetoed = vetoed_by(stones, snapshot.documents)
    with watch.stage("brief"):
        read, pending = ({one.day for one in some} for some in (extracted.read, extracted.pending))
        briefed = brief(
            documents, snapshot.documents, every_log, read, pending, today,
            closed=closed, writer=night.writer, verifier=night.verifier, vetoed=vetoed,
        )  # fmt: skip
    with watch.stage("prune"):
        pruned = with_caps_applied(briefed.documents, snapshot, night.settings, vetoed, reconciled.last)
    if extracted.read:
        progress = advanced_progress(progress, extracted.read, today, extracted.fallback)
    state = {PROGRESS: render_progress(progress), TOMBSTONES: render_tombstones(stones)}
    written: dict[str, bytes | None] = {**captured.logs, **partials, **dict.fromkeys(captured.folded)}
    if snapshot.layout.in_place:
        redacted, written = {}, {}  # the logs are a person's own files, and keep what they hold
    meaning = night.vectors.model if extracted.read else ""
    return _Decided(
        captured, redacted, private, reconciled, answered, extracted, asked_model, checked, meaning, promoted, skipped,
        claims, archives, briefed, pruned, written, state,
    )  # fmt: skip


def _rule(
    night: Night,
    days: Sequence[DayToRead],
    extracted: Extracted,
    catalog: Catalog,
    stones: frozenset[Tombstone],
    asked_model: ModelReview | None,
) -> tuple[list[Ruling], ReviewContext, tuple[NotUnderstood, ...]]:
    """Return the rulings on the candidates, in order of the days; their context; and the lines not understood."""
    items = catalog.items
    gate = TrustGate(days, load_seals(), night.rules_from, frozenset(item.id for _, item in items), catalog.person)
    is_reread = reread_in(days, night.again)
    context = ReviewContext(
        KnownItems(items, night.vectors), buried_by(stones, night.again, is_reread),
        lambda one: file_candidate(one, catalog), gate.word_of, asked_model,
        night.vectors if night.settings.review.duplicates == "merge" else None,
    )  # fmt: skip
    proposed = without_known(one_project_each(extracted.candidates), items, is_reread)
    unplaced = [one for one in proposed if not has_subject(one, catalog)]
    proposed = [one for one in proposed if one not in unplaced]
    catalog = replace(catalog, begun=begun_projects(proposed))
    looked = [
        gate.look(replace(one, text=without_secrets(one.text), id=f"n{at}")) for at, one in enumerate(proposed, 1)
    ]
    filed = [
        replace(file_candidate(one.candidate, catalog), doubt=one.doubt, echo=one.echo, recited=one.recited)
        for one in in_own_projects(looked, proposed)
    ]
    forms = [form for day in extracted.read for form in read_forms(day.fresh)]
    rulings = review(without_projects_from_outside(filed, catalog), extracted.operations, forms, context)
    by_model = {
        entry.path for day in extracted.read for entry in day.fresh
        if night.rereads and day.day not in extracted.fallback
    }  # fmt: skip
    fresh = [entry for day in extracted.read for entry in day.fresh]
    skipped = skipped_lines(fresh, extracted.used, forms, unplaced, rulings, context, by_model)
    # Reading a line again confirms nothing.
    return (
        [
            one
            for one in rulings
            if not (one.kind is OperationKind.CONFIRM and one.candidate and is_reread(one.candidate))
        ],
        context,
        skipped,
    )


def _ask(
    night: Night, snapshot: Snapshot, promoted: Promoted, quotes: Quotes, logs: Mapping[str, bytes]
) -> tuple[Mapping[str, Document], tuple[str, ...], tuple[str, ...]]:
    """Add the questions for a person, and propose finished projects for Archives.

    Returns:
        The documents; the ids of items that a log line speaks of, where a person must decide; the paths of projects
        proposed for Archives.
    """
    today, sources = night.today, Sources(lambda evidence: quotes.found(evidence).quote or "", snapshot.shown)
    settled = (*promoted.closed, *promoted.superseded, *promoted.confirmed)
    documents = asked(without_questions(promoted.documents, settled), promoted.questions, sources, today)
    claims: tuple[str, ...] = ()
    if promoted.claims:
        documents, claims = claimed(documents, promoted.claims, sources, today)
    documents, archives = propose_archives(documents, logs, today, night.settings.review.idle_days, snapshot.shown)
    return documents, claims, archives


def _read_before(git: Git, path: str, digest: str) -> frozenset[str] | None:
    """Return the entries of the version of a log with this digest, or None if git has none."""
    for commit in git.versions(path):
        try:
            data = git.show(commit, path)
        except TooMuchFromGit:
            continue  # no log that large was ever read
        keys = [entry.key for entry in parse_entries(path, "", (data or b"").decode(errors="replace"))]
        if entries_digest(keys) == digest:
            return frozenset(keys)
    return None


def _report(night: Night, git: Git, snapshot: Snapshot, decided: _Decided) -> RunReport:
    """Return the report on what was decided, without the fields that writing fills in."""
    extracted, promoted, shown = decided.extracted, decided.promoted, snapshot.shown
    briefing, left = decided.pruned.documents.get(BRIEFING), [str(one) for one in snapshot.warnings if one.pending]
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
            "left": len(decided.skipped),
        },
        candidates=len(extracted.candidates),
        ungrounded=extracted.ungrounded,
        verdicts=Counter("ask" if one.asks else str(one.kind) for one in decided.checked.rulings),
        review=dict((decided.reviewed.counts if decided.reviewed else Counter[str]()) + decided.checked.counts),
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
        failure=without_secrets(extracted.failure),
        over_budget=extracted.over_budget,
        fallback=extracted.fallback,
        reread=tuple(day.day for day in extracted.read if day.again and day.day not in extracted.fallback),
        meaning=decided.meaning,
        # The reason something is pending comes first.
        warnings=[*left, *night.settings.ignored_note, *_warnings(git, snapshot, decided)],
        pending=bool(left),
    )


def _warnings(git: Git, snapshot: Snapshot, decided: _Decided) -> list[str]:
    review, promoted = snapshot.shown(REVIEW), decided.promoted
    notes = [str(warned) for warned in snapshot.warnings if not warned.pending]
    if snapshot.layout.in_place:  # the logs are a person's own; a log with a secret is named when the run is over
        why = "holds text marked as private. The file was neither changed nor committed, and that text was not read"
        notes += [f"{snapshot.shown(path)} {why}." for path in decided.private]
    else:
        purge = ". Git history still has a copy: `curate check --secrets --history` shows how to purge it"
        held_by_git = (
            _with_secret_in_git(git, decided.redacted, load_redactor(snapshot.root)) if decided.redacted else set[str]()
        )
        notes += [
            f"{path}: {format_found(found)} redacted{purge if path in held_by_git else ''}."
            for path, found in sorted(decided.redacted.items())
        ]
        notes += [f"{path}: the text marked as private was removed." for path in decided.private]
    notes += [
        f"{path} was not folded, because its name has no date. Rename it to DAY-NAME.md."
        for path in decided.captured.odd
    ]
    notes += [
        f"{snapshot.shown(path)}: a generated sentence was left out, because it would hold a secret."
        for path in decided.pruned.left_out
    ]
    if gone := len(decided.reconciled.asked):
        notes.append(f"{gone} items are gone from their documents. Retract or restore them in {review}.")
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
    if failure := decided.checked.failure:
        read.append(f"No model could check the items against their quotes. {failure}")
    if failure := decided.briefed.failure:
        read.append(f"Some states and episodes were written by code, without a model. {failure}")
    return [
        *notes,
        *decided.answered.notes,
        *map(without_secrets, (*read, *(decided.reviewed.notes if decided.reviewed else ()))),
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
