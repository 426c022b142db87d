"""Reading entries again: a day that only the rules could read, or one that a person wants read again.

Existing items are not duplicated. A candidate on the same lines as an existing item, saying the same, adds nothing, and
lines that were read before confirm nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pipelines.extract.extraction import ExtractionRequest
from pipelines.extract.rules import RulesExtractor
from pipelines.store.evidence import starts_of
from pipelines.store.item import Item, ItemType
from pipelines.store.state import Reason, Tombstone, wording_hash
from pipelines.store.wording import folded
from pipelines.text import content_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pipelines.extract.extract_days import DayToRead
    from pipelines.extract.extraction import Candidate, Place


AGREES: Final = 0.5
"""Two sentences on the same lines say the same if they share this part of the shorter one's content words."""


def reread_in(days: Iterable[DayToRead], again: str) -> Callable[[Candidate], bool]:
    """Return a test of whether a candidate is from an entry that was read before."""
    known = {(day.path, entry.key) for day in days for entry in day.again}
    return lambda one: one.entry.day == again or (one.entry.path, one.entry.key) in known


def buried_by(
    stones: frozenset[Tombstone], again: str, is_reread: Callable[[Candidate], bool]
) -> Callable[[Candidate], bool]:
    """Return a test of whether a person removed an item with a candidate's words; reading a day again ignores that.

    The type does not matter: a model may give a sentence another one on another night. Forgotten items stay forgotten,
    since their words may remain in a log that is a person's own file. Wordings that a person corrected stay out, too.
    What a model rewords in lines that the rules had read is matched by what the rules find there as well.
    """
    hashes = frozenset(stone.hash for stone in stones)
    for_good = frozenset(stone.hash for stone in stones if stone.reason in {Reason.FORGOTTEN, Reason.CORRECTED})

    def is_buried(one: Candidate) -> bool:
        texts = (one.text, *_by_rules(one)) if is_reread(one) else (one.text,)
        closed = hashes if one.entry.day != again else for_good
        return any(wording_hash(kind, text) in closed for kind in ItemType for text in texts)

    return is_buried


def _by_rules(one: Candidate) -> Iterator[str]:
    """Yield the sentences that the rules find on a candidate's lines."""
    for place in one.places:
        found = RulesExtractor().extract(ExtractionRequest(place.entry.day, (place.entry,))).candidates
        yield from (each.text for each in found if any(_overlap(place, other) for other in each.places))


def _overlap(one: Place, other: Place) -> bool:
    return one.start_line <= other.end_line and other.start_line <= one.end_line


def known_by(items: Iterable[Item], is_reread: Callable[[Candidate], bool]) -> Callable[[Candidate], bool]:
    """Return a test, to be asked in order, of whether a candidate from lines that were read before has an item already.

    They must share a line. An item matches by its words; each item left takes one candidate of its type, however
    worded.

    Args:
        items: every item in the memory, whatever its status.
        is_reread: whether a candidate is from an entry that was read before.
    """
    existing, taken = list(items), set[str]()

    def is_known(one: Candidate) -> bool:
        near = _on_same_lines(one, existing) if is_reread(one) else []
        agreeing = [item for item in near if _agrees(one, item)]
        left = [item for item in near if item.type is one.type and item.id not in taken]
        same = (agreeing or left)[:1]
        taken.update(item.id for item in same)
        return bool(same)

    return is_known


def _on_same_lines(candidate: Candidate, items: Iterable[Item]) -> list[Item]:
    """Return the items with evidence on a candidate's lines; evidence is found in the entry by its hash."""
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
