"""The night: hold the lock, finish what was left, commit people's edits, plan, apply, reindex, report."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from pipelines.context.cache import keep_cache
from pipelines.errors import ChangedUnderRun
from pipelines.memory.edits import commit_edits, find_edits
from pipelines.memory.git import Author, Git
from pipelines.memory.history import run_id
from pipelines.memory.journal import Signature, apply_changes, recover
from pipelines.memory.lock import run_lock
from pipelines.memory.secrets.held import still_held
from pipelines.memory.template import make_missing_folders
from pipelines.planning import plan_night
from pipelines.report import save_failure, save_report
from pipelines.stages.reindex import reindex
from pipelines.templating import render

if TYPE_CHECKING:
    from pipelines.memory.edits import Edits
    from pipelines.models.extraction import Extraction, ExtractionRequest, Extractor
    from pipelines.planning import Night
    from pipelines.report import RunReport
    from pipelines.watch import Watch

ATTEMPTS: Final = 3
STAGES: Final = ("capture", "extract", "review", "promote", "prune", "reindex", "commit")


def curate_night(night: Night, watch: Watch) -> RunReport:
    """Run one night.

    Raises:
        LockHeld: another run works on the memory.
        GitFault: git is in a state in which a commit would be wrong.
        ChangedUnderRun: files kept changing while the run was about to write them; nothing was written.
        NotWritable: the disk refused.
    """
    git = Git(night.root)
    git.check()
    with run_lock(night.root, f"a run that acts as of {night.now.isoformat(timespec='seconds')}"):
        recovered = recover(night.root, git) is not None
        run = run_id(night.now, git.head())
        try:
            return _curate(night, git, run, watch, recovered=recovered)
        except BaseException as error:
            save_failure(night.root, run, night.now, error)
            raise


def _curate(night: Night, git: Git, run: str, watch: Watch, *, recovered: bool) -> RunReport:
    make_missing_folders(night.root)
    found = find_edits(night.root, git)
    edits = _commit_edits(night, git, run, found)
    report, commit = _write(replace(night, extractor=Remembering(night.extractor)), git, run, watch)
    with watch.stage("reindex"):
        index, warnings = reindex(night.root)
    warnings += still_held(night.root, found.held, report.warnings)
    report = replace(
        report,
        index=index,
        warnings=(*report.warnings, *warnings),
        pending=report.pending or bool(warnings),
        recovered=recovered,
        edits_commit=edits or "",
        commit=commit,
        seconds={stage: watch.seconds.get(stage, 0.0) for stage in STAGES},
    )
    save_report(night.root, report)
    keep_cache(str(night.root))
    return report


def _write(night: Night, git: Git, run: str, watch: Watch) -> tuple[RunReport, str]:
    """Plan and apply; where somebody changed a file meanwhile, plan anew on what is there now."""
    for attempt in range(1, ATTEMPTS + 1):
        plan = plan_night(night, git, watch)
        report = replace(plan.report, run=run)
        if not plan.changes:
            return report, ""
        try:
            with watch.stage("commit"):
                applied = apply_changes(night.root, git, plan.changes, run_signature(night, report))
        except ChangedUnderRun:
            if attempt == ATTEMPTS:
                raise
            _commit_edits(night, git, run)
        else:
            told = [f"{path} was changed while the run wrote it; both are in it." for path in applied.merged]
            report = replace(report, merged=applied.merged, warnings=(*report.warnings, *told))
            return report, applied.commit or ""
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


def _commit_edits(night: Night, git: Git, run: str, found: Edits | None = None) -> str | None:
    """Commit what people changed, apart from what the run will write, so that an undo can tell the two apart."""
    message = f"Edits since the last run\n\nCommitted as they stood before run {run}.\n"
    return commit_edits(night.root, git, message, Author(*(git.identity() or night.settings.author), night.now), found)


def run_signature(night: Night, report: RunReport) -> Signature:
    """Return how a run's commit is signed: a summary, where items were added, and the trailers."""
    message = render(
        "commit.txt",
        summary=report.summary(),
        lines=[f"{path}: {count} added" for path, count in sorted(report.documents.items())],
        run_id=report.run,
        added=report.added,
        changed=report.changed,
        extractor=report.extractor,
    )
    return Signature(message, *night.settings.author, night.now)
