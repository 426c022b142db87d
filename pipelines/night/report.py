"""The run report: what a night read, decided, wrote and spent; and the history of runs, from reports and from git.

`Watch` receives a run's progress and times its stages. Git is the truth: a run that changed something has a commit with
its id and a report in it. The complete report, with time and money, is local: it may be missing, and it is all that a
run leaves that failed or found nothing new.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from pipelines.errors import EXPECTED, FINE, BadFile, CurateError, Ended, ending_code
from pipelines.store.change_set import Change, ItemChange, item_changes
from pipelines.store.days import moment_of
from pipelines.store.files import make_folder, read_bytes, replace_synced, writing
from pipelines.store.git import Git
from pipelines.store.git_history import BY_PEOPLE, RunCommit, changed_documents, named_run, run_commits, undone_by
from pipelines.store.layout import PRIVATE, STATE, TOMBSTONES
from pipelines.store.lock import private_folder
from pipelines.store.secrets.redact import without_secrets
from pipelines.store.state import Reason, read_record, read_tombstones
from pipelines.store.trees import documents_at
from pipelines.store.user_layout import inside
from pipelines.usage import Tally, Usage

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.store.document import Documents


KEPT = 400
"""How many reports are kept on this machine: more than a year of nights."""
SHARED = 100
"""How many are kept among the committed files, all of which each night lists. Older ones are in their commits."""
_RUNS = f"{PRIVATE}/runs"
TRAVELLING = f"{STATE}/runs"
_HERE = frozenset({"commit", "index", "model", "seconds", "skipped"})
"""Fields that stay on this machine: commits, time and money, and what only says where to look."""
_OF_READERS = ("extractor", "failure", "over_budget")
_OF_MODELS = frozenset({"tally", "failure", "over_budget", "pending"})
"""Fields that `--json` shows inside `model`, or as the exit code."""


@dataclass
class RunReport:
    """One run, mostly in the shape that `--json` prints. Counts are of this run alone.

    Args:
        run: the run's id.
        now: the time it acted at, ISO 8601.
        day: the memory's day at that moment.
        logs: how many with new entries were `read`, which partial logs were `folded` into their day, and log → number
            of secrets removed from it (`redacted`).
        again: the day that was read again, or None.
        read_days: the days with new entries that were read.
        pending_days: the days that stay pending.
        entries: how many new ones were `read`, how many lines of them were not understood (`left`), and how many stay
            `pending` because a model failed.
        verdicts: verdict → count.
        items: how many were `added`, `confirmed` by new evidence, `superseded` by another, and `closed` because the log
            says they are over; document → items added (`by_document`).
        people: how many items people `edited`, how many of their lines got an id (`numbered`), what they deleted or
            rejected (`retracted`), what their answers in Review.md `restored`, and how many questions were `asked`.
        evicted: id, from and to of each item that a cap moved.
        skipped: the lines that were not understood: path, lines, a hash of their text, and why.
        extractor: who read the logs.
        tally: each model's usage in this run, and how calls failed, whether or not another model replaced the failing
            one.
        failure: why days stay pending, a sentence for each kind of model failure, or empty.
        over_budget: which of the user's caps left days pending, or empty.
        pending: whether something is unread that should have been read.
        index: what reindexing did.
        seconds: stage → wall seconds.
        warnings: a sentence for each problem; what leaves something pending comes first.
        commit: the run's commit, or None if nothing changed.
    """

    run: str
    now: str
    day: str
    logs: dict[str, Any] = field(default_factory=lambda: {"read": 0, "folded": (), "redacted": {}})
    again: str | None = None
    read_days: Sequence[str] = ()
    pending_days: Sequence[str] = ()
    entries: Mapping[str, int] = field(default_factory=lambda: dict.fromkeys(("read", "pending", "left"), 0))
    verdicts: Mapping[str, int] = field(default_factory=dict)
    items: Mapping[str, Any] = field(default_factory=dict)
    people: dict[str, int] = field(default_factory=dict)
    evicted: Sequence[Mapping[str, str]] = ()
    skipped: Sequence[Mapping[str, object]] = ()
    extractor: str = ""
    tally: Tally = field(default_factory=Tally)
    failure: str = ""
    over_budget: str = ""
    pending: bool = False
    index: Mapping[str, Any] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    commit: str | None = None

    @property
    def added(self) -> int:
        """How many items are new."""
        return int(self.items["added"])

    @property
    def changed(self) -> int:
        """How many existing items were changed, moved or removed."""
        by_run = sum(self.items[how] for how in ("confirmed", "superseded", "closed")) + len(self.evicted)
        return int(by_run + sum(self.people.values()) - self.people["asked"])

    @property
    def exit_code(self) -> int:
        """1 if a failure left something pending; 0 if only the user's own spending caps did."""
        return EXPECTED if self.failure or self.pending else FINE

    def to_json(self) -> dict[str, object]:
        """Return the report as `--json` prints it."""
        tally, usage = self.tally, sum((one.usage for one in self.tally.spent), Usage())
        model = {
            "extractor": self.extractor,
            "calls": len(tally.spent),
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "usd": tally.usd,
            "failure": self.failure or None,
            "over_budget": self.over_budget or None,
            "failing": tally.failing,
        }
        rows = ((one.name, getattr(self, one.name)) for one in fields(self) if one.name not in _OF_MODELS)
        shown = dict(("model", model) if name == "extractor" else (name, value) for name, value in rows)
        return {**shown, "exit_code": self.exit_code}

    def summary(self) -> str:
        """Return the run in one line: cron mails it, and the commit starts with it."""
        did = (*self.items.values(), *self.people.values())
        left = self.entries["pending"]
        pending = f"{left} {'entry is' if left == 1 else 'entries are'} pending" if left else ""
        if not (any(did) or self.evicted or self.commit or self.entries["read"]):
            return f"Nothing read as of {self.day}: {pending}" if pending else f"Nothing new as of {self.day}"
        counts = {
            **{how: self.items[how] for how in ("confirmed", "superseded", "closed")},
            "moved out": len(self.evicted),
            "written by hand": self.people["edited"] + self.people["numbered"],
            "retracted": self.people["retracted"],
            "approved": self.people["restored"],
        }
        parts = [f"{self.added} {'item' if self.added == 1 else 'items'} added"] if self.added else []
        parts += [f"{count} {what}" for what, count in counts.items() if count]
        if asked := self.people["asked"]:
            parts.append(f"{asked} {'question' if asked == 1 else 'questions'} for you")
        parts = [*(parts or ["no new items"]), *filter(None, [pending])]
        days = sorted({min(self.read_days), max(self.read_days)}) if self.read_days else []
        return f"{'Curated ' + ' to '.join(days) if days else f'Changes as of {self.day}'}: {', '.join(parts)}"


