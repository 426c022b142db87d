"""Reading again what was read before: a day that only the rules could read, and one that a person wants read anew.

What stands already is not doubled. A candidate that rests on the lines of an existing item and says the same adds
nothing, and nothing that is said again in lines which were read before counts as said once more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pipelines.store.evidence import starts_of
from pipelines.store.item import content_words, folded
from pipelines.store.state import Reason, wording_hash

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pipelines.extract.extract_days import DayToRead
    from pipelines.extract.extraction import Candidate
    from pipelines.store.item import Item
    from pipelines.store.state import Tombstone


AGREES: Final = 0.5
"""Two sentences about the same lines say the same where they share so much of the shorter one's content words."""


def reread_in(days: Iterable[DayToRead], again: str) -> Callable[[Candidate], bool]:
    """Return whether a candidate comes of an entry that was read before."""
    known = {(day.path, entry.key) for day in days for entry in day.again}
    return lambda one: one.entry.day == again or (one.entry.path, one.entry.key) in known


def buried_by(
    stones: frozenset[Tombstone], again: str, is_reread: Callable[[Candidate], bool]
) -> Callable[[Candidate], bool]:
    """Return whether a person took out an item that said what a candidate says; a day read anew sets that aside.

    What was forgotten stays so, for the words may still stand in a log that is a person's own file, and so does what a
    person worded anew.
    What a model words anew in lines that the rules had read is known by its quote, too: the rules keep the log's words.
    """
    hashes = frozenset(stone.hash for stone in stones)
    for_good = frozenset(stone.hash for stone in stones if stone.reason in {Reason.FORGOTTEN, Reason.CORRECTED})

    def is_buried(one: Candidate) -> bool:
        texts = (one.text, *one.quotes) if is_reread(one) else (one.text,)
        closed = hashes if one.entry.day != again else for_good
        return any(wording_hash(one.type, text) in closed for text in texts)

    return is_buried


def without_known(
    candidates: Sequence[Candidate], items: Iterable[tuple[str, Item]], is_reread: Callable[[Candidate], bool]
) -> list[Candidate]:
    """Return the candidates without those of lines that were read before, and of which an item stands.

    What an item says is decided by its lines first: it must rest on a line that the candidate rests on. Then by
    its words; then each item that no candidate's words agreed with takes one candidate of its type, worded however.

    Args:
        candidates: what was proposed.
        items: document path and item, of every item in the memory, whatever its status.
        is_reread: whether a candidate comes of an entry that was read before.
    """
    existing = [item for _, item in items]
    near = {at: _on_same_lines(one, existing) for at, one in enumerate(candidates) if is_reread(one)}
    agreeing = {at: [item for item in found if _agrees(candidates[at], item)] for at, found in near.items()}
    said = {at: found[0] for at, found in agreeing.items() if found}
    spoken_for = {item.id for item in said.values()}
    for at, found in near.items():
        left = (item for item in found if item.type is candidates[at].type and item.id not in spoken_for)
        if at not in said and (item := next(left, None)):
            said[at] = item
            spoken_for.add(item.id)
    return [one for at, one in enumerate(candidates) if at not in said]


def _on_same_lines(candidate: Candidate, items: Iterable[Item]) -> list[Item]:
    """Return the items that rest on a line on which a candidate rests; evidence is found by its hash in the entry."""
    place, found = candidate.places[0], []
    entry = place.entry
    lines = entry.text.split("\n")
    for item in items:
        for evidence in (one for one in item.evidence if one.path == entry.path):
            starts = (entry.start_line + at for at in starts_of(evidence, lines))
            found += [item for at in starts if at <= place.end_line and place.start_line < at + evidence.height]
    return found


def _agrees(candidate: Candidate, item: Item) -> bool:
    if folded(candidate.text) == folded(item.text):
        return True
    one, other = content_words(candidate.text), content_words(item.text)
    shorter = min(len(one), len(other))
    return candidate.type is item.type and shorter > 0 and len(one & other) >= AGREES * shorter
