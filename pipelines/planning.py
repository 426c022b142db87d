"""The plan of a night: from the memory as it is to one change set, through the stages in their order.

Nothing here writes. What a plan would do can be shown (`--dry-run`) or applied (`pipelines.nightly`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pipelines.clock import day_of
from pipelines.errors import BrokenChangeSet, TooMuchFromGit
from pipelines.memory.baseline import last_run_baseline
from pipelines.memory.changes import Change, check_documents, document_changes
from pipelines.memory.documents import Document
from pipelines.memory.evidence import Quotes
from pipelines.memory.history import run_id
from pipelines.memory.layout import BRIEFING, PROGRESS, REVIEW, TOMBSTONES, day_of_log, kind_of
from pipelines.memory.logs import parse_entries
from pipelines.memory.names import names_of, told
from pipelines.memory.progress import entries_digest, read_progress, render_progress
from pipelines.memory.seals import load_seals
from pipelines.memory.secrets import find_secrets, load_redactor, veil
from pipelines.memory.secrets.held import without_held
from pipelines.memory.snapshot import read_snapshot
from pipelines.memory.template import missing_files
from pipelines.memory.tombstones import Reason, read_tombstones, render_tombstones, wording_hash
from pipelines.models.calling import total
from pipelines.models.extraction import DocumentChoice, all_failures
from pipelines.models.shown import Nearby
from pipelines.report import RunReport
from pipelines.resources import resource
from pipelines.settings import ignored_note
from pipelines.stages.alike import Alike
from pipelines.stages.answers import apply_answers
from pipelines.stages.capture import capture
from pipelines.stages.extract import advanced_progress, days_to_read, extract
from pipelines.stages.filing import Shelves, home_of, named_document
from pipelines.stages.linking import find_ties, linkable
from pipelines.stages.nearness import Vectors
from pipelines.stages.promote import promote
from pipelines.stages.questions import Telling
from pipelines.stages.reconcile import reconcile
from pipelines.stages.redact import clean_logs, left_in_place
from pipelines.stages.rereading import counting, settle
from pipelines.stages.review import Filed
from pipelines.stages.settling import settle_beliefs
from pipelines.stages.tidying import tidied
from pipelines.stages.trusting.gate import Gate
from pipelines.stages.weighing import Sitting, weigh

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from pathlib import Path

    from pipelines.memory.git import Git
    from pipelines.memory.snapshot import Snapshot
    from pipelines.memory.tombstones import Tombstone
    from pipelines.models.batching.sitting import Batching
    from pipelines.models.embedding import Embedder
    from pipelines.models.extraction import Candidate, Extractor
    from pipelines.models.operations import Reviewer
    from pipelines.settings import Settings
    from pipelines.sharing.syncing import Sharing
    from pipelines.stages.answers import Answered
    from pipelines.stages.capture import Captured
    from pipelines.stages.extract import DayToRead, Extracted
    from pipelines.stages.promote import Promoted
    from pipelines.stages.prune import Pruned
    from pipelines.stages.reconcile import Reconciled
    from pipelines.stages.redact import Clean
    from pipelines.stages.review import Verdict
    from pipelines.stages.settling import Settled
    from pipelines.stages.trusting.gate import Gated
    from pipelines.stages.weighing import Weighed
    from pipelines.watch import Watch


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
        batches: the batches of the memory, or None where none is open and none is to be sent.
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
    batches: Batching | None = None
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
    """What the stages came to, each one's result."""

    snapshot: Snapshot
    clean: Clean
    captured: Captured
    reconciled: Reconciled
    answered: Answered
    extracted: Extracted
    weighed: Weighed
    verdicts: tuple[Verdict, ...]
    promoted: Promoted
    settled: Settled
    pruned: Pruned
    documents: Mapping[str, Document]
    state: Mapping[str, bytes]
    meaning: str

    @property
    def stones(self) -> tuple[Tombstone, ...]:
        """The tombstones of this run."""
        return (*self.reconciled.retracted, *self.answered.retracted)


def plan_night(night: Night, git: Git, watch: Watch) -> Plan:
    """Read the memory and decide everything; nothing is written.

    Raises:
        BrokenChangeSet: the changes would break a promise.
    """
    snapshot = without_held(read_snapshot(night.root))
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
    return Plan(changes, _report(night, git, decided))


