"""`curate forget`: an item goes from everything but git's history, in one commit, and never comes back.

What is derived goes first (kept replies, the index), since it can be made anew; the commit is what counts. A start that
was killed before it has forgotten nothing, and is told again.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from pipelines.errors import CurateError
from pipelines.night.forget_logs import blotted, carried_progress, masked
from pipelines.night.manual import Deed, by_hand
from pipelines.review.close_todos import named_todo
from pipelines.store.atomic_replace import mask
from pipelines.store.change_set import Change, placed_item
from pipelines.store.document import Document, commented, edited
from pipelines.store.evidence import Quotes
from pipelines.store.files import list_files, open_regular, writing
from pipelines.store.folders import holding
from pipelines.store.git_history import FORGOTTEN
from pipelines.store.item import folded
from pipelines.store.layout import NOTES, PRIVATE, PROGRESS, REPLIES, REVIEW, SESSIONS
from pipelines.store.lock import private
from pipelines.store.review_queue import read_queue, without_answered
from pipelines.store.state import Reason, read_progress, render_progress, tombstone
from pipelines.store.template import named_item
from pipelines.store.user_layout import names_of, real_path, told

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from datetime import datetime
    from pathlib import Path

    from pipelines.night.manual import Held
    from pipelines.settings import Settings
    from pipelines.store.item import Evidence, Item


_OWN_FILES: Final = ("SOUL.md", "AGENTS.md")
_TEXTS: Final = (".md", ".txt")


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was forgotten, and what was not.

    Args:
        id: the item's id.
        path: the document in which it stood.
        lines: how many lines of logs were blotted out.
        replies: how many kept replies of models were deleted.
        unlinked: ids of items that named it.
        left: files and lines that still hold its words, none of them a run's to change.
    """

    id: str
    path: str
    lines: int
    replies: int
    unlinked: tuple[str, ...]
    left: tuple[str, ...]


def forget(root: Path, settings: Settings, when: datetime, prefix: str) -> Forgotten:
    """Forget the one item whose id begins so.

    Raises:
        UnknownItem: no item, or more than one, is meant.
        CurateError: what a verb by hand raises.
    """
    done: list[Forgotten] = []
    hiding: list[Callable[[str, bytes], bytes]] = []

    def decide(held: Held) -> Deed:
        ident = named_item(prefix, [p.item.id for one in held.documents.values() for p in one.items])
        deed, forgotten, hide = _decided(held, ident)
        done[:], hiding[:] = [forgotten], [hide]
        return deed

    by_hand(root, settings, when, "curate forget", decide)
    mask(root, hiding[0])
    return done[0]


def _decided(held: Held, ident: str) -> tuple[Deed, Forgotten, Callable[[str, bytes], bytes]]:
    path, placed = placed_item(held.documents, ident)
    item, root = placed.item, held.snapshot.root
    words = words_of(item, root)
    documents = cleared(held.documents, ident, words)
    logs, count = _log_changes(held, item, words)
    places = [*(told(root, place) for place in documents.left), *_left(root, words), *_left_in_place(held, words)]
    left = tuple(dict.fromkeys(places))
    replies = _drop_derived(root, words)
    deed = Deed(
        documents.documents,
        f"Forget {ident}",
        changed=1 + len(documents.unlinked),
        stones=[tombstone(item, held.today, Reason.FORGOTTEN)],
        further=logs,
    )

    def hide(log: str, data: bytes) -> bytes:
        return masked(data, blotted(log, data, _places(item, log), words).lines)

    return deed, Forgotten(ident, held.snapshot.shown(path), count, replies, documents.unlinked, left), hide


def _places(item: Item, path: str) -> list[Evidence]:
    return [one for one in item.evidence if one.path == path]


def words_of(item: Item, root: Path) -> Words:
    """Return the words that are to be forgotten with an item: its sentence, and the lines of the log it rests on."""
    quotes = Quotes(root)
    found = [quotes.found(one).quote for one in item.evidence]
    return Words.of([item.text, *(_bare(quote) for quote in found if quote)])


