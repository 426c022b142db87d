"""What in a sentence says that something changed, and which words name what it was before."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_FLAGS: Final = re.IGNORECASE
# In the past, or in the making, anywhere; as a plain verb only where an order begins: `the change required by`.
_VERBS: Final = (
    r"(?:mov|chang|migrat|relocat|rais|increas|reduc|decreas|postpon|renam|upgrad|downgrad|updat|revis|reschedul|"
    r"replac|supersed|reassign|reset|rewrit)(?:ed|ten)|(?:switch|shift|transfer(?:r)?|lower|bump(?:p)?|extend|"
    r"shorten|delay|push|adjust|revert|convert|hand|pass|lift|amend)ed|"
    r"(?<=(?:.is|are|['’]re) )(?:mov|chang|migrat|rais|increas|switch|replac|postpon|upgrad|lower|extend|shift)ing|"
    r"(?:replac|supersed)es|"
    r"(?:went|going|gone) (?:up|down)|cut|brought forward|grew|rose|fell|became|has become"
)
_ORDERS: Final = (
    r"^(?:(?:we|let us|let['’]s|please) )?(?:mov|chang|migrat|relocat|rais|increas|reduc|decreas|postpon|renam|upgrad|"
    r"downgrad|replac|switch|shift|lower|bump|extend|shorten|delay|revert|convert)e?s?\b"
)
# A word is taken whole and only so far: whatever is tried at each verb of a long text must end soon.
_TOWARDS: Final = (
    r"(?=(?:\W{1,20}+\w[\w.'’-]{0,60}+){0,7}?\W{1,20}(?:to|from|into|with|by|back|forward|over|up|down|until)\b)"
)
_DAYS: Final = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_MONTHS: Final = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
_TURNING_POINTS: Final = (
    "release|update|upgrade|move|merger|migration|switch|change|relaunch|reorganisation|reorganization|week|month|year|"
    "quarter|sprint|spring|summer|autumn|winter|yesterday"
)
_ENDED: Final = r"cancell?ed|scrapped|abandoned|discontinued|retired|revoked|withdrawn|called off"
_PARTED: Final = r"left|quit|traded(?: in)?|ditched|swapped|gave up|got rid of"
# How each says it: it only tells that something is new, it is the verb by which it changed, or it denies what was.
_TELLS, _TURNS, _DENIES, _ENDS = "tells", "turns", "denies", "ends"
_TURNING: Final = frozenset({_TURNS, _ENDS})
_DENYING: Final = frozenset({_DENIES, _ENDS})
_MARKS: Final = tuple(
    (kind, re.compile(pattern, _FLAGS))
    for kind, pattern in (
        (_DENIES, r"\bno longer\b"),
        (_TELLS, r"\bany ?more\b"),
        (_TELLS, r"\binstead(?: of)?\b|\brather than\b|\bin place of\b"),
        (_TELLS, r"\bfrom (?:now|today|here|next \w+) on(?:wards?)?\b|\bgoing forward\b|\bhenceforth\b"),
        (_TELLS, rf"^since (?:the |our |last |this )?(?:[\w.]+ )?(?:{_TURNING_POINTS})\b"),
        (_TELLS, r"\b(?:as of |right )?now(?: that)?\b(?! and then)|\bnowadays\b|\bthese days\b"),
        (_TELLS, r"\bcorrect(?:ion|ed)\b|\bupdate\s*:|\bedit\s*:"),
        (_TURNS, rf"(?:\b(?:was|were|been|being|got|be|has|have|is|are) ){{0,4}}\b(?:{_VERBS})\b{_TOWARDS}"),
        (_TURNS, rf"{_ORDERS}{_TOWARDS}"),
        (_TURNS, r"\b(?:has|have|was|were) (?:been )?(?:renamed|replaced|superseded|rescheduled|postponed|upgraded)\b"),
        (_TURNS, r"\b(?:took|takes?|taken|taking) over\b"),
        (_TELLS, r"\bas of(?= )|\beffective(?: from)?\b"),
        (_TELLS, rf"^starting(?: from| in| on)? (?=\d|next\b|this\b|today\b|{_DAYS}|{_MONTHS})"),
        (_TELLS, r"\bactually\b|\bin fact\b"),
        (_TELLS, r"\b(?:it )?turn(?:s|ed) out(?: that)?\b|\b(?:was|were) wrong\b|\bmistaken\b"),
        (_TELLS, r"\bscratch that\b|\bon second thoughts?\b|\bchanged \w+ mind\b|\bchange of plans?\b"),
        (_TELLS, r"\bused to\b|\bformerly\b|\bpreviously\b|\buntil now\b|\bso far\b"),
        (_ENDS, rf"\b(?:has |have |was |were |is |are )?(?:been )?(?:{_ENDED})\b"),
        (_DENIES, r"^(?:we |i |they |please )?(?:have |will )?(?:decided to )?(?:stop|drop|quit)(?:p?ed|s)?\b"),
        (_TELLS, r"(?<=[,;] )(?:we |i )?(?:stopped|dropped)\b"),
        (_TELLS, r"^(?:our|the|my|their|his|her)? ?new\b"),
        (_TELLS, rf"\b(?:{_PARTED})(?= \w)"),
        (_TURNS, r"\b(?:has|have|was|were) been made\b|\bis being (?:re)?written\b"),
    )
)  # fmt: skip
_STOP_AT: Final = (
    r"(?=[,;:()]|\.(?:\s|$)|\s(?:to|with|by|for|but|now|because|since|in favou?r|any ?more|this|that has|and)\b|$)"
)
_IS: Final = r"(?:was|were|is|are|has been|have been|gets?)"
_GAP: Final = r"\s{1,3}"
_WAS: Final = r"(?P<was>.{1,120}?)"
# Each names in its group what held before, in a phrase of at most so many characters.
_REPLACED: Final = tuple(
    re.compile(pattern, _FLAGS)
    for pattern in (
        rf"\b(?:instead of|rather than|in place of|no longer|away from|moved off){_GAP}{_WAS}{_STOP_AT}",
        rf"(?:,|\bbut|\band|;){_GAP}not{_GAP}{_WAS}{_STOP_AT}",
        rf"\bnot{_GAP}(?P<was>[^,.;]{{1,120}}?){_GAP}but\b",
        rf"\bfrom{_GAP}(?P<was>[^,;]{{1,120}}?){_GAP}(?:to|into)\b",
        rf"\breplac(?:e|es|ed|ing){_GAP}{_WAS}{_STOP_AT}",
        rf"(?<![\w.+#-])(?P<was>[\w.+#-]+(?: [\w.+#-]+)?){_GAP}{_IS}{_GAP}replaced\b",
        rf"\bover\b[^,;]{{0,120}}?\bfrom{_GAP}{_WAS}{_STOP_AT}",
        rf"(?:^|[,;:]\s|\b(?:we|i|they|to)\s)(?:have\s)?(?:stop(?:ped|s)?|drop(?:ped|s)?){_GAP}{_WAS}{_STOP_AT}",
        rf"\b(?:was|were){_GAP}(?P<was>[^,;.]{{1,120}}?)(?:,| but){_GAP}(?:(?:it|they){_GAP})?(?:is |are )?now\b",
        rf"\bprefer\w*{_GAP}[^,;.]{{1,120}}?{_GAP}(?:to|over){_GAP}{_WAS}{_STOP_AT}",
        rf"\b(?P<was>[\w.'’-]{{1,60}}){_GAP}has left\b",
        rf"\b(?:{_PARTED}){_GAP}(?:my |the |our |his |her )?{_WAS}{_STOP_AT}",
    )
)
_AFRESH: Final = re.compile(
    r"^(?:(?:to-?do|action|task|(?:as agreed|as decided|as said)(?: before| earlier)?|(?:as a )?reminder|again|"
    r"(?:re)?confirmed|note|fyi|"
    r"update|edit|correction|change of plans?|new (?:rule|plan|policy)|actually|by the way|btw)\s*[:,]|still(?: true)?|"
    r"actually|correction)\s+(?:that )?",
    _FLAGS,
)
_CORRECTS: Final = re.compile(r"^(?:update|correction|change of plans?|new (?:rule|plan|policy)|actually)\b", _FLAGS)
_TITLES: Final = re.compile(r"\b(Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr)\.")


@dataclass(frozen=True, slots=True)
class Marked:
    """A sentence without what says that something changed.

    Args:
        whole: the sentence.
        text: the same with blanks for the marks, so that every other word stands where it stood.
        turn: where the verb stands by which something changed, or -1.
        changed: whether it says that something changed.
        denies: how many of its marks deny what was.
        was: where the words stand that name what was before.
    """

    whole: str
    text: str
    turn: int
    denies: int
    was: tuple[tuple[int, int], ...]
    changed: bool

    def names(self, start: int) -> bool:
        """Whether a word that begins there names what was before."""
        return any(first <= start < end for first, end in self.was)


def read_marks(text: str) -> Marked:
    """Return what a sentence says of change. `text` is on one line, without Markdown."""
    text = _TITLES.sub(r"\1 ", text)
    was = tuple(found.span("was") for form in _REPLACED for found in form.finditer(text))
    bare = _AFRESH.sub(_blank, text)
    changed, denies = bool(_CORRECTS.match(text)), 0
    turns = []
    for kind, form in _MARKS:
        hits = list(form.finditer(bare))
        changed = changed or bool(hits)
        denies += len(hits) * (kind in _DENYING)
        turns += [found.start() for found in hits if kind in _TURNING]
        bare = form.sub(_blank, bare)
    return Marked(text, bare, min(turns, default=-1), denies, was, changed=changed)


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])
