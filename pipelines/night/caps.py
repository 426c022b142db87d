"""Bring every document under its cap, and write the rows of MEMORY.md; what leaves a page moves to a known place.

MEMORY.md and USER.md give their lowest-priority items to Areas/general.md; other documents give theirs, closed ones
first, to `Archives/NAME-YEAR.md`. What people wrote stays where it is, whatever its size.

The rows beside MEMORY.md's rules and facts orient a session at its start: they name the user, each active project in a
line, dues, open risks, people, and where the rest is. Every run writes them anew from the pages. They hold dates but no
ages, so a day without news changes no byte.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from pipelines.night.file_items import PAGES, new_document
from pipelines.night.sentences import (
    OVER,
    citable_items,
    episodes_in,
    has_passed,
    joined,
    next_steps,
    shortened,
    with_due,
    with_episodes,
    with_state,
)
from pipelines.store.days import day_before
from pipelines.store.document import (
    HISTORY,
    NOW_TITLE,
    STATE_TITLE,
    Block,
    Document,
    Documents,
    Placed,
    block_of,
    edited,
    kept_with_document,
)
from pipelines.store.generated import (
    Sentence,
    is_vetoed,
    sentences_under,
    still_rests,
    with_sentences,
    without_rows,
    words_of,
)
from pipelines.store.item import Item, ItemType, Status
from pipelines.store.item_line import ROWS
from pipelines.store.layout import BRIEFING, GENERAL, USER, Kind, archive_path
from pipelines.store.markdown import link_target
from pipelines.store.priority import days_after, priority
from pipelines.store.spoken_lines import OPEN_TASK
from pipelines.text import clipped

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from pipelines.settings import Settings

    Turn = tuple[int, float, str, str]
    """When an item leaves a page: a rank, what it is worth, its day and its id."""


POINTER_SHARE = 3
"""The briefing's rows get at least one such part of its cap, if they need it."""
HISTORY_DAYS = 14
"""Items that were done, dropped, resolved, answered or occurred move to the History after this many days."""
_FRESH_DAYS = 14
"""What was learnt or confirmed in so many days before the latest day of any log leaves a page last."""


@dataclass
class Pruned:
    """The documents under their caps, and what became of them.

    Args:
        documents: every document by path.
        closed: files that exist but cannot be read; nothing is moved into them.
        vetoed: what people deleted from the generated sentences.
        newest: the latest day of any item.
        moved: id, from and to of each item that left a document because of its cap.
    """

    documents: dict[str, Document]
    closed: frozenset[str]
    vetoed: frozenset[str]
    newest: str
    moved: list[dict[str, str]] = field(default_factory=list)

    def shrink(self, path: str, cap: int) -> bool:
        """Move the lowest-priority items out of MEMORY.md or USER.md until it is under `cap` bytes.

        Only items that runs extracted leave: rules and decisions after others, pinned ones last, if the cap requires
        it. If people's own text alone exceeds the cap, all of them leave.

        Returns:
            Whether any item left.
        """
        if path in self.closed:
            return False
        document, late = self.documents[path], {ItemType.RULE, ItemType.DECISION}
        ranked = [
            ((2 if item.pinned else item.type in late, priority(item, self.newest), item.since, item.id), placed)
            for placed in document.items
            if (item := placed.item).id and item.by
        ]
        if out := _leaving(cap, document, ranked):
            self.documents[path] = edited(document, remove=[placed.item.id for placed in out])
            self._move([block_of(document, one) for one in out], path, free_path(GENERAL, self.closed))
        return bool(out)

    def overflow(self, path: str, cap: int) -> None:
        """Move items out of a page, to the archives of their years, until it is under `cap` with its new State."""

        def turn(item: Item) -> Turn:
            # Closed ones first, oldest first, then by priority. Open items, goals, contacts, questions and how-tos
            # leave late. What the last days brought or confirmed leaves last of all, the oldest day first: a page full
            # of open todos must not turn away what is new.
            if not item.active:
                return 0, 0.0, item.since, item.id
            worth = priority(item, self.newest)
            if (age := abs(days_after(max(item.learnt, item.confirmed), self.newest))) <= _FRESH_DAYS:
                return 3, worth - age, item.since, item.id  # worth is at most 1: pinned items stay
            is_late = item.type in {ItemType.TODO, ItemType.RISK} or item.page_section
            return 2 if is_late else 1, worth, item.since, item.id

        while (document := self.documents[path]).size > cap and document.kind in PAGES:
            movable = [one for one in document.items if one.item.id and one.item.by and not one.item.pinned]
            if not (out := _leaving(cap, document, [(turn(one.item), one) for one in movable])):
                return
            left = edited(document, remove=[placed.item.id for placed in out])
            self.documents[path] = with_state(left, self.vetoed)
            archives: dict[str, list[Block]] = {}
            for block in (block_of(document, placed) for placed in sorted(out, key=lambda one: one.line)):
                target = free_path(archive_path(path, block.item.since), self.closed)
                archives.setdefault(target, []).append(Block(archived(block.item), block.notes))
            for target, blocks in archives.items():
                self._move(blocks, path, target)

    def _move(self, blocks: Sequence[Block], source: str, target: str) -> None:
        home = self.documents.get(target) or new_document(target, "")
        self.documents[target] = edited(home, add=blocks)
        self.moved += [{"id": block.item.id, "from": source, "to": target} for block in blocks]