_OF_LAST = frozenset({"run", "now", "day", "again", "skipped", "extractor", "index", "seconds", "commit"})


def joined(reports: Sequence[RunReport]) -> RunReport:
    """Return the runs of one night, a day each, as one report: counts added up, and all else as the last has it."""
    if len(reports) == 1:
        return reports[0]
    names = [one.name for one in fields(RunReport) if one.name not in _OF_LAST]
    whole = {name: _joined([getattr(one, name) for one in reports]) for name in names}
    commits = [one.commit for one in reports if one.commit]
    return replace(reports[-1], **whole, commit=commits[-1] if commits else None)


def _joined(values: Sequence[Any]) -> Any:  # noqa: ANN401  of any type that a report has
    """Return the values of a field as one: counts added up, each row and each sentence once."""
    last = values[-1]
    if isinstance(last, Tally):
        last = Tally()
        for one in values:
            last.add(one)
        return last
    if isinstance(last, int):
        return type(last)(sum(values))
    if isinstance(last, Mapping):
        keys = {key: None for one in values for key in one}
        return {key: _joined([one[key] for one in values if key in one]) for key in keys}
    if isinstance(last, list | tuple):
        rows = [row for one in values for row in one]
        return type(last)(row for at, row in enumerate(rows) if row not in rows[:at])
    return " ".join(dict.fromkeys(filter(None, values)))


