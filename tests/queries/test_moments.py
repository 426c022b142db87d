"""What held on a day, by since and until."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.queries.making import LINKED, WAITING, asked

if TYPE_CHECKING:
    from tests.conftest import Memory


def texts(memory: Memory, *arguments: str) -> set[str]:
    return {item["text"] for item in asked(memory, "items", *arguments)}


def found(memory: Memory, *arguments: str) -> set[str]:
    return {hit["text"] for hit in json.loads(memory.curate("search", *arguments, "--json"))["results"]}


@pytest.fixture(name="grown")
def fixture_grown(memory: Memory) -> Memory:
    """Return a memory that learnt something on two days and unlearnt it by hand on a third."""
    for day, line in ((10, "The port is 8080"), (11, "The host is kiel")):
        memory.write(f"Logs/2026-03-{day}.md", f"- Fact: {line}.\n")
        memory.curate("run", "--now", f"2026-03-{day + 1}T02:00")
    path = asked(memory, "items")[0]["document"]
    memory.write(path, memory.read(path).replace("8080", "9090"))
    memory.write("Logs/2026-03-12.md", "- nothing\n")
    memory.curate("run", "--now", "2026-03-13T02:00")
    return memory


def test_what_held_on_a_day_goes_by_since_and_until_alike_in_items_search_and_audit(memory: Memory) -> None:
    memory.write("Projects/alpha.md", LINKED)
    memory.write("Review.md", WAITING)
    for day, held in (
        ("2026-02-10", "Orders are kept in Postgres."),
        ("2026-02-20", "Orders are kept in SQLite."),
        ("2026-03-05", "Orders are kept in SQLite."),
    ):
        decisions = texts(memory, "--as-of", day, "--type", "Decision")
        assert decisions - {"One machine is enough."} == {held}
        assert {text for text in found(memory, "orders kept", "--as-of", day) if "kept" in text} == {
            f"Decision: {held}"
        }
        told = asked(memory, "audit", "alpha", "--as-of", day)
        assert {one["text"] for one in told["current"] if "kept" in one["text"]} == {held}
    assert "There are 90 orders a day." not in texts(memory, "--as-of", "2026-03-06")
    told = asked(memory, "audit", "alpha", "--as-of", "2026-03-05")
    assert [one["text"] for one in told["superseded"]] == ["Orders are kept in Postgres."]


def test_a_day_before_the_first_is_answered_plainly(grown: Memory) -> None:
    assert "The memory begins on 2026-03-10." in grown.curate("items", "--as-of", "2020-01-01")
    assert texts(grown, "--as-of", "2027-01-01") == {"The port is 9090.", "The host is kiel."}


def test_what_is_no_day_is_said(memory: Memory) -> None:
    for verb in (["items"], ["search", "port"], ["audit", "port"]):
        assert "“soon” is not a day. Write 2026-04-09" in memory.curate(*verb, "--as-of", "soon", exits=2)
