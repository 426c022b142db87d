"""The few phrases that suggest an item without a label: `we decided to`, `from now on`, `NAME prefers`, `remember to`.

Four families, each right on text that nobody here wrote; `benchmarks/cues.py` counts them. A phrase counts only where
it opens a main clause that is stated, not asked, denied, reported or supposed.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Final

from pipelines.extract.rules.label_reader import Found, end_of
from pipelines.extract.rules.lines import clean, overlap, sentences, without_filler, words
from pipelines.extract.rules.noise import is_procedural
from pipelines.store.item import ItemType

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pipelines.extract.rules.lines import Line
    from pipelines.store.log import Entry


@dataclass(frozen=True, slots=True)
class Cue:
    """One family of phrases.

    Args:
        family: its name.
        type: what it suggests.
        stems: small-letter pieces, one of which stands in every text that the pattern matches: a quick look first.
        pattern: the phrase, with the words before it that may belong to it.
    """

    family: str
    type: ItemType
    stems: tuple[str, ...]
    pattern: re.Pattern[str]


def _cue(family: str, kind: ItemType, stems: str, pattern: str) -> Cue:
    return Cue(family, kind, tuple(stems.split("|")), re.compile(pattern, re.IGNORECASE | re.VERBOSE))


_HOUR: Final = r"\d{1,2}(?:[:.]\d\d)?(?:[ ]?[ap]\.?m\b\.?)?"
_DAY: Final = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|mon|tue|wed|thu|fri|sat|sun"
_NO_NAME: Final = r"(?:s?he|it|they|wh(?:at|o)\w*|that|this|if|when\w*|while|because|since|although|\w+one|\w+body)\b"
_NAME: Final = rf"(?:the[ ]user|(?!{_NO_NAME})(?-i:[A-Z])[\w'-]{{1,20}}(?:[ ](?-i:[A-Z][a-z])[\w'-]{{1,20}})?)"
# The verbs that rules are made of: `never confident` and `always visible` lay nothing down.
_VERBS: Final = "|".join(
    """accept access add allow alert answer approve archive ask assume attach avoid back backup base block book branch
    bring build bump buy cache call cancel catch change charge check checkpoint choose clean clear close comment commit
    compare confirm connect contact copy create debug define delegate delete deploy describe design disable discuss do
    document double-check download draft drop edit email enable encrypt end ensure escape estimate execute explain
    export expose fail fetch fill filter fix follow force forget format forward generate get give go guess handle
    hard-code hardcode hide ignore implement import include inform install invent keep label launch leave let limit
    link lint list load lock log look make mark measure mention merge message mock modify monitor move name notify
    open order overwrite pass paste pay perform pin plan post prefer prepare present print profile promise proxy
    publish pull push put quote read rebase record refer release rely remove rename repeat replace reply report
    request require respond restart restore retry return reuse reveal reverse review rotate round run sandbox save
    say schedule search send set share ship show sign skip spawn speak specify stage start state stay stop store
    submit suggest switch sync tag take talk tell test touch track treat trust try turn update upload use validate
    verify version wait wash wear work wrap write""".split()
)
CUES: Final = (
    _cue(
        "decision", ItemType.DECISION, "decided|agreed|chose|going with",
        r"""\b(?:we|i)(?:['’]ve|[ ]have|[ ]had)?(?:[ ](?:just|all|finally|now|also|both|then))?
            [ ](?:decided|agreed|chose)[ ](?:to|on|that|not|against)\b(?=.*\w)(?![ ](?:whether|how|what|if)\b)
          | (?:^|\b(?:we|i)(?:['’]re|['’]m|[ ]are|[ ]am)[ ](?:now[ ])?)going[ ]with\b(?=.*\w)""",
    ),
    _cue(
        "rule", ItemType.RULE, "from now on|always|never",
        rf"""\bfrom[ ]now[ ]on\b
          | ^(?:please[ ])?(?:always|never)[ ](?:{_VERBS})\b""",
    ),
    _cue(
        "habit", ItemType.FACT, "prefers|wants|works",
        rf"""^{_NAME}[ ](?:(?:also|really)[ ])?
             (?:prefers|wants
               |works[ ](?:from[ ])?(?:{_HOUR}|{_DAY})[ ]?(?:[-–]|to|until)[ ]?(?:{_HOUR}|{_DAY}))(?!\w)""",
    ),
    _cue(
        "reminder", ItemType.TODO, "remember to|forget to",
        r"""^(?:(?:please|must|need[ ]to|we[ ]must|i[ ]must)[ ])?
            (?:remember|don['’]t[ ]forget|do[ ]not[ ]forget)[ ]to\b""",
    ),
)  # fmt: skip
STEMS: Final = tuple(stem for cue in CUES for stem in cue.stems)

_NOT_STATED: Final = re.compile(
    r"\b(?:if|whether|unless|until|when\w*|because|since|although|though|which|where|why|how|reasons?|maybe|perhaps|"
    r"would|could|should|might|probably|supposed?|imagine|guess|think|thought|wish|until|once|before|after|not|never|"
    r"no|nobody|without|said|says|told|asked|wrote|writes|claims?|according|mentioned|page|docs?|documentation|"
    r"article|post)\b|n['’]t\b",
    re.IGNORECASE,
)
_HEDGED: Final = re.compile(r"\b(?:i guess|not sure|no idea|who knows|or not|just kidding|lol)\b", re.IGNORECASE)
_DANGLING: Final = re.compile(
    r"\s*(?:to\s)?(?:it|this|that|them|both|so|because|already|earlier|there|something)\b", re.IGNORECASE
)
_VOTE: Final = re.compile(r"[+-][01]\b")
_WORD: Final = re.compile(r"[^\W_][\w'’./@#-]{0,60}")
_FEWEST_WORDS, _MOST_WORDS = 3, 48
_FARTHEST: Final = 40  # characters before a phrase that opens a main clause


@dataclass(frozen=True, slots=True)
class Cued:
    """What a sentence suggests, and by which phrase of which family."""

    type: ItemType
    family: str
    phrase: str


def cue_of(sentence: str) -> Cued | None:
    """Return the cue of one cleaned sentence, or None where it has none or does not state it."""
    if sentence.endswith(("?", "…", "...", ":", ",", "-")) or sentence[:1] in "\"“'":
        return None
    if sentence.count("(") != sentence.count(")"):
        return None  # a piece of a sentence
    low = sentence.lower()
    for cue in CUES:
        found = cue.pattern.search(sentence) if any(stem in low for stem in cue.stems) else None
        if found and _is_stated(sentence, found):
            return Cued(cue.type, cue.family, found[0].strip())
    return None


def _is_stated(sentence: str, found: re.Match[str]) -> bool:
    before = sentence[: found.start()]
    return (
        len(before) <= _FARTHEST
        and not _DANGLING.match(sentence, found.end())
        and _FEWEST_WORDS <= len(_WORD.findall(sentence)) <= _MOST_WORDS
        and not (_NOT_STATED.search(before) or _HEDGED.search(sentence) or _VOTE.match(sentence))
    )


# ---------------------------------------- the few sentences of a day that no label marks
# but whose words suggest an item.


MOST: Final = 5
_SAME: Final = 0.6
_LONGEST: Final = 400
_MOST_KNOWN, _MOST_LOOKED_AT = 2000, 200  # bounds the comparisons of a day, however long its log


def suggest(entry: Entry, lines: Sequence[Line], taken: set[int]) -> list[Found]:
    """Return what the cues of an entry suggest in the log's own voice, without the lines whose numbers are `taken`.

    Where somebody speaks, people think aloud, and most such phrases decide nothing.
    """
    low = entry.text.lower()
    if not any(stem in low for stem in STEMS):
        return []
    result: list[Found] = []
    index = 0
    while index < len(lines):
        spoken, end = lines[index].spoken, index
        if spoken is not None and lines[index].number not in taken and not spoken.is_speech:
            end = index if spoken.quoted else end_of(lines, index)
            result += _of_block(entry, lines[index : end + 1])
        index = end + 1
    return result


def _of_block(entry: Entry, lines: Sequence[Line]) -> list[Found]:
    first = lines[0].spoken
    if first is None or first.said.startswith(("|", "~~", "`", "http", '"')):
        return []
    text = "\n".join([first.said, *(line.spoken.line for line in lines[1:] if line.spoken)])
    result: list[Found] = []
    for start, end in sentences(text):
        if end - start > _LONGEST:
            continue
        sentence = without_filler(clean(text[start:end]))
        if (cued := cue_of(sentence)) and not is_procedural(sentence):
            above = text.count("\n", 0, start)
            placed = Found(
                type=cued.type,
                text=sentence,
                entry=entry,
                start_line=lines[0].number + above,
                end_line=lines[0].number + above + text.count("\n", start, end),
                quote=text[start:end],
                sure=False,
                reason=f"cue: {cued.phrase}",
            )
            result.append(_verbatim(placed, lines))
    return result


def _verbatim(found: Found, lines: Sequence[Line]) -> Found:
    """Widen the quote to its whole lines where a comment inside the sentence keeps it from standing there."""
    own = [line.raw for line in lines if found.start_line <= line.number <= found.end_line]
    return found if found.quote in "\n".join(own) else replace(found, quote="\n".join(own).strip())


def best(suggested: Iterable[Found], labelled: Iterable[Found], most: int) -> list[Found]:
    """Return the first `most` suggestions, none of which says what another, or a label, already says."""
    known = [Counter(words(found.text)) for found in islice(labelled, _MOST_KNOWN)]
    kept: list[Found] = []
    for one in islice(suggested, _MOST_LOOKED_AT):
        if len(kept) >= most:
            break
        bag = Counter(words(one.text))
        if all(overlap(bag, other) < _SAME for other in known):
            known.append(bag)
            kept.append(one)
    return kept
