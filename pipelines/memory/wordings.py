"""The words that an item ever had in git's history, and those of the logs that it rested on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.memory.items import parse_item, quote_digest, without_comment
from pipelines.memory.layout import BRIEFING, FOLDERS, REVIEW, USER
from pipelines.memory.names import names_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pipelines.memory.git import Git
    from pipelines.memory.items import Evidence, Item

FORGOTTEN = "[forgotten]"
"""What stands in a log in place of words that were forgotten."""

_DOCUMENTS = (BRIEFING, USER, REVIEW, *FOLDERS)


def ids_in_history(git: Git, prefix: str) -> frozenset[str]:
    """Return the ids that begin so, of all items that a document ever held."""
    return frozenset(item.id for item, _ in _lines(git, prefix) if item.id.startswith(prefix))


def wordings(git: Git, ident: str) -> tuple[str, ...]:
    """Return each line of text, as git's history has it, that holds an item's words: longest first, each once.

    Args:
        git: the memory's git.
        ident: the item's whole id.
    """
    found: dict[str, None] = {}
    places: dict[Evidence, None] = {}
    for item, line in _lines(git, ident):
        if item.id == ident:
            body = without_comment(line)
            found[item.text if item.text in body else body.partition(": ")[2].rstrip("~ ")] = None
            places.update(dict.fromkeys(item.evidence))
    for place in places:
        found.update(dict.fromkeys(_quoted(git, place)))
    return tuple(
        sorted((text for text in found if text.strip() not in {"", FORGOTTEN}), key=lambda text: (-len(text), text))
    )


def _lines(git: Git, ident: str) -> Iterator[tuple[Item, str]]:
    names = names_of(git.root)
    told = git.rows(
        "log", "-m", "--format=", "--patch", "--unified=0", "--no-color", "--no-ext-diff", "--no-textconv",
        "--no-renames", f"-G{ident}", "--", *(_DOCUMENTS if names is None else names.pathspecs),
    )  # fmt: skip
    seen = set()
    for raw in told:
        if raw[:1] in {b"+", b"-"} and ident.encode() in raw and raw not in seen:
            seen.add(raw)
            line = raw[1:].decode(errors="replace").rstrip("\r")
            if (item := parse_item(line)) and item.id:
                yield item, line


def _quoted(git: Git, place: Evidence) -> list[str]:
    """Return the words of the lines of a log on which an item rested, from the newest version that holds them."""
    height = place.end_line - place.start_line + 1
    for commit in git.versions(place.path):
        lines = (git.show(commit, place.path) or b"").decode(errors="replace").replace("\r\n", "\n").split("\n")
        for start in range(len(lines) - height + 1):
            rows = lines[start : start + height]
            if quote_digest("\n".join(rows))[: len(place.digest)] == place.digest:
                return [bare for row in rows if (bare := _words(row))]
    return []


def _words(row: str) -> str:
    """Return a log's line without the marks before its words and the pointer behind them."""
    return row.partition("<!-- Sessions/")[0].strip().lstrip("-*+#> \t").strip()
