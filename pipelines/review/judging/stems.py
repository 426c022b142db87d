"""Words as they are compared: without endings, and with one word for those that mean the same."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

STOP: Final = frozenset(
    """a about again ago all also an and any are as at be because been being both but by can could did do does doing
    done down each either else ever every everybody everyone for from further get gets getting got had has have
    having he her here hers him his i if in into is it its itself just let like likewise may me might mine must my
    of off on onto or other our ours out over own per please shall she should so some still such than that the their
    them then there these they this those through to today together too toward towards under up upon us via was we
    were what when where which gonna wanna gotta while who whom whose why will with would yes yet you your yours am
    only not no never none neither nor without unless except until before after""".split()
)
"""Words that carry no subject; what they do (deny, limit, compare) is read by rules of its own."""

# Said of nearly anything: they tell neither a subject nor a value.
_LIGHT: Final = frozenset(
    """happen occur take place hold held show keep kept make made go went become became remain stay decide agree
    resolve plan want reachable possible sure really very quite much many more most lot fully simply always currently
    generally usually probably maybe officially already soon later finally then exactly about around roughly there
    accord note remember confirm true know known think say said tell told reminder need thing way case fine enough
    least ones kind sort order chance various certain""".split()
)
_IRREGULAR: Final = {
    "paid": "pay", "sent": "send", "wrote": "write", "written": "write", "met": "meet", "chose": "choose",
    "chosen": "choose", "began": "begin", "begun": "begin", "taken": "take", "took": "take", "gone": "go",
    "left": "leave", "bought": "buy", "built": "build", "spoke": "speak", "spoken": "speak", "ran": "run",
    "said": "say", "told": "tell", "ate": "eat", "eaten": "eat", "drank": "drink", "drove": "drive", "led": "lead",
    "rose": "rise", "risen": "rise", "fell": "fall", "fallen": "fall", "grew": "grow", "grown": "grow", "held": "hold",
    "kept": "keep", "lost": "lose", "won": "win", "sold": "sell", "taught": "teach", "knew": "know", "known": "know",
    "children": "child", "men": "man", "women": "woman", "people": "person", "feet": "foot", "broke": "break",
    "broken": "break", "found": "find", "shown": "show", "gave": "give", "given": "give", "came": "come",
    "made": "make", "became": "become", "thought": "think", "brought": "bring", "slept": "sleep", "sat": "sit",
    "stood": "stand", "understood": "understand", "wore": "wear", "saw": "see", "seen": "see", "went": "go",
    "staff": "staff", "news": "news", "is": "be", "dying": "die", "lives": "live", "does": "do", "this": "this",
    "process": "process", "access": "access", "address": "address", "business": "business", "class": "class",
    "forbidden": "forbid", "hidden": "hide", "driven": "drive", "stolen": "steal", "frozen": "freeze",
    "ridden": "ride", "worn": "wear", "drawn": "draw", "born": "bear", "set": "set", "cut": "cut",
    "status": "status", "always": "always", "analysis": "analysis", "bus": "bus", "gas": "gas", "lens": "lens",
}  # fmt: skip
# One word for those that mean the same; by their stems.
_SHORT: Final = 4
"""A word with fewer letters has no ending to take away; of `use` and `dies` it is part of the word."""
_GROUPS: Final = (
    "use choose pick select adopt utilise utilize employ", "start begin commence", "end finish conclude expire",
    "gift present", "child kid", "database db", "production prod", "certificate cert", "repository repo",
    "document doc documentation", "config configuration", "environment env", "postgres postgresql", "kubernetes k8s",
    "javascript js", "typescript ts", "schedule arrange", "buy purchase", "picture photo", "car vehicle",
    "phone telephone", "mail email", "allergic allergy", "night nightly", "day daily", "week weekly", "month monthly",
    "year yearly annual annually", "big large", "small little", "forbid disallow prohibit ban", "allow permit",
    "remove delete", "fix repair mend", "boss supervisor", "cheque check", "own owner ownership", "lead leader",
    "bike bicycle",
    "flat apartment", "holiday vacation", "film movie", "lift elevator", "application app", "administrator admin",
    "authentication auth", "pr pullrequest", "colour color", "centre center", "licence license", "shop store",
    "house home", "fast quick quickly", "meeting meet", "price pricing cost", "location located", "mandatory required",
    "disable deactivate", "enable activate", "broken faulty", "needle needles", "responsible responsibility",
    "deliver delivery", "register registration", "wife spouse husband",
    "illness sickness", "job occupation", "sofa couch", "wed marry",
)  # fmt: skip


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """Return the form in which two words that mean the same are equal; `word` is in small letters."""
    bare = _bare_stem(word)
    return _SAME.get(bare, bare)


def _bare_stem(word: str) -> str:
    word = re.sub(r"['’]s?$", "", word)
    word = _IRREGULAR.get(word, word)
    if len(word) < _SHORT or not word.isalpha():
        return word
    if word.endswith("ies") and len(word) > _SHORT:
        word = word[:-3] + "y"
    elif word.endswith(("sses", "shes", "ches", "xes", "zes")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ingly", "ing", "edly", "ed"):
        rest = word[: -len(ending)]
        if word.endswith(ending) and len(rest) > 1 and re.search(r"[aeiouy]", rest):
            word = _undoubled(rest)
            break
    return word[:-1] if word.endswith("e") and len(word) >= _SHORT else word


def _undoubled(word: str) -> str:
    return word[:-1] if word[-1:] == word[-2:-1] and word[-1] not in "lsz" else word


_SAME: Final = {_bare_stem(word): _bare_stem(group.split()[0]) for group in _GROUPS for word in group.split()}
LIGHT: Final = frozenset(_SAME.get(found, found) for found in map(_bare_stem, _LIGHT))


def is_content(word: str) -> bool:
    """Whether a word in small letters tells something of what a sentence is about."""
    return word not in STOP and stem(word) not in LIGHT and not (word.endswith("ly") and len(word) > _SHORT + 1)
