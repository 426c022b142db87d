"""The briefing: the generated rows of MEMORY.md, beside its rules and facts, that orient a session at its start.

They name the user, each active project in a line, dues, open risks, people, and where the rest is. Every run writes
them anew from the pages. They hold dates but no ages, so a day without news changes no byte.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from pipelines.night.sentences import citable_items, episodes_in, has_passed, joined, next_steps, shortened, with_due
from pipelines.store.document import NOW_TITLE, ORDER, STATE_TITLE, Document, kept_with_document
from pipelines.store.generated import Sentence, is_vetoed, sentences_under, still_rests, with_sentences, words_of
from pipelines.store.item import Item, ItemType
from pipelines.store.item_line import ROWS
from pipelines.store.layout import BRIEFING, GENERAL, USER, Kind
from pipelines.store.priority import days_apart
from pipelines.store.spoken_lines import OPEN_TASK
from pipelines.text import clipped

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


CLOSED_STATUS: Final = frozenset({"done", "closed", "archived", "finished", "inactive"})
_THE_USER, _PROJECTS, _DUE, _RISKS, _PEOPLE, _ELSEWHERE = ROWS
_MOST = {_THE_USER: 6, _PROJECTS: 12, _DUE: 8, _RISKS: 5, _PEOPLE: 10, _ELSEWHERE: 10}
_KNOWN = frozenset({ItemType.FACT, ItemType.RULE, ItemType.DECISION})
_LENGTH = 140
EPISODE_DAYS: Final = 3
"""Of so many days the first part of MEMORY.md tells."""
_VALUE = re.compile(r"[-*] \**(?P<key>[A-Z][\w ]{0,30}?)\**:\** +(?P<value>(?![*_]\([^()]*\)[*_]$)\S.*)")
"""A field of USER.md with a value; `_(optional)_` is a template's hint."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the briefing: its title, its rows, most important first, and where to find the rows that do not fit."""

    title: str
    rows: Sequence[str]
    rest: str


def briefing_sections(documents: Mapping[str, Document]) -> list[Section]:
    """Return the sections of the briefing, in order.

    Args:
        documents: every document by path.
    """
    known = {
        path: one
        for path, one in documents.items()
        if one.kind in {Kind.PROJECT, Kind.AREA, Kind.RESOURCE, Kind.USER}
        if one.front.get("status").casefold() not in CLOSED_STATUS
    }
    newest = max(
        (one.newest for one in known.values()), default=""
    )  # the clock would change rows on a day without news
    active = [(item, f"([{one.title}]({path}))") for path, one in known.items() for item in _active(one)]

    def row(item: Item, place: str) -> str:
        return f"{clipped(item.text, _LENGTH)}{item.unsure} {place}"

    dues = sorted((item.due, item.text, f"- {item.due}: {row(item, place)}") for item, place in active if item.due)
    dues.sort(key=lambda one: days_apart(one[0], newest))  # or old ones would hide what is due now
    dues = [*sorted(dues[: _MOST[_DUE]]), *dues[_MOST[_DUE] :]]
    risks = [(item.learnt, item.text, f"- {row(item, at)}") for item, at in active if item.type is ItemType.RISK]
    projects = [
        (one.newest, f"- [{one.title}]({path}){_summary(one)}")
        for path, one in known.items()
        if one.kind is Kind.PROJECT
    ]
    mine = _active(known[USER]) if USER in known else []
    user = [f"- {clipped(one.text, _LENGTH)}" for one in mine if one.type in _KNOWN and one.page_section != "questions"]
    return [
        Section(_THE_USER, [*_profile(known.get(USER)), *user], USER),
        Section(_PROJECTS, [told for _, told in sorted(projects, reverse=True)], "Projects/"),
        Section(_DUE, [told for *_, told in dues], "`curate items --type Todo --status open`"),
        Section(_RISKS, [told for *_, told in sorted(risks, reverse=True)], "`curate items --type Risk --status live`"),
        Section(_PEOPLE, _people(active), "see Contacts on each page"),
        Section(_ELSEWHERE, _elsewhere(documents), "Areas/ and Resources/"),
    ]


