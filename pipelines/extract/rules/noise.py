"""What is no item although it looks like one: formalities, empty labels, bots, tables of contents, examples."""

from __future__ import annotations

import re
from typing import Final

from pipelines.store.item import ItemType

# ---------------------------------------------------------------- the approval of earlier minutes

_MINUTES = re.compile(r"\bminutes?\b", re.IGNORECASE)
_APPROVAL = re.compile(
    r"\b(?:(?:approv|accept|adopt|ratif|confirm|agree)\w*|good|fine|great|awesome|ok|okay|correct)\b",
    re.IGNORECASE,
)
# A rule about minutes is worth keeping; their approval is not.
_ABOUT_MINUTES = re.compile(
    r"\b(?:from now on|automatic\w*|always|never|every|each|future|within|unless|by default|policy|process|"
    r"procedure|format|template|switch\w*|stop|start|instead|must|should|shall|responsib\w*|deadline|generat\w*|"
    r"script|tool\w*|"
    r"days?|hours?)\b",
    re.IGNORECASE,
)
_MEETING_WORDS = re.compile(
    r"(?:[a-z]|the|an|of|from|for|on|at|in|as|is|are|was|were|has|have|been|be|and|to|with|without|by|all|any|no|we|our|"
    r"these|those|this|that|it|its|both|two|three|four|five|six|past|last|previous|prior|former|earlier|week'?s?|"
    r"month'?s?|year'?s?|call'?s?|meetings?|telecons?|telcos?|teleconferences?|f2fs?|face|sessions?|discussions?|"
    r"conference|plenary|chang\w+|amend\w*|correct\w*|edit\w*|minor|publish\w*|post(?:ed)?|written|draft|"
    r"distributed|sent|circulated|record\w*|objections?|unanimous\w*|consent|consensus|hearing|seeing|dated?|link|"
    r"irc|log|final|public|official|group|wg|cg|ig|tf|working|community|task|force|move|plus|also|see|here|above|"
    r"below|st|nd|rd|th|jan\w*|feb\w*|mar\w*|apr\w*|may|jun\w*|jul\w*|aug\w*|sep\w*|oct\w*|nov\w*|dec\w*|mon\w*|"
    r"tue\w*|wed\w*|thu\w*|fri\w*|sat\w*|sun\w*|tpac|minutes?|approv\w*|accept\w*|adopt\w*|ratif\w*|confirm\w*|"
    r"agree\w*|looks?|good|fine|"
    r"great|ok|okay)",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"[\[(<]{0,3}https?://[^\s<>]{1,500}")
_WORD = re.compile(r"[A-Za-z][A-Za-z']{0,40}(?:-[A-Za-z]{1,40})?|\d{1,9}")
_FURTHER = re.compile(r"[;.]\s|\band\b|\bthen\b", re.IGNORECASE)
_A_CLAUSE: Final = 3  # words of its own that make what follows an "and" a matter of its own
_APART: Final = 12  # words that may stand between the minutes and their approval


def is_procedural(text: str) -> bool:
    """Return whether a text only approves the minutes of an earlier meeting."""
    if not _MINUTES.search(text) or not _APPROVAL.search(text):
        return False
    plain = _ADDRESS.sub(lambda found: " minutes " if "minutes" in found[0].lower() else " ", text)
    if _ABOUT_MINUTES.search(plain):
        return False
    clauses = [_WORD.findall(clause) for clause in _FURTHER.split(plain)]
    approving = [_approves(clause) for clause in clauses]
    rest = (clause for clause, formal in zip(clauses, approving, strict=True) if not formal)
    return any(approving) and all(sum(map(_is_own, clause)) < _A_CLAUSE for clause in rest)


def _approves(clause: list[str]) -> bool:
    approvals = [at for at, word in enumerate(clause) if _APPROVAL.match(word)]
    minutes = [
        at for at, word in enumerate(clause) if _MINUTES.fullmatch(word) and not (at and clause[at - 1].isdecimal())
    ]
    pairs = ((min(a, m), max(a, m)) for a in approvals[:4] for m in minutes[:4])
    return any(high - low <= _APART and sum(map(_is_own, clause[low:high])) <= 1 for low, high in pairs)


def _is_own(word: str) -> bool:
    return not word.isdecimal() and _MEETING_WORDS.fullmatch(word) is None


# ---------------------------------------------------------------- labels without a thing

