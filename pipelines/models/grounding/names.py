"""The names in a text: people, products, identifiers, addresses. Each must stand in the entry, or above it.

A name is known by its letters: a capital within a sentence, capitals within a word, digits, dots and signs among the
letters. The first word of a sentence has a capital anyway; it counts as a name where a subject's verb follows it.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from pipelines.models.grounding.words import NUMBER
from pipelines.store.item import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator

_CHUNK: Final = re.compile(r"\S+")
_EDGES: Final = "()[]{}<>\"'`*“”‘’«»,;:!?…."
_PART: Final = re.compile(r"[^\W_]+(?:[_'’][^\W_]+)*")
_POSSESSIVE: Final = re.compile(r"['’]s?$")
_IDENTIFIER: Final = re.compile(r"[^\W\d_][._/@#\\:][^\W_]|[_@#\\]|[a-z][A-Z]|[A-Z]{2}|[^\W\d_]-?\d|\d[A-Z]")
_SENTENCE_ENDS: Final = (".", "!", "?", ":", ";")
_ALWAYS: Final = frozenset(
    {"i", "i'm", "i'd", "i'll", "i've", "ok", "e.g", "i.e", "etc", "vs", "no", "mr", "mrs", "dr"}
)
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
_STEM: Final = 4


def unproven_names(text: str, around: str) -> list[str]:
    """Return the names in an item's text that stand nowhere in `around`: its entry, the headings above, its project."""
    known, whole = _known(around), _folded(around)
    return list(dict.fromkeys(name for name in _names(text, known) if not _is_known(name, known, whole)))


def _names(text: str, known: frozenset[str]) -> Iterator[str]:
    """Yield what looks like a name, without its marks."""
    begins = True
    chunks = [found[0] for found in _CHUNK.finditer(text)]
    for at, chunk in enumerate(chunks):
        bare = _POSSESSIVE.sub("", chunk.strip(_EDGES))
        after = chunks[at + 1] if at + 1 < len(chunks) else ""
        if any(map(str.isalnum, bare)) and bare.casefold() not in _ALWAYS and not _ELSEWHERE.fullmatch(bare):
            if _IDENTIFIER.search(bare):
                yield bare
            elif begins:
                yield from _first(bare, chunk, after, known)
            else:
                yield from (part for part in _PART.findall(bare) if part[0].isupper() and len(part) > 1)
        begins = chunk.rstrip("\"')”’»]").endswith(_SENTENCE_ENDS) or (begins and not bare)


def _first(word: str, chunk: str, after: str, known: frozenset[str]) -> Iterator[str]:
    """Yield the first word of a sentence where it is a name rather than a noun, a verb or a small word."""
    bare = word.casefold()
    if not word[0].isupper() or bare in STOP_WORDS or bare in _COMMON or any(_akin(bare, one) for one in known):
        return
    following = after.strip(_EDGES)
    is_name = following[:1].isupper() or bool(_POSSESSIVE.search(chunk.strip(_EDGES)))
    is_noun = bool(_SUFFIXES.search(bare)) or bare.endswith("s")
    if is_name or (_is_verb(following.casefold()) and not is_noun):
        yield word


def _is_verb(word: str) -> bool:
    """Whether a word is one that follows a subject: an auxiliary, or the third person or the past of a verb."""
    if word in _VERBS:
        return True
    return len(word) > 3 and word not in _NOT_VERBS and word.endswith(("s", "ed")) and not word.endswith("ss")  # noqa: PLR2004


def _akin(one: str, other: str) -> bool:
    """Whether two words share their beginning, as `deployments` and `deploy` do."""
    return min(len(one), len(other)) >= _STEM and (one[:_STEM] == other[:_STEM])


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
        found |= {bare, _singular(bare), *map(_singular, _PART.findall(bare)), *_PART.findall(bare)}
    return frozenset(found)


def _singular(word: str) -> str:
    return word[:-1] if len(word) > _STEM - 1 and word.endswith("s") and not word.endswith("ss") else word


@lru_cache(maxsize=256)
def _folded(text: str) -> str:
    """Return `text` in lower case and without accents."""
    decomposed = unicodedata.normalize("NFKD", text.replace("’", "'"))
    return unicodedata.normalize("NFC", "".join(c for c in decomposed if not unicodedata.combining(c))).casefold()
