"""Lines that a run generates in people's documents: pointers, and sentences that cite the items they rest on.

    - [Ferrywake](Projects/ferrywake.md): Goal: sell 80 % of the tickets in the app. <!-- p:1a2b -->
    The trial starts on 11 May, and the staging server is next. <!-- s:1a2b3c of=9d41aa k7f3a9c2b10 k55b01aa07c -->

Each mark contains a hash of the words before it, so that a line that a person wrote or changed is recognised and kept.
What a person deleted is vetoed: its words, and the items that only it cited, are not told under that heading again.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from pipelines.store.document import STATE_TITLE, Document, insert_rows, kept_with_document, numbered, without_empty
from pipelines.store.item import ID_PATTERN, Item, Status
from pipelines.store.markdown import line_end
from pipelines.store.state import Reason, Tombstone
from pipelines.store.wording import veto_key
from pipelines.text import fold

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


_MARK = re.compile(rf"\^(?={ID_PATTERN})")
_POINTER = re.compile(r"(?P<row>- .*) <!-- p:[0-9a-f]{4} -->\r?\n?")
_SENTENCE = re.compile(r"(?P<text>.*\S) <!-- s:(?P<sum>[0-9a-f]{6})(?P<pairs>(?: [^\s<>]+)*) -->\s*")
_OPENS = re.compile(r"[^\W\d_]|[\"“'‘(]|\d(?![.)\d]*[.)]\s)")
_NOT_CITED = frozenset({Status.NEVER_HELD, Status.RETRACTED, Status.FORGOTTEN, Status.WAITING, Status.MERGED})


def words_of(row: str) -> str:
    """Return the words of a row as they are written, without what would look like a comment or an item's mark."""
    return fold(_MARK.sub("", row.replace("<!--", "").replace("-->", "")))


def marked_row(row: str) -> str:
    """Return a generated pointer line, with the mark that distinguishes it from a person's."""
    row = words_of(row)
    return f"{row} <!-- p:{_sum(row, 4)} -->"


def is_pointer(line: str) -> bool:
    """Whether a line is a pointer that a run wrote and nobody has changed."""
    found = _POINTER.fullmatch(line) if "<!-- p:" in line else None
    return found is not None and marked_row(found["row"]) == line.rstrip("\r\n")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A generated sentence.

    Args:
        text: one line of plain text.
        ids: the items that it cites.
        of: the `digest` of those items, if a change of them matters; else empty.
        by_code: whether code wrote it from the items' own words, and can rewrite it.
        lines: for an episode, the lines of the day's log that it covers, `12-14,20`; else empty.
        sessions: for an episode, the transcripts behind the day's log.
        days: the days whose episodes it rests on, too.
    """

    text: str
    ids: tuple[str, ...] = ()
    of: str = ""
    by_code: bool = False
    lines: str = ""
    sessions: tuple[str, ...] = ()
    days: tuple[str, ...] = ()

    def render(self) -> str:
        """Return it as a line, without a line end."""
        named = (
            ("is" if self.by_code else "of", self.of),
            ("lines", self.lines),
            *(("from", quote(one)) for one in self.sessions),
            *(("day", one) for one in self.days),
        )
        pairs = [*(f"{key}={value}" for key, value in named if value), *self.ids]
        return f"{self.text} <!-- s:{' '.join([_sum(self.text, 6), *pairs])} -->"


def read_sentence(line: str) -> tuple[Sentence, bool] | None:
    """Return the sentence in a marked line, and whether a person changed its words; None for any other line."""
    found = _SENTENCE.fullmatch(line)
    if found is None:
        return None
    values, ids, sessions, told = dict[str, str](), list[str](), list[str](), list[str]()
    for part in found["pairs"].split():
        key, sign, value = part.partition("=")
        if not sign:
            ids.append(key)
        elif key == "from":
            sessions.append(unquote(value))
        elif key == "day":
            told.append(value)
        else:
            values[key] = value
    of, lines = values.get("of") or values.get("is", ""), values.get("lines", "")
    sentence = Sentence(found["text"], tuple(ids), of, "is" in values, lines, tuple(sessions), tuple(told))
    return sentence, _sum(found["text"], 6) != found["sum"]


def can_stand(text: str) -> bool:
    """Whether a text can be a line of its own without becoming a heading, a list, an item or a comment."""
    return _OPENS.match(text) is not None and "<!--" not in text and "-->" not in text and fold(text) == text


def digest(items: Iterable[Item], *, with_status: bool) -> str:
    """Return a hash of the items' texts and, if asked, of their status."""
    states = [f"{one.id}\x1f{one.text}\x1f{one.status if with_status else ''}" for one in items]
    return _sum("\x1e".join(sorted(states)), 6)


def is_citable(item: Item) -> bool:
    """Whether a generated sentence may cite an item: it was believed, and not only on an outsider's word."""
    return item.status not in _NOT_CITED and item.is_ours


