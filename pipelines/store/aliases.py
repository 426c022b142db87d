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
    rows = document.lines[: document.front.lines]
    at = next((n for n, line in enumerate(rows) if line.startswith(f"{KEY}:")), None)
    if at is None:
        return ()
    below = takewhile(lambda row: row.startswith("- "), map(str.strip, rows[at + 1 :]))
    found = [*rows[at].partition(":")[2].strip().strip("[]").split(","), *(row[2:] for row in below)]
    return tuple(name for one in found if (name := one.strip().strip("\"'").strip()))


def with_alias(document: Document, name: str) -> Document:
    """Return a document with a former name added to its aliases."""
    name = " ".join(name.translate(_STRUCTURE).split())
    if not name or name.casefold() in {one.casefold() for one in aliases_of(document)}:
        return document
    lines = list(document.lines)
    at = next((n for n, line in enumerate(lines[: document.front.lines]) if line.strip() == f"{KEY}:"), None)
    if at is None:
        return with_front_matter(document, {KEY: f"[{', '.join([*aliases_of(document), name])}]"})
    rows = list(takewhile(lambda row: row.strip().startswith("- "), lines[at + 1 :]))
    indent = rows[0][: len(rows[0]) - len(rows[0].lstrip())] if rows else "  "
    lines.insert(at + 1 + len(rows), f"{indent}- {name}{line_end(lines)}")
    return document.with_text("".join(lines))


_STRUCTURE = str.maketrans(dict.fromkeys(",[]\"'{}#", " "))