def _bare(quote: str) -> str:
    """Return a quote without the pointer that a captured line ends with."""
    return "\n".join(line.partition("<!-- Sessions/")[0] for line in quote.split("\n"))


def _log_changes(held: Held, item: Item, words: Words) -> tuple[list[Change], int]:
    """Return the changes that blot the words out of the logs, and of how many lines."""
    snapshot, changes, count = held.snapshot, list[Change](), 0
    if names_of(snapshot.root) is not None:
        return changes, 0  # they are a person's own files
    progress = read_progress(snapshot.state.get(PROGRESS))
    for path, data in {**snapshot.logs, **snapshot.partials}.items():
        out = blotted(path, data, _places(item, path), words)
        if out.data != data:
            changes.append(Change(path, data, out.data))
            count += len(out.lines)
            if path in progress:
                progress[path] = carried_progress(progress, path, data, out.data)
    told, before = render_progress(progress), snapshot.state.get(PROGRESS)
    if changes and before is not None and told != before:
        changes.append(Change(PROGRESS, before, told))
    return changes, count


# ------------------------------------------------------------ what is derived, and what is left


def _drop_derived(root: Path, words: Words) -> int:
    """Delete the kept replies that hold the words, and the index, which the commit has made anew."""
    gone = 0
    for path in list_files(root, REPLIES, ".json"):
        if any(words.stand_in(text) for text in _texts(root, path)):
            with writing(path), holding(root, REPLIES) as folder:
                folder.unlink(path.rpartition("/")[2])
            gone += 1
    with writing(PRIVATE), private(root) as folder:
        for name in ("index.db", "index.db-wal", "index.db-shm"):
            folder.unlink(name)
    return gone


def _left_in_place(held: Held, words: Words) -> list[str]:
    """Return where the words stand in logs and notes that are a person's own files, which nothing here writes into."""
    root = held.snapshot.root
    names = names_of(root)
    if names is None:
        return []
    notes = [path for path in list_files(root, NOTES, "") if path.endswith(_TEXTS) and path not in held.documents]
    parts = [f"{NOTES}/{real}" for real in names.theirs.values() if real not in names.opened]
    return _places_with(root, (*held.snapshot.logs, *notes, *parts), words)


def _texts(root: Path, path: str) -> Iterator[str]:
    """Yield what a JSON file says, a text at a time: JSON within JSON is unpacked, since a reply is one."""
    try:
        file = open_regular(root, path)
        if file:
            with file:
                yield from _unpacked(json.loads(file.read()))
    except (CurateError, OSError, ValueError, RecursionError):
        return


