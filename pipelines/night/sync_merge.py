"""Join two trees with a common ancestor, by rules that give the same result on either machine.

Documents are joined item by item, logs entry by entry, and state row by row.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pipelines.night.reconcile import reconcile
from pipelines.store.document import Block, Document, block_of, edited, numbered
from pipelines.store.generated import vetoed_by, without_differing, without_pointers
from pipelines.store.git_history import baseline_at
from pipelines.store.item import Status, folded, render_item
from pipelines.store.layout import BRIEFING, LOGS, STATE, TOMBSTONES, kind_of
from pipelines.store.markdown import body_lines, headings_among, line_end, split_lines
from pipelines.store.state import read_tombstones, render_tombstones

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

    from pipelines.store.git import Git

    Files = Mapping[str, bytes]
    Place = tuple[str, Block]
    """A document's path, and an item in it with its notes."""
    Sides = tuple[Document | None, Document | None, Document | None]
    """A document before, here and on the other machine; None where it is missing."""


_RANK: Final = {
    status: rank
    for rank, status in enumerate((
        Status.LIVE, Status.OPEN, Status.WAITING, Status.ARCHIVED, Status.DONE, Status.DROPPED, Status.RESOLVED,
        Status.OCCURRED, Status.ANSWERED, Status.ENDED, Status.MERGED, Status.SUPERSEDED, Status.NEVER_HELD,
        Status.RETRACTED, Status.FORGOTTEN,
    ))
}  # fmt: skip
"""Closing an item wins over leaving it open: a person, or a newer item, closed it."""


def join(
    before: Files, ours: Files, theirs: Files
) -> tuple[dict[str, bytes | None], dict[str, Document], tuple[str, ...]]:
    """Join two trees. The result is the same from either side.

    Returns:
        Every other file that differs from ours (None to delete it), the documents, and the files that clashed.
    """
    files: dict[str, bytes | None] = {}
    clashed = []
    documents = _join_documents(_documents(before), _documents(ours), _documents(theirs))
    for path in sorted({*ours, *theirs}):
        if path in documents or _readable({path: ours.get(path) or theirs.get(path) or b""}):
            continue
        was, here, there = (side.get(path) for side in (before, ours, theirs))
        if there in (here, was):
            continue
        if path.startswith(f"{LOGS}/"):
            files[path] = join_logs(was or b"", here or b"", there) if there is not None else here
        elif path.startswith(f"{STATE}/") and path.endswith(".jsonl"):
            files[path] = join_rows(was or b"", here or b"", there or b"")
        elif here == was:
            files[path] = there
        else:
            files[path] = max(filter(None, (here, there)), default=None)
            clashed.append(path)
    return files, documents, tuple(clashed)


def vetoes(before: Files, ours: Files, theirs: Files) -> frozenset[str]:
    """Return the generated lines that either person deleted, without those that one put back since the trees parted."""
    sides = (vetoed_by(read_tombstones(one.get(TOMBSTONES)), _readable(one)) for one in (before, ours, theirs))
    was, here, there = sides
    return (here & there) | (here | there) - was


def _join_documents(
    before: Mapping[str, Document], ours: Mapping[str, Document], theirs: Mapping[str, Document]
) -> dict[str, Document]:
    old, mine, other = _places(before), _places(ours), _places(theirs)
    places = {}
    for ident in sorted({*mine, *other}):
        if one := _joined_item(old.get(ident), mine.get(ident), other.get(ident)):
            places[ident] = one
    homes: dict[str, dict[str, Block]] = {}
    for ident, (path, block) in _without_twins(places, mine, other).items():
        homes.setdefault(path, {})[ident] = block
    out = {}
    for path in sorted({*ours, *theirs, *homes}):
        was, here, there = sides = (before.get(path), ours.get(path), theirs.get(path))
        left = here or there
        gone = was and not (here and there) and (left is None or left.text == was.text)  # the other side left it alone
        if path in homes or not gone:
            blocks = homes.get(path, {})
            out[path] = _as_it_is(sides, blocks) or _join_document(path, sides, blocks)
    return out


def _as_it_is(sides: Sides, blocks: Mapping[str, Block]) -> Document | None:
    """Return the only side that changed a document, if its items are the joined ones: its lines keep their bytes."""
    was, here, there = (side.text if side else None for side in sides)
    one = sides[1] if there in {was, here} else sides[2] if here == was else None
    items = {p.item.id: block_of(one, p) for p in one.items if p.item.id} if one else {}
    return one if one and items == blocks else None


