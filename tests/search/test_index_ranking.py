"""Ranking as pure functions, filters, and what explains a hit."""

import json
from pathlib import Path

import pytest

from benchmarks.searching import search
from pipelines.search.build import update_index
from pipelines.search.embed import embed_index
from pipelines.search.filters import Filters
from pipelines.search.query import SearchRequest
from tests.making import plant
from tests.search.bag import Bag

DOCUMENT = """---
title: Alpha Station
---
- Decision: Rent the boat. <!-- k7f3a9c2b10 since=2026-02-11 trust=self confidence=high -->
- Fact: A boat leaks. <!-- k55b01aa07c since=2026-03-18 trust=untrusted confidence=low -->
"""


@pytest.fixture(name="root")
def filled(root: Path) -> Path:
    for path, text in {"Logs/2026-01-01.md": "- the boat is blue\n", "Projects/alpha.md": DOCUMENT}.items():
        plant(root, path, text)
    plant(root, "Areas/x.md", "an undated vessel\n")
    update_index(root)
    embed_index(root, Bag())
    return root


def asked(filters: Filters | None = None) -> SearchRequest:
    bag = Bag()
    return SearchRequest(filters or Filters(), bag.embed_query("boat"), bag.name)


def found(root: Path, how: SearchRequest) -> list[str]:
    return [f"{hit.path.partition('/')[0]}:{hit.start_line}" for hit in search(root, "boat", 10, (), how)]


def test_an_item_that_is_named_leaves_the_others_as_they_stand(root: Path) -> None:
    lines = ("the boat", "boat, boat, boat", "a vessel that nobody rents", "rent")
    plant(root, "Logs/2026-01-02.md", "".join(f"- {line}\n" for line in lines))
    update_index(root)
    embed_index(root, Bag())
    plain, other = (
        search(root, query, 10, (), asked()) for query in ("blue boat", "k55b01aa07c k7f3a9c2b10 blue boat")
    )
    places = [(hit.path, hit.start_line) for hit in plain if not hit.item]
    assert [(hit.path, hit.start_line) for hit in other[2:]] == places
    assert {hit.item for hit in other[:2]} == {"k55b01aa07c", "k7f3a9c2b10"}
    assert all(hit.score < 2 for hit in other[2:])


RULES = """# Ways

- Rule: A vessel shows lights. <!-- k1111111110 since=2026-01-01 trust=owner confidence=high -->
- Rule: Clean cups daily. <!-- k2222222220 since=2026-01-01 trust=owner confidence=high -->
- [x] ~~Rule: A vessel shows flags.~~ <!-- k3333333330 since=2026-01-01 until=2026-01-02 by=k1111111110 trust=owner -->
- Fact: A vessel shows names. <!-- k4444444440 since=2026-01-01 trust=owner confidence=high -->
"""
OWNER = "# User\n\n- Fact: My vessel sails. <!-- k5555555550 since=2026-01-01 trust=owner confidence=high -->\n"


def test_rules_that_bear_on_a_question_come_after_five_hits_whatever_their_words(root: Path) -> None:
    plant(root, "Logs/2026-01-01.md", "".join(f"- boat{n * ' sand'}\n" for n in range(12)))
    plant(root, "Areas/ways.md", RULES)
    plant(root, "USER.md", OWNER)
    update_index(root)
    embed_index(root, Bag())
    hits = search(root, "boat", 10, (), asked())
    assert {hit.item for hit in hits[5:7]} == {"k1111111110", "k5555555550"}
    assert not {"k2222222220", "k3333333330", "k4444444440"} & {hit.item for hit in hits}
    assert [hit.item for hit in search(root, "boat", 7, (), asked())] == [hit.item for hit in hits[:7]]
    logs = search(root, "boat", 10, (), asked(Filters(sources=("log",))))
    assert {hit.path for hit in logs} == {"Logs/2026-01-01.md"}
    assert not search(root, "boat", 10, {"Areas/ways.md", "USER.md"}, asked())[5].item


def test_a_reply_comes_after_what_the_owner_said(root: Path) -> None:
    turns = [("assistant", "The ferry sails at nine"), ("user", "The ferry sails at nine, as I said before all that")]
    lines = [json.dumps({"role": role, "content": text, "timestamp": "2026-03-18T09:00:00Z"}) for role, text in turns]
    (root / "Sessions").mkdir(exist_ok=True)
    plant(root, "Sessions/s.jsonl", "\n".join((*lines, "")))
    update_index(root)
    spoken = SearchRequest(filters=Filters(sources=("session",)))
    assert [hit.start_line for hit in search(root, "ferry sails nine", 5, (), spoken)] == [2, 1]
