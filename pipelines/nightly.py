"""The night: the stages in their order, from the memory as it is to one change set, one commit and one report.

`plan_night` reads and decides and writes nothing; `curate_night` holds the lock, applies the plan and reindexes.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from pipelines.clock import day_of
from pipelines.errors import BrokenChangeSet, ChangedUnderRun
from pipelines.memory.changes import Change, check_documents, document_changes
from pipelines.memory.documents import Document
from pipelines.memory.edits import commit_edits
from pipelines.memory.git import Author, Git
from pipelines.memory.journal import Signature, apply_changes, recover
from pipelines.memory.layout import BRIEFING, PROGRESS, kind_of
from pipelines.memory.lock import run_lock
from pipelines.memory.logs import parse_entries
from pipelines.memory.progress import entries_digest, read_progress, render_progress
from pipelines.memory.snapshot import read_snapshot
from pipelines.memory.template import make_missing_folders, missing_files
from pipelines.models.extraction import DocumentChoice
from pipelines.report import RunReport, save_report
from pipelines.resources import resource
from pipelines.stages.capture import capture
from pipelines.stages.extract import advanced_progress, days_to_read, extract
from pipelines.stages.filing import Shelves, named_document
from pipelines.stages.promote import number_items, promote
from pipelines.stages.prune import prune
from pipelines.stages.quality import with_quality
from pipelines.stages.reindex import reindex
from pipelines.stages.review import Filed, review
from pipelines.templating import render

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from pathlib import Path

    from pipelines.memory.snapshot import Snapshot
    from pipelines.models.extraction import Extraction, ExtractionRequest, Extractor
    from pipelines.settings import Settings
    from pipelines.stages.capture import Captured
    from pipelines.stages.extract import Extracted
    from pipelines.stages.promote import Promoted
    from pipelines.stages.prune import Pruned
    from pipelines.stages.review import Verdict
    from pipelines.watch import Watch

ATTEMPTS: Final = 3
STAGES: Final = ("capture", "extract", "review", "promote", "prune", "reindex", "commit")


@dataclass(frozen=True)
class Night:
    """What a run is given: the memory, its settings, who extracts, and the moment at which it acts."""

    root: Path
    settings: Settings
    extractor: Extractor
    now: datetime

    @property
    def today(self) -> str:
        """The memory's day."""
        return day_of(self.now, self.settings)

    def run_id(self, head: str | None) -> str:
        """The run's id: its moment, and a hash that tells two runs of one moment apart. A replay has the same."""
        birth = f"{self.now.isoformat()}\x1f{head or ''}"
        return f"{self.now:%Y%m%dT%H%M%S}-{hashlib.sha256(birth.encode()).hexdigest()[:6]}"


@dataclass(frozen=True)
class Plan:
    """What a run would do: its change set, and its report so far."""

    changes: tuple[Change, ...]
    report: RunReport


def plan_night(night: Night, git: Git, watch: Watch) -> Plan:
    """Read the memory and decide everything; nothing is written.

    Raises:
        BrokenChangeSet: the changes would break a promise.
    """
    snapshot = read_snapshot(night.root)
    template = missing_files(night.root, resource("memory_template"))
    with watch.stage("capture"):
        captured = capture(snapshot.logs, snapshot.partials, night.today, snapshot.unreadable())
    with watch.stage("extract"):
        documents = number_items({**snapshot.documents, **_template_documents(template)}, night.today)
        shelves = Shelves(documents, snapshot.unreadable())
        progress = read_progress(snapshot.state.get(PROGRESS))
        days = days_to_read(captured.logs, progress, night.today, _read_before(git))
        extracted = extract(
            days, night.extractor, _choices(documents), lambda done: watch.advance(done, len(days))
        )  # fmt: skip
    with watch.stage("review"):
        filed = [Filed(candidate, named_document(candidate, shelves)) for candidate in extracted.candidates]
        items = [(path, placed.item) for path in sorted(documents) for placed in documents[path].items]
        verdicts = review(filed, items)
    with watch.stage("promote"):
        promoted = promote(verdicts, shelves)
    with watch.stage("prune"):
        pruned = prune(promoted.documents, night.settings.caps, shelves.closed)
        after = with_quality(snapshot.documents, pruned.documents)
    if faults := check_documents(
        documents, after, (item.id for _, item in promoted.added), night.settings.caps.briefing
    ):
        raise BrokenChangeSet(faults)
    state = {**progress} if not extracted.read else advanced_progress(progress, extracted.read, night.today)
    changes = (
        *(change for change in template if kind_of(change.path) is None),
        *_log_changes(snapshot, captured),
        *document_changes(snapshot.documents, after),
        *_state_changes(snapshot, render_progress(state)),
    )
    report = _report(night, git, snapshot, captured, extracted, verdicts, promoted, pruned)
    return Plan(changes, replace(report, briefing_bytes=after[BRIEFING].size if BRIEFING in after else 0))


def curate_night(night: Night, watch: Watch) -> RunReport:
    """Run one night: finish what was left, commit people's edits, decide, write, reindex and report.

    Raises:
        LockHeld: another run works on the memory.
        GitFault: git is in a state in which a commit would be wrong.
        ChangedUnderRun: files kept changing while the run was about to write them; nothing was written.
        NotWritable: the disk refused.
    """
    git = Git(night.root)
    git.check()
    with run_lock(night.root, f"a run that acts as of {night.now.isoformat(timespec='seconds')}"):
        recovered = recover(night.root, git)
        make_missing_folders(night.root)
        run_id = night.run_id(git.head())
        edits = commit_edits(night.root, git, _edits_message(run_id), _editor(night, git))
        report, written = _write(replace(night, extractor=Remembering(night.extractor)), git, run_id, watch)
        with watch.stage("reindex"):
            index, warnings = reindex(night.root)
        report = replace(
            report,
            run=run_id,
            index=index,
            warnings=(*report.warnings, *warnings),
            pending=report.pending or bool(warnings),
            recovered=recovered is not None,
            edits_commit=edits or "",
            commit=written,
            seconds={stage: watch.seconds.get(stage, 0.0) for stage in STAGES},
        )
        save_report(night.root, report)
    return report


