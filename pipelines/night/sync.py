"""Machines that share a memory: commit what is here, fetch, join item by item, push; and nights of a remote memory.

A night of a remote memory fetches it into a cached clone, curates it there, and publishes the result.

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
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple
from zoneinfo import ZoneInfo

from pipelines.clock import day_of
from pipelines.errors import BrokenChangeSet, CurateError, GitFault, NightOvertaken, check_format
from pipelines.night.caps import prune
from pipelines.night.fold_logs import clean_logs
from pipelines.night.reconcile import marked_again, reconcile
from pipelines.review.outcomes import with_questions
from pipelines.store.change_set import Change, check_documents
from pipelines.store.edits import baseline_at, commit_edits, find_edits
from pipelines.store.files import read_bytes, writing
from pipelines.store.generated import vetoed_by
from pipelines.store.git import Author, Entry, Git
from pipelines.store.git_remote import NotPushed, Refused, Remote, RemoteHeads, address_of, checked_address, list_heads
from pipelines.store.journal import apply_changes, merge_changes, recover
from pipelines.store.layout import PARTIAL, PRIVATE, REVIEW, SETTINGS, TOMBSTONES, day_of_log, is_tracked, kind_of
from pipelines.store.lock import log_lock, run_lock
from pipelines.store.merge import merge_trees
from pipelines.store.secrets.redact import load_redactor
from pipelines.store.secrets.scan import clean_copies
from pipelines.store.state import read_record, read_tombstones, render_tombstones, write_record
from pipelines.store.trees import MISSING, TOLD, ledger_after, ledger_in, left_out, read_documents_in
from pipelines.store.user_layout import FORMAT_FILE, memory_at
from pipelines.store.work_trees import remote_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from pipelines.settings import Settings
    from pipelines.store.merge_pages import Disputed

    Files = Mapping[str, bytes]
    Tree = Mapping[str, tuple[str, str]]


# Pull before a night, push after it. Neither can fail the night. Between nights, `sync` pushes logs and edits.


STATE = "push.json"
ROUNDS = 5
"""How often to retry a push that another machine overtook, before leaving it to the next night."""


@dataclass
class Sharing:
    """One memory's remote.

    Args:
        settings: the memory's settings.
        remote: the remote.
        now: the time the run acts at.
        notes: sentences for the person.
        state: how the last exchange ended: `pushed`, `behind`, `diverged` (this memory and the remote's do not meet
            until somebody does something about it), `failed`, or empty before one.
        has_sent, has_received: whether commits were pushed, and whether commits of the remote were joined.
    """

    settings: Settings
    remote: str
    now: datetime
    notes: list[str] = field(default_factory=list)
    state: str = ""
    has_sent: bool = False
    has_received: bool = False

    def pull(self, git: Git) -> None:
        """Pull the remote's commits; the person's edits are committed by then."""
        try:
            theirs = self.remote_for(git).fetch()
            if theirs and (head := git.head()) and not follows(git, theirs, head):
                self.take_in(git, theirs)
        except CurateError as fault:
            self._note_fault(git, fault)

    def push(self, git: Git, *, complete: bool = True) -> None:  # noqa: ARG002  for `Publishing`
        """Push the branch, joining it with the remote's new commits first. It never forces a push.

        Args:
            git: the memory's git.
            complete: whether the night left nothing pending.
        """
        try:
            remote = self.remote_for(git)
            for _ in range(ROUNDS):
                theirs = remote.fetch()
                if theirs and not follows(git, theirs, git.head() or ""):
                    self.take_in(git, theirs)
                head = git.head() or ""
                with contextlib.suppress(Refused):
                    if theirs != head:
                        remote.push(head)
                        self.has_sent = True
                    self._note("pushed", git)
                    return
            self._note("behind", git, "other machines kept pushing first.")
        except CurateError as fault:
            self._note_fault(git, fault)

    def take_in(self, git: Git, theirs: str) -> None:
        """Join a fetched commit; notes name the files that both machines changed in different ways."""
        try:
            asked = join_fetched(git, self.settings, theirs, self.now)
        except CurateError as fault:
            raise _Diverged(fault.sentence, fault.advice) from None
        self.has_received = True
        self.notes += [f"{path} was changed on two machines. Decide in {REVIEW}." for path in asked]

    def remote_for(self, git: Git) -> Remote:
        """Return the remote, with the memory's current branch."""
        git.check()
        branch = git.run("symbolic-ref", "--short", "HEAD").decode().strip()
        return Remote(git, address_of(git, self.remote), branch)

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


