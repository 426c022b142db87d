"""Whether an item says only what its evidence says: its numbers, dates, names, versions and negations stand there.

The quote proves that something was said; this proves that the item's own sentence, which a model worded, says no other
thing. It is strict on purpose: what is in doubt is asked for once more, and what is lost stands in the log still.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import date
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from pipelines.extract.grounded_values import (
    NUMBER,
    known_dates,
    known_figures,
    unproven_dates,
    unproven_figures,
    without_dates,
)
from pipelines.store.evidence import fold_markdown
from pipelines.store.item import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pipelines.extract.grounded_values import KnownDates, KnownFigures
    from pipelines.store.log import Entry


def ungrounded(text: str, quote: str, lines: Sequence[str], entry: Entry, day: str) -> list[tuple[str, str]]:
    """Return what of `text` is not in its evidence; nothing for an item that is grounded.

    Numbers are compared by value (`three` is `3`), times of day by the minute, dates as days (`tomorrow` and `Friday`
    are resolved against the log's day), versions and names letter by letter but for case, possessives and accents.
    Names may also stand elsewhere in the entry, in a heading above it or in its project.

    Args:
        text: the item's sentence.
        quote: the words that it rests on.
        lines: the cited lines, verbatim.
        entry: the entry that they stand in.
        day: the day of the log, `YYYY-MM-DD`.

    Returns:
        What it is, with an article (`a number`, `a date`, `a name`, `a negation`), and the words of the item: for the
        model that is asked again, and for no report.
    """
    above, evidence, around, dates, figures = _read_evidence(tuple(lines), entry, day)
    dateless = without_dates(text)
    found = [("a date", words) for words in unproven_dates(text, dates, date.fromisoformat(day))]
    found += [("a number", words) for words in unproven_figures(dateless, figures, dates.years)]
    found += [("a name", words) for words in _unproven_names(dateless, around)]
    if side := _disagreement(text, quote, evidence, above):
        found.append(("a negation", side))
    return found


@lru_cache(maxsize=16)
def _read_evidence(lines: tuple[str, ...], entry: Entry, day: str) -> tuple[str, str, str, KnownDates, KnownFigures]:
    """Return what stands above some lines, their words, all around them, and the dates and figures that they tell.

    It is read once for all the items that cite them.
    """
    above = " . ".join((*entry.headings, entry.project))
    evidence = fold_markdown(lines)
    around = f"{above} . {fold_markdown(entry.text.split(chr(10)))} . {' '.join(entry.tags)}"
    return (
        above,
        evidence,
        f"{around} . {without_dates(around)}",
        known_dates(f"{above} . {evidence}", date.fromisoformat(day)),
        known_figures(without_dates(f"{entry.project} . {evidence}")),
    )


# ---------------------------------------- negations: a `not` lost or made up turns an item into its opposite


_NEGATION: Final = re.compile(
    r"\b(?:not|never|nor|neither|none|nobody|nothing|nowhere|without|cannot|no(?!\.\s*\d)(?!t\w))\b|n['’]t\b"
    r"|\b(?:dont|doesnt|didnt|cant|wont|isnt|arent|shouldnt|mustnt|nicht|nie|niemals|kein\w*|ohne|jamais|nunca)\b",
    re.IGNORECASE,
)
# What denies without a `not`: it speaks for a negation on the other side, and asks for none.
_SOFT: Final = re.compile(
    r"\b(?:avoid\w*|stop\w*|forbid\w*|forbade|prohibit\w*|bann?(?:ed|s)?|refus\w+|reject\w*|den(?:y|ies|ied)|declin\w+|"
    r"lack\w*|miss(?:es|ing)|fail\w*|impossible|unlike\w*|instead|rather|only|except|exclud\w+|against|drop\w*|remov\w+|"
    r"disabl\w+|abandon\w*|cancel\w*|skip\w*|block\w*|anymore|too|hardly|barely|rarely|seldom|absent|wrong|false|"
    r"un(?:able|avail|support|safe|us|need|want|know|reach|stab|clear|finish|test|paid|sign)\w*)\b|[≠✗❌]|!=",
    re.IGNORECASE,
)
_STEM: Final = 5
_SENTENCE: Final = r"[.!?;:](?=\s|$)|\s[-–—]\s|[()]"
_TURNS: Final = r"but|however|instead|so|because|since|although|though|while|whereas|therefore"
_TURN: Final = re.compile(rf"{_SENTENCE}|\b(?:{_TURNS})\b", re.IGNORECASE)
_END: Final = re.compile(rf"{_SENTENCE}|,|\b(?:{_TURNS}|and|or|which|who)\b", re.IGNORECASE)


def _disagreement(text: str, quote: str, evidence: str, above: str) -> str:
    """Return what is wrong between a text and its evidence, or an empty string where they agree.

    Args:
        text: the item's sentence.
        quote: the words that it rests on.
        evidence: the cited lines on one line, without marks.
        above: the headings and the project, which may deny for all that stands below them.
    """
    said = _NEGATION.search(text)
    if said and not (_NEGATION.search(evidence) or _NEGATION.search(above) or _soft(evidence) - _soft(text)):
        return f"{said[0]!r} is not in the lines"
    denied = _NEGATION.search(_clause(quote, evidence))
    if denied and not (said or _soft(text) - _soft(evidence)):
        return f"the lines say {denied[0]!r}, and the text does not"
    return ""


def _clause(quote: str, evidence: str) -> str:
    """Return what of the evidence decides whether the quote is denied.

    A negation denies what follows it: what stands before the quote counts from where its sentence, or a turn of it,
    begins; what stands after counts to where the clause ends.
    """
    needle = quote.strip()
    at = evidence.casefold().find(needle.casefold())
    if at < 0:
        return needle
    end = at + len(needle)
    begin = max((found.end() for found in _TURN.finditer(evidence, 0, at)), default=0)
    stop = _END.search(evidence, end)
    return evidence[begin : stop.start() if stop else len(evidence)]


def _soft(text: str) -> set[str]:
    """Return the beginnings of the words that deny without a `not`; those of both sides say nothing of either."""
    return {found[0].casefold()[:_STEM] for found in _SOFT.finditer(text)}


# ---------------------------------------- names: people, products, identifiers, addresses
# Each must stand in the entry, or above it. A name is known by its letters: a capital within a sentence, capitals
# within a word, digits, dots and signs among the letters. The first word of a sentence has a capital anyway; it counts
# as a name where a subject's verb follows it.


_CHUNK: Final = re.compile(r"\S+")
_EDGES: Final = "()[]{}<>\"'`*“”‘’«»,;:!?…."
_PART: Final = re.compile(r"[^\W_]+(?:[_'’][^\W_]+)*")
_POSSESSIVE: Final = re.compile(r"['’]s?$")
_IDENTIFIER: Final = re.compile(r"[^\W\d_][._/@#\\:][^\W_]|[_@#\\]|[a-z][A-Z]|[A-Z]{2}|[^\W\d_]-?\d|\d[A-Z]")
_SENTENCE_ENDS: Final = (".", "!", "?", ":", ";")
_ALWAYS: Final = frozenset("i i'm i'd i'll i've ok e.g i.e etc vs no mr mrs dr".split())
_VERBS: Final = frozenset("is was has had will can should must may would could does did and or who said".split())
_NOT_VERBS: Final = frozenset("its this as yes plus versus thus always is us".split())
_COMMON: Final = frozenset(
    """access account backup branch budget build cache client code contract cost data database deploy deployment design
    disk email everybody everyone file index invoice key library login meeting memory money name network nobody office
    page password people price production project query queue release repo repository report script search server
    service session site software somebody someone staff staging storage support system team test tests token tool
    traffic update user users version website work""".split()
)
# What the checks of numbers and dates look at.
_ELSEWHERE: Final = re.compile(
    r"[$€£¥~<>=≤≥±+−-]*[vV]?\d[\d.,:'’/–-]*(?:[a-z]{0,3}|[KMGT]?B)%?"
    r"|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?"
    r"|January|February|March|April|May|June|July|August|September|October|November|December"
    rf"|(?i:{NUMBER})"
)
_SUFFIXES: Final = re.compile(r"(?:tion|sion|ment|ness|ity|ance|ence|ing|ship|age|ism|ure|als?|ers?|ors?|ings)$")
_NAMES_STEM: Final = 4


def _unproven_names(text: str, around: str) -> list[str]:
    """Return the names in an item's text that stand nowhere in `around`: its entry, the headings above, its project."""
    known, whole = _known(around), _folded(around)
    return list(dict.fromkeys(name for name in _names(text, known) if not _is_known(name, known, whole)))


def _names(text: str, known: frozenset[str]) -> Iterator[str]:
    """Yield what looks like a name, without its marks."""
    begins = True
    for chunk, after in pairwise([*_CHUNK.findall(text), ""]):
        bare = _POSSESSIVE.sub("", chunk.strip(_EDGES))
        if any(map(str.isalnum, bare)) and bare.casefold() not in _ALWAYS and not _ELSEWHERE.fullmatch(bare):
            if _IDENTIFIER.search(bare):
                yield bare
            elif not begins:
                yield from (part for part in _PART.findall(bare) if part[0].isupper() and len(part) > 1)
            elif _begins_as_name(bare, chunk, after, known):
                yield bare
        begins = chunk.rstrip("\"')”’»]").endswith(_SENTENCE_ENDS) or (begins and not bare)


def _begins_as_name(word: str, chunk: str, after: str, known: frozenset[str]) -> bool:
    """Whether the first word of a sentence is a name rather than a noun, a verb or a small word."""
    bare = word.casefold()
    if not word[0].isupper() or bare in STOP_WORDS or bare in _COMMON:
        return False
    # It shares its beginning with a word of the entry, as `deployments` does with `deploy`.
    stem = bare[:_NAMES_STEM]
    if len(bare) >= _NAMES_STEM and any(len(one) >= _NAMES_STEM and one.startswith(stem) for one in known):
        return False
    following = after.strip(_EDGES)
    if following[:1].isupper() or _POSSESSIVE.search(chunk.strip(_EDGES)):
        return True
    return _is_verb(following.casefold()) and not (_SUFFIXES.search(bare) or bare.endswith("s"))


def _is_verb(word: str) -> bool:
    """Whether a word is one that follows a subject: an auxiliary, or the third person or the past of a verb."""
    if word in _VERBS:
        return True
    return len(word) > 3 and word not in _NOT_VERBS and word.endswith(("s", "ed")) and not word.endswith("ss")  # noqa: PLR2004


def _is_known(name: str, known: frozenset[str], whole: str) -> bool:
    folded = _folded(name)
    if folded in known or _singular(folded) in known or f"{folded}s" in known:
        return True
    if re.search(rf"(?<![^\W_]){re.escape(folded)}(?![^\W_])", whole):
        return True
    parts = [part for part in re.split(r"[/,&+–—-]", name) if part]
    if len(parts) < 2:  # noqa: PLR2004  not put together from others
        return False
    return all(_is_known(part, known, whole) or not (part[0].isupper() or _IDENTIFIER.search(part)) for part in parts)


@lru_cache(maxsize=16)
def _known(around: str) -> frozenset[str]:
    found: set[str] = set()
    for chunk in _CHUNK.findall(_folded(around)):
        bare = _POSSESSIVE.sub("", chunk.strip(_EDGES))
        parts = _PART.findall(bare)
        found |= {bare, _singular(bare), *parts, *map(_singular, parts)}
    return frozenset(found)


def _singular(word: str) -> str:
    return word[:-1] if len(word) > _NAMES_STEM - 1 and word.endswith("s") and not word.endswith("ss") else word


@lru_cache(maxsize=256)
def _folded(text: str) -> str:
    """Return `text` in lower case and without accents."""
    decomposed = unicodedata.normalize("NFKD", text.replace("’", "'"))
    return unicodedata.normalize("NFC", "".join(c for c in decomposed if not unicodedata.combining(c))).casefold()
