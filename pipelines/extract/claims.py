"""Claims: what a second reader is asked about, and what it answers.

A claim is a sentence and the quotes that are to say it. What an entry says word for word needs no second reader.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Final, Protocol

from pipelines.store.evidence import fold_markdown
from pipelines.store.item import ItemType
from pipelines.store.spoken_lines import peel
from pipelines.usage import Tally

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipelines.extract.extraction import OperationKind, Place
    from pipelines.store.log import Entry


class Verdict(StrEnum):
    """Whether the quotes say it."""

    SUPPORTED = "supported"
    UNSUPPORTED = "unsupported"
    UNSURE = "unsure"


@dataclass(frozen=True, slots=True)
class Claim:
    """What is to be verified; nothing in it tells why the first reader thought so.

    Args:
        kind: `item`, `sentence`, or the operation.
        text: what is claimed.
        quotes: the verbatim words on which it rests; of a `sentence` the texts of the items that it cites.
        context: what else may be used: headings, speaker, day, the turn before.
    """

    kind: str
    text: str
    quotes: tuple[str, ...]
    context: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verified:
    """What came back.

    Args:
        verdicts: one for each claim, in their order; None where nobody could be asked.
        reasons: the verifier's reason for each, or empty.
        tally: what the calls came to, and the kept replies that it rests on.
        failure: why claims have no verdict, a sentence each, or empty.
    """

    verdicts: tuple[Verdict | None, ...] = ()
    reasons: tuple[str, ...] = ()
    tally: Tally = field(default_factory=Tally)
    failure: str = ""


class Verifier(Protocol):
    """Who is asked whether quotes say what is claimed."""

    def verify(self, claims: Sequence[Claim], *, again: bool = False) -> Verified:
        """Return one verdict for each claim; it never fails.

        Args:
            claims: what is asked.
            again: whether they were asked about before; the question is worded otherwise, so no kept reply answers it.
        """


def verify_twice(verifier: Verifier, claims: Sequence[Claim]) -> Verified:
    """Return one verdict for each claim; what is found unsupported is asked once more, and the second verdict counts.

    Where nobody can be asked the second time the claim is unsure: it was doubted, and not for good.
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


# ---------------------------------------- the words of a claim about an item of the memory


_OUTCOMES: Final = {"occurred": "has occurred", "ended": "no longer holds"}


def operation_text(
    operation: OperationKind,
    kind: ItemType,
    text: str,
    *,
    how: str = "",
    new: str = "",
) -> str:
    """Return what an operation claims of one item, in the words that the prompt explains.

    Args:
        operation: what is to become of the item.
        kind: its type.
        text: its sentence.
        how: of a `close`, how it came to its end: done, dropped, resolved, occurred, answered, ended.
        new: of a `supersede` the successor's sentence, of an `update` what the item is to say.
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
    """Return whether a text says anything other than the whole of an entry, word for word.

    How much of it a reader quotes counts for nothing: `the floor is rotten` may stand in an entry that denies it, in
    the same sentence or in the next.

    Args:
        text: the sentence of an item.
        places: what it rests on.

    Returns:
        False where the text is all that one of the entries says, but for case, end punctuation, white space, marks of
        Markdown, a time in front, and a type as a label.
    """
    return not any(_is_whole(text, place.entry) for place in places)


def around(place: Place) -> str:
    """Return what stands before and behind a quote in its entry, with `[…]` in its place; empty where nothing does."""
    if _is_whole(place.quote, place.entry):
        return ""
    quote, whole = fold_markdown([place.quote]), fold_markdown(place.entry.text.split("\n"))
    before, _, after = whole.partition(quote)
    return f"{before[-_AROUND:]}[…]{after[:_AROUND]}" if before or after else ""


def _is_whole(text: str, entry: Entry) -> bool:
    """Whether a text is all that an entry says; whoever is named as saying it is a part of that."""
    first, *rest = entry.text.split("\n")
    spoken, bare = peel(first), _bare([text])
    return bare != "" and bare == _bare([f"{spoken.box.strip()} {spoken.marked}", *rest])


def _bare(lines: Sequence[str]) -> str:
    words = fold_markdown(lines)
    label = _LABEL.match(words)
    bare = (words[label.end() :] if label else words).casefold().rstrip(_ENDS)
    return bare if any(map(str.isalnum, bare)) else ""
