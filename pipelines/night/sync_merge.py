"""Join two trees with a common ancestor, by rules that give the same result on either machine.

Documents are joined item by item and their other lines as text, logs entry by entry, and state row by row. What both
machines changed in different ways stays, or is named, so that a person can decide.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from pipelines.night.reconcile import reconcile
from pipelines.night.undo_items import own_words
from pipelines.store.document import Block, Document, block_of, document_at, edited, numbered
from pipelines.store.generated import vetoed_by, without_differing, without_pointers
from pipelines.store.git_history import baseline_at
from pipelines.store.item import Status, with_metadata
from pipelines.store.layout import BRIEFING, LOGS, REVIEW, SETTINGS, STATE, TOMBSTONES, kind_of
from pipelines.store.ledger import ledger_after
from pipelines.store.markdown import body_lines, headings_among, split_lines
from pipelines.store.merge import blocks_in, merge_documents, merge_notes
from pipelines.store.review_queue import with_entry
from pipelines.store.state import read_tombstones, render_tombstones
from pipelines.store.three_way import Clash, both, merge_texts
from pipelines.store.trees import read_documents_in
from pipelines.store.wording import words_key

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping, Sequence

    from pipelines.store.git import Git

    Files = Mapping[str, bytes]
    Place = tuple[str, Block]
    """A document's path, and an item in it with its notes."""
    Sides = tuple[Document | None, Document | None, Document | None]
    """A document before, here and on the other machine; None where it is missing."""


_RANK = {
    status: rank
    for rank, status in enumerate((
        Status.LIVE, Status.OPEN, Status.WAITING, Status.ARCHIVED, Status.DONE, Status.DROPPED, Status.RESOLVED,
        Status.OCCURRED, Status.ANSWERED, Status.ENDED, Status.MERGED, Status.SUPERSEDED, Status.NEVER_HELD,
        Status.RETRACTED, Status.FORGOTTEN,
    ))
}  # fmt: skip
"""Closing an item wins over leaving it open: a person, or a newer item, closed it."""


_BOTH = "Both versions stand there, one after the other."
_ONE = "The first version stands there."
_STAYS = "It was deleted on one machine and changed on the other, so it stays."
_WHOLE = "It cannot be merged line by line. One version stands there whole."


@dataclass(frozen=True, slots=True)
class Disputed:
    """What two machines changed in different ways, and no rule decides.

    Args:
        path: the file.
        what: what stands there now, a sentence.
        versions: the lines of either side; empty if the file as a whole is disputed.
    """

    path: str
    what: str
    versions: tuple[tuple[str, ...], ...] = ()


def join(
    before: Files, ours: Files, theirs: Files
) -> tuple[dict[str, bytes | None], dict[str, Document], tuple[Disputed, ...]]:
    """Join two trees. The result is the same from either side.

    Returns:
        Every other file that differs from ours (None to delete it), the documents, and what a person must decide.
    """
    files: dict[str, bytes | None] = {}
    before, ours, theirs = _renamed_alike(before, ours, theirs)
    documents, disputed = _join_documents(_documents(before), _documents(ours), _documents(theirs))
    for path in sorted({*before, *ours, *theirs}):
        if path in documents or read_documents_in({path: ours.get(path) or theirs.get(path) or b""}):
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
        elif here is None or there is None:
            files[path] = here or there
            disputed.append(Disputed(path, _STAYS))
        else:
            files[path], found = _join_plain(path, was or b"", *sorted((here, there)))
            disputed += found
    return files, documents, tuple(disputed)


def _join_plain(path: str, before: bytes, one: bytes, other: bytes) -> tuple[bytes, list[Disputed]]:
    """Join a file without items line by line; of settings that clash, the greater lines stand, as both are invalid."""
    is_settings = path == SETTINGS
    try:
        sides = [data.decode() for data in (before, one, other)]
        merged, clashes = merge_texts(*sides, resolve=_greater if is_settings else both)
        if is_settings:
            tomllib.loads(merged)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError):
        return other, [Disputed(path, _WHOLE)]
    return merged.encode(), [_disputed(path, clash, _ONE if is_settings else _BOTH) for clash in clashes]


def _greater(clash: Clash) -> list[str]:
    return list(max(clash.one, clash.other))


def _disputed(path: str, clash: Clash, what: str) -> Disputed:
    return Disputed(path, what, tuple(sorted((clash.one, clash.other), reverse=what == _ONE)))