class _Diverged(CurateError):
    """The remote's commits cannot be joined with ours."""


def follows(git: Git, before: str, after: str) -> bool:
    """Whether `after` is, or comes after, the commit `before`."""
    return bool(before and after) and git.run("rev-list", "--max-count=1", before, f"^{after}") == b""


def sync(root: Path, sharing: Sharing) -> tuple[str, ...]:
    """Commit and push logs and people's edits, and fetch and join the nights of other machines. No log is read.

    Returns:
        A sentence for each file that holds a secret and stays here, or whose deletion waits for an answer; what went
        wrong remotely is in `sharing`.

    Raises:
        CurateError: a run is working on the memory, git is in a state that a commit would make worse, or the disk
            refused.
    """
    git, author = Git(root), Author(*sharing.settings.author, sharing.now)
    with log_lock(root, "sync.lock"), run_lock(root, "a sync with the remote"):  # sessions that end together take turns
        git.check()
        recover(git)
        edits = find_edits(git)
        if cleaned := _cleaned_logs(root, edits.held):
            apply_changes(git, cleaned, "Logs since the last run, without secrets\n", author)
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


# ---------------------------------------- joining the commit of another machine


def join_fetched(git: Git, settings: Settings, theirs: str, now: datetime) -> tuple[str, ...]:
    """Join a fetched commit, and return the files that Review.md asks about: both machines changed the same there.

    A person's uncommitted edits stay, merged with the new content.

    Raises:
        GitFault: the commit shares no history with ours, or changes files that are not the memory's.
        CurateError: the journal refused; nothing was written.
    """
    head, author = git.head() or "", Author(*settings.author, now)
    try:
        base = git.run("merge-base", head, theirs).decode().strip()
    except GitFault:
        base = ""
    if not base:
        raise GitFault(
            "The remote's memory shares no history with this one.",
            "To use that one, clone it into another folder. To keep both there, give this one a branch of its own: "
            "`git switch -c NAME`.",
        )
    if base == theirs:
        return ()
    check_format(git.show(theirs, FORMAT_FILE))
    trees = [git.tree(commit) for commit in (base, head, theirs)]
    _check_theirs(trees[0], trees[2])
    was, here, other = (  # without links; a partial clone fetches what it lacks
        {
            path: git.blob(blob) or git.run("cat-file", "blob", blob)
            for path, (mode, blob) in tree.items()
            if mode in _FILES and is_tracked(path)
        }
        for tree in trees
    )
    if base == head:
        _apply(git, here, other, theirs, "Follow another machine\n", author)
        return ()
    times = [found.seconds for commit in (head, theirs) if (found := git.read_commit(commit))]
    today = day_of(datetime.fromtimestamp(max(times), UTC), settings)  # the same on either machine
    incoming = with_edits_recorded(git, base, theirs, other, here, today)
    ours = with_edits_recorded(git, base, head, here, other, today)  # no run has read them if `sync` committed them
    merged = merge_trees(was, ours, incoming)
    vetoed = vetoed_by(read_tombstones(merged.files.get(TOMBSTONES)), merged.pages)
    documents = prune(merged.pages, settings, frozenset(), vetoed).documents

    def when(one: Disputed, number: int) -> str:
        commits = f"{base}..{(head, theirs)[one.sides[number]]}"
        of = (f"-G{one.item}", "--text", "--") if one.item else ("--", one.path)
        found = git.run("log", "-1", "--format=%ct", commits, *of) or git.run("log", "-1", "--format=%ct", commits)
        return f"of {datetime.fromtimestamp(int(found), ZoneInfo(settings.timezone)):%Y-%m-%d %H:%M}"

    documents = with_questions(documents, merged.disputed, "was changed on two machines", when, today)
    if faults := check_documents(merged.pages, documents, settings.caps.briefing):
        raise BrokenChangeSet(faults)
    after = merged.files | {path: document.text.encode() for path, document in documents.items()}
    known = {key for one in documents.values() for key in (*one.held, *one.told)}
    after |= ledger_after(after, documents.values(), ledger_in(after).keys() - known)
    message = f"Join what another machine did\n\nJoins: {theirs}\n"
    made = _commit(git, (head, theirs), after, message, author)
    _apply(git, here, after, made, message, author)
    return tuple(sorted({one.path for one in merged.disputed}))


