"""Links as a graph: what an item rests on and what rests on it, whatever people and models linked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pipelines.errors import UnknownItem
from pipelines.queries.item_graph import (
    DEPENDENTS,
    GROUNDS,
    PREDECESSORS,
    SUCCESSORS,
    Beliefs,
    Mark,
    all_edges,
    steps_of,
    walk,
)
from pipelines.store.document import Document
from pipelines.store.template import named_item
from tests.queries.making import LINKED, beliefs

if TYPE_CHECKING:
    from pipelines.queries.item_graph import Step


def steps(found: list[Step]) -> list[tuple[int, str, str, Mark | None]]:
    return [(step.depth, step.relation, step.id[:2], step.mark) for step in found]


def test_what_an_item_rests_on_is_shown_to_its_end_and_a_cycle_once() -> None:
    held = beliefs()
    assert steps(walk("k1111111111", steps_of(held, GROUNDS), held.by_id)) == [
        (1, "because of", "k2", None),
        (2, "because of", "k4", None),
        (3, "because of", "k2", Mark.CYCLE),
        (2, "supported by", "k5", None),
    ]


def test_what_rests_on_an_item_is_all_that_names_it_or_that_it_carries() -> None:
    held = beliefs()
    assert steps(walk("k1111111111", steps_of(held, DEPENDENTS), held.by_id)) == [
        (1, "is made of it", "k3", None),
        (2, "follows on it", "k1", Mark.CYCLE),
        (1, "was superseded by it", "k9", None),
    ]
    found = steps(walk("k5555555555", steps_of(held, DEPENDENTS), held.by_id))
    assert found[0] == (1, "is supported by it", "k2", None)
    assert {ident for _, _, ident, _ in found} == {"k2", "k1", "k3", "k9", "k4"}


def test_what_took_whose_place_is_told_from_both_ends_and_once() -> None:
    held = beliefs()
    assert steps(walk("k1111111111", steps_of(held, PREDECESSORS), held.by_id)) == [(1, "superseded", "k9", None)]
    assert steps(walk("k9999999999", steps_of(held, SUCCESSORS), held.by_id)) == [(1, "superseded by", "k1", None)]
    assert sum(edge.kind == "supersedes" for edge in all_edges(held.holdings)) == 1


def test_an_item_that_was_superseded_twice_names_both() -> None:
    held = beliefs(LINKED + "- Fact: It moved. <!-- k8888888888 since=2026-03-01 supersedes=k9999999999 -->\n")
    assert [step.id[:2] for step in walk("k9999999999", steps_of(held, SUCCESSORS), held.by_id)] == ["k1", "k8"]


def test_what_is_linked_and_stands_nowhere_is_said() -> None:
    held = beliefs("- Fact: It is so. <!-- k1111111111 since=2026-03-01 because=kfffffffff -->\n")
    assert steps(walk("k1111111111", steps_of(held, GROUNDS), held.by_id)) == [(1, "because of", "kf", Mark.NOWHERE)]


def test_what_is_reached_twice_is_gone_through_once() -> None:
    rows = [("k0000000000", "k1111111111,k2222222222"), ("k1111111111", "k3333333333"), ("k2222222222", "k3333333333")]
    lines = [f"- Fact: {one}. <!-- {one} since=2026-03-01 because={other} -->\n" for one, other in rows]
    held = beliefs("".join([*lines, "- Fact: end. <!-- k3333333333 since=2026-03-01 -->\n"]))
    assert steps(walk("k0000000000", steps_of(held, GROUNDS), held.by_id)) == [
        (1, "because of", "k1", None),
        (2, "because of", "k3", None),
        (1, "because of", "k2", None),
        (2, "because of", "k3", Mark.AGAIN),
    ]


def test_a_chain_of_any_length_is_walked_to_its_end() -> None:
    count = 20_000
    lines = [f"- Fact: {n}. <!-- k{n:010x} since=2026-03-01 because=k{n + 1:010x} -->\n" for n in range(count)]
    held = beliefs("".join(lines))
    found = walk("k0000000000", steps_of(held, GROUNDS), held.by_id)
    assert len(found) == count
    assert (found[-1].depth, found[-1].mark) == (count, Mark.NOWHERE)


def test_an_id_is_known_by_its_beginning() -> None:
    held = beliefs(
        "- Fact: a. <!-- k1234567890 -->\n- Fact: b. <!-- k1234567899 -->\n- Fact: c. <!-- kabcdef0000 -->\n"
    )
    assert named_item("kab", held.by_id) == named_item(" KAB ", held.by_id) == "kabcdef0000"
    assert named_item("k1234567890", held.by_id) == "k1234567890"
    assert named_item("kff", held.by_id, ["kff0000000"]) == "kff0000000"
    with pytest.raises(UnknownItem, match="not unique: k1234567890, k1234567899"):
        named_item("k12345", held.by_id)
    with pytest.raises(UnknownItem, match="No item has the id kff"):
        named_item("kff", held.by_id)


def test_a_line_without_an_id_is_nobodys_end() -> None:
    held = Beliefs.of({"Areas/a.md": Document("Areas/a.md", "- Fact: mine\n- Fact: yours\n")})
    assert (len(held.holdings), dict(held.by_id), all_edges(held.holdings)) == (2, {}, [])
