"""The plan of a night: from the memory as it is to one change set and its report, through the stages in their order.

Nothing here writes. What a plan would do can be shown (`--dry-run`) or applied (`pipelines.night.run_night`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from pipelines.clock import day_of
from pipelines.errors import TooMuchFromGit
from pipelines.extract.claims import Verdict, Verified, told_claim
from pipelines.extract.extract_days import DayToRead, Extracted, advanced_progress, days_to_read, extract, first_days
from pipelines.extract.extraction import Candidate, Extractor, Nearby, Operation, OperationKind
from pipelines.extract.rules import RulesExtractor
from pipelines.extract.rules.label_reader import read_forms
from pipelines.night.answers import apply_answers, put_back
from pipelines.night.brief import Brief, with_brief, with_true_now, write_brief
from pipelines.night.caps import with_caps_applied
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
from pipelines.night.decided import Captured, Checked, Decided, report_on
from pipelines.night.episodes import days_to_tell, told_sentences, with_episodes
from pipelines.night.file_items import Promoted, promote
from pipelines.night.fold_logs import capture, clean_logs
from pipelines.night.outcome_changes import with_unsettled_pairs
from pipelines.night.projects import propose_archives
from pipelines.night.quiet import asked_about_quiet, with_quiet
from pipelines.night.reconcile import understand_edits
from pipelines.night.reread import buried_by, reread_in, without_known
from pipelines.night.skipped import NotUnderstood, skipped_lines
from pipelines.review.existing_items import KnownItems
from pipelines.review.item_links import linkable
from pipelines.review.outcomes import claimed, without_questions
from pipelines.review.questions import Sources, asked
from pipelines.review.review import REMOVING, ReviewContext, Ruling, review
from pipelines.review.trust import TrustGate
from pipelines.review.verification import judged, posed, with_unsettled
from pipelines.store.change_set import Change, check_documents, document_changes
from pipelines.store.evidence import Quotes
from pipelines.store.generated import vetoed_by
from pipelines.store.item import Trust
from pipelines.store.layout import (
    PROGRESS,
    REVIEW,
    SETTINGS,
    TOMBSTONES,
    day_of_log,
    document_id,
    episode_path,
    kind_of,
)
from pipelines.store.log import parse_entries
from pipelines.store.secrets.known import rules_changed
from pipelines.store.secrets.redact import load_redactor, without_secrets
from pipelines.store.secrets.scan import without_secret_files
from pipelines.store.session_state import load_seals, taken_back_since
from pipelines.store.snapshot import Snapshot, read_snapshot
from pipelines.store.state import (
    Tombstone,
    entries_digest,
    read_tombstones,
    render_progress,
    render_tombstones,
)
from pipelines.store.template import missing_files
from pipelines.store.trees import read_documents_in
from pipelines.templating import resource

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from pipelines.extract.claims import Verifier
    from pipelines.extract.extraction import Told
    from pipelines.extract.llm.model_briefer import ModelBriefer
    from pipelines.night.report import RunReport, Watch
    from pipelines.night.sync import Sharing
    from pipelines.settings import Settings
    from pipelines.store.document import Document
    from pipelines.store.git import Git


@dataclass(frozen=True)
class Night:
    """The input of a run.

    Args:
        root: the memory.
        settings: its settings.
        extractor: who reads the logs.
        now: the time the run acts at.
        again: a day to read again, with its tombstones set aside; empty for none.
        rules_before: the first day that a model reads; the rules read earlier ones, all in one run. Empty for no limit.
        rereads: whether the extractor is a model, and reads again what only the rules could read before.
        verifier: the second reader, or None if no model reads.
        writer: the models that write the night's brief, or None if code writes alone.
        rules_from: whose rules are filed without asking: `self` (the agent's and the owner's) or `owner`.
        agents: whether sessions ask for their start, so that their agents see which pairs may conflict.
        sharing: the remote that shares the memory, or None.
    """

    root: Path
    settings: Settings
    extractor: Extractor
    now: datetime
    again: str = ""
    rules_before: str = ""
    rereads: bool = False
    verifier: Verifier | None = None
    writer: ModelBriefer | None = None
    rules_from: str = "self"
    agents: bool = False
    sharing: Sharing | None = None

    @property
    def today(self) -> str:
        """The memory's day."""
        return day_of(self.now, self.settings)


