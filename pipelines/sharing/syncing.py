"""Before a night, what other machines pushed is taken in; after it, ours is pushed. Neither makes a night fail."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeVar

from pipelines.errors import CurateError
from pipelines.sharing.taking import take_in
from pipelines.store.files import replace_synced, writing
from pipelines.store.git_remote import Refused, Remote, address_of
from pipelines.store.lock import private
from pipelines.store.state import read_record

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from pathlib import Path

    from pipelines.settings import Settings
    from pipelines.store.git import Git
    from pipelines.user_settings import PushTable

_T = TypeVar("_T")
STATE: Final = "push.json"
_ROUNDS: Final = 5
"""How often another machine may be first before we leave it to the next night."""


@dataclass
class Sharing:
    """One memory's remote.

    Args:
        settings: the memory's settings.
        remote: as the user's settings name it.
        push_settings: how long and how often it is tried.
        now: the moment at which the run acts.
        sleep: how to wait between two tries, in seconds.
        notes: what is to be said of it, a sentence each.
    """

    settings: Settings
    remote: str
    push_settings: PushTable
    now: datetime
    sleep: Callable[[float], None] = time.sleep
    notes: list[str] = field(default_factory=list)

    def pull(self, git: Git) -> None:
        """Take in what the remote has, where that leaves no edit of a person's unseen; else it waits until `push`."""
        try:
            there = self._tried(self._remote(git).fetch)
            head, last = git.head(), git.last_run()
            if there and head and (_follows(git, head, there) or head == last):
                self._take_in(git, there)
        except CurateError as fault:
            self._note("failed", git, fault.sentence)

    def push(self, git: Git) -> None:
        """Push the branch. Where the remote went on, its commits are joined with ours first; nothing is ever forced."""
        try:
            remote = self._remote(git)
            for _ in range(_ROUNDS):
                if self._pushed(git, remote):
                    self._note("pushed", git)
                    return
            self._note("behind", git, "Other machines were always first.")
        except CurateError as fault:
            self._note("diverged" if isinstance(fault, _Diverged) else "failed", git, fault.sentence)

    def _pushed(self, git: Git, remote: Remote) -> bool:
        there = self._tried(remote.fetch)
        if there and not _follows(git, there, git.head() or ""):
            try:
                self._take_in(git, there)
            except CurateError as fault:
                raise _Diverged(fault.sentence, fault.advice) from None
        head = git.head() or ""
        if there == head:
            return True
        try:
            self._tried(lambda: remote.push(head))
        except Refused:
            return False
        return True

    def _take_in(self, git: Git, there: str) -> None:
        taken = take_in(git, self.settings, there, self.now)
        self.notes += [f"{path} was changed on two machines; the other one's is in git's history." for path in taken]

    def _remote(self, git: Git) -> Remote:
        git.check()
        branch = git.run("symbolic-ref", "--short", "HEAD").decode().strip()
        return Remote(git, address_of(git, self.remote), branch, self.push_settings.timeout_seconds)

    def _tried(self, action: Callable[[], _T]) -> _T:
        """Do something with the remote, again after a while where it fails."""
        for attempt in range(1, self.push_settings.tries):
            try:
                return action()
            except Refused:
                raise
            except CurateError:
                self.sleep(4.0**attempt)
        return action()

    def _note(self, state: str, git: Git, reason: str = "") -> None:
        """Leave word of how it stands in `.curate/push.json`, and let the person know of what is not well."""
        told = f"Not pushed to {self.remote}: {reason} The next night tries again."
        if reason and told not in self.notes:  # what kept it from fetching mostly keeps it from pushing, too
            self.notes.append(told)
        at = self.now.isoformat(timespec="seconds")
        row: dict[str, object] = {"remote": self.remote, "state": state, "at": at, "reason": reason}
        row |= self._standing(state, at, read_record(git.root, STATE))
        with private(git.root) as folder, writing(folder.called(STATE)):
            replace_synced(folder, STATE, json.dumps(row, ensure_ascii=False).encode())

    def _standing(self, state: str, at: str, before: Mapping[str, object]) -> dict[str, object]:
        """Return how many nights in a row did not reach the remote, and when one last did."""
        if before.get("remote") != self.remote:
            before = {}
        if state == "pushed":
            return {"nights": 0, "pushed": at}
        nights = before.get("nights")
        told = nights if isinstance(nights, int) else 0
        is_same = before.get("at") == at and before.get("state") != "pushed"  # what was fetched for, and is pushed now
        return {"nights": told if is_same else told + 1, "pushed": before.get("pushed")}


class _Diverged(CurateError):
    """Raised where the remote's commits cannot be joined with ours."""


def sharing(settings: Settings, push: PushTable, root: Path, now: datetime) -> Sharing:
    """Return the sharing of the memory at `root`, which the user's settings give a remote."""
    return Sharing(settings, push.remote_of(root), push, now)


def _follows(git: Git, before: str, after: str) -> bool:
    """Whether `after` is, or comes after, the commit `before`."""
    return bool(before and after) and git.run("rev-list", "--max-count=1", before, f"^{after}") == b""
