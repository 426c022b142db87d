"""Claims for a second reader, and its verdicts.

A claim is a sentence and the quotes that should support it. Verbatim text of an entry needs no second reader.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Final, Protocol

from pipelines.store.evidence import fold_markdown
from pipelines.store.item import ItemType
from pipelines.store.spoken_lines import parse_spoken
from pipelines.usage import Tally

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipelines.extract.extraction import OperationKind, Place
    from pipelines.store.log import Entry


class Verdict(StrEnum):
    """Whether the quotes support a claim."""

    SUPPORTED = "supported"
    UNSUPPORTED = "unsupported"
    UNSURE = "unsure"


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim to verify; it does not give the first reader's reasons.

    Args:
        kind: `item`, `sentence`, or the operation.
        text: the claim.
        quotes: the verbatim quotes that it rests on; for a `sentence`, the texts of the items that it cites.
        context: other text that may be used: headings, speaker, day, the turn before.
    """

    kind: str
    text: str
    quotes: tuple[str, ...]
    context: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verified:
    """The verdicts on some claims.

    Args:
        verdicts: one per claim, in order; None if no reader was available.
        reasons: the verifier's reason for each, or empty.
        tally: the cost of the calls, and the kept replies used.
        failure: why claims have no verdict, a sentence each, or empty.
    """

    verdicts: tuple[Verdict | None, ...] = ()
    reasons: tuple[str, ...] = ()
    tally: Tally = field(default_factory=Tally)
    failure: str = ""


class Verifier(Protocol):
    """Decides whether quotes support claims."""

    def verify(self, claims: Sequence[Claim], *, again: bool = False) -> Verified:
        """Return one verdict per claim; it never raises.

        Args:
            claims: the claims.
            again: whether this is the second time; the request is worded differently, so that no kept reply answers it.
        """


def verify_twice(verifier: Verifier, claims: Sequence[Claim]) -> Verified:
    """Return one verdict per claim. Unsupported claims are asked about again, and the second verdict counts.

    If no reader is available the second time, the claim is unsure.
    """
    first = verifier.verify(claims)
    doubted = [at for at, verdict in enumerate(first.verdicts) if verdict is Verdict.UNSUPPORTED]
    if not doubted:
        return first
    second = verifier.verify([claims[at] for at in doubted], again=True)
    verdicts, reasons, tally = list(first.verdicts), list(first.reasons), Tally(cost=first.tally.cost)
    for at, verdict, reason in zip(doubted, second.verdicts, second.reasons, strict=True):
        verdicts[at], reasons[at] = (verdict, reason) if verdict else (Verdict.UNSURE, reasons[at])
    tally.add(first.tally)
    tally.add(second.tally)
    failures = dict.fromkeys(filter(None, (first.failure, second.failure)))
    return Verified(tuple(verdicts), tuple(reasons), tally, " ".join(failures))


# ---------------------------------------- the wording of a claim about an existing item


_OUTCOMES: Final = {"occurred": "has occurred", "ended": "no longer holds"}


def operation_text(
    operation: OperationKind,
    kind: ItemType,
    text: str,
    *,
    how: str = "",
    new: str = "",
) -> str:
    """Return what an operation claims of an item, in the words that the prompt explains.

    Args:
        operation: the operation.
        kind: its type.
        text: its sentence.
        how: for a `close`, the outcome: done, dropped, resolved, occurred, answered, ended.
        new: for a `supersede` the successor's sentence, for an `update` the new sentence.
    """
    outcome = {
        "close": _OUTCOMES.get(how, f"is {how}"),
        "confirm": "still holds",
        "question": "is in doubt",
        "ignore": "is not worth keeping",
        "retract": "was a mistake and never held",
        "supersede": f"is replaced by: {new}",
        "update": f"is changed to: {new}",
    }[operation]
    return f"{kind}: {text} {outcome}"


# ---------------------------------------- whether a second reader is needed


_LABEL: Final = re.compile(rf"(?:{'|'.join(ItemType)})\s*:\s*", re.IGNORECASE)
_ENDS: Final = " .,;:!…。"
_AROUND: Final = 240


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
    return not any(_is_whole(text, place.entry) for place in places)


def around(place: Place) -> str:
    """Return the text around a quote in its entry, with `[…]` for the quote; empty if there is none."""
    if _is_whole(place.quote, place.entry):
        return ""
    quote, whole = fold_markdown([place.quote]), fold_markdown(place.entry.text.split("\n"))
    before, _, after = whole.partition(quote)
    return f"{before[-_AROUND:]}[…]{after[:_AROUND]}" if before or after else ""


def _is_whole(text: str, entry: Entry) -> bool:
    """Whether a text is all that an entry says, a named speaker included."""
    first, *rest = entry.text.split("\n")
    spoken, bare = parse_spoken(first), _bare([text])
    return bare != "" and bare == _bare([f"{spoken.box.strip()} {spoken.marked}", *rest])


def _bare(lines: Sequence[str]) -> str:
    words = fold_markdown(lines)
    label = _LABEL.match(words)
    bare = (words[label.end() :] if label else words).casefold().rstrip(_ENDS)
    return bare if any(map(str.isalnum, bare)) else ""
