"""Merge the pages of three versions of a memory, item by item, and their other lines as text.

An item is merged by its id, wherever it stands; in the text of a page it is one token, put back in its place. What only
one side changed wins. What both changed in different ways is disputed, so that one question can show both.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from pipelines.store.change_set import ItemPlace, item_places
from pipelines.store.document import (
    ORDER,
    Document,
    Documents,
    document_at,
    edited,
    insert_rows,
    section_of,
    without_empty,
)
from pipelines.store.item import STRUCK, Item, Status, render_item, row_of, written_words
from pipelines.store.layout import REVIEW, Kind
from pipelines.store.markdown import line_end, read_front_matter, split_lines
from pipelines.store.three_way import Clash, both, ending, merge_lines, merge_texts

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping

    Places = Mapping[str, ItemPlace]
    Sides = tuple[Document | None, Document | None, Document | None]
    """A page as it was, on our side and on theirs; None where it is missing."""
    Versions = tuple[Document, Document, Document]
    """The same, with an empty page for a missing one."""
    Known = Container[tuple[str, str]]
    """Id and text of the lines that are items."""


BOTH = "Both versions stand there, one after the other."
ONE = "The first version stands there."
STAYS = "It was deleted on one machine and changed on the other, so it stays."
CORRECTED = "One item was replaced by another on each machine; both stand there."


class Disputed(NamedTuple):
    """What two sides changed in different ways, and no rule decides.

    Args:
        path: the file.
        what: what stands there now, a sentence.
        versions: the lines of either side; empty if the file as a whole is disputed.
        item: the id of the item, or, with a blank between, of the two that replaced one; empty for other lines.
        sides: whose each version is: 0 for ours, 1 for theirs; empty if nobody needs to know.
    """

    path: str
    what: str
    versions: tuple[tuple[str, ...], ...] = ()
    item: str = ""
    sides: tuple[int, ...] = ()


def merge_pages(
    base: Documents, ours: Documents, theirs: Documents, *, ours_first: bool = False, there: Places | None = None
) -> tuple[dict[str, Document], list[Disputed]]:
    """Return the pages merged, and what is disputed.

    Args:
        base: the pages that both sides began with, by path.
        ours: the pages on our side.
        theirs: the pages on the other side.
        ours_first: whether our side stands where both changed an item, or a key of the front matter. Otherwise the
            result is the same from either side: closed beats open, and a person's words beat a run's.
        there: the items of the other side, if its pages do not say: an undo may take back a few of them only.
    """
    (base, ours, theirs), names = _renamed_alike(base, ours, theirs)
    back = ({}, {}) if ours_first else (_put_back(base, ours, theirs), _put_back(base, theirs, ours))
    disputed = [Disputed(path, STAYS) for path in sorted({**back[0], **back[1]})]
    ours, theirs = {**ours, **back[0]}, {**theirs, **back[1]}
    old = _places(base, {})
    mine, other = _places(ours, old), _places(theirs, old)
    # A line that says something else under the id of another place is no item, and stays text.
    known = {(ident, one.item.text) for side in (old, mine, other) for ident, one in side.items()}
    if there is not None:
        other = {ident: one._replace(path=names.get(one.path, one.path)) for ident, one in there.items()}
    items = dict[str, ItemPlace]()
    for ident in sorted({*mine, *other}):
        sides = mine.get(ident), other.get(ident)
        one, is_disputed = _merged_item(old.get(ident), *sides, ours_first=ours_first)
        if one:
            items[ident] = one
        if is_disputed and (left := one or sides[1]):
            told = {_told(side): number for number, side in enumerate(sides)}
            versions = sorted(told, key=lambda version: (version != _told(one), version))
            whose = tuple(told[version] for version in versions)
            disputed.append(Disputed(left.path, ONE, tuple(versions), ident, whose))
    if not ours_first:
        disputed += [*_corrected_twice(items, mine, other), *_corrected_once(items, old, (mine, other))]
    homes = dict[str, dict[str, ItemPlace]]()
    for ident, one in items.items():
        homes.setdefault(one.path, {})[ident] = one
    merged = {}
    for path in sorted({*ours, *theirs, *homes}):
        pages, held = (base.get(path), ours.get(path), theirs.get(path)), homes.get(path, {})
        if held or not _is_gone(*pages):
            page = _as_it_is(pages, held)
            merged[path] = page or _merged_page(path, pages, held, disputed, known=known, ours_first=ours_first)
    return merged, disputed


# ---------------------------------------- items


CLOSINGS = (STRUCK | {Status.DONE}) - {Status.SUPERSEDED, Status.MERGED}
_RANK = {status: rank for rank, status in enumerate(Status)}
"""Closing an item wins over leaving it open: a person, or a newer item, closed it."""
_WORDS = "type text by trust confidence".split()
_END = "status until superseded_by merged_into".split()


def _merged_item(
    was: ItemPlace | None, here: ItemPlace | None, there: ItemPlace | None, *, ours_first: bool
) -> tuple[ItemPlace | None, bool]:
    """Return one item merged, None if it goes, and whether it is disputed: then one side's version stands whole.

    If one side removed it and the other changed it, it goes, unless its words or notes were changed: a person wrote
    those.
    """
    if here is None or there is None:
        left = here or there
        if left is None or was is None:
            return left, False
        is_same = left.item.text == was.item.text and left.notes == was.notes
        if is_same and not (ours_first and _said(left) != _said(was)):
            return None, False
        return here if ours_first else left, True
    first, second = (here, there) if ours_first else sorted((here, there), key=_weight, reverse=True)
    old = was or ItemPlace("", "", "", "", (), Item(first.item.type, ""))
    view = _said if ours_first else _claimed
    is_disputed = view(old) not in {view(first), view(second)} and view(first) != view(second)
    item = first.item if is_disputed else _joined(old.item, second.item, first.item)
    alike = [side for side in (first, second) if side.item == item]
    anew = first._replace(line=render_item(item), row=row_of(item), item=item)
    one = max(alike, key=lambda side: side.line != old.line, default=anew)
    path = second.path if first.path == old.path else first.path
    section = second.section if first.section == old.section else first.section
    was_noted, *noted = ("".join(side) for side in (old.notes, *sorted((first.notes, second.notes))))
    notes = tuple(split_lines(merge_texts(was_noted, *noted)[0]))
    return one._replace(path=path, section=section, notes=notes), is_disputed


def _said(one: ItemPlace) -> tuple[object, ...]:
    """Return what one version says of an item, however its line is formatted."""
    return one.item, one.row


def _claimed(one: ItemPlace) -> tuple[object, ...]:
    """Return the words of an item, and how it is over."""
    return one.item.text, one.item.status in CLOSINGS and one.item.status


def _told(one: ItemPlace | None) -> tuple[str, ...]:
    """Return an item in words, and how it is; nothing if it is gone."""
    return (f"{one.item.type}: {written_words(one.item)} ({one.item.status})",) if one else ()


def _weight(side: ItemPlace) -> tuple[object, ...]:
    """Order two sides of one item: the heavier one wins. A line without `by` is a person's."""
    item = side.item
    return _RANK[item.status], not item.by, item.confirmed, item.text, side.path, side.row, side.line


