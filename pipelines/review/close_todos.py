"""Closing: an open Todo is done when a later line of the log says so, and names it.

A person is asked where the line is trusted less than who set the Todo. In doubt it stays open:
a Todo that is closed by mistake is forgotten, one that stays open is seen.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from pipelines.review.item_links import confirmed
from pipelines.review.judging.sentence import read_sentence
from pipelines.review.judging.stems import stem
from pipelines.review.judging.values import same_value
from pipelines.review.questions import grounds, plain
from pipelines.store.change_set import placed_item
from pipelines.store.document import edited
from pipelines.store.evidence import without_pointer
from pipelines.store.item import ID_PATTERN, Evidence, Status, Trust, quote_digest
from pipelines.store.layout import REVIEW, Kind
from pipelines.store.review_queue import read_queue, with_entry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from pipelines.review.judging.sentence import Sentence
    from pipelines.review.questions import Sources
    from pipelines.store.document import Document
    from pipelines.store.item import Item
    from pipelines.store.log import Entry


_MOST: Final = 0.75
"""The part of a Todo's words that a line must name."""
_FEWEST: Final = 2
_LIST_MARK: Final = re.compile(
    r"^[ \t]*(?:[-*+>][ \t]+)*(?:\d\d?:\d\d[ \t]+)?(?:\[project: [^\[\]]*\][ \t]+)?(?:\*\*\w+:\*\*[ \t]+)?"
)
_TICKED: Final = re.compile(r"^\[[xX]\][ \t]+|^~~|[✅✔✓☑]")
_OPEN: Final = re.compile(r"^\[ \]|\bto-?do\b", re.IGNORECASE)
_DONE: Final = re.compile(
    r"\b(?:done|shipped|merged|finished|fixed|closed|complete[d]?|resolved|sorted out|wrapped up|landed)\b",
    re.IGNORECASE,
)
_DOUBT: Final = re.compile(
    r"\?|n['’]t\b|\b(?:not|never|no|nothing|almost|nearly|half|part(?:ly|ially)?|still|yet|needs?|must|should|will|would|"
    r"to be|to do|once|when|if|until|till|unless|before|after|tomorrow|soon|next|plans?|planned|going to|wants?|could|"
    r"can|hopefully|maybe|perhaps|expect\w*|try|tried|trying|attempt\w*|reopen\w*|revert\w*|except|only|started|blocked|"
    r"waiting|remains?|left|undone|unfinished|instead|half-done|so far|first)\b",
    re.IGNORECASE,
)
_SENTENCE: Final = re.compile(r"(?<=[.!?;])\s+")
_ON_A_DAY: Final = frozenset({"date", "time", "weekday"})
_OUT_OF_SIGHT: Final = frozenset({Kind.ARCHIVE, Kind.REVIEW})


@dataclass(frozen=True, slots=True)
class Closed:
    """The documents after closing.

    Args:
        documents: every document by path.
        ids: the ids of what was closed.
        claims: Todos that stay open until a person says that they are done, each with the line that says so as its
            last evidence.
    """

    documents: Mapping[str, Document]
    ids: tuple[str, ...] = ()
    claims: tuple[Item, ...] = ()


@dataclass(frozen=True, slots=True)
class _Said:
    """A sentence of the log that says that something is done, and where it stands."""

    entry: Entry
    line: int
    sentence: Sentence
    marked: bool

    @property
    def words(self) -> str:
        """The line."""
        return self.entry.text.split("\n")[self.line - self.entry.start_line]


def close_todos(
    documents: Mapping[str, Document], entries: Iterable[Entry], word_of: Callable[[Entry, str], Trust]
) -> Closed:
    """Return the documents with each open Todo done that an entry says is done.

    Such a sentence names most of the Todo's words and all its numbers and names, no other number or name, and nothing
    that would leave it in doubt; it names one Todo better than all others. The Todo gains its line as evidence.

    Args:
        documents: every document by path.
        entries: what no run had read before, in order of days.
        word_of: whose word a line of an entry is. What rests on more is not closed by it; nobody's word is passed over.
    """
    after = dict(documents)
    todos = {
        p.item.id: (path, p.item)
        for path, document in sorted(documents.items())
        if document.kind not in _OUT_OF_SIGHT
        for p in document.items
        if p.item.id and p.item.status is Status.OPEN
    }
    ids: list[str] = []
    claims: dict[str, Item] = {}
    for said in _done_in(entries) if todos else ():
        found = _meant(said, [item for _, item in todos.values()])
        trust = word_of(said.entry, said.words) if found else Trust.UNTRUSTED
        if found is None or trust is Trust.UNTRUSTED:
            continue
        place = Evidence(said.entry.path, said.line, said.line, quote_digest(said.words))
        done = confirmed(found, place, said.entry.day, done=True)
        if not trust.reaches(found.trust):
            claims.setdefault(found.id, done)
            continue
        path, _ = todos.pop(found.id)
        claims.pop(found.id, None)
        after[path] = edited(after[path], replace={found.id: done})
        ids.append(found.id)
    return Closed(after, tuple(ids), tuple(claims.values()))


