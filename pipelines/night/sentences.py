"""The sentences that runs write: the State of a page, and the episodes of days, each citing its items.

A State is up to five sentences at the top of a page that sum up where things are. Only pages with more than ten active
items, or with a closed one, have a State. A sentence by a model stays while the items it cites are unchanged. Code adds
what is missing of the last decision, the next steps and the open risks, in the items' own words and with the day on
which they were last said: what prose changed since, only a model reads. So State is right after every change by hand,
too.

An episode is one to four sentences on what happened on a day; there is one page a month. A day gets its episode on the
night that reads it, and a new one when a late line arrives. Who reads the day writes it: a model, from the lines of the
log, or code, in the items' own words. An episode is never evidence. It keeps items that were superseded later, since
they held on that day. Items that never held, or were forgotten, leave it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from datetime import date
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from pipelines.store.change_set import items_by_id
from pipelines.store.document import STATE_TITLE, Document, Documents, document_at, kept_with_document
from pipelines.store.generated import (
    Sentence,
    can_stand,
    digest,
    is_citable,
    is_vetoed,
    sentences_under,
    still_rests,
    with_sentences,
    words_of,
)
from pipelines.store.item import ACTIVE, CLOSED, UNSURE, Item, ItemType, Status
from pipelines.store.layout import Kind, day_of_log, episode_path
from pipelines.store.priority import priority
from pipelines.text import ARROW, clipped

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence

    from pipelines.extract.extraction import Told


MOST_SENTENCES = 5
SPEAKS_FOR_ITSELF = 10
"""A page with at most this many active items, and no closed one, needs no State."""
_LENGTH = 160
MOST_NAMED = 3
_KINDS = frozenset({Kind.PROJECT, Kind.AREA})
ENDED = {
    Status.ANSWERED: "Answered", Status.DONE: "Done", Status.RESOLVED: "Resolved", Status.OCCURRED: "Occurred",
    Status.DROPPED: "Dropped", Status.ENDED: "No longer",
}  # fmt: skip
"""How the log tells of an end."""
OVER = ENDED.keys() - {Status.ENDED}


def has_state(document: Document) -> bool:
    """Return whether a page should have a State."""
    if document.kind not in _KINDS:
        return False
    items = [item for _, item in document.held.values()]
    return sum(one.active for one in items) > SPEAKS_FOR_ITSELF or any(one.status in CLOSED | OVER for one in items)


@kept_with_document
def citable_items(document: Document) -> tuple[Item, ...]:
    """Return the items that a page's State may cite, most important first.

    The last decision, the next step and the first risk come first, then all other active items, then the last to end.
    """
    items = [item for _, item in document.held.values() if is_citable(item)]
    holding = [one for one in items if one.status in ACTIVE and not one.doubted]
    first = [item for title, some in _parts(holding).items() if title != _GOAL for item in some[:1]]
    over = sorted((one for one in items if one.status in OVER), key=lambda one: one.until, reverse=True)
    return (*first, *(one for one in holding if one not in first), *over[:SPEAKS_FOR_ITSELF])


@lru_cache(maxsize=256)
def with_state(document: Document, vetoed: frozenset[str]) -> Document:
    """Return the document with its State: the model's sentences that still hold, and code's own for what is missing.

    What a person vetoed is left out.

    Cached: one run asks several times, and most pages have not changed.
    """
    if not has_state(document):
        is_told = document.told and document.kind in _KINDS
        return with_sentences(document, {STATE_TITLE: []}) if is_told else document
    items = {one.id: one for one in citable_items(document)}
    there = [one for _, one in sentences_under(document, STATE_TITLE)]
    told = [one for one in there if one.ids and still_rests(one, items, with_status=True)][:MOST_SENTENCES]
    parts = _parts([item for ident, (_, item) in document.held.items() if ident in items and item.status in ACTIVE])
    parts |= {_GOAL: []} if told else {}
    for title, some in parts.items():
        parts[title] = [one for one in some if not is_vetoed(STATE_TITLE, "", [one], vetoed)]
    while True:  # as many of the model's stay as leave room for the parts
        cited = {ident for one in told for ident in one.ids}
        missing = {title: some[:MOST_NAMED] for title, some in parts.items() if some and some[0].id not in cited}
        if len(told) + len(missing) <= MOST_SENTENCES:
            break
        told.pop()
    for title, named in missing.items():
        days = sorted({day for one in named if (day := one.confirmed or one.learnt)})
        said = " to ".join(dict.fromkeys([*days[:1], *days[-1:]]))
        dated = f"{title} ({said})" if said and title != _GOAL else title
        told.append(Sentence(joined(map(with_due, named), dated), tuple(one.id for one in named)))
    return with_sentences(document, {STATE_TITLE: told})


_GOAL = "Goal"


def _parts(items: Sequence[Item]) -> dict[str, list[Item]]:
    """Return the parts of a State by title, each with its items, most important first."""
    latest = sorted(items, key=lambda one: (one.learnt, one.confirmed))[::-1]  # of a day, the last first
    plain = [one for one in latest if not one.page_section]
    decided = [one for one in (*plain, *latest) if one.type is ItemType.DECISION and not one.unsure]
    goals = [one for one in items if one.page_section == "goals"]
    return {
        _GOAL: [one for one in goals if one.type is not ItemType.DECISION][-1:],
        "Last decision": [one for one in decided if one.page_section in {"", "goals"}][:1],
        "Next": next_steps(items),
        "At risk": [one for one in plain if one.type is ItemType.RISK],
    }


def next_steps(items: Iterable[Item]) -> list[Item]:
    """Return the open todos: those with a due date by it, then the others, the last one mentioned first."""
    todos = (one for one in items if one.type is ItemType.TODO and not (one.quiet or one.perhaps))
    latest = sorted(todos, key=lambda one: one.confirmed or one.learnt, reverse=True)
    return sorted(latest, key=lambda one: one.due or "9")


def has_passed(item: Item, today: str) -> bool:
    """Whether an item tells of an appointment whose day is over, and nobody has told how it went."""
    return item.active and "" < item.on < today


def with_due(item: Item) -> str:
    """Return a todo's text with its due date, without a full stop."""
    due = f" (due {item.due})" if item.due and item.due not in item.text else ""
    return f"{shortened(item)}{due}"