def _commit(git: Git, parents: tuple[str, str], after: Mapping[str, bytes], message: str, author: Author) -> str:
    """Store the commit of a join; no branch points to it yet."""
    tree = git.tree(parents[0])
    entries: dict[str, Entry | None] = dict.fromkeys(set(filter(is_tracked, tree)) - set(after))
    for path, data in after.items():
        mode = tree[path][0] if path in tree else git.tree(parents[1]).get(path, ("100644", ""))[0]
        entries[path] = (mode, data)
    return git.store_commit(parents, entries, message, author)


def _apply(
    git: Git, here: Mapping[str, bytes], after: Mapping[str, bytes], onto: str, message: str, author: Author
) -> None:
    left = left_out(git.root, TOLD)  # git keeps them out of the disk
    paths = [path for path in sorted({*here, *after}) if here.get(path) != after.get(path) and path not in left]
    changes = [Change(path, here.get(path), after.get(path)) for path in paths]
    changes = merge_changes(changes, [read_bytes(git.root, path) for path in paths])
    apply_changes(git, changes, message, author, onto)


# ---------------------------------------- the files of a commit that may enter a memory


_BY_HAND = "Merge it by hand."
_FILES = frozenset({"100644", "100755"})


def _check_theirs(before: Tree, theirs: Tree) -> None:
    """Check that another machine's changes may be written here.

    Raises:
        GitFault: the commit holds no memory, or changes files that are not the memory's own.
    """
    if SETTINGS not in theirs:
        raise GitFault("The remote is not a memory: it has no curate.toml.")
    for path in sorted({*before, *theirs}):
        if before.get(path) == theirs.get(path):
            continue
        parts = path.casefold().split("/")
        is_odd = "\x00" in path or not {"", ".", "..", ".git", ".curate"}.isdisjoint(parts)
        if is_odd or not is_tracked(path):
            raise GitFault(f"The remote changes {path}, which is not one of the memory's files.", _BY_HAND)
        if path in theirs and theirs[path][0] not in _FILES:
            raise GitFault(f"The remote makes {path} a link.", _BY_HAND)


def with_edits_recorded(git: Git, base: str, there: str, theirs: Files, other: Files, today: str) -> Files:
    """Return the files of a machine's commit as its next night would leave them, people's edits understood.

    A line that is an item by now on the other machine is that item. The next run takes everything in the join as known.
    Whoever may push to the remote that the user's settings name may write any line of the memory, an owner's too:
    trusting such an edit less would protect nobody, and lose what a person wrote to the next cap.

    Args:
        git: the memory's git.
        base: the common ancestor.
        there: the machine's commit.
        theirs: its files.
        other: those of the other machine.
        today: the memory's day.
    """
    last = git.last_run(until=there) or base
    if last == there:
        return theirs
    documents = read_documents_in(theirs)
    unread = frozenset(path for path in theirs if kind_of(path)) - documents.keys()
    baseline = baseline_at(git, last, documents, unread)
    marked = marked_again(documents, (*baseline[0].values(), *read_documents_in(other).values()))
    found = reconcile(marked, baseline, today)
    new = [one for path, one in found.documents.items() if one is not documents.get(path)]
    changed = {one.path: one.text.encode() for one in new} | ledger_after(theirs, new)
    stones = read_tombstones(theirs.get(TOMBSTONES)) | set(found.stones)
    rows = {TOMBSTONES: render_tombstones(stones)} if found.stones else {}
    return {**theirs, **changed, **rows}