def save_report(root: Path, report: Mapping[str, object]) -> None:
    """Keep a run's report under `.curate/runs/` for `curate status` and `curate runs`; the oldest are deleted.

    Raises:
        NotWritable: the disk refused.
    """
    private_folder(root)
    with writing(_RUNS):
        folder, file = make_folder(root, _RUNS), f"{report['run']}.json"
        replace_synced(folder / file, json.dumps(report, indent=1).encode())
        for old in _names(root, _RUNS)[:-KEPT]:
            if old != file:
                (folder / old).unlink()


def shared_reports(root: Path, report: RunReport) -> Iterator[Change]:
    """Yield the changes to the committed reports: the run's own is added, and the oldest beyond `SHARED` go.

    What holds for this machine alone is left out of it. What cannot be read stays.
    """
    whole: dict[str, Any] = report.to_json()
    readers = {key: whole["model"][key] for key in _OF_READERS}
    shared = {key: value for key, value in whole.items() if key not in _HERE} | {"model": readers}
    path = f"{TRAVELLING}/{report.run}.json"
    yield Change(path, None, without_secrets(json.dumps(shared, indent=1)).encode())
    for name in _names(root, TRAVELLING)[: -SHARED + 1]:
        with contextlib.suppress(BadFile):
            yield Change(path := f"{TRAVELLING}/{name}", read_bytes(root, path), None)


def save_failure(root: Path, run: str, now: datetime, error: BaseException) -> None:
    """Record a failed run where its report would be, so that the failure is seen later.

    The record holds the sentence of our own errors, which name paths and facts but no text of the memory; of other
    errors, only the kind. This never raises: if the disk refuses, the run's own error is what the user sees.
    """
    sentence = "It hit a bug."
    if isinstance(error, CurateError):
        sentence = without_secrets(" ".join(str(error).split()))
    elif isinstance(error, Ended | KeyboardInterrupt):
        sentence = f"It was stopped by {error.name}." if isinstance(error, Ended) else "It was interrupted."
    told = {"kind": type(error).__name__, "sentence": sentence}
    record = {"run": run, "now": now.isoformat(timespec="seconds"), "error": told, "exit_code": ending_code(error)}
    with contextlib.suppress(CurateError, OSError):
        save_report(root, record)


def read_reports(root: Path, folder: str = _RUNS, most: int = KEPT) -> dict[str, dict[str, object]]:
    """Return run id → report of the newest runs on record, oldest first; unreadable ones are skipped.

    Reports of this machine are complete, and include runs that failed or found nothing new. Reports under `TRAVELLING`
    are of runs with a commit, and are on every machine.
    """
    reports = ((name, read_record(root, name, folder)) for name in _names(root, folder)[-most:])
    return {str(one.get("run") or name.removesuffix(".json")): one for name, one in reports if one}


def was_cut_short(report: Mapping[str, object]) -> bool:
    """Whether a signal ended the run, so that it neither failed nor finished."""
    error = report.get("error")
    return isinstance(error, dict) and error.get("kind") in {Ended.__name__, KeyboardInterrupt.__name__}


def _names(root: Path, folder: str) -> list[str]:
    try:
        return sorted(one.name for one in inside(root, folder).iterdir() if one.suffix == ".json")
    except (BadFile, FileNotFoundError, NotADirectoryError):
        return []


