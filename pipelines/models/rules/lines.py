"""The lines of an entry that are speech: what a fence or an HTML comment holds is blank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pipelines.models.rules.speakers import peel
from pipelines.store.markdown import fenced

if TYPE_CHECKING:
    from pipelines.models.rules.speakers import Spoken
    from pipelines.store.log import Entry


@dataclass(frozen=True, slots=True)
class Line:
    """One line of an entry.

    Args:
        number: its line in the log, from 1.
        raw: the line verbatim.
        spoken: the line peeled; None where it is blank, code or a comment.
    """

    number: int
    raw: str
    spoken: Spoken | None


_LONGEST: Final = 20_000  # characters of a line that are read; no sentence is longer
_CODE_INDENT: Final = 4


def read_lines(entry: Entry) -> list[Line]:
    """Return the lines of an entry. An entry that is indented as code has none that speak."""
    raw = entry.text.split("\n")
    seen = _without_comments(entry.text).split("\n") if "<!--" in entry.text else raw
    code = fenced(raw) if "```" in entry.text or "~~~" in entry.text else frozenset()
    indented = is_indented_code(raw[0])
    return [
        Line(entry.start_line + index, raw[index], None if hidden else peel(text[:_LONGEST]))
        for index, text in enumerate(seen)
        for hidden in (indented or index in code or not text.strip(),)
    ]


def is_indented_code(line: str) -> bool:
    """Return whether a line that begins a paragraph is indented so far that Markdown shows it as code."""
    prefix = line[: len(line) - len(line.lstrip(" \t"))]
    return len(prefix.expandtabs(_CODE_INDENT)) >= _CODE_INDENT


def _without_comments(text: str) -> str:
    parts: list[str] = []
    at = 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start)) >= 0:
        parts += [text[at:start], "\n" * text.count("\n", start, end)]
        at = end + len("-->")
    return "".join([*parts, text[at:]])
