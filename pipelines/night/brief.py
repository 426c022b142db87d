"""Brief: what a model writes once a night, and what code does with it.

The model writes the first part of MEMORY.md (`now`), as a colleague would tell it at the door, and the State and
purpose of pages whose items changed. Code checks every sentence: it cites items or episodes that were shown and adds no
number. A second reader decides whether they say it. What fails is left out; each night, so is what no longer holds.
"""

from __future__ import annotations

from heapq import nlargest
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from pipelines.errors import ModelFailed
from pipelines.extract.claims import Claim, quotes_of, said_under
from pipelines.extract.extraction import Told, is_pending, shown_text
from pipelines.extract.grounding import Shown, words_in
from pipelines.extract.llm.model_extractor import item_row
from pipelines.extract.nearby import BYTES_A_TOKEN, calendar, fitting, weekday
from pipelines.night.caps import EPISODE_DAYS, with_true_now
from pipelines.night.file_items import PAGES, Catalog, document_choices
from pipelines.night.sentences import citable_items, episodes_in, has_passed, has_state
from pipelines.review.outcomes import item_asked_about
from pipelines.review.trust import made_inert
from pipelines.store.days import day_before
from pipelines.store.document import NOW_TITLE, STATE_TITLE, Document, Documents, with_front_matter
from pipelines.store.generated import (
    Sentence,
    can_stand,
    digest,
    is_citable,
    is_vetoed,
    sentences_under,
    with_sentences,
    words_of,
)
from pipelines.store.item import QUIET, Item, ItemType, render_item
from pipelines.store.layout import BRIEFING, REVIEW, Kind
from pipelines.store.priority import priority
from pipelines.store.review_queue import read_queue
from pipelines.store.secrets.redact import holds_secret, without_secrets
from pipelines.store.wording import folded
from pipelines.text import content_words
from pipelines.usage import Tally

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from pipelines.extract.llm.model_briefer import ModelBriefer, ReplyNow, Row
    from pipelines.night.run import Run


_LONGEST = 400
MOST_NOW = 12
MOST_STATE = 3
NOW_TOKENS = 1_000
PAGE_TOKENS = 600
PAGES_TOKENS = 2_400
_MOST_TOLD = 300
_MOST_WAITING = 5
_RECENT_DAYS = 7
_MOST_QUOTED = 4
"""The most lines of a day that are quoted for a sentence that rests on the day."""
_PURPOSE = 120
_ASKED = f", a question about it waits for the user in {REVIEW}"


_Episode = dict[str, tuple[tuple[str, ...], list[str]]]
"""The sentences of a day's episode, each with what it rests on: itself, or lines of the log; and headings above these.
"""


class Proposal(NamedTuple):
    """A sentence that a model wrote, and that code finds nothing wrong with.

    Args:
        path: its document.
        title: its heading there.
        text: the sentence.
        items: those that it cites.
        days: the days whose episodes it rests on.
        claim: the claim for the second reader, with the words that it rests on, and what each of them is; None if the
            sentence needs none: an item says it, or it stood there before, and what it rests on is unchanged.
    """

    path: str
    title: str
    text: str
    items: tuple[Item, ...]
    days: tuple[str, ...]
    claim: Claim | None


class Brief(NamedTuple):
    """What a model wrote for a night.

    Args:
        proposals: the sentences that code finds nothing wrong with.
        asked: the headings that were asked about, as path and title: what is not proposed again leaves them.
        purposes: path → one line on what a page is for.
        before: the sentences of MEMORY.md's first part that the model was shown.
    """

    proposals: tuple[Proposal, ...]
    asked: frozenset[tuple[str, str]]
    purposes: Mapping[str, str]
    before: frozenset[str]


class _Shown(NamedTuple):
    """What a request shows, by the names that a reply uses for it: citable items with their pages, and episodes."""

    run: Run
    documents: Documents
    items: Mapping[str, tuple[Item, Document]]
    episodes: Mapping[str, _Episode]
    numbers: Shown
    asked: Collection[str]