def _write(night: Night, git: Git, run_id: str, watch: Watch) -> tuple[RunReport, str]:
    """Plan and apply; where somebody changed a file meanwhile, plan anew on what is there now."""
    for attempt in range(1, ATTEMPTS + 1):
        plan = plan_night(night, git, watch)
        report = replace(plan.report, run=run_id)
        if not plan.changes:
            return report, ""
        try:
            with watch.stage("commit"):
                applied = apply_changes(night.root, git, plan.changes, _signature(night, report))
        except ChangedUnderRun:
            if attempt == ATTEMPTS:
                raise
        else:
            return replace(report, merged=applied.merged), applied.commit or ""
    raise AssertionError  # the loop returns or raises


class Remembering:
    """An extractor that answers the same request once: planning anew asks no model twice."""

    def __init__(self, inner: Extractor) -> None:
        self.name = inner.name
        self._inner = inner
        self._answers: dict[ExtractionRequest, Extraction] = {}

    def extract(self, request: ExtractionRequest) -> Extraction:
        """Return the answer to a request, from memory where it was asked before."""
        asked = replace(request, documents=())
        if asked not in self._answers:
            self._answers[asked] = self._inner.extract(request)
        return self._answers[asked]


# ------------------------------------------------------------ parts of the change set


def _template_documents(template: list[Change]) -> dict[str, Document]:
    return {c.path: Document(c.path, c.after.decode()) for c in template if c.after is not None and kind_of(c.path)}


def _choices(documents: Mapping[str, Document]) -> tuple[DocumentChoice, ...]:
    return tuple(
        DocumentChoice(document.id, document.title, document.kind)
        for path, document in sorted(documents.items())
        if not path.startswith("Archives/")
    )


def _log_changes(snapshot: Snapshot, captured: Captured) -> list[Change]:
    changed = [
        Change(path, snapshot.logs.get(path), data)
        for path, data in captured.logs.items()
        if snapshot.logs.get(path) != data
    ]
    return changed + [Change(path, snapshot.partials[path], None) for path in captured.folded]


def _state_changes(snapshot: Snapshot, progress: bytes) -> list[Change]:
    before = snapshot.state.get(PROGRESS)
    return [Change(PROGRESS, before, progress)] if (before or b"") != progress else []


def _read_before(git: Git) -> Callable[[str, str], frozenset[str] | None]:
    """Return how to find what a closed day's digest stands for: the version of the log in git that gives it."""

    def find(path: str, digest: str) -> frozenset[str] | None:
        for commit in git.versions(path):
            data = git.show(commit, path)
            keys = [entry.key for entry in parse_entries(path, "", (data or b"").decode(errors="replace"))]
            if entries_digest(keys) == digest:
                return frozenset(keys)
        return None

    return find


# ------------------------------------------------------------ messages and report


def _edits_message(run_id: str) -> str:
    return f"Edits since the last run\n\nCommitted as they stood before run {run_id}.\n"


def _editor(night: Night, git: Git) -> Author:
    return Author(*(git.identity() or night.settings.author), night.now)


def _signature(night: Night, report: RunReport) -> Signature:
    lines = [f"{path}: {count} added" for path, count in sorted(report.documents.items())]
    message = render(
        "commit.txt",
        summary=report.summary(),
        lines=lines,
        run_id=report.run,
        added=report.added,
        changed=report.confirmed + len(report.evicted),
        extractor=report.extractor,
    )
    return Signature(message, *night.settings.author, night.now)


def _report(  # noqa: PLR0913, PLR0917  one argument a stage: the report is where all their results meet
    night: Night,
    git: Git,
    snapshot: Snapshot,
    captured: Captured,
    extracted: Extracted,
    verdicts: tuple[Verdict, ...],
    promoted: Promoted,
    pruned: Pruned,
) -> RunReport:
    odd = [f"{path} names no day (DAY-NAME.md), so it was not folded." for path in captured.odd]
    return RunReport(
        run=night.run_id(git.head()),
        now=night.now.isoformat(timespec="seconds"),
        day=night.today,
        extractor=night.extractor.name,
        logs_read=sum(bool(day.fresh) for day in extracted.read),
        entries_read=sum(len(day.fresh) for day in extracted.read),
        entries_pending=sum(len(day.fresh) for day in extracted.pending),
        candidates=len(extracted.candidates),
        ungrounded=extracted.ungrounded,
        verdicts=dict(Counter(str(verdict.kind) for verdict in verdicts)),
        types=dict(Counter(str(item.type) for _, item in promoted.added)),
        documents=dict(Counter(path for path, _ in promoted.added)),
        confirmed=len(promoted.confirmed),
        made=promoted.made,
        briefing_cap=night.settings.caps.briefing,
        evicted=[{"id": moved.id, "from": moved.source, "to": moved.target} for moved in pruned.moved],
        folded=captured.folded,
        calls=extracted.calls,
        input_tokens=extracted.input_tokens,
        output_tokens=extracted.output_tokens,
        failure=extracted.failure,
        warnings=[*map(str, snapshot.warnings), *odd, *extracted.notes],
        pending=any(warned.pending for warned in snapshot.warnings),
    )
