"""Undo, from documents to documents: what a run did is turned back, and what was changed since stays."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from pipelines.night.file_items import new_document
from pipelines.night.undo_items import RunSides, undo
from pipelines.store.document import Block, Document, block_of, edited
from pipelines.store.item import Item, ItemType, Status, Trust

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pipelines.night.undo_items import Undone

    Documents = dict[str, Document]

ALPHA, BETA, GENERAL = "Projects/alpha.md", "Projects/beta.md", "Areas/general.md"


def item(number: int, kind: ItemType = ItemType.DECISION, **more: object) -> Item:
    told = {"since": "2026-03-01", "trust": Trust.SELF, "by": "rules@1", **more}
    return Item(kind, f"thing number {number}", id=f"k{number:010x}", **told)  # type: ignore[arg-type]  # mixed values


def document(path: str, *items: Item) -> Document:
    return edited(new_document(path, ""), add=[Block(one) for one in items])


def of(*documents: Document) -> Documents:
    return {one.path: one for one in documents}


def back(
    before: Documents, after: Documents, now: Documents | None = None, only: str = "", deleted: str = ""
) -> Undone:
    """Undo a run between `before` and `after` in `now`, by default the memory as the run left it."""
    paths = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    sides = RunSides.of(*({path: side[path] for path in sorted(paths) if path in side} for side in (before, after)))
    return undo(sides, after if now is None else now, frozenset(), frozenset({deleted}), only)


def held(documents: Mapping[str, Document]) -> dict[str, tuple[str, Item]]:
    found = [(p.item.id, (path, p.item)) for path, one in documents.items() for p in one.items]
    assert len(dict(found)) == len(found), "an id stands twice"
    return dict(found)


def test_nothing_is_put_into_a_file_that_cannot_be_read() -> None:
    sides = RunSides.of(of(document(ALPHA, item(1))), {})
    undone = undo(sides, {}, frozenset({ALPHA}))
    assert undone.documents == {}
    assert undone.kept == {item(1).id: f"cannot come back: {ALPHA} cannot be read"}


# ------------------------------------------------------------ any run, any edits

PATHS = (ALPHA, BETA, GENERAL, "Areas/new.md")
runs = st.lists(
    st.tuples(st.sampled_from(["add", "confirm", "done", "move", "supersede"]), st.integers(0, 9), st.integers(0, 3)),
    max_size=10,
)
edits = st.lists(
    st.tuples(
        st.sampled_from(["reword", "delete", "move", "note", "prose", "add", "strike"]),
        st.integers(0, 9),
        st.integers(0, 3),
    ),
    max_size=6,
)


def by_run(documents: Documents, steps: list[tuple[str, int, int]]) -> Documents:
    """Do to the documents what runs do."""
    for what, number, place in steps:
        there, path = held(documents), PATHS[place]
        known = f"k{number:010x}"
        home, one = there.get(known, ("", item(0)))
        if what == "add" and not home:
            documents = _put(documents, path, Block(item(number)))
        elif what == "confirm" and home:
            documents = _swap(documents, home, replace(one, seen=one.seen + 1, confirmed="2026-03-05"))
        elif what == "done" and home:
            documents = _swap(documents, home, replace(one, until="2026-03-06"))
        elif what == "move" and home and home != path:
            [placed] = [p for p in documents[home].items if p.item.id == known]
            block = block_of(documents[home], placed)
            documents = _put({**documents, home: edited(documents[home], remove=[known])}, path, block)
        elif what == "supersede" and home and one.active and f"k{number + 100:010x}" not in there:
            new = item(number + 100)
            old = replace(one, status=Status.SUPERSEDED, superseded_by=new.id)
            [placed] = [p for p in documents[home].items if p.item.id == known]
            block = Block(old, block_of(documents[home], placed).notes)
            documents = {**documents, home: edited(documents[home], remove=[known])}
            documents = _put(_put(documents, home, block), home, Block(new))
    return documents


def by_hand(documents: Documents, steps: list[tuple[str, int, int]]) -> Documents:
    """Do to the documents what people do."""
    for count, (what, number, place) in enumerate(steps):
        there = held(documents)
        path = PATHS[place]
        ident = sorted(there)[number % len(there)] if there else ""
        if what == "prose" and path in documents:
            documents = {**documents, path: documents[path].with_text(documents[path].text + f"\nMine, {count}.\n")}
        elif what == "add" and path in documents:
            own = Item(ItemType.FACT, f"mine {count}", id=f"kee{count:08x}", trust=Trust.OWNER)
            documents = documents if own.id in there else _put(documents, path, Block(own))
        elif ident:
            documents = _by_hand_to_item(documents, what, ident, path, count)
    return documents


def _by_hand_to_item(documents: Documents, what: str, ident: str, path: str, count: int) -> Documents:
    home, one = held(documents)[ident]
    [placed] = [p for p in documents[home].items if p.item.id == ident]
    if what == "reword":
        return _swap(documents, home, replace(one, text=f"{one.text}, reworded {count}"))
    if what == "strike":
        return _swap(documents, home, replace(one, status=Status.RETRACTED, superseded_by=""))
    if what == "note":
        lines = list(documents[home].lines)
        lines.insert(placed.line + 1, f"  a note {count}\n")
        return {**documents, home: documents[home].with_text("".join(lines))}
    block = block_of(documents[home], placed)
    gone = {**documents, home: edited(documents[home], remove=[ident])}
    return _put(gone, path, block) if what == "move" and path in documents and path != home else gone


def _put(documents: Documents, path: str, block: Block) -> Documents:
    home = documents.get(path) or new_document(path, "")
    return {**documents, path: edited(home, add=[block])}


def _swap(documents: Documents, path: str, new: Item) -> Documents:
    return {**documents, path: edited(documents[path], replace={new.id: new})}


def marks(documents: Documents) -> dict[str, tuple[str, str, tuple[str, ...]]]:
    """Return id → path, line and notes: what a person can have changed of an item."""
    return {
        p.item.id: (path, one.lines[p.line] + one.rows[p.item.id], tuple(one.lines[p.line + 1 : p.end]))
        for path, one in documents.items()
        for p in one.items
    }


START = of(document(ALPHA, item(0), item(1)), document(BETA, item(2), item(3)), document(GENERAL, item(4)))


@given(edits, runs)
def test_undoing_a_run_restores_the_bytes_and_undoing_that_brings_it_all_back(
    first: list[tuple[str, int, int]], run: list[tuple[str, int, int]]
) -> None:
    before = by_hand(START, first)
    after = by_run(before, run)
    undone = back(before, after)
    assert undone.documents == before
    assert undone.kept == {}
    again = back(after, undone.documents)
    assert held(again.documents) == held(after)
    filled = {path: one for path, one in after.items() if one.items or path in before}
    assert again.documents == filled, "only a document that the run left empty does not come back"


@given(runs, edits)
def test_what_a_person_changed_since_stays_and_all_else_is_as_before(
    run: list[tuple[str, int, int]], since: list[tuple[str, int, int]]
) -> None:
    before, after = START, by_run(START, run)
    now = by_hand(after, since)
    undone = back(before, after, now)
    was, left, there, then = marks(before), marks(after), marks(now), held(undone.documents)
    for ident in was.keys() | left.keys() | there.keys():
        if ident not in there:
            assert ident not in then, "what a person deleted came back"
        elif ident not in left:
            assert marks(undone.documents)[ident] == there[ident], "an item of the person's was touched"
        elif there[ident] == left[ident] and ident not in undone.kept:
            assert then.get(ident) == held(before).get(ident), "an untouched item is not as it was"
        elif there[ident][1:] != left[ident][1:]:
            assert ident in then, "an item that a person changed is gone"
            assert there[ident][2] == marks(undone.documents)[ident][2], "a note is gone"
            if there[ident][1] != left[ident][1]:
                assert marks(undone.documents)[ident][1] == there[ident][1], "a person's words were changed"
    for path, one in now.items():
        mine = [line for line in one.lines if line.startswith("Mine,")]
        text = undone.documents[path].text if path in undone.documents else ""
        assert all(line in text for line in mine), "a person's prose is gone"
    assert held(back(now, undone.documents).documents) == held(now), "undoing the undo did not restore what was"
