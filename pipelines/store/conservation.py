"""Conservation: every item that ever existed is accounted for. Also finds what manual edits broke.

An item is accounted for if it is in a document, whatever its status, waits in Review.md, has a tombstone, or was merged
into an item that is accounted for. Git's history knows all items that ever existed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pipelines.store.edits import is_at_or_below
from pipelines.store.item import ids_in
from pipelines.store.layout import BRIEFING, TOMBSTONES
from pipelines.store.state import read_tombstones, unreadable_lines
from pipelines.store.trees import changed_ids, document_versions
from pipelines.text import escape_terminal_line

if TYPE_CHECKING:
    from pipelines.store.git import Git
    from pipelines.store.snapshot import Snapshot


class Fault(NamedTuple):
    """One thing that is broken.

    Args:
        path: the file.
        line: its line, counted from 1; 0 if unknown.
        item: the item's id, or empty.
        kind: `vanished`, `broken-comment`, `front-matter`, `over-cap`, `unreadable`,
            `conflict`, `copy`, `repeat` or `state`.
        what: the predicate of a sentence about the place.
    """

    path: str
    line: int
    item: str
    kind: str
    what: str

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What identifies it, whatever its line is by now."""
        return self.path, self.item, self.kind, self.what

    def __str__(self) -> str:
        place = f"{escape_terminal_line(self.path)}:{self.line}" if self.line else escape_terminal_line(self.path)
        return f"{place}: {f'{self.item} ' if self.item else ''}{self.what}."

    def to_json(self) -> dict[str, object]:
        """Return it as a JSON object."""
        return self._asdict() | {"line": self.line or None, "item": self.item or None}


def check_memory(snapshot: Snapshot, git: Git, cap: int) -> list[Fault]:
    """Return everything that is broken in a memory, ordered by file and line.

    Args:
        snapshot: the memory.
        git: its repository, for the items that ever existed.
        cap: the limit of MEMORY.md, in bytes.
    """
    faults = written_faults(snapshot, cap)
    faults += [
        Fault(path, 0, ident, "vanished", f"is gone; `git show {at}:./{path}` has its line")
        for ident, (path, at) in lost_items(snapshot, git).items()
    ]
    faults += [
        Fault(warned.path, 0, "", warned.kind or "unreadable", warned.why)
        for warned in snapshot.warnings
        if warned.pending or warned.kind
    ]
    faults += [
        Fault(path, number, "", "state", f"cannot be read; `git checkout HEAD -- {path}` restores it")
        for path, data in snapshot.state.items()
        for number in unreadable_lines(data)
    ]
    return sorted(faults, key=lambda fault: (fault.path, fault.line, fault.kind, fault.item))


def written_faults(snapshot: Snapshot, cap: int) -> list[Fault]:
    """Return what is broken in a memory's documents; `cap` is the limit of MEMORY.md, in bytes."""
    faults = list[Fault]()
    for path, document in snapshot.documents.items():
        for fault in document.front.faults:
            line, _, what = fault.partition(": ")
            faults.append(Fault(path, int(line.removeprefix("line ")), "", "front-matter", what))
        known = {number for one in document.placed if one.item.id for number in range(one.line, one.notes)}
        what = "has the mark of an item where no item can be"
        marked = (number for number, text in enumerate(document.lines) if number not in known and ids_in(text))
        faults += [Fault(path, number + 1, "", "broken-comment", what) for number in marked]
    briefing = snapshot.documents.get(BRIEFING)
    if briefing and briefing.size > cap and any(placed.item.by for placed in briefing.items):
        faults.append(Fault(BRIEFING, 0, "", "over-cap", f"has {briefing.size:,} bytes, over its cap of {cap:,}"))
    return faults


def lost_items(snapshot: Snapshot, git: Git) -> dict[str, tuple[str, str]]:
    """Return the ids that a committed document once had and that are not accounted for.

    Those of documents that cannot be read now are left out: their fate is unknown.

    Returns:
        For each, its last document, and the last commit that has it there.
    """
    known = {ident for one in snapshot.documents.values() for ident in ids_in(one.text)}
    known |= {stone.id for stone in read_tombstones(snapshot.state.get(TOMBSTONES))}
    found, unread = dict[str, tuple[str, str]](), snapshot.unreadable()
    gone = {ident for ids in changed_ids(git) for ident in ids} - known if git.head() else set()
    if gone:
        for commit, before, after in document_versions(git, "%h", "-m", f"-G{'|'.join(sorted(gone))}"):
            for document, at in (after, commit), (before, f"{commit}^"):
                for ident in gone & document.held.keys():
                    found.setdefault(ident, (document.path, at))
    return {ident: last for ident, last in found.items() if not is_at_or_below(last[0], unread)}
