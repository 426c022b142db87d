"""Merge the pages of three versions of a memory, item by item, and their other lines as text.

An item is merged by its id, wherever it stands; in the text of a page it is one token, put back in its place. What only
one side changed wins. What both changed in different ways is disputed, so that one question can show both.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from pipelines.store.change_set import ItemPlace, item_places
from pipelines.store.document import ORDER, Document, document_at, edited, insert_rows, section_of, without_empty
from pipelines.store.item import STRUCK, Item, Status, last_successor, render_item, row_of, written_words
from pipelines.store.layout import REVIEW, Kind
from pipelines.store.markdown import line_end, read_front_matter, split_lines
from pipelines.store.three_way import Clash, both, ending, merge_lines, merge_texts
from pipelines.store.wording import words_key

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping, Sequence

    Pages = Mapping[str, Document]
    Places = Mapping[str, ItemPlace]
    Sides = tuple[Document | None, Document | None, Document | None]
    """A page as it was, on our side and on theirs; None where it is missing."""


_T = TypeVar("_T")

BOTH = "Both versions stand there, one after the other."
ONE = "The first version stands there."
_JOINED = "What stands there has the words of one machine, and the end of the other."
STAYS = "It was deleted on one machine and changed on the other, so it stays."
CORRECTED = "One item was replaced by another on each machine; both stand there."


@dataclass(frozen=True, slots=True)
class Disputed:
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
    base: Pages, ours: Pages, theirs: Pages, *, ours_first: bool = False, there: Places | None = None
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
        other = {ident: replace(one, path=names.get(one.path, one.path)) for ident, one in there.items()}
    items: dict[str, ItemPlace] = {}
    for ident in sorted({*mine, *other}):
        was, here, there_now = old.get(ident), mine.get(ident), other.get(ident)
        one, is_disputed = _merged_item(was, here, there_now, ours_first=ours_first)
        if one:
            items[ident] = one
        if is_disputed and (left := one or there_now):
            disputed.append(_disputed(left.path, ident, one, (here, there_now)))
    if not ours_first:
        items = _without_twins(items, mine, other)
        disputed += _corrected_twice(items, mine, other)
        for number, (here_now, elsewhere) in enumerate(((mine, other), (other, mine))):
            items, more = _closed_elsewhere(items, old, here_now, elsewhere, number)
            disputed += more
    homes: dict[str, dict[str, ItemPlace]] = {}
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


_RANK = {
    status: rank
    for rank, status in enumerate((
        Status.LIVE, Status.OPEN, Status.WAITING, Status.ARCHIVED, Status.DONE, Status.DROPPED, Status.RESOLVED,
        Status.OCCURRED, Status.ANSWERED, Status.ENDED, Status.MERGED, Status.SUPERSEDED, Status.NEVER_HELD,
        Status.RETRACTED,
    ))
}  # fmt: skip
"""Closing an item wins over leaving it open: a person, or a newer item, closed it."""
CLOSINGS = (STRUCK | {Status.DONE}) - {Status.SUPERSEDED, Status.MERGED}
_GOES_ON = frozenset({Status.ENDED, Status.NEVER_HELD, Status.RETRACTED})
"""How a belief ends whose correction may hold all the same."""
_WORDS = ("type", "text", "by", "trust", "confidence")
_END = ("status", "until", "superseded_by", "merged_into")
_PARTS = (
    "evidence", "links", "pinned", "page_section", "due", "doubted", "reason", "source", "person", "on", "quiet",
    "perhaps", "closed_by",
)  # fmt: skip


def _merged_item(
    was: ItemPlace | None, here: ItemPlace | None, there: ItemPlace | None, *, ours_first: bool
) -> tuple[ItemPlace | None, bool]:
    """Return one item merged, None if it goes, and whether it is disputed.

    If one side removed it and the other changed it, it goes, unless its words or notes were changed: a person wrote
    those.
    """
    if here is None or there is None:
        left = here or there
        if left is None or was is None:
            return left, False
        is_same = (_said(left), left.notes) == (_said(was), was.notes)
        is_own = (left.item.text, left.notes) != (was.item.text, was.notes)
        if ours_first:
            return None if is_same else here, not is_same
        return (left, True) if is_own else (None, False)
    first, second = (here, there) if ours_first else sorted((here, there), key=_weight, reverse=True)
    old = was or ItemPlace("", "", "", "", (), Item(first.item.type, ""))
    one, is_disputed = first, False
    if _said(first) == _said(old):
        one = replace(second, line=first.line) if _said(second) == _said(old) and second.line == old.line else second
    elif _said(second) not in (_said(first), _said(old)):
        pair = first.item, second.item
        is_disputed = ours_first or _is_reworded_twice(old.item, *pair) or _is_reworded_and_closed(old.item, *pair)
        item = first.item if ours_first else _joined(old.item, second.item, first.item)
        same = next((side for side in (first, second) if side.item == item), None)
        one = same or _with_item(first, item)
    path = second.path if first.path == old.path else first.path
    section = second.section if first.section == old.section else first.section
    was_noted, *noted = ("".join(side) for side in (old.notes, *sorted((first.notes, second.notes))))
    notes = tuple(split_lines(merge_texts(was_noted, *noted)[0]))
    return replace(one, path=path, section=section, notes=notes), is_disputed


def _said(one: ItemPlace) -> tuple[Item, str]:
    """Return what one version says of an item, however its line is formatted."""
    return one.item, one.row


def _told(one: ItemPlace | None) -> tuple[str, ...]:
    """Return an item in words, and how it is; nothing if it is gone."""
    return (f"{one.item.type}: {written_words(one.item)} ({one.item.status})",) if one else ()


def _disputed(path: str, ident: str, one: ItemPlace | None, sides: Sequence[ItemPlace | None]) -> Disputed:
    """Return a dispute about an item: what our side and theirs say, what stands first."""
    told = {_told(side): number for number, side in enumerate(sides)}
    versions = sorted(told, key=lambda version: (version != _told(one), version))
    what = ONE if _told(one) in told else _JOINED
    return Disputed(path, what, tuple(versions), ident, tuple(told[version] for version in versions))


def _weight(side: ItemPlace) -> tuple[object, ...]:
    """Order two sides of one item: the heavier one wins. A line without `by` is a person's."""
    item = side.item
    return _RANK[item.status], not item.by, item.confirmed, item.text, side.path, side.row, side.line