def shortened(item: Item) -> str:
    """Return an item's text for a generated sentence: cut to fit, without full stop, and whether it is unsure."""
    return clipped(words_of(item.text), _LENGTH).rstrip(".") + item.unsure


def joined(texts: Iterable[str], title: str = "") -> str:
    """Return texts as one sentence, after a title unless it begins with those words."""
    whole = "; ".join(texts)
    whole = whole if whole.casefold().startswith(title.casefold()) else f"{title}: {whole}"
    return whole if whole.endswith(("?", "!", "…")) else f"{whole}."


# ---------------------------------------- episodes


_MOST_OF_A_DAY = 4
_TITLES = {
    ItemType.DECISION: "Decided", ItemType.RULE: "From now on", ItemType.FACT: "Learnt", ItemType.TODO: "To do",
    ItemType.RISK: "At risk",
}  # fmt: skip
_NUMBERS = re.compile(r"\d{1,9}")
_CHANGED = "Changed"
_ORDER = (_CHANGED, "Decided", *ENDED.values(), *_TITLES.values(), "Asked")
"""What changed is told first, then what was decided, and of a full day the rest not at all."""


def items_of_days(documents: Documents, days: Collection[str]) -> dict[str, list[Item]]:
    """Return day → the items that it brought or ended and an episode may cite.

    They are in the order of the log; what a person put in place of another item comes before it.
    """
    found: dict[str, list[Item]] = defaultdict(list)
    items = [item for _, item in items_by_id(documents).values()]
    former = former_of(items)
    for item in items:
        is_own_correction = item.status is Status.SUPERSEDED and item.until == item.learnt
        if is_citable(item) and (item.evidence or item.id in former) and not is_own_correction:
            for day in {item.learnt, item.until if item.status in ENDED else ""}.intersection(days):
                found[day].append(item)
    for some in found.values():
        some.sort(key=lambda one: (one.learnt, [(at.path, at.start_line) for at in one.evidence[:1]], one.id))
    return found


def former_of(items: Iterable[Item]) -> dict[str, Item]:
    """Return id → the item of an earlier day that the item with this id replaced."""
    return {one.superseded_by: one for one in items if one.superseded_by and one.until > one.learnt and is_citable(one)}


def told_sentences(documents: Documents, day: str, told: Iterable[Told]) -> list[Sentence]:
    """Return what a model told of a day as sentences: each with its lines, citing the items that rest on them.

    Links and HTML are disabled, and what would be a heading, a list or a comment is left out.

    Args:
        documents: every document by path.
        day: the day.
        told: each text, with the lines of the log that it rests on.
    """
    from pipelines.review.trust import made_inert  # noqa: PLC0415  the start of a session needs no reader of logs

    items, found = items_of_days(documents, {day}).get(day, []), []
    for one in told:
        if can_stand(text := made_inert(one.text)):
            cited = [item for item in items if any(place.meets(at) for at in item.evidence for place in one.places)]
            lines = ",".join(f"{place.start_line}-{place.end_line}" for place in one.places)
            ids = tuple(item.id for item in cited)
            found.append(Sentence(text, ids, digest(cited, with_status=False), lines=lines))
    return found


