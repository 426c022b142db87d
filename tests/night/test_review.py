"""What becomes of what a model reads: it is added, repeats, replaces or contradicts, within its bounds."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from pipelines.store.item import Status
from tests.asking import tick
from tests.conftest import Memory
from tests.reviewing import (
    ALPHA,
    Reader,
    by_id,
    curate,
    hold,
    item,
    items,
    labelled,
    log,
    operation,
    replaces,
    reply,
)

SELF = "since=2026-03-01 trust=self confidence=high by=rules@1 -->"
HOST = f"Fact: The billing jobs are hosted by Hetzner. <!-- k1111111111 {SELF}"
PORT = f"Fact: The gateway listens on port 8080. <!-- k2222222222 {SELF}"
NEW_TEXT = "Scaleway hosts the billing jobs."
NEW_HOST = f"Fact: {NEW_TEXT}"
REPEAT = "Fact: The gateway process listens on port 8080."


def of_pairs(verdict: str) -> Callable[[dict[str, Any]], str]:
    """Return a verifier that supports all, and says this of each pair."""
    return lambda claim: verdict if claim["kind"] == "pair" else "supported"


# ---------------------------------------------------------------- what the reading says


def test_what_takes_the_place_of_an_item_supersedes_it(memory: Memory) -> None:
    hold(memory, HOST)
    log(memory, NEW_HOST)
    model = replaces("k1111111111")
    report = curate(memory, model)
    [day] = model.shown
    assert day["near"] == [
        {"id": "k1111111111", "type": "Fact", "text": "The billing jobs are hosted by Hetzner.", "status": "live",
         "document": "alpha", "since": "2026-03-01"},
    ]  # fmt: skip
    old, new = by_id(memory, "k1111111111"), items(memory)[NEW_TEXT]
    assert (old.status, old.superseded_by, old.until) == (Status.SUPERSEDED, new.id, "2026-03-12")
    assert (report.verdicts, report.items["superseded"]) == ({"supersede": 1}, 1)
    assert len(report.tally.spent) == 2, "one reads, one verifies"


def test_one_item_takes_the_place_of_several(memory: Memory) -> None:
    bill = f"Fact: The billing jobs cost 40 euros at Hetzner. <!-- k4444444444 {SELF}"
    hold(memory, HOST, bill)
    log(memory, NEW_HOST)
    report = curate(memory, replaces("k1111111111", "k4444444444"))
    new = items(memory)[NEW_TEXT]
    assert new.links == (("supersedes", ("k1111111111", "k4444444444")),)
    assert {by_id(memory, one).superseded_by for one in ("k1111111111", "k4444444444")} == {new.id}
    assert report.items["superseded"] == 2
    assert memory.json("check") == []


def test_what_came_later_is_not_replaced_by_an_older_line(memory: Memory) -> None:
    hold(memory, HOST.replace("2026-03-01", "2026-03-20"))
    log(memory, NEW_HOST)
    report = curate(memory, replaces("k1111111111"))
    assert (by_id(memory, "k1111111111").status, report.items["superseded"]) == (Status.LIVE, 0)


def test_what_begins_on_another_day_holds_from_then_on(memory: Memory) -> None:
    hold(memory, HOST)
    log(memory, "From 2026-04-15 on Scaleway hosts the billing jobs.")
    told = {"replaces": ["k1111111111"], "from": "2026-04-15"}
    curate(memory, Reader(lambda day: reply(item("Fact", NEW_TEXT, day["entries"][0], **told))))
    old, new = by_id(memory, "k1111111111"), items(memory)[NEW_TEXT]
    assert (new.since, old.until) == ("2026-04-15", "2026-04-15")
    assert {old.id, new.id} & held_on(memory, "2026-04-10") == {old.id}
    assert {old.id, new.id} & held_on(memory, "2026-04-20") == {new.id}


def held_on(memory: Memory, day: str) -> set[str]:
    return {one["id"] for one in memory.json("items", "--as-of", day)}


# ---------------------------------------------------------------- near pairs, which the reading did not link


@pytest.mark.parametrize(
    ("verdict", "verdicts", "old"),
    [
        ("same", {"confirm": 1}, Status.LIVE),
        ("replaces", {"supersede": 1}, Status.SUPERSEDED),
        ("both", {"add": 1}, Status.LIVE),
        ("conflict", {"ask": 1}, Status.LIVE),
    ],
)
def test_a_second_reader_says_how_two_near_items_stand(
    memory: Memory, verdict: str, verdicts: dict[str, int], old: Status
) -> None:
    hold(memory, PORT)
    log(memory, REPEAT)
    model = Reader(verifies=of_pairs(verdict))
    report = curate(memory, model)
    [[claim]] = model.claims
    assert claim == {
        "claim": 0, "kind": "pair", "text": REPEAT, "quotes": ["Fact: The gateway listens on port 8080."],
        "context": ["the new one is of 2026-03-12", "the old one of 2026-03-01"],
    }  # fmt: skip
    assert (report.verdicts, by_id(memory, "k2222222222").status) == (verdicts, old)
    assert (REPEAT.partition(": ")[2] in items(memory)) is (verdict != "same")
    if verdict == "same":
        assert (report.items["confirmed"], by_id(memory, "k2222222222").confirmed) == (1, "2026-03-12")


def test_a_conflict_is_one_question_that_a_person_answers(memory: Memory) -> None:
    hold(memory, PORT)
    log(memory, "Fact: The gateway listens on port 9090.")
    report = curate(memory, Reader(verifies=of_pairs("conflict")))
    assert report.people["asked"] == 1
    assert memory.read("Review.md").count("<!-- review contradict") == 1
    tick(memory, "keep new")
    memory.night("2026-03-21T02:00")
    new = items(memory)["The gateway listens on port 9090."]
    assert (new.status, by_id(memory, "k2222222222").superseded_by) == (Status.LIVE, new.id)


def test_a_day_may_end_three_items_of_a_page_and_change_as_many_as_it_likes(memory: Memory) -> None:
    boats = ("Elsa", "Maja", "Nora", "Otto", "Rut")
    hold(memory, *(f"Fact: The {one} is white. <!-- k000000000{at} {SELF}" for at, one in enumerate(boats)))
    text = "The {} is red from the waterline down to the keel, and above"
    log(memory, *(f"Fact: {text.format(one)}" for one in boats[:4]), "The Rut is white and blue.")

    def read(day: dict[str, Any]) -> dict[str, Any]:
        found = [one | {"replaces": [f"k000000000{at}"]} for at, one in enumerate(labelled(day, confidence="high"))]
        changed = operation(day["entries"][-1], "update", "k0000000004", text="The Rut is white and blue.")
        return reply(*found, operations=[changed])

    report = curate(memory, Reader(read))
    assert report.verdicts == {"supersede": 3, "ask": 1, "update": 1}
    asked = memory.read("Review.md")
    assert f"## replace: {text.format('Otto')} <!-- review contradict" in asked
    assert "One day's log may end" in asked
    assert re.findall(r"- \[ \] (.*?):", asked) == ["keep new", "keep both", "keep old"]


def test_a_new_fact_meets_an_open_todo(memory: Memory) -> None:
    hold(memory, f"Todo: Move the billing jobs to Scaleway. <!-- k5555555555 {SELF}")
    log(memory, NEW_HOST)
    model = Reader(verifies=of_pairs("replaces"))
    curate(memory, model)
    assert [one["quotes"] for one in model.claims[0]] == [["Todo: Move the billing jobs to Scaleway."]]
    assert by_id(memory, "k5555555555").superseded_by == items(memory)[NEW_TEXT].id


# ---------------------------------------------------------------- the same words


def test_the_same_words_and_what_a_person_took_out_are_asked_of_nobody(memory: Memory) -> None:
    hold(memory, PORT)
    log(memory, PORT.partition(" <!--")[0])
    model = Reader()
    report = curate(memory, model)
    assert (model.claims, report.items["confirmed"]) == ([], 1)
    memory.write(ALPHA, "# Alpha\n")
    log(memory, PORT.partition(" <!--")[0], day="2026-03-13")
    assert curate(memory, model).verdicts == {"ignore": 1}
    assert model.claims == []


def test_what_made_room_returns_when_it_is_said_again(memory: Memory) -> None:
    hold(memory, HOST)
    archive = "Archives/alpha-2026.md"
    made_room = PORT.replace("by=rules@1 -->", "by=rules@1 status=archived -->")
    memory.write(archive, f"# Alpha 2026\n\n## Facts\n\n- {made_room}\n")
    log(memory, "Fact: The gateway listens on port 8080.")
    report = curate(memory, Reader())
    found = by_id(memory, "k2222222222")
    assert (report.verdicts, report.items["confirmed"]) == ({"confirm": 1}, 1)
    assert (found.status, found.confirmed, found.seen) == (Status.LIVE, "2026-03-12", 1)
    assert "k2222222222" in memory.read(ALPHA)
    assert "k2222222222" not in memory.read(archive)


# ---------------------------------------------------------------- how much may end


# ---------------------------------------------------------------- again, byte for byte


# ---------------------------------------------------------------- hostile replies