@dataclass(frozen=True)
class Earlier:
    """What the days before left, if a model reads several days in one night: each day is a run of its own.

    Args:
        documents: the documents before the first day; empty if this is the first.
        failed: days that could not be read.
    """

    documents: Mapping[str, Document] = field(default_factory=dict)
    failed: frozenset[str] = frozenset()


@dataclass(frozen=True)
class NightPlan:
    """What a run would do: its change set, and its report so far.

    Args:
        changes: the change set.
        report: the report.
        earlier: what the run of the next day has to know.
        later: how many more days there are to read.
    """

    changes: tuple[Change, ...]
    report: RunReport
    earlier: Earlier = field(default_factory=Earlier)
    later: int = 0


def plan_night(night: Night, git: Git, watch: Watch, earlier: Earlier | None = None) -> NightPlan:
    """Read the memory and decide everything; write nothing.

    Args:
        night: the run's input.
        git: the memory's git.
        watch: told of each stage.
        earlier: what the runs of the same night before this one left, if there were any.

    Raises:
        BrokenChangeSet: the changes would break a promise.
    """
    snapshot = without_secret_files(read_snapshot(night.root))
    template = missing_files(night.root, resource("memory_template"))
    made = read_documents_in(template)
    found = {**snapshot.documents, **made}
    earlier = earlier or Earlier()
    earlier = replace(earlier, documents=earlier.documents or snapshot.documents)
    decided = _decide(night, git, snapshot, found, earlier, watch)
    captured, promoted, documents = decided.captured, decided.promoted, decided.pruned.documents
    gone = frozenset(stone.id for stone in (*captured.reconciled.retracted, *captured.answered.retracted))
    added = [*promoted.added, *(one.item.id for one in promoted.questions)]
    if faults := check_documents(found, documents, night.settings.caps.briefing, added=added, gone=gone):
        raise snapshot.refusal(faults)
    logs, state = {**snapshot.logs, **snapshot.partials}, snapshot.state
    folded = captured.folded
    written: dict[str, bytes | None] = {**folded.logs, **captured.partials, **dict.fromkeys(folded.folded)}
    if snapshot.layout.in_place:
        written = {}  # the logs are a person's own files, and keep what they hold
    changes = (
        *(Change(path, None, data) for path, data in template.items() if not kind_of(path) and path != SETTINGS),
        *(Change(path, logs.get(path), data) for path, data in written.items() if logs.get(path) != data),
        *document_changes(snapshot.documents, documents, state),
        *put_back(replace(captured.answered, documents=dict(documents)), snapshot.documents),
        *(Change(path, state.get(path), data) for path, data in decided.state.items() if state.get(path, b"") != data),
    )
    report = report_on(night, git, snapshot, decided)
    if night.writer and not (decided.later or decided.extracted.pending or snapshot.layout.in_place):
        from pipelines.night.images import describe_images  # noqa: PLC0415  only a night with a model can

        described = describe_images(night.root, git, night.writer.chain)
        changes, report = (*changes, *described.changes), described.told_in(report)
    failed = earlier.failed | {one.day for one in decided.extracted.pending}
    return NightPlan(changes, report, replace(earlier, failed=failed), decided.later)


