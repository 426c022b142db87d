"""Review: what becomes of each candidate, judged against what the memory already holds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from pipelines.memory.layout import BRIEFING, GENERAL, USER, Kind, kind_of
from pipelines.memory.wording import folded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pipelines.memory.items import Item, ItemType
    from pipelines.models.extraction import Candidate


class VerdictKind(StrEnum):
    """What the review decides of a candidate."""

    ADD = "add"
    DUPLICATE = "duplicate"
    SUPERSEDE = "supersede"
    CONTRADICT = "contradict"
    NOISE = "noise"
    QUARANTINE = "quarantine"


@dataclass(frozen=True, slots=True)
class Filed:
    """A candidate and the document that it is meant for; empty where nothing was said."""

    candidate: Candidate
    document: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """The judgement of one candidate.

    Args:
        kind: what becomes of it.
        candidate: what was judged.
        document: the document that it is meant for, or empty.
        known: for a duplicate, the id of the item that says it already; empty where that item is new in this run.
        reason: why.
    """

    kind: VerdictKind
    candidate: Candidate
    document: str = ""
    known: str = ""
    reason: str = ""


def review(
    filed: Iterable[Filed], items: Iterable[tuple[str, Item]], buried: Callable[[Candidate], bool]
) -> tuple[Verdict, ...]:
    """Judge the candidates in order: what is new is added, what is known confirms the item that says it.

    Two texts are the same when they differ in case, punctuation and Markdown alone. A candidate that names a document
    repeats an item of that document, or of one that speaks for all; one that names none repeats any.

    Args:
        filed: the candidates, with the documents that their entries name.
        items: document path and item, of every item in the memory, whatever its status: what was superseded or done
            is not learnt anew from an old log.
        buried: whether a person deleted or undid an item that said the same; it is never proposed again.
    """
    known: dict[tuple[ItemType, str], list[tuple[str, str]]] = {}
    for document, item in items:
        known.setdefault((item.type, folded(item.text)), []).append((document, item.id))
    verdicts = []
    for one in filed:
        candidate = one.candidate
        key = (candidate.type, folded(candidate.text))
        if not key[1]:
            verdicts.append(Verdict(VerdictKind.NOISE, candidate, one.document, reason="it has no words"))
            continue
        same = _same(known.get(key, ()), one.document)
        if same is None and buried(candidate):
            verdicts.append(Verdict(VerdictKind.NOISE, candidate, one.document, reason="a person took it out"))
        elif same is None:
            known.setdefault(key, []).append((one.document, ""))
            verdicts.append(Verdict(VerdictKind.ADD, candidate, one.document))
        else:
            verdicts.append(Verdict(VerdictKind.DUPLICATE, candidate, one.document, same, "it says the same words"))
    return tuple(verdicts)


def _same(places: Sequence[tuple[str, str]], document: str) -> str | None:
    """Return the id of the item that a candidate for `document` repeats, or None where it is new."""
    for place, ident in places:
        if not document or place in {document, ""} or _is_shared(place):
            return ident
    return None


def _is_shared(place: str) -> bool:
    """Whether a document speaks for all projects, or waits for any: what it says is not said again in one of them."""
    return place in {BRIEFING, USER, GENERAL} or kind_of(place) in {Kind.ARCHIVE, Kind.REVIEW}