@dataclass(eq=False)
class Watch:
    """Times each stage and shows nothing; `cli.progress_line` shows progress to people.

    `seconds` holds the time of each stage so far.
    """

    patience = 1800.0
    """Seconds for vectors after a run, enough for some megabytes of new logs; the rest waits for the next run."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextlib.contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time the stage that runs inside the block; repeated stages add up."""
        begun = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - begun

    def next_day(self, left: int) -> None:
        """Note that another day begins; this and `left` - 1 more are left."""

    def begin(self, name: str) -> None:
        """Note that work begins; nothing reports its end."""

    def advance(self, done: int, total: int) -> None:
        """Note how far the current stage is."""

    def ready(self) -> None:
        """Note that everything is committed and the lock let go; what follows is for search."""


# ---------------------------------------- the history of runs


class RunEnd(StrEnum):
    """How a run ended."""

    WELL = "well"
    PENDING = "pending"
    FAILED = "failed"
    UNDONE = "undone"
    COMMITTED = "committed"
    BY_HAND = "by-hand"


class PastRun(NamedTuple):
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

    def to_json(self) -> dict[str, object]:
        """Return the run as `--json` lists it; without a report, its fields are null."""
        model, evicted = self.reported("model"), self.reported("evicted")
        cost = ("extractor", "calls", "input_tokens", "output_tokens", "usd")
        return {
            "run": self.id,
            "date": self.when,
            "ended": self.ended,
            "why": self.why or None,
            "added": self.added,
            "changed": self.changed,
            "confirmed": self.reported("items", "confirmed"),
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
    for ident, report in reversed(reports.items()):
        run = _without_commit(ident, report, here=ident in here)
        if report.get("commit"):
            run = run._replace(ended=RunEnd.FAILED, why="its commit is not in the history of this branch")
        runs.append(run)
    return sorted(runs, key=_when, reverse=True)


def known_runs(root: Path) -> list[PastRun]:
    """Return the runs of a memory, newest first; if git cannot be read, the nights reported here."""
    try:
        return all_runs(root, Git(root))
    except CurateError:  # other checks report a broken repository
        return reported_nights(root)


def reported_nights(root: Path, most: int = KEPT) -> list[PastRun]:
    """Return the nights of which the newest reports tell, newest first; git is not read."""
    here = read_reports(root, most=most)
    reports = read_reports(root, TRAVELLING, most) | here
    runs = [_without_commit(*one, here=one[0] in here) for one in reports.items()]
    return sorted((run for run in runs if run.moment), key=_when, reverse=True)


def find_run(root: Path, git: Git, prefix: str) -> PastRun:
    """Return the run whose id or commit starts with a prefix; UnknownItem if none or more than one does."""
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


def _unless_forgotten(git: Git, before: Documents, after: Documents) -> list[ItemChange]:
    stones = read_tombstones(read_bytes(git.root, TOMBSTONES))
    forgotten = {stone.id for stone in stones if stone.reason is Reason.FORGOTTEN}
    return [one for one in item_changes(before, after) if one.id not in forgotten]


def _ending(report: Mapping[str, object]) -> tuple[RunEnd, str]:
    error, model, warnings = (report.get(key) for key in ("error", "model", "warnings"))
    unknown = "no reason was recorded"
    if isinstance(error, dict):
        return RunEnd.FAILED, str(error.get("sentence") or error.get("kind") or unknown)
    failure, budget = (model.get(key) if isinstance(model, dict) else "" for key in ("failure", "over_budget"))
    if report.get("exit_code") == EXPECTED:
        return RunEnd.PENDING, str(failure or (warnings[0] if isinstance(warnings, list) and warnings else unknown))
    return (RunEnd.PENDING, str(budget)) if budget else (RunEnd.WELL, "")


def _without_commit(ident: str, report: Mapping[str, object], *, here: bool) -> PastRun:
    return PastRun(ident, str(report.get("now") or ""), *_ending(report), 0, 0, None, report, here)


def _when(run: PastRun) -> datetime:
    return run.moment or datetime.min.replace(tzinfo=UTC)  # unreadable ones come last
