"""The labelled lines that a model's reply leaves out: labels are read by code, whoever else reads."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from pipelines.extract.rules.label_reader import LOOSE, TICK_BOX, LabelReader
from pipelines.extract.rules.labels import section_type
from pipelines.extract.rules.rules_extractor import once_each
from pipelines.store.item import Confidence
from pipelines.store.wording import folded, task_note
from pipelines.text import fold

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from pipelines.extract.extraction import Candidate, Extraction, ExtractionRequest, Place


_HALF = 0.5


def passed_over(reader: LabelReader, request: ExtractionRequest, reply: Extraction) -> list[Candidate]:
    """Return what labels say for sure in a day and a reply does not cover, as the rules would add it.

    A reply covers a label if its evidence has the label's lines; of several labels there, those that it quotes or
    says. It also covers one that says half of what an item says which it has seen, changed or ended; on a list of what
    is open, one of whose words such an item has half; and what stands under a heading of which it took other lines. A
    tick box is left to a reader that says anything of the day, since most are steps of a plan, unless it has a due day
    or stands on a list of what is open. A label that is no type's own name is left to one that took other lines under
    its heading, unless that is the log's title. Closing forms are read apart, but may be what a reply means.

    Args:
        reader: it has read the day's entries.
        request: what was asked.
        reply: what came back.
    """
    listed = [place for one in reply.open_lists for place in one.places]
    is_silent = not (reply.candidates or reply.operations or reply.seen)
    labelled = [
        one
        for one in once_each(reader.found)
        if one.confidence is Confidence.HIGH
        if one.reason != TICK_BOX or one.due or is_silent or _is_on(one, listed)
    ]
    if not labelled:
        return []
    spots = [*(one.places[0] for one in labelled), *(form.place for form in reader.forms)]
    covered: set[int] = set()
    evidence = [(place, one.text) for one in reply.candidates for place in one.places]
    evidence += [(place, one.text) for one in reply.operations for place in one.places]
    for place, text in evidence:
        covered |= _meant(place, text, spots, covered)
    judged = {place.entry.headings for place, _ in evidence if place.entry.headings}
    has_title = len({one.headings[:1] for one in request.entries}) == 1
    titles = {fold(title) for headings in judged for title in headings}
    known = {(one.type, folded(one.text)) for one in reply.candidates}
    meant = (*reply.seen, *(ident for one in reply.operations for ident in one.ids))
    seen = [_words(text) for text in request.nearby.texts(meant)] if request.nearby else []
    return [
        one
        for at, one in enumerate(labelled)
        if at not in covered and (one.type, folded(one.text)) not in known and not _is_seen(one, seen, listed)
        if one.reason != "section" or one.entry.headings not in judged or not section_type(one.entry.headings[-1])
        if one.reason != LOOSE or one.entry.headings not in judged or (has_title and not one.entry.headings[1:])
        if fold(one.places[0].lines[0].strip("# ")) not in titles
    ]


def _is_seen(one: Candidate, seen: Sequence[Counter[str]], listed: Sequence[Place]) -> bool:
    said = _words(task_note(one.text)[0])
    own = said.total() if _is_on(one, listed) else 0
    return any((said & other).total() > (own or max(said.total(), other.total())) * _HALF for other in seen)


def _is_on(one: Candidate, listed: Sequence[Place]) -> bool:
    return any(place.meets(one.places[0]) for place in listed)


def _meant(place: Place, text: str, spots: Sequence[Place], covered: Container[int]) -> set[int]:
    """Return which of the labels at a reply's evidence its quote and text mean: at least one, if there is any."""
    near = [at for at, spot in enumerate(spots) if place.meets(spot)]
    if len(near) <= 1:
        return set(near)
    said = _words(text)
    bags = {at: _words(spots[at].quote) for at in near}
    shares = {at: (bag & said).total() / max(1, (bag + said).total()) for at, bag in bags.items()}
    best = max(near, key=lambda at: (shares[at], at not in covered, -at))
    return {best} | {at for at in near if (bags[at] & said).total() > bags[at].total() * _HALF}


def _words(text: str) -> Counter[str]:
    return Counter(folded(text).split())
