"""Links that the words themselves tell: an id that is named, and a reason that an item or another candidate states.

Careful on purpose: a link that is not there costs nothing, a wrong one misleads whoever asks why.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from pipelines.extract.extraction import MOST_LINKS
from pipelines.review.judging.sentence import read_sentence
from pipelines.review.judging.stems import stem
from pipelines.review.judging.values import same_value
from pipelines.store.document import Block, block_of, edited
from pipelines.store.item import ID_PATTERN, Status, content_words
from pipelines.store.layout import BRIEFING, GENERAL, REVIEW, USER, Kind, kind_of
from pipelines.store.secrets.redact import is_private

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pipelines.extract.extraction import Candidate
    from pipelines.review.judging.sentence import Sentence
    from pipelines.store.document import Document
    from pipelines.store.item import Evidence, Item

    StatedBy = Callable[[Candidate, str], str | Candidate | None]


_NAMED: Final = re.compile(rf"(?<![\w/#~=-]){ID_PATTERN}(?![\w/])")
_DIGITS: Final = 8
"""An id is named by so many of its digits at least; fewer may be a word."""
_GROUND: Final = re.compile(r"\b(?:because|given that)\b(?! of\b)\s*(?P<why>.+)", re.IGNORECASE | re.DOTALL)
_AIM: Final = re.compile(r"\bso that\b\s*(?P<why>.+)", re.IGNORECASE | re.DOTALL)
_BEFORE: Final = re.compile(r"\b(?:because(?: of)?|due to|on the ground of|as decided in)[\s(\[\"'`“]*$", re.IGNORECASE)
_BOUND: Final = re.compile(
    r"\b(?:at (?:most|least)|(?:less|more|fewer) than|up to|under|below|above|over)\b", re.IGNORECASE
)
"""With one of these a figure is another statement than without."""
_LEAST: Final = 3
"""A reason must have so many words of content in common with what states it."""
_SHARE: Final = 0.75
"""And so large a part of its own."""
_NEAREST: Final = 40
"""So many of those that share the most words are looked at closely."""
_SAME: Final = 0.8
"""What shares so much with the candidate itself says the candidate, and is no reason for it."""


@dataclass(frozen=True, slots=True)
class Tie:
    """A link of a candidate, to an item or to another candidate of the same night.

    Args:
        source: the candidate that holds the link.
        kind: the kind of link.
        target: the id of an item, or the candidate.
    """

    source: Candidate
    kind: str
    target: str | Candidate


def linkable(items: Iterable[tuple[str, Item]]) -> list[Item]:
    """Return the items that are believed and stand in a curated document; what is marked as private is left out."""
    return [
        item
        for path, item in items
        if item.id
        and item.active
        and path != REVIEW
        and kind_of(path) is not Kind.ARCHIVE
        and not is_private(item.text)
    ]


def find_ties(candidates: Sequence[Candidate], items: Iterable[tuple[str, Item]]) -> tuple[Tie, ...]:
    """Return the links that the words of the candidates tell.

    - An id that the lines of a candidate name, or its entry where the candidate is the only one of it: `related`, and
      `because` where that is the word before it.
    - `because X`, where exactly one active item, or another candidate of the night, says X: `because`.
    - `so that X`, likewise: the candidate `supports` it.

    Args:
        candidates: those of the night, as they are to be promoted.
        items: document path and item, of every item of the memory.
    """
    held = list(items)
    stated_by: StatedBy | None = None
    ids = frozenset(item.id for _, item in held if item.id)
    alone = Counter((one.entry.path, one.entry.key) for one in candidates)
    ties = []
    for one in candidates:
        text = one.entry.text if alone[one.entry.path, one.entry.key] == 1 else "\n".join(one.lines)
        mine: dict[Tie, None] = {}
        for found in _NAMED.finditer(text):
            if len(found[0]) > _DIGITS and (ident := _meant(found[0], ids)):
                mine[Tie(one, "because" if _BEFORE.search(text, 0, found.start()) else "related", ident)] = None
        for form, kind in ((_GROUND, "because"), (_AIM, "supports")):
            if reason := form.search(one.text):
                stated_by = stated_by or _finder_of_reasons(linkable(held), candidates)
                if target := stated_by(one, reason["why"]):
                    mine[Tie(one, kind, target)] = None
        ties += list(mine)[: max(0, MOST_LINKS - len(one.links))]
    return tuple(ties)


def _meant(named: str, ids: frozenset[str]) -> str:
    if named in ids:
        return named
    meant = [ident for ident in ids if ident.startswith(named)]
    return meant[0] if len(meant) == 1 else ""


def _finder_of_reasons(items: Sequence[Item], candidates: Sequence[Candidate]) -> StatedBy:
    """Return how to find the one item or candidate that states what a candidate gives as its reason; None for several.

    The words are looked up in an index of all that could state it.
    """
    who: list[str | Candidate] = [*(one.id for one in items), *candidates]
    texts = [*(one.text for one in items), *(one.text for one in candidates)]
    places = defaultdict[str, list[int]](list)
    for at, text in enumerate(texts):
        for word in _words(text):
            places[word].append(at)

    def find(candidate: Candidate, reason: str) -> str | Candidate | None:
        why = read_sentence(reason)
        if len(why.keys) + len(why.values) < _LEAST:
            return None
        own = read_sentence(candidate.text)
        shared = Counter(at for word in _words(reason) for at in places.get(word, ()))
        near = sorted(shared, key=lambda at: (-shared[at], at))[:_NEAREST]
        saying = [at for at in near if who[at] is not candidate and _says(read_sentence(texts[at]), why, own)]
        statements = {" ".join(sorted(read_sentence(texts[at]).keys)) for at in saying}
        return who[min(saying)] if len(statements) == 1 else None

    return find


def _words(text: str) -> set[str]:
    return {stem(word) for word in content_words(text)}


def _says(statement: Sentence, why: Sentence, own: Sentence) -> bool:
    """Whether a sentence states a reason, rather than that for which the reason is given."""
    shared = len(statement.keys & why.keys)
    values = [value for value in why.values if any(same_value(value, other) for other in statement.values)]
    if len(values) < len(why.values) or shared + len(values) < _LEAST or shared < _SHARE * len(why.keys):
        return False
    repeats = len(statement.keys & own.keys) >= _SAME * max(1, min(len(statement.keys), len(own.keys)))
    return statement.denials == why.denials and _bounds(statement) == _bounds(why) and not repeats


def _bounds(sentence: Sentence) -> list[str]:
    return sorted(found[0].lower() for found in _BOUND.finditer(sentence.text))


# ---------------------------------------- succession
# an item that holds no longer names what holds in its place, and links of others follow.


AGAINST: Final = "against"
"""The key of a waiting item that names the one that it contradicts."""
_STAYS: Final = frozenset({"supersedes", "contradicts"})
"""Links that tell of one item for ever: what it took the place of, and what it spoke against."""
_LOADED: Final = frozenset({BRIEFING, USER})


def succeeded(old: Item, new: str, day: str) -> Item:
    """Return an item as it stands once another took its place: held until that day, and not before it began."""
    return replace(old, status=Status.SUPERSEDED, until=max(day, old.since), superseded_by=new)


def confirmed(item: Item, place: Evidence, day: str, *, done: bool) -> Item:
    """Return an item with one more place of evidence: the first and the last are kept, and a count.

    Args:
        item: what is said again.
        place: where.
        day: the day on which it is.
        done: whether it is said to be done, too.
    """
    return replace(
        item,
        status=Status.DONE if done else item.status,
        until=day if done else item.until,
        confirmed=max(item.confirmed, day),
        evidence=(*item.evidence[:1], place),
        seen=max(item.seen, len(item.evidence)) + 1,
    )


def with_link(item: Item, kind: str, ident: str) -> Item:
    """Return an item with one more link, unless it has it or it would name itself; its links keep their order."""
    links = dict(item.links)
    if ident == item.id or ident in links.get(kind, ()):
        return item
    links[kind] = (*links.get(kind, ()), ident)
    return replace(item, links=tuple(links.items()))


def last_of(ident: str, followed: Mapping[str, str]) -> str:
    """Return what stands in an item's place now: the end of its chain, however often it was replaced tonight.

    A chain that leads back into itself ends where it began.
    """
    seen = {ident}
    at = ident
    while (after := followed.get(at)) and after not in seen:
        seen.add(after)
        at = after
    return ident if followed.get(at) else at


def following(item: Item, followed: Mapping[str, str]) -> Item:
    """Return an item whose links name what stands now in place of what they named, itself left out."""
    against = (value for key, value in item.extra if key == AGAINST)
    if item.status is Status.SUPERSEDED or not any(ident in followed for ident in (*item.linked, *against)):
        return item
    links = []
    for kind, ids in item.links:
        now = ids if kind in _STAYS else tuple(dict.fromkeys(last_of(ident, followed) for ident in ids))
        links.append((kind, tuple(ident for ident in now if ident != item.id or ident in ids)))
    extra = tuple((key, last_of(value, followed) if key == AGAINST else value) for key, value in item.extra)
    return replace(item, links=tuple((kind, ids) for kind, ids in links if ids), extra=extra)


def history_of(path: str) -> str:
    """Return the document that keeps what no longer holds: its own, but for those that every session loads."""
    return GENERAL if path in _LOADED else path


def leaving(document: Document, items: Mapping[str, Item]) -> tuple[Document, list[Block]]:
    """Return a document without the items that ended, and those, with their notes, on their way into a History.

    Args:
        document: where they stood.
        items: by id, each as it stands now.
    """
    blocks: Iterable[Block] = (block_of(document, p) for p in document.items if p.item.id in items)
    moved = [Block(items[block.item.id], block.notes) for block in blocks]
    return edited(document, remove=items), moved
