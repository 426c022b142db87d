"""Episodes: one to four generated sentences on what happened on each day, citing items; one page a month.

A day gets its episode on the night that reads it, and a new one when a late line arrives. Who reads the day writes it:
a model, from the lines of the log, or code, in the items' own words. An episode is never evidence. It keeps items that
were superseded later, since they held on that day. Items that never held, or were forgotten, leave it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from datetime import date
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from pipelines.night.states import MOST_NAMED, joined, shortened, titled
from pipelines.store.change_set import items_by_id
from pipelines.store.document import Document, document_at, numbered
from pipelines.store.generated import (
    Sentence,
    can_stand,
    digest,
    is_citable,
    is_vetoed,
    sentences_under,
    still_rests,
    with_sentences,
)
from pipelines.store.item import UNSURE, Item, ItemType, Status
from pipelines.store.layout import Kind, day_of_log, episode_path
from pipelines.store.priority import priority

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

    from pipelines.extract.extraction import Place


MOST_SENTENCES: Final = 4
_ENDED = {
    Status.DONE: "Done", Status.RESOLVED: "Resolved", Status.OCCURRED: "Occurred", Status.ANSWERED: "Answered",
    Status.DROPPED: "Dropped", Status.ENDED: "No longer",
}  # fmt: skip
_TITLES = {
    ItemType.DECISION: "Decided", ItemType.RULE: "From now on", ItemType.FACT: "Learnt", ItemType.TODO: "To do",
    ItemType.RISK: "At risk",
}  # fmt: skip
_NUMBERS = re.compile(r"\d{1,9}")
_ORDER = ("Decided", *_ENDED.values(), *_TITLES.values(), "Asked")
"""What was decided is told first, and of a full day the rest not at all."""


def items_of_days(documents: Mapping[str, Document], days: Container[str]) -> dict[str, list[tuple[str, Item]]]:
    """Return day → document path and item, for the items that each day brought or ended and an episode may cite.

    They are in the order of the log.
    """
    found: dict[str, list[tuple[str, Item]]] = defaultdict(list)
    for document, placed in numbered(documents.values()):
        item = placed.item
        if item.status is Status.SUPERSEDED and item.until == item.learnt:  # the day itself corrected it
            continue
        if (item.learnt in days or item.until in days) and item.evidence and is_citable(item):
            for day in {item.learnt, item.until if item.status in _ENDED else ""}:
                if day in days:
                    found[day].append((document.path, item))
    for items in found.values():
        items.sort(key=lambda one: (one[1].learnt, one[1].evidence[0].path, one[1].evidence[0].start_line, one[1].id))
    return found


def told_sentences(
    documents: Mapping[str, Document], day: str, told: Iterable[tuple[str, Sequence[Place]]]
) -> list[Sentence]:
    """Return what a model told of a day as sentences: each with its lines, citing the items that rest on them.

    Links and HTML are disabled, and what would be a heading, a list or a comment is left out.

    Args:
        documents: every document by path.
        day: the day.
        told: each text, with the lines of the log that it rests on.
    """
    from pipelines.review.trust import made_inert  # noqa: PLC0415  the start of a session needs no reader of logs

    items = [item for _, item in items_of_days(documents, {day}).get(day, ())]
    found = []
    for said, places in told:
        if not can_stand(text := made_inert(said)):
            continue
        cited = [one for one in items if any(place.meets(found) for found in one.evidence for place in places)]
        lines = ",".join(f"{place.start_line}-{place.end_line}" for place in places)
        found.append(Sentence(text, tuple(one.id for one in cited), digest(cited, with_status=False), lines=lines))
    return found


def with_episodes(
    documents: Mapping[str, Document],
    vetoed: frozenset[str],
    closed: Container[str] = (),
    written: Mapping[str, Sequence[Sentence]] = MappingProxyType({}),
) -> dict[str, Document]:
    """Return the documents with episodes that tell of exactly what their days brought, as it is now.

    Sentences go whose items are gone, changed, or never held. Code tells of items that came later, such as those that a
    person approved.

    Args:
        documents: every document by path.
        vetoed: what people deleted from the generated sentences.
        closed: files that exist but cannot be read; no episode is put into them.
        written: day → a model's verified sentences; code adds what they leave out.
    """
    after = dict(documents)
    known = {ident: item for ident, (_, item) in items_by_id(documents).items() if is_citable(item)}
    pages = [one for one in documents.values() if one.kind is Kind.EPISODE]
    homes = {day: page.path for page in pages for day, _, _ in _days_on(page) if sentences_under(page, day)}
    logs = {place.path for _, placed in numbered(documents.values()) for place in placed.item.evidence}
    days = {day for day in (*map(day_of_log, logs), *written) if day and episode_path(day) not in closed}
    homes = {day: episode_path(day) for day in days} | homes
    items = items_of_days(documents, homes) if homes else {}
    for day, path in sorted(homes.items()):
        page = after.get(path) or document_at(path, f"# {date.fromisoformat(day):%B %Y}\n")
        new = written.get(day, ())
        read = [pair for one in new for pair in rests_on(one)]
        was = [one for _, one in sentences_under(page, day) if not one.by_code]
        was = [one for one in was if not any(a <= d and c <= b for a, b in rests_on(one) for c, d in read)]
        kept = [one for one in (*was, *new) if still_rests(one, known, with_status=False)]
        sentences = completed(kept, [item for _, item in items.get(day, ())], day, vetoed)
        if sentences or path in after:
            there = sorted({day, *(heading.title for heading in page.headings if heading.level > 1)})
            after[path] = with_sentences(page, {day: sentences}, tuple(there))
    return after


def rests_on(sentence: Sentence) -> list[tuple[int, int]]:
    """Return the first and last line of each place in the log that a sentence rests on."""
    pairs = [list(map(int, _NUMBERS.findall(part))) for part in sentence.lines.split(",")]
    return [(pair[0], pair[-1]) for pair in pairs if pair]


def completed(kept: Sequence[Sentence], items: Sequence[Item], day: str, vetoed: frozenset[str]) -> list[Sentence]:
    """Return the sentences, with code's own for the items of the day that these do not cite.

    There are four at most, with what is most worth telling; the last one rests on what is left out, too. What people
    deleted or reworded stays out. To what a model told of the day, code adds only what the rules had read before.
    """
    kept = [one for one in kept if not is_vetoed(day, one.text, (), vetoed)][:MOST_SENTENCES]
    if any(one.of and one.lines and not one.by_code for one in kept):
        items = [one for one in items if one.by.startswith("rules@")]
    items = [item for item in items if item.confidence not in UNSURE and not is_vetoed(day, "", (item,), vetoed)]
    groups: dict[str, list[Item]] = defaultdict(list)
    cited = {ident for one in kept for ident in one.ids}
    for item in items:
        if item.id not in cited:
            ended = _ENDED.get(item.status, "") if item.until == day else ""
            asked = "Asked" if item.page_section == "questions" else ""
            groups[ended or asked or _TITLES[item.type]].append(item)
    ordered = [(title, groups[title]) for title in dict.fromkeys(_ORDER) if title in groups]
    room = MOST_SENTENCES - len(kept)
    for at, (title, some) in enumerate(ordered[:room], 1):
        named = sorted(some, key=lambda one: -priority(one, one.learnt))[:MOST_NAMED]
        text = titled(title, joined(map(shortened, named)))
        rests = [*some, *(item for _, left in ordered[room:] for item in left if at == room)]
        ids = tuple(one.id for one in rests)
        kept.append(Sentence(text, ids, digest(rests, with_status=False), by_code=True))
    return kept


def episodes_in(documents: Mapping[str, Document]) -> Iterator[tuple[str, list[str]]]:
    """Yield each day that has an episode, in order, with the episode's lines, a person's included."""
    for path in sorted(path for path, one in documents.items() if one.kind is Kind.EPISODE):
        page = documents[path]
        for day, start, stop in sorted(_days_on(page)):
            yield day, [line.rstrip() for line in page.lines[start:stop] if line.strip()]


def _days_on(page: Document) -> Iterator[tuple[str, int, int]]:
    """Yield each day of a page, the line after its heading (from 0), and the line where the next one begins."""
    stops = [*(heading.line for heading in page.headings[1:]), len(page.lines)]
    for heading, stop in zip(page.headings, stops, strict=False):
        if heading.level > 1:
            yield heading.title, heading.line + 1, stop
