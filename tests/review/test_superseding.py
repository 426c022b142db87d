"""Superseding: the old item goes to History with its end and its successor, once, and links to it stay."""

from pipelines.night.file_items import with_superseded
from pipelines.review.outcomes import with_link
from pipelines.store.document import Block, Document, edited
from pipelines.store.item import Item, ItemType

OLD = Item(ItemType.FACT, "The port is 8080", "kaaaaaaaaaa", since="2026-03-01", by="rules@1")
NEW = Item(ItemType.FACT, "The port is 9090", "kbbbbbbbbbb", since="2026-03-05", by="rules@1")
RESTS = Item(
    ItemType.DECISION, "Open the port", "kcccccccccc", links=(("because", (OLD.id, NEW.id)), ("contradicts", (OLD.id,)))
)
ALPHA, BETA = "Projects/alpha.md", "Projects/beta.md"


def documents(*more: Item) -> dict[str, Document]:
    alpha = edited(Document(ALPHA, "# Alpha\n\nMine.\n"), add=[Block(OLD, ("  my note\n",)), Block(NEW)])
    return {ALPHA: alpha, BETA: edited(Document(BETA, "# Beta\n"), add=[Block(RESTS), *map(Block, more)])}


def item(of: dict[str, Document], ident: str) -> Item:
    [found] = [p.item for document in of.values() for p in document.items if p.item.id == ident]
    return found


def test_superseding_twice_is_once_and_what_cannot_be_meant_changes_nothing() -> None:
    once = with_superseded(documents(), OLD.id, NEW, "2026-03-05")
    third = Item(ItemType.FACT, "The port is 1", "kdddddddddd", since="2026-03-06")
    again = {**once, BETA: edited(once[BETA], add=[Block(third)])}
    assert with_superseded(again, OLD.id, third, "2026-03-06") == again
    assert with_superseded(once, OLD.id, NEW, "2026-03-07") == once
    assert with_superseded(documents(), OLD.id, OLD, "2026-03-05") == documents()
    assert with_superseded(documents(), "kffffffffff", NEW, "2026-03-05") == documents()
    assert with_superseded(documents(), OLD.id, third, "2026-03-05") == documents()


def test_an_item_never_links_to_itself_and_ends_no_earlier_than_it_began() -> None:
    assert with_link(OLD, "related", OLD.id) == OLD
    assert with_link(with_link(OLD, "related", NEW.id), "related", NEW.id).links == (("related", (NEW.id,)),)
    after = with_superseded(documents(), OLD.id, NEW, "2026-02-01")
    assert item(after, OLD.id).until == OLD.since
