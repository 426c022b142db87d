"""Machines that share a memory: commit what is here, fetch, join item by item, push."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeVar

from pipelines.errors import CurateError
from pipelines.night.fold_logs import clean_logs
from pipelines.night.join import join_fetched
from pipelines.night.run_history import note_undone
from pipelines.store.change_set import Change
from pipelines.store.edits import commit_edits, find_edits
from pipelines.store.files import read_bytes
from pipelines.store.git import Author, Git
from pipelines.store.git_remote import Refused, Remote, address_of
from pipelines.store.journal import apply_changes, recover
from pipelines.store.layout import PARTIAL, REVIEW, day_of_log
from pipelines.store.left_out import MISSING, left_out
from pipelines.store.lock import log_lock, run_lock
from pipelines.store.secrets.redact import load_redactor
from pipelines.store.secrets.scan import clean_copies
from pipelines.store.state import read_record, write_record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime
    from pathlib import Path

    from pipelines.settings import Settings
    from pipelines.user_settings import PushTable


# ---------------------------------------- sharing
# Pull before a night, push after it. Neither can fail the night. Between nights, `sync` pushes logs and edits.


T = TypeVar("T")
STATE: Final = "push.json"
ROUNDS: Final = 5
"""How often to retry a push that another machine overtook, before leaving it to the next night."""


@dataclass
class Sharing:
    """One memory's remote.

    Args:
        settings: the memory's settings.
        push_settings: the user's settings: the timeout and number of tries.
        remote: the remote.
        now: the time the run acts at.
        sleep: waits some seconds between two tries.
        notes: sentences for the person.
        state: how the last exchange ended: `pushed`, `behind`, `diverged`, `failed`, or empty before one.
        has_sent: whether commits were pushed.
        has_received: whether commits of the remote were joined.
    """

    settings: Settings
    push_settings: PushTable
    remote: str
    now: datetime
    sleep: Callable[[float], None] = time.sleep
    notes: list[str] = field(default_factory=list)
    state: str = ""
    has_sent: bool = False
    has_received: bool = False

    @property
    def needs_person(self) -> bool:
        """Whether this memory and the remote's do not meet until somebody does something about it."""
        return self.state == "diverged"

    def pull(self, git: Git) -> None:
        """Pull the remote's commits; the person's edits are committed by then."""
        try:
            theirs = self.tried(self.remote_for(git).fetch)
            if theirs and (head := git.head()) and not follows(git, theirs, head):
                self.take_in(git, theirs)
        except CurateError as fault:
            self._note_fault(git, fault)

    def push(self, git: Git, *, complete: bool = True) -> None:  # noqa: ARG002  for `night.remote_night`
        """Push the branch, joining it with the remote's new commits first. It never forces a push.

        Args:
            git: the memory's git.
            complete: whether the night left nothing pending.
        """
        try:
            remote = self.remote_for(git)
            if any(self._pushed(git, remote) for _ in range(ROUNDS)):
                self._note("pushed", git)
            else:
                self._note("behind", git, "other machines kept pushing first.")
        except CurateError as fault:
            self._note_fault(git, fault)

    def _pushed(self, git: Git, remote: Remote) -> bool:
        theirs = self.tried(remote.fetch)
        if theirs and not follows(git, theirs, git.head() or ""):
            self.take_in(git, theirs)
        head = git.head() or ""
        try:
            if theirs != head:
                self.tried(lambda: remote.push(head))
                self.has_sent = True
        except Refused:
            return False
        return True

    def take_in(self, git: Git, theirs: str) -> None:
        """Join a fetched commit; notes name the files that both machines changed in different ways."""
        try:
            asked = join_fetched(git, self.settings, theirs, self.now)
        except CurateError as fault:
            raise _Diverged(fault.sentence, fault.advice) from None
        self.has_received = True
        note_undone(git.root)
        self.notes += [f"{path} was changed on two machines. Decide in {REVIEW}." for path in asked]

    def remote_for(self, git: Git) -> Remote:
        """Return the remote, with the memory's current branch."""
        return remote_named(git, self.remote, self.push_settings)

    def tried(self, action: Callable[[], T]) -> T:
        """Run a remote operation, retrying after a while if it fails."""
        return with_retries(action, self.push_settings.tries, self.sleep)

    def _note_fault(self, git: Git, fault: CurateError) -> None:
        self._note("diverged" if isinstance(fault, _Diverged) else "failed", git, fault.sentence, fault.advice.strip())

    def _note(self, state: str, git: Git, reason: str = "", advice: str = "") -> None:
        """Record the state in `.curate/push.json`, and note a failure for the person."""
        self.state = state
        advice = advice or "The next run or sync tries again."
        note = f"Not pushed to {self.remote}: {reason} {advice}"
        if reason and note not in self.notes:  # a failed fetch and push mostly have the same reason
            self.notes.append(note)
        at = self.now.isoformat(timespec="seconds")
        row: dict[str, object] = {"remote": self.remote, "state": state, "at": at, "reason": reason}
        before = read_record(git.root, STATE)
        known = before.get("pushed") if before.get("remote") == self.remote else None
        row["pushed"] = at if state == "pushed" else known
        write_record(git.root, STATE, row)