def _documents(files: Files) -> dict[str, Document]:
    """Return the files that can be read as documents; MEMORY.md without its generated rows, which are rewritten."""
    found = _readable(files)
    return found | {path: without_pointers(found[path]) for path in (BRIEFING,) if path in found}


def _readable(files: Files) -> dict[str, Document]:
    found: dict[str, Document] = {}
    for path in filter(kind_of, files):
        with contextlib.suppress(UnicodeDecodeError):
            found[path] = Document(path, files[path].decode())
    return found


def _places(documents: Mapping[str, Document]) -> dict[str, Place]:
    """Return id → document and lines of the item, the first place if there are several."""
    found: dict[str, Place] = {}
    for document, placed in numbered(documents[path] for path in sorted(documents)):
        found.setdefault(placed.item.id, (document.path, block_of(document, placed)))
    return found


def _joined_item(before: Place | None, ours: Place | None, theirs: Place | None) -> Place | None:
    """Return the join of one item; None if it goes.

    If only one side changed it, that side wins. If one side removed it and the other changed it, it goes, unless its
    words were changed: a person wrote those.
    """
    if theirs in (ours, before):
        return ours
    if ours == before:
        return theirs
    if ours is None or theirs is None:
        left = ours or theirs
        return left if left and before and left[1].item.text != before[1].item.text else None
    return _both(before, *sorted((ours, theirs), key=_weight))


def _weight(side: Place) -> tuple[int, bool, str, str, str]:
    """Order two sides of one item: the heavier one wins. A line without `by` is a person's."""
    path, item = side[0], side[1].item
    return (_RANK[item.status], not item.by, item.confirmed, item.text, path)


def _both(before: Place | None, less: Place, more: Place) -> Place:
    """Join two changes of one item: the heavier side wins, with what only the other changed.

    The words are of the side that changed them; if both did, a person's.
    """
    (less_path, less_block), (more_path, more_block) = less, more
    light, heavy = less_block.item, more_block.item
    if before is None or before[1].item.text not in (light.text, heavy.text):
        words = light if heavy.by and not light.by else heavy
    else:
        words = light if light.text != before[1].item.text else heavy
    item = replace(
        heavy,
        text=words.text,
        by=words.by,
        trust=words.trust,
        since=min(filter(None, (light.since, heavy.since)), default=""),
        confirmed=max(light.confirmed, heavy.confirmed),
        seen=max(light.seen, heavy.seen),
        pinned=light.pinned or heavy.pinned,
        links=heavy.links or light.links,
    )
    stayed = before is not None and more_path == before[0] and heavy.status is light.status
    return less_path if stayed else more_path, Block(item, more_block.notes or less_block.notes)


def _without_twins(items: Mapping[str, Place], ours: Container[str], theirs: Container[str]) -> dict[str, Place]:
    """Return the items, merging those that both machines learnt in the same document and words."""
    out = dict(items)
    first: dict[tuple[str, str, str], str] = {}
    for ident, (path, block) in sorted(items.items(), key=lambda pair: (pair[1][1].item.since, pair[0])):
        item = block.item
        if not item.active:
            continue
        twin = first.setdefault((path, str(item.type), folded(item.text)), ident)
        if twin != ident and (ident in ours) != (ident in theirs) and (twin in ours) != (ident in ours):
            out[ident] = (path, Block(replace(item, status=Status.MERGED, merged_into=twin), block.notes))
    return out


# ---------------------------------------- the text of a document
# Lines of both machines are joined, and items put back in their places.


_FOUND: Final = re.compile(r"\x00(k[0-9a-f]+)\n")


def _join_document(path: str, sides: Sides, blocks: Mapping[str, Block]) -> Document:
    """Return a document with the lines of both sides, and `blocks` as its items.

    Args:
        path: its path.
        sides: before, here and on the other machine; None where it is missing.
        blocks: id → the items it will hold.
    """
    before, ours, theirs = sides
    if ours and theirs:  # generated sentences that differ are rewritten later
        ours, theirs = without_differing(ours, theirs)
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
    """Return the front matter of the only side that changed it, else the later one, whole so that its keys agree."""
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
            # git treats a file with a zero byte as binary, so U+0001 marks the tokens meanwhile.
            file.write_bytes(text.replace("\x00", "\x01token ").encode())
        done = subprocess.run(
            ["git", "merge-file", "--union", "-p", *map(str, files)],  # noqa: S607  the person's own git
            capture_output=True,
            check=True,
            env={
                "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
                "LC_ALL": "C",
                "GIT_CONFIG_NOSYSTEM": "1",
                "HOME": folder,
            },
            cwd=folder,
        )
    return done.stdout.decode().replace("\x01token ", "\x00")