def _capture(night: Night, git: Git, snapshot: Snapshot, found: Mapping[str, Document]) -> Captured:
    redactor = load_redactor(night.root)
    cleaned = {} if rules_changed(night.root) else snapshot.progress
    logs, partials, redacted, private = clean_logs(snapshot.logs, snapshot.partials, cleaned, redactor)
    folded = capture(logs, partials, night.today, snapshot.unreadable())
    reconciled = understand_edits(git, snapshot, found, night.today)
    answered = apply_answers(reconciled.documents, night.today, snapshot.theirs(), snapshot.shown)
    stones = read_tombstones(snapshot.state.get(TOMBSTONES)) | {*reconciled.stones, *answered.retracted}
    vetoed = vetoed_by(stones, snapshot.documents)
    if snapshot.layout.in_place:
        redacted = {}  # the logs are a person's own files, and keep what they hold
    return Captured(folded, partials, redacted, private, reconciled, answered, stones, vetoed)


def _extract(
    night: Night, days: list[DayToRead], catalog: Catalog, earlier: Earlier, watch: Watch
) -> tuple[list[DayToRead], Extracted, list[DayToRead]]:
    """Return the logs that this run reads, what was found in them, and those that are left for the runs that follow."""
    days = [one for one in days if one.day not in earlier.failed or not one.asked]
    days, later = first_days(days, night.rules_before) if night.verifier else (days, [])
    is_old = any(one.asked and one.day < night.rules_before for one in days)
    newest = max((day for _, one in catalog.items for day in (one.since, one.confirmed)), default="")
    nearby = Nearby([(document_id(path), item) for path, item in linkable(catalog.items)], newest)
    extracted = extract(
        days, RulesExtractor() if is_old else night.extractor, document_choices(catalog),
        lambda done: watch.advance(done, len(days)), nearby, load_seals(),
    )  # fmt: skip
    if extracted.is_stopped:
        return days, replace(extracted, pending=(*extracted.pending, *later)), []
    return days, extracted, later


def _decide(
    night: Night,
    git: Git,
    snapshot: Snapshot,
    found: Mapping[str, Document],
    earlier: Earlier,
    watch: Watch,
) -> Decided:
    """Run the stages in their order."""
    today, progress = night.today, snapshot.progress
    if night.again:
        progress = {path: read for path, read in progress.items() if day_of_log(path) != night.again}
    with watch.stage("capture"):
        captured = _capture(night, git, snapshot, found)
    catalog = Catalog(captured.answered.documents, snapshot.unreadable())
    with watch.stage("extract"):
        logs, before = captured.folded.logs, partial(_read_before, git)
        gone = taken_back_since(night.root)
        unread = days_to_read(logs, progress, today, before, rereads=night.rereads, taken_back=gone)
        days, extracted, later = _extract(night, unread, catalog, earlier, watch)
    with watch.stage("review"):
        read = extracted.read
        extracted, (rulings, context, skipped) = _reviewed(night, days, extracted, catalog, captured.stones)
    if len(extracted.read) < len(read):
        extracted, later = replace(extracted, pending=(*extracted.pending, *later)), []
    briefed = Brief()
    if night.writer and not later and not extracted.pending:
        with watch.stage("brief"):
            drafted = promote(rulings, catalog.documents, extracted.seen).documents
            drafted = with_true_now(_quieted(drafted, extracted, captured.folded.logs, today), today)
            told = _own_words(extracted, context)
            briefed = write_brief(drafted, earlier.documents, told, today, night.writer, vetoed=captured.vetoed)
    with watch.stage("verify"):
        checked = _verify(night, rulings, extracted, briefed, context)
    if checked.failure:
        extracted = replace(extracted, candidates=(), operations=(), seen={}, read=(), pending=(*days, *later))
        skipped, later, briefed = (), [], Brief(tally=briefed.tally)
    with watch.stage("promote"):
        rulings = with_unsettled(checked.rulings, context.known)
        promoted = promote(rulings, catalog.documents, extracted.seen)
        promoted.documents = _quieted(promoted.documents, extracted, captured.folded.logs, today)
        documents, claims, archives = _ask(night, snapshot, promoted, Quotes(snapshot.root), captured.folded.logs)
        documents = _with_episodes(documents, captured, extracted, later, checked, catalog.closed, today)
        documents, dropped = with_brief(documents, briefed, checked.verdicts)
        if briefed.asked:
            briefed = replace(briefed, counts=Counter({**briefed.counts, "dropped": dropped}))
        documents = with_true_now(documents, today, captured.vetoed)
    with watch.stage("prune"):
        pruned = with_caps_applied(documents, snapshot, night.settings, captured.vetoed, captured.reconciled.last)
    if extracted.read:
        progress = advanced_progress(progress, extracted.read, today, extracted.fallback)
    state = {PROGRESS: render_progress(progress), TOMBSTONES: render_tombstones(captured.stones)}
    return Decided(
        captured, extracted, checked, promoted, skipped, claims, archives, briefed, len({one.day for one in later}),
        pruned, state,
    )  # fmt: skip


