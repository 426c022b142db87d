"""The night: take the lock, recover, commit people's edits, plan, apply, report; reindex without the lock."""

from __future__ import annotations

import contextlib
import gc
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from pipelines.errors import CurateError, LockHeld
from pipelines.night.manual import read_memory, reindex, taken_in
from pipelines.night.plan import plan_night
from pipelines.night.report import RunReport, Watch, joined, save_failure, save_report, shared_reports
from pipelines.store.edits import commit_edits, find_edits
from pipelines.store.git import Author, Git, run_id
from pipelines.store.journal import apply_changes, recover
from pipelines.store.layout import LOGS, REPLIES, kind_of
from pipelines.store.lock import run_lock
from pipelines.store.secrets.known import remember_rules
from pipelines.store.secrets.redact import load_redactor, without_secrets
from pipelines.store.secrets.scan import clean_copies
from pipelines.store.template import make_missing_folders
from pipelines.templating import template

if TYPE_CHECKING:
    from pipelines.night.run import Night


_ALLOCATIONS = 1_000_000
"""New objects between two looks for garbage, from a process's first night on: a night's objects live until it ends."""
STAGES = ("capture", "extract", "review", "brief", "verify", "promote", "prune", "commit", "reindex", "embed")
PING_SECONDS = 3.0
"""The timeout of a ping."""


def curate_night(night: Night, watch: Watch, monitor: str = "") -> RunReport:
    """Run one night, pinging a monitor (healthchecks and similar) at its start and end.

    A failed ping is a warning in the report, and changes neither the night nor its exit code.

    Args:
        night: the night.
        watch: receives the progress.
        monitor: the address, which is a secret and appears in no message; empty for none.

    Raises:
        LockHeld: another run is working on the memory, and sends its own pings.
        GitFault: git is in a state that a commit would make worse.
        NotWritable: the disk refused.
        CurateError: the night was not published (only if `night.sharing` is a `night.sync.Publishing`).
    """
    if monitor:
        return _with_pings(night, watch, monitor)
    git, run = Git(night.root), run_id(night.now, None)
    with contextlib.ExitStack() as held:
        gc.set_threshold(_ALLOCATIONS, 50, 50)
        try:
            git.check()
            held.enter_context(run_lock(night.root, f"a run that acts as of {night.now.isoformat(timespec='seconds')}"))
            recover(git)
            run = run_id(night.now, git.head())
            reports = _curate(night, git, watch)
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
        if not report.entries["pending"] and (night.root / REPLIES).is_dir():
            from pipelines.extract.llm.fallback import drop_replies  # noqa: PLC0415  only models reply

            drop_replies(night.root)
    watch.ready()  # the index follows once the night is committed and pushed, and the lock is let go
    last = reports[-1]
    last.index, warnings = reindex(night.root, watch)
    last.warnings[:0], last.pending = warnings, last.pending or bool(warnings)
    last.seconds = {stage: round(watch.seconds.get(stage, 0.0), 3) for stage in STAGES}
    save_report(night.root, last.to_json())
    return joined(reports)


def _with_pings(night: Night, watch: Watch, monitor: str) -> RunReport:
    faults = _pinged(monitor, "start", "/start")
    try:
        report = curate_night(night, watch)
    except LockHeld:
        raise
    except BaseException:
        _pinged(monitor, "end", "/fail")
        raise
    if faults := faults + _pinged(monitor, "end", "/fail" if report.exit_code else ""):
        report.warnings += faults
        with contextlib.suppress(CurateError):  # the report without the pings is saved already
            save_report(night.root, report.to_json())
    return report


def _pinged(monitor: str, when: str, more: str) -> list[str]:
    """Request the monitor's address with its path extended; return a sentence if it did not answer as it should."""
    from urllib import error, parse, request  # noqa: PLC0415  few nights have a monitor

    from pipelines.search.embedders.remote import open_url  # noqa: PLC0415  as above

    parts = parse.urlsplit(monitor)
    url = parse.urlunsplit(parts._replace(path=parts.path.rstrip("/") + more)) if more else monitor
    try:
        with open_url(request.Request(url, headers={"User-Agent": "memcurate"}), PING_SECONDS):  # noqa: S310  http(s) alone
            return []
    except error.HTTPError as refusal:
        why = f"status {refusal.code}"
        refusal.close()
    except Exception:  # noqa: BLE001  whatever the network does, the night goes on
        why = "no answer"
    return [f"The ping at the {when} of the run failed ({why})."]


def _curate(night: Night, git: Git, watch: Watch) -> list[RunReport]:
    """Plan and apply; return a report for each day that was a run of its own. All are saved."""
    make_missing_folders(night.root)
    redactor = load_redactor(night.root)
    known = redactor.learned
    found = find_edits(git)
    # People's edits get a commit of their own, so that an undo can tell them from the run's changes. It comes before
    # anything is pulled, so that a join sees them beside the other machine's.
    author, edits = Author(*night.settings.author, night.now), "Edits since the last run"
    commit = partial(commit_edits, git, f"{edits}\n\nCommitted as they stood before the run.\n", author, follow=False)
    commit(found)
    if night.sharing:
        night.sharing.pull(git)
    reports, run = list[RunReport](), None
    while run is None or run.later:  # with a model, each day is a run of its own
        # A second later for each day: ids are in the order of the runs, and the last one tells what is left.
        ident = run_id(night.now + timedelta(seconds=len(reports)), git.head())
        memory, head = read_memory(git, night.settings, night.now), git.head()
        run = plan_night(night, taken_in(memory), watch, memory.documents, run)
        report = run.report
        report.run = ident
        reports.append(report)
        if run.changes or git.head() != head:
            with watch.stage("commit"):
                # What others wrote to the files meanwhile is merged with the run's changes.
                changes = (*run.changes, *shared_reports(night.root, report))
                rows = sorted(report.items["by_document"].items())
                message = template("commit.txt").render(
                    summary=report.summary(),
                    lines=[without_secrets(f"{path}: {count} added") for path, count in rows],
                    run_id=report.run,
                    added=report.added,
                    changed=report.changed,
                    extractor=report.extractor,
                )
                report.commit = apply_changes(git, changes, message, author)
        if run.later:
            save_report(night.root, report.to_json())
            watch.next_day(len({one.day for one in run.later}))
            commit()  # what people wrote during the run
    if redactor.learned > known or any(one.logs["redacted"] for one in reports):
        clean_copies(night.root, redactor)
    remember_rules(night.root)
    last, sharing = reports[-1], night.sharing
    warnings = list(sharing.notes) if sharing and sharing.state == "diverged" else []
    # A page with a secret is told of where it is read, and the run has redacted the logs.
    held = {path: why for path, why in found.held.items() if not kind_of(path) and not path.startswith(f"{LOGS}/")}
    warnings += found._replace(held=held).sentences()
    last.warnings[:0], last.pending = warnings, last.pending or bool(warnings)
    if not last.failure:  # a failure names them already
        failing = joined(reports).tally.failing
        last.warnings += [f"{name} gave no usable answer in this run ({how})." for name, how in failing.items()]
    save_report(night.root, last.to_json())
    return reports
