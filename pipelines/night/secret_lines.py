"""The last look at what a run or a command is about to write: no line that it made itself may hold a secret.

Two harmless sentences may read as a secret once they stand in one line. A generated sentence is then left out, and in a
question only the words that look so: the rest of the day is written. What a person or a log said is not touched here.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

from pipelines.store.document import Document, without_empty
from pipelines.store.generated import is_pointer, read_sentence
from pipelines.store.item import parse_item
from pipelines.store.layout import REVIEW
from pipelines.store.secrets import find_secrets, load_redactor

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from pipelines.store.secrets import Redactor, Span


_PASSES = 8
"""Leaving out one line may bring two others together."""


def without_secret_lines(
    after: Mapping[str, Document], before: Mapping[str, Document], root: Path
) -> tuple[dict[str, Document], tuple[str, ...]]:
    """Return the documents without generated lines that hold a secret, and the paths of those that changed so.

    Args:
        after: the documents as they would be written.
        before: the same as they are; their lines stay.
        root: the memory, for its known values.
    """
    redactor, kept, changed = load_redactor(root), dict(after), []
    for path, document in after.items():
        was = before.get(path)
        if document is was or (was and document.text == was.text):
            continue
        clean = _clean(document, frozenset(was.lines if was else ()), redactor)
        kept[path] = was if was and clean.text == was.text else clean
        if clean is not document and kept[path] is not was:
            changed.append(path)
    return kept, tuple(changed)


def _clean(document: Document, old: Collection[str], redactor: Redactor) -> Document:
    for _ in range(_PASSES):
        data = document.text.encode()
        # `redactor.find` would remember what it finds, and what two sentences make together is no known value.
        spans = find_secrets(data, known=redactor.known)
        lines = _without(document, spans, data, old, redactor) if spans else None
        if lines is None:
            break
        document = document.with_text("".join(lines))
    return document


def _without(
    document: Document, spans: list[Span], data: bytes, old: Collection[str], redactor: Redactor
) -> list[str] | None:
    """Return the lines without the secrets in generated ones, or None if no generated line has one."""
    lines, is_changed, titles = list(document.lines), False, set[str]()
    starts = [0, *accumulate(len(line.encode()) for line in lines)]
    for span in spans:
        value = data[span.start : span.end]
        for number in range(bisect_right(starts, span.start) - 1, bisect_right(starts, span.end - 1)):
            line = lines[number]
            if line in old or not line:
                continue
            read = read_sentence(line)
            if is_pointer(line) or (read and not read[1]):
                lines[number], is_changed = "", True
                titles |= {one.title for one in [one for one in document.headings if one.line < number][-1:]}
            elif document.path == REVIEW and parse_item(line) is None and (words := value.decode()) in line:
                mark = f"[redacted:{span.rule}:{redactor.tag(value)}]"
                lines[number], is_changed = line.replace(words, mark), True
    for title in sorted(titles):
        lines = without_empty(lines, title)
    return lines if is_changed else None
