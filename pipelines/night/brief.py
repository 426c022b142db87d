"""Brief: where pages stand and what happened on the days, written by a model where one reads, and checked by code.

A page is asked about when what stands on it changed tonight; a day when its log was read, or when it has no episode
yet and is of the last week. Each sentence must cite items of its page or day, hold no number, date or name that these
lack, and no other sense: a second reader is asked. What fails is dropped, and code writes what is missing.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import TYPE_CHECKING, Final

from pipelines.extract.claims import Claim, Verdict, Verified, operation_text, verify_twice
from pipelines.extract.extraction import OperationKind, Place, shown_text
from pipelines.extract.grounding import ungrounded
from pipelines.night.choose_document import Catalog, document_choices
from pipelines.night.episodes import closed_day, items_of_days, told_days, with_episodes
from pipelines.night.states import has_state, told_items
from pipelines.store.document import ORDER, STATE_TITLE
from pipelines.store.generated import Sentence, can_stand, digest, with_sentences
from pipelines.store.item import ACTIVE, Status, folded, render_item
from pipelines.store.layout import day_of_log, episode_path
from pipelines.store.log import Entry, parse_entries
from pipelines.store.secrets import veil
from pipelines.usage import Tally

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from pipelines.extract.claims import Verifier
    from pipelines.extract.llm.model_briefer import Briefed, ModelBriefer, Proposed
    from pipelines.night.episodes import ClosedDay
    from pipelines.store.document import Document
    from pipelines.store.item import Item


_LONGEST: Final = 400
_WEEK: Final = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Brief:
    """The documents with their states and episodes.

    Args:
        documents: every document by path.
        counts: how many sentences a model wrote (`sentences`), and how many of them were dropped (`dropped`).
        tally: what the calls came to.
        failure: why sentences of a model are missing, or empty.
    """

    documents: Mapping[str, Document]
    counts: Counter[str] = field(default_factory=Counter)
    tally: Tally = field(default_factory=Tally)
    failure: str = ""


@dataclass(frozen=True, slots=True)
class _Asked:
    """A page or a day that is asked about: its name in the request, its title, and the items it may rest on."""

    name: str
    title: str
    items: Mapping[str, Item]
    row: Mapping[str, object]


def brief(  # noqa: PLR0913  what a night knows
    documents: Mapping[str, Document],
    before: Mapping[str, Document],
    logs: Mapping[str, bytes],
    read: Collection[str],
    pending: Collection[str],
    today: str,
    *,
    closed: Collection[str] = (),
    writer: ModelBriefer | None,
    verifier: Verifier | None,
) -> Brief:
    """Return the documents with State and episodes written.

    Args:
        documents: every document by path, as the night leaves them.
        before: the same as it found them.
        logs: path → bytes of each log, as it will be.
        read: the days whose logs were read tonight.
        pending: the days that nobody could read yet.
        today: the memory's day.
        closed: files that are there and cannot be read; nothing is written over them.
        writer: the models that write, or None where code does.
        verifier: who is asked whether the items say it, or None.
    """
    there = {path: data for path, data in logs.items() if (day := day_of_log(path)) <= today and day not in pending}
    days, recent = _days_to_tell(documents, there, read, today)
    days = [one for one in days if episode_path(one.day) not in closed]
    if writer is None or verifier is None:
        return Brief(with_episodes(documents, days, {}))
    names = {one.document: one.id for one in document_choices(Catalog(documents))}
    changed = [path for path, one in documents.items() if has_state(one) and _news(one, before.get(path))]
    pages = {path: _page(documents[path], names.get(documents[path].id, "")) for path in sorted(changed)}
    items = items_of_days(documents, {one.day for one in days})
    told = {one.day: _day(one, items.get(one.day, ()), names) for one in days if one.day in recent}
    told = {day: one for day, one in told.items() if one.items}
    if not pages and not told:
        return Brief(with_episodes(documents, days, {}))
    written = writer.write([one.row for one in pages.values()], [one.row for one in told.values()])
    states, episodes, counts, verified = _checked(written, pages, told, verifier)
    tally = Tally(cost=written.tally.cost)
    tally.add(written.tally)
    tally.add(verified.tally)
    failure = " ".join(dict.fromkeys(filter(None, (written.failure, verified.failure))))
    after = dict(documents)
    for path, sentences in states.items():
        after[path] = with_sentences(after[path], {STATE_TITLE: sentences}, ORDER)
    return Brief(with_episodes(after, days, episodes), counts, tally, failure)


def _days_to_tell(
    documents: Mapping[str, Document], logs: Mapping[str, bytes], read: Collection[str], today: str
) -> tuple[list[ClosedDay], set[str]]:
    """Return the days that are to be told anew, in order, and those of them about which a model is asked."""
    told, week = told_days(documents), (date.fromisoformat(today) - _WEEK).isoformat()
    paths: dict[str, list[str]] = {}
    for path in logs:
        day = day_of_log(path)
        if day in read or day not in told:
            paths.setdefault(day, []).append(path)
    days = []
    for day, mine in sorted(paths.items()):
        entries = [one for path in mine for one in parse_entries(path, day, logs[path].decode(errors="replace"))]
        if entries:
            days.append(closed_day(day, entries))
    return days, {one.day for one in days if one.day in read or one.day >= week}


def _news(page: Document, before: Document | None) -> bool:
    """Whether an item of a page is new, gone, or another than it was."""
    old, new = ({render_item(p.item) for p in one.items if p.item.id} if one else set() for one in (before, page))
    return old != new


def _page(document: Document, name: str) -> _Asked:
    items = {one.id: one for one in told_items(document)}
    rows = [
        {"id": one.id, "type": one.type.value, "text": shown_text(one.text), "status": one.status.value,
         "section": one.page_section, "since": one.since, "due": one.due}
        for one in items.values()
    ]  # fmt: skip
    name = name or document.id
    row = {"id": name, "title": document.title, "kind": document.kind.value, "items": rows}
    return _Asked(name, document.title, items, row)


def _day(day: ClosedDay, items: Sequence[tuple[str, Item]], names: Mapping[str, str]) -> _Asked:
    def name_of(path: str) -> str:
        ident = path.removesuffix(".md")
        return names.get(ident, ident)

    rows = [
        {"id": one.id, "type": one.type.value, "text": shown_text(one.text), "status": one.status.value,
         "document": name_of(path)}
        for path, one in items
    ]  # fmt: skip
    row = {"day": day.day, "headings": [*day.headings], "sessions": [*day.sessions], "items": rows}
    return _Asked(day.day, "", {one.id: one for _, one in items}, row)


def _checked(
    written: Briefed, pages: Mapping[str, _Asked], days: Mapping[str, _Asked], verifier: Verifier
) -> tuple[dict[str, list[Sentence]], dict[str, list[Sentence]], Counter[str], Verified]:
    """Return what of a model's sentences is supported, by page and by day, the counts, and what the verifier said."""
    proposed = [(key, one, said) for key, one in pages.items() for said in written.states.get(one.name, ())]
    proposed += [(key, one, said) for key, one in days.items() for said in written.episodes.get(one.name, ())]
    sound = [(key, asked, said) for key, asked, said in proposed if is_sound(said, asked.items, asked.title)]
    doubtful = [number for number, (_, asked, said) in enumerate(sound) if not _is_verbatim(said, asked.items)]
    claims = [
        Claim("sentence", sound[number][2][0], _quotes(sound[number][2], sound[number][1].items)) for number in doubtful
    ]
    verified = verify_twice(verifier, claims) if claims else Verified()
    verdicts = dict(zip(doubtful, verified.verdicts, strict=True))
    found: dict[str, list[Sentence]] = {}
    for number, (key, asked, (text, ids)) in enumerate(sound):
        if verdicts.get(number, Verdict.SUPPORTED) is Verdict.SUPPORTED:
            cited = [asked.items[ident] for ident in ids]
            found.setdefault(key, []).append(Sentence(text, ids, digest(cited, with_status=key in pages)))
    kept = sum(map(len, found.values()))
    counts = Counter(sentences=len(proposed), dropped=len(proposed) - kept)
    states = {key: found[key] for key in pages if key in found}
    episodes = {key: found[key] for key in days if key in found}
    return states, episodes, counts, verified


