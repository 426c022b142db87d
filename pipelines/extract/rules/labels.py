"""The labels by which people say outright what a line is: `Decision:`, RESOLVED, `Action #3:`, `TODO(bob):`, ...

A label has confidence high when it can mean nothing else. `Resolved:` in small letters is also what a mended bug is
called, so it is sure only where it is shouted, numbered or marked up; `Agreed:` is also how people answer in a chat.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pipelines.store.item import ItemType

if TYPE_CHECKING:
    from pipelines.extract.rules.lines import Spoken


@dataclass(frozen=True, slots=True)
class Label:
    """A label found before the words of a line.

    Args:
        type: what it says the line is.
        text_at: where the words after it begin.
        sure: whether it can mean nothing else here.
        marks: emphasis opened before the label and not closed with it, so closed behind the text.
        owner: a name in brackets behind the label, as in `TODO(bob):`, or empty.
        closed: whether the label says that the thing is done.
        mending: whether the word, written like this, is also what a mended fault or a step already taken is called.
    """

    type: ItemType
    text_at: int
    sure: bool
    marks: str = ""
    owner: str = ""
    closed: bool = False
    mending: bool = False


_LABEL = re.compile(
    r"""
    (?P<open>[*_]{0,3})
    (?:\[!(?P<alert>warning|caution|important)\](?P<after>[ \t]*)
    |\#(?P<command>agreed|accepted|action|decision|todo)[ \t]{1,8}
    |(?P<word>(?:final[ ]|key[ ])?decisions?(?:[ ]made|[ ]taken)?|decided|agreed|agreements?|consensus|resolved
        |resolutions?|(?:key[ ])?facts?|(?:key[ ])?lessons?(?:[ ]learned)?|learned|learnings?|til
        |preferences?|rules?|polic(?:y|ies)
        |conventions?|guidelines?|constraints?|to[- ]?do'?s?
        |actions?(?:[ -](?:items?|points?|needed|required))?
        |next[ ](?:steps?|actions?)|follow[- ]?ups?|fixme|reminders?|risks?|warnings?|cautions?|danger|blockers?
        |important)
     (?!\w)
     (?P<number>(?:-|[ \t]?\#[ \t]?|[ \t])\d{1,6}[a-z]?(?![\w-]))?
     (?P<close1>[*_]{0,3})
     (?P<paren>[ \t]?[(\[][^()\[\]\n]{1,60}[)\]])?
     (?:[ \t]?(?P<colon>[:：])|[ \t]{1,4}(?P<dash>[-–—]{1,2})(?=[ \t])|(?P<none>(?=[ \t])|$))
     (?P<close2>[*_]{0,3})
     [ \t]{0,12})
    """,
    re.IGNORECASE | re.VERBOSE,
)
_TAGS = re.compile(
    r"(?:#(?!(?:agreed|accepted|action|decision|todo)\b)[^\W\d_][\w/-]{0,78}[ \t]{1,4}){1,6}", re.IGNORECASE
)
_D, _F, _R, _T, _K = ItemType.DECISION, ItemType.FACT, ItemType.RULE, ItemType.TODO, ItemType.RISK
_SURE, _IN_OWN_VOICE, _SHOUTED, _CAPITAL, _UNSPOKEN, _UNSURE = range(6)
_MEANINGS: Final = {
    "decision": (_D, _SURE),
    "decided": (_D, _SURE),
    "agreed": (_D, _IN_OWN_VOICE),
    "accepted": (_D, _IN_OWN_VOICE),
    "agreement": (_D, _UNSPOKEN),
    "consensus": (_D, _UNSPOKEN),
    "resolved": (_D, _SHOUTED),
    "resolution": (_D, _SHOUTED),
    "fact": (_F, _SURE),
    "lesson": (_F, _UNSPOKEN),
    "learned": (_F, _UNSPOKEN),
    "learning": (_F, _UNSPOKEN),
    "til": (_F, _UNSPOKEN),
    "preference": (_F, _UNSPOKEN),
    "rule": (_R, _SURE),
    "policy": (_R, _UNSPOKEN),
    "policie": (_R, _UNSPOKEN),
    "convention": (_R, _UNSPOKEN),
    "guideline": (_R, _UNSPOKEN),
    "constraint": (_R, _UNSPOKEN),
    "important": (_R, _UNSPOKEN),
    "todo": (_T, _SURE),
    "action": (_T, _SURE),
    "next": (_T, _UNSURE),
    "followup": (_T, _SURE),
    "fixme": (_T, _CAPITAL),
    "reminder": (_T, _UNSPOKEN),
    "risk": (_K, _SURE),
    "warning": (_K, _CAPITAL),
    "caution": (_K, _CAPITAL),
    "danger": (_K, _CAPITAL),
    "blocker": (_K, _UNSPOKEN),
}
_MENDING: Final = frozenset({"resolved", "resolution", "action"})
_SHORTER = re.compile(
    r"(?:final|key) | made| taken| learned|[ -](?:items?|points?|needed|required)$| (?:steps?|actions?)$"
)
_REFUSING = re.compile(
    r"\b(?:propos\w*|draft|pending|tentative|rejected|withdrawn|deferred|superseded|obsolete|reverted|example|old|"
    r"not|no|failed|open|tbd|tbc|\?)(?:\W|$)",
    re.IGNORECASE,
)
_DONE = re.compile(r"\b(?:done|closed|complete[d]?|finished)\b", re.IGNORECASE)
_PLACE_OR_DAY = re.compile(r"[\W\d_]*|(?=.*\d).*")
_TASK = re.compile(r"(?:on )?@?\S{1,40}(?: (?:and|&) @?\S{1,40}| [A-Z]\S{1,40})?:? (?:to|will|should)\b")
_NEAR_MISS = re.compile(
    r"[\[(*_\"'~ ]{0,4}(?:(?:proposed|draft|failed|possible|potential|previous|old|suggested|alternative|"
    r"alternate|amended|"
    r"revised|counter|withdrawn|rejected)[ -](?:resolutions?|proposals?|decisions?|actions?|rules?)"
    r"|proposed|proposals?|counter-?proposals?|straw\W?polls?|strawman|polls?|not (?:resolved|decided|agreed)|"
    r"no (?:resolution|decision|consensus|agreement)|undecided|unresolved)\b[^:\n]{0,40}(?:[:\[*#]|$|\?)",
    re.IGNORECASE,
)


def read_label(spoken: Spoken) -> Label | None:
    """Return the label before the words of a peeled line, or None where none stands there."""
    tags = _TAGS.match(spoken.line, spoken.said_at)
    found = _LABEL.match(spoken.line, tags.end() if tags else spoken.said_at)
    if not found:
        return None
    if found["alert"]:
        kind = ItemType.RULE if found["alert"].lower() == "important" else ItemType.RISK
        return None if spoken.line[found.end() :].strip() else Label(kind, found.end(), sure=True)
    if found["command"]:
        kind = _MEANINGS[found["command"].lower()][0]
        return Label(kind, found.end(), sure=True)
    return _of_word(found, spoken)


def _of_word(found: re.Match[str], spoken: Spoken) -> Label | None:
    word, paren = found["word"], (found["paren"] or "").strip(" \t()[]")
    kind, strictness = _MEANINGS[_canonical(word)]
    if _REFUSING.search(paren) or not _separated(found, spoken):
        return None
    if spoken.is_speech and (
        strictness in {_UNSPOKEN, _UNSURE} or (strictness == _IN_OWN_VOICE and not word.isupper())
    ):
        return None
    closing = found["close1"] or found["close2"]
    marked = bool(found["open"] or found["number"] or spoken.line[: spoken.said_at].lstrip().startswith("#"))
    return Label(
        type=kind,
        text_at=found.end(),
        sure=_is_sure(word, strictness, marked=marked),
        marks=found["open"] if not closing else "",
        owner="" if _PLACE_OR_DAY.fullmatch(paren) or _DONE.search(paren) else paren,
        closed=bool(_DONE.search(paren)),
        mending=_canonical(word) in _MENDING and not word.isupper() and not found["number"],
    )


def _canonical(word: str) -> str:
    short = _SHORTER.sub("", word.lower())
    return re.sub(r"[\s'-]", "", short).removesuffix("s") if short != "consensus" else short


def _separated(found: re.Match[str], spoken: Spoken) -> bool:
    """Whether something sets the label apart: a colon, a dash after a word that is written as a label, or emphasis."""
    word = found["word"]
    loud = word.isupper() or bool(found["open"]) or bool(found["number"])
    if found["colon"]:
        return True
    if found["dash"]:
        return loud or word[0].isupper()
    rest = spoken.line[found.end() : found.end() + 200]
    if not rest.strip(" *_"):
        return False
    if found["open"] and found["close1"]:
        return True
    if not word.isupper():
        return False
    return (
        word in {"TODO", "FIXME"}
        or (word == "ACTION" and not found["number"] and bool(_TASK.match(rest)))
        or (word == "RESOLVED" and rest.startswith(("to ", "that ")))
    )


def _is_sure(word: str, strictness: int, *, marked: bool) -> bool:
    if strictness == _SHOUTED:
        return word.isupper() or marked
    return strictness != _UNSURE and (strictness != _CAPITAL or word[0].isupper() or marked)


def is_near_miss(spoken: Spoken) -> bool:
    """Return whether the line is marked as something not decided: a proposal, a straw poll, a failed resolution."""
    return _NEAR_MISS.match(spoken.line, spoken.said_at) is not None


# ---------------------------------------- headings that say what every list item under them is
# `### Decisions`, `## Action items`, `## Next steps`.


_SECTIONS_SURE, _LOOSE = True, False
_SECTIONS: Final = (
    (ItemType.DECISION, _SECTIONS_SURE, r"(?:decisions?|resolutions?|agreements?)(?: (?:made|taken|reached))?"),
    (ItemType.DECISION, _SECTIONS_SURE, r"what (?:we|was) decided"),
    (ItemType.FACT, _SECTIONS_SURE, r"facts?"),
    (ItemType.FACT, _LOOSE, r"(?:lessons?|learnings?)(?: learn(?:ed|t|ings?))?|preferences"),
    (ItemType.RULE, _SECTIONS_SURE, r"rules?|conventions|guidelines|policies"),
    (ItemType.TODO, _SECTIONS_SURE, r"action (?:items?|points?)|actions|to-?dos?|to do(?: list)?"),
    (ItemType.TODO, _LOOSE, r"next (?:steps?|actions?)|follow[- ]?ups?"),
    (ItemType.RISK, _SECTIONS_SURE, r"risks?(?: and (?:blockers?|issues|mitigations?))?"),
    (ItemType.RISK, _LOOSE, r"warnings|blockers"),
)
_WHOSE = r"(?:(?:key|main|new|our|my|your|final|standing|remaining|today['’]?s|[\w-]{1,30}['’]s) ){0,2}"
_WHEN = r"(?: (?:today|tomorrow|from today|for (?:today|tomorrow|next week|next session)))?"
_TITLES: Final = tuple((kind, sure, re.compile(_WHOSE + rf"(?:{words})" + _WHEN)) for kind, sure, words in _SECTIONS)
_SUMMARY = re.compile(r"summary of (?:the )?(?:new )?(action items|actions|resolutions|decisions)")
_DECORATION = re.compile(r"^(?:\d{1,3}(?:\.\d{1,3}){0,4}\.?\s)?[^\w]*|\s*[(\[][^()\[\]]{0,60}[)\]]\s*$|\W+$")
_LONGEST: Final = 80
_EXAMPLES = re.compile(
    r"(?:an? |some )?(?:examples?|samples?|templates?|format|syntax|usage)(?: (?:log|entry|entries|lines?)|(?: of|"
    r" for) .{1,40})?|how to (?:write|mark|log|record|use) .{1,60}"
)


def section_type(title: str) -> tuple[ItemType, bool] | None:
    """Return what the list items under a heading are, or None where it does not say so.

    Returns:
        The type, and whether the heading names it outright, as `Decisions` does and `Next steps` does not.
    """
    if len(title) > _LONGEST:
        return None
    name = _plain(title)
    if summary := _SUMMARY.fullmatch(name):
        return (ItemType.TODO if summary[1].startswith("action") else ItemType.DECISION), _SECTIONS_SURE
    return next(((kind, sure) for kind, sure, pattern in _TITLES if pattern.fullmatch(name)), None)


def _plain(title: str) -> str:
    name = title.casefold().replace("*", "").replace("_", " ")
    for _ in range(2):
        name = _DECORATION.sub("", name)
    return name


def shows_examples(headings: tuple[str, ...]) -> bool:
    """Return whether a heading says that what stands under it only shows how to write something."""
    return any(len(title) <= _LONGEST and _EXAMPLES.fullmatch(_plain(title)) for title in headings)