def write_brief(run: Run, writer: ModelBriefer, documents: Documents) -> Brief | None:
    """Return what a model writes about the memory as a run leaves it; None if no page's items changed, or it failed.

    Args:
        run: the run, with what was told of its days, which no page has yet.
        writer: the models that write.
        documents: every document by path, as the run leaves them so far.
    """
    documents, today = with_true_now(documents, run.night.today), run.night.today
    names = {one.document: one.id for one in document_choices(Catalog(documents))}
    if not (pages := _changed_pages(documents, run.before, names, today)):
        return None
    on_pages = {one["id"] for row in pages.values() for one in row["items"]}
    episodes = _episodes(documents, run.told)
    questions = [one for one in read_queue(documents.get(REVIEW)) if one.kind != QUIET]
    waiting = {ident: one.title.removesuffix(f" ({ident})") for one in questions if (ident := item_asked_about(one))}
    now: Row = {
        "before": _before(documents.get(BRIEFING), NOW_TITLE),
        "episodes": [{"day": day, "text": " ".join(one)} for day, one in episodes.items()],
        "items": _elsewhere(documents, names, on_pages, today),
        "waits": [f"{ident} {shown_text(title)}" for ident, title in [*waiting.items()][:_MOST_WAITING]],
    }
    data: Row = {
        "day": today, "weekday": weekday(today), "calendar": calendar(today), "now": now, "pages": [*pages.values()]
    }  # fmt: skip
    tally = Tally()
    try:
        stated = [str(row["id"]) for path, row in pages.items() if has_state(documents[path])]
        reply = writer.write(data, stated, tally)
    except ModelFailed as fault:
        why = f"No model could write what stands at the top of {BRIEFING}. {fault.sentence}"
        run.report.warnings.append(without_secrets(why))
        return None
    finally:
        run.report.tally.add(tally)
    shown = {*on_pages, *waiting, *(row["id"] for row in now["items"])}
    shown |= {ident for one in now["before"] for ident in one["ids"]}
    placed = ((p.item, one) for one in documents.values() for p in one.items if p.item.id in shown)
    items = {item.id: (item, one) for item, one in placed if is_citable(item)}
    known = _Shown(run, documents, items, episodes, Shown.of(words_in(data)), waiting)
    said = [(BRIEFING, NOW_TITLE, one) for one in reply.now]
    purposes: dict[str, str] = {}
    for path, row in pages.items():
        said += [(path, STATE_TITLE, one) for one in reply.states.get(row["id"], ()) if has_state(documents[path])]
        purpose = made_inert(reply.purposes.get(row["id"], ""))
        is_persons = documents[path].kind is Kind.RESOURCE
        if not is_persons and can_stand(purpose) and len(purpose) <= _PURPOSE and ":" not in purpose[:2]:
            purposes[path] = purpose
    found = [proposal for path, title, one in said if (proposal := _sound(one, path, title, known))]
    asked = frozenset({(path, STATE_TITLE) for path in pages} | {(BRIEFING, NOW_TITLE)})
    return Brief(tuple(found), asked, purposes, frozenset(one["text"] for one in now["before"]))


def with_brief(documents: Documents, written: Brief) -> dict[str, Document]:
    """Return the documents with the sentences that a second reader supports.

    One of MEMORY.md's first part that the model was not shown, since the day seemed to end what it rests on, stays if
    the second reader did not agree. What cites an item that is not as it was cited goes with the next look at the page.
    """
    after = dict(documents)
    kept: dict[tuple[str, str], list[Sentence]] = {one: [] for one in written.asked}
    for one in written.proposals:
        ids, of = tuple(item.id for item in one.items), digest(one.items, with_status=True)
        kept[one.path, one.title].append(Sentence(one.text, ids, of, days=one.days))
    for (path, title), sentences in sorted(kept.items()):
        most = MOST_NOW if title == NOW_TITLE else MOST_STATE
        if title == NOW_TITLE and path in after:
            stood = [one for _, one in sentences_under(after[path], title)]
            sentences += [one for one in stood if one.text not in written.before]
        if path in after and (title == NOW_TITLE or has_state(after[path])):
            after[path] = with_sentences(after[path], {title: sentences[:most]})
    for path, purpose in written.purposes.items():
        if path in after and after[path].front.lines:
            after[path] = with_front_matter(after[path], {"purpose": purpose})
    return after


# ---------------------------------------- what is shown


def _changed_pages(documents: Documents, before: Documents, names: Mapping[str, str], today: str) -> dict[str, Row]:
    """Return path → row of the pages whose items the run changed, newest first, as many as fit.

    A row has what the page's State rests on, then what the run changed, then the rest, the weightiest first.
    """

    def written(page: Document | None) -> set[str]:
        return {render_item(item) for _, item in page.held.values()} if page else set()

    homes = [path for path, one in documents.items() if one.kind in PAGES]
    changed = [path for path in homes if written(documents[path]) != written(before.get(path))]
    pages, room = dict[str, "Row"](), PAGES_TOKENS * BYTES_A_TOKEN
    for path in sorted(changed, key=lambda path: (documents[path].newest, path), reverse=True):
        page, old = documents[path], written(before.get(path))
        stood = _before(page, STATE_TITLE)
        cited = {ident for one in stood for ident in one["ids"]}
        items = sorted(
            citable_items(page),
            key=lambda one: (one.id not in cited, render_item(one) in old, not one.active, -priority(one, today)),
        )
        found = ({**_item_row(item, today), "section": item.page_section} for item in items)
        rows = fitting(found, PAGE_TOKENS, _bytes)
        room -= sum(map(_bytes, rows))
        if not pages or room > 0:
            pages[path] = {
                "id": names.get(page.id, page.id), "title": page.title, "kind": page.kind.value,
                "purpose": page.front.get("purpose"), "before": stood, "items": rows,
            }  # fmt: skip
    return pages


def _item_row(item: Item, today: str) -> dict[str, str]:
    status = "quiet" if item.quiet else "passed" if has_passed(item, today) else item.status.value
    return item_row(item, status=status, due=item.due, on=item.on)


