"""Taking out what stands between two marks, in time that grows with the text alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


def without_spans(text: str, begin: str, end: str, within: str | None = None) -> str:
    """Return a text without what stands from each `begin` to the next `end`, both included.

    A pattern would look for the end anew at each beginning, and take time by the square of the text where no end comes.

    Args:
        text: where to look.
        begin: the mark that opens a span.
        end: the mark that closes it. What is never closed stays.
        within: where the marks are looked for, as long as `text`: the same in lower case, say. Else `text` itself.
    """
    return "".join(_outside(text, begin, end, text if within is None else within))


def _outside(text: str, begin: str, end: str, seen: str) -> Iterator[str]:
    at = 0
    while (first := seen.find(begin, at)) >= 0 and (last := seen.find(end, first + len(begin))) >= 0:
        yield text[at:first]
        at = last + len(end)
    yield text[at:]
