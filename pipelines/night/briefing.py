"""The briefing, and how every document is brought under its cap: what leaves one goes to a named place.

MEMORY.md and USER.md give their lowest-priority items to Areas/general.md; other documents give theirs, closed ones
first, to `Archives/NAME-YEAR.md`. What people wrote stays where it is, whatever its size. MEMORY.md ends with pointers,
the lines that say where more is to be found. The front matter of a changed document says how far it can be relied on.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import partial
from itertools import count
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from pipelines.night.file_items import new_document
from pipelines.store.document import (
    HISTORY,
    SECTIONS,
    Block,
    block_of,
    edited,
    insert_rows,
    is_pointer,
    marked_row,
    with_front_matter,
)
from pipelines.store.item import ACTIVE, SOURCE, Confidence, ItemType, Status, Trust, priority, render_item
from pipelines.store.layout import BRIEFING, GENERAL, REVIEW, USER, Kind, log_path
from pipelines.store.markdown import body_lines, headings_among, line_end
from pipelines.store.review_queue import MOST_SHOWN, read_queue, released

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from pipelines.settings import Settings
    from pipelines.store.document import Document, Placed
    from pipelines.store.item import Item
    from pipelines.store.snapshot import Snapshot

    Rank = Callable[[Item], float]


_ROUNDS: Final = 4
"""How often documents are brought under their caps; the second time is nearly always the last."""
POINTER_SHARE: Final = 4
_SOURCES: Final = frozenset({"", "logs", "owner", "logs, owner"})
"""What runs write as a source; anything else is a person's, say the address that a resource was clipped from."""
CLOSED_STATUS: Final = frozenset({"done", "closed", "archived", "finished", "inactive"})
PROJECTS, DAYS, PEOPLE = "Projects", "Recent days", "People"
NOT_CONFIRMED: Final = "Not confirmed"
_ORDER: Final = (*SECTIONS.values(), NOT_CONFIRMED, HISTORY, PROJECTS, DAYS, PEOPLE)
_NEWS: Final = ACTIVE | {Status.DONE, Status.RESOLVED, Status.OCCURRED, Status.ARCHIVED}
"""What counts as the news of a day: what waits was never believed, and what was taken back is no more."""
_PERSON: Final = re.compile(
    r"(?P<name>[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)?) (?:to|will|prefers?|likes|works|owns|leads|is (?:the|our|on|in)|wants|"
    r"joined|manages|reviews|handles)\b"
)
_NOT_PEOPLE: Final = frozenset(
    """The This That It We They He She You There All Any Both Each Every No None One Some Use Everything Everyone
    Everybody Anyone Somebody Someone Nobody Nothing What Who Chair Group Team Editors Staff Users People If
    When Where How Why And But Or So Then Now Also Always Never""".split()
)


@dataclass(frozen=True, slots=True)
class Moved:
    """An item that left a document because of its cap."""

    id: str
    source: str
    target: str


@dataclass(frozen=True, slots=True)
class Pruned:
    """The documents under their caps, and what was moved."""

    documents: Mapping[str, Document]
    moved: tuple[Moved, ...]


def tidied(documents: Mapping[str, Document], snapshot: Snapshot, settings: Settings) -> Pruned:
    """Return the documents under their caps, their quality fields written, and what was moved.

    What a document says of its quality takes room, too, and changes with what leaves it: so a document that was brought
    under its cap is looked at again, and the next run finds nothing left to move.

    Args:
        documents: all documents by path, as they are to be written.
        snapshot: the memory as it was read.
        settings: the caps, in bytes, and what the priority is made of.
    """
    before, theirs, closed = snapshot.documents, snapshot.theirs(), snapshot.unreadable()
    documents = with_not_confirmed(documents, theirs)
    moved: tuple[Moved, ...] = ()
    for _ in range(_ROUNDS):
        pruned = prune(with_quality(before, documents, theirs), settings, closed, snapshot.layout.link)
        documents, moved = pruned.documents, (*moved, *pruned.moved)
        if not pruned.moved:
            break
    return Pruned(with_quality(before, documents, theirs), moved)


