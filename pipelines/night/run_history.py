"""The history of runs, read from git and from the reports on this machine; it changes nothing.

Git is the truth: a run that changed something has a commit with its id and a report in it. The complete report, with
time and money, is local: it may be missing, and it is all that a run leaves that failed or found nothing new.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from pipelines.errors import FINE, CurateError
from pipelines.night.report import KEPT, TRAVELLING, left_pending, read_reports
from pipelines.store.change_set import ItemChange, item_changes
from pipelines.store.days import moment_of
from pipelines.store.files import read_bytes
from pipelines.store.git import Git
from pipelines.store.git_history import BY_PEOPLE, RunCommit, changed_documents, named_run, run_commits, undone_by
from pipelines.store.layout import TOMBSTONES
from pipelines.store.state import Reason, read_tombstones
from pipelines.store.trees import documents_at

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pipelines.store.document import Document


class RunEnd(StrEnum):
    """How a run ended."""

    WELL = "well"
    PENDING = "pending"
    FAILED = "failed"
    UNDONE = "undone"
    COMMITTED = "committed"
    BY_HAND = "by-hand"


@dataclass(frozen=True, slots=True)
class PastRun:
    """One run.

    Args:
        id: its id.
        when: the time it acted at, ISO 8601.
        ended: how it ended.
        why: why, as the end of a sentence; empty if it ended well.
        added: how many items it added.
        changed: how many existing items it changed or moved.
        commit: its commit, as git's history has it, or None.
        report: its report, from this machine or its commit, or None.
        here: whether this machine ran it.
    """

    id: str
    when: str
    ended: RunEnd
    why: str
    added: int
    changed: int
    commit: RunCommit | None
    report: Mapping[str, object] | None
    here: bool = False

    @property
    def is_night(self) -> bool:
        """Whether it read the logs, or tried to; what people and commands do is no night."""
        return self.commit is None or self.commit.is_night

    @property
    def moment(self) -> datetime | None:
        """When it acted, or None if that is unreadable."""
        return moment_of({"now": self.when})

    @property
    def did_its_work(self) -> bool:
        """Whether nothing failed; a run that was undone, or that stopped at the user's budget, did its work."""
        return self.ended is not RunEnd.FAILED and (self.report is None or self.report.get("exit_code") == FINE)

    @property
    def outcome(self) -> str:
        """How it ended, as the end of a sentence."""
        return {
            RunEnd.WELL: "ended well",
            RunEnd.PENDING: f"left something pending: {self.why}",
            RunEnd.FAILED: f"failed: {self.why}",
            RunEnd.UNDONE: f"was undone by {self.why}",
            RunEnd.COMMITTED: f"was committed; {self.why}",
            RunEnd.BY_HAND: f"was by hand: {self.why}",
        }[self.ended]

    def reported(self, *keys: str) -> object:
        """Return the report's value under nested keys, or None."""
        here: object = self.report
        for key in keys:
            here = here.get(key) if isinstance(here, dict) else None
        return here

    def number(self, *keys: str) -> int:
        """Return a count from the report, or 0."""
        found = self.reported(*keys)
        return found if isinstance(found, int) else 0

    @property
    def warnings(self) -> list[str]:
        """The warnings in its report."""
        found = self.reported("warnings")
        return [str(one) for one in found] if isinstance(found, list) else []

    @property
    def undoes(self) -> str:
        """The run that it undid, and the item if it undid only that; or empty."""
        return f"{self.commit.undoes} {self.commit.item}".strip() if self.commit else ""

    def to_json(self) -> dict[str, object]:
        """Return the run as `--json` lists it; without a report, its fields are null."""
        known = self.report is not None and "items" in self.report
        model = self.reported("model")
        cost = ("extractor", "calls", "input_tokens", "output_tokens", "usd")
        evicted = self.reported("evicted")
        return {
            "run": self.id,
            "date": self.when,
            "ended": self.ended,
            "why": self.why or None,
            "added": self.added,
            "changed": self.changed,
            "confirmed": self.number("items", "confirmed") if known else None,
            "moved": len(evicted) if isinstance(evicted, list) else None,
            "model": {key: model.get(key) for key in cost} if isinstance(model, dict) else None,
            "commit": self.commit.commit if self.commit else None,
            "undoes": self.commit.undoes or None if self.commit else None,
            "item": self.commit.item or None if self.commit else None,
        }


