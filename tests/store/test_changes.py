"""The change set is checked whole: what would break a promise is named, and nothing of it is written."""

from hypothesis import given
from hypothesis import strategies as st

from pipelines.store.change_set import check_documents
from pipelines.store.document import Block, Document, edited
from pipelines.store.item import Item, ItemType

ONE = Item(ItemType.FACT, "one", id="k1111111111", by="rules@1")
TWO = Item(ItemType.FACT, "two", id="k2222222222", links=(("because", ("k1111111111",)),))


def documents(*items: Item, path: str = "Areas/a.md") -> dict[str, Document]:
    return {path: edited(Document(path, "# A\n"), add=[Block(item) for item in items])}


def test_a_sound_change_set_has_no_faults() -> None:
    assert check_documents(documents(ONE), documents(ONE, TWO), 8192, added=[TWO.id]) == []


def test_an_item_that_would_vanish() -> None:
    assert check_documents(documents(ONE), documents(), 8192) == ["k1111111111 of Areas/a.md would vanish"]
    assert check_documents(documents(ONE), documents(), 8192, gone={ONE.id}) == []


def test_an_item_that_would_stand_twice() -> None:
    after = {**documents(ONE), **documents(ONE, path="Areas/b.md")}
    assert "would be in Areas/a.md and Areas/b.md" in check_documents(documents(ONE), after, 8192)[0]


ITEMS = st.lists(st.sampled_from([ONE, TWO, Item(ItemType.FACT, "three", id="k3333333333")]), max_size=3)
SOME = st.dictionaries(st.sampled_from(["Areas/a.md", "Areas/b.md", "Areas/c.md"]), ITEMS)


def laid_out(items: dict[str, list[Item]]) -> dict[str, Document]:
    return {path: documents(*held, path=path)[path] for path, held in items.items()}


@given(SOME, SOME, st.sets(st.sampled_from(["Areas/a.md", "Areas/b.md", "Areas/c.md"])))
def test_what_stays_is_judged_as_if_it_were_read_anew(
    one: dict[str, list[Item]], other: dict[str, list[Item]], stay: set[str]
) -> None:
    before, after = laid_out(one), laid_out(other)
    kept = {path: document for path, document in before.items() if path in stay}
    anew = {path: Document(path, document.text, document.rows) for path, document in kept.items()}
    shared, read = check_documents(before, after | kept, 8192), check_documents(before, after | anew, 8192)
    assert sorted(map(said, shared)) == sorted(map(said, read))


def said(fault: str) -> str:
    """Return a fault, its places in order."""
    head, _, places = fault.partition(" would be in ")
    return f"{head} {sorted(places.split(' and '))}" if places else fault


def test_a_briefing_over_its_cap() -> None:
    briefing = documents(ONE, path="MEMORY.md")
    assert "over its cap of 20" in check_documents({}, briefing, 20)[0]
    by_hand = {"MEMORY.md": Document("MEMORY.md", "mine " * 50)}
    assert check_documents({}, by_hand, 50) == []


def test_a_document_where_none_may_stand() -> None:
    assert "not a valid place" in check_documents({}, documents(path="Logs/2026-01-01.md"), 8192)[0]