def _with_episodes(  # noqa: PLR0913, PLR0917  what a day was, and how it was read
    documents: Mapping[str, Document],
    captured: Captured,
    extracted: Extracted,
    later: Sequence[DayToRead],
    checked: Checked,
    closed: frozenset[str],
    today: str,
) -> dict[str, Document]:
    """Return the documents with the episodes of the days that were read, and of those that have none yet."""
    read, left = {one.day for one in extracted.read}, {one.day for one in (*extracted.pending, *later)}
    days = days_to_tell(documents, captured.folded.logs, read, left, today)
    told = {
        day: told_sentences(documents, day, [(one.text, one.places) for one in some])
        for day, some in checked.told.items()
    }
    return with_episodes(documents, [one for one in days if episode_path(one.day) not in closed], told, captured.vetoed)


def _quieted(
    documents: Mapping[str, Document], extracted: Extracted, logs: Mapping[str, bytes], today: str
) -> dict[str, Document]:
    """Return the documents with what is quiet marked. What no run has read yet is no silence."""
    unread = {day.day for day in extracted.pending}
    days = sorted({day for path in logs if (day := day_of_log(path)) <= today and day not in unread})
    last = max((day.day for day in extracted.read), default=today)
    return with_quiet(documents, extracted.open_lists, extracted.seen, [one for one in days if one <= last], today)


def _verify(
    night: Night, rulings: list[Ruling], extracted: Extracted, briefed: Brief, context: ReviewContext
) -> Checked:
    """Ask the second reader about everything that is not a line's own words, in one call."""
    told = [(day, one) for day, some in _own_words(extracted, context).items() for one in some]
    if night.verifier is None:
        return Checked(rulings)
    of_rulings = posed(rulings, context.known)
    sentences = [(one, claim) for one in briefed.proposals if (claim := one.claim)]
    claims = [
        *(one.claim for one in of_rulings),
        *(claim for _, claim in sentences),
        *(told_claim(one) for _, one in told),
    ]
    found = night.verifier.verify(claims) if claims else Verified()
    if found.failure or len(found.verdicts) < len(claims):
        return Checked([], tally=found.tally, failure=found.failure or "It gave no verdicts.")
    verdicts = iter(found.verdicts)
    ruled, counts = judged(rulings, of_rulings, [next(verdicts) for _ in of_rulings], context.known)
    of_brief = {one: next(verdicts) for one, _ in sentences}
    kept: dict[str, list[Told]] = {}
    for day, one in told:
        if next(verdicts) is Verdict.SUPPORTED:
            kept.setdefault(day, []).append(one)
    counts["claims"] = len(claims)
    return Checked(ruled, of_brief, kept, counts, found.tally)


def _own_words(extracted: Extracted, context: ReviewContext) -> dict[str, list[Told]]:
    """Return what was told of each day, so far as it rests on the words of the owner and the agent alone."""
    return {day: [one for one in some if _is_ours(one, context)] for day, some in extracted.episodes.items()}