def _joined(was: Item, less: Item, more: Item) -> Item:
    """Return two changes of one item joined: of each part what only one side changed, else the heavier one's.

    A person's words stand above a run's. What both confirmed holds since the earlier day, and was seen as the greater.
    """
    parts = {one.name: _picked(*(getattr(side, one.name) for side in (was, less, more))) for one in fields(Item)}
    for name, better in (("since", min), ("confirmed", max), ("seen", max)):
        both_said = getattr(less, name), getattr(more, name)
        if getattr(was, name) not in both_said:
            parts[name] = better(both_said)
    if was.text not in {less.text, more.text}:
        words = less if more.by and not less.by else more
        parts |= {name: getattr(words, name) for name in _WORDS}
    if more.status is not was.status:
        parts |= {name: getattr(more, name) for name in _END}
    old, light, heavy = (dict(one.extra) for one in (was, less, more))
    extra = ((key, _picked(old.get(key), light.get(key), heavy.get(key))) for key in {**heavy, **light})
    return Item(**parts | {"extra": tuple(pair for pair in extra if pair[1])})


def _picked(was: Any, less: Any, more: Any) -> Any:  # noqa: ANN401  of whatever a field holds
    return less if more == was else more


def _corrected_twice(items: Places, ours: Places, theirs: Places) -> Iterator[Disputed]:
    """Yield a dispute for each item that either side replaced by another one, and for each two by one another."""
    for ident, one in items.items():
        named = {side[ident].item.superseded_by for side in (ours, theirs) if ident in side}
        new = [items[other] for other in named if other in items and items[other].item.active]
        other = items.get(one.item.superseded_by)
        if other and other.item.superseded_by == ident < other.item.id:
            new = [one, other]
        if len(new) == len((ours, theirs)):
            new.sort(key=lambda place: (place.item.since, place.item.text), reverse=True)
            yield Disputed(one.path, CORRECTED, tuple(map(_told, new)), " ".join(place.item.id for place in new))


