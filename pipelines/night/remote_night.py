"""A night of a memory on a remote: fetch it into a cached clone, curate it there, publish the result.

**The fence.** `refs/curate/night` at the remote is read before a night begins. The night ends with one atomic push of
the branch and that ref, which is refused if the ref has moved: another night ended first. So of two workers on one
memory, on any machines and whatever started them, only one publishes. Logs and people's edits that were pushed
meanwhile move the branch alone; they are joined and pushed again.

The ref equals the branch only if the memory has nothing to read, so `git ls-remote` shows which memories need a night.
It names the night's own commit, without what was joined, or a commit beside the branch if something stayed pending.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipelines.errors import CurateError, GitFault, NightOvertaken
from pipelines.night.sync import ROUNDS, Sharing, follows
from pipelines.store.files import writing
from pipelines.store.git import Author, Git
from pipelines.store.git_remote import NotPushed, Refused, Remote, RemoteHeads, checked_address, list_heads
from pipelines.store.journal import recover
from pipelines.store.layout import PRIVATE, SETTINGS
from pipelines.store.lock import run_lock
from pipelines.store.user_layout import memory_at
from pipelines.store.work_trees import remote_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


_LOCK = "night.lock"
_AT_ONCE = 32
_EXACT = "* -text -filter -ident !working-tree-encoding\n"
"""Attributes of a clone: whatever the memory's own say, its files are checked out byte for byte and run no filter."""


@dataclass(frozen=True, slots=True)
class Clone:
    """A cached clone in the state of its remote.

    Args:
        root: its folder.
        address: the remote's address.
        was: what the remote pointed to before the night.
    """

    root: Path
    address: str
    was: RemoteHeads


@contextlib.contextmanager
def fetched_clone(remote: str, workdir: Path) -> Iterator[Clone]:
    """Hold a memory's cached clone, in the state of its remote; create it if needed.

    What an earlier night left in it unpublished is dropped. Its `.curate/` stays: the index, and the replies of models.

    Args:
        remote: the address of the memory's repository, or a path.
        workdir: the folder of all clones.

    Raises:
        LockHeld: another process on this machine works in the clone.
        GitFault: the remote cannot be reached, is empty, or is not a memory.
        NotWritable: the disk refused.
    """
    address = _address(remote)
    root = workdir.expanduser().absolute() / clone_name(address)
    with writing(root):
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
    with run_lock(root, "a night of a remote memory", _LOCK):
        # First the ref, then the branch: a night that ends in between is noticed at the push.
        was = list_heads(address)
        if not was.branch:
            raise GitFault(
                f"The remote {shown_address(address)} has no commit or no default branch.",
                "Push a memory to it: `curate init DIR`, then `git push`.",
            )
        git = Git(root)
        if not (root / ".git" / "HEAD").exists():
            git.init()
        with writing(root / ".git"):
            (root / ".git" / "info").mkdir(exist_ok=True)
            (root / ".git" / "info" / "attributes").write_text(_EXACT)
        if git.head():
            recover(root, git)  # or a later start would roll a killed run forward onto other files
        head = Remote(git, address, was.branch).fetch() or was.head
        _check_memory(git, head, address)
        git.run("symbolic-ref", "HEAD", f"refs/heads/{was.branch}")
        git.run("reset", "--quiet", "--hard", head)
        git.run("clean", "-ffdxq", "-e", f"/{PRIVATE}")
        memory_at(root)  # refuses what a later version wrote
        yield Clone(root, address, RemoteHeads(was.branch, head, was.night))


def heads_of(remotes: Sequence[str]) -> Iterator[tuple[str, RemoteHeads | CurateError]]:
    """Yield each remote, an address or a path, in order, with what it points to, or why it cannot be told."""

    def look(remote: str) -> RemoteHeads | CurateError:
        try:
            return list_heads(_address(remote))
        except CurateError as fault:
            return fault

    with ThreadPoolExecutor(_AT_ONCE) as threads:
        yield from zip(remotes, threads.map(look, remotes), strict=True)


def _address(remote: str) -> str:
    return checked_address(os.path.abspath(remote) if os.path.exists(remote) else remote)  # noqa: PTH100, PTH110  URLs, too


def clone_name(address: str) -> str:
    """Return the name of a clone's folder: the remote's, and a hash that tells equal names apart."""
    name = re.sub(r"[^\w.-]+", "-", remote_in(address)).strip("-.")[-60:]
    return f"{name}-{hashlib.sha256(address.encode(errors='surrogateescape')).hexdigest()[:12]}"


def shown_address(address: str) -> str:
    """Return an address without the name and password that it may contain."""
    return re.sub(r"(?<=://)[^/@\s]+@", "", address)


def _check_memory(git: Git, commit: str, address: str) -> None:
    """Check that a fetched commit is a memory, and that its files can be checked out.

    Raises:
        GitFault: it is not, or it has files where only this machine's may be.
    """
    names = [os.fsdecode(name) for name in git.run("ls-tree", "-z", "--name-only", commit).split(b"\0")]
    if SETTINGS not in names:
        raise GitFault(f"The remote {shown_address(address)} is not a memory: it has no {SETTINGS}.")
    if odd := next((name for name in names if name.casefold() == PRIVATE), ""):
        raise GitFault(
            f"The remote {shown_address(address)} has {odd}/ under git, which must stay on each machine.",
            f"Remove it there: git rm -r --cached {odd}, then commit and push.",
        )


@dataclass
class Publishing(Sharing):
    """Publishes a night behind the fence. Unlike a `Sharing`, it raises what goes wrong.

    Args:
        clone: the clone that the night is curated in.
        published: the branch and `refs/curate/night` that were pushed, or None.
    """

    clone: Clone | None = None
    published: RemoteHeads | None = None

    def pull(self, git: Git) -> None:
        """Do nothing: the clone has just been fetched."""

    def push(self, git: Git, *, complete: bool = True) -> None:
        """Publish the night, if it made a commit, or left nothing pending in those that others had pushed.

        Raises:
            NightOvertaken: another night ended first; nothing was written at the remote.
            Unreachable, NotPushed: the remote does not answer, or does not take the push; nothing was written there.
        """
        if self.clone is None:
            raise AssertionError  # a night without a clone has a `Sharing`
        head, was = git.head() or "", self.clone.was
        if head == was.head and (not complete or head == was.night):
            return
        author = Author(*self.settings.author, self.now)
        night = head if complete else git.store_commit([head], {}, "This night left something pending\n", author)
        if not any(self._published(git, self.clone, night) for _ in range(ROUNDS)):
            raise NotPushed("Others kept pushing to the remote, so the night was not published.", "Run it again.")
        self.published = RemoteHeads(was.branch, git.head() or "", night)

    def _published(self, git: Git, clone: Clone, night: str) -> bool:
        """Push once. If the branch alone has moved at the remote, join it and return False."""
        head, remote = git.head() or "", self.remote_for(git)
        try:
            remote.publish(head, night, clone.was.night)
        except GitFault as fault:
            # Whatever git says: two pushes at once fail in several ways, and an answer may be lost after a success.
            found = list_heads(clone.address).night
            if found == night:
                return True
            if found != clone.was.night:
                raise NightOvertaken from None
            if not isinstance(fault, Refused):
                raise
            theirs = remote.fetch()
            if theirs is None or follows(git, theirs, head):
                raise NotPushed(fault.sentence) from None
            self.take_in(git, theirs)
            return False
        return True
