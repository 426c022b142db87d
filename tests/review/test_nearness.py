"""Neighbours by words: no look-up walks through all that is held."""

from pipelines.search.embed import embed_index
from tests.conftest import Memory
from tests.search.bag import Bag


def test_items_get_their_vectors_before_everything_else(memory: Memory) -> None:
    memory.day("2026-03-11", "- Fact: The red vessel sails\n" + "- a line of a long day\n" * 300)
    bag = Bag("test:other")
    embed_index(memory.root, bag)
    assert bag.asked[0].startswith("Fact: The red vessel sails")
