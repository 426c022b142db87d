"""Pairs that may conflict: the newer item has a link to the older one, and the start of a session shows both.

If no session asks for its start, a question in Review.md takes the link's place. At most three pairs wait at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pipelines.night.quiet import ids_asked
from pipelines.review.item_links import without_link
from pipelines.review.match_forms import replaced_in
from pipelines.review.near_pairs import UNSETTLED_DAYS
from pipelines.review.questions import as_queue_text
from pipelines.store.document import edited
from pipelines.store.item import MAY_CONFLICT
from pipelines.store.layout import REVIEW
from pipelines.store.review_queue import read_queue, with_entry, without_answered

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pipelines.store.document import Document


PAIR: Final = "pair"
"""The kind of entry in Review.md that asks about two items that may conflict."""
_TITLE = 60
MOST_UNSETTLED: Final = 3
_PAIR_CHOICES = (
    "keep new: it is true from its day on, and the old one becomes history",
    "keep old: it stays true, and the new one never was",
    "neither: both were false",
    "keep both: both are true",
)


def with_unsettled_pairs(
    documents: Mapping[str, Document], days: Sequence[str], today: str, *, to_person: bool
) -> dict[str, Document]:
    """Return the documents with at most three pairs that may conflict, none of which has waited for a week of work.

    Pairs of which one names the other's value beside a new one are never too many.

    Args:
        documents: every document by path.
        days: the days with logs, in order.
        today: the memory's day.
        to_person: whether Review.md asks about them, since no agent sees the start of a session.
    """
    after, first = dict(documents), (days[-UNSETTLED_DAYS:] or [""])[0]
    held = {p.item.id: (path, p.item) for path, one in after.items() for p in one.items if p.item.active}
    waiting = [entry for entry in read_queue(after.get(REVIEW)) if entry.kind == PAIR]
    moot = [(entry, ()) for entry in waiting if not held.keys() >= set(ids_asked(entry.why))]
    if moot:
        after[REVIEW] = without_answered(after[REVIEW], moot)
    room = MOST_UNSETTLED - (len(waiting) - len(moot) if to_person else 0)
    linked = [(path, one) for path, one in held.values() if one.links and MAY_CONFLICT in dict(one.links)]
    for path, one in sorted(linked, key=lambda pair: (pair[1].learnt, pair[1].id), reverse=True):
        _, old = held.get(dict(one.links)[MAY_CONFLICT][0], ("", None))
        waits = old is not None and one.learnt >= first and (room > 0 or bool(replaced_in(one.text, [old])))
        room -= waits
        if not waits or to_person:
            after[path] = edited(after[path], replace={one.id: without_link(one, MAY_CONFLICT)})
        if waits and to_person:
            rows = [f"- {each.id} since {each.since or '?'}: {as_queue_text(each.text)}" for each in (one, old) if each]
            why = "\n".join(["These may conflict. Nobody has said which of them holds.", "", *rows])
            after = with_entry(after, PAIR, today, f"{PAIR}: {as_queue_text(one.text, _TITLE)}", why, _PAIR_CHOICES)
    return after
