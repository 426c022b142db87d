"""What a standing item says already, decided by its lines and its words."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pipelines.night.reread import split_known
from pipelines.review.review import Filed
from pipelines.store.item import Evidence, Item, ItemType, Status, quote_digest
from tests.making import candidate, entry

if TYPE_CHECKING:
    from pipelines.extract.extraction import Candidate

LINE = "- 09:14 We chose Terraform, and the gateway listens on port 8080."
HOME = entry(LINE + "\n  The owner is Anna.", line=7)


def said(text: str, kind: ItemType = ItemType.FACT, lines: tuple[int, int] = (7, 7)) -> Candidate:
    return replace(candidate(text, kind, of=HOME), start_line=lines[0], end_line=lines[1])


def standing(text: str, kind: ItemType = ItemType.FACT, ident: str = "k1", line: int = 7, quote: str = LINE) -> Item:
    return Item(kind, text, id=ident, evidence=(Evidence(HOME.path, line, line, quote_digest(quote)),))


def settled(items: list[Item], *candidates: Candidate) -> list[tuple[str, str]]:
    """Return (text, id of the item that says it), the ones that are to be reviewed first."""
    left, told = split_known([Filed(one, "") for one in candidates], [("x.md", item) for item in items], lambda _: True)
    return [(one.candidate.text, "") for one in left] + [(one.candidate.text, one.known) for one in told]


def test_the_same_words_on_the_same_lines() -> None:
    text = "The gateway listens on port 8080."
    for item in (standing("Port 8080 is what the gateway listens on."), standing("THE GATEWAY listens on port 8080!")):
        assert settled([item], said(text)) == [(text, "k1")]
    closed = replace(standing("The gateway listens on port 8080."), status=Status.SUPERSEDED)
    assert settled([closed], said("The gateway has port 8080."))[0][1] == "k1"


def test_other_words_take_an_item_that_nobody_else_took() -> None:
    item = standing("8080 it is.")
    assert settled([item], said("The gateway listens on a port."), said("Terraform was chosen.")) == [
        ("Terraform was chosen.", ""),
        ("The gateway listens on a port.", "k1"),
    ]
    two = [item, standing("Terraform was chosen by all.", ident="k2")]
    assert settled(two, said("Terraform was chosen."), said("The gateway listens on a port.")) == [
        ("Terraform was chosen.", "k2"),
        ("The gateway listens on a port.", "k1"),
    ]


def test_what_rests_on_other_lines_or_is_of_another_kind_is_reviewed() -> None:
    item = standing("The gateway listens on port 8080.")
    assert settled([item], said("The owner is Anna.", lines=(8, 8))) == [("The owner is Anna.", "")]
    assert settled([item], said("Terraform was chosen.", ItemType.DECISION)) == [("Terraform was chosen.", "")]
    assert settled([item], said("The gateway listens on port 8080.", ItemType.RULE))[0][1] == "k1", "word for word"
    assert settled([item], said("The gateway and Anna.", lines=(7, 8)))[0][1] == "k1"


def test_lines_are_found_by_their_hash_wherever_they_stand_now() -> None:
    moved = standing("The gateway listens on port 8080.", line=3)
    assert settled([moved], said("The gateway has port 8080."))[0][1] == "k1"
    changed = standing("The gateway listens on port 8080.", quote="- another line")
    assert settled([changed], said("The gateway has port 8080."))[0][1] == ""
    elsewhere = replace(moved, evidence=(Evidence("Logs/2020-01-01.md", 7, 7, quote_digest(LINE)),))
    assert settled([elsewhere], said("The gateway has port 8080."))[0][1] == ""


def test_what_is_read_for_the_first_time_is_reviewed() -> None:
    one = Filed(said("The gateway has port 8080."), "")
    items = [("x.md", standing("The gateway has port 8080."))]
    assert split_known([one], items, lambda _: False) == ([one], [])
