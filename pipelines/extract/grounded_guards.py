"""Check that a text keeps the negations and conditions of its evidence: a lost `not` or `unless` changes the statement.

A guard word must survive as it is or in an equivalent. In a quote of several clauses, those count that the text
renders, by their shared words.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from pipelines.store.item import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_FLAGS: Final = re.IGNORECASE
_STEM: Final = 5


class Quoted(NamedTuple):
    """A quote and the lines that hold it, each on one line and without marks.

    Args:
        quote: the words that an item rests on.
        lines: the cited lines.
        answered: whether it is a question that another quote answers; it grounds words but states nothing.
    """

    quote: str
    lines: str
    answered: bool = False


# ---------------------------------------- negations: a `not` lost or made up turns an item into its opposite


_NEGATION: Final = re.compile(
    r"\b(?:not|never|nor|neither|none|nobody|nothing|nowhere|without|cannot|no(?!\.\s*\d)(?!t\w))\b|n['’]t\b"
    r"|\b(?:dont|doesnt|didnt|cant|wont|isnt|arent|shouldnt|mustnt|nicht|nie|niemals|kein\w*|ohne|jamais|nunca)\b",
    _FLAGS,
)
# Phrases with a `not` that deny nothing.
_NO_DENIAL: Final = re.compile(
    r"\bnot (?:only|just|merely|least)\b|\b(?:do not|don['’]t|never) forget\b|\b(?:no|not) (?:doubt|problem|worries|"
    r"(?:later|more|fewer|less|earlier|sooner) than)\b",
    _FLAGS,
)
# Words that deny without a `not`: they support a negation in the other text, and require none.
_SOFT: Final = re.compile(
    r"\b(?:avoid\w*|stop\w*|forbid\w*|forbade|prohibit\w*|bann?(?:ed|s)?|refus\w+|reject\w*|den(?:y|ies|ied)|declin\w+|"
    r"lack\w*|miss(?:es|ing)|fail\w*|impossible|unlike\w*|instead|rather|only|except|exclud\w+|against|drop\w*|remov\w+|"
    r"disabl\w+|abandon\w*|cancel\w*|skip\w*|block\w*|anymore|too|hardly|barely|rarely|seldom|absent|wrong|false|"
    r"broken|out of|unless|otherwise|or else|un(?:able|safe|need|want|know|reach|stab|clear|finish|paid)\w*|"
    r"(?:all|every\w*|any\w*) but)\b|[≠✗❌]|!=",
    _FLAGS,
)
_OPPOSITE: Final = re.compile(r"\b(?:un|in|im|ir|il|dis|mis|non-?)(\w{3,})|\b(\w{3,})less\b", _FLAGS)
_WORD: Final = re.compile(r"\w+")
_FORM: Final = re.compile(r"(?<=\w\w\w)(?:e?s|e?d|ing|e)$")


def unproven_negation(text: str, quotes: Sequence[Quoted], beside: str) -> str:
    """Return how a text and its evidence differ in negation, or an empty string.

    Args:
        text: the item's sentence.
        quotes: its evidence.
        beside: the words beside the quotes; they may support a negation but require none.
    """
    text = _NO_DENIAL.sub(" ", text)
    negated = _NEGATION.search(text)
    evidence = " . ".join(one.lines for one in quotes)
    if negated and not (_NEGATION.search(f"{evidence} . {beside}") or _denies_more(evidence, text)):
        return f"{negated[0]!r} is not in the lines"
    if not negated and not _denies_more(text, evidence):
        stems = _stems(text)
        stating = [one for one in quotes if not one.answered]
        for clause in (part for one in stating for part in _rendered(one.quote, one.lines, stems, _STATEMENTS)):
            if denied := _NEGATION.search(_NO_DENIAL.sub(" ", clause)):
                return f"the lines say {denied[0]!r}, and the text does not"
    return ""


def _denies_more(text: str, other: str) -> bool:
    """Whether a text has a denial without `not` that the other lacks: `refused`, or `unsafe` beside `safe`."""
    soft, others = ({found[0].casefold()[:_STEM] for found in _SOFT.finditer(one)} for one in (text, other))
    if soft - others:
        return True
    words = _stems(other)
    return any((found[1] or found[2]).casefold()[:_STEM] in words for found in _OPPOSITE.finditer(text))


def _stems(text: str) -> set[str]:
    """Return the stems of the distinctive words."""
    words = (found[0].casefold() for found in _WORD.finditer(text))
    distinctive = (word for word in words if word not in STOP_WORDS and (len(word) > 2 or word.isdecimal()))  # noqa: PLR2004
    return {_FORM.sub("", word)[:_STEM] for word in distinctive}


# ---------------------------------------- conditions and hedges


_SUBJECT: Final = (
    r"(?:the|an?|we|you|they|i|he|she|it|all|any|both|there|this|that|these|our|my|your|their|(?-i:[A-Z])\w*)\b"
)
_KNOWN: Final = r"is|are|know\w*|ask\w*|tell|wonder\w*|see|say|remember|decide|love|like|hate|on|about|of|from|to|for"
_IF: Final = (
    r"if|when|whenever|once|in case|in the event|provid(?:ed|ing)|(?:as|so) long as|as soon as|assuming|unless|"
    r"otherwise|or else|depend\w*|subject to|contingent|conditional|on condition|except|only|given|where|wherever|"
    r"whether|while|until|till|upon|after|before|pending|without|requires?|needs?"
)
_BUT: Final = r"(?:all|any\w*|every\w*|none|nothing|nobody|nowhere|no \w+) but"
_LEFT_OUT: Final = (
    r"except\w*|exclud\w+|(?:apart|aside) from|other than|besides|barring|minus|outside|save for|exempt\w*"
)
# A fragment limits the text before it, even after a full stop; a bound clause does after a comma or a dash.
_FRAGMENT: Final = r"(?:unless|except|otherwise|or else|only|until|if not)\b[^,.;!?]{0,200}(?:[.;!?]|$)"
_BOUND: Final = (
    r"(?:and |or |but )?(?:if|unless|except|otherwise|or else|only|until|till|provided|as long as|when|once)\b"
)
_CLAUSES: Final = re.compile(
    rf"(?<![DM]r)(?<!\.[eg])[.!;]\s(?!{_FRAGMENT}|otherwise|or else)|\?\s|\s[-–—]\s(?!{_BOUND})"
    rf"|,\s(?!{_BOUND})(?=(?:but|and|so|while|because|since|although|whereas|which|who)\s)",
    _FLAGS,
)
_STATEMENTS: Final = re.compile(
    rf"{_CLAUSES.pattern}|[()]|,\s(?=(?:not|nobody|no one|nothing|none|i|we|you|he|she|it|they|there)\b)"
    r"|\b(?:but|however|instead|so|because|since|although|though|while|whereas|therefore)\b",
    _FLAGS,
)
_PARTS: Final = re.compile(rf"{_CLAUSES.pattern}|,\s|\sand\s|[()]", _FLAGS)
# Words that limit a statement, their equivalents, and how far they reach. With the group `free` or `known` they limit
# nothing: `even if`, `not only`, `I know when`.
_GUARDS: Final = (
    (
        re.compile(rf"\b(?:except(?:ing|ions?)?|excluding|{_BUT}|apart from|aside from|other than|save for)\b", _FLAGS),
        re.compile(rf"\b(?:{_LEFT_OUT}|{_BUT}|but not|unless|without|only|otherwise)\b", _FLAGS),
        _CLAUSES,
    ),
    (
        re.compile(r"(?:^|[.,;!?–—-]\s|\b(?:and|but|or)\s)otherwise\b|\bor else\b", _FLAGS),
        re.compile(rf"\b(?:{_IF}|or|must|need\w*|has to|have to)\b", _FLAGS),
        _CLAUSES,
    ),
    (
        re.compile(
            r"(?P<free>\b(?:as|even|what|only)\s)?\bif\b(?!\s(?:any|so|only|at all|you (?:can|could|like|please))\b)"
            rf"|\b(?:in case|provided (?:that|{_SUBJECT})|(?:as|so) long as|as soon as|whenever|assuming|on condition"
            rf"|subject to|once (?!an?\b){_SUBJECT})\b|(?P<known>\b(?:{_KNOWN})\s)?\bwhen {_SUBJECT}",
            _FLAGS,
        ),
        re.compile(rf"\b(?:{_IF})\b|(?:^|[.,;:]\s)should\b", _FLAGS),
        _CLAUSES,
    ),
    (re.compile(r"\bunless\b", _FLAGS), re.compile(rf"\b(?:{_IF}|{_BUT}|{_LEFT_OUT}|or)\b", _FLAGS), _CLAUSES),
    (
        re.compile(r"(?P<free>\b(?:not|if|n['’]t)\s)?\b(?:only(?!\s(?:if|when|once)\b)|solely|exclusively)\b", _FLAGS),
        re.compile(
            rf"\b(?:only|just|sole(?:ly)?|exclusive(?:ly)?|alone|merely|else|{_LEFT_OUT}|{_BUT}|unless|until|before|"
            r"without|limit\w*|restrict\w*|reserved|confined|at most|(?:no|not) more than|max(?:imum)?|single)\b",
            _FLAGS,
        ),
        _PARTS,
    ),
    (
        re.compile(r"\b(?:until|till)\b", _FLAGS),
        re.compile(
            r"\b(?:until|till|up to|through|to|before|not after|pending|end(?:s|ed|ing)?|expir\w+|(?:as|so) long as|"
            r"while|wait\w*|hold|only|after|once|when|unless|start\w*|from)\b",
            _FLAGS,
        ),
        _CLAUSES,
    ),
    (
        re.compile(
            r"\b(?:might|maybe|perhaps|possibly)\b"
            r"|\b(?-i:may)\b(?=\s(?!(?:and|or|to|until|through|at|in|on|for|the|we|i|it|is|was|if)\b)[a-z])",
            _FLAGS,
        ),
        re.compile(
            r"\b(?:might|may|maybe|perhaps|possib\w+|can|could|potential\w*|risk\w*|chance|uncertain\w*|unsure|"
            r"not sure|unclear|unconfirmed|undecided|tentative\w*|consider\w*|think\w*|option\w*|(?:dis)?allow\w*|"
            r"permi\w+|only|nobody|no one|nothing|"
            r"whether|free to|let|danger|threat\w*|fear\w*|suspect\w*|worr\w+|cannot|must not|mustn['’]t|"
            r"forbid\w*|prohibit\w*|banned)\b|^(?:do not|don['’]t|never)\b",
            _FLAGS,
        ),
        _PARTS,
    ),
)
_PAST: Final = re.compile(
    r"\b(?:was|were|did|had|went|got|came|took|made|said|told|saw|left|felt)\b"
    r"|(?<!\bis )(?<!\bare )(?<!\bbe )\b\w{2,20}[^\We]ed\b",
    _FLAGS,
)


def dropped_conditions(text: str, quotes: Sequence[Quoted]) -> list[str]:
    """Return the guard words on what `text` renders of its quotes that it has in no equivalent form."""
    stems, dropped = _stems(text), dict[str, None]()
    for words, same, reach in (guard for guard in _GUARDS if not guard[0].search(text)):
        stating = (one for one in quotes if not one.answered and words.search(one.lines))
        for clause in (part for one in stating for part in _rendered(one.quote, one.lines, stems, reach)):
            for found in words.finditer(clause):
                word = found[0].strip(" .,;!?–—-").casefold()
                # `When I was there` sets no condition.
                free = any(found.groupdict().values()) or (word.startswith(("when ", "once ")) and _PAST.search(clause))
                rest = f"{clause[: found.start()]} . {clause[found.end() :]}"
                # An equivalent that is in the clause anyway, such as the `to` of `up to`, does not keep the guard.
                kept, anyway = ({other[0].casefold() for other in same.finditer(side)} for side in (text, rest))
                if not free and kept <= anyway:
                    dropped[word] = None
    return list(dropped)


def _rendered(quote: str, lines: str, stems: set[str], parted: re.Pattern[str]) -> Iterator[str]:
    """Yield the clauses of a quote that a text renders: the nearest, and those with half their other words in it."""
    at = lines.casefold().find(quote.casefold())
    if at < 0:
        lines, at = quote, 0
    first = next((found.end() for found in _WORD.finditer(lines) if _stems(found[0])), 0)
    ends = [0, *(found.end() for found in parted.finditer(lines, first)), len(lines)]
    quoted = [lines[begin:end] for begin, end in pairwise(ends) if begin < at + len(quote) and at < end]
    clauses = [(clause, _stems(clause)) for clause in quoted]
    most = max((len(words & stems) for _, words in clauses), default=0)
    nearest = {word for _, words in clauses if len(words & stems) == most for word in words}
    for clause, words in clauses:
        own = words - nearest
        if len(words & stems) == most or (own and 2 * len(own & stems) >= len(own)):
            yield clause