def _unpacked(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
        if value[:1] in "{[":
            try:
                yield from _unpacked(json.loads(value))
            except ValueError:
                return
    elif isinstance(value, (dict, list)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _unpacked(inner)


def _left(root: Path, words: Words) -> list[str]:
    """Return where the words stand in files that no run writes: transcripts, displaced logs, own files."""
    paths = [*list_files(root, SESSIONS, ".jsonl"), *_OWN_FILES]
    paths += [path for path in list_files(root, f"{PRIVATE}/displaced", "") if "~" not in path]
    paths += list_files(root, f"{PRIVATE}/runs", ".json")
    return _places_with(root, paths, words)


def _places_with(root: Path, paths: Iterable[str], words: Words) -> list[str]:
    """Return where the words stand in files, by what people call those."""
    return [f"{real_path(root, path)}:{number}" for path in paths for number in _lines_with(root, path, words)]


def _lines_with(root: Path, path: str, words: Words) -> Iterator[int]:
    rare = [max(text.split(), key=len).encode() for text in words.texts]
    try:
        file = open_regular(root, path)
    except CurateError:
        return
    if file:
        with file:
            for number, line in enumerate(file, 1):
                low = line.lower()
                if any(word in low or not word.isascii() for word in rare) and _says(line, words):
                    yield number


def _says(line: bytes, words: Words) -> bool:
    text = line.decode(errors="replace")
    if text[:1] in "{[":
        try:
            return any(words.stand_in(one) for one in _unpacked(json.loads(text)))
        except (ValueError, RecursionError):
            pass
    return words.stand_in(text)


# ---------------------------------------- forget: an item goes from every document
# with what was asked about it and what named it.


LEAST_WORDS: Final = 3
"""Fewer words than these stand everywhere: they are looked for only where the item's evidence says that they are."""


@dataclass(frozen=True, slots=True)
class Words:
    """The words that are to be forgotten: the item's own, and those of the log that it rests on.

    Args:
        texts: folded, each of some length.
    """

    texts: tuple[str, ...]

    @classmethod
    def of(cls, texts: Iterable[str]) -> Words:
        """Return the words of these texts; what is too short to be told from others is left out."""
        told = dict.fromkeys(folded(text) for text in texts)
        return cls(tuple(text for text in told if len(text.split()) >= LEAST_WORDS))

    def stand_in(self, text: str) -> bool:
        """Whether any of them stands in a text, as whole words, whatever its case and punctuation."""
        if not self.texts:
            return False
        hay = f" {folded(text)} "
        return any(f" {needle} " in hay for needle in self.texts)


@dataclass(frozen=True, slots=True)
class Cleared:
    """The documents without an item.

    Args:
        documents: every document by path.
        unlinked: ids of items that named it, and do no longer.
        left: places where its words stand in what a person wrote, or in another item; `PATH:LINE`.
    """

    documents: dict[str, Document]
    unlinked: tuple[str, ...]
    left: tuple[str, ...]


def cleared(documents: Mapping[str, Document], ident: str, words: Words) -> Cleared:
    """Return the documents without an item, the notes under it, the questions about it and the links to it."""
    after = dict(documents)
    if REVIEW in after:
        after[REVIEW] = _unasked(after[REVIEW], ident, words)
    unlinked: list[str] = []
    for path, document in sorted(after.items()):
        bare = edited(document, remove=[ident]) if any(p.item.id == ident for p in document.items) else document
        new = {p.line: cut for p in bare.items if p.item.id and (cut := _unlinked(p.item, ident)) != p.item}
        unlinked += [item.id for item in new.values()]
        after[path] = commented(bare, new) if new else bare
    left = [
        f"{path}:{number + 1}"
        for path, document in sorted(after.items())
        for number, line in enumerate(document.lines)
        if words.stand_in(line.partition("<!-- ")[0])
    ]
    return Cleared(after, tuple(unlinked), tuple(left))


def _unlinked(item: Item, ident: str) -> Item:
    """Return an item that names the forgotten one no more; its status stays what it was."""
    links = tuple((kind, kept) for kind, ids in item.links if (kept := tuple(one for one in ids if one != ident)))
    return replace(
        item,
        links=links,
        superseded_by="" if item.superseded_by == ident else item.superseded_by,
        merged_into="" if item.merged_into == ident else item.merged_into,
        extra=tuple(pair for pair in item.extra if pair != ("against", ident)),
    )


def _unasked(queue: Document, ident: str, words: Words) -> Document:
    """Return Review.md without the item: its question goes, and what quotes it elsewhere is blotted out."""
    asked = [
        (entry, [ident] if entry.items else [])
        for entry in read_queue(queue)
        if any(item.id == ident for item in entry.items) or named_todo(entry.title) == ident
    ]
    bare = without_answered(queue, asked)
    lines, items = list(bare.lines), {placed.line for placed in bare.items}
    marks = {entry.first for entry in read_queue(bare)}
    for number, line in enumerate(lines):
        if number not in items and words.stand_in(line.partition("<!-- ")[0]):
            end = line[len(line.rstrip("\r\n")) :]
            mark = " " + line[line.index("<!-- ") :].rstrip("\r\n") if number in marks else ""
            lines[number] = f"{'## ' if mark else ''}{FORGOTTEN}{mark}{end}"
    return Document(bare.path, "".join(lines))
