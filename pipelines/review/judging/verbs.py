"""What verbs tell of the words behind them: whether they can have one value only, or many at once."""

from __future__ import annotations

from typing import Final

from pipelines.review.judging.stems import stem


def _stems(words: str) -> frozenset[str]:
    return frozenset(stem(word) for word in words.split())


BE: Final = frozenset("is are was were am be been being".split())
HAVE: Final = frozenset("has have had having".split())
HELPERS: Final = frozenset("will can could may might must should shall would does do did".split())

DIRECT: Final = _stems("use prefer name call target cost charge want favour weigh last") | {"be"}
"""Their object is their value: `prefer tea`, `use Kafka`."""

SINGLE: Final = DIRECT | _stems(
    """run live work store host deploy write send start end close open base locate sit lie ship expire leave arrive
    depart belong keep set cap limit retry pin schedule meet serve display return own lead manage sign store place print
    read build born bear park hang train wake graduate land"""
)
"""Of one subject they hold once: it lives in one place, and starts at one time."""

OWNING: Final = _stems("own lead manage handle maintain run chair review coordinate organise organize teach")
"""Their subject is the value: who owns the service is what may change."""

OFTEN: Final = _stems(
    """like love hate know speak support buy read visit discuss mention test eat drink play need have talk ask order
    book tag fix merge close approve accept add remove create invite publish try watch learn join attend see hear sell
    help travel cook study paint collect"""
) | {"have"}
"""Of one subject they hold many times: who likes hiking may like chess."""

NOUNS_TOO: Final = _stems(
    """report work call build test release log set plan change review start end cost name limit show visit book order
    play support place load use lead store host target ship train cap sync cut deal run print read meet need head
    study park sign display land rule paint"""
)
"""As often nouns: verbs only by their ending or by what stands before them."""

VERBS: Final = (
    SINGLE
    | OWNING
    | OFTEN
    | NOUNS_TOO
    | _stems(
        """take carry contain seat target pass fail crash listen point default begin finish require allow permit accept
        pay point prepare file update renew push pull go come expect stop drop enable disable connect reach lock point
        put submit apply stand allow forbid get give hold make say tell think want wait walk win lose hire fire leave
        stay sleep spend save grow teach reply answer respond handle replace restart retire archive freeze squash draw
        measure show react use crash stick hurt smell taste feel sound look seem speak store own host lack exclude
        include consist express read cover wear drive ride swim sing dance draw"""
    )
)
PRONOUNS: Final = frozenset("we i you they he she it".split())
PREPOSITIONS: Final = frozenset("in on at to with by from as into for onto via through under over behind near".split())
EVENTS: Final = frozenset(
    """won lost met paid bought sold went saw sent took made told said wrote spent called had got gave found fixed
    merged upgraded deployed visited attended finished shipped released tested booked ordered signed received
    talked discussed decided approved closed opened added removed moved submitted published created installed
    reviewed""".split()
)
"""At the head of a sentence they tell what happened once: the next time does not make it untrue."""