def _done_in(entries: Iterable[Entry]) -> Iterator[_Said]:
    """Yield what says that something is done: by a word for it, a tick, or the past of a verb at its beginning."""
    for entry in entries:
        for number, line in enumerate(entry.text.split("\n"), entry.start_line):
            bare = _LIST_MARK.sub("", without_pointer(line))
            ticked = bool(_TICKED.search(bare))
            if _OPEN.search(bare):
                continue
            for part in _SENTENCE.split(_TICKED.sub("", bare).replace("~~", "")):
                marked = ticked or bool(_DONE.search(part))
                if (marked or _PAST.match(part)) and not _DOUBT.search(part):
                    yield _Said(entry, number, read_sentence(part), marked)


_PAST: Final = re.compile(
    r"(?:(?:i|we|[A-Z]\w+) )?(?:have |has |just |finally )?(?:\w+ed|sent|wrote|written|paid|bought|met|told|sold|made|"
    r"built|set|put|took|got|found|ran|began|spoke|gave)\b",
    re.IGNORECASE,
)


def _meant(said: _Said, todos: Iterable[Item]) -> Item | None:
    """Return the one Todo that a sentence names, or None where it names none, or two alike."""
    scored = [(score, item) for item in todos if item.since <= said.entry.day and (score := _score(said, item))]
    scored.sort(key=lambda one: (-one[0], one[1].id))
    if not scored or (len(scored) > 1 and scored[0][0] == scored[1][0]):
        return None
    return scored[0][1]


def _score(said: _Said, item: Item) -> float:
    """Return how well a sentence names a Todo, or 0 where it does not."""
    if any(one.path == said.entry.path and one.start_line <= said.line <= one.end_line for one in item.evidence):
        return 0.0  # it was found in that very line
    todo, line = read_sentence(item.text), said.sentence
    wanted, there = frozenset(_keys(todo)), frozenset(_keys(line))
    if said.marked and todo.is_order and todo.verb_key in _DOING and len(wanted) + len(todo.values) > _FEWEST:
        wanted -= {todo.verb_key}
    shared = wanted & there
    if len(wanted) + len(todo.values) < _FEWEST or len(shared) < max(1, _MOST * len(wanted)):
        return 0.0
    if not said.marked and next(iter(_keys(todo)), "") not in there:
        return 0.0
    names = {w.key for w in (*todo.words, *line.words) if w.named and w.content}
    if names & (wanted ^ there) or not _agree(todo, line):
        return 0.0
    return len(shared) / len(wanted) + len(shared) / 1000


_DOING: Final = frozenset(
    map(
        stem, "write finish do make create prepare fix build implement add complete draft finalise clean update".split()
    )
)
"""What one does to a thing that is done; who reviews it is not done when it is."""


def _keys(sentence: Sentence) -> list[str]:
    return [word.key for word in sentence.words if word.content and not word.value]


def _agree(todo: Sentence, line: Sentence) -> bool:
    """Whether the line has all numbers of a Todo and no others; a day on which it was done is none of them."""
    return all(
        any(same_value(one, other) for other in others)
        for mine, others in ((todo.values, line.values), (line.values, todo.values))
        for one in mine
        if one.base not in _ON_A_DAY
    )


# ---------------------------------------- claims: a line says that a Todo is done
# and is trusted less than who set it: a person says whether it is.


DONE: Final = "done"
CHOICES: Final = ("close: it is done", "keep: it stays open")
_NAMED: Final = re.compile(rf"\(({ID_PATTERN})\)$")
_TITLE: Final = 60


def claimed(
    documents: Mapping[str, Document], claims: Iterable[Item], sources: Sources, today: str
) -> tuple[Mapping[str, Document], tuple[str, ...]]:
    """Return the documents with an entry in Review.md for each Todo that is open and said to be done, and their ids.

    Args:
        documents: every document by path.
        claims: the Todos as they would stand, each with the line that says so as its last evidence.
        sources: how questions tell of places.
        today: the memory's day.
    """
    status = {placed.item.id: placed.item.status for one in documents.values() for placed in one.items}
    waiting = {named_todo(entry.title) for entry in read_queue(documents.get(REVIEW)) if entry.kind == DONE}
    asked: dict[str, Item] = {}
    for item in claims:
        if status.get(item.id) is Status.OPEN and item.id not in waiting | asked.keys():
            asked[item.id] = item
            title = f"{DONE}: {plain(item.text, _TITLE)} ({item.id})"
            why = f"A line says so{grounds(item, sources)}, and it is trusted less than who set the todo."
            documents = with_entry(documents, DONE, today, title, why, CHOICES)
    return documents, tuple(asked)


def named_todo(title: str) -> str:
    """Return the id of the Todo that a heading of Review.md names at its end, or an empty string."""
    found = _NAMED.search(title)
    return found[1] if found else ""


def with_todo_done(documents: Mapping[str, Document], ident: str, day: str) -> dict[str, Document]:
    """Return the documents with a Todo done because a person says so.

    Args:
        documents: every document by path.
        ident: its id.
        day: the day on which the person said so.

    Raises:
        KeyError: it stands nowhere, or is not open.
    """
    path, placed = placed_item(documents, ident)
    if placed.item.status is not Status.OPEN:
        raise KeyError(ident)
    item = replace(placed.item, status=Status.DONE, until=day, confirmed=max(placed.item.confirmed, day))
    return {**documents, path: edited(documents[path], replace={ident: item})}