def _decide(night: Night, git: Git, snapshot: Snapshot, found: Mapping[str, Document], watch: Watch) -> _Decided:
    """Run the stages in their order."""
    stones = read_tombstones(snapshot.state.get(TOMBSTONES))
    progress = read_progress(snapshot.state.get(PROGRESS))
    with watch.stage("capture"):
        clean = clean_logs(snapshot.logs, snapshot.partials, progress, load_redactor(night.root))
        in_place = names_of(night.root) is not None
        clean = left_in_place(clean, snapshot.shown) if in_place else clean
        captured = capture(clean.logs, clean.partials, night.today, snapshot.unreadable())
        baseline = last_run_baseline(git, found).without(snapshot.unreadable())
        reconciled = reconcile(found, baseline, night.today, snapshot.shown)
        answered = apply_answers(reconciled.documents, night.today, snapshot.theirs())
        stones |= {*reconciled.retracted, *answered.retracted}
    with watch.stage("extract"):
        shelves = Shelves(answered.documents, snapshot.unreadable())
        if night.again:
            progress = {path: read for path, read in progress.items() if day_of_log(path) != night.again}
        days = days_to_read(captured.logs, progress, night.today, _read_before(git), rereads=night.rereads)
        choices = _choices(answered.documents)
        items = [(path, p.item) for path, document in sorted(answered.documents.items()) for p in document.items]
        nearby = Nearby(linkable(items))
        extracted = extract(
            days, night.extractor, choices, lambda done: watch.advance(done, len(days)), night.at_once, nearby
        )
    with watch.stage("review"):
        candidates = [replace(one, text=veil(one.text)) for one in extracted.candidates]
        gate = Gate(days, load_seals(), night.rules_from, frozenset(item.id for _, item in items))
        filed = [gated_in(gate.look(candidate), shelves) for candidate in candidates]
        is_reread = _is_reread(days, night.again)
        unsettled, known = settle(filed, items, is_reread)
        alike = Alike(night.embedder, night.vectors)
        sitting = Sitting(
            items, _buried(stones, night.again, is_reread), lambda one: filed_in(one, shelves), choices, alike
        )
        weighed = weigh(unsettled, sitting, night.reviewer)
        verdicts = (*known, *weighed.verdicts)
    with watch.stage("promote"):
        ties = find_ties([verdict.candidate for verdict in verdicts], items)
        promoted = promote(counting(verdicts, is_reread), shelves, ties)
        fresh = [entry for day in extracted.read for entry in day.fresh]
        idle = night.settings.review.idle_days
        telling = _telling(snapshot)
        settled = settle_beliefs(promoted, fresh, gate.word_of, captured.logs, telling, night.today, idle)
    with watch.stage("prune"):
        pruned = tidied(settled.documents, snapshot, night.settings, shelves.closed)
        documents = pruned.documents
    read = advanced_progress(progress, extracted.read, night.today, extracted.fallback) if extracted.read else progress
    state = {PROGRESS: render_progress(read), TOMBSTONES: render_tombstones(stones)}
    return _Decided(
        snapshot, clean, captured, reconciled, answered, extracted, weighed, verdicts, promoted, settled, pruned,
        documents, state, alike.name if extracted.read else "",
    )  # fmt: skip


def filed_in(one: Candidate, shelves: Shelves) -> Filed:
    """Return a candidate with the document that it names, and the one where it would stand."""
    named = named_document(one, shelves)
    return Filed(one, named, named or home_of(one.type, one.text, one.confidence, shelves))


def gated_in(one: Gated, shelves: Shelves) -> Filed:
    """Return a candidate as the gate lets it in, with the document that it names and the one where it would stand."""
    return replace(filed_in(one.candidate, shelves), doubt=one.doubt, echo=one.echo, recited=one.recited)


def _telling(snapshot: Snapshot) -> Telling:
    """Return how questions tell of places: the words that evidence names, and what people call a file."""
    quotes = Quotes(snapshot.root)
    return Telling(lambda evidence: quotes.found(evidence).quote or "", snapshot.shown)


def _is_reread(days: list[DayToRead], again: str) -> Callable[[Candidate], bool]:
    """Return whether a candidate comes of an entry that was read before."""
    known = {(day.path, entry.key) for day in days for entry in day.again}
    return lambda one: one.entry.day == again or (one.entry.path, one.entry.key) in known


def _buried(
    stones: frozenset[Tombstone], again: str, is_reread: Callable[[Candidate], bool]
) -> Callable[[Candidate], bool]:
    """Return whether a person took out an item that said what a candidate says; a day read anew sets that aside.

    What was forgotten stays so: the words may still stand in a log that is a person's own file.
    What a model words anew in lines that the rules had read is known by its quote, too: the rules keep the log's words.
    """
    hashes = frozenset(stone.hash for stone in stones)
    forgotten = frozenset(stone.hash for stone in stones if stone.reason is Reason.FORGOTTEN)

    def is_buried(one: Candidate) -> bool:
        texts = (one.text, one.quote) if is_reread(one) else (one.text,)
        closed = hashes if one.entry.day != again else forgotten
        return any(wording_hash(one.type, text) in closed for text in texts)

    return is_buried


