"""Check that an item says only what a model was shown: its numbers, dates, names, negations and conditions.

Code refuses what it can be sure of: a value that was not shown and takes another's place, a date or a value of an
update that was not shown, and a sentence made of the quote's own words without its `not` or `unless`. Whether other
words mean the same, or a number counts what is told, is for the second reader, who verifies every item that is not an
entry word for word. A dropped item is still in the log.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import date
from functools import lru_cache, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from pipelines.extract.grounded_values import (
    NUMBER,
    KnownDates,
    KnownFigures,
    join_dates,
    known_dates,
    known_figures,
    unproven_dates,
    unproven_figures,
    without_dates,
)
from pipelines.store.evidence import fold_markdown
from pipelines.store.item import STOP_WORDS, content_words, is_german

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pipelines.extract.extraction import Place

    Fault = tuple[str, str]


def ungrounded(
    text: str,
    places: Sequence[Place],
    context: Sequence[str] = (),
    shown: Sequence[str] = (),
    *,
    is_update: bool = False,
) -> list[Fault]:
    """Return what `text` says beyond its evidence, as far as code can be sure; nothing for an item that is grounded.

    Numbers are compared by value (`three` is `3`), times of day by the minute, dates as days (`tomorrow` and `Friday`
    are relative to the log's day), names by their letters except for case, possessives and accents. A name may be in
    the entry, in the headings above it, in the project or anywhere in `context` and `shown`; a number or date in the
    cited lines, above them, in `context`, or in what was shown on the same matter. A number or name that replaces none
    of the quotes may count or complete what they say, and only a reader can tell; but not in an update.

    Args:
        text: the item's sentence.
        places: its evidence, at least one place, such as a question and its answer; each entry knows its day.
        context: more text that belongs to the evidence, such as the old text of an updated item.
        shown: what else the model was shown: other entries of the day, items, titles of documents.
        is_update: whether it replaces an old item: its values must all be shown, because the old ones are lost.

    Returns:
        The kind of each fault, with an article (`a number`, `a date`, `a name`, `a negation`, `a condition`), and the
        words concerned: for the model that is asked again, and for no report.
    """
    evidence = _read_evidence(tuple(places), tuple(context))
    found = _unproven(text, evidence, is_update=is_update)
    if found and shown:
        found = _unproven(text, _with_shown(evidence, shown, near(text, shown)), is_update=is_update)
    return found + _changed_sense(text, evidence)


def near(text: str, shown: Sequence[str]) -> list[str]:
    """Return those of the other texts shown that are on the same matter: they share two content words with a text."""
    words = content_words(text)
    return [one for one in shown if len(words & content_words(one)) > 1]


class _Evidence(NamedTuple):
    """The evidence of some places, parsed once for all items that rest on them."""

    quotes: tuple[tuple[str, str], ...]
    beside: str
    around: str
    day: date
    dates: KnownDates
    figures: KnownFigures


@lru_cache(maxsize=16)
def _read_evidence(places: tuple[Place, ...], context: tuple[str, ...]) -> _Evidence:
    entries = list(dict.fromkeys(place.entry for place in places))
    folded = [(fold_markdown([place.quote]), fold_markdown(place.lines)) for place in places]
    # A question that another quote answers grounds words, but states nothing.
    stating = tuple(one for one in folded if len(places) == 1 or not one[0].endswith("?"))
    above = (word for entry in entries for word in (*entry.headings, entry.project, " ".join(entry.tags)))
    beside = " . ".join((*above, *context))
    whole = " . ".join(fold_markdown(entry.text.split("\n")) for entry in entries)
    around = f"{beside} . {whole}".replace("°C", "° Celsius").replace("°F", "° Fahrenheit")
    cited = f"{beside} . {' . '.join(lines for _, lines in folded)}"
    days = [date.fromisoformat(place.entry.day) for place in places]
    by_day = [known_dates(f"{beside} . {lines}", day) for (_, lines), day in zip(folded, days, strict=True)]
    around = f"{around} . {without_dates(around)}"
    return _Evidence(stating, beside, around, max(days), join_dates(by_day), known_figures(without_dates(cited)))


def _with_shown(evidence: _Evidence, shown: Sequence[str], near: Sequence[str]) -> _Evidence:
    """Return some evidence with the names of what else was shown, and the values of what is on the same matter."""
    more = " . ".join(near)
    own, others = evidence.figures, known_figures(without_dates(more))
    return evidence._replace(
        around=" . ".join((evidence.around, *shown)),
        dates=join_dates([evidence.dates, known_dates(more, evidence.day)]),
        figures=KnownFigures(own.numbers | others.numbers, own.times | others.times, own.pairs | others.pairs),
    )


def _unproven(text: str, evidence: _Evidence, *, is_update: bool) -> list[Fault]:
    """Return the values of a text that its evidence does not have."""
    dateless = without_dates(text)
    quoted = " . ".join(quote for quote, _ in evidence.quotes)
    found = [("a date", words) for words in unproven_dates(text, evidence.dates, evidence.day)]
    figures = unproven_figures(dateless, evidence.figures, evidence.dates.years)
    if figures and not is_update and not unproven_figures(without_dates(quoted), known_figures(dateless)):
        figures = []
    found += [("a number", words) for words in figures]
    names = unproven_names(dateless, evidence.around)
    if is_german(f"{text} {quoted}"):  # a capital makes no name
        names = [name for name in names if _IDENTIFIER.search(name) or _CAPITALS.search(name)]
    if names and not is_update and not unproven_names(quoted, text):
        names = [name for name in names if _IDENTIFIER.search(name)]
    return found + [("a name", words) for words in names]


# ---------------------------------------- names: people, products, identifiers, addresses
# Names are recognised by a capital within a sentence, or digits, dots and signs among the letters. The first word of a
# sentence is capitalised anyway; it counts as a name if it is a possessive or an auxiliary verb follows.


_CHUNK: Final = re.compile(r"\S+")
_EDGES: Final = "()[]{}<>\"'`*“”‘’«»,;:!?…."
_PART: Final = re.compile(r"[^\W_]+(?:[_'’][^\W_]+)*")
_POSSESSIVE: Final = re.compile(r"['’]s?$")
_IDENTIFIER: Final = re.compile(r"[^\W\d_][._/@#\\:][^\W_]|[_@#\\]|[^\W\d_]-?\d|\d[A-Z]")
_CAPITALS: Final = re.compile(r"[a-z][A-Z]|[A-Z]{2}")
_SENTENCE_ENDS: Final = (".", "!", "?", ":", ";")
_ALWAYS: Final = frozenset(
    "i i'm i'd i'll i've ok e.g i.e etc vs no mr mrs dr am pm a.m p.m usd eur kb mb gb tb".split()
)
_AUXILIARIES: Final = frozenset("is was has had will can should must may might would could does did".split())
# Words that the checks of numbers and dates cover.
_ELSEWHERE: Final = re.compile(
    r"[$€£¥~<>=≤≥±+−-]*[vV]?\d[\d.,:'’/–-]*(?:[a-z]{0,3}|[KMGT]?B)%?"
    r"|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?"
    r"|January|February|March|April|May|June|July|August|September|October|November|December"
    rf"|(?i:{NUMBER})"
)
_NAMES_STEM: Final = 4
# These are never names. `Will` and `May` may be.
_SMALL: Final = STOP_WORDS - {"may", "will"} | frozenset(
    """although another anybody anyone anything anywhere both either else elsewhere every everybody everyone everything
    everywhere first however instead last many maybe meanwhile might moreover neither never nevertheless next nobody
    none nothing nowhere otherwise ought perhaps rather several since somebody someone something somewhere therefore
    though thus till toward towards unless unlike upon whereas whether whoever whose without""".split()
)


def unproven_names(text: str, around: str) -> list[str]:
    """Return the names in a text that are not in `around`."""
    known, whole = _known(around), _folded(around)
    return list(dict.fromkeys(name for name in _names(text) if not _is_known(name, known, whole)))


def _names(text: str) -> Iterator[str]:
    """Yield what looks like a name, without punctuation."""
    begins = True
    for chunk, after in pairwise([*_CHUNK.findall(text), ""]):
        bare = _POSSESSIVE.sub("", chunk.strip(_EDGES))
        if any(map(str.isalnum, bare)) and bare.casefold() not in _ALWAYS and not _ELSEWHERE.fullmatch(bare):
            if _IDENTIFIER.search(bare) or _CAPITALS.search(bare):
                yield bare
            elif bare.casefold() not in _SMALL and (not begins or _begins_name(bare, chunk, after)):
                yield from (part for part in _PART.findall(bare) if part[0].isupper() and len(part) > 1)
        begins = chunk.rstrip("\"')”’»]").endswith(_SENTENCE_ENDS) or (begins and not bare)


def _begins_name(bare: str, chunk: str, after: str) -> bool:
    """Whether the first word of a sentence is a name: an auxiliary verb follows, or it is a possessive."""
    return bare != chunk.strip(_EDGES) or after.strip(_EDGES).casefold() in _AUXILIARIES


def _is_known(name: str, known: frozenset[str], whole: str) -> bool:
    folded = _folded(name)
    if folded in known or _singular(folded) in known or f"{folded}s" in known:
        return True
    if re.search(rf"(?<![^\W_]){re.escape(folded)}(?![^\W_])", whole):
        return True
    if any(folded.startswith(word) and name[len(word) :].isupper() for word in known if len(word) > _NAMES_STEM):
        return True  # `Postgres` for `PostgreSQL`
    parts = [part for part in re.split(r"[/,&+–—-]", name) if part]
    if len(parts) < 2:  # noqa: PLR2004  not a compound
        return False
    return all(_is_known(part, known, whole) or not (part[0].isupper() or _IDENTIFIER.search(part)) for part in parts)


@lru_cache(maxsize=16)
def _known(around: str) -> frozenset[str]:
    found: set[str] = set()
    for chunk in _CHUNK.findall(_folded(around)):
        bare = _POSSESSIVE.sub("", chunk.strip(_EDGES))
        parts = [*_PART.findall(bare), bare.lstrip("0123456789.,")]  # `64gb` contains `gb`
        found |= {bare, _singular(bare), *parts, *map(_singular, parts)}
    return frozenset(found)


def _singular(word: str) -> str:
    return word[:-1] if len(word) > _NAMES_STEM - 1 and word.endswith("s") and not word.endswith("ss") else word


@lru_cache(maxsize=256)
def _folded(text: str) -> str:
    """Return `text` in lower case and without accents."""
    decomposed = unicodedata.normalize("NFKD", text.replace("’", "'"))
    return unicodedata.normalize("NFC", "".join(c for c in decomposed if not unicodedata.combining(c))).casefold()


# ---------------------------------------- negations and conditions
# A text with words of its own may keep the sense of a `not` or `unless` in them, and only a reader can tell. One made
# of the quote's own words cannot.


_FLAGS: Final = re.IGNORECASE
_STATEMENTS: Final = re.compile(
    r"[.!?;:]\s|,\s|[()]|\s[-–—]\s"
    r"|(?<!body)(?<!one)(?<!all)(?<!thing)\s(?:and|but|however|instead|so|because|since|although|though|while|whereas|therefore)\s",
    _FLAGS,
)
# A condition may follow its sentence as a fragment: `Use the stairs. Unless you carry something.`
_SENTENCES: Final = re.compile(
    r"(?<!\.[eg])[.!?;]\s(?!(?:unless|except|otherwise|or else|only|until|if not)\b)", _FLAGS
)
# A condition in the middle of a clause limits this clause, and one that begins it limits those beside it, too.
_CONDITION: Final = re.compile(r"\b(?:if|unless|except\w*|until|till|in case|provided|as long as|apart from)\b", _FLAGS)
_BEGINS: Final = re.compile(rf"\W*(?:(?:and|but|so|or|only)\s){{0,2}}(?:{_CONDITION.pattern})", _FLAGS)
_GUARDS: Final = (  # each with how far it reaches
    (
        "a negation",
        re.compile(
            r"\b(?:not|never|nor|neither|none|nobody|nothing|nowhere|without|cannot|no(?!\.\s*\d)(?!t\w))\b|\b\w+n['’]t\b"
            r"|\b(?:dont|doesnt|didnt|cant|wont|isnt|arent|nicht|nie|niemals|kein\w*|ohne|jamais|nunca)\b",
            _FLAGS,
        ),
        _STATEMENTS,
    ),
    (
        "a condition",
        re.compile(
            r"\b(?:only|might|maybe|perhaps|possibly|otherwise|or else)\b|\b(?-i:may|(?<!\w\s)May)\b(?=\s[a-z])"
            r"|\b(?:nobody|none|no one|nothing|all|any\w*|every\w*) but\b",
            _FLAGS,
        ),
        _STATEMENTS,
    ),
    (
        "a condition",
        _CONDITION,
        None,
    ),
)
# Phrases with such a word that deny or limit nothing.
_FREE: Final = re.compile(
    r"\bnot (?:only|just|merely|least)\b|\b(?:do not|don['’]t|never) forget\b|\b(?:no|not) (?:doubt|problem|worries)\b"
    r"|\b(?:as|even|what) if\b|\bif (?:any|so|at all|possible)\b|\bif[/-](?:then|else)\b",
    _FLAGS,
)
_WORD: Final = re.compile(r"[^\W\d_]{2,}")
_ANY_WORD: Final = re.compile(r"\w+")
_IDLE: Final = frozenset(
    """a an the and is are was were be been being it its this that these those there of to in on at for from with will
    has have had do does did we you he she they them him her our your my their his user us me""".split()
)
_ENDINGS: Final = re.compile(r"(?<=\w{3})(?:ing|ed|e)$")
_STEM: Final = 5


def _changed_sense(text: str, evidence: _Evidence) -> list[Fault]:
    """Return the negations and conditions by which alone a text differs from its quotes."""
    text = _FREE.sub(" ", text)
    whole = f"{evidence.beside} . {' . '.join(lines for _, lines in evidence.quotes)}"
    bare, said = text, set[str]()
    for _, guard, _ in _GUARDS:
        said |= _found(guard, text)
        bare = guard.sub(" ", bare)
    words = _stems(bare)
    if words - _stems(evidence.around):
        return []
    made_up = said - set().union(*(_found(guard, whole) for _, guard, _ in _GUARDS))
    found: dict[Fault, None] = {}
    for kind, guard, reach in _GUARDS:
        clauses = [part for quote, lines in evidence.quotes for part in _rendered(quote, lines, words, reach)]
        for clause in map(partial(_FREE.sub, " "), clauses):
            if not made_up:
                is_kept = kind == "a negation" and bool(_found(guard, text))
                lost = [] if is_kept else sorted(_lost(guard, clause, text) - said)
                found |= {(kind, f"the lines say {word!r}, and the text does not"): None for word in lost}
            elif kind == "a negation" and _stems(clause) <= words and not _found(guard, whole):
                found |= {(kind, f"{word!r} is not in the lines"): None for word in _found(guard, text)}
    return list(found)


def _found(guard: re.Pattern[str], text: str) -> set[str]:
    return {one[0].casefold() for one in guard.finditer(text)}


def _lost(guard: re.Pattern[str], clause: str, text: str) -> set[str]:
    """Return the guard words of a clause; of the conditions, only those whose own words are not in the text, either."""
    if guard is not _CONDITION:
        return _found(guard, clause)
    kept = {_singular(word) for word in _ANY_WORD.findall(_folded(text))}
    ruled = [(one[0].casefold(), _ANY_WORD.findall(_folded(clause[one.end() :]))) for one in guard.finditer(clause)]
    first = [(word, next((one for one in after if one not in _IDLE), "")) for word, after in ruled]
    return {word for word, after in first if _singular(after) not in kept}


def _stems(text: str) -> set[str]:
    """Return the stems of the words that mean something."""
    words = (found[0] for found in _WORD.finditer(_folded(text)))
    return {_ENDINGS.sub("", _singular(word))[:_STEM] for word in words if word not in _IDLE}


def _rendered(quote: str, lines: str, stems: set[str], parted: re.Pattern[str] | None) -> Iterator[str]:
    """Yield the clauses of a quote that a text renders, those it shares the most words with, as the lines have them.

    Without a pattern that parts them, clauses with a condition at their beginning are one with those beside them.
    """
    at = lines.casefold().find(quote.casefold())
    if at < 0:
        lines, at = quote, 0
    ends = [0, *(found.end() for found in (parted or _STATEMENTS).finditer(lines)), len(lines)]
    if not parted:
        firm = {0, len(lines), *(found.end() for found in _SENTENCES.finditer(lines))}
        begins = {end for end in ends if _BEGINS.match(lines, end)}
        ends = [end for before, end in pairwise([0, *ends]) if end in firm or not {before, end} & begins]
    quoted = [lines[begin:end] for begin, end in pairwise(ends) if begin < at + len(quote) and at < end]
    shared = [len(_stems(clause) & stems) for clause in quoted]
    yield from (clause for clause, count in zip(quoted, shared, strict=True) if count == max(shared))
