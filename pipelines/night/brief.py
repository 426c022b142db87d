"""Brief: a model writes the states of pages and the episodes of days; code checks every sentence.

The model is asked about a page whose items changed tonight, and about a day whose log was read tonight or that is of
the last week and has no episode yet. Each sentence must cite items of its page or day, add no number, date or name, and
pass a second reader. What fails is dropped, and code writes what is missing.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import TYPE_CHECKING, Final

from pipelines.extract.claims import Claim, Verdict, Verified, Verifier, operation_text, verify_twice
from pipelines.extract.extraction import OperationKind, Place, shown_text
from pipelines.extract.grounding import ungrounded
from pipelines.night.choose_document import Catalog, document_choices
from pipelines.night.episodes import ClosedDay, closed_day, days_with_episodes, items_of_days, with_episodes
from pipelines.night.states import citable_items, has_state
from pipelines.store.document import ORDER, STATE_TITLE, Document
from pipelines.store.generated import Sentence, can_stand, digest, is_vetoed, with_sentences
from pipelines.store.item import ACTIVE, Item, Status, folded, render_item
from pipelines.store.layout import day_of_log, episode_path
from pipelines.store.log import Entry, parse_entries
from pipelines.store.secrets import holds_secret
from pipelines.usage import Tally

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from pipelines.extract.llm.model_briefer import Briefed, ModelBriefer, Proposed


_LONGEST: Final = 400
_WEEK: Final = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Brief:
    """The documents with their states and episodes.

    Args:
        documents: every document by path.
        counts: how many sentences the model wrote (`sentences`), and how many of them were dropped (`dropped`).
        tally: the cost of the calls.
        failure: why the model's sentences are missing, or empty.
    """

    documents: Mapping[str, Document]
    counts: Counter[str] = field(default_factory=Counter)
    tally: Tally = field(default_factory=Tally)
    failure: str = ""


@dataclass(frozen=True, slots=True)
class _Asked:
    """A page or a day to ask about: its name in the request, the items that it may cite, and their pages' titles."""

    name: str
    items: Mapping[str, Item]
    titles: Mapping[str, str]
    row: Mapping[str, object]


def brief(  # noqa: PLR0913  the state of a night
    documents: Mapping[str, Document],
    before: Mapping[str, Document],
    logs: Mapping[str, bytes],
    read: Collection[str],
    pending: Collection[str],
    today: str,
    *,
    closed: Collection[str] = (),
    vetoed: frozenset[str] = frozenset(),
    writer: ModelBriefer | None,
    verifier: Verifier | None,
) -> Brief:
    """Return the documents with State and episodes written.

    Args:
        documents: every document by path, as the night leaves them.
        before: the same as the night found them.
        logs: path → bytes of each log, as the night leaves them.
        read: the days whose logs were read tonight.
        pending: the days that could not be read yet.
        today: the memory's day.
        closed: files that exist but cannot be read; they are never overwritten.
        vetoed: what people deleted from the generated sentences.
        writer: the models that write, or None if only code does.
        verifier: checks whether the items support the sentences, or None.
    """
    days, recent = _days_to_write(documents, logs, read, pending, today)
    days = [one for one in days if episode_path(one.day) not in closed]
    if writer is None or verifier is None:
        return Brief(with_episodes(documents, days, {}, vetoed))
    names = {one.document: one.id for one in document_choices(Catalog(documents))}
    changed = [path for path, one in documents.items() if has_state(one) and _news(one, before.get(path))]
    pages = {path: _page(documents[path], names.get(documents[path].id, "")) for path in sorted(changed)}
    asked, items = {}, items_of_days(documents, recent)
    for one in days:
        if told := [pair for pair in items.get(one.day, ()) if not is_vetoed(one.day, "", pair[1:], vetoed)]:
            asked[one.day] = _day(one, told, names, documents)
    if not pages and not asked:
        return Brief(with_episodes(documents, days, {}, vetoed))
    written = writer.write([one.row for one in pages.values()], [one.row for one in asked.values()])
    states, episodes, counts, verified = _checked(written, pages, asked, verifier, vetoed)
    tally = Tally(cost=written.tally.cost)
    tally.add(written.tally)
    tally.add(verified.tally)
    failure = " ".join(dict.fromkeys(filter(None, (written.failure, verified.failure))))
    after = dict(documents)
    for path, sentences in states.items():
        after[path] = with_sentences(after[path], {STATE_TITLE: sentences}, ORDER)
    return Brief(with_episodes(after, days, episodes, vetoed), counts, tally, failure)


def _days_to_write(
    documents: Mapping[str, Document],
    logs: Mapping[str, bytes],
    read: Collection[str],
    pending: Collection[str],
    today: str,
) -> tuple[list[ClosedDay], set[str]]:
    """Return the days to write an episode for, in order, and those of them to ask a model about."""
    done, week = days_with_episodes(documents), (date.fromisoformat(today) - _WEEK).isoformat()
    paths: dict[str, list[str]] = {}
    for path in logs:
        day = day_of_log(path)
        if (day in read or day not in done) and day <= today and day not in pending:
            paths.setdefault(day, []).append(path)
    days = []
    for day, of_day in sorted(paths.items()):
        entries = [one for path in of_day for one in parse_entries(path, day, logs[path].decode(errors="replace"))]
        if entries:
            days.append(closed_day(day, entries))
    return days, {one.day for one in days if one.day in read or one.day >= week}