def _is_reworded_twice(was: Item, one: Item, other: Item) -> bool:
    """Whether a person reworded an item on each side, in different words."""
    return was.text not in {one.text, other.text} and one.text != other.text and not (one.by or other.by)


def _is_reworded_and_closed(was: Item, *sides: Item) -> bool:
    """Whether a person reworded an item on one side, and a person closed it on the other, in other words."""
    return any(
        _is_closed_by_person(was, closed) and was.text != told.text != closed.text and not told.by
        for closed, told in (sides, sides[::-1])
    )


def _is_closed_by_person(was: Item, now: Item) -> bool:
    """Whether an item was closed, and by a person: a run does that on a line, which it keeps as evidence."""
    return now.status in CLOSINGS and was.status not in CLOSINGS and now.evidence == was.evidence


def _joined(was: Item, less: Item, more: Item) -> Item:
    """Return two changes of one item joined: of each part what only one side changed, else the heavier one's.

    A person's words stand above a run's.
    """
    is_told = more.text == was.text if was.text in {less.text, more.text} else bool(more.by and not less.by)
    words, end = less if is_told else more, less if more.status is was.status else more
    parts = {name: _picked(*(getattr(one, name) for one in (was, less, more))) for name in _PARTS}
    parts |= {name: getattr(words, name) for name in _WORDS} | {name: getattr(end, name) for name in _END}
    old, light, heavy = (dict(one.extra) for one in (was, less, more))
    extra = {key: _picked(old.get(key), light.get(key), heavy.get(key)) for key in {**heavy, **light}}
    return replace(
        more,
        **parts,
        since=min(filter(None, (less.since, more.since)), default=""),
        confirmed=max(less.confirmed, more.confirmed),
        seen=max(less.seen, more.seen),
        extra=tuple((key, value) for key, value in extra.items() if value),
    )


def _picked(was: _T, less: _T, more: _T) -> _T:
    return less if more == was else more


def _without_twins(items: Places, ours: Places, theirs: Places) -> dict[str, ItemPlace]:
    """Return the items, merging those that both sides learnt on the same page and in the same words."""
    out = dict(items)
    first: dict[tuple[str, str, str], str] = {}
    for ident, one in sorted(items.items(), key=lambda pair: (pair[1].item.since, pair[0])):
        if not one.item.active:
            continue
        twin = first.setdefault((one.path, one.item.type, words_key(one.item.text)), ident)
        if twin != ident and (ident in ours) != (ident in theirs) and (twin in ours) != (ident in ours):
            out[ident] = _with_item(one, replace(one.item, status=Status.MERGED, merged_into=twin))
    return out