def with_not_confirmed(documents: Mapping[str, Document], theirs: Collection[str] = ()) -> dict[str, Document]:
    """Return the documents in which each project's page names the rules of others that wait for a person.

    Args:
        documents: every document by path; Review.md holds what waits.
        theirs: documents that are a person's own files.
    """
    after, rows = dict(documents), dict[str, list[str]]()
    for entry in read_queue(documents.get(REVIEW)):
        for item in entry.items:
            if (source := dict(item.extra).get(SOURCE)) and item.type is ItemType.RULE:
                row = f"- “{item.text}” is not confirmed (reported by {source}); Review.md asks."
                rows.setdefault(released(item)[0], []).append(row)
    for path, document in documents.items():
        wanted = [marked_row(row) for row in rows.get(path, ())[:MOST_SHOWN]]
        shown = [line.rstrip("\r\n") for line in document.lines if is_pointer(line)]
        if document.kind in {Kind.PROJECT, Kind.AREA} and path not in theirs and wanted != shown:
            lines = _drop_empty(list(without_pointers(document).lines), NOT_CONFIRMED)
            new = [row + line_end(lines) for row in wanted]
            after[path] = document.with_text("".join(insert_rows(lines, NOT_CONFIRMED, new, _ORDER) if new else lines))
    return after


