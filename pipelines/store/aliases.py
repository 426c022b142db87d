"""Former names of a document: they are kept under `aliases` in its front matter, and still find it."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

from pipelines.store.document import with_front_matter
from pipelines.store.markdown import line_end

if TYPE_CHECKING:
    from pipelines.store.document import Document


KEY = "aliases"


def aliases_of(document: Document) -> tuple[str, ...]:
    """Return a document's former names: `aliases: [One, Two]`, `aliases: One`, or a list of lines below the key."""
    at, below = _listed(document)
    beside = document.lines[at].partition(":")[2].strip().strip("[]").split(",") if at else ()
    found = [*beside, *(row.strip()[2:] for row in below)]
    return tuple(name for one in found if (name := one.strip().strip("\"'").strip()))


def _listed(document: Document) -> tuple[int, list[str]]:
    """Return the line of the key, or 0 without one, and the lines of the list below it."""
    rows = document.lines[: document.front.lines]
    at = next((n for n, line in enumerate(rows) if line.startswith(f"{KEY}:")), 0)
    return at, list(takewhile(lambda row: row.strip().startswith("- "), rows[at + 1 :])) if at else []


def with_alias(document: Document, name: str) -> Document:
    """Return a document with a former name added to its aliases."""
    name, known = " ".join(name.translate(_STRUCTURE).split()), aliases_of(document)
    if not name or name.casefold() in map(str.casefold, known):
        return document
    at, below = _listed(document)
    if not below:
        return with_front_matter(document, {KEY: f"[{', '.join([*known, name])}]"})
    indent, lines = below[0].partition("-")[0], list(document.lines)
    lines.insert(at + 1 + len(below), f"{indent}- {name}{line_end(lines)}")
    return document.with_text("".join(lines))


_STRUCTURE = str.maketrans(dict.fromkeys(",[]\"'{}#", " "))