_VOID = re.compile(
    r"[\W\d_]*|(?:none|n/?a|nil|yes|yep|yeah|ok|okay|sure|nothing|tbd|tbc|pending|unknown|open|todo|to do|"
    r"see (?:above|below)|as (?:noted )?above|same|(?:no|nothing) (?:decisions?|resolutions?|actions?(?: items?)?|"
    r"risks?|todos?)(?: (?:made|taken|yet|today|recorded))?|withdrawn|rejected|void|failed|not (?:yet )?(?:decided|"
    r"resolved|agreed)|not yet|no consensus|undecided|(?:still )?to be (?:decided|determined|discussed|done)|"
    r"deferred|postponed|tabled|done|closed|complete[d]?|ditto)[\W_]*"
    r"|\(?(?:not yet|still not|have(?:n't| not)) (?:been )?(?:decided|resolved|agreed)\b.*",
    re.IGNORECASE | re.DOTALL,
)
_TENTATIVE = re.compile(
    r"(?:not (?:yet )?(?:decided|resolved|agreed)|we (?:have not|haven't|did not|didn't) (?:yet )?(?:decided?|"
    r"agreed?))\b",
    re.IGNORECASE,
)


def is_void(kind: ItemType, text: str) -> bool:
    """Return whether the words after a label say nothing, ask, or take the label back."""
    if _VOID.fullmatch(text[:300]) or text.startswith("~~") or not any(char.isalpha() for char in text[:300]):
        return True
    if kind is ItemType.TODO:
        return False
    return text.endswith("?") or (kind is ItemType.DECISION and _TENTATIVE.match(text) is not None)


_HEDGE = re.compile(
    r"\b(?:maybe|perhaps|possibly|some ?day|eventually|at some point|might|"
    r"if (?:there is|there['’]s|i have|we have) time|nice to have|would be nice)\b",
    re.IGNORECASE,
)


def is_hedged(text: str) -> bool:
    """Return whether a text leaves open whether it is meant: `maybe`, `some day`."""
    return _HEDGE.search(text[:400]) is not None


_DONE_ALREADY = re.compile(
    r"(?!agreed|approved|accepted|adopted|decided|resolved|need|proceed|embed|feed|seed)[a-z]{2,20}ed\b", re.IGNORECASE
)
_FAULT = re.compile(
    r"\b(?:incident|outage|post-?mortem|root cause|impact|downtime)\b|\b(?:cause|problem|error|symptom|fix)\W{0,4}:",
    re.IGNORECASE,
)
_INLINE_CODE = re.compile(r"`[^`\n]{0,400}`")


def is_mended(text: str, around: str) -> bool:
    """Return whether what follows `Resolution:` or `Action:` tells how a fault was mended, or what was done, already.

    Args:
        text: the words after the label.
        around: the entry and its headings, which name the fault.
    """
    if _DONE_ALREADY.match(text) or not any(char.isalpha() for char in _INLINE_CODE.sub("", text[:400])):
        return True
    return _FAULT.search(around[:_AROUND]) is not None


_AROUND: Final = 4000

# ---------------------------------------------------------------- who is no person, and what is no speech

_BOT = re.compile(
    r"rrsagent|zakim|ghurlbot|gb|github|gitlab|jenkins|travis(?:-ci)?|voip[\w-]*|services?|chanserv|nickserv|logger|"
    r"irccloud|circleci|sentry|notifications?|[\w.-]*(?<!tal)(?<!ab)bot[\d_^`|]*|[\w.-]+-(?:bot|app|ci)",
    re.IGNORECASE,
)
_CONTENTS = re.compile(r"\[[^\]\n]{1,400}\]\(#[^()\s]{0,200}\)")
_EXAMPLE = re.compile(
    r"\b(?:e\.g\.|examples?|for instance|like (?:this|so)|such as|format|template|syntax|looks? like|written as|"
    r"as follows when|"
    r"should (?:read|look)|write)\b[^.!?\n]{0,60}:[\s*_]{0,4}$",
    re.IGNORECASE,
)


def is_bot(name: str) -> bool:
    """Return whether a speaker is a program: what it echoes is evidence of nothing."""
    return _BOT.fullmatch(name.strip("@+ ")) is not None


def is_contents(text: str) -> bool:
    """Return whether a list item is an entry of a table of contents: it begins with a link within the page."""
    return text.startswith("[") and _CONTENTS.match(text) is not None


def introduces_example(line: str) -> bool:
    """Return whether a line says that the next one only shows how something is written."""
    return line.rstrip(" *_").endswith(":") and _EXAMPLE.search(line[-160:]) is not None
