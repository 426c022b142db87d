"""The distinctive words of a sentence, and what it says beyond another one: for whoever names an item by its words.

It decides which item a closing form or a command means, and nothing else: what is believed does not hang on it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from pipelines.store.evidence import fold_markdown
from pipelines.text import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_NEGATIONS = _set("not no never none nobody nothing nowhere neither nor without nicht nie kein keine ohne")
_CONDITIONS = _set(
    """if unless except excluding only until till when whenever while before after provided maybe perhaps possibly might
    may could almost nearly partly half hardly barely rarely sometimes mostly"""
)
_IDLE = _set("a an the now")
_AUXILIARIES = _set("is are be will was were has have had can must should does do did needs would could")
_MONTH = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December"
    r"|(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\b\.?)(?!\w)"
)
_YEAR = r"(?:19|20)\d\d"
_UNIT = r"%|(?i:percent|k|ms|s|min|h|d|w|[kmgt]i?b|second|minute|hour|day|week|month|year)s?\b"
_TOKEN = re.compile(
    rf"(?P<date>\b{_YEAR}-\d\d-\d\d\b|\b\d\d?(?:st|nd|rd|th|\.)?\s+(?:of\s+)?{_MONTH}(?:,?\s+{_YEAR}\b)?"
    rf"|\b{_MONTH}(?:\s+\d\d?(?:st|nd|rd|th)?(?![:\w]))?(?:,?\s+{_YEAR}\b)?"
    rf"|(?<![\w.,$€£-]){_YEAR}(?![\w,]|[.-]\d)|\b(?i:mon|tues|wednes|thurs|fri|satur|sun)days?\b)"
    r"|(?P<time>\b[0-2]?\d:[0-5]\d(?:\s?[ap]\.?m\b\.?)?|\b(?:1[0-2]|[1-9])\s?[ap]\.?m\b\.?|\b(?:noon|midnight)\b)"
    r"|(?P<number>(?<![\w.#/@-])(?:(?<!\S)[-−])?[$€£]?\d+(?:[,'’]\d{3})*(?:\.\d+)?"
    rf"(?:[ -]?(?:{_UNIT}))?(?!\w|[/:]\w|-\d|\.\w))"
    r"|(?P<word>[#@]?[^\W_](?:[\w'’.@#/:+\\-]*[\w+#])?)"
    r"|(?P<sign>[<>=≠≤≥±]+)"
)
_IDENTIFIER = re.compile(r"\d|[#@_\\]|\w[./:]\w")
_SHORT_NOT = re.compile(r"(?<=n)not$|n't$|(?<=^(?:do|is|ca|wo))nt$|(?<=^(?:did|are))nt$|(?<=^does)nt$")
_WHOLE = {"ca": "can", "wo": "will", "sha": "shall"}
_BREAK = re.compile(r"[,;:()–—]|\s-\s|[.!?]\s")
_CLAUSES = _set("but because since so although though while whereas and instead")


class _Token(NamedTuple):
    """A word or value: its key, in lower case, and as written; the kind of a plain word is empty."""

    key: str
    word: str
    raw: str
    kind: str
    clause: int


@lru_cache(maxsize=4096)
def _read(text: str) -> tuple[_Token, ...]:
    """Return the words and values of a text in order, without articles and `now`; `can't` is `can not`."""
    text = fold_markdown([text]).replace("’", "'")
    tokens: list[_Token] = []
    clause = end = 0
    for found in _TOKEN.finditer(text):
        gap, end = text[end : found.start() + 1], found.end()
        clause += bool(tokens) and bool(_BREAK.search(gap))
        first = not tokens or bool(re.search(r"[.!?:]\W", gap))
        for word, kind in _words(str(found.lastgroup), found[0], is_first=first):
            clause += word in _CLAUSES
            if word not in _IDLE:
                key = word if kind not in {"", "name"} else stem(word)
                tokens.append(_Token(key, word, found[0], kind, clause))
    return tuple(tokens)


def _words(kind: str, raw: str, *, is_first: bool) -> Iterator[tuple[str, str]]:
    low = re.sub(r"'s?$", "", raw).lower()
    if kind == "number":
        yield re.sub(r"s$|[,' -](?!\d)|[,'](?=\d)", "", low), kind
    elif kind != "word":
        yield low, kind
    elif denied := _SHORT_NOT.search(low):
        yield _WHOLE.get(low[: denied.start()], low[: denied.start()]), ""
        yield "not", ""
    elif _IDENTIFIER.search(raw):
        yield low, "identifier"
    else:
        named = (
            low not in STOP_WORDS
            and low not in _NEGATIONS
            and (any(map(str.isupper, raw[1:])) or (raw[0].isupper() and not is_first))
        )
        yield low, "name" if named else ""


_PAST = dict(
    pair.split("/")
    for pair in """sent/send wrote/writ written/writ paid/pay bought/buy met/meet made/mak built/build found/find
    took/tak gave/giv given/giv got/get brought/bring spoke/speak chose/choos ran/run told/tell""".split()
)
_ENDINGS = {"ies": "y", "ied": "y", "sses": "ss", "ches": "ch", "shes": "sh", "xes": "x", "ing": "", "ed": ""}


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """Return a lower-case word without its ending: `calls`, `called` and `calling` are `call`."""
    if word in _PAST:
        return _PAST[word]
    if len(word) > 3 and not word.endswith(("ss", "us", "is")):  # noqa: PLR2004  `use` and `gas` have no ending
        ending = next((one for one in (*_ENDINGS, "s") if word.endswith(one) and len(word) - len(one) > 1), "")
        word = word.removesuffix(ending) + _ENDINGS.get(ending, "")
        if word[-1:] == word[-2:-1] and word[-1] in "bdgmnprt" and ending in {"ing", "ed"}:
            word = word[:-1]
    return word.removesuffix("e") if len(word) > 3 else word  # noqa: PLR2004  as above


def keywords(text: str) -> frozenset[str]:
    """Return the distinctive words of a text, stemmed, with its values and names, without stop words."""
    return frozenset(one.key for one in _read(text) if _is_distinctive(one))


def _is_distinctive(token: _Token) -> bool:
    return bool(token.kind) or not (token.word in STOP_WORDS or token.word in _NEGATIONS)


def guard_words(text: str) -> frozenset[str]:
    """Return the negations and conditions of a text."""
    return frozenset(one.word for one in _read(text)) & (_NEGATIONS | _CONDITIONS)


# ---------------------------------------- what a sentence adds to another one


def adds_nothing(new: str, held: str) -> bool:
    """Whether the older sentence has every number, date, name and condition of the newer, and both deny alike.

    The older one may have more. A negation of the older counts if its clause shares words with the newer: `1,000
    requests` repeats `1,000 requests, not 100`.
    """
    tokens, others = _read(new), _read(held)
    signs = {one.word for one in tokens if one.kind == "sign" or one.word in _CONDITIONS}
    if (signs - {one.word for one in others}) or (_names(tokens) - {one.key for one in others}):
        return False
    if not _has_values(held, new):
        return False
    shared = {one.clause for one in others if _is_distinctive(one) and one.key in keywords(new)}
    denied = sum(one.word in _NEGATIONS and one.clause in shared for one in others)
    return denied == sum(one.word in _NEGATIONS for one in tokens)


def _names(tokens: Sequence[_Token]) -> set[str]:
    """Return what names something; the first word does, too, if it is a possessive or an auxiliary verb follows."""
    named = {one.key for one in tokens if one.kind in {"name", "identifier"}}
    first, then = tokens[0] if tokens else None, tokens[1].word if len(tokens) > 1 else ""
    if first and first.raw[0].isupper() and (first.raw.endswith("'s") or then in _AUXILIARIES | {"may", "might"}):
        named.add(first.key)
    return named


def _has_values(text: str, wanted: str) -> bool:
    """Whether a sentence has each number, time and date of another one as it is written, or a date more exactly."""
    held = {one.key for one in _read(text) if one.kind in _VALUED}
    return all(
        one.key in held or (one.kind == "date" and any(one.key in key for key in held))
        for one in _read(wanted)
        if one.kind in _VALUED
    )


_VALUED = frozenset({"number", "time", "date"})
