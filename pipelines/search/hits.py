"""Search results: one line of each text with the matched words marked, and whether one is close to the question.

Weak hits are marked, and none is withheld.
"""

from __future__ import annotations

import json
import re
import sqlite3
import unicodedata
from contextlib import closing
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pipelines.errors import CurateError
from pipelines.search.chunk_context import match_expression, normalised, parted, spaced, spelled_as, unspaced_pairs
from pipelines.search.embedders.embedder import LOCAL
from pipelines.search.filters import BY_FOLDER
from pipelines.search.schema import AS_SAID, SEPARATOR, TOKENIZE, UNIT_COLUMNS, Strings
from pipelines.store.files import read_bytes
from pipelines.store.layout import REVIEW, is_log
from pipelines.text import fold

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pipelines.search.beliefs import Overruled
    from pipelines.search.candidates import Scores


OPEN, CLOSE = "\x01", "\x02"
"""Surround a matched word; they are not in any text, because control characters are removed."""
_BETWEEN = "\x03"

WIDTH = 320
_CONTROL = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")

_OF_EVIDENCE = "path start_line end_line date text trust".split()


class Hit(NamedTuple):
    """One unit that was found.

    Args:
        path: the file, relative to the memory, with `/`.
        start_line: first line, counted from 1.
        end_line: last line, inclusive.
        text: its text; an item as its label and sentence.
        score: higher is better; comparable within one query only.
        date: a log's day, an item's `since`, a document's `updated`; may be empty.
        headings: the headings above, outermost first.
        types: the types of the items in it.
        project: the project's title, or empty.
        tags: its `#tag` words.
        trust: owner, self, external or untrusted.
        confidence: high, medium, low, speculative, or empty.
        status: an item's status, `quiet` if nobody mentions it any more, or empty.
        item: an item's id, or empty.
        until: the first day on which an item no longer held, or empty.
        confidence_reason: why it was kept, or its document's reason for its confidence; may be empty.
        source: where an item was first said, as `PATH:LINE`; for an episode its day's log; otherwise the source named
            in its document; may be empty.
        cites: for an episode, the ids of the items it is based on.
        meta: what a person said of the item, or of the note's status, as `key=value` pairs.
        overruled: what the memory believes instead, or why it no longer believes it; None if it is believed.
        over_since: for an episode, what became of what it tells and no longer holds.
        evidence: for an item, its log lines.
        asked: whether a question about the item waits for a person.
    """

    path: str
    start_line: int
    end_line: int
    text: str
    score: float
    date: str
    headings: Strings
    types: Strings
    project: str
    tags: Strings
    trust: str
    confidence: str
    status: str
    item: str
    until: str
    confidence_reason: str
    source: str
    cites: Strings
    meta: Strings
    overruled: Overruled | None = None
    over_since: tuple[Overruled, ...] = ()
    evidence: tuple[Hit, ...] = ()
    asked: bool = False

    @property
    def kind(self) -> str:
        """The kind of source: what happened (log, session, episode) or what is believed (document)."""
        return "log" if is_log(self.path) else BY_FOLDER.get(self.path.partition("/")[0], "document")

    @property
    def lines(self) -> str:
        """Its lines, as in a citation."""
        return f"{self.start_line}" if self.start_line == self.end_line else f"{self.start_line}-{self.end_line}"

    @property
    def where(self) -> str:
        """The headings above prose, which may turn its meaning round, on one line; an item stands by itself."""
        return "" if self.item else fold(" > ".join(self.headings))

    @property
    def quality(self) -> str:
        """How far to believe it: types, unusual status, trust, confidence with its reason, source, metadata."""
        status = self.status if self.status != "live" else ""
        confidence = self.confidence and f"confidence {self.confidence}"
        confidence += f" ({self.confidence_reason})" if confidence and self.confidence_reason else ""
        source = self.source and f"from {self.source}"
        asked = self.asked * f"a question about it waits in {REVIEW}"
        types = (self.text.partition(":")[0],) if self.item else self.types  # a question is a Fact
        said = (*types, status, f"trust {self.trust}", confidence, source, asked, *self.meta)
        return ", ".join(filter(None, said))

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        # Rounding must not change the order of hits.
        found = self._asdict() | {"kind": self.kind, "score": float(f"{self.score:.6g}")}
        found["overruled"] = self.overruled and self.overruled.to_json()
        found["over_since"] = [one.to_json() for one in self.over_since]
        found["evidence"] = [{name: getattr(one, name) for name in _OF_EVIDENCE} for one in self.evidence]
        return found


def read_hits(connection: sqlite3.Connection, scored: Scores) -> list[Hit]:
    """Return units of the index as hits.

    Args:
        connection: the index, open to read.
        scored: the units in the desired order, with their scores.
    """
    rows = {unit: row for unit, *row in connection.execute(_SHOWN, (json.dumps(list(scored)),))}
    hits = []
    for unit, score in scored.items():
        path, said, *values = rows[unit]
        shown: dict[str, Any] = dict(zip(_COLUMNS, values, strict=True))
        shown |= {name: tuple(filter(None, shown[name].split(SEPARATOR))) for name in _SEVERAL}
        shown["meta"] = tuple(one[1:] for one in shown["meta"] if one.startswith(AS_SAID))
        if not shown["item"]:  # of a note `status=cancelled`
            shown["meta"] += tuple(one for one in said.split(SEPARATOR) if one.startswith("status=") and one != _USUAL)
        hits.append(Hit(path=path, score=score, **shown))
    return hits


def with_questions(root: Path, hits: Sequence[Hit]) -> list[Hit]:
    """Return hits, those marked about whose item Review.md has a question."""
    try:
        waits = (read_bytes(root, REVIEW) or b"").decode(errors="replace")
    except CurateError:  # the mark is no answer; `curate status` names the file
        return [*hits]
    return [hit._replace(asked=True) if hit.item and hit.item in waits else hit for hit in hits]


