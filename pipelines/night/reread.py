"""Reading again what was read before: a day that only the rules could read, and one that a person wants read anew.

What stands already is not doubled. A candidate that rests on the lines of an existing item and says the same adds
nothing, and nothing that is said again in lines which were read before counts as said once more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pipelines.review.review import Verdict, VerdictKind
from pipelines.store.item import content_words, folded, quote_digest
from pipelines.store.state import Reason, wording_hash

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pipelines.extract.extract_days import DayToRead
    from pipelines.extract.extraction import Candidate
    from pipelines.review.review import Filed
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

    What was forgotten stays so: the words may still stand in a log that is a person's own file.
    What a model words anew in lines that the rules had read is known by its quote, too: the rules keep the log's words.
    """
    hashes = frozenset(stone.hash for stone in stones)
    forgotten = frozenset(stone.hash for stone in stones if stone.reason is Reason.FORGOTTEN)

    def is_buried(one: Candidate) -> bool:
        texts = (one.text, one.quote) if is_reread(one) else (one.text,)
        closed = hashes if one.entry.day != again else forgotten
        return any(wording_hash(one.type, text) in closed for text in texts)

    return is_buried


def split_known(
    filed: Sequence[Filed], items: Iterable[tuple[str, Item]], is_reread: Callable[[Candidate], bool]
) -> tuple[list[Filed], list[Verdict]]:
    """Return the candidates that are to be reviewed, and verdicts on those that an item of the memory says already.

    What an item says is decided by its lines first: it must rest on a line that the candidate rests on. Then by
    its words; then each item that no candidate's words agreed with takes one candidate of its type, worded however.

    Args:
        filed: the candidates, with the documents that their entries name.
        items: document path and item, of every item in the memory, whatever its status.
        is_reread: whether a candidate comes of an entry that was read before.
    """
    existing = [item for _, item in items]
    near = {at: _on_same_lines(one.candidate, existing) for at, one in enumerate(filed) if is_reread(one.candidate)}
    said: dict[int, Item] = {}
    for at, found in near.items():
        if same := next((item for item in found if _agrees(filed[at].candidate, item)), None):
            said[at] = same
    spoken_for = {item.id for item in said.values()}
    for at, found in near.items():
        left = (item for item in found if item.type is filed[at].candidate.type and item.id not in spoken_for)
        if at not in said and (item := next(left, None)):
            said[at] = item
            spoken_for.add(item.id)
    why = "what was read again stands already"
    verdicts = [
        Verdict(VerdictKind.DUPLICATE, filed[at].candidate, filed[at].document, item.id, why)
        for at, item in sorted(said.items(), key=lambda row: row[0])
    ]
    return [one for at, one in enumerate(filed) if at not in said], verdicts


def without_recounts(verdicts: Iterable[Verdict], is_reread: Callable[[Candidate], bool]) -> list[Verdict]:
    """Return the verdicts without those by which an item would count a line twice that was read before."""
    return [
        verdict
        for verdict in verdicts
        if not (verdict.kind is VerdictKind.DUPLICATE and verdict.known and is_reread(verdict.candidate))
    ]


def _on_same_lines(candidate: Candidate, items: Iterable[Item]) -> list[Item]:
    """Return the items that rest on a line on which a candidate rests; evidence is found by its hash in the entry."""
    entry, found = candidate.entry, []
    lines = entry.text.split("\n")
    for item in items:
        for evidence in (one for one in item.evidence if one.path == entry.path):
            height = evidence.end_line - evidence.start_line + 1
            for at in range(len(lines) - height + 1):
                first, last = entry.start_line + at, entry.start_line + at + height - 1
                if first <= candidate.end_line and candidate.start_line <= last:
                    digest = quote_digest("\n".join(lines[at : at + height]))
                    found += [item] if digest[: len(evidence.digest)] == evidence.digest else []
    return found


def _agrees(candidate: Candidate, item: Item) -> bool:
    if folded(candidate.text) == folded(item.text):
        return True
    one, other = content_words(candidate.text), content_words(item.text)
    shorter = min(len(one), len(other))
    return candidate.type is item.type and shorter > 0 and len(one & other) >= AGREES * shorter
