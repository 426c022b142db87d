"""The merge of three versions of a memory, whatever people and runs did to two of them."""

from collections import Counter
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from pipelines.store.change_set import item_places
from pipelines.store.document import ORDER, STATE_TITLE, Block, Document, block_of, edited
from pipelines.store.generated import Sentence, sentences_under, with_sentences
from pipelines.store.item import Item, ItemType, Status, Trust
from pipelines.store.merge import merge_trees
from pipelines.store.merge_pages import merge_pages

Pages = dict[str, Document]
Steps = list[tuple[str, int, int]]

PATHS = ("Projects/alpha.md", "Projects/beta.md", "Areas/general.md", "Areas/new.md")
KINDS = (ItemType.DECISION, ItemType.FACT, ItemType.RULE)
steps = st.lists(
    st.tuples(
        st.sampled_from(["add", "own", "reword", "delete", "move", "close", "confirm", "prose", "note", "heading"]),
        st.integers(0, 9),
        st.integers(0, 3),
    ),
    max_size=7,
)


def item(number: int, by: str = "rules@1") -> Item:
    trust = Trust.SELF if by else Trust.OWNER
    told = f"thing number {number}{'' if by else ' of mine'}"
    return Item(
        KINDS[number % 3], told, id=f"k{'1' if by else '2'}{number:09x}", since="2026-03-01", trust=trust, by=by
    )


def page(path: str, *items: Item) -> Document:
    return edited(Document(path, f"# {path}\n\nWords of {path}.\n"), add=[Block(one) for one in items])


START = {one.path: one for one in (page(PATHS[0], item(0), item(1)), page(PATHS[1], item(2)), page(PATHS[2], item(3)))}


def held(pages: Pages) -> dict[str, str]:
    """Return id → path; no id stands twice."""
    found = [(p.item.id, path) for path, one in pages.items() for p in one.items if p.item.id]
    assert len(dict(found)) == len(found), "an item stands twice"
    return dict(found)


def changed(pages: Pages, some: Steps, who: str) -> Pages:
    """Do what people and runs do to pages."""
    for what, number, place in some:
        path, there = PATHS[place], held(pages)
        ident = sorted(there)[number % len(there)] if there else ""
        if what in {"add", "own"}:
            new = item(number + 10 * (place + 1), "rules@1" if what == "add" else "")  # an id tells its first page
            home = pages.get(path) or page(path)
            pages = pages if new.id in there else {**pages, path: edited(home, add=[Block(new)])}
        elif what in {"prose", "heading"} and path in pages:
            words = f"\n## Heading {who}{number}\n" if what == "heading" else f"\nProse {who}{number}.\n"
            old = pages[path]
            pages = pages if words in old.text else {**pages, path: old.with_text(old.text + words)}
        elif ident and what not in {"prose", "heading"}:
            pages = _to_item(pages, what, ident, (path, f"{who}{number}"))
    return pages


def _to_item(pages: Pages, what: str, ident: str, told: tuple[str, str]) -> Pages:
    path, words = told
    home = held(pages)[ident]
    (placed,) = [one for one in pages[home].items if one.item.id == ident]
    one, block = placed.item, block_of(pages[home], placed)
    if what == "note":
        lines = list(pages[home].lines)
        lines.insert(placed.end, f"  note {words}\n")
        return {**pages, home: pages[home].with_text("".join(lines))}
    if what == "reword":
        own = replace(one, text=f"{one.text}, {words}", by="", trust=Trust.OWNER)
        return {**pages, home: edited(pages[home], replace={ident: own})}
    if what == "confirm":
        return {**pages, home: edited(pages[home], replace={ident: replace(one, seen=one.seen + 1)})}
    gone = {**pages, home: edited(pages[home], remove=[ident])}
    if what == "close":
        closed = replace(one, status=Status.RETRACTED)
        return {**pages, home: edited(gone[home], add=[Block(closed, block.notes)])}
    target = gone.get(path) or page(path)
    return {**gone, path: edited(target, add=[block])} if what == "move" and path != home else gone


def _prose(pages: Pages) -> Counter[str]:
    return Counter(
        line for one in pages.values() for line in one.lines if line.startswith(("Prose", "Words", "  note"))
    )


given_two = given(steps, steps, steps)


@given_two
def test_both_sides_come_to_the_same(first: Steps, one: Steps, other: Steps) -> None:
    base = changed(START, first, "a")
    ours, theirs = changed(base, one, "b"), changed(base, other, "c")
    assert merge_pages(base, ours, theirs)[0] == merge_pages(base, theirs, ours)[0]


@given_two
def test_what_nobody_deleted_stands_once(first: Steps, one: Steps, other: Steps) -> None:
    base = changed(START, first, "a")
    ours, theirs = changed(base, one, "b"), changed(base, other, "c")
    for ours_first in (False, True):
        merged, disputed = merge_pages(base, ours, theirs, ours_first=ours_first)
        was, here, there, then = map(held, (base, ours, theirs, merged))
        for ident in {*here, *there}:
            if ident not in was or (ident in here and ident in there):
                assert ident in then, "an item that nobody deleted is gone"
            elif ident in then:
                assert ident in {one.item for one in disputed}, "a deleted item came back and nobody is asked"
        old, mine, other_words = map(_prose, (base, ours, theirs))
        if not (was.keys() - here.keys()) | (was.keys() - there.keys()):  # notes go with their items
            for line in mine | other_words:
                kept = min(mine[line], other_words[line]) if line in old else max(mine[line], other_words[line])
                assert _prose(merged)[line] >= min(kept, 1), f"{line!r} is gone"


