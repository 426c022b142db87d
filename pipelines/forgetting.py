"""`curate forget`: an item goes from everything but git's history, in one commit, and never comes back.

What is derived goes first (kept replies, the index), since it can be made anew; the commit is what counts. A start that
was killed before it has forgotten nothing, and is told again.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pipelines.byhand import Deed, by_hand
from pipelines.errors import CurateError
from pipelines.stages.forget import Words, cleared
from pipelines.stages.forget_logs import blotted, carried_progress, masked
from pipelines.store.atomic_replace import mask
from pipelines.store.change_set import Change, placed_item
from pipelines.store.evidence import Quotes
from pipelines.store.files import list_files, open_regular, writing
from pipelines.store.folders import holding
from pipelines.store.layout import NOTES, PRIVATE, PROGRESS, REPLIES, SESSIONS
from pipelines.store.lock import private
from pipelines.store.state import Reason, read_progress, render_progress, tombstone
from pipelines.store.template import named_item
from pipelines.store.user_layout import names_of, real_path, told

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from datetime import datetime
    from pathlib import Path

    from pipelines.byhand import Held
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