# ------------------------------------------------------------ parts of the change set


def _template_documents(template: list[Change]) -> dict[str, Document]:
    return {c.path: Document(c.path, c.after.decode()) for c in template if c.after is not None and kind_of(c.path)}


def _choices(documents: Mapping[str, Document]) -> tuple[DocumentChoice, ...]:
    return tuple(
        DocumentChoice(document.id, document.title, document.kind)
        for path, document in sorted(documents.items())
        if not path.startswith("Archives/") and path != REVIEW
    )


def _log_changes(snapshot: Snapshot, decided: _Decided) -> list[Change]:
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


# ------------------------------------------------------------ the report


def _report(night: Night, git: Git, decided: _Decided) -> RunReport:
    extracted, weighed, promoted = decided.extracted, decided.weighed, decided.promoted
    report = RunReport(
        run=run_id(night.now, git.head()),
        now=night.now.isoformat(timespec="seconds"),
        day=night.today,
        extractor=night.extractor.name,
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
        again=night.again,
        pending_days=tuple(day.day for day in extracted.pending if day.asked),
        failure=veil(extracted.failure),
        over_budget=extracted.over_budget,
        redacted={path: len(found) for path, found in decided.clean.redacted.items()},
    )
    documents = decided.documents
    return replace(
        report,
        verdicts=dict(Counter(str(verdict.kind) for verdict in decided.verdicts)),
        types=dict(Counter(str(item.type) for _, item in promoted.added)),
        documents=dict(Counter(decided.snapshot.shown(path) for path, _ in promoted.added)),
        confirmed=len(promoted.confirmed),
        made=tuple(map(decided.snapshot.shown, promoted.made)),
        edited=len(decided.reconciled.edited),
        numbered=len(decided.reconciled.numbered),
        retracted=len(decided.stones),
        restored=len(decided.answered.restored),
        asked=len(decided.reconciled.asked)
        + sum(map(len, (promoted.questions, promoted.held, decided.settled.archives, decided.settled.claims))),
        superseded=len(promoted.superseded),
        closed=len(decided.settled.closed),
        briefing_bytes=documents[BRIEFING].size if BRIEFING in documents else 0,
        briefing_cap=night.settings.caps.briefing,
        evicted=[
            {"id": moved.id, "from": decided.snapshot.shown(moved.source), "to": decided.snapshot.shown(moved.target)}
            for moved in decided.pruned.moved
        ],
        folded=decided.captured.folded,
        warnings=_warnings(git, decided),
        pending=any(warned.pending for warned in decided.snapshot.warnings),
    )


def _warnings(git: Git, decided: _Decided) -> list[str]:
    root = decided.snapshot.root
    notes = [
        *ignored_note(root),
        *map(str, decided.snapshot.warnings),
        *decided.clean.notes(_committed(git, decided.clean)),
    ]
    notes += [f"{path} names no day (DAY-NAME.md), so it was not folded." for path in decided.captured.odd]
    if asked := len(decided.reconciled.asked):
        review = decided.snapshot.shown(REVIEW)
        notes.append(f"{asked} items are gone from their documents; {review} asks whether to retract or restore them.")
    if questions := len(decided.promoted.questions):
        count = "1 new item contradicts" if questions == 1 else f"{questions} new items contradict"
        notes.append(f"{count} what stands; {decided.snapshot.shown(REVIEW)} asks which holds.")
    if held := len(decided.promoted.held):
        count = "1 new item is" if held == 1 else f"{held} new items are"
        notes.append(f"{count} held in {decided.snapshot.shown(REVIEW)}: nobody vouches for what they say.")
    if claims := len(decided.settled.claims):
        count = "1 todo is" if claims == 1 else f"{claims} todos are"
        notes.append(f"{count} said to be done by who is trusted less; {decided.snapshot.shown(REVIEW)} asks.")
    if archives := [decided.snapshot.shown(path) for path in decided.settled.archives]:
        notes.append(f"{' and '.join(archives)} may be over; {decided.snapshot.shown(REVIEW)} asks whether to archive.")
    notes += [told(root, note) for note in decided.answered.notes]
    return [*notes, *(veil(told(root, note)) for note in (*decided.extracted.notes, *decided.weighed.notes))]


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
