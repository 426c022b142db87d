"""Two machines that share a memory: fetch, join item by item, push."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeVar

from pipelines.clock import day_of
from pipelines.errors import BrokenChangeSet, CurateError, GitFault
from pipelines.night.caps import prune
from pipelines.night.sync_merge import join, with_edits_understood
from pipelines.store.change_set import Change, check_documents
from pipelines.store.files import read_bytes
from pipelines.store.git import Author
from pipelines.store.git_remote import Refused, Remote, address_of
from pipelines.store.journal import apply_changes
from pipelines.store.layout import SETTINGS
from pipelines.store.merge import merge
from pipelines.store.state import read_record, write_record

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from pipelines.settings import Settings
    from pipelines.store.git import Entry, Git
    from pipelines.user_settings import PushTable

    Tree = Mapping[str, tuple[str, str]]


# ---------------------------------------- before a night
# what other machines pushed is taken in; after it, ours is pushed. Neither makes a night fail.


_T = TypeVar("_T")
STATE: Final = "push.json"
_ROUNDS: Final = 5
"""How often another machine may be first before we leave it to the next night."""


@dataclass
class Sharing:
    """One memory's remote.

    Args:
        settings: the memory's settings.
        push_settings: the user's own settings: how long and how often the remote is tried.
        remote: the remote.
        now: the moment at which the run acts.
        sleep: how to wait between two tries, in seconds.
        notes: sentences for the person.
    """

    settings: Settings
    push_settings: PushTable
    remote: str
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
            if any(self._pushed(git, remote) for _ in range(_ROUNDS)):
                self._note("pushed", git)
            else:
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
        try:
            if there != head:
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
        note = f"Not pushed to {self.remote}: {reason} The next night tries again."
        if reason and note not in self.notes:  # what kept it from fetching mostly keeps it from pushing, too
            self.notes.append(note)
        at = self.now.isoformat(timespec="seconds")
        row: dict[str, object] = {"remote": self.remote, "state": state, "at": at, "reason": reason}
        before = read_record(git.root, STATE)
        if before.get("remote") != self.remote:
            before = {}
        found = before.get("nights")
        nights = found if isinstance(found, int) else 0  # in a row that did not reach the remote
        is_same = before.get("at") == at and before.get("state") != "pushed"  # what was fetched for, and is pushed now
        row |= {"nights": nights if is_same else nights + 1, "pushed": before.get("pushed")}
        write_record(git.root, STATE, row | ({"nights": 0, "pushed": at} if state == "pushed" else {}))


class _Diverged(CurateError):
    """Raised where the remote's commits cannot be joined with ours."""


def _follows(git: Git, before: str, after: str) -> bool:
    """Whether `after` is, or comes after, the commit `before`."""
    return bool(before and after) and git.run("rev-list", "--max-count=1", before, f"^{after}") == b""


# ---------------------------------------- taking in a commit of another machine
# the branch follows it, or a join of both, through the journal like a run.


def take_in(git: Git, settings: Settings, there: str, now: datetime) -> tuple[str, ...]:
    """Take in a commit that was fetched, and return the files of which only one machine's version could stand.

    What a person has in the work tree and has not committed stays, merged with what comes in.

    Raises:
        GitFault: the commit has no beginning in common with ours, or changes what is none of the memory's files.
        CurateError: the journal refuses; nothing was written.
    """
    head, author = git.head() or "", Author(*settings.author, now)
    try:
        base = git.run("merge-base", head, there).decode().strip()
    except GitFault:
        base = ""
    if not base:
        raise GitFault("The remote's memory has another beginning than this one.", "Clone that one instead.")
    if base == there:
        return ()
    trees = [git.tree(commit) for commit in (base, head, there)]
    _check_theirs(git, trees[0], trees[2])
    was, here, other = contents(git, trees)
    if base == head:
        _apply(git, here, other, there, "Follow another machine\n", author)
        return ()
    theirs = with_edits_understood(git, base, there, other, day_of(now, settings))
    joined = join(was, here, theirs)
    documents = prune(joined.documents, settings, frozenset()).documents
    if faults := check_documents(joined.documents, documents, settings.caps.briefing):
        raise BrokenChangeSet(faults)
    files: dict[str, bytes | None] = {**here, **joined.files}
    after = {path: data for path, data in files.items() if data is not None and path not in documents}
    after = {path: data for path, data in after.items() if path in other or path not in was or path in joined.files}
    after |= {path: document.text.encode() for path, document in documents.items()}
    message = f"Join what another machine did\n\nJoins: {there}\n"
    made = _commit(git, (head, there), after, message, author)
    _apply(git, here, after, made, message, author)
    return joined.clashed


def _commit(git: Git, parents: tuple[str, str], after: Mapping[str, bytes], message: str, author: Author) -> str:
    """Store the commit of a join, which no branch names yet."""
    tree = git.tree(parents[0])
    entries: dict[str, Entry | None] = dict.fromkeys(set(filter(git.layout.is_tracked, tree)) - set(after))
    for path, data in after.items():
        mode = tree[path][0] if path in tree else git.tree(parents[1]).get(path, ("100644", ""))[0]
        entries[path] = (mode, data)
    return git.store_commit(parents, entries, message, author)


def _apply(
    git: Git, here: Mapping[str, bytes], after: Mapping[str, bytes], onto: str, message: str, author: Author
) -> None:
    changes = []
    for path in sorted({*here, *after}):
        was, new = here.get(path), after.get(path)
        if was == new:
            continue
        current = read_bytes(git.root, path)
        changes.append(Change(path, current, merge(path, was, new, current)))
    apply_changes(git.root, git, changes, message, author, onto)


# ---------------------------------------- the files of a commit
# as far as they may be brought into a memory.


_BY_HAND: Final = "Merge it by hand."
_FILES: Final = frozenset({"100644", "100755"})
MOST_BYTES: Final = 1024 * 1024 * 1024
"""What the files that are joined may come to, those of both machines and of what both had before."""


def _check_theirs(git: Git, before: Tree, theirs: Tree) -> None:
    """Make sure that what another machine changed may be written here.

    Raises:
        GitFault: it is no memory, or it changes what is none of the memory's own files.
    """
    if SETTINGS not in theirs:
        raise GitFault("The remote holds no memory: it has no curate.toml.")
    for path in sorted({*before, *theirs}):
        if before.get(path) == theirs.get(path):
            continue
        is_odd = any(
            part.casefold() in {"", ".", "..", ".git", ".curate"} or "\x00" in part for part in path.split("/")
        )
        if is_odd or not git.layout.is_tracked(path):
            raise GitFault(f"The remote changes {path}, which is none of the memory's own files.", _BY_HAND)
        if path in theirs and theirs[path][0] not in _FILES:
            raise GitFault(f"The remote makes {path} a link.", _BY_HAND)


def contents(git: Git, trees: Sequence[Tree]) -> list[dict[str, bytes]]:
    """Return path → bytes of each tree; what is the same in several is read once, links are left out.

    Raises:
        GitFault: they are more than can be held.
    """
    known: dict[str, bytes] = {}
    left = MOST_BYTES

    def read(blob: str) -> bytes:
        nonlocal left
        if blob not in known:
            known[blob] = git.run("cat-file", "blob", blob)
            left -= len(known[blob])
        if left < 0:
            raise GitFault(f"What is to be joined is more than the {MOST_BYTES:,} bytes that are read.", _BY_HAND)
        return known[blob]

    return [
        {path: read(blob) for path, (mode, blob) in tree.items() if mode in _FILES and git.layout.is_tracked(path)}
        for tree in trees
    ]