# ---------------------------------------- logs and state
# Everything that either machine has, once.


_PROJECT: Final = re.compile(r"project:[ \t]*\S", re.IGNORECASE)


def join_logs(before: bytes, ours: bytes, theirs: bytes) -> bytes:
    """Return a log with what both machines appended, each entry under its headings and in its project.

    Both ends follow the common part; the lesser one by its bytes comes first, on either machine.
    """
    if theirs in (ours, before):
        return ours
    if ours == before:
        return theirs
    one, other = sorted((_text(ours), _text(theirs)))
    lines, more = split_lines(one), split_lines(other)
    pairs = enumerate(zip(lines, more, strict=False))
    shared = next((number for number, (left, right) in pairs if left != right), min(len(lines), len(more)))
    known = {*split_lines(_text(before)), *lines} if shared < len(split_lines(_text(before))) else set()
    tail = [line for line in more[shared:] if line not in known or not line.strip()]
    if not "".join(tail).strip():
        return "".join(lines).encode(errors="surrogateescape")
    head = lines
    if lines and not lines[-1].endswith("\n"):
        head = [*lines[:-1], lines[-1] + "\n"]
    return "".join([*head, *_again(lines[:shared], lines[shared:], tail), *tail]).encode(errors="surrogateescape")


def _again(shared: list[str], between: list[str], tail: list[str]) -> list[str]:
    """Return the headings and project in force at the end of the shared part, if `between` changed them."""
    changes = any(_PROJECT.match(line) or line.startswith("#") for line in between)
    if not changes or next((line for line in tail if line.strip()), "").startswith("# "):
        return []
    stack: list[tuple[int, int]] = []
    for heading in headings_among(body_lines(shared, 0)):
        stack = [one for one in stack if one[0] < heading.level] + [(heading.level, heading.line)]
    last = stack[-1][1] if stack else -1
    project = [line for line in shared[last + 1 :] if _PROJECT.match(line)][-1:]
    return [
        "\n",
        *(line for _, at in stack for line in (shared[at], "\n")),
        *(line for one in project for line in (one, "\n")),
    ]


def join_rows(before: bytes, ours: bytes, theirs: bytes) -> bytes:
    """Return the rows of both machines, without those that either removed, sorted."""
    old, one, other = (set(data.splitlines()) for data in (before, ours, theirs))
    return b"".join(row + b"\n" for row in sorted((one & other) | (one - old) | (other - old)))


def _text(data: bytes) -> str:
    return data.decode(errors="surrogateescape")


# ---------------------------------------- edits
# People's edits that another machine pushed without a night there are understood before the join.
#
# The next run compares with the join, so it takes everything in it as known. Whoever may push to the remote that the
# user's settings name may write any line of the memory, an owner's too. Trusting such an edit less would protect
# nobody, and lose what a person wrote to the next cap.


def with_edits_recorded(
    git: Git, base: str, there: str, theirs: Mapping[str, bytes], today: str
) -> Mapping[str, bytes]:
    """Return the files of another machine's commit as its next night would leave them, people's edits understood.

    Args:
        git: the memory's git.
        base: the common ancestor.
        there: the other machine's commit.
        theirs: its files.
        today: the memory's day.
    """
    last = git.last_run(since=base, until=there) or base  # a run of ours understood what came before the base
    if last == there:
        return theirs
    documents = _readable(theirs)
    unread = frozenset(path for path in theirs if kind_of(path)) - documents.keys()
    found = reconcile(documents, baseline_at(git, last, documents, unread), today)
    changed = {path: one.text.encode() for path, one in found.documents.items() if one is not documents.get(path)}
    stones = read_tombstones(theirs.get(TOMBSTONES)) | set(found.stones)
    rows = {TOMBSTONES: render_tombstones(stones)} if found.stones else {}
    return {**theirs, **changed, **rows}
