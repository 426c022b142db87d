"""A correction that matched nothing asks what it replaces, and every place of an answer carries it out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.test_review import typed
from tests.view.browsing import Browser

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Memory

PAGE = "Projects/tidewater.md"
OLD, NEW = "Ines's hourly rate is 95 EUR", "Ines's hourly rate is 105 EUR from January 2027"
TODO = "Raise the hourly rate of Ines"


def told(memory: Memory, *arguments: str) -> Any:
    return json.loads(memory.curate(*arguments, "--json"))


def status(memory: Memory) -> dict[str, str]:
    return {one["text"]: one["status"] for one in told(memory, "items")}


@pytest.fixture
def asked(memory: Memory) -> Memory:
    memory.write(
        "Logs/2026-03-11.md", f"project: Tidewater\n\n- Decision: {OLD}\n- Todo: {TODO}\n- Fact: The kettle leaks\n"
    )
    memory.curate("run", "--now", "2026-03-12T02:00")
    memory.write("Logs/2026-03-12.md", f"project: Tidewater\n\n- Correction: {NEW}\n")
    memory.curate("run", "--now", "2026-03-13T02:00")
    return memory


def choice(memory: Memory, text: str) -> str:
    [question] = told(memory, "review")
    return str(next(one["choice"] for one in question["choices"] if text in one["means"]))


def by_command(memory: Memory) -> None:
    ident = told(memory, "review")[0]["id"]
    memory.curate("review", ident, "--choose", choice(memory, OLD), "--now", "2026-03-13T09:00")


def by_tick(memory: Memory) -> None:
    word = choice(memory, OLD)
    memory.write("Review.md", memory.read("Review.md").replace(f"- [ ] {word}", f"- [x] {word}"))
    memory.curate("run", "--now", "2026-03-14T02:00")


def on_the_page(memory: Memory) -> None:
    browser, ident = Browser(memory).enter(), told(memory, "review")[0]["id"]
    page = browser.get("/inbox")
    assert OLD.replace("'", "&#39;") in page
    assert "<kbd>1</kbd>" in page
    browser.post("/do", verb="review", id=ident, choice=choice(memory, OLD))


def by_key(memory: Memory) -> None:
    assert "[1] replaces" in typed(memory, "1")


@pytest.mark.parametrize("answer", [by_command, by_key, by_tick, on_the_page])
def test_what_a_person_chooses_is_replaced(asked: Memory, answer: Callable[[Memory], None]) -> None:
    assert status(asked)[OLD] == "live"
    answer(asked)
    assert status(asked) == {OLD: "superseded", NEW: "live", TODO: "open", "The kettle leaks": "live"}
    [new] = [one for one in told(asked, "items") if one["text"] == NEW]
    assert (new["type"], new["trust"], new["document"]) == ("Decision", "owner", PAGE)
    [old] = [one for one in told(asked, "items") if one["text"] == OLD]
    assert old["superseded_by"] == new["id"]
    assert told(asked, "review") == []
    assert "nothing is broken" in asked.curate("check")


def test_it_offers_the_nearest_and_not_what_has_nothing_in_common(asked: Memory) -> None:
    [question] = told(asked, "review")
    means = [one["means"] for one in question["choices"]]
    assert OLD in means[0]
    assert not any("kettle" in one for one in means)
    assert [one["choice"] for one in question["choices"]][-2:] == ["keep both", "drop"]


def test_a_yes_that_could_mean_two_things_changes_nothing(asked: Memory) -> None:
    ident, before = told(asked, "review")[0]["id"], asked.files()
    said = asked.curate("review", ident, "--accept", exits=2)
    assert choice(asked, OLD) in said
    assert asked.files() == before


def test_a_yes_replaces_the_only_one_that_is_offered(memory: Memory) -> None:
    memory.write("Logs/2026-03-11.md", f"project: Tidewater\n\n- Fact: {OLD}\n")
    memory.curate("run", "--now", "2026-03-12T02:00")
    memory.write("Logs/2026-03-12.md", f"project: Tidewater\n\n- Correction: {NEW}\n")
    memory.curate("run", "--now", "2026-03-13T02:00")
    memory.curate("review", told(memory, "review")[0]["id"], "--accept", "--now", "2026-03-13T09:00")
    assert status(memory) == {OLD: "superseded", NEW: "live"}
    memory.curate("undo", "--now", "2026-03-13T09:05")
    assert status(memory)[OLD] == "live"
    assert len(told(memory, "review")) == 1


def test_a_todo_is_replaced_by_a_todo_in_words_of_ones_own(asked: Memory) -> None:
    ident, own = told(asked, "review")[0]["id"], "Raise the rate of Ines in January 2027"
    asked.curate("review", ident, "--choose", choice(asked, TODO), "--text", own, "--now", "2026-03-13T09:00")
    assert status(asked) == {OLD: "live", TODO: "superseded", own: "open", "The kettle leaks": "live"}
    assert f"- [ ] Todo: {own}" in asked.read(PAGE)


def test_both_are_kept_or_the_new_one_dropped_on_request(asked: Memory) -> None:
    ident = told(asked, "review")[0]["id"]
    asked.curate("review", ident, "--choose", "keep both", "--now", "2026-03-13T09:00")
    assert (status(asked)[OLD], status(asked)[NEW]) == ("live", "live")
    asked.curate("undo", "--now", "2026-03-13T09:05")
    asked.curate("review", ident, "--reject", "--now", "2026-03-13T09:10")
    assert (status(asked)[OLD], status(asked).get(NEW)) == ("live", None)


def test_an_item_that_ended_meanwhile_is_not_struck_again(asked: Memory) -> None:
    ident, word = told(asked, "review")[0]["id"], choice(asked, OLD)
    old = next(one["id"] for one in told(asked, "items") if one["text"] == OLD)
    asked.curate("correct", old, "Ines's hourly rate is 99 EUR", "--now", "2026-03-13T09:00")
    asked.curate("review", ident, "--choose", word, "--now", "2026-03-13T09:05")
    assert status(asked)["Ines's hourly rate is 99 EUR"] == "superseded"
    assert status(asked)[NEW] == "live"
    assert "nothing is broken" in asked.curate("check")