def with_briefing(
    document: Document, sections: Sequence[Section], cap: int, vetoed: frozenset[str] = frozenset()
) -> Document:
    """Return the briefing with as many rows as fit; a section that is cut ends with a row that says where the rest is.

    Args:
        document: MEMORY.md without generated rows.
        sections: the rows to show.
        cap: its size limit in bytes; the section that shows the most rows loses one first.
        vetoed: what people deleted from the generated sentences.
    """
    sections = [replace(one, rows=_wanted(document, one, vetoed)) for one in sections]
    shown = {one.title: min(len(one.rows), _MOST[one.title]) for one in sections}
    while (over := (made := _written(document, sections, shown)).size - cap) > 0 and any(shown.values()):
        while over > 0 and any(shown.values()):
            longest = max(sections, key=lambda one: shown[one.title])
            shown[longest.title] -= 1
            over -= len(longest.rows[shown[longest.title]].encode())
    return made if made.size <= cap else _written(document, [], {})


def _wanted(document: Document, section: Section, vetoed: frozenset[str]) -> list[str]:
    """Return a section's rows without what a person deleted, and without pages of which they wrote a row themselves."""
    theirs = (line for _, line in document.body) if section.title == _ELSEWHERE else under(document, section.title)
    pages = {_page_of(line) for line in theirs} - {""}
    rows = (row for row in map(words_of, section.rows) if _page_of(row) not in pages)
    return [row for row in rows if not is_vetoed(section.title, row, (), vetoed)]


def _page_of(row: str) -> str:
    """Return the target of the link that a row begins with, or an empty string."""
    return row.partition("](")[2].partition(")")[0] if row.startswith("- [") else ""


def _written(document: Document, sections: Sequence[Section], shown: Mapping[str, int]) -> Document:
    rows = {one.title: list(one.rows[: shown[one.title]]) for one in sections}
    for one in sections:
        if left := len(one.rows) - shown[one.title]:
            rows[one.title].append(f"- {left} more: {one.rest}")
    wanted = {title: list(map(Sentence, rows.get(title, ()))) for title in ROWS}
    return with_sentences(document, wanted, ORDER)


def _profile(user: Document | None) -> list[str]:
    """Return the fields that a person filled in at the top of USER.md (name, role, language and so on) as one row."""
    items = {placed.line for placed in user.items} if user else set()
    rows = (line for number, line in user.body if number not in items) if user else ()
    fields = [f"{found['key']}: {found['value']}" for line in rows if (found := _VALUE.fullmatch(line.rstrip()))]
    return [f"- {clipped('; '.join(fields), _LENGTH)}"] if fields else []


@kept_with_document
def _active(document: Document) -> list[Item]:
    return [item for item in citable_items(document) if item.active]


@kept_with_document
def _summary(document: Document) -> str:
    """Return a project's status and its next step, as they follow its name.

    The status is the first sentence of its State that tells more than todos, risks, questions and people; else the
    latest decision or fact.
    """
    items = _active(document)
    told = {one.id for one in items if one.type in _KNOWN and one.page_section in {"", "goals"}}
    ours = {one.text: one for _, one in sentences_under(document, STATE_TITLE)}
    read = map(str.strip, under(document, STATE_TITLE))
    found = [text for text in read if text and (text not in ours or not told.isdisjoint(ours[text].ids))]
    kinds = (ItemType.DECISION, ItemType.FACT)
    plain = [one for one in items if one.type in kinds and not one.page_section]
    latest = sorted(plain, key=lambda one: (-kinds.index(one.type), one.learnt))[-1:]
    parts = [joined([clipped(text, _LENGTH).rstrip(".")]) for text in [*found, *map(shortened, latest)][:1]]
    parts += [f"Next: {with_due(one)}" for one in next_steps(items)[:1]]
    return f": {' '.join(parts)}" if parts else ""