def prune(
    documents: Documents, settings: Settings, closed: frozenset[str], vetoed: frozenset[str] = frozenset()
) -> Pruned:
    """Bring every document under its cap, and write the generated text anew; a second time, nothing moves.

    Items move one way: to a page's History, out of USER.md and MEMORY.md to Areas/general, and from pages to archives.
    So one pass in this order is enough. Areas/general comes last, since it takes what MEMORY.md has no room for.

    Args:
        documents: all documents by path.
        settings: the caps in bytes.
        closed: files that exist but cannot be read; nothing is moved into them.
        vetoed: what people deleted from the generated sentences.
    """
    caps, newest = settings.caps, max((one.newest for one in documents.values()), default="")
    work = Pruned(dict(documents), closed, vetoed, newest)
    # What ended two weeks before goes to its page's History. Log dates decide: a day without news changes nothing.
    before = day_before(newest, HISTORY_DAYS) if newest else ""
    for path, document in documents.items():
        there = document.items if document.kind in {Kind.PROJECT, Kind.AREA} else ()
        over = [one for one in there if one.item.id and one.item.status in OVER and one.section != HISTORY]
        if old := [one for one in over if "" < (one.item.until or one.item.since) <= before]:
            blocks = [replace(block_of(document, placed), section=HISTORY) for placed in old]
            work.documents[path] = edited(document, add=blocks, remove=[one.item.id for one in old])
    if USER in documents:
        work.shrink(USER, caps.user)
    work.documents = {path: with_state(one, vetoed) for path, one in work.documents.items()}
    general = free_path(GENERAL, closed)
    for path in [one for one in sorted(work.documents) if one != general and one not in closed]:
        work.overflow(path, caps.document)
    if BRIEFING in documents:  # without the headings of its rows
        work.documents[BRIEFING] = with_briefing(without_rows(work.documents[BRIEFING]), (), caps.briefing)
        leaves = True
        while leaves:  # what leaves may need one more row
            bare = work.documents[BRIEFING]
            whole = with_briefing(bare, briefing_sections(work.documents), bare.size + caps.briefing, vetoed)
            room = min(whole.size - bare.size, caps.briefing // POINTER_SHARE)
            leaves = work.shrink(BRIEFING, caps.briefing - room)
    if general in work.documents:
        work.documents[general] = with_state(work.documents[general], vetoed)
        work.overflow(general, caps.document)
    after = work.documents = with_true_now(with_episodes(work.documents, vetoed, closed), vetoed=vetoed)
    if BRIEFING in after:
        after[BRIEFING] = with_briefing(after[BRIEFING], briefing_sections(after), caps.briefing, vetoed)
    return work


def _leaving(cap: int, document: Document, movable: Iterable[tuple[Turn, Placed]]) -> list[Placed]:
    """Return what must leave a document to bring it under its cap, in the order of their turns."""
    over, out = document.size - cap, []
    for _, placed in sorted(movable, key=itemgetter(0)):
        if over <= 0:
            break
        over -= len("".join(document.lines[placed.line : placed.end]).encode())
        out.append(placed)
    return out


def archived(item: Item) -> Item:
    """Return the item as an archive holds it: an active item is archived, a closed one is unchanged."""
    return replace(item, status=Status.ARCHIVED) if item.active else item


def free_path(path: str, taken: Collection[str]) -> str:
    """Return `path`, or its first free numbered variant: `NAME.md`, `NAME-2.md` and so on."""
    stem, number = path.removesuffix(".md"), 1
    while path in taken:
        number += 1
        path = f"{stem}-{number}.md"
    return path


# ---------------------------------------- the rows of MEMORY.md


CLOSED_STATUS = frozenset({"done", "closed", "archived", "finished", "inactive"})
_THE_USER, _PROJECTS, _DUE, _RISKS, _PEOPLE, _ELSEWHERE = ROWS
_MOST = {_THE_USER: 6, _PROJECTS: 12, _DUE: 8, _RISKS: 5, _PEOPLE: 10, _ELSEWHERE: 10}
_KNOWN = frozenset({ItemType.FACT, ItemType.RULE, ItemType.DECISION})
_LENGTH = 140
EPISODE_DAYS = 3
"""Of so many days the first part of MEMORY.md tells."""
_ROW_OF_PAGE = re.compile(r"- \[[^\n]*?\]\((?:<([^>\n]*)>|([^)\n]*))")
"""A row that begins with the link to a page."""
_VALUE = re.compile(r"[-*] \**(?P<key>[A-Z][\w ]{0,30}?)\**:\** +(?P<value>(?![*_]\([^()]*\)[*_]$)\S.*)")
"""A field of USER.md with a value; `_(optional)_` is a template's hint."""


class Section(NamedTuple):
    """A part of the briefing: its title, its rows, most important first, and where to find the rows that do not fit."""

    title: str
    rows: Sequence[str]
    rest: str


def briefing_sections(documents: Documents) -> list[Section]:
    """Return the sections of the briefing, in order.

    Args:
        documents: every document by path.
    """
    known = {
        path: one
        for path, one in documents.items()
        if one.kind in {*PAGES, Kind.USER}
        if one.front.get("status").casefold() not in CLOSED_STATUS
    }
    newest = max(
        (one.newest for one in known.values()), default=""
    )  # the clock would change rows on a day without news
    active = [
        (item, clipped(item.text, _LENGTH), f"{item.unsure} ([{one.title}]({link_target(path)}))")
        for path, one in known.items()
        for item in citable_items(one)
        if item.active
    ]
    dues = sorted((item.due, item.text, f"- {item.due}: {text}{place}") for item, text, place in active if item.due)
    dues.sort(key=lambda one: abs(days_after(one[0], newest)))  # or old ones would hide what is due now
    dues = [*sorted(dues[: _MOST[_DUE]]), *dues[_MOST[_DUE] :]]
    risks = [(item.learnt, item.text, f"- {text}{at}") for item, text, at in active if item.type is ItemType.RISK]
    projects = [
        (one.newest, f"- [{one.title}]({link_target(path)}){_summary(one)}")
        for path, one in known.items()
        if one.kind is Kind.PROJECT
    ]
    user = list[str]()
    if owner := known.get(USER):  # the fields that a person filled in at the top: name, role, language and so on
        items = {placed.line for placed in owner.items}
        rows = (_VALUE.fullmatch(line.rstrip()) for number, line in owner.body if number not in items)
        fields = [f"{found['key']}: {found['value']}" for found in rows if found]
        user += [f"- {clipped('; '.join(fields), _LENGTH)}"] if fields else []
        mine = (one for one in citable_items(owner) if one.active and one.type in _KNOWN)
        user += [f"- {clipped(one.text, _LENGTH)}" for one in mine if one.page_section != "questions"]
    people: dict[str, str] = {}
    for item, _, place in active:
        if item.person or item.page_section == "contacts":
            name = item.person or re.split(r"[,:(<–—]", item.text)[0].strip(" *_")
            told = item.text if name.split(" ")[0].casefold() in item.text.casefold() else f"{name}: {item.text}"
            people.setdefault(name, f"- {clipped(told, _LENGTH)}{place}")
    return [
        Section(_THE_USER, user, USER),
        Section(_PROJECTS, [told for _, told in sorted(projects, reverse=True)], "Projects/"),
        Section(_DUE, [told for *_, told in dues], "`curate items --type Todo --status open`"),
        Section(_RISKS, [told for *_, told in sorted(risks, reverse=True)], "`curate items --type Risk --status live`"),
        Section(_PEOPLE, [told for _, told in sorted(people.items())], "see Contacts on each page"),
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
    wanted = list[Section]()
    for one in sections:  # without what a person deleted, and without pages of which they wrote a row themselves
        theirs = (line for _, line in document.body) if one.title == _ELSEWHERE else under(document, one.title)
        pages = {unquote(found[1] or found[2] or "") for line in theirs if (found := _ROW_OF_PAGE.match(line))}
        linked = ((row, _ROW_OF_PAGE.match(row)) for row in map(words_of, one.rows))
        rows = (row for row, found in linked if not (found and unquote(found[1] or found[2] or "") in pages))
        wanted.append(one._replace(rows=[row for row in rows if not is_vetoed(one.title, row, (), vetoed)]))
    shown = {one.title: min(len(one.rows), _MOST[one.title]) for one in wanted}
    told: dict[str, list[Sentence]] = {title: [] for title in ROWS}
    while True:
        for one in wanted:
            left = len(one.rows) - shown[one.title]
            more = [f"- {left} more: {one.rest}"] if left else []
            told[one.title] = list(map(Sentence, [*one.rows[: shown[one.title]], *more]))
        made = with_sentences(document, told)
        over = made.size - cap
        if over <= 0:
            return made
        if not any(shown.values()):
            return with_sentences(document, {title: [] for title in ROWS})
        while over > 0 and any(shown.values()):
            longest = max(wanted, key=lambda one: shown[one.title])
            shown[longest.title] -= 1
            over -= len(longest.rows[shown[longest.title]].encode())


@kept_with_document
def _summary(document: Document) -> str:
    """Return a project's status and its next step, as they follow its name.

    The status is the first sentence of its State that tells more than todos, risks, questions and people; else the
    latest decision or fact.
    """
    items = [item for item in citable_items(document) if item.active]
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


def _elsewhere(documents: Documents) -> list[str]:
    """Return a row for each area and resource, with what it holds: areas first, the fullest first.

    Notes without items come last, with how they describe themselves; many that do not are one row.
    """
    found = list[tuple[bool, tuple[object, ...], str]]()
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
        is_project = "project" in map(document.front.get, ("type", "metadata.type"))
        key = path != GENERAL, document.kind is Kind.RESOURCE, -total, -counts["open task"], not is_project, path
        row = f"- [{document.title}]({link_target(path)}){': ' if about else ''}{about}"
        found.append((not about, key, row))
    found.sort()
    plain = [row for is_plain, _, row in found if is_plain]
    last = [f"- {len(plain)} notes under Resources/: search finds them"] if len(plain) > _MOST[_ELSEWHERE] else []
    return [row for is_plain, _, row in found if not is_plain] + (last or plain)


# ---------------------------------------- what a model wrote above the rows


def with_true_now(documents: Documents, today: str = "", vetoed: frozenset[str] = frozenset()) -> dict[str, Document]:
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
    after[BRIEFING] = with_sentences(briefing, {NOW_TITLE: kept})
    return after