def _renamed_alike(before: Files, ours: Files, theirs: Files) -> tuple[Files, Files, Files]:
    """Return the trees with the pages that one side renamed under their new names on all sides."""
    sides = [dict(side) for side in (before, ours, theirs)]
    for one, other in ((1, 2), (2, 1)):
        for old, new in _renames(sides[0], sides[one]):
            if old in sides[other] and new not in sides[other]:
                for side in (sides[0], sides[other]):
                    side[new] = side.pop(old)
    return sides[0], sides[1], sides[2]


def _renames(before: Files, after: Files) -> list[tuple[str, str]]:
    """Return the old and the new name of each page with at least half of its lines in a new one."""
    gone, made = (
        {path: _line_counts(side[path]) for path in sorted(side.keys() - rest.keys()) if kind_of(path)}
        for side, rest in ((before, after), (after, before))
    )
    found = []
    for old, lines in gone.items():
        shared = {new: (lines & more).total() for new, more in made.items()}
        best = max(shared, key=lambda new: (shared[new], new), default="")
        if best and shared[best] * 2 >= max(lines.total(), 1):
            found.append((old, best))
            del made[best]
    return found


def _line_counts(data: bytes) -> Counter[bytes]:
    return Counter(line.strip() for line in data.splitlines() if line.strip())


def vetoes(before: Files, ours: Files, theirs: Files) -> frozenset[str]:
    """Return the generated lines that either person deleted, without those that one put back since the trees parted."""
    sides = (vetoed_by(read_tombstones(one.get(TOMBSTONES)), read_documents_in(one)) for one in (before, ours, theirs))
    was, here, there = sides
    return (here & there) | (here | there) - was


def _join_documents(
    before: Mapping[str, Document], ours: Mapping[str, Document], theirs: Mapping[str, Document]
) -> tuple[dict[str, Document], list[Disputed]]:
    disputed = [Disputed(path, _STAYS) for path in sorted(before) if _is_only_rewritten(path, before, ours, theirs)]
    back = [before[one.path] for one in disputed]
    ours, theirs = _put_back(ours, back), _put_back(theirs, back)
    old, mine, other = _places(before), _places(ours), _places(theirs)
    places = {}
    for ident in sorted({*mine, *other}):
        was, here, there = old.get(ident), mine.get(ident), other.get(ident)
        if one := _joined_item(was, here, there):
            places[ident] = one
            disputed += _reworded_twice(one, was, here, there)
    homes: dict[str, dict[str, Block]] = {}
    for ident, (path, block) in _without_twins(places, mine, other).items():
        homes.setdefault(path, {})[ident] = block
    out = {}
    for path in sorted({*ours, *theirs, *homes}):
        sides = page, *_ = (before.get(path), ours.get(path), theirs.get(path))
        left = sides[1] or sides[2]
        # The other side left it alone.
        gone = page and not (sides[1] and sides[2]) and (left is None or left.content == page.content)
        if path in homes or not gone:
            blocks = homes.get(path, {})
            out[path] = _as_it_is(sides, blocks) or _join_document(path, sides, blocks, disputed)
    return out, disputed


def _is_only_rewritten(
    path: str, before: Mapping[str, Document], ours: Mapping[str, Document], theirs: Mapping[str, Document]
) -> bool:
    """Whether one side deleted a page on which the other changed a person's own lines."""
    left = ours.get(path) or theirs.get(path)
    return left is not None and (path in ours) != (path in theirs) and own_words(left) != own_words(before[path])


def _put_back(side: Mapping[str, Document], pages: Sequence[Document]) -> Mapping[str, Document]:
    """Return one side with the pages that it deleted, without the items that it moved elsewhere."""
    if not (lost := [page for page in pages if page.path not in side]):
        return side
    here = _places(side)
    return {**side, **{page.path: edited(page, remove=page.held.keys() & here.keys()) for page in lost}}


def _reworded_twice(joined: Place, *sides: Place | None) -> list[Disputed]:
    """Return the dispute about an item that a person reworded on each machine, in different words."""
    items = [side[1].item for side in sides if side]
    texts = {item.text for item in items}
    if len(texts) < len(sides) or any(item.by for item in items[1:]):
        return []
    own = joined[1].item.text
    return [Disputed(joined[0], _ONE, ((own,), (next(one.text for one in items[1:] if one.text != own),)))]


def _as_it_is(sides: Sides, blocks: Mapping[str, Block]) -> Document | None:
    """Return the only side that changed a document, if its items are the joined ones: its lines keep their bytes."""
    was, here, there = (side.text if side else None for side in sides)
    one = sides[1] if there in {was, here} else sides[2] if here == was else None
    return one if one and blocks_in(one) == blocks else None