def _bytes(row: Row) -> int:
    """Return about how long an item's line in the prompt is."""
    return len(row["text"].encode()) + 40


def _before(document: Document | None, title: str) -> list[Row]:
    found = sentences_under(document, title) if document else []
    return [{"text": one.text, "ids": list(one.ids), "days": list(one.days)} for _, one in found if one.of]


def _elsewhere(
    documents: Documents, names: Mapping[str, str], told: Collection[str], today: str
) -> list[dict[str, str]]:
    """Return what is open anywhere, and among it decisions and rules of the last week, most important first."""
    since = day_before(today, _RECENT_DAYS)
    found = [
        (placed.item, names.get(one.id, one.id))
        for one in documents.values()
        if one.kind in {*PAGES, Kind.USER, Kind.BRIEFING}
        for placed in one.items
        if placed.item.active and not placed.item.quiet and is_citable(placed.item) and placed.item.id not in told
    ]
    found.sort(key=lambda pair: (-priority(pair[0], today), pair[0].id))
    pending = [pair for pair in found if is_pending(pair[0])]
    decided = [pair for pair in found if pair[0].type in {ItemType.DECISION, ItemType.RULE} and pair[0].learnt >= since]
    ranks = [*((at, pair) for at, pair in enumerate(pending)), *((2 * at, pair) for at, pair in enumerate(decided))]
    ranked = sorted(ranks, key=itemgetter(0))  # two that are open, then one that was decided
    rows = ({**_item_row(item, today), "document": home} for _, (item, home) in ranked)
    return fitting(rows, NOW_TOKENS, lambda row: _bytes(row) + 20)


def _episodes(documents: Documents, told: Mapping[str, Sequence[Told]]) -> dict[str, _Episode]:
    """Return the episodes of the last days. One that was told now rests on lines that its page does not hold yet."""
    found: dict[str, _Episode] = {}
    for day, lines in episodes_in(documents):
        found[day] = {(text := shown_text(words_of(one), _MOST_TOLD)): ((text,), []) for one in lines}
    for day, some in told.items():
        if some:
            found[day] = {
                shown_text(one.text, _MOST_TOLD): (quotes_of(one.places), said_under(one.places)) for one in some
            }
    return dict(sorted(found.items())[-EPISODE_DAYS:])


# ---------------------------------------- what came back


def _sound(one: ReplyNow, path: str, title: str, known: _Shown) -> Proposal | None:
    """Return a sentence with what it rests on, or None if code finds something wrong with it."""
    # What was not shown supports nothing; whether the rest supports the sentence, the second reader says.
    days = tuple(dict.fromkeys(day for day in one.days if day in known.episodes and title == NOW_TITLE))
    cited, text = [known.items[i] for i in dict.fromkeys(one.ids) if i in known.items], made_inert(one.text)
    items = tuple(item for item, _ in cited)
    if not (items or days) or len(text) > _LONGEST or not can_stand(text) or holds_secret(text):
        return None
    if title == STATE_TITLE and any(home.path != path for _, home in cited):
        return None
    if is_vetoed(title, text, items, known.run.vetoed) or known.numbers.numbers_missing(text)[0]:
        return None
    stood = sentences_under(known.documents[path], title) if path in known.documents else []
    mine = (folded(text), digest(items, with_status=True))
    # What a sentence rested on when it was supported need not be shown again: episodes are, for some days alone.
    before = next((old.days for _, old in stood if (folded(old.text), old.of) == mine), None)
    if before is not None or any(folded(one.text) == folded(text) and one.active for one in items):
        return Proposal(path, title, text, items, days if before is None else before, None)
    quotes, context, words = list[str](), list[str](), content_words(text)

    def shared(told: str) -> int:
        return len(words & content_words(told))

    for item, home in cited:
        told = ", ".join(f"{key} {value}" for key, value in (("due", item.due), ("on", item.on)) if value)
        quotes.append(f"{item.text} ({told})" if told else item.text)
        today = known.run.night.today if item.active else ""
        due = f", due {item.due}" if item.due else ""
        due += ", overdue" * ("" < item.due < today) + ", its day is over, outcome unknown" * ("" < item.on < today)
        due += f", perhaps {item.perhaps}" * bool(item.perhaps)
        about = f"{item.status} {item.type} of {home.title} since {item.since}{due}{item.unsure}"
        context.append(about + _ASKED * (item.id in known.asked))
    for day, episode in ((day, known.episodes[day]) for day in days if day in known.episodes):
        # The lines of the episode that have most of the sentence's words, and the headings above its two nearest.
        near = [episode[told] for told in nlargest(2, episode, key=shared)]
        lines = [quote for some, _ in near for quote in some]
        best = set(nlargest(_MOST_QUOTED, lines, key=shared))
        quotes += [quote for quote in lines if quote in best]
        headings = (above for _, some in near for above in some)
        context.append(", ".join([f"what happened on {day}", *headings]))
    if names := known.numbers.names_missing(text):
        context.append(f"not shown: {', '.join(names)}")
    return Proposal(path, title, text, items, days, Claim("sentence", text, tuple(quotes), tuple(context)))
