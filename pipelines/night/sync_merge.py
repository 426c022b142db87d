"""One item as two machines left it: which of the two stands, by rules that come to the same on either machine."""

from __future__ import annotations

import re
import subprocess
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pipelines.night.briefing import without_pointers
from pipelines.night.reconcile import reconcile
from pipelines.store.document import Block, Document, block_of, edited
from pipelines.store.git_history import baseline_at
from pipelines.store.item import Status, folded, render_item
from pipelines.store.layout import BRIEFING, LOGS, STATE, TOMBSTONES, kind_of
from pipelines.store.markdown import line_end, read_headings, split_lines
from pipelines.store.state import read_tombstones, render_tombstones

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pipelines.store.git import Git
    from pipelines.store.item import Item

    Files = Mapping[str, bytes]


_RANK: Final = {
    status: rank
    for rank, status in enumerate((
        Status.LIVE, Status.OPEN, Status.WAITING, Status.ARCHIVED, Status.DONE, Status.MERGED, Status.SUPERSEDED,
        Status.RETRACTED, Status.FORGOTTEN,
    ))
}  # fmt: skip
"""What closes an item stands against what leaves it open: a person, or a newer item, did so."""


@dataclass(frozen=True, slots=True)
class Stood:
    """An item where it stood: its document, and the item with its notes."""

    path: str
    block: Block

    @property
    def item(self) -> Item:
        """The item alone."""
        return self.block.item


def standing(documents: Mapping[str, Document]) -> dict[str, Stood]:
    """Return id → where the item stands, the first place where there are several."""
    found: dict[str, Stood] = {}
    for path in sorted(documents):
        for placed in documents[path].items:
            if placed.item.id:
                found.setdefault(placed.item.id, Stood(path, block_of(documents[path], placed)))
    return found


def joined(before: Stood | None, ours: Stood | None, theirs: Stood | None) -> Stood | None:
    """Return what becomes of one item; None where it goes.

    What one side alone changed is as that side has it. An item that one side took out and the other changed goes,
    except where its words were changed: those a person wrote.
    """
    if theirs in (ours, before):
        return ours
    if ours == before:
        return theirs
    if ours is None or theirs is None:
        left = ours or theirs
        return left if left and before and left.item.text != before.item.text else None
    return _both(before, *sorted((ours, theirs), key=_weight))


def _weight(side: Stood) -> tuple[int, bool, str, str, str]:
    """Order two sides of one item: what weighs more stands. A line without `by` is a person's."""
    item = side.item
    return (_RANK[item.status], not item.by, item.confirmed, item.text, side.path)


def _both(before: Stood | None, less: Stood, more: Stood) -> Stood:
    """Join two changes of one item: the weightier one stands, with what the other alone changed."""
    words = _words(before, less.item, more.item)
    item = replace(
        more.item,
        text=words.text,
        by=words.by,
        trust=words.trust,
        since=min(filter(None, (less.item.since, more.item.since)), default=""),
        confirmed=max(less.item.confirmed, more.item.confirmed),
        seen=max(less.item.seen, more.item.seen),
        pinned=less.item.pinned or more.item.pinned,
        links=more.item.links or less.item.links,
    )
    moved = less if before and more.path == before.path and more.item.status is less.item.status else more
    return Stood(moved.path, Block(item, more.block.notes or less.block.notes))


def _words(before: Stood | None, less: Item, more: Item) -> Item:
    """Return the side whose words stand: the one that changed them; where both did, a person's."""
    if before is None or (before.item.text not in (less.text, more.text)):
        return less if more.by and not less.by else more
    return less if less.text != before.item.text else more


def without_twins(
    items: Mapping[str, Stood], ours: Mapping[str, Stood], theirs: Mapping[str, Stood]
) -> dict[str, Stood]:
    """Return the items with those merged that both machines learnt, in the same document and in the same words."""
    out = dict(items)
    first: dict[tuple[str, str, str], str] = {}
    for ident, stood in sorted(items.items(), key=lambda pair: (pair[1].item.since, pair[0])):
        if not stood.item.active:
            continue
        key = (stood.path, str(stood.item.type), folded(stood.item.text))
        twin = first.setdefault(key, ident)
        if twin != ident and (ident in ours) != (ident in theirs) and (twin in ours) != (ident in ours):
            merged = replace(stood.item, status=Status.MERGED, merged_into=twin)
            out[ident] = Stood(stood.path, Block(merged, stood.block.notes))
    return out


# ---------------------------------------- two trees with one beginning are joined
# documents item by item, logs by entry, state by row.


@dataclass(frozen=True, slots=True)
class Joined:
    """What two trees come to: every file that differs from ours (None where it goes), and files that clashed."""

    files: Mapping[str, bytes | None]
    documents: Mapping[str, Document]
    clashed: tuple[str, ...]