def _is_ours(told: Told, context: ReviewContext) -> bool:
    return all(
        context.word_of(place.entry, line).reaches(Trust.SELF)
        for place in told.places
        for line in place.lines
        if line.strip()
    )


def _reviewed(
    night: Night,
    days: Sequence[DayToRead],
    extracted: Extracted,
    catalog: Catalog,
    stones: frozenset[Tombstone],
) -> tuple[Extracted, tuple[list[Ruling], ReviewContext, tuple[NotUnderstood, ...]]]:
    """Return the result of `_rule` on the days that need not wait, and what was extracted from them."""
    ruled = _rule(night, days, extracted, catalog, stones)
    first = min((one.told for one in ruled[0] if _waits(one, catalog.documents)), default="")
    if not first:
        return extracted, ruled
    extracted = extracted.until(first)
    return extracted, _rule(night, [day for day in days if day.day < first], extracted, catalog, stones)


def _waits(ruling: Ruling, documents: Mapping[str, Document]) -> bool:
    """Whether a ruling would change a document with marks of a conflict: its day, and those after it, wait for it."""
    still = [one for one in documents.values() if one.is_still]
    named = {path for path in (REVIEW if ruling.asks else "", ruling.document if ruling.makes_item else "") if path}
    ends = ruling.operation.ids if ruling.kind in REMOVING else ()
    return any(one.path in named or any(ident in one.held for ident in ends) for one in still)


def _rule(
    night: Night,
    days: Sequence[DayToRead],
    extracted: Extracted,
    catalog: Catalog,
    stones: frozenset[Tombstone],
) -> tuple[list[Ruling], ReviewContext, tuple[NotUnderstood, ...]]:
    """Return the rulings on the candidates, in order of the days; their context; and the lines not understood."""
    items = catalog.items
    gate = TrustGate(days, load_seals(), night.rules_from, frozenset(item.id for _, item in items), catalog.person)
    is_reread = reread_in(days, night.again)
    context = ReviewContext(
        KnownItems(items), buried_by(stones, night.again, is_reread),
        lambda one: file_candidate(one, catalog), gate.word_of,
    )  # fmt: skip
    proposed = without_known(one_project_each(extracted.candidates), items, is_reread)
    unplaced = [one for one in proposed if not has_subject(one, catalog)]
    proposed, operations = _numbered([one for one in proposed if one not in unplaced], extracted.operations)
    catalog = replace(catalog, begun=begun_projects(proposed))
    looked = [gate.look(replace(one, text=without_secrets(one.text))) for one in proposed]
    filed = [
        replace(file_candidate(one.candidate, catalog), doubt=one.doubt, echo=one.echo, recited=one.recited)
        for one in in_own_projects(looked, proposed)
    ]
    forms = [form for day in extracted.read for form in read_forms(day.fresh)]
    rulings = review(without_projects_from_outside(filed, catalog), operations, forms, context)
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


def _numbered(
    candidates: Sequence[Candidate], operations: Sequence[Operation]
) -> tuple[list[Candidate], list[Operation]]:
    """Return candidates and operations with the temporary ids of the run, wherever they name each other."""
    ids = {one.id: f"n{at}" for at, one in enumerate(candidates, 1) if one.id}

    def named(idents: Sequence[str]) -> tuple[str, ...]:
        return tuple(ids.get(ident, ident) for ident in idents)

    numbered = [
        replace(
            one,
            id=f"n{at}",
            replaces=named(one.replaces),
            links=tuple((kind, ids.get(ident, ident)) for kind, ident in one.links),
        )
        for at, one in enumerate(candidates, 1)
    ]
    return numbered, [replace(one, ids=named(one.ids)) for one in operations]


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
    documents = asked_about_quiet(documents, today)
    days = sorted({day for path in logs if (day := day_of_log(path)) <= today})
    documents = with_unsettled_pairs(documents, days, today, to_person=not night.agents)
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
