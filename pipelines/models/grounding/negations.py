"""Whether a text and its evidence agree in saying no: a `not` lost or made up turns an item into its opposite."""

from __future__ import annotations

import re
from typing import Final

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
_SENTENCE: Final = re.compile(r"[.!?;:](?=\s|$)|\s[-–—]\s|[()]")
_TURNS: Final = r"but|however|instead|so|because|since|although|though|while|whereas|therefore"
_TURN: Final = re.compile(rf"{_SENTENCE.pattern}|\b(?:{_TURNS})\b", re.IGNORECASE)
_END: Final = re.compile(rf"{_SENTENCE.pattern}|,|\b(?:{_TURNS}|and|or|which|who)\b", re.IGNORECASE)


def disagrees(text: str, quote: str, evidence: str, above: str = "") -> str:
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