def _corrected_once(items: Places, old: Places, sides: tuple[Places, Places]) -> Iterator[Disputed]:
    """Yield a dispute for each item that one side replaced by a new one, and the other reworded or closed."""
    for number, (here, there) in enumerate((sides, sides[::-1])):
        for ident in sorted(old.keys() & here.keys() & there.keys()):
            new, other = items.get(here[ident].item.superseded_by), there[ident]
            if new and new.item.active and new.item.id not in there and _claimed(other) != _claimed(old[ident]):
                text = new.item.text if other.item.text == old[ident].item.text else other.item.text
                changed = replace(new.item, text=text, status=other.item.status)
                told = _told(new), _told(new._replace(item=changed))
                yield Disputed(new.path, ONE, told, new.item.id, (number, 1 - number))


# ---------------------------------------- pages


_MARKS = _ITEM, _MADE, _SECTION = "\0", "\1", "\2"
"""How tokens begin: of an item, before its id; of a line that a run generated; of the heading of a run's section."""


def _renamed_alike(*sides: Documents) -> tuple[list[dict[str, Document]], dict[str, str]]:
    """Return the pages as they were and on both sides, and the old and new names of those that one side renamed.

    These have the new name on all sides.
    """
    base, *pair = found = [dict(side) for side in sides]
    names = dict[str, str]()
    for one, other in (pair, pair[::-1]):
        for old, new in _renames(base, one):
            if new not in base and (new in other) != (old in other):
                names[old] = new
                for side in (base, other):
                    side.update({new: replace(side.pop(old), path=new)} if old in side else {})
    return found, names


def _renames(before: Documents, after: Documents) -> Iterator[tuple[str, str]]:
    """Yield the old and the new name of each page with at least half of its lines in a new one."""
    made = {path: {*after[path].lines} for path in after.keys() - before.keys()}
    for old in sorted(before.keys() - after.keys()) if made else ():
        lines = {*before[old].lines}
        best = max(made, key=lambda new: (len(lines & made[new]), new), default="")
        if best and len(lines & made[best]) * 2 >= len(lines):
            del made[best]
            yield old, best


def _put_back(base: Documents, side: Documents, other: Documents) -> dict[str, Document]:
    """Return the pages that one side deleted, and on which the other changed a person's own lines.

    They have no items that it moved elsewhere.
    """
    lost = [base[path] for path in sorted(base.keys() & other.keys() - side.keys())]
    lost = [page for page in lost if _own_words(other[page.path]) != _own_words(page)]
    here = _places(side, {}).keys() if lost else ()
    return {page.path: edited(page, remove=page.held.keys() & here) for page in lost}


def _is_gone(was: Document | None, here: Document | None, there: Document | None) -> bool:
    """Whether one side deleted a page on which the other changed nothing of its own."""
    left = here or there
    if was is None or (here and there):
        return False
    if left and left.kind is Kind.EPISODE:
        return (left.text, left.rows) == (was.text, was.rows)
    return left is None or _own_words(left) == _own_words(was)


def _as_it_is(sides: Sides, held: Places) -> Document | None:
    """Return the only side that changed a page, if its items are the merged ones: its lines keep their bytes."""
    was, here, there = (side.text if side else None for side in sides)
    one = sides[1] if there in {was, here} else sides[2] if here == was else None
    return one if one and item_places([one]) == held else None


def _places(pages: Documents, before: Places) -> dict[str, ItemPlace]:
    """Return id → place; of an id that stands twice, the page on which it stood before."""
    found = dict[str, ItemPlace]()
    for path in sorted(pages):
        for ident, one in item_places([pages[path]]).items():
            if ident not in found or (ident in before and before[ident].path == path):
                found[ident] = one
    return found


def _merged_page(
    path: str, sides: Sides, held: Places, disputed: list[Disputed], *, known: Known, ours_first: bool
) -> Document:
    """Return a page with the lines of both sides, and with these items.

    Args:
        path: its path.
        sides: its versions.
        held: the items that it will hold.
        disputed: receives the lines that both sides changed.
        known: id and text of the lines that are items.
        ours_first: as for `merge_pages`.
    """
    was, here, there = sides
    order = (0, 1)
    if here is None or there is None:
        was = here = there = here or there or document_at(path, "")
    elif not ours_first and here.text < there.text:
        here, there, order = there, here, (1, 0)
    versions = (was or document_at(path, ""), here, there)
    front, keys = _merged_front(versions)
    body, clashes = _merged_body(versions, held, known)
    if path != REVIEW:  # there, both questions stand
        told = [*((BOTH, clash) for clash in clashes), *((ONE, clash) for clash in keys)]
        disputed += [Disputed(path, what, (clash.one, clash.other), sides=order) for what, clash in told]
    end, left, lines = ending(*(one.lines for one in versions)), dict(held), [front]
    for token in body:
        if not token.startswith(_ITEM):
            lines.append(token.lstrip(_MADE + _SECTION) + end)
        elif one := left.pop(token.removeprefix(_ITEM), None):
            lines += [one.line + end, *one.notes]
    page = here.with_text(
        "".join(_completed(split_lines("".join(lines)), left, versions)), generated={**there.rows, **here.rows}
    )
    rows = {**page.rows, **{ident: one.row for ident, one in held.items() if one.row}}
    return page if page.is_still else replace(page, rows=rows)