def _corrected_twice(items: Places, ours: Places, theirs: Places) -> Iterator[Disputed]:
    """Yield a dispute for each item that either side replaced by a new one, and for each two by one another."""
    for ident, one in items.items():
        other = items.get(one.item.superseded_by)
        both_new = {side[ident].item.superseded_by for side in (ours, theirs) if ident in side}
        new = [items[named] for named in both_new if named in items and (named in ours) != (named in theirs)]
        if other and other.item.superseded_by == ident < other.item.id:
            new = [one, other]
        elif len(new) != len((ours, theirs)) or not all(place.item.active for place in new):
            new = []
        if new:
            new = sorted(new, key=lambda place: (place.item.since, place.item.text), reverse=True)
            yield Disputed(one.path, CORRECTED, tuple(map(_told, new)), " ".join(place.item.id for place in new))


def _closed_elsewhere(
    items: Places, old: Places, here: Places, there: Places, number: int
) -> tuple[dict[str, ItemPlace], list[Disputed]]:
    """Return the items with those closed that one side corrected and the other closed, and what is disputed.

    It is disputed if people did both, or if a person on the other side put the old one in other words.

    Args:
        items: the merged ones.
        old: those that both sides began with.
        here: those of the side that corrected.
        there: those of the other side.
        number: of the side that corrected: 0 for ours, else 1.
    """
    out, disputed, left = dict(items), list[Disputed](), {ident: one.item for ident, one in here.items()}
    for ident in sorted(old.keys() & here.keys() & there.keys()):
        was, other, new = old[ident].item, there[ident].item, here[last_successor(ident, left)]
        now = out.get(new.item.id, new)
        if new.item.id in there or not (new.item.active and now.item.active) or other.superseded_by:
            continue
        is_over = other.status in CLOSINGS and was.status not in CLOSINGS
        is_own = other.text != was.text and not other.by
        ended = now.item
        if is_over:
            ended = replace(ended, status=other.status, until=other.until, closed_by=other.closed_by)
        told = _with_item(now, replace(ended, text=other.text, due=other.due) if is_own else ended)
        if other.status not in _GOES_ON:
            out[new.item.id] = _with_item(now, ended)
        if not new.item.by and (is_own or _is_closed_by_person(was, other)):
            sides = (new, told)[:: -1 if number else 1]
            disputed.append(_disputed(now.path, new.item.id, out[new.item.id], sides))
    return out, disputed


def _with_item(one: ItemPlace, item: Item) -> ItemPlace:
    return replace(one, line=render_item(item), row=row_of(item), item=item)


# ---------------------------------------- pages


_MARKS = _ITEM, _MADE, _SECTION = "\0", "\1", "\2"
"""How tokens begin: of an item, before its id; of a line that a run generated; of the heading of a run's section."""


def _renamed_alike(*sides: Pages) -> tuple[list[dict[str, Document]], dict[str, str]]:
    """Return the pages as they were and on both sides, and the old and new names of those that one side renamed.

    These have the new name on all sides.
    """
    base, *pair = found = [dict(side) for side in sides]
    names: dict[str, str] = {}
    for one, other in (pair, pair[::-1]):
        for old, new in _renames(base, one):
            if new not in base and (new in other) != (old in other):
                names[old] = new
                for side in (base, other):
                    side.update({new: replace(side.pop(old), path=new)} if old in side else {})
    return found, names


def _renames(before: Pages, after: Pages) -> list[tuple[str, str]]:
    """Return the old and the new name of each page with at least half of its lines in a new one."""
    gone, made = (
        {path: Counter(line for row in side[path].lines if (line := row.strip())) for path in sorted(only)}
        for side, only in ((before, before.keys() - after.keys()), (after, after.keys() - before.keys()))
    )
    found = []
    for old, lines in gone.items():
        shared = {new: (lines & more).total() for new, more in made.items()}
        best = max(shared, key=lambda new: (shared[new], new), default="")
        if best and shared[best] * 2 >= max(lines.total(), 1):
            found.append((old, best))
            del made[best]
    return found


def _put_back(base: Pages, side: Pages, other: Pages) -> dict[str, Document]:
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


def _places(pages: Pages, before: Places) -> dict[str, ItemPlace]:
    """Return id → place; of an id that stands twice, the page on which it stood before."""
    found: dict[str, ItemPlace] = {}
    for path in sorted(pages):
        for ident, one in item_places([pages[path]]).items():
            if ident not in found or (ident in before and before[ident].path == path):
                found[ident] = one
    return found


