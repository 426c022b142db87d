"""Forget: an item goes from every document, with what was asked about it and what named it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from pipelines.review.close_todos import named_todo
from pipelines.store.document import Document, commented, edited
from pipelines.store.git_history import FORGOTTEN
from pipelines.store.item import folded
from pipelines.store.layout import REVIEW
from pipelines.store.review_queue import read_queue, without_answered

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pipelines.store.item import Item

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
