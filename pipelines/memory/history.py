"""The runs that git knows: every commit with the trailer `Run-Id`, what it took back, and the documents it changed."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pipelines.errors import UnknownRun
from pipelines.memory.documents import Document
from pipelines.memory.layout import kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from pipelines.memory.git import Git

BY_HAND: Final = "owner"
"""The extractor that a commit names where a person did something by a verb: all that is in it is the verb's doing."""

_SHORTEST: Final = 4
_TRAILERS: Final = ("Run-Id", "Undoes", "Items-Added", "Items-Changed", "Extractor")
_FORMAT: Final = "%x1f".join(
    ["%H", "%P", "%cI", "%s", *(f"%(trailers:key={key},valueonly,separator=%x20)" for key in _TRAILERS)]
)


@dataclass(frozen=True, slots=True)
class RunCommit:
    """A run as its commit tells it.

    Args:
        run: the run's id.
        commit: the commit's id.
        parent: its first parent's, or empty for a root.
        when: the moment at which it acted, ISO 8601.
        subject: the first line of its message.
        undoes: the id of the run that it takes back, or empty.
        item: the id of the one item whose change it takes back, or empty where it takes back the whole run.
        added: items that it says it added.
        changed: items that it says it changed.
        extractor: who read the logs.
    """

    run: str
    commit: str
    parent: str
    when: str
    subject: str
    undoes: str = ""
    item: str = ""
    added: int = 0
    changed: int = 0
    extractor: str = ""

    @property
    def by_hand(self) -> bool:
        """Whether a verb of a person's made it, and no night."""
        return self.extractor == BY_HAND


def run_id(now: datetime, head: str | None) -> str:
    """Return the id of a run: its moment, and a hash that tells two of one moment apart. A replay has the same."""
    birth = f"{now.isoformat()}\x1f{head or ''}"
    return f"{now:%Y%m%dT%H%M%S}-{hashlib.sha256(birth.encode()).hexdigest()[:6]}"


def run_commits(git: Git, *, touching: str = "") -> list[RunCommit]:
    """Return the memory's runs, newest first; a run that was cherry-picked counts once, by its newest commit.

    Args:
        git: the memory's git.
        touching: an item's id; only the runs whose change has a line that holds it.
    """
    if git.head() is None:
        return []
    asked = ["log", "-z", f"--format={_FORMAT}", "--grep=^Run-Id: "]
    asked += [f"-G{touching}"] if touching else []
    # Two memories may share a repository: only commits below this one's folder are its runs.
    asked += ["--full-history", "HEAD", "--", "."] if git.prefix else ["HEAD", "--"]
    found: dict[str, RunCommit] = {}
    for row in git.run(*asked).decode(errors="replace").split("\0"):
        if (one := _commit(row.strip("\n"))) is not None:
            found.setdefault(one.run, one)
    return list(found.values())


def _commit(row: str) -> RunCommit | None:
    fields = row.split("\x1f")
    if len(fields) != 4 + len(_TRAILERS) or not fields[4].strip():
        return None
    commit, parents, when, subject, run, undoes, added, changed, extractor = (field.strip() for field in fields)
    taken, _, item = undoes.partition(" ")
    return RunCommit(
        run.split(" ")[0],
        commit,
        parents.partition(" ")[0],
        when,
        subject,
        taken,
        item,
        int(added) if added.isdecimal() else 0,
        int(changed) if changed.isdecimal() else 0,
        extractor,
    )


def named_run(prefix: str, runs: Iterable[tuple[str, str]]) -> str:
    """Return the id of the one run whose id, or whose commit, begins so.

    Args:
        prefix: the start of an id, or at least four digits of a commit.
        runs: id and commit of each run; the commit empty where it has none.

    Raises:
        UnknownRun: there is none, or more than one.
    """
    found = []
    for run, commit in runs:
        if prefix in {run, commit}:
            return run
        if run.startswith(prefix) or (len(prefix) >= _SHORTEST and commit.startswith(prefix)):
            found.append(run)
    if len(found) != 1:
        raise UnknownRun(prefix, found)
    return found[0]


def undone_by(commits: Sequence[RunCommit]) -> dict[str, str]:
    """Return run id → the id of the undo that took it back whole and was not itself taken back.

    Args:
        commits: the runs, newest first.
    """
    found: dict[str, str] = {}
    for one in commits:
        if one.undoes and not one.item and one.run not in found:
            found.setdefault(one.undoes, one.run)
    return found


def changed_documents(git: Git, run: RunCommit) -> tuple[dict[str, Document], dict[str, Document]]:
    """Return the documents that a run changed, by path: as they were before it, and as it left them.

    A document that is not UTF-8 on either side is left out: no run touches one.
    """
    before, after = git.tree(run.parent or None), git.tree(run.commit)
    paths = [path for path in sorted(before.keys() | after.keys()) if before.get(path) != after.get(path)]
    paths = [path for path in paths if kind_of(path) is not None]
    blobs = read_blobs(git, {tree[path][1] for tree in (before, after) for path in paths if path in tree})
    texts = {blob: _text(data) for blob, data in blobs.items()}
    sides: tuple[dict[str, Document], dict[str, Document]] = ({}, {})
    for path in paths:
        read = [texts.get(tree[path][1]) if path in tree else "" for tree in (before, after)]
        for side, tree, text in zip(sides, (before, after), read, strict=True):
            if path in tree and text is not None and None not in read:
                side[path] = Document(path, text)
    return sides


def read_blobs(git: Git, wanted: Iterable[str]) -> dict[str, bytes]:
    """Return blob id → bytes, asked of git in one go."""
    asked = sorted(wanted)
    if not asked:
        return {}
    told = git.run("cat-file", "--batch", data="".join(f"{blob}\n" for blob in asked).encode())
    found, at = {}, 0
    for blob in asked:
        end = told.index(b"\n", at)
        about = told[at:end].split(b" ")
        at = end + 1
        if about[1:2] != [b"blob"]:
            continue  # a submodule, or a blob that a partial clone lacks: one header line, no bytes
        size = int(about[2])
        found[blob] = told[at : at + size]
        at += size + 1
    return found


def _text(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None