def with_episodes(
    documents: Documents,
    vetoed: frozenset[str],
    closed: Container[str],
    written: Mapping[str, Sequence[Sentence]] = MappingProxyType({}),
) -> Documents:
    """Return the documents with episodes that tell of exactly what their days brought, as it is now.

    Sentences go whose items are gone, changed, or never held. Code tells of items that came later, such as those that a
    person approved.

    Args:
        documents: every document by path.
        vetoed: what people deleted from the generated sentences.
        closed: files that exist but cannot be read; no episode is put into them.
        written: day → a model's verified sentences; code adds what they leave out.
    """
    after, places = dict(documents), items_by_id(documents).values()
    known = {item.id: item for _, item in places if is_citable(item)}
    logs = {place.path for _, item in places for place in item.evidence}
    days = {day for day in (*map(day_of_log, logs), *written) if day and episode_path(day) not in closed}
    homes = {day: episode_path(day) for day in days}
    for page in (one for one in documents.values() if one.kind is Kind.EPISODE):
        homes |= {one.title: page.path for one in page.headings if one.level > 1 and sentences_under(page, one.title)}
    items, former = items_of_days(documents, homes) if homes else {}, former_of(known.values())
    for day, path in sorted(homes.items()):
        page = after.get(path) or document_at(path, f"# {date.fromisoformat(day):%B %Y}\n")
        new = written.get(day, ())
        read = [pair for one in new for pair in rests_on(one)]
        was = [one for _, one in sentences_under(page, day) if not one.by_code]
        was = [one for one in was if not any(a <= d and c <= b for a, b in rests_on(one) for c, d in read)]
        kept = [one for one in (*was, *new) if still_rests(one, known, with_status=False)]
        sentences = completed(kept, items.get(day, ()), day, vetoed, former)
        if sentences or path in after:
            there = sorted({day, *(heading.title for heading in page.headings if heading.level > 1)})
            after[path] = with_sentences(page, {day: sentences}, tuple(there))
    return after


def rests_on(sentence: Sentence) -> list[tuple[int, int]]:
    """Return the first and last line of each place in the log that a sentence rests on."""
    pairs = [list(map(int, _NUMBERS.findall(part))) for part in sentence.lines.split(",")]
    return [(pair[0], pair[-1]) for pair in pairs if pair]


def completed(
    kept: Sequence[Sentence], items: Sequence[Item], day: str, vetoed: frozenset[str], former: Mapping[str, Item]
) -> list[Sentence]:
    """Return the sentences, with code's own for the items of the day that these do not cite.

    There are four at most, with what is most worth telling; the last one rests on what is left out, too. What people
    deleted or reworded stays out. An item that replaced one of an earlier day is told beside that (`former`), and the
    answer to a question in its place. To what a model told of the day, code adds only what the rules had read before.
    """
    kept = [one for one in kept if not is_vetoed(day, one.text, (), vetoed)][:_MOST_OF_A_DAY]
    by_model = any(one.of and one.lines and not one.by_code for one in kept)
    groups: dict[str, list[Item]] = defaultdict(list)
    cited = {ident for one in kept for ident in one.ids}
    for item in items:
        ended = ENDED.get(item.status, "") if item.until == day else ""
        is_due = item.learnt == day or ended
        if not is_due or item.id in cited or (by_model and not item.by.startswith("rules@")):
            continue
        if item.confidence not in UNSURE and not is_vetoed(day, "", (item,), vetoed):
            asked = "Asked" if item.page_section == "questions" else ""
            changed = _CHANGED if item.id in former and item.learnt == day else ""
            groups[ended or changed or asked or _TITLES[item.type]].append(item)
    answers = [one for one in groups["Learnt"] if ARROW in one.text]
    answered = {one.id: answer for one in groups["Answered"] for answer in answers if answer.text.startswith(one.text)}
    groups["Learnt"] = [one for one in groups["Learnt"] if one not in answered.values()]
    ordered = [(title, groups[title]) for title in dict.fromkeys(_ORDER) if groups[title]]
    room = _MOST_OF_A_DAY - len(kept)
    for at, (title, some) in enumerate(ordered[:room], 1):
        named = sorted(some, key=lambda one: -priority(one, one.learnt))[:MOST_NAMED]
        told = [shortened(answered.get(one.id, one)) for one in named]
        if title == _CHANGED:
            told = [f"{words} (before: {shortened(former[one.id])})" for words, one in zip(told, named, strict=True)]
        rests = [*some, *(item for _, left in ordered[room:] for item in left if at == room)]
        rests += [other for one in some for other in (answered.get(one.id), former.get(one.id)) if other]
        text, ids = joined(told, title), tuple(one.id for one in rests)
        kept.append(Sentence(text, ids, digest(rests, with_status=False), by_code=True))
    return kept


def episodes_in(documents: Documents) -> Iterator[tuple[str, list[str]]]:
    """Yield each day that has an episode, in order, with the episode's lines, a person's included."""
    for path in sorted(path for path, one in documents.items() if one.kind is Kind.EPISODE):
        page = documents[path]
        stops = [*(heading.line for heading in page.headings[1:]), len(page.lines)]
        for heading, stop in sorted(zip(page.headings, stops, strict=False), key=lambda pair: pair[0].title):
            if heading.level > 1:
                yield heading.title, [line.rstrip() for line in page.lines[heading.line + 1 : stop] if line.strip()]
