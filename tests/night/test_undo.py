"""Undo, from documents to documents: what a run did is turned back, and what was changed since stays."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.night.file_items import new_document
from pipelines.night.undo_items import RunSides, undo
from pipelines.store.document import Block, Document, block_of, edited
from pipelines.store.item import Item, ItemType, Status, Trust, render_item
from pipelines.store.review_queue import with_entry

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pipelines.night.undo_items import Undone

    Documents = dict[str, Document]

ALPHA, BETA, GENERAL = "Projects/alpha.md", "Projects/beta.md", "Areas/general.md"


def item(number: int, kind: ItemType = ItemType.DECISION, **more: object) -> Item:
    told = {"since": "2026-03-01", "trust": Trust.SELF, "by": "rules@1", **more}
    return Item(kind, f"thing number {number}", id=f"k{number:010x}", **told)  # type: ignore[arg-type]  # mixed values


def document(path: str, *items: Item) -> Document:
    return edited(new_document(path, "", "2026-03-01"), add=[Block(one) for one in items])


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


def with_line(documents: Documents, path: str, change: Callable[[str], str]) -> Documents:
    return {**documents, path: Document(path, change(documents[path].text))}


def test_notes_that_a_person_wrote_under_an_item_keep_it() -> None:
    before, after = of(document(ALPHA)), of(document(ALPHA, item(1)))
    line = render_item(item(1)) + "\n"
    undone = back(before, after, with_line(after, ALPHA, lambda text: text.replace(line, f"{line}  see the minutes\n")))
    assert "see the minutes" in undone.documents[ALPHA].text
    assert set(undone.kept) == {item(1).id}


def test_an_item_that_a_person_moved_goes_from_where_it_stands_now() -> None:
    before, after = of(document(ALPHA), document(BETA)), of(document(ALPHA, item(1)), document(BETA))
    now = of(document(ALPHA), document(BETA, item(1)))
    assert held(back(before, after, now).documents) == {}


def test_what_a_run_moved_returns_with_its_notes_to_its_section() -> None:
    before = of(document(ALPHA, item(1)), document(GENERAL, item(2)))
    notes = ("  written under it\n",)
    after = {ALPHA: document(ALPHA), GENERAL: edited(before[GENERAL], add=[Block(item(1), notes)])}
    now = with_line(after, ALPHA, lambda text: text + "\nMine, since.\n")
    undone = back(before, after, now)
    assert held(undone.documents)[item(1).id] == (ALPHA, item(1))
    assert undone.documents[ALPHA].items[0].section == "Decisions"
    assert "  written under it\n" in undone.documents[ALPHA].lines
    assert "Mine, since." in undone.documents[ALPHA].text
    assert undone.returned == (item(1).id,)


def test_what_was_moved_again_since_stays_where_it_is_with_its_old_words() -> None:
    before = of(document(ALPHA, item(1)), document(BETA), document(GENERAL))
    late = replace(item(1), status=Status.ARCHIVED)
    after = of(document(ALPHA), document(BETA), document(GENERAL, late))
    undone = back(before, after, of(document(ALPHA), document(BETA, late), document(GENERAL)))
    assert held(undone.documents)[item(1).id] == (BETA, item(1))
    assert undone.kept == {item(1).id: f"was moved since, so it stays in {BETA}"}


def test_what_was_superseded_stays_so_while_its_successor_does() -> None:
    before = of(document(ALPHA, item(1)))
    old = replace(item(1), status=Status.SUPERSEDED, superseded_by=item(2).id)
    after = of(document(ALPHA, old, item(2)))
    undone = back(before, after, with_line(after, ALPHA, lambda text: text.replace("number 2", "number two")))
    assert held(undone.documents)[item(1).id][1].status is Status.SUPERSEDED
    assert set(undone.kept) == {item(1).id, item(2).id}


def test_an_item_that_a_later_one_rests_on_stays() -> None:
    before, after = of(document(ALPHA)), of(document(ALPHA, item(1), item(2)))
    resting = replace(item(3), links=(("because", (item(1).id,)),))
    now = of(document(ALPHA, item(1), item(2), resting))
    undone = back(before, after, now)
    assert set(held(undone.documents)) == {item(1).id, item(3).id}
    assert undone.kept == {item(1).id: f"stays: {item(3).id} refers to it"}


@pytest.mark.parametrize(
    "mine",
    [
        "\nMine.\n",
        "\n## My section\n",
        "\n- [ ] no item, but mine\n",
    ],
)
def test_a_document_that_the_run_made_goes_unless_a_person_wrote_in_it(mine: str) -> None:
    after = of(document(ALPHA, item(1)))
    assert back({}, after).documents == {}
    later = of(edited(after[ALPHA], add=[Block(item(2, ItemType.FACT))]))
    assert set(back({}, after, later).documents) == {ALPHA}
    assert set(back({}, after, with_line(after, ALPHA, lambda text: text + mine)).documents) == {ALPHA}
    owned = with_line(after, ALPHA, lambda text: text.replace("status: active", "status: active\nowner: Mara"))
    assert set(back({}, after, owned).documents) == {ALPHA}
    graded = with_line(after, ALPHA, lambda text: text.replace("updated: 2026-03-01", "updated: 2026-03-09"))
    assert back({}, after, graded).documents == {}


def test_a_document_in_which_a_person_wrote_while_the_run_made_it_stays() -> None:
    mine = Document(GENERAL, "# General\n\nMine.\n")
    undone = back({}, of(edited(mine, add=[Block(item(1))])))
    assert [one.id for one in undone.removed] == [item(1).id]
    assert "Mine." in undone.documents[GENERAL].text


def test_what_a_person_wrote_while_the_run_went_on_is_no_doing_of_the_runs() -> None:
    todo = item(5, ItemType.TODO, status=Status.OPEN)
    before = of(document(ALPHA, item(1), item(2), item(3), item(4), todo), document(BETA, item(6)))
    reworded = replace(item(1), text="reworded", trust=Trust.OWNER, by="")
    struck, ticked = replace(item(2), status=Status.RETRACTED), replace(todo, status=Status.DONE)
    left = edited(
        before[ALPHA],
        replace={one.id: one for one in (reworded, struck, ticked, replace(item(3), seen=2))},
        remove=[item(4).id],
        add=[Block(item(7))],
    )
    after = with_line({**before, ALPHA: left}, ALPHA, lambda text: text.replace("# Alpha\n", "# Alpha\n\nMine.\n"))
    undone = back(before, after, deleted=item(4).id)
    then = {ident: one for ident, (_, one) in held(undone.documents).items()}
    assert then == {one.id: one for one in (reworded, struck, item(3), ticked, item(6))}
    assert "Mine." in undone.documents[ALPHA].text


def test_the_briefing_and_the_user_page_never_go() -> None:
    after = {"USER.md": Document("USER.md", "# User\n")}
    after["USER.md"] = edited(after["USER.md"], add=[Block(item(1))])
    assert set(back({}, after).documents) == {"USER.md"}


def test_a_document_that_an_undo_removed_comes_back_as_it_was() -> None:
    before = of(document(ALPHA, item(1), item(2)), document(BETA))
    undone = back(before, of(document(BETA)))
    assert undone.documents == before
    assert undone.restored == (item(1).id, item(2).id)


def test_nothing_is_put_into_a_file_that_cannot_be_read() -> None:
    sides = RunSides.of(of(document(ALPHA, item(1))), {})
    undone = undo(sides, {}, frozenset({ALPHA}))
    assert undone.documents == {}
    assert undone.kept == {item(1).id: f"cannot come back: {ALPHA} is gone or cannot be read"}


def test_a_line_that_a_person_wrote_keeps_the_number_that_the_run_gave_it() -> None:
    was = Document(ALPHA, "# Alpha\n\n- decision: by hand\n")
    number = " <!-- kaaaaaaaaaa since=2026-03-01 trust=owner confidence=high -->"
    left = edited(Document(ALPHA, was.text.replace("hand", "hand" + number)), add=[Block(item(1))])
    undone = back(of(was), of(left))
    assert undone.documents[ALPHA].text == was.text.replace("hand", "hand" + number)


def test_an_item_that_a_person_reworded_before_the_run_stays_the_owners() -> None:
    before = of(document(ALPHA, item(1)))
    owned = replace(item(1), trust=Trust.OWNER, by="")
    undone = back(before, of(document(ALPHA, owned, item(2))))
    assert held(undone.documents) == {item(1).id: (ALPHA, owned)}


def test_an_item_that_stands_twice_is_left_alone() -> None:
    before, after = of(document(ALPHA), document(BETA)), of(document(ALPHA, item(1), item(2)), document(BETA))
    undone = back(before, after, of(document(ALPHA, item(1), item(2)), document(BETA, item(1))))
    assert sorted(p.item.id for one in undone.documents.values() for p in one.items) == [item(1).id] * 2
    assert [one.id for one in undone.removed] == [item(2).id]
    assert undone.kept == {item(1).id: "is in two places, so it stays in both"}


def test_a_question_goes_with_the_run_that_asked_it_and_an_answer_stays() -> None:
    empty, waits = (
        Document("Review.md", "# Review\n"),
        replace(item(1), status=Status.WAITING, extra=(("home", ALPHA),)),
    )
    asked = with_entry({"Review.md": empty}, "contradict", "2026-03-18", "A or B", "why", ["drop: B goes"], [waits])
    before, after = {"Review.md": empty, **of(document(ALPHA))}, {**asked, **of(document(ALPHA, item(2)))}
    undone = back(before, after)
    assert held(undone.documents) == {}
    assert undone.documents["Review.md"].text.strip() == "# Review"
    assert set(held(back(after, before).documents)) == {item(2).id}  # the run carried an answer out: a person's doing


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
            documents = {**documents, path: Document(path, documents[path].text + f"\nMine, {count}.\n")}
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
        return {**documents, home: Document(home, "".join(lines))}
    block = block_of(documents[home], placed)
    gone = {**documents, home: edited(documents[home], remove=[ident])}
    return _put(gone, path, block) if what == "move" and path in documents and path != home else gone


def _put(documents: Documents, path: str, block: Block) -> Documents:
    home = documents.get(path) or new_document(path, "", "2026-03-01")
    return {**documents, path: edited(home, add=[block])}


def _swap(documents: Documents, path: str, new: Item) -> Documents:
    return {**documents, path: edited(documents[path], replace={new.id: new})}


def marks(documents: Documents) -> dict[str, tuple[str, str, tuple[str, ...]]]:
    """Return id → path, line and notes: what a person can have changed of an item."""
    return {
        p.item.id: (path, one.lines[p.line], tuple(one.lines[p.line + 1 : p.end]))
        for path, one in documents.items()
        for p in one.items
    }


START = of(document(ALPHA, item(0), item(1)), document(BETA, item(2), item(3)), document(GENERAL, item(4)))


@settings(max_examples=300, deadline=None)
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


@settings(max_examples=300, deadline=None)
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
    assert {one.id for one in undone.removed} == there.keys() - then.keys()
    assert held(back(now, undone.documents).documents) == held(now), "undoing the undo did not restore what was"