@kept_with_document
def sentences_in(document: Document) -> dict[str, list[tuple[int, Sentence, bool]]]:
    """Return casefolded heading → its `sentences_under`, in one pass."""
    found: dict[str, list[tuple[int, Sentence, bool]]] = {}
    titles, below = {heading.line: heading.title for heading in document.headings}, ""
    for number, line in document.body:
        if number in titles:
            below = titles[number].casefold()
        elif "<!-- s:" in line and (read := read_sentence(document.lines[number])):
            found.setdefault(below, []).append((number, *read))
    return found


def sentences_under(document: Document, title: str) -> list[tuple[int, Sentence, bool]]:
    """Return the marked sentences under a heading: line (from 0), sentence, and whether a person changed it."""
    return sentences_in(document).get(title.casefold(), [])


def with_sentences(document: Document, wanted: Mapping[str, list[Sentence]], order: tuple[str, ...]) -> Document:
    """Return the document with exactly these generated sentences under each heading, besides those people changed.

    Args:
        document: the document.
        wanted: heading → its sentences; missing headings are added, and headings left empty removed.
        order: the document's headings, in order.
    """
    for title, sentences in wanted.items():
        found = sentences_under(document, title)
        ours = {number for number, _, is_changed in found if not is_changed}
        rows = [one.render() for one in sentences]
        if [document.lines[number].rstrip("\r\n") for number in sorted(ours)] == rows:
            continue
        lines = [line for number, line in enumerate(document.lines) if number not in ours]
        end = line_end(document.lines)
        lines = insert_rows(lines, title, [row + end for row in rows], order) if rows else without_empty(lines, title)
        document = document.with_text("".join(lines))
    return document


def without_sentences(document: Document, goes: Callable[[str, Sentence], bool]) -> Document:
    """Return the document without the unchanged generated sentences for which `goes(heading, sentence)`."""
    titles = {heading.title.casefold(): heading.title for heading in document.headings if "<!-- s:" in document.text}
    found = ((titles[title], one) for title, some in sentences_in(document).items() for one in some if title in titles)
    gone = {number for title, (number, one, is_changed) in found if not is_changed and goes(title, one)}
    if not gone:
        return document
    return document.with_text("".join(line for number, line in enumerate(document.lines) if number not in gone))


def is_vetoed(title: str, text: str, cited: Iterable[Item], vetoed: frozenset[str]) -> bool:
    """Whether a person deleted these words under a heading (none for a row), or what was said there about an item."""
    return bool(vetoed) and not {_veto(title, text), *(_veto(title, one) for one in cited)}.isdisjoint(vetoed)


def _veto(title: str, told: str | Item) -> str:
    """Return the hash of a line's wording under a heading, or of an item as it is."""
    title = title.casefold()
    words = veto_key(told) if isinstance(told, str) else digest([told], with_status=title == STATE_TITLE.casefold())
    return _sum(f"{title}\x1f{words}", 16)


def vetoed_by(stones: Iterable[Tombstone], documents: Mapping[str, Document]) -> frozenset[str]:
    """Return what people vetoed; what they put back since is wanted again.

    Args:
        stones: the memory's tombstones.
        documents: every document, as people left it.
    """
    vetoed = frozenset(stone.hash for stone in stones if stone.reason is Reason.UNWANTED)
    if not vetoed:
        return vetoed
    items = {placed.item.id: placed.item for _, placed in numbered(documents.values())}
    return vetoed.difference(*(told_in(document, items) for document in documents.values()))


def told_in(document: Document, items: Mapping[str, Item]) -> frozenset[str]:
    """Return what the unchanged generated lines of a document tell, as the hashes that a veto names.

    Args:
        document: the document.
        items: the items that sentences may cite, by id.
    """
    told = [(title, one, own) for title, some in sentences_in(document).items() for _, one, own in some]
    found = {_veto("", line.rpartition(" <!--")[0]) for line in document.lines if is_pointer(line)}
    found |= {_veto(title, one.text) for title, one, own in told if not own}
    return frozenset(found | {_veto(title, items[i]) for title, one, _ in told for i in one.ids if i in items})


def without_differing(one: Document, other: Document) -> tuple[Document, Document]:
    """Return two versions of a document without the generated sentences under headings where they differ."""

    def sentences(document: Document, title: str) -> list[Sentence]:
        return [sentence for _, sentence, is_changed in sentences_under(document, title) if not is_changed]

    def differs(title: str, _: Sentence) -> bool:
        return sentences(one, title) != sentences(other, title)

    return without_sentences(one, differs), without_sentences(other, differs)


def without_pointers(document: Document) -> Document:
    """Return the document without generated pointers, except those that a person changed."""
    ours = {number for number, line in enumerate(document.lines) if is_pointer(line)}
    left = (line for number, line in enumerate(document.lines) if number not in ours)
    return document.with_text("".join(left)) if ours else document


def _sum(text: str, digits: int) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:digits]
