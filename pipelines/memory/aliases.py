"""What a document was called before: names in its front matter under `aliases`, which go on meaning it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.memory.markdown import line_end

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pipelines.memory.documents import Document

KEY = "aliases"


def aliases_of(document: Document) -> tuple[str, ...]:
    """Return a document's former names: `aliases: [One, Two]`, `aliases: One`, or a list of lines below the key."""
    found: list[str] = []
    rows = document.lines[: document.front.lines]
    at = next((n for n, line in enumerate(rows) if line.startswith(f"{KEY}:")), None)
    if at is None:
        return ()
    told = rows[at].partition(":")[2].strip()
    found += told.strip("[]").split(",")
    for line in rows[at + 1 :]:
        if not line.strip().startswith("- "):
            break
        found.append(line.strip()[2:])
    return tuple(name for one in found if (name := one.strip().strip("\"'").strip()))


def with_front_lines(document: Document, rows: Iterable[str]) -> Document:
    """Return a document with lines put at the end of its front matter, which is made where there is none."""
    lines, end = list(document.lines), line_end(document.lines)
    new = [row + end for row in rows]
    if document.front.lines:
        at = document.front.lines - 1
        return document.with_text("".join([*lines[:at], *new, *lines[at:]]))
    return document.with_text("".join([f"---{end}", *new, f"---{end}", *lines]))


def with_alias(document: Document, name: str) -> Document:
    """Return a document that is also known by a former name."""
    name = " ".join(name.translate(_STRUCTURE).split())
    if not name or name.casefold() in {one.casefold() for one in aliases_of(document)}:
        return document
    lines = list(document.lines)
    at = next((n for n, line in enumerate(lines[: document.front.lines]) if line.startswith(f"{KEY}:")), None)
    if at is None:
        return with_front_lines(document, [f"{KEY}: [{name}]"])
    end = line_end(lines)
    if lines[at].partition(":")[2].strip():
        lines[at] = f"{KEY}: [{', '.join([*aliases_of(document), name])}]{end}"
    else:
        stop = at + 1
        while lines[stop].strip().startswith("- "):
            stop += 1
        indent = lines[at + 1][: len(lines[at + 1]) - len(lines[at + 1].lstrip())] if stop > at + 1 else "  "
        lines.insert(stop, f"{indent}- {name}{end}")
    return document.with_text("".join(lines))


_STRUCTURE = str.maketrans(dict.fromkeys(",[]\"'{}#", " "))