def _completed(lines: list[str], missing: Places, versions: Versions) -> list[str]:
    """Return the lines of a page with its missing items, and with what runs generated.

    Of the latter one side's stand, and the next night renews them. Sections that are empty on no side go.
    """
    end, titles = line_end(lines), {one.title for side in versions[1:] for one in side.headings}
    for one in sorted(missing.values(), key=lambda one: (one.item.since, one.item.id)):
        title = one.section if one.section in titles else section_of(one.item)
        lines = insert_rows(lines, title, [one.line + end, *one.notes])
    was, mine, theirs = (
        [(title, page.lines[at]) for at, (title, _) in page.generated.items() if page.kind is not Kind.EPISODE]
        for page in versions
    )
    made = theirs if mine == was else mine
    for title in dict.fromkeys(title for title, _ in made):
        lines = insert_rows(lines, title, [line.rstrip("\r\n") + end for under, line in made if under == title])
    for title in ORDER:
        if all(without_empty(side.lines, title) is side.lines for side in versions[1:]):
            lines = without_empty(lines, title)
    return lines


def _merged_body(versions: Versions, held: Places, known: Known) -> tuple[list[str], list[Clash]]:
    """Return the tokens below the front matter, merged, and where people's own lines clash."""
    clashes = list[Clash]()

    def resolved(clash: Clash) -> list[str]:
        was, mine, theirs = own = [tuple(filter(_is_own, side)) for side in clash]
        if was in (mine, theirs):
            taken, other = (clash.one, clash.other) if was == theirs else (clash.other, clash.one)
            return [*taken, *(token for token in other if token.startswith(_ITEM) and token not in taken)]
        clashes.extend([Clash(*own)] if mine != theirs else [])
        return both(clash)

    was, mine, theirs = (_tokens(page, known, held) for page in versions)
    here, there = ({token for token in side if token.startswith(_ITEM)} for side in (mine, theirs))
    was = [token for token in was if not token.startswith(_ITEM) or token in here & there]
    return merge_lines(was, mine, theirs, resolved)[0], clashes


def _tokens(page: Document, known: Known | None = None, held: Places | None = None) -> list[str]:
    """Return the text below the front matter: an item with its notes is one token, and so is any other line.

    Lines that runs generated are left out, but for episodes. What is no person's begins with a mark.

    Args:
        page: the page.
        known: id and text of the lines that are items; without, all with an id.
        held: the items that the page will hold: others, and those that will stand in another section, are left out.
    """
    is_episode, tokens = page.kind is Kind.EPISODE, list[str]()  # runs write all of its headings
    for number, line in enumerate(page.lines):
        is_section = line.startswith("## ") and (is_episode or line[3:].strip() in ORDER)
        mark = _MADE if number in page.generated else _SECTION if is_section else ""
        tokens.append(mark + line.rstrip("\r\n"))
    for placed in reversed(page.items):
        ident = placed.item.id
        if ident and (known is None or (ident, placed.item.text) in known):
            stays = held is None or (ident in held and held[ident].section == placed.section)
            tokens[placed.line : placed.end] = [_ITEM + ident] * stays
    return [one for one in tokens[page.front.lines :] if is_episode or one[:1] != _MADE]


def _is_own(token: str) -> bool:
    """Whether a token is words of a person's."""
    return bool(token.strip()) and token[0] not in _MARKS


def _own_words(page: Document) -> list[object]:
    """Return what no run writes on a page."""
    return [*map(str.strip, filter(_is_own, _tokens(page))), *page.front.values]


def _merged_front(versions: Versions) -> tuple[str, list[Clash]]:
    """Return the front matter, merged; if that is no front matter, or lines clash, that of the first side stands."""
    was, mine, theirs = ("".join(one.lines[: one.front.lines]) for one in versions)
    merged, clashes = merge_texts(was, mine, theirs) if mine and theirs else (mine or theirs, [])
    read = read_front_matter(split_lines(merged))
    keys = [key for key, _ in read.values]
    if clashes or read.faults or len(set(keys)) < len(keys):
        return mine, [Clash((), *(tuple(text.splitlines()) for text in (mine, theirs)))]
    return merged, []
