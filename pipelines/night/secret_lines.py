"""The last look at what a run or a command is about to write: no line that it made itself may hold a secret.

Two harmless sentences may read as a secret once they stand in one line. A generated sentence is then left out, and in a
question only the words that look so: the rest of the day is written. What a person or a log said is not touched here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.store.document import Document, without_empty
from pipelines.store.layout import REVIEW
from pipelines.store.secrets.find import find_secrets
from pipelines.store.secrets.redact import load_redactor

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from pipelines.store.secrets.redact import Redactor


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
        if (text := _clean(document, was.lines if was else (), redactor)) != document.text:
            kept[path] = was if was and text == was.text else document.with_text(text)
            changed += [path] if kept[path] is not was else []
    return kept, tuple(changed)


def _clean(document: Document, old: Collection[str], redactor: Redactor) -> str:
    lines, titles, old = list(document.lines), dict[str, None](), frozenset(old)
    items = {placed.line for placed in document.placed}
    for number, line in enumerate(document.lines):
        # `redactor.find` would remember what it finds, and what two sentences make together is no known value.
        if line in old or not (spans := find_secrets(line.encode(), known=redactor.known)):
            continue
        if number in document.generated:
            lines[number] = ""
            titles |= dict.fromkeys([one.title for one in document.headings if one.line < number][-1:])
        elif document.path == REVIEW and number not in items:
            lines[number] = redactor.replaced(line.encode(), spans).decode()
    for title in titles:
        lines = without_empty(lines, title)
    return "".join(lines)
