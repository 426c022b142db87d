"""Check that an item says only what its evidence says: numbers, dates, names, versions, negations and conditions.

The quotes prove that something was said; this proves that the item's own sentence, worded by a model, says nothing
else. The check is strict on facts and free on form. A doubtful item is asked for once more; a dropped one is still in
the log.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from pipelines.extract.grounded_guards import Quoted, dropped_conditions, unproven_negation
from pipelines.extract.grounded_values import (
    NUMBER,
    join_dates,
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

    from pipelines.extract.extraction import Place
    from pipelines.extract.grounded_values import KnownDates, KnownFigures


def ungrounded(text: str, places: Sequence[Place], context: Sequence[str] = ()) -> list[tuple[str, str]]:
    """Return what `text` says beyond its evidence; nothing for an item that is grounded.

    Numbers are compared by value (`three` is `3`), times of day by the minute, dates as days (`tomorrow` and `Friday`
    are relative to the log's day), versions and names by their letters except for case, possessives and accents. Each
    may also be in the headings above, in the project or in `context`, and a name anywhere in the entry. A negation or
    condition (`if`, `unless`, `only`, `might`, `until`) in the clause of a quote must survive, in the same or an
    equivalent word.

    Args:
        text: the item's sentence.
        places: its evidence, at least one place, such as a question and its answer; each entry knows its day.
        context: more text that the item may use: the speaker, the turn that it answers, who was present, the old text
            of an updated item.

    Returns:
        The kind of each fault, with an article (`a number`, `a date`, `a name`, `a negation`, `a condition`), and the
        words concerned: for the model that is asked again, and for no report.
    """
    evidence = _read_evidence(tuple(places), tuple(context))
    dateless = without_dates(text)
    found = [("a date", words) for words in unproven_dates(text, evidence.dates, evidence.day)]
    found += [("a number", words) for words in unproven_figures(dateless, evidence.figures, evidence.dates.years)]
    found += [("a name", words) for words in unproven_names(dateless, evidence.around)]
    if side := unproven_negation(text, evidence.quotes, evidence.beside):
        found.append(("a negation", side))
    found += [("a condition", f"the lines say {word!r}") for word in dropped_conditions(text, evidence.quotes)]
    return found


@dataclass(frozen=True, slots=True)
class _Evidence:
    """The evidence of some places, parsed once for all items that rest on them."""

    quotes: tuple[Quoted, ...]
    beside: str
    around: str
    day: date
    dates: KnownDates
    figures: KnownFigures


@lru_cache(maxsize=16)
def _read_evidence(places: tuple[Place, ...], context: tuple[str, ...]) -> _Evidence:
    entries = list(dict.fromkeys(place.entry for place in places))
    folded = [(fold_markdown([place.quote]), fold_markdown(place.lines)) for place in places]
    quotes = tuple(Quoted(quote, lines, len(places) > 1 and quote.endswith("?")) for quote, lines in folded)
    above = (word for entry in entries for word in (*entry.headings, entry.project, " ".join(entry.tags)))
    beside = " . ".join((*above, *context))
    whole = " . ".join(fold_markdown(entry.text.split("\n")) for entry in entries)
    around = f"{beside} . {whole}".replace("°C", "° Celsius").replace("°F", "° Fahrenheit")
    cited = f"{beside} . {' . '.join(one.lines for one in quotes)}"
    days = [date.fromisoformat(place.entry.day) for place in places]
    by_day = [known_dates(f"{beside} . {one.lines}", day) for one, day in zip(quotes, days, strict=True)]
    return _Evidence(
        quotes,
        beside,
        f"{around} . {without_dates(around)}",
        max(days),
        join_dates(by_day),
        known_figures(without_dates(cited)),
    )


# ---------------------------------------- names: people, products, identifiers, addresses
# Each must be in the entry or above it. Names are recognised by a capital within a sentence, capitals within a word, or
# digits, dots and signs among the letters. The first word of a sentence is capitalised anyway; it counts as a name if
# it is not a common word and a verb or the rest of a name follows.


_CHUNK: Final = re.compile(r"\S+")
_EDGES: Final = "()[]{}<>\"'`*“”‘’«»,;:!?…."
_PART: Final = re.compile(r"[^\W_]+(?:[_'’][^\W_]+)*")
_POSSESSIVE: Final = re.compile(r"['’]s?$")
_IDENTIFIER: Final = re.compile(r"[^\W\d_][._/@#\\:][^\W_]|[_@#\\]|[a-z][A-Z]|[A-Z]{2}|[^\W\d_]-?\d|\d[A-Z]")
_SENTENCE_ENDS: Final = (".", "!", "?", ":", ";")
_ALWAYS: Final = frozenset(
    "i i'm i'd i'll i've ok e.g i.e etc vs no mr mrs dr am pm a.m p.m usd eur kb mb gb tb".split()
)
# Words that follow a subject without ending in `s` or `ed`, and words with that ending that are no verbs.
_VERBS: Final = frozenset(
    """is was has had will can should must may might would could does did and or who also never now still always already
    usually often said went left met took wrote made got gave came saw told sent paid bought sold built ran kept found
    held brought thought knew chose won lost led spoke taught felt began""".split()
)
_NOT_VERBS: Final = frozenset("its this as yes plus versus thus always is us".split())
# Words that start a sentence and are not names: verbs of todos, and common nouns and adjectives.
_COMMON: Final = frozenset(
    """accept add address adjust agree aim allow answer apply approve arrange ask assign attend avoid back base begin
    block book borrow bring build buy call cancel change charge check choose clean clear close collect come commit
    compare complete confirm connect consider contact continue convert convince copy cover create cut decide define
    delay delete deliver deploy describe design discuss draft drive drop edit email enable encourage end ensure expect
    explain extend fetch file fill find finish fix focus follow forward get give go greet handle help hide hire hold
    host improve include inform install interview introduce invite involve join keep label learn leave lend limit link
    list listen load look mail make manage meet mention merge message monitor move negotiate notify offer open order
    organize pack pay phone pick ping plan post prefer prepare present print promise provide publish push put raise
    reach read rebuild receive reduce refactor register reject release remember remind remove rename renew rent repair
    replace reply report request research reserve reset respond restart return review revise rewrite ring run save
    schedule search see select sell send serve set settle share ship show sign skip speak split start state stop store
    submit support switch take talk teach tell test text thank trace track train transfer translate try turn update
    upgrade upload verify visit wait walk want warn wash watch welcome write
    access account age amount answer area backup both branch budget bug business cache car care case cause chance child
    children choice city class client code community company contract control copy cost country course customer data
    database date day deadline deal decision demand detail device diet discount disk doctor document door dose draft
    either energy engine entry error event every everybody everyone evidence example exercise experience extra fact
    family feature fee field first food former form free full game garden general glass goal good grant great ground
    group guest half head health heat high hour house idea income index interest invoice issue item job key kind kitchen
    land large last late law lesson letter level library life light line list little local log login long low lunch main
    many market material maximum medicine meeting member memory method middle minimum minute model money month morning
    most music name neither network new next night nobody none normal note nothing number office old online one option
    other owner page paper part partner party password past payment people percent performance person piece place plan
    play point policy price problem process product production profit program progress project proof public quality
    quarter queue question quick rain rate reason recent record repo repository research result right risk road role
    room rule sale sample school score season second secret security seed server service session several short side
    site size sleep small software somebody someone something source space special staff staging standard step storage
    story stress student study subject system table tax team term theme thing third ticket time title today token tool
    topic total town traffic training travel trip two type unit usage use user value version video view visitor voice
    wall water way weather website week weekend weight whole wife wind winter wood work world year young""".split()
)
# Words that the checks of numbers and dates cover.
_ELSEWHERE: Final = re.compile(
    r"[$€£¥~<>=≤≥±+−-]*[vV]?\d[\d.,:'’/–-]*(?:[a-z]{0,3}|[KMGT]?B)%?"
    r"|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?"
    r"|January|February|March|April|May|June|July|August|September|October|November|December"
    rf"|(?i:{NUMBER})"
)
_SUFFIXES: Final = re.compile(r"(?:tion|sion|ment|ness|ity|ance|ence|ing|ship|age|ism|ure|als?|ers?|ors?|ings)$")
_ENDING: Final = re.compile(r"(?:e?s|e?d|ing|ly|e)$")
_NAMES_STEM: Final = 4
# These are never names. `Will` and `May` may be.
_SMALL: Final = STOP_WORDS - {"may", "will"} | frozenset(
    """although another anybody anyone anything anywhere both either else elsewhere every everything everywhere
    however instead many maybe meanwhile might moreover neither never nevertheless nobody nothing nowhere otherwise
    ought perhaps rather several since somewhere therefore though thus till toward towards unless unlike upon
    whereas whether whoever whose without""".split()
)
_STEMS: Final = frozenset(_ENDING.sub("", word) for word in _COMMON)


def unproven_names(text: str, around: str) -> list[str]:
    """Return the names in an item's text that are not in `around`: its entry, the headings above, its project."""
    known, whole = _known(around), _folded(around)
    return list(dict.fromkeys(name for name in _names(text, known) if not _is_known(name, known, whole)))


def _names(text: str, known: frozenset[str]) -> Iterator[str]:
    """Yield what looks like a name, without punctuation."""
    begins = True
    for chunk, after in pairwise([*_CHUNK.findall(text), ""]):
        bare = _POSSESSIVE.sub("", chunk.strip(_EDGES))
        if any(map(str.isalnum, bare)) and bare.casefold() not in _ALWAYS and not _ELSEWHERE.fullmatch(bare):
            if _IDENTIFIER.search(bare):
                yield bare
            elif begins:
                yield from [bare] if _begins_as_name(bare, chunk, after, known) else []
            elif bare.casefold() not in _SMALL:
                yield from (part for part in _PART.findall(bare) if part[0].isupper() and len(part) > 1)
        begins = chunk.rstrip("\"')”’»]").endswith(_SENTENCE_ENDS) or (begins and not bare)


def _begins_as_name(word: str, chunk: str, after: str, known: frozenset[str]) -> bool:
    """Whether the first word of a sentence is a name rather than a noun, a verb or a small word."""
    bare = word.casefold()
    if (
        not word[0].isupper()
        or bare in STOP_WORDS
        or bare in _SMALL
        or bare in _COMMON
        or _ENDING.sub("", bare) in _STEMS
    ):
        return False
    # It starts like a word of the entry, as `deployments` does like `deploy`.
    stem = bare[:_NAMES_STEM]
    if len(bare) >= _NAMES_STEM and any(len(one) >= _NAMES_STEM and one.startswith(stem) for one in known):
        return False
    following = after.strip(_EDGES)
    if following[:1].isupper() or _POSSESSIVE.search(chunk.strip(_EDGES)):
        return True
    return _is_verb(following.casefold()) and not (_SUFFIXES.search(bare) or bare.endswith("s"))


def _is_verb(word: str) -> bool:
    """Whether a word can follow a subject: an auxiliary, or a verb in the third person or the past."""
    if word in _VERBS:
        return True
    return len(word) > 3 and word not in _NOT_VERBS and word.endswith(("s", "ed")) and not word.endswith("ss")  # noqa: PLR2004


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
