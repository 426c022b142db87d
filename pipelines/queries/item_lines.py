"""How items, their quotes and their links are shown: as lines, and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pipelines.queries.item_graph import item_json
from pipelines.store.change_set import placed_item
from pipelines.store.evidence import Quotes, without_pointer
from pipelines.store.item import Status, written_words
from pipelines.store.secrets.redact import without_secrets
from pipelines.text import escape_terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pipelines.night.outcome_changes import Outcome
    from pipelines.store.document import Document
    from pipelines.store.item import Item


SHORT: Final = 11
"""How many characters of an id are shown, which is the length of nearly all ids."""


def item_line(item: Item) -> str:
    """Return an item as one line: its id, type and sentence, and its status unless that is live or open."""
    status = "" if item.active else f" [{item.status}]"
    return f"{item.id[:SHORT] or '(no id)'} {item.type}: {safe(written_words(item))}{status}"


def listed_json(path: str, item: Item, quotes: Quotes) -> dict[str, object]:
    """Return an item as lists print it with `--json`; a quote that is no longer in its file is null."""
    return item_json(item, path) | {
        "metadata": item.metadata,
        "seen": max(item.seen, len(item.evidence)),
        "links": {name: list(ids) for name, ids in item.links},
        "evidence": [quotes.found(evidence).to_json() for evidence in item.evidence],
    }


def safe(text: str) -> str:
    """Return a text that is safe to print: without secrets, and without control codes for the terminal."""
    return escape_terminal(without_secrets(text))


def quote_lines(text: str, indent: str = "    ") -> Iterator[str]:
    """Yield a quotation, each line marked with a bar."""
    for line in safe(text).split("\n"):
        yield f"{indent}| {without_pointer(line).rstrip()}"


_SAID = {
    Status.LIVE: "holds",
    Status.OCCURRED: "came true",
    Status.ENDED: "no longer holds",
    Status.NEVER_HELD: "never held",
}


def outcome_lines(one: Outcome, documents: Mapping[str, Document], when: Callable[[str], str] = str) -> Iterator[str]:
    """Yield what became of an item that was to change, and of the one that replaced it.

    Args:
        one: the outcome.
        documents: every document by path, as it is afterwards.
        when: returns a day as it is shown.
    """
    if one.asked:
        yield f"{one.id} stays {one.was.status} until a person decides: it is trusted more than an agent's word."
        return
    path, placed = placed_item(documents, one.id)
    item = placed.item
    said = _SAID.get(item.status, f"is {item.status}")
    again = " already" if item.status is one.was.status else " again" if item.active else ""
    yield f"{item.id} in {path} {said}{again}: {item.type}: {safe(item.text)}"
    if one.new:
        there, other = placed_item(documents, one.new)
        words = f"{one.new} in {there}: {other.item.type}: {safe(other.item.text)}"
        if item.active:
            yield f"  The item that replaced it on {when(one.was.until)} holds as well: {words}"
        else:
            yield f"  Replaced by {'' if one.is_new else 'an existing item, '}{words}"
