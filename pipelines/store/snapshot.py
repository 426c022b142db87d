"""The memory as a run reads it: every file once at most, so that all stages decide on the same bytes."""

from __future__ import annotations

from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from pipelines.errors import BadFile, BrokenChangeSet, CurateError
from pipelines.store.document import Document, Documents, Placed, document_at, edited, keys_for_runs
from pipelines.store.files import MAX_BYTES, list_files, log_notes, read_bytes
from pipelines.store.git import Git
from pipelines.store.item import Item, ids_in
from pipelines.store.layout import (
    BRIEFING,
    FOLDERS,
    LINKED,
    LOGS,
    PARTIAL,
    PROGRESS,
    REVIEW,
    STATE,
    USER,
    Kind,
    day_of_log,
    is_note,
    kind_of,
)
from pipelines.store.markdown import conflicts, split_lines
from pipelines.store.state import LogProgress, read_progress
from pipelines.store.trees import committed, documents_at, ledger_at, ledger_on_disk, left_out, read_documents_in
from pipelines.store.wording import folded
from pipelines.text import escape_terminal_line, is_safe_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    Place = tuple[str, Placed]


CONFLICT, COPIED, REPEATS = "conflict", "copy", "repeat"
_MARKED = "has marks of a conflict"
_PENDING = "its entries stay pending"
MAX_DOCUMENT_BYTES: Final = 8 * 1024 * 1024
"""Documents are held parsed, all at once; nobody reads a larger page."""


class FileWarning(NamedTuple):
    """A file that was skipped, or has a problem.

    Args:
        path: the file.
        why: the predicate of a sentence about it.
        pending: whether something stays unread because of it, so that the run exits with code 1.
        kind: what `curate check` calls it: `unreadable`, `conflict`, `copy`, or nothing if it is no fault.
    """

    path: str
    why: str
    pending: bool = True
    kind: str = ""

    def __str__(self) -> str:
        return f"{escape_terminal_line(self.path)} {self.why}."


@dataclass(frozen=True)
class Snapshot:
    """The content of the memory when it was read.

    Args:
        root: the memory.
        documents: path → document, for every readable curated file.
        logs: path → bytes of each log named after a day.
        partials: path → bytes of each partial log.
        state: path → bytes of each file under State.
        progress: log → what earlier runs read of it.
        warnings: what could not be read, and why.
    """

    root: Path
    documents: Documents
    logs: Mapping[str, bytes]
    partials: Mapping[str, bytes]
    state: Mapping[str, bytes]
    progress: Mapping[str, tuple[LogProgress, ...]]
    warnings: tuple[FileWarning, ...]

    def items(self) -> Iterator[tuple[Document, Placed]]:
        """Yield every item with its document, ordered by path and line."""
        for path in sorted(self.documents):
            for placed in self.documents[path].items:
                yield self.documents[path], placed

    def refusal(self, faults: Sequence[str]) -> CurateError:
        """Return the error for changes that cannot be written: a file with marks of a conflict, or else a bug."""
        marked = next((one for one in self.warnings if one.kind == CONFLICT), None)
        if marked is None:
            return BrokenChangeSet(faults)
        return BadFile(marked.path, marked.why, "Nothing was written. Resolve it, then run again.")

    def unreadable(self) -> frozenset[str]:
        """Return the files that exist but could not be read; nothing may be written over them."""
        return frozenset(warned.path for warned in self.warnings if warned.kind != REPEATS)


