"""How much a sentence with a cue is worth: whole, of sensible length, about something, and meant in earnest."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pipelines.memory.items import ItemType
from pipelines.models.rules.cues import CUES

if TYPE_CHECKING:
    from pipelines.models.rules.cues import Cue

_HYPOTHETICAL = re.compile(
    r"\b(?:if|whether|should (?:we|i)|could we|can we|would|suppose|supposed|unless|in case|what if|maybe|perhaps|"
    r"wonder\w*|guess|not sure|unsure|probably|might want|let['’]s (?:say|discuss)|for example|e\.g\.|i (?:think|"
    r"thought|believe|assume|hope)|imagine|proposal\w*|propos(?:e|ed|ing)|suggest\w*|ought|seems?|wish|until|once|"
    r"before we|in principle|sort of|kind of|"
    r"sounds like|has anyone|have we|did we|do we|are we|who(?:ever)?|why)\b",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"(?:\bnot|n['’]t|\bnever|\bno one|\bnobody|\bno|\bwithout|\byet to|\bhardly)(?: [\w'’]+){0,2} ?$", re.IGNORECASE
)
_HEDGED = re.compile(r"\b(?:i guess|not sure|no idea|who knows|or not|just kidding|lol)\b", re.IGNORECASE)
_HEARSAY = re.compile(
    r"\b(?:they|he|she|someone|somebody|people|article|docs?|documentation|blog|post|page|e-?mail|message|website|"
    r"readme)\b"
    r"[^,;]{0,30}?\b(?:said|says?|told|wrote|writes?|thinks?|claims?|states?|recommends?)\b",
    re.IGNORECASE,
)
_SUBORDINATE = re.compile(
    r"\b(?:when\w*|as soon as|before|because|since|what\w*|which|reasons?|how|where|after|until|although|though|"
    r"the fact)\b",
    re.IGNORECASE,
)
_DANGLING = re.compile(r"\s*(?:it|this|them|both|so|already|earlier|there|something)\b", re.IGNORECASE)
_REPORTED = re.compile(
    r"\b(?:said|says|told|asked|wrote|thinks?|believes?|claims?|according to|wants?|mentioned)\b", re.IGNORECASE
)
_NO_SPEECH = re.compile(
    r"[+-][01]\b|q[+-]|s/|i/|ack\b|present\+|regrets\+|zakim,|rrsagent,|https?://\S+$|scribe|topic:|agenda",
    re.IGNORECASE,
)
_COMES_OR_GOES = re.compile(
    r"^(?:\W{1,4} )?\S{1,40} (?:has )?(?:joined|left|quit|departs?|departed|is now known as)\b"
    r"(?: [(#]| the (?:chat|channel|room|call)\b|\W*$)|"
    r"^\W*(?:sub)?topic\b|^(?:-->|<--|--[>|]|[→←⇐⇒*]|s\|)",
    re.IGNORECASE,
)
_EMPTY_WORD = re.compile(
    r"(?:that|this|it|to|do|so|one|the|a|an|them|these|those|there|here|way|same|on|with|then|now|and|of|for|not|be|"
    r"is|was|are|like|go|just|about|by|in|at|as|yes|something|anything|thing|things|stuff|too|also|already|earlier|"
    r"today|before|"
    r"i|we|you|he|she|they|me|us|my|our|don't|last|week|time|next|up|out)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_][\w'’./@#-]{0,60}")
_SPECIFIC = re.compile(
    r"\d|`|https?://|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\bby (?:eod|tomorrow)\b|[a-z]\s+[A-Z][a-z]"
)
_FEWEST_WORDS, _FEWEST_SPOKEN, _MOST_WORDS = 3, 7, 48
_MEDIUM: Final = 3.0
_LEAST_OWN, _LEAST_SPOKEN = 2.0, 3.5


@dataclass(frozen=True, slots=True)
class Judged:
    """What a sentence suggests, and how strongly."""

    type: ItemType
    score: float
    phrase: str

    @property
    def strong(self) -> bool:
        """Whether the cue is strong enough for confidence medium."""
        return self.score >= _MEDIUM


def is_chatter(text: str) -> bool:
    """Return whether a text only votes, queues, corrects, comes or goes, or names the topic."""
    return _NO_SPEECH.match(text) is not None or _COMES_OR_GOES.search(text) is not None


def judge(sentence: str, *, spoken: bool) -> Judged | None:
    """Return what a sentence suggests by its best cue, or None when it has none or does not mean it.

    Args:
        sentence: one sentence, cleaned.
        spoken: whether somebody speaks it in a meeting or a chat, rather than the log itself.
    """
    low = sentence.lower()
    if (
        sentence.endswith(("?", "…", "...", ":", ",", "-"))
        or _NO_SPEECH.match(sentence)
        or low[:1] in "\"“'"
        or _HEDGED.search(low)
    ):
        return None
    count = len(_WORD.findall(sentence))
    if not (_FEWEST_SPOKEN if spoken else _FEWEST_WORDS) <= count <= _MOST_WORDS:
        return None
    judged = [one for cue in CUES if (one := _by_cue(cue, sentence, low, count, spoken=spoken))]
    return max(judged, key=lambda one: one.score, default=None)


def _by_cue(cue: Cue, sentence: str, low: str, count: int, *, spoken: bool) -> Judged | None:
    weight = cue.spoken if spoken else cue.own
    if not weight or not any(stem in low for stem in cue.stems) or not (found := cue.pattern.search(sentence)):
        return None
    before, after = sentence[: found.start()], sentence[found.end() :]
    if not _is_meant(cue.type, before, found[0], after, spoken=spoken):
        return None
    own_words = sum(_EMPTY_WORD.fullmatch(word) is None for word in _WORD.findall(after))
    if own_words < (_LEAST_ABOUT_SPOKEN if spoken else _LEAST_ABOUT) and not (cue.type is _FACT and not spoken):
        return None
    score = weight + (0.5 if sentence[-1] in ".!" else 0) + (0.25 if _SPECIFIC.search(sentence) else 0)
    score -= (
        (0.5 if len(before) > _EARLY else 0) + (0.5 if count > _LONG else 0) + (0.5 if _REPORTED.search(before) else 0)
    )
    return Judged(cue.type, score, found[0].strip()) if score >= (_LEAST_SPOKEN if spoken else _LEAST_OWN) else None


_FACT = ItemType.FACT
_LEAST_ABOUT, _LEAST_ABOUT_SPOKEN = 1, 3
_EARLY, _LONG = 40, 32


def _is_meant(kind: ItemType, before: str, phrase: str, after: str, *, spoken: bool) -> bool:
    if kind is ItemType.RISK:
        return not _DENIED.search(before) and not (spoken and (_HYPOTHETICAL.search(before) or len(before) > _OPENING))
    if kind is not ItemType.RULE and _DENIED.search(before):
        return False
    if _HYPOTHETICAL.search(before) or (spoken and not _is_plain(kind, before, after)):
        return False
    if kind is ItemType.RULE and _HEARSAY.search(before):
        return False
    if kind in {ItemType.DECISION, ItemType.TODO} and _DENIED.search(phrase):
        return False
    return not (spoken and _HYPOTHETICAL.search(after[:_SOON]))


def _is_plain(kind: ItemType, before: str, after: str) -> bool:
    """Whether the cue opens a main clause about something that is named; in talk nothing else can be relied on."""
    if len(before) > _OPENING or _REPORTED.search(before) or _SUBORDINATE.search(before):
        return False
    return kind is not ItemType.DECISION or _DANGLING.match(after) is None


_SOON: Final = 60
_OPENING: Final = 30
