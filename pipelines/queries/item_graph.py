"""The items of a memory with their places, what they rest on and what replaced them, and how they are shown.

Of links only `because` is followed: `A because=B` means that A rests on B.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from pipelines.store.change_set import placed_item
from pipelines.store.evidence import Quotes, without_pointer
from pipelines.store.item import CLOSED, Item, Status, written_words
from pipelines.store.secrets.redact import without_secrets
from pipelines.text import escape_terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pipelines.night.outcome_changes import Outcome
    from pipelines.store.document import Documents

    Links = Mapping[str, tuple[str, ...]]


Json = dict[str, Any]


class Holding(NamedTuple):
    """An item with its place.

    Args:
        item: the item.
        path: its document, relative to the memory.
        line: its line, counted from 1.
    """

    item: Item
    path: str
    line: int

    @property
    def place(self) -> str:
        """Its citation, `PATH:LINE`."""
        return f"{self.path}:{self.line}"

    def to_json(self) -> Json:
        """Return it for JSON, without its evidence."""
        return item_json(self.item, self.path, line=self.line)


_TOLD = "since until confirmed due trust confidence reason by superseded_by merged_into".split()


def item_json(item: Item, path: str, **more: object) -> Json:
    """Return the JSON fields that every item has; `more` follows its document."""
    return {
        "id": item.id or None,
        "type": item.type,
        "text": item.text,
        "status": item.status,
        "document": path,
        **more,
        **{name: getattr(item, name) or None for name in _TOLD},
    }


@dataclass(frozen=True)
class Beliefs:
    """All items of a memory, now or at some time.

    Args:
        holdings: every item, in order of documents and lines, including those without an id.
        documents: path → the document that holds them.
    """

    holdings: tuple[Holding, ...]
    documents: Documents

    @classmethod
    def of(cls, documents: Documents) -> Beliefs:
        """Return the items of some documents."""
        pages = sorted(documents.items())
        return cls(
            tuple(Holding(one.item, path, one.line + 1) for path, page in pages for one in page.items), documents
        )

    @cached_property
    def by_id(self) -> Mapping[str, Holding]:
        """Id → item; if an id occurs twice, the first one."""
        return {one.item.id: one for one in reversed(self.holdings) if one.item.id}

    @cached_property
    def grounds(self) -> Links:
        """Id → what the item rests on."""
        return {ident: dict(one.item.links).get("because", ()) for ident, one in self.by_id.items()}

    @cached_property
    def successors(self) -> Links:
        """Id → what replaced the item or took it in; a reopened item is not superseded."""
        return {
            ident: tuple(filter(None, (one.item.merged_into, "" if one.item.active else one.item.superseded_by)))
            for ident, one in self.by_id.items()
        }

    def reached(self, ident: str, links: Links) -> list[Holding]:
        """Return the items that links lead to, directly or through others: each once, the nearest first."""
        found = {ident: None}
        for here in (waiting := [ident]):
            new = [one for one in links.get(here, ()) if one in self.by_id and one not in found]
            found |= dict.fromkeys(new)
            waiting += new
        return [self.by_id[one] for one in waiting[1:]]

    def outdated_grounds(self, ident: str) -> tuple[str, ...]:
        """Return what an item rests on that no longer holds, if it is believed: sentences without subject and stop.

        A link keeps what was true when it was made: a queue that was built because a limit was 100 does not rest on
        the limit of 1,000 that took its place.
        """
        known = self.by_id
        if ident not in known or not known[ident].item.active:
            return ()
        below = (known[one].item for one in dict.fromkeys(self.grounds[ident]) if one in known)
        told = list[str]()
        for item in below:
            day = f" on {item.until}" if item.until else ""
            if item.status in _OVER and (new := known.get(item.superseded_by)):
                told.append(f"rests on {item.id}, superseded{day} by {new.item.id}: {new.item.text}")
            elif item.status in _OVER:
                told.append(f"rests on {item.id}, {item.status}{day}: {item.text}")
        return tuple(told)


def backwards(links: Links) -> Links:
    """Return the same links from what they name to what holds them."""
    found = defaultdict[str, tuple[str, ...]](tuple)
    for source, targets in links.items():
        for target in targets:
            found[target] += (source,)
    return found


_OVER = CLOSED - {Status.MERGED}


# ---------------------------------------- as lines, and as JSON


SHORT = 11
"""How many characters of an id are shown, which is the length of nearly all ids."""


def item_line(item: Item) -> str:
    """Return an item as one line: its id, type and sentence, and its status unless that is live or open."""
    status = "" if item.active else f" [{item.status}]"
    return f"{item.id[:SHORT] or '(no id)'} {item.called}: {safe(written_words(item))}{status}"


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


def outcome_lines(one: Outcome, documents: Documents, when: Callable[[str], str] = str) -> Iterator[str]:
    """Yield what became of an item that was to change, and of the one that replaced it.

    Args:
        one: the outcome.
        documents: every document by path, as it is afterwards.
        when: returns a day as it is shown.
    """
    if one.asked:
        yield f"{one.id} stays {one.was.status} until a person decides, because {one.asked}."
        yield "  Tell the user so: `curate review` asks them."
        return
    path, placed = placed_item(documents, one.id)
    item = placed.item
    said = _SAID.get(item.status, f"is {item.status}")
    again = " already" if item.status is one.was.status else " again" if item.active else ""
    yield f"{item.id} in {path} {said}{again}: {item.called}: {safe(item.text)}"
    if one.new:
        there, other = placed_item(documents, one.new)
        words = f"{one.new} in {there}: {other.item.called}: {safe(other.item.text)}"
        if item.active:
            yield f"  The item that replaced it on {when(one.was.until)} holds as well: {words}"
        else:
            yield f"  Replaced by {'' if one.is_new else 'an existing item, '}{words}"
