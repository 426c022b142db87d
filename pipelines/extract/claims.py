"""Claims for a second reader, and its verdicts.

A claim is a sentence and the quotes that should support it. Verbatim text of an entry needs no second reader.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from pipelines.extract.nearby import with_weekday
from pipelines.store.evidence import fold_markdown, without_pointer
from pipelines.store.item import ItemType
from pipelines.store.spoken_lines import parse_spoken
from pipelines.usage import Tally

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipelines.extract.extraction import OperationKind, Place, Told
    from pipelines.store.item import Item


class Verdict(StrEnum):
    """What a second reader says of a claim; the last four are of a pair of sentences."""

    SUPPORTED = "supported"
    UNSUPPORTED = "unsupported"
    UNSURE = "unsure"
    SAME = "same"
    REPLACES = "replaces"
    BOTH = "both"
    CONFLICT = "conflict"


PAIR = "pair"
OF_PAIRS = frozenset({Verdict.SAME, Verdict.REPLACES, Verdict.BOTH, Verdict.CONFLICT})


class Claim(NamedTuple):
    """A claim to verify; it does not give the first reader's reasons.

    Args:
        kind: `item`, `sentence`, `pair`, or what is done to an item: replace, close, update, retract, doubt.
        text: the claim; of a pair, the new sentence.
        quotes: the lines that it rests on; for a `sentence`, the texts of what it cites; of a pair, the old sentence.
        context: other text that may be used: headings, speaker, day, the entry before.
    """

    kind: str
    text: str
    quotes: tuple[str, ...]
    context: tuple[str, ...] = ()


@dataclass(frozen=True)
class Verified:
    """The verdicts on some claims.

    Args:
        verdicts: one per claim, in order; empty if the call failed.
        tally: the cost of the calls, and the kept replies used.
        failure: why there are no verdicts, a sentence each, or empty.
    """

    verdicts: tuple[Verdict, ...] = ()
    tally: Tally = field(default_factory=Tally)
    failure: str = ""


def told_claim(told: Told) -> Claim:
    """Return the claim of a sentence of a day's episode."""
    context = (*said_under(told.places), with_weekday(told.places[0].entry.day), *told.beside)
    return Claim("sentence", told.text, quotes_of(told.places), context)


def quotes_of(places: Sequence[Place]) -> tuple[str, ...]:
    """Return the lines of each place, as a reader is shown them."""
    return tuple("\n".join(map(without_pointer, place.lines)) for place in places)


def said_under(places: Sequence[Place]) -> list[str]:
    """Return the headings and projects under which lines stand, each once: they name what the lines speak of."""
    told = [
        part
        for place in places
        for part in (" > ".join(place.entry.headings), place.entry.project and f"project {place.entry.project}")
    ]
    return list(dict.fromkeys(filter(None, told)))


# ---------------------------------------- the wording of a claim about an existing item


_OUTCOMES = {"occurred": "has occurred", "ended": "no longer holds"}


def operation_text(operation: OperationKind, item: Item, how: str, new: str) -> str:
    """Return what an operation claims of an item, in the words that the prompt explains.

    Args:
        operation: the operation.
        item: the item.
        how: for a `close`, the outcome: done, dropped, resolved, occurred, answered, ended.
        new: for a `supersede` the successor's sentence, for an `update` the new sentence.
    """
    outcome = {
        "close": _OUTCOMES.get(how, f"is {how}"),
        "question": "is in doubt",
        "retract": "was a mistake and never held",
        "supersede": f"is replaced by: {new}",
        "update": f"is changed to: {new}",
    }[operation]
    return f"{item.type}: {item.text} {outcome}"


# ---------------------------------------- whether a second reader is needed


_LABEL = re.compile(rf"(?:{'|'.join(ItemType)})\s*:\s*", re.IGNORECASE)
_ENDS = " .,;:!…。"


def needs_verifying(text: str, places: Sequence[Place]) -> bool:
    """Return whether a text is anything but a whole entry, word for word.

    A verbatim part does not suffice: `the floor is rotten` may be in an entry that denies it, in the same or the next
    sentence.

    Args:
        text: the sentence of an item.
        places: its evidence.

    Returns:
        False if the text is all that one of the entries says, except for case, end punctuation, white space, Markdown,
        a leading time, and a type as a label.
    """
    bare = _bare([text])
    for place in places if bare else ():
        first, *rest = place.entry.text.split("\n")
        spoken = parse_spoken(first)  # a named speaker is part of what it says
        if bare == _bare([f"{spoken.box.strip()} {spoken.marked}", *rest]):
            return False
    return True


def _bare(lines: Sequence[str]) -> str:
    words = fold_markdown(lines)
    label = _LABEL.match(words)
    bare = (words[label.end() :] if label else words).casefold().rstrip(_ENDS)
    return bare if any(map(str.isalnum, bare)) else ""