def join(before: Files, ours: Files, theirs: Files) -> Joined:
    """Join two trees. Which of the two is ours makes no difference but to files that nobody can join line by line."""
    files: dict[str, bytes | None] = {}
    clashed = []
    documents = _join_documents(_documents(before), _documents(ours), _documents(theirs))
    for path in sorted({*ours, *theirs}):
        if path in documents or _document(path, ours.get(path) or theirs.get(path) or b""):
            continue
        was, here, there = (side.get(path) for side in (before, ours, theirs))
        if there in (here, was):
            continue
        if path.startswith(f"{LOGS}/"):
            files[path] = join_logs(was or b"", here or b"", there) if there is not None else here
        elif path.startswith(f"{STATE}/"):
            files[path] = join_rows(was or b"", here or b"", there or b"")
        elif here == was:
            files[path] = there
        else:
            files[path] = max(filter(None, (here, there)), default=None)
            clashed.append(path)
    return Joined(files, documents, tuple(clashed))


def _join_documents(
    before: Mapping[str, Document], ours: Mapping[str, Document], theirs: Mapping[str, Document]
) -> dict[str, Document]:
    was, here, there = standing(before), standing(ours), standing(theirs)
    stood: dict[str, Stood] = {}
    for ident in sorted({*here, *there}):
        if one := joined(was.get(ident), here.get(ident), there.get(ident)):
            stood[ident] = one
    stood = without_twins(stood, here, there)
    homes: dict[str, dict[str, Stood]] = {}
    for ident, one in stood.items():
        homes.setdefault(one.path, {})[ident] = one
    out = {}
    for path in sorted({*ours, *theirs, *homes}):
        sides = (before.get(path), ours.get(path), theirs.get(path))
        if path in homes or not _is_gone(*sides):
            blocks = {ident: one.block for ident, one in homes.get(path, {}).items()}
            out[path] = _as_it_is(sides, blocks) or join_document(path, sides, blocks)
    return out


def _as_it_is(
    sides: tuple[Document | None, Document | None, Document | None], blocks: Mapping[str, Block]
) -> Document | None:
    """Return the side that alone changed a document, where it holds what shall stand: its lines keep their bytes."""
    was, here, there = (side.text if side else None for side in sides)
    one = sides[1] if there in {was, here} else sides[2] if here == was else None
    stands = {p.item.id: block_of(one, p) for p in one.items if p.item.id} if one else {}
    return one if one and stands == blocks else None


def _is_gone(before: Document | None, ours: Document | None, theirs: Document | None) -> bool:
    """Whether one side took a document away that the other left as it was."""
    if before is None or (ours and theirs):
        return False
    left = ours or theirs
    return left is None or left.text == before.text


def _documents(files: Files) -> dict[str, Document]:
    found = {path: _document(path, data) for path, data in files.items()}
    return {path: one for path, one in found.items() if one}


def _document(path: str, data: bytes) -> Document | None:
    """Return a file as a document; MEMORY.md without its pointers, which are written anew."""
    if not kind_of(path):
        return None
    try:
        document = Document(path, data.decode())
    except UnicodeDecodeError:
        return None
    return without_pointers(document) if path == BRIEFING else document


# ---------------------------------------- A document's own text as two machines left it
# lines joined, items put back where they stood.


_FOUND: Final = re.compile(r"\x00(k[0-9a-f]+)\n")


def join_document(
    path: str, sides: tuple[Document | None, Document | None, Document | None], blocks: Mapping[str, Block]
) -> Document:
    """Return a document whose lines are those of both sides, and whose items are `blocks`.

    Args:
        path: where it stands.
        sides: as it was, as it is here, and as it is there; None where it is not.
        blocks: id → the items that shall stand in it.
    """
    before, ours, theirs = sides
    front = _front(before, ours, theirs)
    bodies = [_skeleton(side) if side else "" for side in (before, ours, theirs)]
    body = _three_way(bodies[0], bodies[1], bodies[2]) if ours and theirs else bodies[1] if ours else bodies[2]
    end = line_end(split_lines(front + body))
    left, rows = dict(blocks), []
    for line in split_lines(body):
        token = _FOUND.fullmatch(line)
        if token is None:
            rows.append(line)
        elif block := left.pop(token[1], None):
            rows += [render_item(block.item) + end, *block.notes]
    document = Document(path, front + "".join(rows))
    return edited(document, add=[left[ident] for ident in sorted(left, key=lambda one: (left[one].item.since, one))])


def _front(before: Document | None, ours: Document | None, theirs: Document | None) -> str:
    """Return the front matter that one side alone changed, else the later one; whole, so that its keys fit together."""
    was, here, there = ("".join(one.lines[: one.front.lines]) if one else None for one in (before, ours, theirs))
    if here is None or there is None or here == there:
        return here or there or ""
    if was in (here, there):
        return there if here == was else here
    return max((one.front.get("updated"), text) for one, text in ((ours, here), (theirs, there)) if one)[1]


def _skeleton(document: Document) -> str:
    """Return the text below the front matter, with a token in place of each item and its notes."""
    lines = list(document.lines)
    for placed in reversed(document.items):
        if placed.item.id:
            lines[placed.line : placed.end] = [f"\x00{placed.item.id}\n"]
    return "".join(lines[document.front.lines :])


