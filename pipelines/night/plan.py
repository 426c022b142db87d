"""The plan of a night: from the memory as it is to one change set, through the stages in their order.

Nothing here writes. What a plan would do can be shown (`--dry-run`) or applied (`pipelines.night.run_night`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from pipelines.clock import day_of
from pipelines.errors import BrokenChangeSet, TooMuchFromGit
from pipelines.extract.extract_days import advanced_progress, days_to_read, extract
from pipelines.extract.extraction import DocumentChoice, Nearby
from pipelines.night.answers import apply_answers
from pipelines.night.briefing import tidied
from pipelines.night.file_items import promote
from pipelines.night.fold_logs import capture, clean_logs, left_in_place
from pipelines.night.outcome import Decided, report_of
from pipelines.night.reconcile import reconcile
from pipelines.night.report import RunReport
from pipelines.night.reread import buried_by, counting, reread_in, settle
from pipelines.night.settle import settle_beliefs
from pipelines.night.shelves import Shelves, home_of, named_document
from pipelines.review.existing_items import Vectors
from pipelines.review.item_links import find_ties, linkable
from pipelines.review.llm_review import ReviewContext, review_candidates
from pipelines.review.questions import Telling
from pipelines.review.review import Filed, SameMeaning
from pipelines.review.trust.gate import Gate
from pipelines.store.change_set import Change, check_documents, document_changes
from pipelines.store.document import Document
from pipelines.store.evidence import Quotes
from pipelines.store.git_history import last_run_baseline, run_id
from pipelines.store.layout import PROGRESS, REVIEW, TOMBSTONES, day_of_log, kind_of
from pipelines.store.log import parse_entries
from pipelines.store.secrets import load_redactor, veil
from pipelines.store.secrets.scan import without_held
from pipelines.store.session_state import load_seals
from pipelines.store.snapshot import read_snapshot, with_links_told_apart
from pipelines.store.state import entries_digest, read_progress, read_tombstones, render_progress, render_tombstones
from pipelines.store.template import missing_files
from pipelines.store.user_layout import names_of
from pipelines.templating import resource

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from pathlib import Path

    from pipelines.extract.extract_days import DayToRead, Extracted
    from pipelines.extract.extraction import Candidate, Extractor
    from pipelines.extract.llm.model_reviewer import Reviewer
    from pipelines.night.answers import Answered
    from pipelines.night.file_items import Promoted
    from pipelines.night.fold_logs import Captured, Clean
    from pipelines.night.progress import Watch
    from pipelines.night.reconcile import Reconciled
    from pipelines.night.settle import Settled
    from pipelines.night.sync import Sharing
    from pipelines.review.llm_review import ReviewResult
    from pipelines.review.review import Verdict
    from pipelines.search.embedders.embedder import Embedder
    from pipelines.settings import Settings
    from pipelines.store.git import Git
    from pipelines.store.item import Item
    from pipelines.store.snapshot import Snapshot
    from pipelines.store.state import LogProgress, Tombstone


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
class _Begun:
    """What a night begins with: the logs in one piece, and people's edits and answers heeded."""

    snapshot: Snapshot
    progress: Mapping[str, tuple[LogProgress, ...]]
    clean: Clean
    captured: Captured
    reconciled: Reconciled
    answered: Answered

    @cached_property
    def items(self) -> list[tuple[str, Item]]:
        """Every item, with the path of its document."""
        return [(path, p.item) for path, document in sorted(self.answered.documents.items()) for p in document.items]

    @cached_property
    def stones(self) -> frozenset[Tombstone]:
        """All tombstones, those of this run, too."""
        before = read_tombstones(self.snapshot.state.get(TOMBSTONES))
        return before | {*self.reconciled.retracted, *self.answered.retracted}


@dataclass(frozen=True)
class _Read:
    """What was there to read and what came of it, and where it may be filed."""

    progress: Mapping[str, tuple[LogProgress, ...]]
    days: list[DayToRead]
    shelves: Shelves
    choices: tuple[DocumentChoice, ...]
    extracted: Extracted


