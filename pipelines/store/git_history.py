"""The runs that git knows: every commit with the trailer `Run-Id`, what it took back, and the documents it changed."""

from __future__ import annotations

import contextlib
import hashlib
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pipelines.errors import CurateError, TooMuchFromGit, UnknownRun, did_you_mean
from pipelines.store.days import moment_of
from pipelines.store.document import Document, document_at
from pipelines.store.evidence import starts_of
from pipelines.store.git import Git, blob_id
from pipelines.store.item import parse_item, without_comment
from pipelines.store.layout import kind_of
from pipelines.store.log import lines_of

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from pipelines.store.item import Evidence, Item


BY_HAND: Final = "owner"
"""The extractor that a commit names where a person did something by a verb: all that is in it is the verb's doing."""
BY_SESSION: Final = "session"
"""The same where an agent's session did it, at once; it is nobody's edit by hand."""

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
        """Whether a verb of a person's made it, or an agent's session at once, and no night."""
        return self.extractor in {BY_HAND, BY_SESSION}


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
    asked += ["--full-history", "HEAD", "--", "."] if git.repository.prefix else ["HEAD", "--"]
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
    found, known = [], list(runs)
    for run, commit in known:
        if prefix in {run, commit}:
            return run
        if run.startswith(prefix) or (len(prefix) >= _SHORTEST and commit.startswith(prefix)):
            found.append(run)
    if len(found) != 1:
        raise UnknownRun(prefix, found, did_you_mean(prefix, (run for run, _ in known)))
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
    was: dict[str, Document] = {}
    now: dict[str, Document] = {}
    for path in paths:
        with contextlib.suppress(UnicodeDecodeError):
            read = [(tree, git.blob(tree[path][1])) for tree in (before, after) if path in tree]
            texts = [(tree, data.decode()) for tree, data in read if data is not None]
            for tree, text in texts if len(texts) == len(read) else ():
                (was if tree is before else now)[path] = Document(path, text)
    return was, now


def read_blobs(git: Git, wanted: Iterable[str]) -> dict[str, bytes]:
    """Return blob id → bytes, without submodules and blobs that a partial clone lacks."""
    found = ((ident, git.blob(ident)) for ident in sorted(wanted))
    return {ident: data for ident, data in found if data is not None}


# ---------------------------------------- the words that an item ever had in git's history
# and those of the logs that it rested on.


FORGOTTEN = "[forgotten]"
"""What stands in a log in place of words that were forgotten."""


def ids_in_history(git: Git, prefix: str) -> frozenset[str]:
    """Return the ids that begin so, of all items that a document ever held."""
    return frozenset(item.id for item, _ in _lines(git, prefix) if item.id.startswith(prefix))


def wordings(git: Git, ident: str) -> tuple[str, ...]:
    """Return each line of text, as git's history has it, that holds an item's words: longest first, each once.

    Args:
        git: the memory's git.
        ident: the item's whole id.
    """
    found: dict[str, None] = {}
    places: dict[Evidence, None] = {}
    for item, line in _lines(git, ident):
        if item.id == ident:
            body = without_comment(line)
            found[item.text if item.text in body else body.partition(": ")[2].rstrip("~ ")] = None
            places.update(dict.fromkeys(item.evidence))
    for place in places:
        found.update(dict.fromkeys(_quoted(git, place)))
    return tuple(
        sorted((text for text in found if text.strip() not in {"", FORGOTTEN}), key=lambda text: (-len(text), text))
    )


def _lines(git: Git, ident: str) -> Iterator[tuple[Item, str]]:
    lines = (line.rstrip("\r") for _, _, _, line in changed_lines(git, "", "-m", f"-G{ident}") if ident in line)
    for line in dict.fromkeys(lines):
        if (item := parse_item(line)) and item.id:
            yield item, line


