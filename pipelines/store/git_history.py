"""The runs in git's history: every commit with the trailer `Run-Id`, what it undid, and the documents it changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pipelines.errors import UnknownItem, did_you_mean
from pipelines.store.document import Document
from pipelines.store.trees import changed_ids, document_versions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pipelines.store.git import Git


BY_HAND: Final = "owner"
"""The `Extractor` trailer of a manual change: everything in that commit is the command's doing."""
BY_SESSION: Final = "session"
"""The same for an immediate change by an agent's session; it is not a manual edit."""
BY_PEOPLE: Final = "people"
"""The same for people's edits that a command understood: they are not the command's doing."""

_SHORTEST = 4
_TRAILERS = "Run-Id Undoes Items-Added Items-Changed Extractor".split()
_FORMAT = "%x1f".join(
    ["%H", "%P", "%aI", "%s", *(f"%(trailers:key={key},valueonly,separator=%x20)" for key in _TRAILERS)]
)


@dataclass(frozen=True, slots=True)
class RunCommit:
    """A run as its commit records it.

    Args:
        run: the run's id.
        commit: the commit's id.
        parent: the id of its first parent, or empty for a root commit.
        when: the time at which it acted, ISO 8601; a rebase keeps it.
        subject: the first line of the commit message.
        undoes: the id of the run that it undoes, or empty.
        item: the id of the only item whose change it undoes, or empty if it undoes the whole run.
        added: the number of items added, by its trailer.
        changed: the number of items changed, by its trailer.
        extractor: what read the logs.
    """

    run: str
    commit: str
    parent: str
    when: str
    subject: str
    undoes: str
    item: str
    added: int
    changed: int
    extractor: str

    @property
    def by_hand(self) -> bool:
        """Whether a person's command or an agent's session made it, rather than a nightly run."""
        return self.extractor in {BY_HAND, BY_SESSION}

    @property
    def is_night(self) -> bool:
        """Whether it read the logs; undos, and commits that commands make on their way, did not."""
        return not self.undoes and not self.by_hand and self.extractor != BY_PEOPLE


def run_commits(git: Git, *, touching: str = "") -> list[RunCommit]:
    """Return the memory's runs, newest first. A cherry-picked run counts once, by its newest commit.

    Args:
        git: the memory's git.
        touching: an item's id; return only runs that changed a line containing it.
    """
    if (head := git.head()) is None:
        return []
    asked = ["log", "-z", f"--format={_FORMAT}", "--grep=^Run-Id: "]
    asked += [f"-G{touching}"] if touching else []
    asked += [head, "--"]
    found = dict[str, RunCommit]()
    for row in git.run(*asked).decode(errors="replace").split("\0"):
        fields = [field.strip() for field in row.split("\x1f")]
        if len(fields) != 4 + len(_TRAILERS) or not fields[4]:
            continue
        commit, parents, when, subject, run, undoes, *counts, extractor = fields
        (run, *_), parent, (taken, _, item) = run.split(" "), parents.partition(" ")[0], undoes.partition(" ")
        added, changed = (int(count) if count.isdecimal() else 0 for count in counts)
        one = RunCommit(run, commit, parent, when, subject, taken, item, added, changed, extractor)
        found.setdefault(run, one)
    return list(found.values())


def named_run(prefix: str, runs: Iterable[tuple[str, str]]) -> str:
    """Return the id of the only run whose id or commit starts with `prefix`.

    Args:
        prefix: the start of a run's id, or at least four digits of a commit id.
        runs: id and commit of each run; the commit is empty if there is none.

    Raises:
        UnknownItem: no run matches, or more than one.
    """
    found, known = [], list(runs)
    for run, commit in known:
        if prefix in {run, commit}:
            return run
        if run.startswith(prefix) or (len(prefix) >= _SHORTEST and commit.startswith(prefix)):
            found.append(run)
    if len(found) != 1:
        raise UnknownItem(prefix, found, did_you_mean(prefix, (run for run, _ in known)), "run")
    return found[0]


def undone_by(commits: Sequence[RunCommit]) -> dict[str, str]:
    """Return run id → id of the undo that undid it as a whole and was not undone itself.

    Args:
        commits: the runs, newest first.
    """
    found = dict[str, str]()
    for one in commits:
        if one.undoes and not one.item and one.run not in found:
            found.setdefault(one.undoes, one.run)
    return found


def changed_documents(git: Git, run: RunCommit) -> tuple[dict[str, Document], dict[str, Document]]:
    """Return the documents that a run changed, by path: before and after it."""
    before, after = dict[str, Document](), dict[str, Document]()
    for _, was, now in document_versions(git, "", "--root", "--no-walk", run.commit):
        before |= {was.path: was} if was.text else {}
        after |= {now.path: now} if now.text else {}
    return before, after


def unknown_ids(git: Git, commit: str, idents: frozenset[str]) -> frozenset[str]:
    """Return those of some ids that no document had in a commit or before it."""
    if not idents:
        return idents
    return idents.difference(*changed_ids(git, f"-G{'|'.join(sorted(idents))}", commit))