# ---------------------------------------- a night of a memory on a remote


_AT_ONCE = 32
_EXACT = "* -text -filter -ident !working-tree-encoding\n"
"""Attributes of a clone: whatever the memory's own say, its files are checked out byte for byte and run no filter."""


class Clone(NamedTuple):
    """A cached clone in `root` with the state of its remote; `was` is what that pointed to before the night."""

    root: Path
    address: str
    was: RemoteHeads


@contextlib.contextmanager
def fetched_clone(remote: str, workdir: Path) -> Iterator[Clone]:
    """Hold a memory's cached clone, in the state of its remote; create it if needed.

    What an earlier night left in it unpublished is dropped. Its `.curate/` stays: the index, and the replies of models.
    The remote is an address or a path, and all clones are in `workdir`.

    Raises:
        CurateError: another process works in the clone, the disk refused, or no memory can be reached there.
    """
    address = _address(remote)
    root = workdir.expanduser().absolute() / clone_name(address)
    with writing(root):
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
    with run_lock(root, "a night of a remote memory", "night.lock"):
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
            recover(git)  # or a later start would roll a killed run forward onto other files
        head = Remote(git, address, was.branch).fetch() or was.head
        names = [os.fsdecode(name) for name in git.run("ls-tree", "-z", "--name-only", head).split(b"\0")]
        if SETTINGS not in names:
            raise GitFault(f"The remote {shown_address(address)} is not a memory: it has no {SETTINGS}.")
        if odd := next((name for name in names if name.casefold() == PRIVATE), ""):
            raise GitFault(
                f"The remote {shown_address(address)} has {odd}/ under git, which must stay on each machine.",
                f"Remove it there: git rm -r --cached {odd}, then commit and push.",
            )
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


@dataclass(kw_only=True)
class Publishing(Sharing):
    """Publishes a night behind the fence. Unlike a `Sharing`, it raises what goes wrong.

    `clone` is what the night is curated in, and `published` the branch and `refs/curate/night` that were pushed.
    """

    clone: Clone
    published: RemoteHeads | None = None

    def pull(self, git: Git) -> None:
        """Do nothing: the clone has just been fetched."""

    def push(self, git: Git, *, complete: bool = True) -> None:
        """Publish the night, if it made a commit, or left nothing pending in those that others had pushed.

        Raises:
            NightOvertaken: another night ended first; nothing was written at the remote.
            Unreachable, NotPushed: the remote does not answer, or does not take the push; nothing was written there.
        """
        head, was = git.head() or "", self.clone.was
        if head == was.head and (not complete or head == was.night):
            return
        author = Author(*self.settings.author, self.now)
        night = head if complete else git.store_commit([head], {}, "This night left something pending\n", author)
        for _ in range(ROUNDS):
            head, remote = git.head() or "", self.remote_for(git)
            try:
                remote.push(head, night, was.night)
                break
            except GitFault as fault:
                # Whatever git says: two pushes at once fail in several ways, and an answer may be lost after a success.
                found = list_heads(self.clone.address).night
                if found == night:
                    break
                if found != was.night:
                    raise NightOvertaken from None
                if not isinstance(fault, Refused):
                    raise
                theirs = remote.fetch()
                if theirs is None or follows(git, theirs, head):
                    raise NotPushed(fault.sentence) from None
                self.take_in(git, theirs)  # the branch alone has moved
        else:
            raise NotPushed("Others kept pushing to the remote, so the night was not published.", "Run it again.")
        self.published = RemoteHeads(was.branch, git.head() or "", night)
