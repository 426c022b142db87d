"""`curate audit`: what is believed of a topic, and how well it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from pipelines.search import embed as meaning
from tests.queries.making import LINKED, WAITING, asked
from tests.search.bag import Bag

if TYPE_CHECKING:
    from typing import Any

    from tests.conftest import Memory


@pytest.fixture(name="linked")
def fixture_linked(memory: Memory) -> Memory:
    """Return a memory with links, a contradiction that waits, and a log that holds some of the evidence."""
    memory.write("Projects/alpha.md", LINKED)
    memory.write("Review.md", WAITING)
    memory.write("Areas/other.md", "# Other\n\n- Fact: The moon is far. <!-- kaaaaaaaaaa since=2026-03-01 -->\n")
    return memory


def said(found: list[dict[str, Any]]) -> list[str]:
    return [one["id"][:2] for one in found]


def test_all_of_a_document_is_shown_with_how_well_it_stands(linked: Memory) -> None:
    told = asked(linked, "audit", "Alpha")
    assert said(told["current"]) == ["k1", "k3", "k2", "k4", "k5"]
    assert said(told["superseded"]) == ["k9"]
    assert said(told["waiting"]) == ["k7"]
    assert {one["id"][:2]: one["weak"] for one in told["current"]} == {
        "k1": ["its quote is no longer in Logs/2026-02-20.md"],
        "k3": ["low confidence", "no evidence"],
        "k2": ["no evidence", "last confirmed on 2024-01-05"],
        "k4": ["no evidence; a person wrote it"],
        "k5": ["no evidence"],
    }
    text = linked.curate("audit", "Alpha")
    for line in ("Current (5)", "Superseded or closed (1)", "Waiting in Review.md (1)", "! low confidence"):
        assert line in text


def test_a_topic_of_which_nothing_is_known_is_said(linked: Memory) -> None:
    assert linked.curate("audit", "submarine") == "Nothing is believed about submarine.\n"
    assert "topic is empty" in linked.curate("audit", "  ", exits=2)


def test_what_nobody_spoke_of_is_not_answered_with_what_is_nearest(
    linked: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    bag = Bag()
    monkeypatch.setattr(meaning, "chosen_embedder", lambda: (bag, ""))
    linked.curate("index")
    assert said(asked(linked, "audit", "the moon")["current"]) == ["ka"]
    vector = 0.3 * bag.embed_query("Fact: The moon is far. (1 March 2026)")
    vector[int(np.argmin(np.abs(vector)))] = np.sqrt(1 - 0.3**2)  # where the moon has nothing
    monkeypatch.setattr(bag, "embed_query", lambda _: vector)
    assert linked.curate("audit", "qqqq").startswith("Nothing is believed about qqqq.")


def test_why_shows_all_that_would_come_into_question(linked: Memory) -> None:
    told = asked(linked, "why", "k555")
    assert [(step["depth"], step["id"][:2]) for step in told["impact"]][:2] == [(1, "k2"), (2, "k1")]
    assert "is supported by it k2222222222 Fact: There are 40 orders a day." in linked.curate("why", "k555")
    assert "Needed by" not in linked.curate("why", "kaaa")