@dataclass(frozen=True)
class _Judged:
    """What the review decided, and by what."""

    gate: Gate
    is_reread: Callable[[Candidate], bool]
    weighed: ReviewResult
    verdicts: tuple[Verdict, ...]
    meaning: str


def plan_night(night: Night, git: Git, watch: Watch) -> Plan:
    """Read the memory and decide everything; nothing is written.

    Raises:
        BrokenChangeSet: the changes would break a promise.
    """
    snapshot = with_links_told_apart(without_held(read_snapshot(night.root)), git)
    template = missing_files(night.root, resource("memory_template"))
    found = {**snapshot.documents, **_template_documents(template)}
    decided = _decide(night, git, snapshot, found, watch)
    gone = frozenset(stone.id for stone in decided.stones)
    added = [item.id for _, item in decided.promoted.added] + [one.item.id for one in decided.promoted.questions]
    added += [one.item.id for one in decided.promoted.held]
    caps = night.settings.caps
    if faults := check_documents(found, decided.documents, caps.briefing, added=added, gone=gone):
        raise BrokenChangeSet(faults)
    changes = (
        *(change for change in template if kind_of(change.path) is None),
        *_log_changes(snapshot, decided),
        *document_changes(snapshot.documents, decided.documents),
        *_state_changes(snapshot, decided.state),
    )
    begun = RunReport(
        run=run_id(night.now, git.head()),
        now=night.now.isoformat(timespec="seconds"),
        day=night.today,
        extractor=night.extractor.name,
        again=night.again,
        briefing_cap=night.settings.caps.briefing,
        warnings=night.settings.ignored_note,
    )
    return Plan(changes, report_of(begun, git, decided))


def _decide(night: Night, git: Git, snapshot: Snapshot, found: Mapping[str, Document], watch: Watch) -> Decided:
    """Run the stages in their order."""
    with watch.stage("capture"):
        begun = _begin(night, git, snapshot, found)
    with watch.stage("extract"):
        read = _read(night, git, begun, watch)
    with watch.stage("review"):
        judged = _judge(night, begun, read)
    with watch.stage("promote"):
        promoted, settled = _promote(night, begun, read, judged)
    with watch.stage("prune"):
        pruned = tidied(settled.documents, snapshot, night.settings, read.shelves.closed)
    return Decided(
        snapshot, begun.clean, begun.captured, begun.reconciled, begun.answered, read.extracted, judged.weighed,
        judged.verdicts, promoted, settled, pruned, _state(night, begun, read), judged.meaning,
    )  # fmt: skip


def _begin(night: Night, git: Git, snapshot: Snapshot, found: Mapping[str, Document]) -> _Begun:
    progress = read_progress(snapshot.state.get(PROGRESS))
    clean = clean_logs(snapshot.logs, snapshot.partials, progress, load_redactor(night.root))
    in_place = names_of(night.root) is not None
    clean = left_in_place(clean, snapshot.shown) if in_place else clean
    captured = capture(clean.logs, clean.partials, night.today, snapshot.unreadable())
    baseline = last_run_baseline(git, found).without(snapshot.unreadable())
    reconciled = reconcile(found, baseline, night.today, snapshot.shown)
    answered = apply_answers(reconciled.documents, night.today, snapshot.theirs())
    return _Begun(snapshot, progress, clean, captured, reconciled, answered)


def _read(night: Night, git: Git, begun: _Begun, watch: Watch) -> _Read:
    progress = begun.progress
    if night.again:
        progress = {path: read for path, read in progress.items() if day_of_log(path) != night.again}
    days = days_to_read(begun.captured.logs, progress, night.today, _read_before(git), rereads=night.rereads)
    choices, nearby = _choices(begun.answered.documents), Nearby(linkable(begun.items))
    extracted = extract(
        days, night.extractor, choices, lambda done: watch.advance(done, len(days)), night.at_once, nearby
    )
    return _Read(progress, days, Shelves(begun.answered.documents, begun.snapshot.unreadable()), choices, extracted)


