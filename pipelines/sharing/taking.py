"""Taking in a commit of another machine: the branch follows it, or a join of both, through the journal like a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.clock import day_of
from pipelines.errors import BrokenChangeSet, GitFault
from pipelines.sharing.edits import with_edits_understood
from pipelines.sharing.joining import join
from pipelines.sharing.trees import check_theirs, contents
from pipelines.stages.prune import prune
from pipelines.store.change_set import Change, check_documents
from pipelines.store.files import read_bytes
from pipelines.store.git import Author
from pipelines.store.journal import Signature, apply_changes
from pipelines.store.merge import merge
from pipelines.store.template import only_tracked

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from pipelines.settings import Settings
    from pipelines.store.git import Git


def take_in(git: Git, settings: Settings, there: str, now: datetime) -> tuple[str, ...]:
    """Take in a commit that was fetched, and return the files of which only one machine's version could stand.

    What a person has in the work tree and has not committed stays, merged with what comes in.

    Raises:
        GitFault: the commit has no beginning in common with ours, or changes what is none of the memory's files.
        CurateError: the journal refuses; nothing was written.
    """
    head = git.head() or ""
    base = git.run("merge-base", head, there).decode().strip() if _are_related(git, head, there) else ""
    if not base:
        raise GitFault("The remote's memory has another beginning than this one.", "Clone that one instead.")
    if base == there:
        return ()
    check_theirs(git, git.tree(base), git.tree(there))
    was, here, other = contents(git, [git.tree(base), git.tree(head), git.tree(there)])
    if base == head:
        _apply(git, here, other, there, Signature("Follow another machine\n", *settings.author, now))
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
    made = _commit(git, (head, there), after, message, Author(*settings.author, now))
    _apply(git, here, after, made, Signature(message, *settings.author, now))
    return joined.clashed


def _are_related(git: Git, head: str, there: str) -> bool:
    try:
        git.run("merge-base", head, there)
    except GitFault:
        return False
    return True


def _commit(git: Git, parents: tuple[str, str], after: Mapping[str, bytes], message: str, author: Author) -> str:
    """Store the commit of a join, which no branch names yet."""
    tree = git.tree(parents[0])
    blobs = {path: git.run("hash-object", "-w", "--stdin", "--no-filters", data=data) for path, data in after.items()}
    entries: dict[str, tuple[str, str] | None] = dict.fromkeys(set(only_tracked(git.root, tree)) - set(after))
    for path, blob in blobs.items():
        mode = tree[path][0] if path in tree else git.tree(parents[1]).get(path, ("100644", ""))[0]
        entries[path] = (mode, blob.decode().strip())
    return git.commit_tree(git.write_tree(parents[0], entries), parents, message, author)


def _apply(git: Git, here: Mapping[str, bytes], after: Mapping[str, bytes], onto: str, signature: Signature) -> None:
    changes = []
    for path in sorted({*here, *after}):
        was, new = here.get(path), after.get(path)
        if was == new:
            continue
        current = read_bytes(git.root, path)
        changes.append(Change(path, current, merge(path, was, new, current)))
    apply_changes(git.root, git, changes, signature, onto)