def is_sound(said: Proposed, items: Mapping[str, Item], title: str) -> bool:
    """Return whether code finds nothing wrong with a sentence: its ids, its form, its numbers, dates and names.

    Args:
        said: the sentence, and the items that it cites.
        items: those that it may cite.
        title: of the page, whose words it may use.
    """
    text, ids = said
    if not ids or not all(ident in items for ident in ids) or len(text) > _LONGEST:
        return False
    if not can_stand(text) or veil(text) != text:
        return False
    cited = [items[ident] for ident in ids]
    places = [Place(_entry(one, title), 1, 1, _told(one)) for one in cited]
    days = [day for one in cited for day in (one.since, one.due, one.until, one.learnt) if day]
    return not ungrounded(text, places, days)


def _entry(item: Item, title: str) -> Entry:
    return Entry(item.id, 1, 1, _told(item), (title,) if title else (), title, (), item.since or item.learnt)


def _told(item: Item) -> str:
    return f"{item.text.rstrip('.')} (due {item.due})" if item.due else item.text


def _is_verbatim(said: Proposed, items: Mapping[str, Item]) -> bool:
    """Whether a sentence is the words of an item that holds, which need no second reader."""
    return any(folded(items[ident].text) == folded(said[0]) and items[ident].status in ACTIVE for ident in said[1])


def _quotes(said: Proposed, items: Mapping[str, Item]) -> tuple[str, ...]:
    return tuple(_said_of(items[ident]) for ident in said[1])


def _said_of(item: Item) -> str:
    """Return what an item says, and how it ended, as a second reader is shown it."""
    if item.status in ACTIVE | {Status.ARCHIVED, Status.SUPERSEDED}:
        return _told(item)
    return operation_text(OperationKind.CLOSE, item.type, _told(item), how=str(item.status))
