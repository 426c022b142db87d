"""The change set is checked whole: what would break a promise is named, and nothing of it is written."""

from __future__ import annotations

from pipelines.memory.changes import check_documents, document_changes
from pipelines.memory.documents import Block, Document, edited
from pipelines.memory.items import Item, ItemType

ONE = Item(ItemType.FACT, "one", id="k1111111111", by="rules@1")
TWO = Item(ItemType.FACT, "two", id="k2222222222", links=(("because", ("k1111111111",)),))


def documents(*items: Item, path: str = "Areas/a.md") -> dict[str, Document]:
    return {path: edited(Document(path, "# A\n"), add=[Block(item) for item in items])}


def test_a_sound_change_set_has_no_faults() -> None:
    assert check_documents(documents(ONE), documents(ONE, TWO), 8192, added=[TWO.id]) == []


def test_an_item_that_would_vanish() -> None:
    assert check_documents(documents(ONE), documents(), 8192) == ["k1111111111 of Areas/a.md would vanish"]
    assert check_documents(documents(ONE), documents(), 8192, gone={ONE.id}) == []


def test_a_new_item_that_would_stand_nowhere() -> None:
    assert check_documents({}, {}, 8192, added=[ONE.id]) == ["k1111111111 is new and would stand nowhere"]


def test_an_item_that_would_stand_twice() -> None:
    after = {**documents(ONE), **documents(ONE, path="Areas/b.md")}
    assert "would stand in Areas/a.md and Areas/b.md" in check_documents(documents(ONE), after, 8192)[0]


def test_a_link_that_would_lead_nowhere() -> None:
    [fault] = check_documents({}, documents(TWO), 8192)
    assert fault == "k2222222222 would name k1111111111, which is nowhere"
    assert check_documents(documents(TWO), documents(TWO), 8192) == []


def test_a_briefing_over_its_cap() -> None:
    briefing = documents(ONE, path="MEMORY.md")
    assert "over its cap of 50" in check_documents({}, briefing, 50)[0]
    by_hand = {"MEMORY.md": Document("MEMORY.md", "mine " * 50)}
    assert check_documents({}, by_hand, 50) == []


def test_a_document_where_none_may_stand() -> None:
    assert "no place" in check_documents({}, documents(path="Logs/2026-01-01.md"), 8192)[0]


def test_changes_are_in_order_of_paths() -> None:
    before = {"Areas/b.md": Document("Areas/b.md", "b"), "Areas/c.md": Document("Areas/c.md", "c")}
    after = {"Areas/a.md": Document("Areas/a.md", "a"), "Areas/c.md": Document("Areas/c.md", "c")}
    assert [(c.path, c.before, c.after) for c in document_changes(before, after)] == [
        ("Areas/a.md", None, b"a"), ("Areas/b.md", b"b", None),
    ]  # fmt: skip