def _three_way(before: str, ours: str, theirs: str) -> str:
    if theirs in (ours, before):
        return ours
    if ours == before:
        return theirs
    one, other = sorted((ours, theirs))
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, name) for name in ("one", "before", "other")]
        for file, text in zip(files, (one, before, other), strict=True):
            # git takes a file with a zero byte for no text; U+0001 marks the tokens meanwhile.
            file.write_bytes(text.replace("\x00", "\x01token ").encode())
        done = subprocess.run(
            ["git", "merge-file", "--union", "-p", *map(str, files)],  # noqa: S607  the person's own git
            capture_output=True,
            check=True,
            env={"PATH": _path(), "LC_ALL": "C", "GIT_CONFIG_NOSYSTEM": "1", "HOME": folder},
            cwd=folder,
        )
    return done.stdout.decode().replace("\x01token ", "\x00")


def _path() -> str:
    import os  # noqa: PLC0415

    return os.environ.get("PATH", "/usr/bin:/bin")


# ---------------------------------------- A log, and what the state remembers
# as two machines left them: everything that either has, once.


_PROJECT: Final = re.compile(r"project:[ \t]*\S", re.IGNORECASE)


def join_logs(before: bytes, ours: bytes, theirs: bytes) -> bytes:
    """Return a log with what both machines appended, each entry under the headings and in the project it had.

    Both ends follow the part that they have in common; the lesser one by its bytes comes first, on whichever machine.
    """
    if theirs in (ours, before):
        return ours
    if ours == before:
        return theirs
    one, other = sorted((_text(ours), _text(theirs)))
    lines, more = split_lines(one), split_lines(other)
    shared = _shared(lines, more)
    known = {*split_lines(_text(before)), *lines} if shared < len(split_lines(_text(before))) else set()
    tail = [line for line in more[shared:] if line not in known or not line.strip()]
    if not "".join(tail).strip():
        return "".join(lines).encode(errors="surrogateescape")
    head = lines
    if lines and not lines[-1].endswith("\n"):
        head = [*lines[:-1], lines[-1] + "\n"]
    return "".join([*head, *_again(lines[:shared], lines[shared:], tail), *tail]).encode(errors="surrogateescape")


def _again(shared: list[str], between: list[str], tail: list[str]) -> list[str]:
    """Return the lines that bring back what governed at the end of the shared part, where `between` changed it."""
    changes = any(_PROJECT.match(line) or line.startswith("#") for line in between)
    if not changes or next((line for line in tail if line.strip()), "").startswith("# "):
        return []
    stack: list[tuple[int, int]] = []
    for heading in read_headings(shared, 0):
        stack = [one for one in stack if one[0] < heading.level] + [(heading.level, heading.line)]
    last = stack[-1][1] if stack else -1
    project = [line for line in shared[last + 1 :] if _PROJECT.match(line)][-1:]
    return [
        "\n",
        *(line for _, at in stack for line in (shared[at], "\n")),
        *(line for one in project for line in (one, "\n")),
    ]


def join_rows(before: bytes, ours: bytes, theirs: bytes) -> bytes:
    """Return the rows that either machine added, without those that either took out, sorted."""
    old, one, other = (set(data.splitlines()) for data in (before, ours, theirs))
    return b"".join(row + b"\n" for row in sorted((one & other) | (one - old) | (other - old)))


def _shared(lines: list[str], more: list[str]) -> int:
    """Return how many lines at their beginning two logs have in common."""
    pairs = enumerate(zip(lines, more, strict=False))
    return next((number for number, (one, other) in pairs if one != other), min(len(lines), len(more)))


def _text(data: bytes) -> str:
    return data.decode(errors="surrogateescape")


# ---------------------------------------- edits
# What a person did by hand on another machine and pushed without a night there: understood before it is joined.
#
# The join is what the next run compares with, so what it holds is known from then on. Whoever may push to the remote
# that the user's own settings name may write any line of the memory, an owner's too; taking such an edit for less
# than it is would protect nobody, and lose what a person wrote to the next cap.


def with_edits_understood(
    git: Git, base: str, there: str, theirs: Mapping[str, bytes], today: str
) -> Mapping[str, bytes]:
    """Return the files of another machine's commit as the next night there would understand people's edits in them.

    Args:
        git: the memory's git.
        base: the commit that both have.
        there: the other machine's.
        theirs: its files.
        today: the memory's day.
    """
    last = git.last_run(since=base, until=there) or base  # what came before the base, a run of ours has understood
    if last == there:
        return theirs
    documents = {path: one for path, data in theirs.items() if kind_of(path) and (one := _edits_document(path, data))}
    unread = frozenset(path for path in theirs if kind_of(path)) - documents.keys()
    found = reconcile(documents, baseline_at(git, last, documents).without(unread), today)
    changed = {path: one.text.encode() for path, one in found.documents.items() if one is not documents.get(path)}
    stones = read_tombstones(theirs.get(TOMBSTONES)) | set(found.retracted)
    rows = {TOMBSTONES: render_tombstones(stones)} if found.retracted else {}
    return {**theirs, **changed, **rows}


def _edits_document(path: str, data: bytes) -> Document | None:
    try:
        return Document(path, data.decode())
    except UnicodeDecodeError:
        return None