@given_two
def test_what_only_one_side_changed_is_as_it_left_it(first: Steps, one: Steps, other: Steps) -> None:
    base = changed(START, first, "a")
    ours = changed(base, one, "b")
    for ours_first in (False, True):
        assert merge_pages(base, ours, base, ours_first=ours_first) == (ours, [])
        assert merge_pages(base, base, ours, ours_first=ours_first) == (ours, [])
        assert merge_pages(base, ours, ours, ours_first=ours_first) == (ours, [])
    theirs = changed(base, other, "c")
    merged, (was, here, there) = merge_pages(base, ours, theirs)[0], map(_places, (base, ours, theirs))
    for ident, one_place in _places(merged).items():
        if ident in was and was[ident] in (here.get(ident), there.get(ident)):
            assert one_place in (here.get(ident), there.get(ident)), "what only one side changed is not as it left it"


def _places(pages: Pages) -> dict[str, tuple[Item, str]]:
    return {ident: (one.item, one.path) for ident, one in item_places(pages.values()).items()}


def _lines(pages: Pages) -> dict[str, list[str]]:
    """Return the lines of each page, in any order; blank ones do not matter."""
    return {path: sorted(line for line in one.lines if line.strip()) for path, one in pages.items()}


@given_two
def test_merging_again_changes_nothing(first: Steps, one: Steps, other: Steps) -> None:
    base = changed(START, first, "a")
    ours, theirs = changed(base, one, "b"), changed(base, other, "c")
    for ours_first in (False, True):
        merged, _ = merge_pages(base, ours, theirs, ours_first=ours_first)
        again, _ = merge_pages(base, merged, theirs, ours_first=ours_first)
        assert _lines(again) == _lines(merged)


@given(st.lists(st.tuples(st.integers(0, 1), st.one_of(st.none(), steps)), max_size=10))
def test_machines_that_meet_converge(story: list[tuple[int, Steps | None]]) -> None:
    hub, seen, here = START, [START, START], [START, START]
    for who, some in [*story, (0, None), (1, None), (0, None)]:
        if some is None:
            hub = here[who] = seen[who] = merge_pages(seen[who], here[who], hub)[0]
        else:
            here[who] = changed(here[who], some, "ab"[who])
    assert here[0] == here[1] == hub
    held(hub)


def test_two_corrections_of_one_item_are_one_question() -> None:
    sides = []
    for number in (5, 8):
        new = replace(item(number), type=ItemType.DECISION)
        old = replace(item(0), status=Status.SUPERSEDED, superseded_by=new.id)
        alpha = edited(edited(START[PATHS[0]], remove=[old.id]), add=[Block(old), Block(new)])
        sides.append({**START, PATHS[0]: alpha})
    merged, disputed = merge_pages(START, *sides)
    assert {item(5).id, item(8).id} <= held(merged).keys()
    (asked,) = disputed
    assert [("number 8" in one, "number 5" in other) for (one,), (other,) in [asked.versions]] == [(True, True)]


def test_what_both_sides_confirmed_goes_back_on_neither() -> None:
    old = item(1)
    told = [
        replace(old, since="2026-02-20", confirmed="2026-03-10", seen=5),
        replace(old, since="2026-02-10", confirmed="2026-03-12", seen=3),
    ]
    sides = [{**START, PATHS[0]: edited(START[PATHS[0]], replace={old.id: one})} for one in told]
    for pair in (sides, sides[::-1]):
        merged, disputed = merge_pages(START, *pair)
        assert not disputed
        one, _ = _places(merged)[old.id]
        assert (one.since, one.confirmed, one.seen) == ("2026-02-10", "2026-03-12", 5)


def test_of_what_both_sides_generated_one_version_stands_and_nobody_is_asked() -> None:
    def told(words: str, prose: str = "") -> Pages:
        one = START[PATHS[0]]
        sentences = {STATE_TITLE: [Sentence(words, (item(0).id,), "of")]}
        return {**START, PATHS[0]: with_sentences(one.with_text(one.text + prose), sentences, ORDER)}

    old, late, early = told("It begins."), told("It rests.", "Mine.\n"), told("It ages.")
    for base, ours, theirs, stands in (
        (old, told("It begins.", "Mine.\n"), early, {"It ages."}),
        (old, told("It begins.", "Mine.\n"), START, set[str]()),
        (old, late, early, {"It ages.", "It rests."}),
        (old, late, START, {"It rests."}),
        (START, late, early, {"It ages.", "It rests."}),
    ):
        merged, disputed = merge_pages(base, ours, theirs)
        assert (merged, disputed) == merge_pages(base, theirs, ours)
        page = merged[PATHS[0]]
        assert ("Mine.\n" in page.lines, disputed) == (True, [])
        found = {one.text for _, one in sentences_under(page, STATE_TITLE)}
        assert (found <= stands, len(found)) == (True, bool(stands))
        assert page.text.count("It ") == len(found), "what is left is a person's"


def test_files_of_each_kind_are_merged_alike_from_either_side() -> None:
    paths = ("Logs/2026-03-01.md", "State/seen.jsonl", "SOUL.md", "Projects/odd.md")
    base, ours, theirs = (
        dict(zip(paths, side, strict=True))
        for side in (
            (b"a\n", b"1\n2\n", b"x\n", b"\xff"),
            (b"a\nb\n", b"2\n3\n", b"y\n", b"\xfe"),
            (b"a\nc\n", b"1\n2\n4\n", b"z\n", b"1"),
        )
    )
    found = merge_trees(base, ours, theirs)
    assert merge_trees(base, theirs, ours).files == found.files
    assert found.files["Logs/2026-03-01.md"] == b"a\nb\nc\n"
    assert found.files["State/seen.jsonl"] == b"2\n3\n4\n"
    assert sorted(found.files["SOUL.md"].split()) == [b"y", b"z"]
    assert [one.path for one in found.disputed] == ["Projects/odd.md", "SOUL.md"]
