"""An item's line, taken apart: its box, its label, its words, and the mark that leads to its row of the ledger."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

_BLANKS = " \t\xa0"
_BOXES = " xX/>!-"
_LABELS = "decision fact rule todo risk".split()
_DRESSES = ("", "*", "_", "**", "__", "[")
_BLOCK = re.compile(r"(?<![ \t])[ \t]+\^[A-Za-z0-9-]+$")
ID_PATTERN = r"k[0-9a-f]{6,64}"
ITEM_ID = re.compile(ID_PATTERN)
MARK = re.compile(rf"(?<!\S)\^({ID_PATTERN})(?!\S)")
_MARKDOWN = str.maketrans(dict.fromkeys('*_`~\\"'))
OPENS = re.compile(r"(?!#{1,6}(?:\s|$)|```|\d[.)\d]{0,64}[.)]\s|[-+*•…>|<=~^!\[\]{}:%_\\])\S")
"""The beginning of a text that can stand in a line without becoming more than words."""
BY_WORD = {"goals": "Goals", "questions": "Open questions", "contacts": "Contacts", "howto": "How to"}
"""The sections of items that name one, because their type does not determine it; an item there needs no label."""
ROWS = ("The user", "Projects", "Due", "Open risks", "People", "Where the rest is")
"""The sections of the briefing whose rows runs write anew."""
OWNED = frozenset(title.lower() for title in ("Now", "State", *ROWS))
"""The headings, in lower case, under which runs write lines of their own."""


def values_in(row: str) -> dict[str, Any]:
    """Return the values of a row of the ledger by key: texts, and where it rests; others are passed over."""
    try:
        found = json.loads(row)
    except (ValueError, RecursionError):
        return {}
    pairs = found.items() if isinstance(found, dict) else ()
    told = ((k, [*map(str, v)] if k == "from" and isinstance(v, list) else v) for k, v in pairs)
    return {k: v for k, v in told if isinstance(v, str) or k == "from"}


def line_key(title: str, line: str) -> str:
    """Return the key of a line that a run writes under a heading: both without case, spacing, Markdown and bullet."""
    words = line.strip().removeprefix("- ").removeprefix("* ").translate(_MARKDOWN)
    return f"{' '.join(title.lower().split())}: {' '.join(words.lower().split())}"


def is_generated_under(path: str, title: str) -> bool:
    """Whether runs write sentences or rows under a heading of a document."""
    if path.startswith("Episodes/"):
        return True
    return title.lower() in OWNED if path == "MEMORY.md" else title.lower() == "state"


def rows_in(data: bytes) -> dict[str, str]:
    """Return the rows of a ledger's file by id, of two the greater text; lines that are none are passed over."""
    found = dict[str, str]()
    for line in data.decode(errors="replace").split("\n"):
        if line.startswith('{"id": "'):
            ident = line[8 : line.find('"', 8)]
            found[ident] = max(found.get(ident, ""), line)
    return found


class ItemLine(NamedTuple):
    """One item's line.

    Args:
        label: the type, in lower case.
        words: what follows the label, as it was written, without the marks of a strike-through.
        box: what is in the box before the label; a blank without one.
        is_struck: whether it is struck through.
        id: the item's id; empty for a line that no run has numbered yet.
    """

    label: str
    words: str
    box: str
    is_struck: bool
    id: str


def split_mark(line: str) -> tuple[str, str]:
    """Return a line without the mark of an item, ` ^k…`, wherever that stands, and the id in it."""
    if found := MARK.search(line) if "^k" in line else None:
        return f"{line[: found.start()].rstrip(_BLANKS)}{line[found.end() :]}".rstrip(_BLANKS), found[1]
    return line.rstrip(" \t"), ""


def own_block_id(line: str) -> str:
    """Return the block id of a person's own at the end of a line without an item's mark, with the blanks before it."""
    found = _BLOCK.search(line) if "^" in line else None
    return found[0] if found else ""


def read_item_line(line: str, unlabelled: str = "") -> ItemLine | None:
    """Return the item in a line without its end, or None for any other line.

    An item is a top-level list item with one of the five labels, in any case, possibly bold.

    Args:
        line: the line.
        unlabelled: the type that it has without a label; if empty, it is no item then.
    """
    if line[:1] not in {"-", "*", "+"} or line[1:2] not in _BLANKS:
        return None
    bare, ident = split_mark(line)
    rest, box = bare[1:].removesuffix(own_block_id(bare)).lstrip(_BLANKS), " "
    if rest[:1] == "[" and rest[2:3] == "]" and rest[1] in _BOXES and rest[3:4] in _BLANKS:
        rest, box = rest[3:].lstrip(_BLANKS), rest[1]
    is_open, rest = rest[:2] == "~~", rest.removeprefix("~~")
    dress = rest[: len(rest) - len(rest.lstrip("*_["))]  # `**Fact**: x`, `**Fact:** x` or `[Fact] x`
    label, ends, words = rest.removeprefix(dress).partition("]" if dress == "[" else ":")
    if dress == "[":
        ends = words[:1] if words[:1] in {" ", "\t"} else ""
    elif label.endswith(dress):
        label = label.removesuffix(dress)
    else:
        words = words.removeprefix(dress)
    if not ends or dress not in _DRESSES or label.lower() not in _LABELS:
        label, words = unlabelled, rest
        if not label or not (ident or any(map(str.isalpha, words))):
            return None
    words = words.lstrip(" \t")
    is_struck = is_open and words.endswith("~~")
    words = words[:-2] if is_struck else f"~~{words}" if is_open else words
    return ItemLine(label.lower(), words, box, is_struck, ident)
