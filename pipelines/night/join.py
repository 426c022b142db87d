"""Join the commit of another machine: the branch moves to it, or to a merge of both, through the journal like a run."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pipelines.clock import day_of
from pipelines.errors import BrokenChangeSet, GitFault, check_format
from pipelines.night.caps import prune
from pipelines.night.reconcile import marked_again, reconcile
from pipelines.review.questions import with_questions
from pipelines.store.change_set import Change, check_documents
from pipelines.store.edits import baseline_at
from pipelines.store.files import read_bytes
from pipelines.store.generated import vetoed_by
from pipelines.store.git import Author, Git
from pipelines.store.journal import apply_changes, merge_changes
from pipelines.store.layout import SETTINGS, TOMBSTONES, is_tracked, kind_of
from pipelines.store.left_out import TOLD, left_out
from pipelines.store.merge import merge_trees
from pipelines.store.state import read_tombstones, render_tombstones
from pipelines.store.trees import ledger_after, ledger_in, read_documents_in
from pipelines.store.user_layout import FORMAT_FILE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pipelines.settings import Settings
    from pipelines.store.git import Entry

    Files = Mapping[str, bytes]
    Tree = Mapping[str, tuple[str, str]]


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
    was, here, other = (_contents(git, tree) for tree in trees)
    if base == head:
        _apply(git, here, other, theirs, "Follow another machine\n", author)
        return ()
    times = [found.seconds for commit in (head, theirs) if (found := git.read_commit(commit))]
    today = day_of(datetime.fromtimestamp(max(times), UTC), settings)  # the same on either machine
    incoming = with_edits_recorded(git, base, theirs, other, here, today)
    ours = with_edits_recorded(git, base, head, here, other, today)  # no run has read them if `sync` committed them
    merged = merge_trees(was, ours, incoming)
    documents = prune(merged.pages, settings, frozenset(), vetoed=_vetoes(was, ours, incoming)).documents
    commits = sorted(commit[:10] for commit in (head, theirs))
    why = f"was changed on two machines ({' and '.join(commits)})"
    documents = with_questions(documents, merged.disputed, why, commits, today)
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
    apply_changes(git.root, git, changes, message, author, onto)


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
        is_odd = any(
            part.casefold() in {"", ".", "..", ".git", ".curate"} or "\x00" in part for part in path.split("/")
        )
        if is_odd or not is_tracked(path):
            raise GitFault(f"The remote changes {path}, which is not one of the memory's files.", _BY_HAND)
        if path in theirs and theirs[path][0] not in _FILES:
            raise GitFault(f"The remote makes {path} a link.", _BY_HAND)


def _contents(git: Git, tree: Tree) -> dict[str, bytes]:
    """Return path → bytes of a tree's files, without links."""
    paths = [path for path, (mode, _) in tree.items() if mode in _FILES and is_tracked(path)]
    # A partial clone fetches what it lacks.
    return {path: git.blob(tree[path][1]) or git.run("cat-file", "blob", tree[path][1]) for path in paths}


def _vetoes(before: Files, ours: Files, theirs: Files) -> frozenset[str]:
    """Return the generated lines that either person deleted, without those that one put back since the trees parted."""
    sides = (vetoed_by(read_tombstones(one.get(TOMBSTONES)), read_documents_in(one)) for one in (before, ours, theirs))
    was, here, there = sides
    return (here & there) | (here | there) - was


# ---------------------------------------- edits
# People's edits that another machine pushed without a night there are understood before the join.
#
# The next run compares with the join, so it takes everything in it as known. Whoever may push to the remote that the
# user's settings name may write any line of the memory, an owner's too. Trusting such an edit less would protect
# nobody, and lose what a person wrote to the next cap.


def with_edits_recorded(git: Git, base: str, there: str, theirs: Files, other: Files, today: str) -> Files:
    """Return the files of a machine's commit as its next night would leave them, people's edits understood.

    A line that is an item by now on the other machine is that item.

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