def _documents(files: Files) -> dict[str, Document]:
    """Return the files that can be read as documents; MEMORY.md without its generated rows, which are rewritten."""
    found = read_documents_in(files)
    return found | {path: without_pointers(found[path]) for path in (BRIEFING,) if path in found}


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
    was = before[1].item.metadata if before else {}
    both = {key: light.metadata.get(key, "") for key in light.metadata | was if heavy.metadata.get(key) == was.get(key)}
    item = replace(
        with_metadata(heavy, heavy.metadata | both),
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
    notes = merge_notes(before[1] if before else None, *sorted((less_block, more_block), key=lambda one: one.notes))
    return less_path if stayed else more_path, Block(item, notes)


def _without_twins(items: Mapping[str, Place], ours: Container[str], theirs: Container[str]) -> dict[str, Place]:
    """Return the items, merging those that both machines learnt in the same document and words."""
    out = dict(items)
    first: dict[tuple[str, str, str], str] = {}
    for ident, (path, block) in sorted(items.items(), key=lambda pair: (pair[1][1].item.since, pair[0])):
        item = block.item
        if not item.active:
            continue
        twin = first.setdefault((path, str(item.type), words_key(item.text)), ident)
        if twin != ident and (ident in ours) != (ident in theirs) and (twin in ours) != (ident in ours):
            out[ident] = (path, Block(replace(item, status=Status.MERGED, merged_into=twin), block.notes))
    return out


def _join_document(path: str, sides: Sides, blocks: Mapping[str, Block], disputed: list[Disputed]) -> Document:
    """Return a document with the lines of both sides, and `blocks` as its items.

    Args:
        path: its path.
        sides: before, here and on the other machine; None where it is missing.
        blocks: id → the items it will hold.
        disputed: receives what both sides changed.
    """
    before, ours, theirs = sides
    if ours and theirs:  # generated sentences that differ are rewritten later
        ours, theirs = sorted(without_differing(ours, theirs), key=lambda one: one.text)
    empty = document_at(path, "")
    left = ours or theirs or empty
    versions = (before or empty, ours, theirs) if ours and theirs else (left, left, left)
    joined = merge_documents(versions, blocks)
    if path != REVIEW:  # there, both questions stand
        disputed += [_disputed(path, clash, _BOTH) for clash in joined.clashes]
        disputed += [_disputed(path, clash, _ONE) for clash in joined.keys]
    return joined.document


# ---------------------------------------- what a person decides


DONE: Final = "done: it is as it should be; edit it before, if it is not"
_MOST_QUOTED = 20
"""Longer versions are in git."""


def with_questions(
    documents: Mapping[str, Document],
    disputed: Sequence[Disputed],
    commits: Sequence[str],
    today: str,
    shown: Callable[[str], str],
) -> dict[str, Document]:
    """Return the documents with a question in Review.md about each file with something disputed.

    Args:
        documents: every document by path.
        disputed: what is disputed.
        commits: the commits of the two machines.
        today: the day of the join, the same on either machine.
        shown: turns a path into the file name that people know.
    """
    after, short = dict(documents), sorted(commit[:10] for commit in commits)
    for path in sorted({one.path for one in disputed}):
        rows: list[str] = []
        for one in disputed:
            if one.path == path:
                rows += [one.what, ""]
                for version in one.versions:
                    quoted = [f"> {line.replace('<!--', '&lt;!--')}" for line in version[:_MOST_QUOTED]]
                    rows += [*quoted, *["> …"] * (len(version) > _MOST_QUOTED), *["> (deleted)"] * (not version), ""]
        shows = " and ".join(f"`git show {commit}:./{shown(path)}`" for commit in short)
        title = f"{shown(path)} was changed on two machines ({' and '.join(short)})"
        after = with_entry(after, "merge", today, title, "\n".join([*rows, f"Both are in git: {shows}."]), [DONE])
    return after


# ---------------------------------------- logs and state
# Everything that either machine has, once.


_PROJECT = re.compile(r"project:[ \t]*\S", re.IGNORECASE)


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
    last = git.last_run(until=there) or base
    if last == there:
        return theirs
    documents = read_documents_in(theirs)
    unread = frozenset(path for path in theirs if kind_of(path)) - documents.keys()
    found = reconcile(documents, baseline_at(git, last, documents, unread), today)
    new = [one for path, one in found.documents.items() if one is not documents.get(path)]
    changed = {one.path: one.text.encode() for one in new} | ledger_after(theirs, new)
    stones = read_tombstones(theirs.get(TOMBSTONES)) | set(found.stones)
    rows = {TOMBSTONES: render_tombstones(stones)} if found.stones else {}
    return {**theirs, **changed, **rows}
