"""The words by which the head knows the form of a remark: small, closed lists, of no topic in particular."""

from __future__ import annotations

import re
from typing import Final

VERBS: Final = frozenset(
    """
    accept add address adjust adopt agree align allow announce approve archive arrange ask assign audit avoid ban begin
    block book bring build buy call cancel cap change charge chase check circulate clarify clean close collect combine
    compare compile confirm consider contact continue convert copy create cut declare define defer delay delete deliver
    deploy deprecate describe design determine develop disable disallow discuss document draft drop edit email e-mail
    enable ensure establish evaluate examine exclude explain explore extend file fill finalise finalize find finish fix
    follow forbid forward freeze gather get give go handle hire hold host implement improve include inform install
    introduce investigate invite join keep launch leave let limit link list look make mandate mark measure meet merge
    migrate move name note notify offer omit open order organise organize paint pay perform permit pick ping place plan
    plant post postpone prepare present print produce prohibit promote propose provide publish pull push put raise
    reach read recommend record reduce refer refresh refuse register reject release remind remove rename renew reopen
    rent repair replace reply report request require research reserve resolve respond restore restrict retain retire
    return review revise rewrite run schedule select sell send separate set share ship shorten sign simplify skip sort
    specify split standardise standardize start state stay stick stop store submit suggest summarise summarize support
    suspend switch take talk tell test track train transfer translate treat try turn update upgrade upload use verify
    visit wait warn withdraw work write
    """.split()
)
"""What an order or a resolution begins with: `close the gate`, `Rob to close the gate`."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SAID: Final = (
    ("I", _words("i i'm i'd i've i'll my me mine myself")),
    ("I will", _words("i'll")),
    ("we", _words("we us our ours we're we've we'd we'll let's lets")),
    ("you", _words("you your yours you're you'll you've you'd")),
    ("they", _words("he she they them him her his their people someone somebody everybody everyone")),
    ("must", _words("must shall required mandatory has-to obliged")),
    ("should", _words("should shouldn't ought")),
    ("will", _words("will won't i'll we'll they'll it'll he'll she'll you'll")),
    ("may", _words("may can might could would can't couldn't wouldn't i'd we'd he'd she'd they'd it'd")),
    ("always", _words("always never every each only whenever any anybody anyone")),
    ("not", _words("not no without cannot don't doesn't didn't isn't aren't wasn't won't can't nothing nobody none")),
    ("hedge", _words("think maybe perhaps probably guess seems seem wonder wondering suppose sounds feels possibly"
                     " might unsure believe imo afaik hopefully assume guessing")),
    ("if", _words("if whether unless until assuming otherwise")),
    ("because", _words("because since given due reason therefore hence")),
    ("told", _words("said says asked told mentioned talked discussed discussing explained thinks wants wanted wrote"
                    " was were had been did saw tried got went came")),
    ("is", _words("is are isn't aren't it's that's there's he's she's what's they're")),
    ("polite", _words("thanks thank welcome please sorry hello hi bye congratulations great cheers nice cool awesome"
                      " love lovely wow haha lol")),
    ("chair", _words("agenda topic scribe adjourn adjourned regrets attendees queue introductions minutes")),
    ("decided", _words("decided agreed resolved chose chosen settled opted approved accepted consensus decision"
                       " unanimous voted adopted carried")),
    ("instead", _words("instead rather wontfix switch switching switched stick sticking over replaces")),
    ("put off", _words("defer deferred postpone postponed future later version tabled park parked release")),
    ("risk", _words("risk risks risky danger dangerous worried worry worries concern concerned break breaks broken fail"
                    " fails lose loss leak leaks outage fragile vulnerable attack overrun brittle threat expire expires"
                    " unstable exposed corrupt corrupted")),
    ("need", _words("need needs have has todo remember forget still remind follow-up pending outstanding owe")),
    ("when", _words("tomorrow tonight today monday tuesday wednesday thursday friday saturday sunday january february"
                    " march april june july august september october november december week month deadline due by"
                    " before")),
    ("proposes", _words("propose proposes proposed proposal proposals motion vote objections objection resolution"
                        " suggest suggestion")),
    ("now on", _words("henceforth longer going forward now policy rule convention default")),
)  # fmt: skip
"""Each is a feature: whether one of its words stands in the remark."""

OPENS: Final = _words(
    "so but and because also then well ok okay yes yeah no right oh ah um great thanks thank sorry sure btw fyi hi"
    " hello anyway fine good cool hmm note wow hey haha lol true exactly"
)
ASKS: Final = _words(
    "what why how who when where which is are do does did can could should would will any has have was were isn't"
)
POINTS: Final = _words("that this it there these those that's it's there's they he she")

PROPOSING: Final = _words(
    "propose proposed proposal motion resolve resolution vote objections objection object consensus agree agreed agrees"
    " decide decision let's lets settled seconded happy fine"
)
ASKING: Final = _words("action volunteer volunteers assign i'll todo needs need should can could someone somebody who")

NO_NAMES: Final = _words("will may mark grant art bill rich can the of and to a i we you")
"""Names that are words, too: a speaker called so is not looked for in what others say."""

VOTE: Final = re.compile(
    r"(?:[+-][01](?!\d)|aye\b|agreed?[.!]*$|lgtm\b|seconded?\b|no objections?\b|in favou?r\b|\[?abstain|yes[.!]*$|"
    r"(?:fine|ok(?:ay)?|works|good) (?:by|with|for) me\b|sounds good[.!]*$)",
    re.IGNORECASE,
)
PROPOSED: Final = re.compile(
    r"[\W_]{0,8}(?:draft |counter-?)?(?:(?:propos(?:ed|al)\b[^:\n]{0,30}|straw\W?poll|poll|motion|vote):|"
    r"(?:i|we) (?:propose|move|suggest)\b(?: (?:that|to)\b)?(?: we\b)?)",
    re.IGNORECASE,
)
NEXT_TOPIC: Final = re.compile(
    r"(?:sub)?topic:|agenda|next (?:item|topic|issue|one)|(?:let's )?mov(?:e|ing) on|any other", re.IGNORECASE
)