def _merged_page(
    path: str,
    sides: Sides,
    held: Places,
    disputed: list[Disputed],
    *,
    known: Container[tuple[str, str]],
    ours_first: bool,
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
    page = _with_items_in_place(here.with_text("".join(lines), generated=there.rows), held, left, (here, there))
    rows = {**page.rows, **{ident: one.row for ident, one in held.items() if one.row}}
    return page if page.is_still else replace(page, rows=rows)


def _with_items_in_place(page: Document, held: Places, missing: Places, sides: Sequence[Document]) -> Document:
    """Return a page with its missing items, and with those in their sections that came below another heading.

    Sections that are empty on no side go.
    """
    astray = [one for one in page.items if (place := held.get(one.item.id)) and one.section != place.section]
    again = [*missing.values(), *(held[one.item.id] for one in astray)]
    lines, end = list(page.lines), line_end(page.lines)
    for placed in reversed(astray):
        del lines[placed.line : placed.end]
    there = {one.title.casefold() for one in page.headings if one.level > 1}
    for one in sorted(again, key=lambda one: (one.item.since, one.item.id)):
        title = one.section if one.section.casefold() in there else section_of(one.item)
        lines = insert_rows(lines, title, [one.line + end, *one.notes], ORDER)
    for title in ORDER:
        if all(without_empty(side.lines, title) is side.lines for side in sides):
            lines = without_empty(lines, title)
    return page.with_text("".join(lines))


def _merged_body(
    versions: tuple[Document, Document, Document], held: Places, known: Container[tuple[str, str]]
) -> tuple[list[str], list[Clash]]:
    """Return the tokens below the front matter, merged, and where people's own lines clash."""
    clashes = list[Clash]()

    def resolved(clash: Clash) -> list[str]:
        was, mine, theirs = own = [tuple(filter(_is_own, side)) for side in (clash.before, clash.one, clash.other)]
        if was in (mine, theirs):
            taken, other = (clash.one, clash.other) if was == theirs else (clash.other, clash.one)
            return [*taken, *(token for token in other if token.startswith(_ITEM) and token not in taken)]
        clashes.extend([Clash(*own)] if mine != theirs else [])
        return both(Clash((), *(tuple(one for one in side if one[:1] != _MADE) for side in (clash.one, clash.other))))

    was, mine, theirs = (_tokens(one, known) for one in versions)
    if any(token[:1] == _MADE and token not in was for token in mine):  # of what both generated, one version stands
        theirs = [token for token in theirs if token[:1] != _MADE or token in {*was, *mine}]
    # An item that one side removed, and that stays all the same, keeps its place.
    stays = {_ITEM + ident for ident in held} & ({*mine} ^ {*theirs})
    return merge_lines([token for token in was if token not in stays], mine, theirs, resolved)[0], clashes


def _tokens(page: Document, known: Container[tuple[str, str]] | None = None) -> list[str]:
    """Return the text below the front matter: an item with its notes is one token, and so is any other line.

    What is no person's begins with a mark.

    Args:
        page: the page.
        known: id and text of the lines that are items; without, all with an id.
    """
    is_made, tokens = page.kind is Kind.EPISODE, list[str]()  # runs write all of its headings
    for number, line in enumerate(page.lines):
        is_section = line.startswith("## ") and (is_made or line[3:].strip() in ORDER)
        mark = _MADE if number in page.generated else _SECTION if is_section else ""
        tokens.append(mark + line.rstrip("\r\n"))
    for placed in reversed(page.items):
        if placed.item.id and (known is None or (placed.item.id, placed.item.text) in known):
            tokens[placed.line : placed.end] = [_ITEM + placed.item.id]
    return tokens[page.front.lines :]


def _is_own(token: str) -> bool:
    """Whether a token is words of a person's."""
    return bool(token.strip()) and token[0] not in _MARKS


def _own_words(page: Document) -> list[object]:
    """Return what no run writes on a page."""
    return [*map(str.strip, filter(_is_own, _tokens(page))), *page.front.values]


def _merged_front(versions: tuple[Document, Document, Document]) -> tuple[str, list[Clash]]:
    """Return the front matter, merged, and the keys that both changed: there, the first side's line stands."""
    was, mine, theirs = ("".join(one.lines[: one.front.lines]) for one in versions)
    if not (mine and theirs):
        return mine or theirs, []
    merged, clashes = merge_texts(was, mine, theirs, resolve=lambda clash: list(clash.one))
    read = read_front_matter(split_lines(merged))
    keys = [key for key, _ in read.values]
    if read.faults or len(set(keys)) < len(keys) or not read.lines:  # each added the same key
        return mine, [Clash((), *(tuple(text.splitlines()) for text in (mine, theirs)))]
    return merged, clashes