def remote_named(git: Git, name: str, push_settings: PushTable) -> Remote:
    """Return a remote by its name or address, with the memory's current branch."""
    git.check()
    branch = git.run("symbolic-ref", "--short", "HEAD").decode().strip()
    return Remote(git, address_of(git, name), branch, push_settings.timeout_seconds)


class _Diverged(CurateError):
    """The remote's commits cannot be joined with ours."""


def with_retries(action: Callable[[], T], tries: int, sleep: Callable[[float], None] = time.sleep) -> T:
    """Run a remote operation, at most `tries` times with growing pauses.

    Raises:
        Refused: the remote rejects a push, which no repetition changes.
        CurateError: the last try failed.
    """
    for attempt in range(1, tries):
        try:
            return action()
        except Refused:
            raise
        except CurateError:
            sleep(4.0**attempt)
    return action()


def follows(git: Git, before: str, after: str) -> bool:
    """Whether `after` is, or comes after, the commit `before`."""
    return bool(before and after) and git.run("rev-list", "--max-count=1", before, f"^{after}") == b""


def sync(root: Path, sharing: Sharing) -> tuple[str, ...]:
    """Commit and push logs and people's edits, and fetch and join the nights of other machines. No log is read.

    Returns:
        A sentence for each file that holds a secret and stays here, or whose deletion waits for an answer; what went
        wrong remotely is in `sharing`.

    Raises:
        LockHeld: a run is working on the memory.
        GitFault: git is in a state that a commit would make worse.
        NotWritable: the disk refused.
    """
    git, author = Git(root), Author(*sharing.settings.author, sharing.now)
    with log_lock(root, "sync.lock"), run_lock(root, "a sync with the remote"):  # sessions that end together take turns
        git.check()
        recover(root, git)
        edits = find_edits(git)
        if cleaned := _cleaned_logs(root, edits.held):
            apply_changes(root, git, cleaned, "Logs since the last run, without secrets\n", author)
            clean_copies(root, load_redactor(root))
            edits = find_edits(git)
        commit_edits(git, "Logs and edits since the last run\n", author, edits)
        sharing.push(git)
        why = "is gone with many items, so its deletion was not committed; the next run asks about it"
        gone = tuple(f"{path} {why}." for path in left_out(root, MISSING))
        return *edits.sentences(), *gone


def _cleaned_logs(root: Path, paths: Iterable[str]) -> tuple[Change, ...]:
    """Return the changes that remove secrets and private text from those of the files that are logs, as a run would."""
    logs = {path for path in paths if path.startswith(f"{PARTIAL}/") or day_of_log(path)}
    with contextlib.suppress(UnicodeDecodeError):  # a run names such a log
        before = {path: data for path in logs if (data := read_bytes(root, path)) is not None}
        after = clean_logs(before, {}, {}, load_redactor(root))[0]
        return tuple(Change(path, before[path], after[path]) for path in before if before[path] != after[path])
    return ()
