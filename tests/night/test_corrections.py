"""A correction that matched nothing asks about the nearest, and every place of an answer carries it out."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.conftest import Memory

PAGE = "Projects/tidewater.md"
OLD, NEW = "Ines's hourly rate is 95 EUR", "Ines's hourly rate is 105 EUR from January 2027"
TODO = "Raise the hourly rate of Ines"


def told(memory: Memory, *arguments: str) -> Any:
    return memory.json(*arguments)


def status(memory: Memory) -> dict[str, str]:
    return {one["text"]: one["status"] for one in told(memory, "items")}


@pytest.fixture
def asked(memory: Memory) -> Memory:
    memory.day("2026-03-11", f"project: Tidewater\n\n- Decision: {OLD}\n- Todo: {TODO}\n- Fact: The kettle leaks\n")
    memory.day("2026-03-12", f"project: Tidewater\n\n- Correction: {NEW}\n")
    return memory


def by_command(memory: Memory) -> None:
    memory.curate("review", told(memory, "review")[0]["id"], "--accept", "--now", "2026-03-13T09:00")


def by_tick(memory: Memory) -> None:
    memory.write("Review.md", memory.read("Review.md").replace("- [ ] keep new", "- [x] keep new"))
    memory.night("2026-03-14T02:00")


@pytest.mark.parametrize("answer", [by_command, by_tick])
def test_on_a_yes_the_nearest_is_replaced(asked: Memory, answer: Callable[[Memory], None]) -> None:
    assert status(asked)[OLD] == "live"
    answer(asked)
    assert status(asked) == {OLD: "superseded", NEW: "live", TODO: "open", "The kettle leaks": "live"}
    [new] = [one for one in told(asked, "items") if one["text"] == NEW]
    assert (new["type"], new["trust"], new["document"]) == ("Decision", "owner", PAGE)
    [old] = [one for one in told(asked, "items") if one["text"] == OLD]
    assert old["superseded_by"] == new["id"]
    assert told(asked, "review") == []
    assert "nothing is broken" in asked.curate("check")


def test_what_a_correction_does_not_name_stays(memory: Memory) -> None:
    memory.day("2026-03-11", "- Fact: The camera is a FLIR A50 and has to be back on 20 November.\n")
    memory.day("2026-03-12", "- Correction: The camera is a FLIR A70, not A50.\n")
    assert status(memory)["The camera is a FLIR A70 and has to be back on 20 November."] == "live"