def _judge(night: Night, begun: _Begun, read: _Read) -> _Judged:
    candidates = [replace(one, text=veil(one.text)) for one in read.extracted.candidates]
    gate = Gate(read.days, load_seals(), night.rules_from, frozenset(item.id for _, item in begun.items))
    filed = [gated_in(gate.look(candidate), read.shelves) for candidate in candidates]
    is_reread = reread_in(read.days, night.again)
    unsettled, known = settle(filed, begun.items, is_reread)
    alike = SameMeaning(night.embedder, night.vectors)
    buried = buried_by(begun.stones, night.again, is_reread)
    sitting = ReviewContext(begun.items, buried, lambda one: filed_in(one, read.shelves), read.choices, alike)
    weighed = review_candidates(unsettled, sitting, night.reviewer)
    meaning = alike.name if read.extracted.read else ""
    return _Judged(gate, is_reread, weighed, (*known, *weighed.verdicts), meaning)


def _promote(night: Night, begun: _Begun, read: _Read, judged: _Judged) -> tuple[Promoted, Settled]:
    ties = find_ties([verdict.candidate for verdict in judged.verdicts], begun.items)
    promoted = promote(counting(judged.verdicts, judged.is_reread), read.shelves, ties)
    fresh = [entry for day in read.extracted.read for entry in day.fresh]
    idle, telling = night.settings.review.idle_days, _telling(begun.snapshot)
    logs = begun.captured.logs
    return promoted, settle_beliefs(promoted, fresh, judged.gate.word_of, logs, telling, night.today, idle)


def _state(night: Night, begun: _Begun, read: _Read) -> dict[str, bytes]:
    progress, extracted = read.progress, read.extracted
    if extracted.read:
        progress = advanced_progress(progress, extracted.read, night.today, extracted.fallback)
    return {PROGRESS: render_progress(progress), TOMBSTONES: render_tombstones(begun.stones)}


def filed_in(one: Candidate, shelves: Shelves) -> Filed:
    """Return a candidate with the document that it names, and the one where it would stand."""
    named = named_document(one, shelves)
    return Filed(one, named, named or home_of(one.type, one.text, one.confidence, shelves))


def gated_in(one: Filed, shelves: Shelves) -> Filed:
    """Return a candidate as the gate lets it in, with the document that it names and the one where it would stand."""
    return replace(filed_in(one.candidate, shelves), doubt=one.doubt, echo=one.echo, recited=one.recited)


def _telling(snapshot: Snapshot) -> Telling:
    """Return how questions tell of places: the words that evidence names, and what people call a file."""
    quotes = Quotes(snapshot.root)
    return Telling(lambda evidence: quotes.found(evidence).quote or "", snapshot.shown)


# ------------------------------------------------------------ parts of the change set


def _template_documents(template: list[Change]) -> dict[str, Document]:
    return {c.path: Document(c.path, c.after.decode()) for c in template if c.after is not None and kind_of(c.path)}


def _choices(documents: Mapping[str, Document]) -> tuple[DocumentChoice, ...]:
    return tuple(
        DocumentChoice(document.id, document.title, document.kind)
        for path, document in sorted(documents.items())
        if not path.startswith("Archives/") and path != REVIEW
    )


def _log_changes(snapshot: Snapshot, decided: Decided) -> list[Change]:
    if names_of(snapshot.root) is not None:
        return []  # they are a person's own files
    folded = frozenset(decided.captured.folded)
    before = {**snapshot.logs, **snapshot.partials}
    after = {**decided.captured.logs, **decided.clean.partials, **dict.fromkeys(folded)}
    return [Change(path, before.get(path), data) for path, data in after.items() if before.get(path) != data]


def _state_changes(snapshot: Snapshot, state: Mapping[str, bytes]) -> list[Change]:
    before = snapshot.state
    return [Change(path, before.get(path), data) for path, data in state.items() if (before.get(path) or b"") != data]


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
