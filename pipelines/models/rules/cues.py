"""The phrases that only sound like an item, and how strongly: `we decided`, `from now on`, `might break`, ...

A cue has two weights: in the log's own voice, and in the mouth of somebody who speaks in a meeting or a chat, where
people think aloud and most such phrases decide nothing. A weight of 0 is no cue there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from pipelines.memory.items import ItemType


@dataclass(frozen=True, slots=True)
class Cue:
    """One phrase.

    Args:
        type: what it suggests.
        own: its weight in the log's own voice.
        spoken: its weight in a meeting.
        stems: small-letter pieces, one of which stands in every text that the pattern matches: a quick look first.
        pattern: the phrase.
    """

    type: ItemType
    own: float
    spoken: float
    stems: tuple[str, ...]
    pattern: re.Pattern[str]


def _cue(kind: ItemType, own: float, spoken: float, stems: str, pattern: str) -> Cue:
    return Cue(kind, own, spoken, tuple(stems.split("|")), re.compile(pattern, re.IGNORECASE))


_D, _F, _R, _T, _K = ItemType.DECISION, ItemType.FACT, ItemType.RULE, ItemType.TODO, ItemType.RISK
_NOW = r"(?: (?:just|all|finally|now|already|also|both|jointly|unanimously|then))?"
_DECIDED = r"(?:decided|agreed|resolved|chose|opted|settled|voted)"
_QUESTION = r"(?! (?:what|whether|how|if|who|when|where)\b)"
_WE = r"(?:we(?:'re|’re| are|'ll|’ll| will)?|i(?:'m|’m| am|'ll|’ll| will)?|let['’]?s)"
_WORK = (
    r"(?:file|open|write|send|create|raise|draft|update|add|fix|review|prepare|contact|e-?mail|ask|follow up|submit|"
    r"publish|schedule|merge|propose|put together|look into|check|talk to|reach out|ping|set up|organi[sz]e|invite|"
    r"post|document|move|rename|remove|close|test|investigate|report|circulate|finish|work on|take care)"
)
_MINE = (
    r"(?:full |first |last |home |work |middle |new |current |preferred |phone |mobile )?(?:name|birthday|time ?zone|"
    r"e-?mail|phone|number|address|manager|boss|wife|husband|partner|daughter|son|brother|sister|dog|cat|doctor|job|"
    r"title|role|team|company|office|laptop|editor|shell|browser|diet|allergy|pronouns|favou?rite \w{1,20})"
)
_NAMED = r"(?-i:[A-Z])[\w'-]{1,20}"

_DECISIONS = (
    _cue(_D, 3, 4, "decided|agreed|resolved|chose|opted|settled|voted",
         rf"\b(?:we|us|team|group|everyone|everybody)(?:'ve|’ve| have| has| had)?{_NOW} {_DECIDED}"
         rf"(?: (?:to|on|that|for|against|not|upon)\b|{_QUESTION}(?= [\w`\"]))"),
    _cue(_D, 3, 0, "decided|agreed|chose|opted|settled",
         rf"^(?:finally |just |have |then )?{_DECIDED} (?:to|on|for|against|that|not)\b"),
    _cue(_D, 2.5, 0, "decided|chose|opted|settled",
         r"\b(?:decided|chose|opted|settled) (?:to|on|for|against|that|not to)\b|\bi (?:decided|chose) "),
    _cue(_D, 3, 3.5, "decision|consensus",
         r"\b(?:final |the |our |group )(?:decision|consensus) (?:is|was)(?: to| that|:| not)?\b"),
    _cue(_D, 3, 0, "going with|go with|went with|sticking with|stick with",
         rf"(?:^|\b{_WE} )(?:now |just )?(?:going with|go with|went with|sticking with|stick with)\b"),
    _cue(_D, 2.5, 0, "switch|migrat|mov",
         r"(?:^|\b(?:we|i)(?:'re|’re| are|'ve|’ve| have)? )(?:switch(?:ed|ing)|migrat(?:ed|ing)|mov(?:ed|ing))"
         r"(?: [\w`/.-]{1,30}){0,6}? to\b"),
    _cue(_D, 2.5, 0, " over | instead of | rather than ",
         r"\b(?:chose|picked|selected|using|use|keep|kept)\b [^.!?\n]{1,60} (?:over|instead of|rather than)\b"),
    _cue(_D, 2.5, 0, "we'll |we’ll |we will ",
         r"\bwe(?:'ll|’ll| will) (?:not )?(?:use|keep|drop|adopt|stop|start|call it|only|always|ship|support)\b"),
    _cue(_D, 2.5, 0, "in favor of|in favour of",
         r"\b(?:drop(?:ped|ping)?|abandon(?:ed|ing)?|replac(?:ed|ing))\b [^.!?\n]{1,60} in favou?r of\b"),
)  # fmt: skip
_RULES = (
    _cue(_R, 3, 4, "from now on|henceforth", r"\b(?:from now on|henceforth)\b"),
    _cue(_R, 2.5, 0, "going forward", r"\bgoing forward\b"),
    _cue(_R, 3, 0, "always|never|do not|don't|don’t",
         r"^(?:please |important: ?)?(?:always|never|do not ever|don['’]t ever|do not|don['’]t)"
         r"(?! (?:forget|know|think|mind|worry|remember))\b \w"),
    _cue(_R, 3, 0, "always|never",
         r"\b(?:must|should|shall|to|will|please|i|we|you) (?:always|never)\b(?! (?:been|had|was|were|got))"),
    _cue(_R, 2, 0, "must", r"\bmust(?: not| never| be| have)?\b(?! have been)"),
    _cue(_R, 2, 0, "not allowed|forbidden|make sure", r"\b(?:not allowed|forbidden|make sure (?:to|that|you|we))\b"),
)  # fmt: skip
_FACTS = (
    _cue(_F, 3, 0, "prefer", r"(?<!would )\bprefers\b|\bpreference is\b|\bi prefer\b(?! to not)"),
    _cue(_F, 3, 0, "my ", rf"\bmy {_MINE} (?:is|are)\b"),
    _cue(_F, 0, 4, "my ",
         r"\bmy (?:\w{1,12} )?(?:birthday|time ?zone|e-?mail(?: address)?|phone number|diet|allergy) (?:is|are)\b"),
    _cue(_F, 2.5, 0, "'s |’s |his |her |their ", rf"\b(?:his|her|their|[A-Z]\w{{1,20}}['’]s) {_MINE} (?:is|are)\b"),
    _cue(_F, 2.5, 0, "like|love|hate|allergic|live|work|based|report|speak|vegeta|vegan",
         rf"^(?:the user|{_NAMED}(?: {_NAMED})?) (?:also |really )?(?:likes|loves|hates|dislikes|is allergic to|"
         r"lives in|works (?:at|for|from|on)|is based in|reports to|speaks|is vegetarian|is vegan)\b"),
    _cue(_F, 2.5, 0, "switched|moved|changed", rf"^(?!we |i ){_NAMED} (?:has )?(?:switched|moved|changed) to\b"),
    _cue(_F, 2, 0, "port |version |expire|runs on|hosted|listen",
         r"\b(?:port (?:is )?\d{2,5}|version (?:is )?v?\d|expires? (?:on|in)|runs on|(?:is )?hosted (?:on|at)|"
         r"listens on)\b"),
    _cue(_F, 2, 0, "the |our ",
         r"^(?:the|our) (?:[\w/-]{1,30} ){1,4}(?:is|are|lives? (?:at|in)|stays?)\b[^\n]{0,200}?(?:\d|https?://|`)"),
    _cue(_F, 2.5, 0, "turns out|turned out|learned|found out|discovered|root cause|reali",
         r"\b(?:turns? out|turned out|learned that|found out that|discovered that|reali[sz]ed that|"
         r"root cause (?:is|was))\b|\broot cause:"),
)  # fmt: skip
_TODOS = (
    _cue(_T, 3, 0, "remind|forget|remember",
         r"\bremind (?:me|us|him|her|them|\w{1,20}) (?:to|about|of)\b|\b(?:don['’]t forget|remember) to\b"),
    _cue(_T, 3, 0, "follow", r"\bfollow(?:ing)?[- ]up (?:with|on|about|by|tomorrow|next|in|re)\b"),
    _cue(_T, 3, 0, "need to|needs to", r"(?:^|\b(?:i|we) )(?:still |also |now |really )?needs? to\b"),
    _cue(_T, 2, 0, "needs to be|need to be|still need", r"\b(?:needs? to be (?!able)\w+|still needs?)\b"),
    _cue(_T, 2, 0, "have to|has to", r"(?:^|\b(?:i|we) )(?:still |also )?ha(?:ve|s) to\b(?! say)"),
    _cue(_T, 2.5, 3.5, "i'll |i’ll |i will ",
         rf"\bi(?:'ll|’ll| will) (?:also |then |go ahead and |try to )?{_WORK}\b"),
    _cue(_T, 3, 4, "action",
         r"\b(?:i(?:'ll|’ll| will| can)|will|to) take (?:an|the|that|this) action\b(?: to| item)?"),
    _cue(_T, 2.5, 0, "due |deadline",
         r"\b(?:is|are) due (?:on|by|in|at|\d|\w{1,8}day|tomorrow)\b|\bdeadline (?:is|for)\b"),
)  # fmt: skip
_RISKS = (
    _cue(_K, 3, 3, "break",
         r"\b(?:might|may|could|will|can) (?:\w{1,20} )?break\b(?! (?:it |this |that |these )?(?:down|up|out|into))"
         r"|\bbreaks (?:if|when|on)\b"),
    _cue(_K, 3, 3.5, "risk",
         r"(?<!at )\b(?:a|the|big|main|only|biggest|real|serious|security|privacy|high) risks? (?:is|that|here|with)\b"
         r"|\bthere(?:['’]s| is) (?:a|some) (?:\w{1,20} )?risk of\b"),
    _cue(_K, 2.5, 0, "risk", r"(?<!at )\brisks? (?:is|of)\b"),
    _cue(_K, 2, 0, "risk", r"\b(?:risks?|risky)\b(?! (?:register|assessment|analysis|free))"),
    _cue(_K, 2.5, 0, "fail|leak|time|overflow|corrupt|lose|lost|expire|run out|crash",
         r"\b(?:might|may|could) (?:\w{1,20} )?"
         r"(?:fail|leak|time ?out|overflow|corrupt|lose|be lost|expire|run out|crash)\b"),
    _cue(_K, 2, 0, "point of failure|data loss|race condition|fragile|brittle|flaky|vulnerab|worried|beware|watch out",
         r"\b(?:single point of failure|data loss|race condition|fragile|brittle|flaky|vulnerab\w{0,10}|"
         r"worried (?:that|about)|beware|watch out)\b"),
)  # fmt: skip
CUES: Final = (*_DECISIONS, *_RULES, *_FACTS, *_TODOS, *_RISKS)

STEMS: Final = tuple(dict.fromkeys(stem for cue in CUES for stem in cue.stems))
