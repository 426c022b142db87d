"""The words of a line without its Markdown, and when two texts say the same."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pipelines.store.item import fold

if TYPE_CHECKING:
    from collections import Counter

LONGEST_TEXT: Final = 1200  # characters; a longer one is not a sentence to keep, and is cut at a word

_CODE = re.compile(r"(`[^`\n]{1,400}`)")
_BOLD = re.compile(r"(?<![\w*])(\*{1,3})(?=[^\s*])([^*\n]{1,1500}?)(?<=\S)\1(?![\w*])")
_PROJECT = re.compile(r"[ \t]?\[project:[^\[\]\n]{1,88}\]", re.IGNORECASE)
_SELF_LINK = re.compile(r"\[(https?://[^\s\[\]()]{1,500})\]\(\1\)")
_NOT_WORDS = re.compile(r"[^\w#./@%+:-]+")
_EDGES: Final = ".:-/#+%@"


def clean(text: str, marks: str = "") -> str:
    """Return `text` on one line, without emphasis and `[project: NAME]`; code, links and every word stay.

    Args:
        text: verbatim words of a log.
        marks: the emphasis marks that were opened before the text began, whose closing ones end it.
    """
    text = _cut(fold(_PROJECT.sub("", text) if "[" in text else text))
    if marks:
        text = _unclosed(text, marks)
    if "*" in text:
        parts = _CODE.split(text)
        parts[::2] = [_BOLD.sub(r"\2", part) for part in parts[::2]]
        text = "".join(parts)
    if (
        len(marks := text[:1])
        and marks == "_"
        and text.endswith("_")
        and text.strip("_")
        and "_" not in text.strip("_")
    ):
        text = text.strip("_")
    return _SELF_LINK.sub(r"\1", text).strip()


def _unclosed(text: str, marks: str) -> str:
    text = text.rstrip(" ")
    return text[: -len(marks)].rstrip(" ") if text.endswith(marks) else text.replace(marks, "", 1)


def _cut(text: str) -> str:
    if len(text) <= LONGEST_TEXT:
        return text
    head = text[:LONGEST_TEXT]
    return head[: head.rfind(" ")] if " " in head[LONGEST_TEXT // 2 :] else head


def words(text: str) -> list[str]:
    """Return the words of a text, case folded; numbers, names and references stay whole words."""
    return [word for raw in _NOT_WORDS.split(text[:LONGEST_TEXT].casefold()) if (word := raw.strip(_EDGES))]


def same_key(text: str) -> str:
    """Return what two texts share when they differ in case, punctuation and Markdown alone."""
    return " ".join(words(text))


def overlap(first: Counter[str], second: Counter[str]) -> float:
    """Return the F1 of two bags of words: 0 for no common word, 1 for the same words."""
    common = (first & second).total()
    return 2 * common / (first.total() + second.total()) if common else 0.0
