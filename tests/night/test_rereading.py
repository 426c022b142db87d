"""What a standing item says already, decided by its lines and its words."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pipelines.night.reread import known_by
from pipelines.store.item import Evidence, Item, ItemType, Status, quote_digest
from tests.making import candidate, entry, place

if TYPE_CHECKING:
    from pipelines.extract.extraction import Candidate

LINE = "- 09:14 We chose Terraform, and the gateway listens on port 8080."
HOME = entry(LINE + "\n  The owner is Anna.", line=7)


def said(text: str, kind: ItemType = ItemType.FACT, lines: tuple[int, int] = (7, 7)) -> Candidate:
    return candidate(text, kind, at=place(HOME, lines=lines))


def standing(text: str, kind: ItemType = ItemType.FACT, ident: str = "k1", line: int = 7, quote: str = LINE) -> Item:
    return Item(kind, text, id=ident, evidence=(Evidence(HOME.path, line, line, quote_digest(quote)),))


def left(items: list[Item], *candidates: Candidate) -> list[str]:
    """Return the texts of those that are to be reviewed."""
    is_known = known_by(items, lambda _: True)
    return [one.text for one in candidates if not is_known(one)]


def test_the_same_words_on_the_same_lines() -> None:
    text = "The gateway listens on port 8080."
    for item in (standing("Port 8080 is what the gateway listens on."), standing("THE GATEWAY listens on port 8080!")):
        assert left([item], said(text)) == []
    for status in (Status.SUPERSEDED, Status.ENDED, Status.NEVER_HELD):
        closed = replace(standing("The gateway listens on port 8080."), status=status)
        assert left([closed], said("The gateway has port 8080.")) == []


def test_other_words_take_an_item_that_nobody_else_took() -> None:
    item = standing("8080 it is.")
    gateway, terraform = said("The gateway listens on a port."), said("Terraform was chosen.")
    assert left([item], gateway, terraform) == ["Terraform was chosen."]
    two = [item, standing("Terraform was chosen by all.", ident="k2")]
    assert left(two, terraform, gateway) == []


def test_what_rests_on_other_lines_or_is_of_another_kind_is_reviewed() -> None:
    item = standing("The gateway listens on port 8080.")
    assert left([item], said("The owner is Anna.", lines=(8, 8))) == ["The owner is Anna."]
    assert left([item], said("Terraform was chosen.", ItemType.DECISION)) == ["Terraform was chosen."]
    assert left([item], said("The gateway listens on port 8080.", ItemType.RULE)) == [], "word for word"
    assert left([item], said("The gateway and Anna.", lines=(7, 8))) == []


def test_lines_are_found_by_their_hash_wherever_they_stand_now() -> None:
    text = "The gateway has port 8080."
    moved = standing("The gateway listens on port 8080.", line=3)
    assert left([moved], said(text)) == []
    assert left([standing("The gateway listens on port 8080.", quote="- another line")], said(text)) == [text]
    elsewhere = replace(moved, evidence=(Evidence("Logs/2020-01-01.md", 7, 7, quote_digest(LINE)),))
    assert left([elsewhere], said(text)) == [text]


def test_what_is_read_for_the_first_time_is_reviewed() -> None:
    one = said("The gateway has port 8080.")
    assert not known_by([standing("The gateway has port 8080.")], lambda _: False)(one)
