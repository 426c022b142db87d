"""Superseding: the old item goes to History with its end and its successor, once, and links to it stay."""

from __future__ import annotations

from pipelines.night.file_items import with_superseded
from pipelines.review.item_links import with_link
from pipelines.store.document import Block, Document, edited
from pipelines.store.item import Item, ItemType, Status

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


def test_the_old_one_ends_in_history_and_links_of_others_keep_what_was_true() -> None:
    after = with_superseded(documents(), OLD.id, NEW, "2026-03-05")
    old, new, rests = (item(after, one.id) for one in (OLD, NEW, RESTS))
    assert (old.status, old.until, old.superseded_by) == (Status.SUPERSEDED, "2026-03-05", NEW.id)
    assert after[ALPHA].text.index("## History") < after[ALPHA].text.index("~~Fact: The port is 8080~~")
    assert "  my note\n" in after[ALPHA].text[after[ALPHA].text.index("## History") :]
    assert new.links == (("supersedes", (OLD.id,)),)
    assert rests == RESTS
    assert after[BETA] == documents()[BETA]
    assert "Mine." in after[ALPHA].text


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


def test_what_every_session_loads_keeps_no_history() -> None:
    briefing = edited(Document("MEMORY.md", "# Memory\n"), add=[Block(OLD), Block(NEW)])
    after = with_superseded({"MEMORY.md": briefing}, OLD.id, NEW, "2026-03-05")
    assert OLD.id not in {placed.item.id for placed in after["MEMORY.md"].items}
    assert "~~Fact: The port is 8080~~" in after["Areas/general.md"].text
