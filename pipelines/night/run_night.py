"""The night: take the lock, recover, commit people's edits, plan, apply, report; reindex without the lock."""

from __future__ import annotations

import contextlib
import gc
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Final

from pipelines.errors import ChangedUnderRun, CurateError, LockHeld, ModelFailed
from pipelines.extract.llm.replies import drop_replies
from pipelines.night.plan import Earlier, Night, NightPlan, plan_night
from pipelines.night.reindex import reindex
from pipelines.night.report import RunReport, Watch, joined, save_failure, save_report, shared_reports
from pipelines.store.edits import commit_edits, find_edits
from pipelines.store.git import Author, Git
from pipelines.store.git_history import run_id
from pipelines.store.journal import apply_changes, recover
from pipelines.store.layout import LOGS, kind_of
from pipelines.store.lock import run_lock
from pipelines.store.secrets.known import remember_rules
from pipelines.store.secrets.redact import load_redactor, without_secrets
from pipelines.store.secrets.scan import clean_copies
from pipelines.store.template import make_missing_folders
from pipelines.templating import render
from pipelines.usage import Tally

if TYPE_CHECKING:
    from collections.abc import Callable

    from pipelines.extract.extraction import Extraction, ExtractionRequest, Extractor


ATTEMPTS: Final = 3
_ALLOCATIONS = 1_000_000
"""New objects between two looks for garbage, from a process's first night on: a night's objects live until it ends."""
STAGES: Final = ("capture", "extract", "review", "brief", "verify", "promote", "prune", "commit", "reindex", "embed")


def curate_night(night: Night, watch: Watch) -> RunReport:
    """Run one night. The index follows once the night is committed and pushed, and the lock is let go.

    Raises:
        LockHeld: another run is working on the memory.
        GitFault: git is in a state that a commit would make worse.
        ChangedUnderRun: files kept changing while the run tried to write; nothing was written.
        NotWritable: the disk refused.
        CurateError: the night was not published (only if `night.sharing` is a `night.remote_night.Publishing`).
    """
    git, run = Git(night.root), run_id(night.now, None)
    with contextlib.ExitStack() as held:
        gc.set_threshold(_ALLOCATIONS, 50, 50)
        try:
            git.check()
            held.enter_context(run_lock(night.root, f"a run that acts as of {night.now.isoformat(timespec='seconds')}"))
            recovered = recover(night.root, git) is not None
            run = run_id(night.now, git.head())
            reports = _curate(night, git, watch, recovered=recovered)
            git.settle()  # the person's index, where only edits were committed
        except LockHeld:
            raise
        except BaseException as error:
            save_failure(night.root, run, night.now, error)
            with contextlib.suppress(CurateError):  # the next start tries again
                Git(night.root).settle()  # what ended this may have ended its git
            raise
        report = joined(reports)
        if night.sharing:
            night.sharing.push(git, complete=not (report.pending or report.entries["pending"]))
        if report.commit:
            git.pack()
        if not report.entries["pending"]:
            drop_replies(night.root)
    watch.ready()
    index, warnings = reindex(night.root, watch)
    last = reports[-1]
    last = replace(
        last,
        index=index,
        warnings=(*warnings, *last.warnings),
        pending=last.pending or bool(warnings),
        seconds={stage: round(watch.seconds.get(stage, 0.0), 3) for stage in STAGES},
    )
    save_report(night.root, last.to_json())
    return joined([*reports[:-1], last])