def changed_lines(git: Git, form: str, *narrowed: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield each line that a commit took out of a file with items, or put into one, newest commit first.

    Args:
        git: the memory's git.
        form: what to tell of a commit, as `git log --format` takes it.
        narrowed: further arguments of `git log`.

    Yields:
        What was told of the commit, the path on the disk, `-` or `+`, and the line.
    """
    rows = git.rows(
        "log", f"--format=%x00{form}", "--patch", "--unified=0", "--no-color", "--no-ext-diff", "--no-textconv",
        "--no-renames", "--relative", *narrowed, "--", *git.layout.pathspecs,
    )  # fmt: skip
    commit, paths, is_head = "", {"-": "", "+": ""}, True
    for raw in rows:  # in the lines of a patch, no zero byte comes first
        if raw.startswith(b"\0"):
            commit = raw[1:].decode(errors="replace")
        elif raw.startswith(b"diff --git "):
            is_head = True
        elif is_head and raw.startswith((b"--- a/", b"+++ b/")):
            paths[chr(raw[0])] = os.fsdecode(raw[6:]).rstrip("\t")
        elif raw.startswith(b"@@ "):
            is_head = False
        elif not is_head and raw[:1] in {b"-", b"+"}:
            sign = chr(raw[0])
            yield commit, paths[sign], sign, raw[1:].decode(errors="replace")


def _quoted(git: Git, place: Evidence) -> list[str]:
    """Return the words of the lines of a log on which an item rested, from the newest version that holds them."""
    for commit in git.versions(place.path):
        lines = lines_of((git.show(commit, place.path) or b"").decode(errors="replace"))
        for start in starts_of(place, lines):
            return [bare for row in lines[start : start + place.height] if (bare := _words(row))]
    return []


def _words(row: str) -> str:
    """Return a log's line without the marks before its words and the pointer behind them."""
    return row.partition("<!-- Sessions/")[0].strip().lstrip("-*+#> \t").strip()


# ---------------------------------------- the baseline
# the documents as the last run left them, against which people's edits are seen.


Baseline = tuple[dict[str, Document], frozenset[str]]
"""A commit's documents that are different now, or gone, as far as they could be read; and the paths of the others."""


def stands_in(path: str, paths: frozenset[str]) -> bool:
    """Return whether a document is one of those, or stands behind one that is a link to a folder."""
    parts = path.split("/")
    return any("/".join(parts[:depth]) in paths for depth in range(1, len(parts) + 1))


def baseline_at(
    git: Git, commit: str | None, documents: Mapping[str, Document], unread: frozenset[str] = frozenset()
) -> Baseline:
    """Return the documents as a commit has them.

    Args:
        git: the memory's git.
        commit: the commit; with None, before the first run, nothing has changed.
        documents: the documents of now.
        unread: those that cannot be read now, of which nobody can say what became.
    """
    changed, same = dict[str, Document](), set[str]()
    for path, (mode, blob) in git.tree(commit).items():
        if kind_of(path) is None or mode == "120000" or (unread and stands_in(path, unread)):
            continue
        now = documents.get(path)
        if now is not None and blob_id(now.text.encode(), blob) == blob:
            same.add(path)
            continue
        try:
            changed[path] = document_at(path, (git.blob(blob) or b"").decode())
        except (UnicodeDecodeError, TooMuchFromGit):  # neither was ever read as a document
            continue
    return changed, frozenset(same)


# ---------------------------------------- nights of other machines
# as git tells of them: two that share a memory keep it curated together.


def nights_elsewhere(root: Path, known: Container[str]) -> list[datetime]:
    """Return the moments of the nights that another machine ran, as far as their commits are here.

    A night that found nothing new makes no commit and is not among them, and nor is what a person did by a verb.

    Args:
        root: the memory.
        known: the ids of the runs that left a report here, which says more of them.
    """
    with contextlib.suppress(CurateError):  # whoever asks has other ways to say that git is in no good state
        nights = [one for one in run_commits(Git(root)) if not one.by_hand and not one.undoes]
        moments = [moment_of({"now": one.when}) for one in nights if one.run not in known]
        return [when for when in moments if when]
    return []