def under(document: Document, title: str) -> Iterator[str]:
    """Yield the lines below a heading, up to the next one."""
    titles, inside = {heading.line: heading.title for heading in document.headings}, False
    for number, line in document.body:
        if number in titles:
            inside = titles[number].casefold() == title.casefold()
        elif inside:
            yield line


def _people(active: Sequence[tuple[Item, str]]) -> list[str]:
    """Return a row for each contact on the pages: who they are, and on which page."""
    rows: dict[str, str] = {}
    for item, place in active:
        if item.person or item.page_section == "contacts":
            name = item.person or re.split(r"[,:(<–—]", item.text)[0].strip(" *_")
            row = item.text if name.split(" ")[0].casefold() in item.text.casefold() else f"{name}: {item.text}"
            rows.setdefault(name, f"- {clipped(row, _LENGTH)}{item.unsure} {place}")
    return [row for _, row in sorted(rows.items())]


def _elsewhere(documents: Mapping[str, Document]) -> list[str]:
    """Return a row for each area and resource, with what it holds: areas first, the fullest first.

    Notes without items come last, with how they describe themselves; many that do not are one row.
    """
    rows, plain = list[tuple[tuple[object, ...], str]](), list[tuple[tuple[object, ...], str]]()
    for path, document in documents.items():
        if document.kind not in {Kind.AREA, Kind.RESOURCE}:
            continue
        counts: Counter[str] = Counter(one.item.type.lower() for one in document.items if one.item.active)
        total, items = counts.total(), {placed.line for placed in document.placed}
        if not total and document.kind is Kind.AREA:
            continue
        counts["open task"] = sum(bool(OPEN_TASK.match(line)) for at, line in document.body if at not in items)
        kinds = (*map(str.lower, ItemType), "open task")
        told = [f"{counts[kind]} {kind}{'' if counts[kind] == 1 else 's'}" for kind in kinds if counts[kind]]
        about = ", ".join(told) or clipped(document.front.get("description"), _LENGTH)
        is_project = document.front.get("type") == "project" or document.front.get("metadata.type") == "project"
        order = -total, -counts["open task"], not is_project, path
        key = (path != GENERAL, document.kind is Kind.RESOURCE, *order)
        (rows if about else plain).append((key, f"- [{document.title}]({path}){': ' if about else ''}{about}"))
    last = [f"- {len(plain)} notes under Resources/: search finds them"] if len(plain) > _MOST[_ELSEWHERE] else []
    return [row for _, row in sorted(rows)] + (last or [row for _, row in sorted(plain)])


# ---------------------------------------- what a model wrote above the rows


def with_true_now(
    documents: Mapping[str, Document], today: str = "", vetoed: frozenset[str] = frozenset()
) -> dict[str, Document]:
    """Return the documents, MEMORY.md's first part without sentences that rest on what has ended, changed or passed.

    Args:
        documents: every document by path.
        today: the memory's day; empty if only what ended or changed counts.
        vetoed: what people deleted from the generated sentences.
    """
    after, briefing = dict(documents), documents.get(BRIEFING)
    if briefing is None or not (found := sentences_under(briefing, NOW_TITLE)):
        return after
    cited = {ident for _, one in found for ident in one.ids}
    held = {i: item for one in documents.values() for i, (_, item) in one.held.items() if i in cited}
    gone = {i for i, item in held.items() if item.quiet or (today and has_passed(item, today))}
    late = sorted(day for day, _ in episodes_in(documents))[-EPISODE_DAYS:]
    kept = [
        one
        for _, one in found
        if still_rests(one, held, with_status=True) and gone.isdisjoint(one.ids)
        if not is_vetoed(NOW_TITLE, one.text, (), vetoed)
        # What rests on a day alone has nothing that could end: it goes when the day is no longer one of the last.
        if one.ids or not today or not set(late).isdisjoint(one.days)
    ]
    after[BRIEFING] = with_sentences(briefing, {NOW_TITLE: kept}, ORDER)
    return after
