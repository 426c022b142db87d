"""What held on a day is told from what holds now: by `since` and `until`, by words and by meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pipelines.search.build import update_index
from pipelines.search.embed import embed_index
from pipelines.search.filters import Filters
from pipelines.search.query import SearchRequest, search
from pipelines.search.rank import Ranking
from tests.search.bag import Bag

if TYPE_CHECKING:
    from pathlib import Path

PROJECT = """---
title: Alpha
updated: 2026-02-20
---
The boat lies in the harbour.

## Decisions

- Decision: The boat sails north. <!-- k3 -->
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
        (root / path).parent.mkdir()
        (root / path).write_text(text, encoding="utf-8")
    (root / "Areas").mkdir()
    (root / "Areas/x.md").write_text("a boat of no day\n", encoding="utf-8")
    update_index(root)
    embed_index(root, Bag())
    return root


def held(root: Path, day: str, *, meaning: bool = False) -> set[str]:
    bag = Bag()
    asked = SearchRequest(filters=Filters(as_of=day))
    if meaning:
        vector = bag.embed_query("vessel")
        asked = SearchRequest(Ranking(mode="vector"), Filters(as_of=day), vector, bag.name)
    return {hit.text.rpartition("boat ")[2] for hit in search(root, "boat", 50, (), asked)}


@pytest.mark.parametrize("meaning", [False, True])
@pytest.mark.parametrize(
    ("day", "told"),
    [
        ("2026-01-09", set()),
        ("2026-01-10", {"sails south."}),
        ("2026-01-31", {"sails south.", "leaks"}),
        ("2026-02-01", {"sails east.", "leaks"}),
        ("2026-02-28", {"sails east.", "leaks", "lies in the harbour.", "has a since that is no day.", "north"}),
        ("2026-03-01", {"sails north.", "leaks", "lies in the harbour.", "has a since that is no day."}),
    ],
)
def test_what_held_on_a_day(root: Path, day: str, told: set[str], meaning: bool) -> None:  # noqa: FBT001
    # A line without a day of its own is of its document's last update.
    told = told - {"north"} | ({"sails north."} if "north" in told else set())
    assert held(root, day, meaning=meaning) == told


def test_what_held_once_comes_back_with_its_end(root: Path) -> None:
    hit = search(root, "east", 1, (), SearchRequest(filters=Filters(as_of="2026-02-10")))[0]
    assert (hit.item, hit.status, hit.date, hit.until) == ("k200000002", "superseded", "2026-02-01", "2026-03-01")
    assert search(root, "k200000002", 5, (), SearchRequest(filters=Filters(as_of="2026-02-10")))[0].item == "k200000002"
    assert [one.item for one in search(root, "k200000002 east", 50) if one.item == "k200000002"] == []


def test_what_no_longer_holds_has_vectors_and_takes_nobody_s_place(root: Path) -> None:
    bag = Bag()
    lines = "".join(
        f"- ~~Fact: boat {number}.~~ <!-- k7{number:08} since=2026-01-01 until=2026-01-02 superseded-by=k3ff -->\n"
        for number in range(150)
    )
    (root / "Areas/old.md").write_text(f"{lines}- Fact: a boat among very many other words of no use here\n", "utf-8")
    update_index(root)
    embed_index(root, bag)
    asked = SearchRequest(vector=bag.embed_query("vessel"), embedder=bag.name)
    for how in (SearchRequest(), asked):
        assert "Areas/old.md:151" in {f"{hit.path}:{hit.start_line}" for hit in search(root, "boat", 10, (), how)}
    assert len(search(root, "boat", 500, (), SearchRequest(filters=Filters(as_of="2026-01-01")))) == 150
