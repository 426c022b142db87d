"""Labels that say explicitly what a line is: `Decision:`, RESOLVED, `Action #3:`, `TODO(bob):`, ...

Also lines that only look like items: empty labels, tables of contents, examples; and the forms by which a log says
that something is over.

A label has high confidence if it can mean nothing else. `Resolved:` in lower case may also be a fixed bug, so it counts
only in capitals or numbered; `Agreed:` is also an answer in a chat.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from pipelines.store.item import ItemType
from pipelines.store.item_line import BY_WORD
from pipelines.store.secrets.redact import PRIVATE

if TYPE_CHECKING:
    from pipelines.extract.extraction import Place
    from pipelines.store.spoken_lines import Spoken


NAME = "rules@1"
"""The author recorded in what the rules read."""
LAID_DOWN = "laid down"
"""Why a sentence without a label that the owner typed in a session is a rule."""


class Label(NamedTuple):
    """A label at the start of a line.

    Args:
        type: the type that it gives the line.
        text_at: the position of the text after it.
        sure: whether it can mean nothing else here.
        marks: emphasis opened before the label and closed only after the text.
        owner: a name in brackets after the label, as in `TODO(bob):`, or empty.
        closed: whether the label says that it is done.
        page_section: the section on the page, if the label names one; else empty.
        plain: whether it is a type's own name, which says for sure what a line is, whoever else reads it.
    """

    type: ItemType
    text_at: int
    sure: bool
    marks: str = ""
    owner: str = ""
    closed: bool = False
    page_section: str = ""
    plain: bool = False


_LABEL = re.compile(
    r"""
    (?P<open>[*_]{0,3})
    (?:\[!(?P<alert>warning|caution|important)\](?P<after>[ \t]*)
    |(?:\#(?P<command>agreed|accepted|action|decision|todo)
        |\[(?P<kind>decision|fact|rule|todo|risk|goal|contact|question)\])[ \t]{1,8}
    |(?P<word>(?:final[ ]|key[ ])?decisions?(?:[ ]made|[ ]taken)?|decided|agreed|agreements?|consensus|resolved
        |resolutions?|(?:key[ ])?facts?|(?:key[ ])?lessons?(?:[ ]learned)?|learned|learnings?|til
        |preferences?|rules?|polic(?:y|ies)
        |conventions?|guidelines?|constraints?|to[- ]?do'?s?
        |actions?(?:[ -](?:items?|points?|needed|required))?
        |next[ ](?:steps?|actions?)|follow[- ]?ups?|fixme|reminders?|risks?|warning|cautions?|danger|blockers?
        |goals?|contacts?|question|open[ ]questions?|how[ -]?to)
     (?!\w)
     (?P<what>(?<=to)[ ](?=\w)[^:：*_\n]{1,60})?
     (?P<number>(?:-|[ \t]?\#[ \t]?|[ \t])\d{1,6}[a-z]?(?![\w-]))?
     (?P<close1>[*_]{0,3})
     (?P<paren>[ \t]{0,3}[(\[][^()\[\]\n]{1,60}[)\]])?
     (?:[ \t]?(?P<colon>[:：]{1,2})|[ \t]{1,4}(?P<dash>[-–—]{1,2})(?=[ \t])|(?P<none>(?=[ \t])|$))
     (?P<close2>[*_]{0,3})
     [ \t]{0,12})
    """,
    re.IGNORECASE | re.VERBOSE,
)
_TAGS = re.compile(
    r"(?:#(?!(?:agreed|accepted|action|decision|todo)\b)[^\W\d_][\w/-]{0,78}[ \t]{1,4}){1,6}", re.IGNORECASE
)
_SURE, _IN_OWN_VOICE, _SHOUTED, _CAPITAL, _UNSPOKEN, _UNSURE = range(6)
_MEANINGS = {
    word: (kind, strictness)
    for kind, strictness, some in (
        (ItemType.DECISION, _SURE, "decision decided"),
        (ItemType.DECISION, _IN_OWN_VOICE, "agreed accepted"),
        (ItemType.DECISION, _UNSPOKEN, "agreement consensus"),
        (ItemType.DECISION, _SHOUTED, "resolved resolution"),
        (ItemType.FACT, _SURE, "fact"),
        (ItemType.FACT, _UNSPOKEN, "lesson learned learning til preference goal contact question howto"),
        (ItemType.RULE, _SURE, "rule"),
        (ItemType.RULE, _UNSPOKEN, "policy policie convention guideline constraint"),
        (ItemType.TODO, _SURE, "todo action followup"),
        (ItemType.TODO, _UNSURE, "next"),
        (ItemType.TODO, _CAPITAL, "fixme"),
        (ItemType.TODO, _UNSPOKEN, "reminder"),
        (ItemType.RISK, _SURE, "risk"),
        (ItemType.RISK, _CAPITAL, "warning caution danger"),
        (ItemType.RISK, _UNSPOKEN, "blocker"),
    )
    for word in some.split()
}
_PAGE_SECTIONS = {"goal": "goals", "contact": "contacts", "question": "questions", "howto": "howto"}
_IN_TURNS = frozenset({"decision", "decided", "fact", "rule", "todo", "risk"})
_SHORTER = re.compile(
    r"(?:final|key|open) | made| taken| learned|[ -](?:items?|points?|needed|required)$| (?:steps?|actions?)$"
)
_REFUSING = re.compile(
    r"\b(?:propos\w*|draft|pending|tentative|rejected|withdrawn|deferred|superseded|obsolete|reverted|example|old|"
    r"not|no|failed|open|tbd|tbc|\?)(?:\W|$)",
    re.IGNORECASE,
)
_DONE = re.compile(r"\b(?:done|closed|complete[d]?|finished)\b", re.IGNORECASE)
_NO_OWNER = re.compile(r"[\W\d_]*|(?=.*\d).*|#[A-Z]")
_TASK = re.compile(r"(?:on )?@?\S{1,40}(?: (?:and|&) @?\S{1,40}| [A-Z]\S{1,40})?:? (?:to|will|should)\b")
NEAR_MISS = re.compile(
    r"[\[(*_\"'~ ]{0,4}(?:(?:proposed|draft|failed|possible|potential|previous|old|suggested|alternative|"
    r"alternate|amended|"
    r"revised|counter|withdrawn|rejected)[ -](?:resolutions?|proposals?|decisions?|actions?|rules?)"
    r"|proposed|proposals?|counter-?proposals?|straw\W?polls?|strawman|polls?|not (?:resolved|decided|agreed)|"
    r"no (?:resolution|decision|consensus|agreement)|undecided|unresolved)\b[^:\n]{0,40}(?:[:\[*#]|$|\?)",
    re.IGNORECASE,
)
"""The start of a line that is marked as undecided: a proposal, a straw poll, a failed resolution."""


def read_label(spoken: Spoken) -> Label | None:
    """Return the label at the start of a peeled line, or None."""
    tags = _TAGS.match(spoken.said)
    found = _LABEL.match(spoken.said, tags.end() if tags else 0)
    if not found:
        return None
    if found["alert"]:
        told = found["alert"].lower() != "important"  # emphasis, of whatever
        kind = ItemType.RISK if told else ItemType.FACT
        return None if spoken.said[found.end() :].strip() else Label(kind, found.end(), sure=told)
    if named := found["command"] or found["kind"]:
        kind = _MEANINGS[named.lower()][0]
        return Label(kind, found.end(), sure=True, page_section=_PAGE_SECTIONS.get(named.lower(), ""), plain=True)
    word, paren = found["word"], (found["paren"] or "").strip(" \t()[]")
    name = _SHORTER.sub("", word.lower())
    name = name if name == "consensus" else re.sub(r"[\s'-]", "", name).removesuffix("s")
    kind, strictness = _MEANINGS[name]
    section, rest = _PAGE_SECTIONS.get(name, ""), spoken.said[found.end() :].strip(" *_")
    is_other = bool(section and (spoken.quoted or not _names_section(found, rest)))
    is_other |= spoken.turn and not (rest and _counts_in_turn(found, name, spoken))
    if strictness == _SHOUTED:
        is_other |= not (word.isupper() or found["number"])
    elif strictness == _CAPITAL:
        is_other |= word.islower() and not (found["open"] or spoken.heading)
    if found["dash"]:  # a dash or emphasis sets apart what is written as a label; a colon, anything
        is_other |= not (word[0].isupper() or found["open"] or found["number"])
    elif not found["colon"]:
        is_marked = word in {"TODO", "FIXME"} or (found["open"] and found["close1"])
        is_other |= not (is_marked and rest)
    if _REFUSING.search(paren) or is_other:
        return None
    if (name == "action" and not (spoken.is_speech or _asks_for_action(found, rest))) or (
        spoken.is_speech
        and (strictness in {_UNSPOKEN, _UNSURE} or (strictness == _IN_OWN_VOICE and not word.isupper()))
    ):
        return None
    return Label(
        type=kind,
        text_at=found.start() if found["what"] else found.end(),
        sure=strictness != _UNSURE,
        marks="" if found["what"] or found["close1"] or found["close2"] else found["open"],
        owner="" if _NO_OWNER.fullmatch(paren) or _DONE.search(paren) else paren,
        closed=bool(_DONE.search(paren)),
        page_section=section,
        plain=name in _IN_TURNS or bool(section),
    )


def _counts_in_turn(found: re.Match[str], name: str, spoken: Spoken) -> bool:
    """Whether a label before a text counts in a captured turn, where people and agents think aloud, and plan steps.

    A type's own name does, with a colon. `rules: …` and `# TODO: …` are code.
    """
    is_code = found["word"][-1] in "sS" or (spoken.heading and found["word"] == "TODO")
    return name in _IN_TURNS and bool(found["colon"]) and not is_code


def _asks_for_action(found: re.Match[str], rest: str) -> bool:
    """Whether `Action:` asks somebody to act; in a log's own voice it as often tells what was done.

    It asks in a meeting anyway; else in capitals, as `Action item` or `Action needed`, with a number, or if it names
    who is to act.
    """
    word = found["word"]
    named = word.isupper() or found["number"] or re.search(r"item|point|needed|required", word, re.IGNORECASE)
    return bool(named or _TASK.match(rest))


def _names_section(found: re.Match[str], rest: str) -> bool:
    """Whether a word such as `Goal`, which has many other uses, names a section before the rest of its line.

    It does in the log's own voice, with a colon; its plural on a line of its own, `How to deploy:` before the answer.
    """
    names = bool(rest) if found["what"] else not rest or found["word"][-1] not in "sS"
    return bool(found["colon"]) and names


# ---------------------------------------- headings that give the type of the list items under them
# `### Decisions`, `## Action items`, `## Next steps`.


_SECTIONS_SURE, _LOOSE = True, False
_SECTIONS = (
    (
        ItemType.DECISION,
        _SECTIONS_SURE,
        r"(?:decisions?|resolutions?|agreements?)(?: (?:made|taken|reached))?|what (?:we|was) decided",
    ),
    (ItemType.FACT, _SECTIONS_SURE, r"facts?"),
    (ItemType.FACT, _LOOSE, r"(?:lessons?|learnings?)(?: learn(?:ed|t|ings?))?|preferences"),
    (ItemType.RULE, _SECTIONS_SURE, r"rules?|conventions|guidelines|policies"),
    (ItemType.TODO, _SECTIONS_SURE, r"action (?:items?|points?)|to-?dos?|to do(?: list)?"),
    (ItemType.TODO, _LOOSE, r"next (?:steps?|actions?)|follow[- ]?ups?"),
    (ItemType.RISK, _SECTIONS_SURE, r"risks?(?: and (?:blockers?|issues|mitigations?))?"),
    (ItemType.RISK, _LOOSE, r"warnings|blockers"),
)
_WHOSE = r"(?:(?:key|main|new|our|my|your|final|standing|remaining|today['’]?s|[\w-]{1,30}['’]s) ){0,2}"
_WHEN = r"(?: (?:today|tomorrow|from today|for (?:today|tomorrow|next week|next session)))?"
_TITLES = tuple((kind, sure, re.compile(_WHOSE + rf"(?:{words})" + _WHEN)) for kind, sure, words in _SECTIONS)
_PAGE_TITLES = {"goal": "goals", **{title.casefold(): section for section, title in BY_WORD.items()}}
_DECORATION = re.compile(r"^(?:\d{1,3}(?:\.\d{1,3}){0,4}\.?\s)?[^\w]*|\s*[(\[][^()\[\]]{0,60}[)\]]\s*$|\W+$")
_LONGEST = 80
_EXAMPLES = re.compile(
    r"(?:an? |some )?(?:examples?|samples?|templates?|format|syntax|usage)(?: (?:log|entry|entries|lines?)|(?: of|"
    r" for) .{1,40})?|how to (?:write|mark|log|record|use) .{1,60}"
)


@lru_cache(maxsize=4096)
def section_type(title: str) -> Label | None:
    """Return a heading's label for the list items under it, or None if it implies none.

    It is sure if the heading names the type, as `Decisions` does and `Next steps` does not.
    """
    if len(title) > _LONGEST:
        return None
    name = _plain(title)
    if section := _PAGE_TITLES.get(name):
        return Label(ItemType.FACT, 0, sure=True, page_section=section)
    return next((Label(kind, 0, sure=sure) for kind, sure, pattern in _TITLES if pattern.fullmatch(name)), None)


@lru_cache(maxsize=4096)
def _plain(title: str) -> str:
    name = title.casefold().replace("*", "").replace("_", " ")
    for _ in range(2):
        name = _DECORATION.sub("", name)
    return name


# ---------------------------------------------------------------- labels without a thing

_VOID = re.compile(
    r"[\W\d_]*|none\b(?! of\b).*|(?:n/?a|nil|yes|yep|yeah|ok|okay|sure|nothing|tbd|tbc|pending|unknown|open|todo|to do|"
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


def is_void(kind: ItemType, text: str, page_section: str) -> bool:
    """Return whether the text after a label is empty, does not fit it, asks a question, or takes it back."""
    if (
        _VOID.fullmatch(text[:300])
        or text.startswith("~~")
        or not any(char.isalpha() for char in text[:300].replace(PRIVATE, ""))
    ):
        return True
    if page_section == "questions":
        return _ANSWERED.search(text) is not None or _QUOTATION.fullmatch(text) is not None
    if page_section == "contacts" and not (person_of(text) or _REACHED.search(text)):
        return True
    if kind is ItemType.TODO:
        return False
    return text.endswith("?") or (kind is ItemType.DECISION and _TENTATIVE.match(text) is not None)


_QUOTATION = re.compile(r"[\"“„«].*[\"”»]")
"""A question that is quoted whole is put to somebody else, as the input of a test."""
_ANSWERED = re.compile(r"[.?!*_] [*_]{0,3}A(?:nswer)?[*_]{0,3}:")
ANSWER = re.compile(r"[*_]{0,3}A(?:nswer)?[*_]{0,3}:")
"""The start of a line that answers the question above it."""
_REACHED = re.compile(r"\S@\S|(?:\d[ ()/-]?){6}")
_NOT_THE_NAME = re.compile(r"[,:;(<]|\s(?:[-–—]|is)\s|\s(?=\S*[@\d])")
_MOST_NAMES = 4


def person_of(contact: str) -> str:
    """Return the name at the start of a contact's line, or an empty string."""
    name = _NOT_THE_NAME.split(contact, maxsplit=1)[0].strip()
    parts = name.split()
    looks_like_one = all(part[0].isupper() or part in {"van", "von", "de", "da", "del", "der", "den"} for part in parts)
    return name if looks_like_one and len(parts) <= _MOST_NAMES else ""


HEDGE = re.compile(
    r"\b(?:maybe|perhaps|possibly|some ?day|eventually|at some point|might|"
    r"if (?:there is|there['’]s|i have|we have) time|nice to have|would be nice)\b",
    re.IGNORECASE,
)
"""What makes a text tentative."""


# ---------------------------------------------------------------- examples of how something is written

CONTENTS = re.compile(r"\[[^\]\n]{1,400}\]\(#[^()\s]{0,200}\)")
"""The start of an entry of a table of contents: a link within the page."""
_EXAMPLE = re.compile(
    r"\b(?:e\.g\.|examples?|for instance|like (?:this|so)|such as|format|template|syntax|looks? like|written as|"
    r"as follows when|"
    r"should (?:read|look)|write)\b[^.!?\n]{0,60}:[\s*_]{0,4}$",
    re.IGNORECASE,
)


def introduces_example(line: str, headings: tuple[str, ...] = ()) -> bool:
    """Return whether a line, or a heading above it, introduces an example of how something is written."""
    if line.rstrip(" *_").endswith(":") and _EXAMPLE.search(line[-160:]):
        return True
    return any(len(title) <= _LONGEST and _EXAMPLES.fullmatch(_plain(title)) for title in headings)


# ---------------------------------------- the forms by which a log says that something is over or was wrong
# `Done: call Anders`, `Todo done: k3f2a1`, `Call Anders - DONE`, `- [x] Call Anders`, `Resolved: …`, `Occurred: …`,
# `Dropped: …`, `Answered: …`, `No longer: …`, `Correction: …`, as AGENTS.md teaches them. Their text never becomes an
# item.


class ClosingForm(NamedTuple):
    """One form.

    Args:
        how: done, dropped, resolved, occurred or answered; ended; empty for a correction.
        target: the words after it, or an item's id or the start of one.
        place: its place in the log.
    """

    how: str
    target: str
    place: Place


_FORM = re.compile(
    r"(?P<open>[*_]{0,3})(?:(?:to-?do|risk|question|decision|fact|rule)[ ])?"
    r"(?P<word>done|dropped|resolved|occurred|answered|no[ ]longer|correction)"
    r"(?P<close>[*_]{0,3})[:：]{1,2}(?P<late>[*_]{0,3})[ \t]{0,12}(?=\S)",
    re.IGNORECASE,
)
_DONE_AT_END = re.compile(r"(?:\s[-–—]{1,2}\s*[*_]{0,3}done[*_]{0,3}|\s\(done\))[.!]?$", re.IGNORECASE)
_OUTCOMES = {"no longer": "ended", "correction": ""}


def read_form(spoken: Spoken) -> tuple[str, int, str] | None:
    """Return the form at the start of a line, or None.

    Chat lines are never forms. RESOLVED in capitals is the label of a resolution.

    Returns:
        Its outcome, the position of its text, and the emphasis still open there.
    """
    found = _FORM.match(spoken.said)
    if found is None or is_chat(spoken) or (found["word"].lower() == "resolved" and found["word"].isupper()):
        return None
    word = found["word"].lower()
    return _OUTCOMES.get(word, word), found.end(), "" if found["close"] or found["late"] else found["open"]


def is_chat(spoken: Spoken) -> bool:
    """Return whether a line is a chat message, or continues one."""
    return spoken.dots or (spoken.chat and bool(spoken.speaker))


def without_done(text: str) -> str:
    """Return a text without the `- DONE` at its end; empty if it has none, or nothing before it."""
    found = _DONE_AT_END.search(text)
    return text[: found.start()].rstrip() if found else ""