def all_runs(root: Path, git: Git) -> list[PastRun]:
    """Return the runs of a memory, newest first: those in git, and those with only a report on this machine."""
    commits, here = run_commits(git), read_reports(root)
    reports, gone = read_reports(root, TRAVELLING) | here, undone_by(commits)
    runs = []
    for one in commits:
        report = reports.pop(one.run, None)
        if one.run in gone:
            ended, why = RunEnd.UNDONE, gone[one.run]
        elif one.undoes:
            ended, why = RunEnd.WELL, ""  # an undo leaves no report: its commit says everything
        elif not one.is_night:
            ended, why = RunEnd.BY_HAND, one.subject
        else:
            ended, why = _ending(report) if report else (RunEnd.COMMITTED, "no report of it is kept here")
        runs.append(PastRun(one.run, one.when, ended, why, one.added, one.changed, one, report, one.run in here))
    runs += [_without_commit(*one, here=one[0] in here) for one in reversed(reports.items())]
    return sorted(runs, key=_when, reverse=True)


def nights(root: Path) -> list[PastRun]:
    """Return the nights, here and on other machines, newest first; if git cannot be read, those reported here."""
    try:
        runs = all_runs(root, Git(root))
    except CurateError:  # other checks report a broken repository
        return reported_nights(root)
    return [run for run in runs if run.is_night and run.moment]


def reported_nights(root: Path, most: int = KEPT) -> list[PastRun]:
    """Return the nights of which the newest reports tell, newest first; git is not read."""
    here = read_reports(root, most=most)
    reports = read_reports(root, TRAVELLING, most) | here
    runs = [_without_commit(*one, here=one[0] in here) for one in reports.items()]
    return sorted((run for run in runs if run.moment), key=_when, reverse=True)


def find_run(root: Path, git: Git, prefix: str) -> PastRun:
    """Return the run whose id or commit starts with a prefix.

    Raises:
        UnknownItem: none or more than one matches.
    """
    runs = all_runs(root, git)
    ident = named_run(prefix, ((run.id, run.commit.commit if run.commit else "") for run in runs))
    return next(run for run in runs if run.id == ident)


def items_changed(run: PastRun, git: Git) -> list[ItemChange]:
    """Return a run's changes of items, from its commit; none of what a person had forgotten since."""
    if not run.commit:
        return []
    return _unless_forgotten(git, *changed_documents(git, run.commit))


def edits_before(run: PastRun, git: Git) -> list[ItemChange]:
    """Return what people changed by hand since the run before, with what a run of its own made of their edits."""
    made = {one.commit: one.parent for one in run_commits(git) if one.extractor == BY_PEOPLE}
    if not (run.commit and run.commit.parent):
        return []
    end = run.commit.commit if run.commit.commit in made else run.commit.parent
    base = git.last_run(until=run.commit.parent)
    while base in made:
        base = git.last_run(until=made[base])
    return _unless_forgotten(git, documents_at(git, base), documents_at(git, end)) if base not in {None, end} else []


def _unless_forgotten(git: Git, before: Mapping[str, Document], after: Mapping[str, Document]) -> list[ItemChange]:
    stones = read_tombstones(read_bytes(git.root, TOMBSTONES))
    forgotten = {stone.id for stone in stones if stone.reason is Reason.FORGOTTEN}
    return [one for one in item_changes(before, after) if one.id not in forgotten]


def _ending(report: Mapping[str, object]) -> tuple[RunEnd, str]:
    error = report.get("error")
    if isinstance(error, dict):
        return RunEnd.FAILED, str(error.get("sentence") or error.get("kind") or "no reason was recorded")
    model = report.get("model")
    why = left_pending(report) or (model.get("over_budget") if isinstance(model, dict) else "")
    return (RunEnd.PENDING, str(why)) if why else (RunEnd.WELL, "")


def _without_commit(ident: str, report: Mapping[str, object], *, here: bool) -> PastRun:
    return PastRun(ident, str(report.get("now") or ""), *_ending(report), 0, 0, None, report, here)


def _when(run: PastRun) -> datetime:
    return run.moment or datetime.min.replace(tzinfo=UTC)  # unreadable ones come last
