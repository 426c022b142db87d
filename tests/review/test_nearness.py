"""Neighbours by meaning: found without a common word, by vectors that the index keeps."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from pipelines.errors import ModelFailed
from pipelines.review import meaning as nearness
from pipelines.review.existing_items import Belief, KnownItems
from pipelines.review.meaning import Vectors, kept_in
from pipelines.review.verification import posed
from pipelines.search.embed import embed_index
from pipelines.search.embedders import choose_embedder as choose
from pipelines.store.item import Item, ItemType, Status
from tests.making import candidate
from tests.review.ruling import context, rulings
from tests.search.bag import Bag

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType

    import numpy as np
    import pytest
    from numpy.typing import NDArray

    from tests.conftest import Memory

PLACE = "Areas/general.md"
FACT = ItemType.FACT
HELD = Item(FACT, "The vessel sails", "k1111111111", since="2026-03-01")
SAID = candidate("A boat, a boat, a boat", FACT)
LOG = "- Fact: The red vessel sails with the happy physician\n"
NAMES = ("Anna", "Bela", "Carl", "Dora", "Emil", "Fritz", "Gerda", "Hans", "Ida", "Jan", "Karl", "Lena", "Mia", "Nora")
"""So many share more words with what is said than the one item that says the same."""
ELSEWHERE = "Areas/elsewhere.md"
"""What is held in the candidate's own document is near to it by that."""
OTHER_WORDS = "- Fact: The red boat sails with the cheerful doctor\n"


def near(vectors: Vectors, *held: Item) -> list[str]:
    there = [(PLACE if item.type is ItemType.TODO else ELSEWHERE, item) for item in held]
    return [one.item.id for one in KnownItems(there, vectors).near(SAID, PLACE)]


def test_an_item_without_a_common_word_is_a_neighbour_where_there_are_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nearness, "LEAST", 0.2)
    closed = Item(FACT, "A vessel it was", "k3333333333", since="2026-01-01", status=Status.SUPERSEDED)
    task = Item(ItemType.TODO, "Buy a vessel", "k4444444444", Status.OPEN, "2026-01-01")
    assert near(Vectors(Bag), HELD, closed) == [HELD.id, closed.id]
    assert near(Vectors(), HELD, closed) == []
    assert near(Vectors(), HELD, closed, task) == [task.id], "what is open in its document is near by that"


def test_what_is_let_in_tonight_is_a_neighbour_of_what_follows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nearness, "LEAST", 0.2)
    known = KnownItems([(PLACE, HELD)], Vectors(Bag))
    assert [one.item.id for one in known.near(SAID, PLACE)] == [HELD.id]
    for text in (*(f"{at} words of nothing" for at in range(200)), SAID.text):
        known.add(Belief(Item(FACT, text, f"n{len(text)}", since=SAID.day), PLACE, SAID.day, is_new=True))
    assert known.near(SAID, PLACE)[0].item.text == SAID.text


def test_it_is_a_pair_for_the_second_reader_only_with_words_in_common(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nearness, "LEAST", 0.2)
    for text, pairs in (("The vessel sails", []), ("A boat, as ever a boat, sails", [HELD.id])):
        by = context([(PLACE, replace(HELD, text=text))], home=PLACE, vectors=Vectors(Bag))
        found = posed(rulings([replace(SAID, text="A boat, as ever, is a boat", by="a:1")], by), by.known)
        assert [one.other for one in found if one.other] == pairs, text


def test_too_many_items_without_a_vector_are_left_to_the_index() -> None:
    bag, texts = Bag(), [f"sentence {at}" for at in range(nearness.MOST_MISSING + 1)]
    vectors = Vectors(lambda: bag)
    assert vectors.rows(texts, held=True) is None
    assert not bag.asked
    assert near(vectors, HELD) == []
    assert not vectors.used
    whole = Vectors(lambda: bag, most=None).rows(texts, held=True)
    assert whole is not None
    assert len(whole) == len(texts)


def test_a_model_that_fails_costs_nothing() -> None:
    class Failing(Bag):
        def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
            raise ModelFailed("bag", f"cannot embed {len(texts)}")

    def damaged() -> Bag:
        raise ModelFailed("bag", "is damaged")

    assert near(Vectors(Failing), HELD) == near(Vectors(damaged), HELD) == []


def test_a_night_asks_for_no_vector_that_the_index_has(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    bag = Bag()
    monkeypatch.setattr(choose, "choose_local", lambda _: bag)
    memory.write("Logs/2026-03-11.md", LOG)
    memory.curate("run", "--now", "2026-03-12T02:00")
    embed_index(memory.root, bag)
    bag.asked.clear()
    memory.write("Logs/2026-03-12.md", "- Fact: Otto tends the garden\n")
    memory.curate("run", "--now", "2026-03-13T02:00")
    assert bag.asked
    assert not [text for text in bag.asked if "vessel" in text]
    for path in (memory.root / ".curate").glob("vectors-*"):
        path.write_bytes(b"no vectors" * 1000)
    assert not kept_in(memory.root, bag, ["whatever"])


def test_items_get_their_vectors_before_everything_else(memory: Memory) -> None:
    memory.write("Logs/2026-03-11.md", LOG + "".join(f"- line {at} of a long day\n" for at in range(300)))
    memory.curate("run", "--now", "2026-03-12T02:00")
    bag = Bag("test:other")
    embed_index(memory.root, bag)
    assert bag.asked[0].startswith("Fact: The red vessel sails")


def calls(known: KnownItems) -> int:
    """Return how many functions of Python's one look-up enters."""
    entered = 0

    def count(_frame: FrameType, event: str, _what: object) -> None:
        nonlocal entered
        entered += event == "call"

    known.near(SAID, PLACE)
    before = sys.getprofile()
    sys.setprofile(count)
    try:
        known.near(SAID, PLACE)
    finally:
        sys.setprofile(before)
    return entered


def test_a_look_up_does_not_walk_through_all_that_is_held() -> None:
    """Of what shares a common word, of what is open, and of what is closed alike."""
    work = []
    for count in (500, 4000):
        held = [
            Item(kind, f"Boat {at} of many", f"k{at:010x}", status, "2026-01-01")
            for at in range(count)
            for kind, status in ((FACT, Status.LIVE), (ItemType.TODO, Status.OPEN), (FACT, Status.SUPERSEDED))
        ]
        work.append(calls(KnownItems((PLACE, item) for item in held)))
    assert work[1] <= work[0] * 1.1


def test_what_ended_is_found_among_what_is_closed() -> None:
    held = [Item(FACT, f"The boat {at} sails", f"k{at:010x}", since="2026-01-01") for at in range(3)]
    known = KnownItems((PLACE, item) for item in held)
    known.near(SAID, PLACE)
    ending = known.find(held[1].id)
    assert ending
    known.take_out(ending, Status.ENDED, "2026-02-01", "2026-02-01")
    found = known.near(SAID, PLACE)
    assert [one.item.id for one in found] == [held[0].id, held[2].id, held[1].id]
    assert not found[-1].current
