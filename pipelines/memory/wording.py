"""When two texts say the same words: the folding that duplicates are found by, and the words that filing compares."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_LINK: Final = re.compile(r"!?\[([^\]\[]*)\]\(([^()\s]*)\)")
_OUTER: Final = "()[]{}\"'`*_~.,;:!?…“”‘’«»"
_SIGNS: Final = frozenset("<>=≠≤≥+±%$€£&|@#/^-−")
_WORD: Final = re.compile(r"[^\W_][\w'’-]*")

STOP_WORDS: Final = frozenset(
    """a about after again all also am an and any are as at be because been before being but by can could did do does
    doing done down each few for from further get gets got had has have having he her here hers him his how i
    if in into is it its itself just let like may me more most much must my need needs new no nor not now of
    off on once one only or other our out over own per please same shall she should so some still such than
    that the their them then there these they this those through to too under until up us use used uses using
    very via was we were what when where which while who whom why will with within would yes yet you your""".split()
)


def folded(text: str) -> str:
    """Return the form in which near-exact repeats are equal: case, punctuation and Markdown are gone.

    Numbers, names, negations and signs (`-1`, `@id`, `C++`, `<`) stay: texts that differ in one are never equal.
    """
    plain = _LINK.sub(r"\1", text) if "](" in text else text
    if not plain.isascii():
        plain = unicodedata.normalize("NFKC", plain)
    # Most words are bare already; a night folds every item there is.
    words = [word if word.isalnum() else _bare(word) for word in plain.casefold().split()]
    return " ".join(filter(None, words))


def _bare(word: str) -> str:
    bare = word.strip(_OUTER)
    if bare.isalnum():
        return bare
    if not any(c.isalnum() for c in bare):
        return bare if any(c in _SIGNS for c in bare) and bare not in {"-", "--", "/", "|"} else ""
    return bare


def content_words(text: str) -> frozenset[str]:
    """Return the words that carry what a text is about: lower case, three letters or more, no stop words."""
    words = (word.casefold().strip("-'’") for word in _WORD.findall(text))
    return frozenset(word for word in words if len(word) > 2 and word not in STOP_WORDS)  # noqa: PLR2004  "of", "to"