_USUAL = "status=active"
"""What runs write into the front matter of every page."""
_SEVERAL = "headings types tags cites meta".split()
_COLUMNS = [name for name in UNIT_COLUMNS if name in Hit._fields]
_SHOWN = f"""
    SELECT units.id, files.path, files.meta, {", ".join(f"units.{name}" for name in _COLUMNS)}
    FROM units JOIN files ON files.id = units.file WHERE units.id IN (SELECT value FROM json_each(?))
"""  # noqa: S608  our own columns


def snippets(query: str, texts: Sequence[str]) -> list[str]:
    """Return each text as one line of some 320 characters where most matched words stand, with these marked.

    The tokenizer of the index decides which words matched. Control characters are removed: a log must not control a
    terminal.
    """
    composed = [unicodedata.normalize("NFC", _CONTROL.sub(" ", text).strip()) for text in texts]
    return [_cut(text) for text in _marked(query, composed)]


def _marked(query: str, texts: Sequence[str]) -> list[str]:
    marked = list(texts)
    if expression := match_expression(spaced(normalised(query))):
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.execute(f"CREATE VIRTUAL TABLE shown USING fts5(text, tokenize = '{TOKENIZE}')")
            connection.executemany(
                "INSERT INTO shown(rowid, text) VALUES (?, ?)", enumerate(parted(text, _BETWEEN) for text in texts)
            )
            found = "SELECT rowid, highlight(shown, 0, ?, ?) FROM shown WHERE shown MATCH ?"
            for row, text in connection.execute(found, (OPEN, CLOSE, expression)):
                marked[row] = text.replace(f"{CLOSE}{_BETWEEN}{OPEN}", "").replace(_BETWEEN, "")
    others = {*unspaced_pairs(query), *spelled_as(query, " ".join(texts))}
    if pairs := "|".join(sorted(map(re.escape, others), key=len, reverse=True)):
        # Pairs overlap: a word of three characters has two.
        whole = re.compile(f"(?:(?:(?={pairs}).)*(?:{pairs}))+")
        marked = [whole.sub(rf"{OPEN}\g<0>{CLOSE}", text) for text in marked]
    return marked


_MARKED = re.compile(f"{OPEN}[^{OPEN}{CLOSE}]*+{CLOSE}")


def _cut(text: str) -> str:
    if len(text) <= WIDTH:
        return text
    marked = [(found.start(), found[0].casefold()) for found in _MARKED.finditer(text)]
    near = [(len({word for at, word in marked if 0 <= at - begin < WIDTH * 2 // 3}), begin) for begin, _ in marked]
    first = max(near, key=itemgetter(0), default=(0, 0))[1]
    start = max(0, min(first - WIDTH // 3, len(text) - WIDTH))
    # Start and end at a blank if the script has them. Starting earlier would lose the end.
    start = text.find(" ", start - 1, start + 30) + 1 or start if start else 0
    end = start + WIDTH
    if end < len(text) and (blank := text.rfind(" ", end - 30, end)) > 0:
        end = blank
    piece = text[start:end]
    if piece.rfind(OPEN) > piece.rfind(CLOSE):
        piece += CLOSE
    if 0 <= piece.find(CLOSE) < piece.find(OPEN) or (CLOSE in piece and OPEN not in piece):
        piece = OPEN + piece
    return f"{'… ' if start else ''}{piece}{' …' if end < len(text) else ''}"


# ---------------------------------------- how close they are


Found = Literal["yes", "little", "nothing"]
"""Whether a hit is close to the question, or none is, or there is no hit."""

LITTLE = "Little was found: no hit is close to the question."

_HALF = 0.5
_BEST = 10
"""The number of units found by words to check."""
# 478 of 481 questions about long conversations reach it; 193 of 210 about what neither these nor a month of logs hold
# stay below. In a memory of a few dozen lines, right answers stay below, too.
_NEAR_MINILM = 0.4
_NEAR = 0.5
"""For other embedders, which put texts that have nothing in common at cosines from 0.1 to 0.5."""
_HOLDING = "SELECT rowid FROM units_fts WHERE units_fts MATCH ? AND +rowid IN (SELECT value FROM json_each(?))"


def reads(embedder: str, query: str) -> bool:
    """Return whether an embedder can read a question: the local model knows no script without spaces, nor Korean."""
    return embedder != LOCAL or not unspaced_pairs(query)


def held_words(connection: sqlite3.Connection, terms: Sequence[str], words: Scores) -> dict[int, int]:
    """Return how many of the question's terms the units found by words have themselves, best first.

    Args:
        connection: the index.
        terms: the FTS5 terms of the question.
        words: the scores of the units found by them.
    """
    best = sorted(words if terms else (), key=words.__getitem__, reverse=True)
    held, units = dict.fromkeys(best, 0), json.dumps(best)
    for term in terms:
        for (unit,) in connection.execute(_HOLDING, (f"{{text grams about}} : {term}", units)):
            held[unit] += 1
    return held


def is_close(terms: Sequence[str], held: Mapping[int, int], meaning: Scores, embedder: str) -> bool:
    """Return whether a unit is near to the question in meaning, or has most of its words.

    Args:
        terms: the FTS5 terms of the question.
        held: how many of them each unit has, best first.
        meaning: the cosines of units.
        embedder: whose vectors these compare.
    """
    near = _NEAR_MINILM if embedder == LOCAL else _NEAR
    return max(meaning.values(), default=0.0) >= near or max(islice(held.values(), _BEST), default=0) > _HALF * len(
        terms
    )
