"""Links follow a document that is moved or renamed: Markdown links, wiki-links, waiting items' homes."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, unquote

from pipelines.memory.documents import Document, commented

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

_MARKDOWN: Final = re.compile(
    r"(?<=\]\()(?P<open><?)(?P<target>[^()<>\s#?][^()<>#?\n]*?)(?P<tail>[#?][^()<>\n]*)?(?=>?\))"
)
_WIKI: Final = re.compile(r"(?<=\[\[)(?P<name>[^\[\]|#\n]+)(?=[\]|#])")
_SAFE: Final = "/.-_~!$&'*+,;=:@"


@dataclass(frozen=True, slots=True)
class Renaming:
    """What a document was called, and is called now.

    Args:
        old_path: where it stood.
        new_path: where it stands.
        old_title: its title before.
        new_title: its title now.
    """

    old_path: str
    new_path: str
    old_title: str
    new_title: str

    def wiki(self, name: str) -> str:
        """Return what a wiki-link's name should be: in the form in which it named the document, else as it is."""
        forms = (
            (_stem(self.old_path), _stem(self.new_path)),
            (_stem(self.old_path).rpartition("/")[2], _stem(self.new_path).rpartition("/")[2]),
            (self.old_title, self.new_title),
        )
        plain = name.strip().removesuffix(".md").casefold()
        return next((new for old, new in forms if plain == old.casefold()), name)


def followed(documents: Mapping[str, Document], renaming: Renaming) -> dict[str, Document]:
    """Return the documents, that one at its new path, with every link to it leading there.

    Args:
        documents: every document by path, with the renamed one at its old path still.
        renaming: what changed.
    """
    after = {}
    for path, document in documents.items():
        place = renaming.new_path if path == renaming.old_path else path
        text = _relinked(document, place, renaming, documents)
        after[place] = _rehomed(Document(place, text), renaming)
    return after


def _relinked(document: Document, place: str, renaming: Renaming, there: Container[str]) -> str:
    before, after = posixpath.dirname(document.path), posixpath.dirname(place)

    def markdown(found: re.Match[str]) -> str:
        target, tail = unquote(found["target"]), found["tail"] or ""
        resolved = posixpath.normpath(posixpath.join(before, target))
        if target == renaming.old_path and resolved not in there:
            new = renaming.new_path  # as seen from the memory's root, from wherever it is named
        elif resolved == renaming.old_path:
            new = posixpath.relpath(renaming.new_path, after or ".")
        elif before != after and resolved in there:
            new = posixpath.relpath(resolved, after or ".")
        else:
            return found[0]
        return f"{found['open']}{new if found['open'] else quote(new, safe=_SAFE)}{tail}"

    lines = list(document.lines)
    for number, line in document.body:
        if "](" in line:
            line = _MARKDOWN.sub(markdown, line)  # noqa: PLW2901  one line, in two steps
        lines[number] = _WIKI.sub(lambda found: renaming.wiki(found["name"]), line) if "[[" in line else line
    return "".join(lines)


def _rehomed(document: Document, renaming: Renaming) -> Document:
    """Return a document whose waiting items remember their home by its new path."""
    new = {}
    for placed in document.items:
        extra = tuple(
            (k, renaming.new_path if (k, v) == ("home", renaming.old_path) else v) for k, v in placed.item.extra
        )
        if placed.item.id and extra != placed.item.extra:
            new[placed.line] = replace(placed.item, extra=extra)
    return commented(document, new) if new else document


def _stem(path: str) -> str:
    return path.removesuffix(".md")