def read_snapshot(root: Path) -> Snapshot:
    """Read a memory. What cannot be read is skipped with a warning.

    Args:
        root: the memory.

    Raises:
        BadFile: a folder of the layout or a state file is a symbolic link or cannot be read, so that earlier content is
            unknown.
    """
    warnings = list[FileWarning]()
    documents = read_documents(root, warnings)
    links = list[str]()
    for folder in FOLDERS:
        if (root / folder).is_symlink():
            links.append(folder)
        else:
            list_files(root, folder, "", links)
    known = list[str]()
    with suppress(CurateError):
        git = Git(root)
        known = [path for path, (mode, _) in git.tree(git.head()).items() if mode != "120000"] if links else []
    for link in links:  # nothing behind any other one belongs to the memory
        hides = any(f"{path}/".startswith(f"{link}/") for path in known)
        why = "the documents behind it wait until you remove the link" if hides else "it was left alone"
        warnings.append(FileWarning(link, f"{LINKED}; {why}", pending=hides))
    state = {path: read_bytes(root, path) or b"" for path in list_files(root, STATE, ".jsonl") if is_safe_line(path)}
    links = list[str]()
    files = [*list_files(root, LOGS, "", links), *log_notes(root, links)]
    warnings += [FileWarning(path, f"{LINKED}; {_PENDING}") for path in links]
    logs, partials = dict[str, bytes](), dict[str, bytes]()
    for path in files:
        is_partial = path.startswith(f"{PARTIAL}/")
        if not is_partial and not day_of_log(path):
            why = "is not named after a day (Logs/YYYY-MM-DD.md), so it is not read"
            warnings.append(FileWarning(path, why, pending=False))
        elif (data := _read_text(root, path, MAX_BYTES, warnings, _PENDING)) is not None:
            if at := conflict_in(data.decode()):
                why = f"{_MARKED} at line {at}; what stands between them is not read until you resolve it by hand"
                warnings.append(FileWarning(path, why, kind=CONFLICT))
            (partials if is_partial else logs)[path] = data
    left = left_out(root)
    state |= {path: data for path, data in left.items() if path.startswith(f"{STATE}/") and path.endswith(".jsonl")}
    partials |= {path: data for path, data in left.items() if path.startswith(f"{PARTIAL}/")}
    logs |= {path: data for path, data in left.items() if day_of_log(path)}
    progress = read_progress(state.get(PROGRESS))
    # A note that is new takes over what was read of those of its day that are gone: people move their notes.
    for path in sorted(path for path in logs if is_note(path) and path not in progress):
        gone = [one for one in progress if one not in logs and day_of_log(one) == day_of_log(path)]
        progress |= {path: tuple(record for one in gone for record in progress.pop(one))} if gone else {}
    return Snapshot(root, documents, logs, partials, state, progress, tuple(warnings))


def read_documents(root: Path, warnings: list[FileWarning] | None = None) -> dict[str, Document]:
    """Return the documents of a memory by path, for commands that need items but no logs.

    Those that are left out of the disk are read from git, without the items that stand elsewhere by now. Each item
    stands in one of them. One with the marks of a conflict is as it was last committed without.

    Args:
        root: the memory.
        warnings: receives what was skipped, or has a problem.
    """
    warnings = [] if warnings is None else warnings
    documents = dict[str, Document]()
    ledger = ledger_on_disk(root)
    for path in document_paths(root):
        data = _read_text(root, path, MAX_DOCUMENT_BYTES, warnings, "it was left alone")
        if data is not None:
            document = documents[path] = document_at(path, data.decode(), ledger)
            faults = document.front.faults
            warnings += [FileWarning(path, f"{fault}; it was left as it is", pending=False) for fault in faults]
            if at := conflict_in(document.text):
                why = f"{_MARKED} at line {at}; the last commit counts and no log is read until you resolve it by hand"
                warnings.append(FileWarning(path, why, kind=CONFLICT))
                documents[path] = _committed_without_conflict(root, path)
    bare = [
        path
        for path, one in documents.items()
        if not one.rows.keys() >= {*ids_in(one.text)} or (not one.told and any(keys_for_runs(path, one.text)))
    ]
    with suppress(CurateError):  # rows that the ledger lacks, git has
        for commit in ((git := Git(root)).head(), git.last_run()) if bare else ():
            known = ledger_at(git, commit)
            documents |= {p: document_at(p, documents[p].text, {**known, **documents[p].rows}) for p in bare}
    documents = _without_copies(root, documents, warnings)
    gone = {path: data for path, data in left_out(root).items() if path not in documents}
    left = read_documents_in(gone, ledger)
    here = {ident for one in documents.values() for ident in one.held} if left else set()
    for path, page in left.items():
        documents[path] = edited(page, remove=twice) if (twice := here & page.held.keys()) else page
    return documents


def conflict_in(text: str) -> int:
    """Return the line, from 1, of the first mark of a conflict in a text, or 0."""
    return next((first + 1 for first, _ in conflicts(split_lines(text))), 0) if "<<<<<<<" in text else 0


def _committed_without_conflict(root: Path, path: str) -> Document:
    """Return the newest committed version of a document that has no marks of a conflict; empty if there is none."""
    git = Git(root)
    with suppress(CurateError, StopIteration):
        versions = (committed(git, commit, path) for commit in git.versions(path))
        return replace(next(one for one in versions if not conflict_in(one.text)), is_still=True)
    return replace(document_at(path, ""), is_still=True)


