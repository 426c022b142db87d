"""Search never keeps back what it found: weak hits are returned and marked, and what has no vector yet is ranked."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pipelines import Memory as Library
from pipelines.errors import ModelFailed
from pipelines.search import embed as meaning
from tests.cli.test_capture import said as record
from tests.cli.test_capture import transcript
from tests.mcp.test_mcp_server import said, talk
from tests.search.bag import Bag
from tests.view.browsing import Browser
from tests.view.test_view_pages import words

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np
    from mcp.client.client import Client
    from numpy.typing import NDArray

    from tests.conftest import Memory

LOG = """\
- Decision: Pushing to production means tagging a release.
- Fact: The staff canteen closes at two in the afternoon.
- talked to the landlord about the broken heater
- the release train of last spring was late, and so was everybody
- the vessel that we bought last summer needs new paint along its bow, its stern and both of its rails
"""
WEAK = "Which canteen accepts luncheon vouchers?"  # one word of four occurs
LITTLE = "Little was found: no hit is close to the question."
TODAY = "2026-03-18T10:00"


@pytest.fixture(name="lived")
def with_a_night(memory: Memory) -> Memory:
    memory.day("2026-03-16", LOG)
    return memory


@pytest.fixture(name="bag")
def embedder(monkeypatch: pytest.MonkeyPatch) -> Bag:
    bag = Bag(dimension=256)
    monkeypatch.setattr(meaning, "chosen_embedder", lambda: (bag, "a bag"))
    return bag


@pytest.fixture(name="embedded")
def with_vectors(bag: Bag, lived: Memory) -> Memory:
    assert bag.asked
    return lived


def asked(memory: Memory, query: str, *more: str) -> dict[str, Any]:
    told = memory.curate("search", query, "--json", *more)
    answer: dict[str, Any] = json.loads(next(line for line in told.splitlines() if line.startswith("{")))
    return answer


def texts(memory: Memory, query: str, *more: str) -> list[str]:
    return [hit["text"] for hit in asked(memory, query, *more)["results"]]


def test_a_weak_hit_is_returned_and_marked_wherever_one_searches(lived: Memory) -> None:
    line = "Fact: The staff canteen closes at two in the afternoon."
    answer = asked(lived, WEAK)
    assert (answer["found"], answer["results"][0]["text"]) == ("little", line)
    printed = lived.curate("search", WEAK)
    assert printed.startswith(LITTLE)
    assert line in printed
    library = Library(lived.root).search(WEAK)
    assert (library.found, library.hits[0].text) == ("little", line)
    page = words(Browser(lived).enter().get("/items?q=Which+canteen+accepts+luncheon+vouchers"))
    assert LITTLE in page
    assert line in page

    async def story(client: Client) -> None:
        told = await said(client, "memory_search", query=WEAK)
        assert line in told
        assert LITTLE in told

    talk(lived.root, story)


def test_nothing_is_said_only_where_there_is_no_hit(lived: Memory) -> None:
    for query in ("kubernetes", "?!", " "):
        assert asked(lived, query) | {"query": ""} == {"query": "", "found": "nothing", "results": [], "notes": []}
        assert "Nothing was found." in lived.curate("search", query)
    assert asked(lived, "heater")["found"] == "yes"
    assert asked(lived, "the landlord's heater")["found"] == "yes"


def test_other_words_for_the_same_are_found_however_far_they_are(embedded: Memory) -> None:
    answer = asked(embedded, "a boat trip")
    assert answer["found"] == "little"
    assert answer["results"][0]["text"].startswith("- the vessel that we bought")
    assert asked(embedded, "a vessel to paint")["found"] == "yes"


def test_an_embedder_receives_nothing_but_what_search_covers_and_what_is_asked(
    memory: Memory, bag: Bag, monkeypatch: pytest.MonkeyPatch
) -> None:
    questions, answering = list[str](), Bag(dimension=256)

    def embed_query(query: str) -> NDArray[np.float32]:
        questions.append(query)
        return answering.embed_query(query)

    monkeypatch.setattr(bag, "embed_documents", answering.embed_documents)
    monkeypatch.setattr(bag, "embed_query", embed_query)
    memory.day("2026-03-16", LOG)
    assert questions == []
    asked(memory, "a boat trip")
    assert questions == ["a boat trip"]


def test_a_note_of_today_is_found_by_its_words_before_a_run_embeds_it(embedded: Memory, bag: Bag) -> None:
    embedded.write("Areas/pears.md", "".join(f"- the pears of crate {number} are ripe\n" for number in range(20)))
    embedded.curate("index")
    bag.asked.clear()
    embedded.curate("log", "the release train leaves on Thursday from platform four", "--now", TODAY)
    query = "release train Thursday platform"
    assert any(text.endswith("platform four") for text in texts(embedded, query)[:1])
    assert any(hit.text.endswith("platform four") for hit in Library(embedded.root).search(query).hits[:1])
    assert bag.asked == []


class Interrupted(Bag):
    """Answers for a number of texts, and then no more."""

    def __init__(self, most: int, name: str = "test:bag") -> None:
        super().__init__(name, 256)
        self.most = most

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.most -= len(texts)
        if self.most < 0:
            raise ModelFailed("bag", "is gone")
        return super().embed_documents(texts)


def half_embedded(memory: Memory, monkeypatch: pytest.MonkeyPatch, bag: Interrupted) -> None:
    """Embed a part of a memory, one text per call."""
    monkeypatch.setattr(meaning, "chosen_embedder", lambda: (bag, "a bag"))
    monkeypatch.setattr(meaning, "BATCH", 1)
    assert "found only by words" in memory.curate("index")


@pytest.mark.parametrize("most", [1, 3, 6])
def test_a_memory_that_is_embedded_in_part_is_searched_by_both(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    memory.write("Areas/new.md", "- Decision: We sail the ship to Cadiz.\n")
    old = "".join(f"- the pears of crate {number} are {kind}\n" for number, kind in enumerate(("ripe", "green") * 4))
    memory.write("Logs/2026-03-01.md", old)
    memory.night("2026-03-17T02:00")
    half_embedded(memory, monkeypatch, Interrupted(most))
    assert "Cadiz" in texts(memory, "boat")[0]
    assert texts(memory, "green pears of crate 7")[0].endswith("crate 7 are green")


def test_a_refused_text_is_ranked_by_its_words(memory: Memory, bag: Bag) -> None:
    memory.day("2026-03-16", "- the poison is kept in the shed\n- the ship is kept in the dock\n")
    assert bag.failing
    assert "poison" in texts(memory, "where is the poison kept")[0]


def test_after_a_change_of_the_model_words_and_the_new_vectors_rank(
    embedded: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    half_embedded(embedded, monkeypatch, Interrupted(2, "test:other"))
    assert texts(embedded, "broken heater")[0].endswith("broken heater")
    assert texts(embedded, "tagging releases")[0].startswith("Decision: Pushing to production")


def test_the_end_of_a_long_turn_is_found_though_the_log_has_its_beginning(memory: Memory, tmp_path: Path) -> None:
    long = "\n\n".join(f"Paragraph {number} is about the harbour. " + "We waited. " * 40 for number in range(12))
    turn = record("assistant", f"{long}\n\nAt last the zeppelin landed.", "2026-03-17T21:30:00Z")
    memory.curate("capture", str(transcript(tmp_path / "a.jsonl", turn)), "--now", "2026-03-18T12:00")
    assert "zeppelin" not in memory.read("Logs/2026-03-17.md")
    assert any("zeppelin" in text for text in texts(memory, "zeppelin"))
    found = [hit["path"] for hit in asked(memory, "Paragraph 1 is about the harbour")["results"][:1]]
    assert found == ["Logs/2026-03-17.md"]


def test_who_asks_for_something_done_by_its_name_gets_it(lived: Memory) -> None:
    lines = "- looked at the crane\n- Todo: Grease the winch.\n- looked at the mast\n- long talk about the tide\n"
    lived.write("Logs/2026-03-17.md", lines)
    lived.day("2026-03-18", "- Done: Grease the winch.\n- looked at the buoys\n")
    assert lived.json("search", "winch")["results"][0]["text"] == "Todo: Grease the winch."