def _news(page: Document, before: Document | None) -> bool:
    """Whether an item of a page is new, gone or changed."""
    old, new = ({render_item(p.item) for p in one.items if p.item.id} if one else set() for one in (before, page))
    return old != new


def _page(document: Document, name: str) -> _Asked:
    items = {one.id: one for one in citable_items(document)}
    rows = [
        {"id": one.id, "type": one.type.value, "text": shown_text(one.text), "status": one.status.value,
         "section": one.page_section, "since": one.since, "due": one.due}
        for one in items.values()
    ]  # fmt: skip
    name = name or document.id
    row = {"id": name, "title": document.title, "kind": document.kind.value, "items": rows}
    return _Asked(name, items, dict.fromkeys(items, document.title), row)


def _day(
    day: ClosedDay, items: Sequence[tuple[str, Item]], names: Mapping[str, str], documents: Mapping[str, Document]
) -> _Asked:
    def name_of(path: str) -> str:
        ident = path.removesuffix(".md")
        return names.get(ident, ident)

    rows = [
        {"id": one.id, "type": one.type.value, "text": shown_text(one.text), "status": one.status.value,
         "document": name_of(path)}
        for path, one in items
    ]  # fmt: skip
    row = {"day": day.day, "headings": [*day.headings], "sessions": [*day.sessions], "items": rows}
    titles = {one.id: documents[path].title for path, one in items}
    return _Asked(day.day, {one.id: one for _, one in items}, titles, row)


def _checked(
    written: Briefed,
    pages: Mapping[str, _Asked],
    days: Mapping[str, _Asked],
    verifier: Verifier,
    vetoed: frozenset[str],
) -> tuple[dict[str, list[Sentence]], dict[str, list[Sentence]], Counter[str], Verified]:
    """Return the model's supported sentences by page and by day, the counts, and the verifier's answer."""
    proposed = [(key, one, sentence) for key, one in pages.items() for sentence in written.states.get(one.name, ())]
    proposed += [(key, one, sentence) for key, one in days.items() for sentence in written.episodes.get(one.name, ())]
    sound = [
        (key, asked, one)
        for key, asked, one in proposed
        if is_sound(one, asked.items, asked.titles)
        and not is_vetoed(STATE_TITLE if key in pages else key, one[0], [asked.items[i] for i in one[1]], vetoed)
    ]
    doubtful = [number for number, (_, asked, one) in enumerate(sound) if not _is_verbatim(one, asked.items)]
    claims = [
        Claim("sentence", text, tuple(_quote(asked.items[ident]) for ident in ids), _context(ids, asked))
        for _, asked, (text, ids) in (sound[number] for number in doubtful)
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


def _context(ids: Sequence[str], asked: _Asked) -> tuple[str, ...]:
    """Return what each cited item is, in the order of the quotes, for the second reader."""
    return tuple(f"a {asked.items[one].type} of the page {asked.titles[one]}" for one in ids)


def is_sound(sentence: Proposed, items: Mapping[str, Item], titles: Mapping[str, str]) -> bool:
    """Return whether code finds nothing wrong with a sentence: its ids, form, numbers, dates and names.

    Args:
        sentence: the text, and the ids it cites.
        items: those that it may cite, by id.
        titles: of the items' pages, by id; the sentence may use their words.
    """
    text, ids = sentence
    if not ids or not all(ident in items for ident in ids) or len(text) > _LONGEST:
        return False
    if not can_stand(text) or holds_secret(text):
        return False
    cited = [items[ident] for ident in ids]
    places = [Place(_entry(one, titles.get(one.id, "")), 1, 1, _with_due(one)) for one in cited]
    days = [day for one in cited for day in (one.since, one.due, one.until, one.learnt) if day]
    return not ungrounded(text, places, days)


def _entry(item: Item, title: str) -> Entry:
    return Entry(item.id, 1, 1, _with_due(item), (title,) if title else (), title, (), item.since or item.learnt)


def _with_due(item: Item) -> str:
    return f"{item.text.rstrip('.')} (due {item.due})" if item.due else item.text


def _is_verbatim(sentence: Proposed, items: Mapping[str, Item]) -> bool:
    """Whether a sentence repeats an active item word for word; such a sentence needs no second reader."""
    text, ids = sentence
    return any(folded(items[ident].text) == folded(text) and items[ident].status in ACTIVE for ident in ids)


def _quote(item: Item) -> str:
    """Return an item's text, and how it ended, for the second reader."""
    if item.status in ACTIVE | {Status.ARCHIVED, Status.SUPERSEDED}:
        return _with_due(item)
    return operation_text(OperationKind.CLOSE, item.type, _with_due(item), how=str(item.status))
