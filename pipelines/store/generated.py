"""Lines that a run generates in people's documents: rows of the briefing, and sentences with the items they rest on.

    - [Ferrywake](Projects/ferrywake.md): Goal: sell 80 % of the tickets in the app.
    The trial starts on 11 May, and the staging server is next.

They stand only under headings that runs own. What each rests on is in its row of the ledger, whose key is the heading
and the words: a line that a person wrote or changed has no row, and is kept. What a person deleted is vetoed: its
words, and the items that only it cited, are not told under that heading again. Two harmless items may read as a secret
in one line: it is left out.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipelines.store.document import (
    ORDER,
    STATE_TITLE,
    Document,
    Documents,
    insert_rows,
    kept_with_document,
    numbered,
    without_empty,
)
from pipelines.store.item import Item, Status
from pipelines.store.item_line import ID_PATTERN, OPENS, ROWS, line_key, values_in
from pipelines.store.markdown import line_end
from pipelines.store.secrets.redact import holds_secret
from pipelines.store.state import Reason, Tombstone, file_hash
from pipelines.store.wording import veto_key
from pipelines.text import fold

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


_MARK = re.compile(rf"\^(?={ID_PATTERN})")
_NOT_CITED = frozenset({Status.NEVER_HELD, Status.RETRACTED, Status.WAITING, Status.MERGED})


def words_of(row: str) -> str:
    """Return the words of a row as they are written, without what would look like a comment or an item's mark."""
    return fold(_MARK.sub("", row.replace("<!--", "").replace("-->", "")))


@dataclass(frozen=True, slots=True)
class Sentence:
    """A generated sentence, or a row of the briefing.

    Args:
        text: one line of plain text, or a list item.
        ids: the items that it cites; none for a row.
        of: the `digest` of those items, if a change of them matters; else empty.
        by_code: whether code wrote it from the items' own words, and can rewrite it.
        lines: of what a model told of a day, the lines of its log, `12-14,20`; else empty.
        days: the days whose episodes it rests on, too.
    """

    text: str
    ids: tuple[str, ...] = ()
    of: str = ""
    by_code: bool = False
    lines: str = ""
    days: tuple[str, ...] = ()

    def row(self, title: str) -> tuple[str, str]:
        """Return its key under a heading, and its row of the ledger."""
        key = line_key(title, self.text)
        said = {"id": key, "is" if self.by_code else "of": self.of, "lines": self.lines, "days": " ".join(self.days)}
        said["items"] = " ".join(self.ids)
        return key, json.dumps({name: value for name, value in said.items() if value}, ensure_ascii=False)


def read_sentence(line: str, row: str) -> Sentence:
    """Return the sentence in a generated line and its row."""
    said = values_in(row)
    of, found, lines, days, ids = (str(said.get(key, "")) for key in ("of", "is", "lines", "days", "items"))
    return Sentence(line.strip(), tuple(ids.split()), of or found, bool(found), lines, tuple(days.split()))


def can_stand(text: str) -> bool:
    """Whether a text can be a line of its own without becoming a heading, a list, an item or a comment."""
    return OPENS.match(text) is not None and "<!--" not in text and "-->" not in text and fold(text) == text


def digest(items: Iterable[Item], *, with_status: bool) -> str:
    """Return a hash of the items' texts, whether each is sure and, if asked, of their status."""
    states = [f"{one.id}\x1f{one.text}{one.unsure}\x1f{one.status if with_status else ''}" for one in items]
    return file_hash("\x1e".join(sorted(states)).encode())[:6]


def still_rests(sentence: Sentence, known: Mapping[str, Item], *, with_status: bool) -> bool:
    """Whether all items that a sentence cites are among the known ones, and are as they were."""
    cited = [known[ident] for ident in sentence.ids if ident in known]
    return len(cited) == len(sentence.ids) and digest(cited, with_status=with_status) == sentence.of


def is_citable(item: Item) -> bool:
    """Whether a generated sentence may cite an item: it was believed, and not only on an outsider's word."""
    return item.status not in _NOT_CITED and item.is_ours


@kept_with_document
def sentences_in(document: Document) -> dict[str, list[tuple[int, Sentence]]]:
    """Return casefolded heading → its `sentences_under`, in one pass."""
    found = dict[str, list[tuple[int, Sentence]]]()
    for number, (title, row) in document.generated.items():
        found.setdefault(title.casefold(), []).append((number, read_sentence(document.lines[number], row)))
    return found


def sentences_under(document: Document, title: str) -> list[tuple[int, Sentence]]:
    """Return the generated sentences under a heading that nobody changed, each after its line (from 0)."""
    return sentences_in(document).get(title.casefold(), [])


def with_sentences(
    document: Document, wanted: Mapping[str, list[Sentence]], order: tuple[str, ...] = ORDER
) -> Document:
    """Return the document with exactly these generated sentences under each heading, besides a person's lines.

    Args:
        document: the document.
        wanted: heading → its sentences; missing headings are added, and headings left empty removed.
        order: the document's headings, in order.
    """
    for title, told in wanted.items():
        found, lines = dict(sentences_under(document, title)), document.lines
        there = {one.text for one in found.values()}
        sentences = [one for one in told if one.text in there or not holds_secret(one.text)]
        if not sentences or [one.text for one in found.values()] != [one.text for one in sentences]:
            lines = [line for number, line in enumerate(lines) if number not in found]
            new = [one.text + line_end(document.lines) for one in sentences]
            lines = insert_rows(lines, title, new, order) if new else without_empty(lines, title)
        document = document.with_text("".join(lines), generated=dict(one.row(title) for one in sentences))
    return document


def without_sentences(document: Document, goes: Callable[[str, Sentence], bool] = lambda *_: True) -> Document:
    """Return the document without the generated sentences for which `goes(casefolded heading, sentence)`."""
    found = ((title, number, one) for title, some in sentences_in(document).items() for number, one in some)
    gone = {number for title, number, one in found if goes(title, one)}
    left = "".join(line for number, line in enumerate(document.lines) if number not in gone)
    return document.with_text(left) if gone else document


def is_vetoed(title: str, text: str, cited: Iterable[Item], vetoed: frozenset[str]) -> bool:
    """Whether a person deleted these words under a heading, or what was said there about an item."""
    return bool(vetoed) and not {_veto(title, text), *(_veto(title, one) for one in cited)}.isdisjoint(vetoed)


def _veto(title: str, told: str | Item) -> str:
    """Return the hash of a line's wording under a heading, or of an item as it is."""
    title = title.casefold()
    words = veto_key(told) if isinstance(told, str) else digest([told], with_status=title == STATE_TITLE.casefold())
    return file_hash(f"{title}\x1f{words}".encode())


def vetoed_by(stones: Iterable[Tombstone], documents: Documents) -> frozenset[str]:
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
    told = [(title, one) for title, some in sentences_in(document).items() for _, one in some]
    found = {_veto(title, one.text) for title, one in told}
    return frozenset(found | {_veto(title, items[i]) for title, one in told for i in one.ids if i in items})


def without_rows(document: Document) -> Document:
    """Return the briefing without its generated rows, except those that a person changed."""
    titles = {title.casefold() for title in ROWS}
    return without_sentences(document, lambda title, _: title in titles)