def prune(
    documents: Mapping[str, Document], settings: Settings, closed: frozenset[str], link: Callable[[str], str] = str
) -> Pruned:
    """Bring every document under its cap, and write the briefing's pointers anew.

    Args:
        documents: all documents by path.
        settings: the caps, in bytes, and what the priority is made of.
        closed: files that are there and cannot be read; nothing is moved into them.
        link: a path as a link in MEMORY.md leads to it.
    """
    after, caps = dict(documents), settings.caps
    rank = partial(priority, newest=newest_day(documents.values()), weights=settings.priority)
    moved: list[Moved] = []
    loaded = {USER: caps.user} if USER in after else {}
    if BRIEFING in after:
        after[BRIEFING] = bare = without_pointers(after[BRIEFING])
        pointers = with_pointers(bare, pointer_rows(after, link)).size - bare.size
        loaded = {BRIEFING: caps.briefing - min(pointers, caps.briefing // POINTER_SHARE), **loaded}
    for path, cap in loaded.items():
        if after[path].size > cap:
            _shrink(after, path, cap, rank, closed, moved)
    for path in sorted(after):
        if after[path].kind in {Kind.PROJECT, Kind.AREA, Kind.RESOURCE} and after[path].size > caps.document:
            _overflow(after, path, caps.document, rank, closed, moved)
    if BRIEFING in after:
        rows = pointer_rows(after, link)
        while rows and with_pointers(after[BRIEFING], rows).size > caps.briefing:  # the longest section loses its last
            titles = [title for title, _ in rows]
            longest = max(dict.fromkeys(titles), key=titles.count)
            rows.pop(max(number for number, title in enumerate(titles) if title == longest))
        after[BRIEFING] = with_pointers(after[BRIEFING], rows)
    return Pruned(after, tuple(moved))


def _shrink(
    documents: dict[str, Document], path: str, cap: int, rank: Rank, closed: frozenset[str], moved: list[Moved]
) -> None:
    """Move items out of what every session loads until it is under `cap` bytes, lowest priority first.

    Only what runs extracted leaves; what is pinned leaves last, where the cap itself forces it. Where people's own text
    exceeds the cap alone, all of that leaves.
    """
    document = documents[path]
    candidates = [placed for placed in document.items if placed.item.id and placed.item.by]
    candidates.sort(key=lambda placed: (rank(placed.item), placed.item.since, placed.item.id))
    if out := [block_of(document, placed) for placed in _first_until_under(cap, document, candidates)]:
        documents[path] = edited(document, remove=[block.item.id for block in out])
        _move(documents, out, path, free_path(GENERAL, closed), moved)


def _first_until_under(cap: int, document: Document, candidates: Iterable[Placed]) -> list[Placed]:
    """Return as many of the candidates as must leave a document, until it is under its cap."""
    over, out = document.size - cap, []
    for placed in candidates:
        if over <= 0:
            break
        over -= len("".join(document.lines[placed.line : placed.end]).encode())
        out.append(placed)
    return out


def _move(documents: dict[str, Document], blocks: list[Block], source: str, target: str, moved: list[Moved]) -> None:
    home = documents.get(target) or new_document(target, "", max(block.item.since for block in blocks))
    documents[target] = edited(home, add=blocks)
    moved += [Moved(block.item.id, source, target) for block in blocks]


def _overflow(
    documents: dict[str, Document], path: str, cap: int, rank: Rank, closed: frozenset[str], moved: list[Moved]
) -> None:
    """Move items out of a document until it is under `cap`: closed ones first, oldest first, then by priority."""

    def leaving_order(item: Item) -> tuple[int, float, str, str]:
        if item.status is Status.OPEN:
            return (2, rank(item), item.since, item.id)
        return (1, rank(item), item.since, item.id) if item.active else (0, 0.0, item.since, item.id)

    document = documents[path]
    may_leave = (p for p in document.items if p.item.id and p.item.by and not p.item.pinned)
    out = _first_until_under(cap, document, sorted(may_leave, key=lambda p: leaving_order(p.item)))
    documents[path] = edited(document, remove=[placed.item.id for placed in out])
    archives: dict[str, list[Block]] = {}
    room: dict[str, int] = {}
    for placed in sorted(out, key=lambda p: p.line):
        block = block_of(document, placed)
        block = Block(archived(block.item), block.notes)
        need = len(render_item(block.item).encode()) + 1 + sum(len(note.encode()) for note in block.notes)
        year = block.item.since[:4] or "undated"
        for number in count(1):  # the archive of its year, or the first numbered part of that which has room
            target = f"Archives/{document.id.rpartition('/')[2]}-{year}{f'-{number}' if number > 1 else ''}.md"
            size = documents[target].size if target in documents else 0
            left = room.setdefault(target, cap - 512 - size)
            if target not in closed and (left >= need or (not size and target not in archives)):
                break
        room[target] -= need
        archives.setdefault(target, []).append(block)
    for target, blocks in archives.items():
        _move(documents, blocks, path, target, moved)


def archived(item: Item) -> Item:
    """Return the item as it stands in an archive: what was believed is archived, what was closed stays as it was."""
    return replace(item, status=Status.ARCHIVED) if item.active else item


def free_path(path: str, taken: Collection[str]) -> str:
    """Return `path`, or the first numbered variant of it that is not taken: `NAME.md`, `NAME-2.md` and so on."""
    stem, number = path.removesuffix(".md"), 1
    while path in taken:
        number += 1
        path = f"{stem}-{number}.md"
    return path


def with_quality(
    before: Mapping[str, Document], after: Mapping[str, Document], theirs: frozenset[str] = frozenset()
) -> dict[str, Document]:
    """Return `after` with `updated` and the quality fields set in each document whose text changed.

    `updated` is the newest day that its items speak of. A document without front matter stays as it is, and so does the
    front matter of one in `theirs`, a person's own file into which items may be written.
    """
    out = dict(after)
    for path, document in after.items():
        if path in theirs:
            continue
        earlier = before.get(path)
        if document.text != (earlier.text if earlier else None) and document.front.lines:
            held = bool(document.items or (earlier and earlier.items))
            out[path] = with_front_matter(document, _fields(document, held=held))
    return out


def _fields(document: Document, *, held: bool) -> dict[str, str]:
    archived_too = document.kind is Kind.ARCHIVE  # in an archive counts what held when it came there
    items = [
        placed.item
        for placed in document.items
        if placed.item.active or (archived_too and placed.item.status is Status.ARCHIVED)
    ]
    if not items:
        updated = {"updated": document.newest} if document.newest else {}
        none = {"trust": "self", "confidence": "medium", "confidence_reason": "no item holds"}
        return updated | (none if held else {})
    counts = Counter(item.confidence for item in items)
    middle = sorted(list(Confidence).index(item.confidence) for item in items)[len(items) // 2]
    levels = ", ".join(f"{counts[level]} {level}" for level in Confidence if counts[level])
    lowest = max(items, key=lambda item: list(Trust).index(item.trust)).trust
    count = "1 item" if len(items) == 1 else f"{len(items)} items"
    sources = ", ".join(sorted({"logs" if item.evidence else "owner" for item in items}))
    source = {"source": sources} if document.front.get("source") in _SOURCES else {}
    return {
        "updated": document.newest,
        **source,
        "trust": lowest,
        "confidence": list(Confidence)[middle],
        "confidence_reason": f"{count}: {levels}",
    }


def pointer_rows(documents: Mapping[str, Document], link: Callable[[str], str] = str) -> list[tuple[str, str]]:
    """Return (section, row) of each pointer: active projects, the days with news of the last week, people.

    A day's news are the items that it brought and that are believed, be they done or archived since.
    The last week is counted from the newest day that any item speaks of, not from the clock.

    Args:
        documents: every document by path.
        link: a path as a link in MEMORY.md leads to it.
    """
    sections = ((PROJECTS, 12, _projects), (DAYS, 7, _days), (PEOPLE, 10, _people))
    return [(title, row) for title, most, rows in sections for row in rows(documents, link)[:most]]


def newest_day(documents: Iterable[Document]) -> str:
    """Return the latest day that any item speaks of, or an empty string."""
    return max((document.newest for document in documents), default="")


def _projects(documents: Mapping[str, Document], link: Callable[[str], str]) -> list[str]:
    rows = []
    for path, document in sorted(documents.items()):
        if document.kind is Kind.PROJECT and document.front.get("status").casefold() not in CLOSED_STATUS:
            waiting, news = sum(placed.item.status is Status.OPEN for placed in document.items), document.newest
            facts = [*([f"{waiting} open"] if waiting else []), *([f"last news {news}"] if news else [])]
            rows.append((news, f"- [{document.title}]({link(path)}){': ' if facts else ''}{', '.join(facts)}"))
    return [row for _, row in sorted(rows, key=itemgetter(0), reverse=True)]


def _days(documents: Mapping[str, Document], link: Callable[[str], str]) -> list[str]:
    newest = newest_day(documents.values())
    if not newest:
        return []
    first = (date.fromisoformat(newest) - timedelta(days=6)).isoformat()
    news: dict[str, Counter[ItemType]] = {}
    for document in documents.values():
        if document.newest < first:
            continue
        for placed in document.items:
            item = placed.item
            if item.learnt >= first and item.evidence and item.status in _NEWS:
                news.setdefault(item.learnt, Counter())[item.type] += 1
    rows = []
    for day in sorted(news, reverse=True):
        counts = [(news[day][kind], kind.lower()) for kind in ItemType if news[day][kind]]
        facts = [f"{count} {kind}{'' if count == 1 else 's'}" for count, kind in counts]
        rows.append(f"- [{day}]({link(log_path(day))}): {', '.join(facts)}")
    return rows


def _people(documents: Mapping[str, Document], link: Callable[[str], str]) -> list[str]:
    """Return the people whom contact lists and items name, the most named first, each with where to read of them."""
    named: Counter[str] = Counter()
    places: dict[str, str] = {}
    for path, document in sorted(documents.items()):
        if document.kind is Kind.ARCHIVE:
            continue
        found, titles = list[str](), document.headings
        for number, heading in enumerate(titles):
            if heading.title.casefold() == "contacts":
                stop = titles[number + 1].line if number + 1 < len(titles) else len(document.lines)
                rows = [line[2:] for line in document.lines[heading.line + 1 : stop] if line[:2] in {"- ", "* "}]
                names = (re.split(r"[,:(<–—]", row)[0].strip(" *_\r\n") for row in rows)
                found += filter(None, names)
        active = (p.item for p in document.items if p.item.active and p.item.trust.reaches(Trust.SELF))
        facts = (item for item in active if item.type in {ItemType.FACT, ItemType.TODO})
        told = (match["name"] for item in facts if (match := _PERSON.match(item.text)))
        found += [name for name in told if name.split(" ")[0] not in _NOT_PEOPLE and not name.isupper()]
        named.update(found)
        for name in found:
            places.setdefault(name, path)
    whole = [name for name in named if " " in name]
    for name in [name for name in named if " " not in name]:
        same = [full for full in whole if full.split(" ")[0] == name]
        if len(same) == 1:
            named[same[0]] += named.pop(name)
    ranked = sorted(named.items(), key=lambda row: (-row[1], row[0]))
    return [f"- {name}: {link(places[name])}" for name, _ in ranked]


def without_pointers(document: Document) -> Document:
    """Return the document without the pointers that runs wrote; what a person changed stays."""
    ours = {number for number, line in enumerate(document.lines) if is_pointer(line)}
    left = (line for number, line in enumerate(document.lines) if number not in ours)
    return document.with_text("".join(left)) if ours else document


def with_pointers(document: Document, rows: Iterable[tuple[str, str]]) -> Document:
    """Return the document with these pointers in their sections, and without sections that they left empty."""
    lines, end = list(document.lines), line_end(document.lines)
    sections: dict[str, list[str]] = {}
    for title, row in rows:
        sections.setdefault(title, []).append(marked_row(row) + end)
    for title in (PROJECTS, DAYS, PEOPLE):
        lines = insert_rows(lines, title, sections[title], _ORDER) if title in sections else _drop_empty(lines, title)
    return document.with_text("".join(lines))


def _drop_empty(lines: list[str], title: str) -> list[str]:
    headings = headings_among(body_lines(lines, 0))
    for number, heading in enumerate(headings):
        if heading.level == 2 and heading.title == title:  # noqa: PLR2004  pointer sections are made at level two
            stop = headings[number + 1].line if number + 1 < len(headings) else len(lines)
            if not "".join(lines[heading.line + 1 : stop]).strip():
                return [*lines[: heading.line], *lines[stop:]]
    return lines
