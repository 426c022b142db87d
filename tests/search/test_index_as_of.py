"""What held on a day is told from what holds now: by `since` and `until`, by words and by meaning."""

from pathlib import Path

import pytest

from benchmarks.searching import search
from pipelines.search.build import update_index
from pipelines.search.embed import embed_index
from pipelines.search.filters import Filters
from pipelines.search.query import SearchRequest
from tests.making import plant
from tests.search.bag import Bag

PROJECT = """---
title: Alpha
updated: 2026-02-20
---
The boat lies in the harbour.

## Decisions

- Decision: The boat sails north. <!-- k333333333 -->
- Decision: The boat sails north. <!-- k300000003 since=2026-03-01 supersedes=k200000002 -->
- Fact: The boat has a since that is no day. <!-- k400000004 since=soon until=later -->
- [ ] Todo: Paint the boat. <!-- k500000005 since=2026-01-15 status=waiting -->

## History

- ~~Decision: The boat sails south.~~ <!-- k100000001 since=2026-01-10 until=2026-02-01 superseded-by=k200000002 -->
- ~~Decision: The boat sails east.~~ <!-- k200000002 since=2026-02-01 until=2026-03-01 superseded-by=k300000003 -->
- ~~Fact: The boat was struck on no known day.~~ <!-- k600000006 since=2026-01-01 -->
"""


@pytest.fixture(name="root")
def filled(root: Path) -> Path:
    for path, text in {"Logs/2026-01-20.md": "- the boat leaks\n", "Projects/alpha.md": PROJECT}.items():
        plant(root, path, text)
    plant(root, "Areas/x.md", "a boat of no day\n")
    update_index(root)
    embed_index(root, Bag())
    return root


def held(root: Path, day: str, *, meaning: bool = False) -> set[str]:
    bag = Bag()
    asked = SearchRequest(filters=Filters(as_of=day))
    if meaning:
        vector = bag.embed_query("vessel")
        asked = SearchRequest(Filters(as_of=day), vector, bag.name)
    return {hit.text.rpartition("boat ")[2] for hit in search(root, "boat", 50, (), asked)}


def test_what_no_longer_holds_has_vectors_and_takes_nobody_s_place(root: Path) -> None:
    bag = Bag()
    lines = "".join(
        f"- ~~Fact: boat {number}.~~ <!-- k7{number:08} since=2026-01-01 until=2026-01-02 superseded-by=k3ff -->\n"
        for number in range(150)
    )
    plant(root, "Areas/old.md", f"{lines}- Fact: a boat among very many other words of no use here\n")
    update_index(root)
    embed_index(root, bag)
    asked = SearchRequest(vector=bag.embed_query("vessel"), embedder=bag.name)
    for how in (SearchRequest(), asked):
        assert "Areas/old.md:151" in {f"{hit.path}:{hit.start_line}" for hit in search(root, "boat", 10, (), how)}
    assert len(search(root, "boat", 500, (), SearchRequest(filters=Filters(as_of="2026-01-01")))) == 150
