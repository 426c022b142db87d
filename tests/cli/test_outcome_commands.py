"""The owner says what became of items: named by id or by words, they end as their type can, and undo takes it back."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.asking import items
from tests.conftest import Memory, Once

ALPHA = "Projects/alpha.md"
LOG = """project: Alpha

- Todo: Call Anders about the DPA
- Todo: Call Bob
- Todo: Tell Mara about the gateway
- Risk: The disk of the build server fills up
- Fact: The port of the gateway is 8080
- Decision: We use Postgres 16 for orders
- Rule: Ask before you deploy
"""
ANDERS, BOB, MARA = "Call Anders about the DPA", "Call Bob", "Tell Mara about the gateway"
DISK, PORT, POSTGRES = (
    "The disk of the build server fills up",
    "The port of the gateway is 8080",
    "We use Postgres 16 for orders",
)
NOON = ("--now", "2026-03-12T12:00")


def a_night(memory: Memory) -> None:
    memory.day("2026-03-10", LOG)


@pytest.fixture(name="ids")
def lived(once: Once) -> dict[str, str]:
    """Return text → id of a memory after a night."""
    memory = once(a_night)
    return {text: str(item["id"]) for text, item in items(memory).items()}


def now(memory: Memory, text: str) -> dict[str, Any]:
    return items(memory)[text]


def test_former_names_of_verbs_still_work(memory: Memory, ids: Mapping[str, str]) -> None:
    for verb, text, status in (("drop", ANDERS, "dropped"), ("resolve", DISK, "resolved"), ("end", PORT, "ended")):
        memory.curate(verb, ids[text])
        assert now(memory, text)["status"] == status
    assert memory.curate("history", ids[PORT]) == memory.curate("why", ids[PORT])


def test_several_are_one_commit_and_one_that_cannot_end_so_stops_all(memory: Memory, ids: Mapping[str, str]) -> None:
    before = memory.files()
    told = memory.curate("done", ids[ANDERS], ids[PORT], exits=2)
    assert f"{ids[PORT]} is a Fact, which can be ended or answered, not done." in told
    assert "`curate close` ends it so" in told
    assert memory.files() == before
    told = memory.curate("done", ids[ANDERS], "tell mara", ids[ANDERS], *NOON)
    assert [line.split()[0] for line in told.splitlines()] == [ids[ANDERS], ids[MARA]]
    assert now(memory, ANDERS)["status"] == now(memory, MARA)["status"] == "done"
    assert memory.git("log", "-1", "--format=%s") == f"Done {ids[ANDERS]}, {ids[MARA]}\n"
    memory.curate("undo")
    assert now(memory, ANDERS)["status"] == now(memory, MARA)["status"] == "open"


def test_words_that_mean_one_open_item_do_it_and_others_only_offer(memory: Memory, ids: Mapping[str, str]) -> None:
    before = memory.files()
    told = memory.curate("done", "call", exits=2)
    assert "“call” matches 2 open todos" in told
    assert f"{ids[ANDERS]} Todo: {ANDERS} ({ALPHA})" in told
    assert MARA not in told
    told = memory.curate("done", "phone", "andres", exits=2)
    assert "No open todo matches “phone andres”" in told
    assert told.index(ids[ANDERS]) < told.index(ids[BOB])
    assert "No open todo matches" in memory.curate("done", PORT, exits=2)
    assert "No item has the id kffff" in memory.curate("done", "kffff", exits=1)
    assert "No such option" in memory.curate("done", "call", "--bob", exits=2)
    memory.curate("done", exits=2)
    assert memory.files() == before
    assert ids[BOB] in memory.curate("done", "call", "bob")
    # What is done is open no more, so the same word means the other one.
    assert ids[ANDERS] in memory.curate("done", "call")
    assert "There is no open risk" in (memory.curate("resolve", "disk") and memory.curate("resolve", "disk", exits=2))


def test_a_correction_that_another_item_says_already_makes_no_second_one(
    memory: Memory, ids: Mapping[str, str]
) -> None:
    told = memory.curate("correct", ids[BOB], ANDERS, *NOON)
    assert f"an existing item, {ids[ANDERS]}" in told
    assert now(memory, BOB)["superseded_by"] == ids[ANDERS]
    assert sum(text == ANDERS for text in items(memory)) == 1
    assert "nothing is broken" in memory.curate("check")


def test_reopening_what_was_superseded_leaves_the_successor_and_says_so(memory: Memory, ids: Mapping[str, str]) -> None:
    memory.curate("correct", ids[PORT], "The port of the gateway is 9090", *NOON)
    new = now(memory, "The port of the gateway is 9090")
    told = memory.curate("reopen", "port 8080")
    assert f"holds as well: {new['id']}" in told
    assert now(memory, PORT)["status"] == now(memory, str(new["text"]))["status"] == "live"
    assert now(memory, PORT)["superseded_by"] is None
    assert "superseded-by" not in memory.read(ALPHA)
    assert PORT in memory.read(ALPHA).partition("## Facts")[2].partition("## Rules")[0]
    assert "holds already" in memory.curate("reopen", ids[PORT])
    assert "nothing is broken" in memory.curate("check")


def test_what_an_archive_kept_returns_into_its_document(memory: Memory, ids: Mapping[str, str]) -> None:
    memory.curate("end", ids[PORT], *NOON)
    line = next(one for one in memory.read(ALPHA).splitlines(keepends=True) if PORT in one)
    memory.write(ALPHA, memory.read(ALPHA).replace(line, ""))
    memory.write("Archives/alpha-2026.md", f"# Alpha 2026\n\n## History\n\n{line}  a note of mine\n")
    assert f"{ids[PORT]} in {ALPHA} holds again" in memory.curate("reopen", ids[PORT])
    facts = memory.read(ALPHA).partition("## Facts")[2].partition("## Rules")[0]
    assert f"- Fact: {PORT} ^{ids[PORT]}" in facts
    assert "  a note of mine\n" in facts
    assert PORT not in memory.read("Archives/alpha-2026.md")
    assert "nothing is broken" in memory.curate("check")


def test_what_waits_or_is_archived_is_for_another_verb(memory: Memory, ids: Mapping[str, str]) -> None:
    memory.curate("project", "close", "Alpha", "--yes")
    assert "`curate move" in memory.curate("end", ids[PORT], exits=2)
    assert "is archived" in memory.curate("reopen", ids[PORT], exits=2)


@pytest.mark.usefixtures("ids")
def test_a_question_about_an_item_goes_with_its_answer_by_hand(memory: Memory) -> None:
    memory.curate("add", "Todo", "call Ann", "--project", "Alpha", *NOON)  # which a line of the log does not close
    memory.day("2026-03-12", "project: Alpha\n\n- Done: call Ann\n")
    assert "<!-- review done " in memory.read("Review.md")
    memory.curate("done", "call Ann", *NOON)
    assert "<!-- review done " not in memory.read("Review.md")


def test_add_confirms_what_is_said_already_and_says_how_to_replace_what_is_near(
    memory: Memory, ids: Mapping[str, str]
) -> None:
    told = memory.curate("add", "Fact", "the port of the gateway is 8080.", *NOON)
    assert f"The memory already holds it: {ids[PORT]} in {ALPHA}" in told
    assert (now(memory, PORT)["trust"], now(memory, PORT)["confirmed"]) == ("owner", "2026-03-12")
    head = memory.git("rev-parse", "HEAD")
    assert "already holds it" in memory.curate("add", "Fact", PORT, *NOON)
    assert memory.git("rev-parse", "HEAD") == head
    told = memory.curate("add", "Fact", "The port of the gateway is 9090", "--document", "Alpha", *NOON)
    assert f"Near it in {ALPHA}: " in told
    assert f"curate correct {ids[PORT]} 'The port of the gateway is 9090'" in told
    assert {PORT, "The port of the gateway is 9090"} <= items(memory).keys()
    memory.curate("add", "Decision", "the hull is teal", "--document", "Alpha", *NOON)
    assert "the hull is teal" in memory.curate("add", "Decision", "the hull is white", "--document", "Alpha", *NOON)
    memory.curate("undo")
    memory.curate("undo")
    memory.curate("undo")
    assert "The port of the gateway is 9090" not in items(memory)


def test_what_rests_on_something_that_is_over_is_said(memory: Memory) -> None:
    memory.write(
        "Projects/beta.md",
        "# Beta\n\n## Facts\n\n- Fact: The API allows 100 requests. <!-- k1c02d9e441 since=2026-03-01 -->\n\n"
        "## Decisions\n\n"
        "- Decision: Requests go through a queue. <!-- k7f3a9c2b10 since=2026-03-02 because=k1c02d9e441 -->\n",
    )
    assert "rests on k1c02d9e441" not in memory.curate("why", "k7f3")
    memory.curate("correct", "k1c02", "The API allows 1,000 requests.", *NOON)
    [new] = [one["id"] for text, one in items(memory).items() if "1,000" in text]
    line = f"rests on k1c02d9e441, superseded on 2026-03-12 by {new}: The API allows 1,000 requests."
    assert memory.row("- Decision: Requests go")["because"] == "k1c02d9e441"
    assert line in memory.curate("why", "k7f3")
    [ground] = memory.json("why", "k7f3")["outdated_grounds"]
    assert ground == line
    memory.curate("reopen", "k1c02")
    assert "rests on" not in memory.curate("why", "k7f3")
    memory.curate("retract", "k1c02")
    assert "rests on k1c02d9e441, never-held" in memory.curate("why", "k7f3")


def test_context_lists_what_is_open_by_ids_that_close_it(memory: Memory, ids: Mapping[str, str]) -> None:
    memory.write(
        "Areas/home.md",
        "# Home\n\n## Next steps\n\n"
        "- [ ] Todo: Pay the rent <!-- k0000000001 since=2026-03-01 due=2026-03-05 trust=self -->\n"
        "- [ ] Todo: Paint the fence <!-- k0000000002 since=2025-03-01 confidence=low trust=self -->\n"
        "- [x] Todo: Buy paint <!-- k0000000003 since=2025-03-01 -->\n",
    )
    told = memory.curate("context", "--now", "2026-03-12T12:00")
    part = told.partition("=== Open todos and risks")[2].partition("\n\n")[0].splitlines()[1:]
    assert part[0] == "- k0000000001 Todo: Pay the rent (due 2026-03-05, overdue, home)"
    assert part[1] == f"- {ids[DISK][:5]} Risk: {DISK} (alpha)"
    assert part[-1] == "- k0000000002 Todo: Paint the fence (unsure) (home)"
    assert len(part) == 6
    assert "Buy paint" not in told
    told = memory.curate("context", "--now", "2026-03-12T12:00", "--project", "Alpha")
    assert told.count(BOB) == 1
    assert POSTGRES in told
    short = next(line.split()[1] for line in told.splitlines() if BOB in line)
    memory.day("2026-03-12", f"- Done: {short}\n")
    assert now(memory, BOB)["status"] == "done"
    told = "".join(f"- [ ] Todo: Paint the shed {at} <!-- k00000001{at} since=2026-03-01 -->\n" for at in range(10, 40))
    memory.write("Areas/home.md", f"# Home\n\n{told}")
    assert "cut to fit; `curate items` lists all" in memory.curate(
        "context", "--budget", "300", "--now", "2026-03-13T12:00"
    )