def _curate(night: Night, git: Git, watch: Watch, *, recovered: bool) -> list[RunReport]:
    """Return a report for each day that was a run of its own; all are saved."""
    make_missing_folders(night.root)
    redactor = load_redactor(night.root)
    known = redactor.learned
    found = find_edits(night.root, git)
    # People's edits get a commit of their own, so that an undo can tell them from the run's changes. It comes before
    # anything is pulled, so that a join sees them beside the other machine's.
    message = "Edits since the last run\n\nCommitted as they stood before the run.\n"
    commit = partial(commit_edits, night.root, git, message, Author(*night.settings.author, night.now), follow=False)
    edits = commit(found)
    if night.sharing:
        night.sharing.pull(git)
    run, reports, earlier = run_id(night.now, git.head()), list[RunReport](), Earlier()
    while True:  # with a model, each day is a run of its own, against the memory that the day before left
        report, plan = _write(night, git, run, watch, commit, earlier)
        reports.append(replace(report, recovered=recovered and not reports, edits_commit=None if reports else edits))
        if not plan.later:
            break
        save_report(night.root, reports[-1].to_json())
        # A second later for each day: ids are in the order of the runs, and the last one tells what is left.
        run, earlier = run_id(night.now + timedelta(seconds=len(reports)), git.head()), plan.earlier
        watch.next_day(plan.later)
    if redactor.learned > known or any(one.logs.get("redacted") for one in reports):
        clean_copies(night.root, redactor)
    remember_rules(night.root)
    warnings = tuple(night.sharing.notes) if night.sharing and night.sharing.needs_person else ()
    # A page with a secret is told of where it is read, and the run has redacted the logs, unless they are a person's.
    held = {
        path: why
        for path, why in found.held.items()
        if not kind_of(path) and (git.layout.in_place or not path.startswith(f"{LOGS}/"))
    }
    warnings += found._replace(held=held).sentences(git.layout)
    last = reports[-1]
    last = replace(last, warnings=(*warnings, *last.warnings), pending=last.pending or bool(warnings))
    if not last.failure:  # a failure names them already
        failing = joined([*reports[:-1], last]).tally.failing
        notes = (f"{name} gave no usable answer in this run ({how})." for name, how in failing.items())
        last = replace(last, warnings=(*last.warnings, *notes))
    save_report(night.root, last.to_json())
    return [*reports[:-1], last]


def _write(
    night: Night, git: Git, run: str, watch: Watch, commit_anew: Callable[[], object], earlier: Earlier
) -> tuple[RunReport, NightPlan]:
    """Plan and apply; if a file changed meanwhile, plan again on its new content.

    Each day is read once, however often the run plans; the report counts what every plan paid for.
    """
    tally, reading = Tally(), replace(night, extractor=Remembering(night.extractor.name, night.extractor))
    for attempt in range(1, ATTEMPTS + 1):
        base = git.head()
        plan = plan_night(reading, git, watch, earlier)
        tally.add(plan.report.tally)
        report = replace(plan.report, run=run, base=base, tally=tally)
        if not plan.changes:
            return report, plan
        try:
            with watch.stage("commit"):
                commit, changed = apply_changes(
                    night.root, git, (*plan.changes, *shared_reports(night.root, report)), *signed(night, report)
                )
        except ChangedUnderRun:
            if attempt == ATTEMPTS:
                raise
            commit_anew()
        else:
            merged = tuple(map(git.layout.real, changed))
            notes = (f"{path} changed while the run was writing; both changes were merged." for path in merged)
            warnings = (*report.warnings, *notes)
            return replace(report, merged=merged, warnings=warnings, commit=commit), plan
    raise AssertionError  # the loop returns or raises


@dataclass(frozen=True, slots=True)
class Remembering:
    """An extractor that remembers its answers, so that planning again asks no model twice.

    Kept replies alone do not suffice: a document that was made or renamed during the run changes the question.
    """

    name: str
    inner: Extractor
    _answers: dict[ExtractionRequest, Extraction | ModelFailed] = field(default_factory=dict)

    def extract(self, request: ExtractionRequest) -> Extraction:
        """Return the answer to a request; a repeated one is free.

        Raises:
            ModelFailed: the model failed, now or the first time.
        """
        asked = replace(request, documents=())
        known = self._answers.get(asked)
        if isinstance(known, ModelFailed):
            raise ModelFailed(known.provider, known.why, known.kind)
        if known is not None:
            return replace(known, tally=Tally())
        try:
            self._answers[asked] = answer = self.inner.extract(request)
        except ModelFailed as fault:
            self._answers[asked] = fault
            raise
        return answer


def signed(night: Night, report: RunReport) -> tuple[str, Author]:
    """Return a run's commit message (summary, items added by document, trailers) and its author."""
    message = render(
        "commit.txt",
        summary=report.summary(),
        lines=[
            without_secrets(f"{path}: {count} added") for path, count in sorted(report.items["by_document"].items())
        ],
        run_id=report.run,
        added=report.added,
        changed=report.changed,
        extractor=report.extractor,
    )
    return message, Author(*night.settings.author, night.now)