def _read_text(root: Path, path: str, most: int, warnings: list[FileWarning], left: str) -> bytes | None:
    """Return the bytes of a text file, or None; add a warning if it exists and cannot be read."""
    why = "has a name with control characters"
    try:
        if is_safe_line(path):
            if (data := read_bytes(root, path, most)) is None:
                return None
            data.decode()
            # UTF-16 without a byte order mark: every other byte is zero, which UTF-8 can be, too.
            zeros = [half.count(0) > len(half) // 2 for half in (data[:64:2], data[1:64:2])]
            if zeros[0] == zeros[1] or len(data) % 2:
                return data
            why = "is UTF-16, not UTF-8"
    except UnicodeDecodeError as error:
        why = f"is not UTF-8 at byte {error.start}"
    except BadFile as error:
        why = error.why
    warnings.append(FileWarning(path, f"{why}; {left}"))
    return None


def document_paths(root: Path) -> list[str]:
    """Return the paths of documents, including the standard ones that may not exist."""
    present = (folder for folder in FOLDERS if not (root / folder).is_symlink())
    pages = (path for folder in present for path in list_files(root, folder, ".md") if kind_of(path))
    return [BRIEFING, USER, REVIEW, *pages]


# ---------------------------------------- copies
# An id that stands in two places, as file syncers, `cp` and pasted lines leave it. One item has one place: the one that
# the last run committed; of several, or of none, the one with the shortest path. The same words elsewhere are a copy,
# and no item; other words are left for `night.reconcile`. A page that mostly repeats another one is a copy as a whole:
# nothing of it is read or committed until a person has decided.


def _without_copies(root: Path, documents: dict[str, Document], warnings: list[FileWarning]) -> dict[str, Document]:
    """Return the documents with each item in one place; warn of the copies that were left out."""
    places: dict[str, list[Place]] = defaultdict(list)
    for path in sorted(documents):
        for placed in documents[path].placed:
            places[placed.item.id].append((path, placed))
    twice = {ident: found for ident, found in places.items() if ident and len(found) > 1}
    was: Mapping[tuple[str, str], Item] = _committed_items(root) if twice else {}
    homes = {ident: min(found, key=lambda place: _rank(place, was)) for ident, found in twice.items()}
    after = dict(documents)
    for path in sorted({path for found in twice.values() for path, _ in found}):
        document, lines, reworded = documents[path], dict[int, str](), set[tuple[str, str]]()
        for one in document.placed:
            ident = one.item.id
            home, original = homes.get(ident, (path, one))
            if _words(one.item) in map(_words, (original.item, was.get((path, ident)), was.get((home, ident)))):
                lines |= {one.line: home} if original is not one else {}
            else:
                reworded.add((ident, one.item.text))
        if not (lines or reworded):
            continue
        source = Counter(lines.values()).most_common(1)[0][0] if lines else path
        own, there = (Counter(filter(None, map(str.strip, documents[one].lines))) for one in (path, source))
        is_elsewhere = all(ident in homes and homes[ident][0] != path for ident in document.held)
        if is_elsewhere and source != path and (own & there).total() * 2 > own.total():
            why = f"is a copy of {source} and is not read. Move what is new in it there, then delete it"
            warnings.append(FileWarning(path, why, pending=False, kind=COPIED))
            del after[path]
            continue
        copied = {(one.item.id, one.item.text) for one in document.placed if lines.get(one.line, path) != path}
        after[path] = replace(document, copied=frozenset(copied), reworded=frozenset(reworded))
        if lines:
            of = " and ".join(sorted({*lines.values()} - {path}))
            numbers = ", ".join(str(line + 1) for line in sorted(lines))
            why = f"repeats items{of and f' of {of}'} (lines {numbers}), which count once. Delete these lines"
            warnings.append(FileWarning(path, why, pending=False, kind=REPEATS))
    return after


def _committed_items(root: Path) -> Mapping[tuple[str, str], Item]:
    """Return the items by path and id as the last run left them; before the first run, as last committed."""
    with suppress(CurateError):
        git = Git(root)
        pages = documents_at(git, git.last_run() or git.head())
        return {(path, ident): item for path, one in pages.items() for ident, (_, item) in one.held.items()}
    return {}


def _rank(place: Place, was: Mapping[tuple[str, str], Item]) -> tuple[bool, bool, int, str, bool, int]:
    """Order the places of an id: the first one is its own."""
    path, (item, line, *_) = place
    there = was.get((path, item.id))
    return there is None, kind_of(path) is Kind.ARCHIVE, len(path), path, _words(there) != _words(item), line


def _words(item: Item | None) -> tuple[str, str]:
    return (item.type, folded(item.text)) if item else ("", "")
