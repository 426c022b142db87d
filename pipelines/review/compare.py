"""Compare two sentences by their words and values alone.

The comparison is careful on purpose: two sentences that do not conflict in one value are both kept. A statement kept
twice costs little; a lost one is gone.
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
"""Words that count for nothing when values are compared: `the limit is now 100` conflicts with `the limit is 50`."""
_BEING = _set("is are be will")
_AUXILIARIES = _BEING | _set("was were has have had can must should does do did needs would could")
# Verbs that usually take one object at a time.
_SINGULAR = _BEING | _set("use uses run runs live lives work works stay stays host hosts choose")
_PREPOSITIONS = _set("for in on at to as from since with by of under until and because so")
# A number after one of these is only a name.
_NUMBERED = _set(
    """pr mr pull request issue ticket bug task invoice order room step phase chapter page section sprint milestone
    release version build commit flight gate line batch case item rfc episode week day lesson sensor node server machine
    volume figure table sample platform terminal question option row test unit number no part article level stage run
    attempt meeting session slide story epic"""
)

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
    if _verb(tokens) and _verb(tokens) == _verb(others) and tokens[0].key != others[0].key:
        return False  # another subject
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


def _verb(tokens: Sequence[_Token]) -> str:
    """Return the second word if it is a verb in the third person, as in `Anna owns the pager`; else nothing."""
    word = tokens[1].word if len(tokens) > 1 else ""
    return word if word in _AUXILIARIES or word.endswith("s") else ""


def _has_values(text: str, wanted: str) -> bool:
    """Whether a sentence has each number, time and date of another one as it is written, or a date more exactly."""
    held = {one.key for one in _read(text) if one.kind in _VALUED}
    return all(
        one.key in held or (one.kind == "date" and any(one.key in key for key in held))
        for one in _read(wanted)
        if one.kind in _VALUED
    )


_VALUED = frozenset({"number", "time", "date"})


# ---------------------------------------- a conflict, which a person decides


def conflict(new: str, held: str) -> str:
    """Return why two sentences cannot both be true, as the end of a sentence; empty if they can.

    They are the same sentence except for one value, or one denies what the other says. A value is a number with its
    unit, a date, a time or a name. What only names something (`PR 41`) is not a value, nor is one in a subject or a
    past event: there may be many of those. Two tasks never conflict; the caller leaves them out.
    """
    one, other = _read(new), _read(held)
    if _undenied(one) == _undenied(other) and keywords(new) & keywords(held):
        counts = [sum(token.word in _NEGATIONS for token in tokens) for tokens in (one, other)]
        return "one denies what the other says" if abs(counts[0] - counts[1]) == 1 else ""
    start, end = _common([token.key for token in one], [token.key for token in other])
    left, right = one[start : len(one) - end], other[start : len(other) - end]
    before, after = one[:start], one[len(one) - end :]
    kind = _kind_of(left)
    if not kind or kind != _kind_of(right) or not any(map(_is_distinctive, (*before, *after))):
        return ""
    if not _one_at_a_time(kind, before, after):
        return ""
    if kind != "name" and (_has_values(new, held) or _has_values(held, new)):
        return ""  # the same value, written differently
    return f"one says {' '.join(t.raw for t in left)}, the other {' '.join(t.raw for t in right)}"


def _undenied(tokens: Sequence[_Token]) -> list[str]:
    kept: list[str] = []
    for token in tokens:
        if token.word == "without":
            kept.append("with")
        elif token.word in _NEGATIONS:
            if kept and kept[-1] in {"do", "did", stem("does")}:
                kept.pop()
        elif token.word not in {"always", "ever", "any", "some", "longer"}:
            kept.append(token.key)
    return kept


def _common(one: Sequence[str], other: Sequence[str]) -> tuple[int, int]:
    """Return how many words two sentences share at the start and at the end."""
    least, start, end = min(len(one), len(other)), 0, 0
    while start < least and one[start] == other[start]:
        start += 1
    while end < least - start and one[-1 - end] == other[-1 - end]:
        end += 1
    return start, end


def _kind_of(tokens: Sequence[_Token]) -> str:
    """Return the kind of the single value that some tokens form (number, date, time or name), or empty."""
    kinds = [token.kind for token in tokens]
    if kinds[1:] and kinds[-1] == "number":
        kinds.pop()  # `MySQL 8`
    is_one = len(set(kinds)) == 1 and kinds[0] in {"number", "date", "time", "name"}
    return kinds[0] if is_one and (kinds[0] != "number" or len(tokens) == 1) else ""


def _one_at_a_time(kind: str, before: Sequence[_Token], after: Sequence[_Token]) -> bool:
    """Whether only one such value can be true at a time between these words; see `conflict`."""
    words = {token.word for token in before}
    if not words & _BEING and any(_happened(at, before) for at in range(len(before))):
        return False
    last, then = before[-1] if before else None, after[0].word if after else ""
    if kind == "number":
        is_product = last is not None and last.kind == "name" and not last.raw.isupper()  # `Node 18`
        numbered = last is not None and last.word in _NUMBERED and not is_product
        names = len(before) == 1 or then in _AUXILIARIES  # `Train 17 stops`, `the old train 17 is late`
        return not numbered and not (last and last.word not in STOP_WORDS and names)
    if kind == "date" and last is not None and last.word == "of":  # `the minutes of 4 May`
        return False
    if any(token.word in _AUXILIARIES for token in after):
        return False
    if kind == "name":
        return bool(words & _SINGULAR) and (not after or after[0].word in _PREPOSITIONS)
    return True


def _happened(at: int, tokens: Sequence[_Token]) -> bool:
    """Whether a word reports an event: `failed` does in `it failed on Monday`, not in `retry failed jobs`."""
    word, after = tokens[at].word, tokens[at + 1 : at + 2]
    if word in _PAST or word in {"was", "were", "had", "did"}:
        return True
    return word.endswith("ed") and (not at or not after or bool(after[0].kind) or after[0].word in _PREPOSITIONS)
