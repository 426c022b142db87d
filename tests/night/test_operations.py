"""What a model says of held items, each operation from the log to the documents; and what later nights make of it."""

from typing import Any

import pytest

from pipelines.store.item import Status
from pipelines.store.review_queue import QueueEntry, read_queue
from pipelines.store.snapshot import read_documents
from tests.asking import tick
from tests.conftest import Memory
from tests.reviewing import Reader, by_id, curate, hold, item, items, log, operation, replaces, reply, says

SELF = "since=2026-03-01 trust=self confidence=high by=rules@1 -->"
HOST = f"Fact: The billing jobs are hosted by Hetzner. <!-- k1111111111 {SELF}"
STACK = f"Fact: The billing jobs use PostgreSQL 16 and FastAPI. <!-- k3333333333 {SELF}"
CALL = f"Todo: Call Anders about the invoices. <!-- k4444444444 {SELF}"
LEAK = f"Risk: The billing jobs may leak invoices. <!-- k5555555555 {SELF}"
ASKED = f"Fact: Who reads the invoices? <!-- k6666666666 section=questions {SELF}"
CHOICE = f"Decision: Print the invoices on paper. <!-- k7777777777 {SELF}"
OVER = "It is over with Anders, the invoices and the billing jobs."
NEXT = "2026-03-21T02:00+00:00"


def waits(memory: Memory) -> list[QueueEntry]:
    return list(read_queue(read_documents(memory.root)["Review.md"]))


def held_on(memory: Memory, day: str) -> set[str]:
    return {one["id"] for one in memory.json("items", "--as-of", day)}


# ---------------------------------------------------------------- each operation

ENDS = [
    (CALL, "dropped"),
    (LEAK, "occurred"),
    (ASKED, "answered"),
    (HOST, "ended"),
]


@pytest.mark.parametrize(("held", "how"), ENDS)
def test_what_is_over_is_closed(memory: Memory, held: str, how: str) -> None:
    ident = held.partition("<!-- ")[2].split()[0]
    hold(memory, held)
    log(memory, OVER)
    model = says("close", ident, how=how)
    report = curate(memory, model)
    one = by_id(memory, ident)
    assert ident in {row["id"] for row in (*model.shown[0]["open"], *model.shown[0]["near"])}
    assert (one.status, one.until, one.seen) == (Status(how), "2026-03-12", 1)
    assert one.evidence[-1].path == "Logs/2026-03-12.md"
    assert (report.items["closed"], report.added) == (1, 0)
    assert (ident in held_on(memory, "2026-03-11"), ident in held_on(memory, "2026-03-13")) == (True, False)
    assert memory.json("check") == []


@pytest.mark.parametrize(("held", "how"), [(CALL, "resolved"), (CHOICE, "answered")])
def test_what_cannot_end_so_stays(memory: Memory, held: str, how: str) -> None:
    ident = held.partition("<!-- ")[2].split()[0]
    hold(memory, held)
    log(memory, OVER)
    report = curate(memory, says("close", ident, how=how))
    assert (by_id(memory, ident).active, report.items["closed"]) == (True, 0)
    assert "how does not fit the item's type" in " ".join(report.warnings)


def test_the_end_of_a_long_day_ends_what_its_beginning_said(memory: Memory) -> None:
    hold(memory, CALL)
    call, sign, changed = "k4444444444", "Sign up at the printer's.", "Call Anders about two invoices."

    def read(day: dict[str, Any]) -> Any:
        entry = day["entries"][0]
        if entry["text"].startswith("- It began"):
            return reply(item("Todo", sign, entry), operations=[operation(entry, "update", call, text=changed)])
        shown = {row["text"]: row["id"] for row in day["open"]}
        assert shown == {sign: "p0", changed: call}
        return reply(operations=[operation(entry, "close", *shown.values(), how="done")])

    log(memory, f"It began. {'Words. ' * 20}", f"It is over. {'Words. ' * 20}")
    curate(memory, Reader(read, input_tokens=60))
    assert {text: one.status for text, one in items(memory).items()} == {sign: "done", CALL[6:37]: "done"}


def test_an_update_keeps_what_survives(memory: Memory) -> None:
    hold(memory, STACK)
    log(memory, "The billing jobs moved to PostgreSQL 15.")
    text = "The billing jobs use PostgreSQL 15 and FastAPI."
    model = says("update", "k3333333333", text=text)
    curate(memory, model)
    old, new = by_id(memory, "k3333333333"), items(memory)[text]
    assert model.claims[0][0]["text"].endswith(f"and FastAPI. is changed to: {text}")
    assert (old.status, old.superseded_by) == (Status.SUPERSEDED, new.id)
    assert (new.status, new.since, new.links) == (Status.LIVE, "2026-03-12", (("supersedes", (old.id,)),))


@pytest.mark.parametrize("said", ["Call Anders (due 2026-03-20)", "Call Anders (due 2026-03-20)."])
def test_an_update_may_move_the_day_that_a_todo_is_due(memory: Memory, said: str) -> None:
    hold(memory, f"[ ] Todo: Call Anders (due 2026-03-14) <!-- k4444444444 {SELF}")
    log(memory, "Anders is away until Friday of next week.")
    curate(memory, says("update", "k4444444444", text=said))
    [moved] = [one for one in items(memory).values() if one.status is Status.OPEN]
    assert (moved.due, moved.links) == ("2026-03-20", (("supersedes", ("k4444444444",)),))


def test_what_was_a_mistake_never_held(memory: Memory) -> None:
    hold(memory, HOST)
    memory.night("2026-03-11T02:00")
    log(memory, "That about the billing jobs and Hetzner was a mistake.")
    curate(memory, says("retract", "k1111111111"))
    assert by_id(memory, "k1111111111").status is Status.NEVER_HELD
    assert not [day for day in ("2026-03-02", "2026-03-12", "2026-03-19") if "k1111111111" in held_on(memory, day)]
    told = memory.json("history", "k1111111111")["versions"]
    assert [one["status"] for one in told] == ["live", "never-held"]


def test_what_is_doubted_stays_is_marked_and_is_asked_about_once(memory: Memory) -> None:
    hold(memory, HOST)
    for day in ("2026-03-12", "2026-03-13"):
        log(memory, f"Is it still Hetzner for the billing jobs on {day}, I wonder.", day=day)
        curate(memory, says("doubt", "k1111111111"))
    one = by_id(memory, "k1111111111")
    assert (one.status, one.doubted) == (Status.LIVE, "2026-03-13")
    assert [(entry.kind, entry.title.endswith("(k1111111111)")) for entry in waits(memory)] == [("doubt", True)]
    assert len(items(memory)) == 1


@pytest.mark.parametrize(
    ("choice", "status"), [("keep", Status.LIVE), ("end", Status.ENDED), ("retract", Status.NEVER_HELD)]
)
def test_a_person_settles_a_doubt(memory: Memory, choice: str, status: Status) -> None:
    hold(memory, HOST)
    log(memory, "Is it still Hetzner for the billing jobs, I wonder.")
    curate(memory, says("doubt", "k1111111111"))
    tick(memory, choice)
    memory.night("2026-03-21T02:00")
    one = by_id(memory, "k1111111111")
    assert (one.status, one.doubted, waits(memory)) == (status, "", [])


# ---------------------------------------------------------------- whose word counts, and how much may end


@pytest.mark.parametrize(("choice", "status"), [("close", Status.DONE), ("keep", Status.OPEN)])
def test_what_a_person_wrote_is_not_closed_unasked(memory: Memory, choice: str, status: Status) -> None:
    hold(memory, CALL.replace(f"{SELF}", "since=2026-03-01 trust=owner -->"))
    log(memory, "Anders was called about the invoices.")
    report = curate(memory, says("close", "k4444444444", how="done"))
    assert (by_id(memory, "k4444444444").status, report.items["closed"]) == (Status.OPEN, 0)
    [entry] = waits(memory)
    assert (entry.kind, [word for word, _ in entry.choices]) == ("done", ["close", "keep"])
    tick(memory, choice)
    memory.night("2026-03-21T02:00")
    assert (by_id(memory, "k4444444444").status, waits(memory)) == (status, [])


# ---------------------------------------------------------------- what later nights make of it


@pytest.mark.parametrize(
    ("held", "said", "due"),
    [
        ("Send Ines the report by 10 April. {due}", "Send Ines the report by 20 April.", "2026-04-20"),
        ("Ines den Bericht bis 10. April schicken. {due}", "Ines den Bericht bis 20. April schicken.", "2026-04-20"),
        ("Send Ines the report by 10 April. {due}", "Send Ines and Paul the report by 10 April.", "2026-04-10"),
        ("Send Ines the report. {due}", "Send Ines and Paul the report.", "2026-04-10"),
        ("Send Ines the report.", "Send Ines the report by 20 April.", "2026-04-20"),
        ("Send Ines the report by 10 April. {due}", "Send Ines the report some day.", ""),
    ],
)
def test_a_todo_that_moves_is_due_when_its_text_says(memory: Memory, held: str, said: str, due: str) -> None:
    text = held.partition(" {due}")[0]
    hold(memory, f"Todo: {text} <!-- k1111111111 {'due=2026-04-10 ' if '{due}' in held else ''}{SELF}")
    log(memory, said)
    curate(memory, says("update", "k1111111111", text=said))
    assert (items(memory)[said].due, by_id(memory, "k1111111111").status) == (due, Status.SUPERSEDED)


def test_what_is_said_again_in_the_same_words_is_in_doubt_no_more(memory: Memory) -> None:
    hold(memory, HOST)
    log(memory, "Are the billing jobs at Hetzner, really?")
    curate(memory, says("doubt", "k1111111111"))
    assert (by_id(memory, "k1111111111").doubted, len(waits(memory))) == ("2026-03-12", 1)
    log(memory, "Fact: The billing jobs are hosted by Hetzner.", day="2026-03-13")
    curate(memory, Reader(), NEXT)
    assert (by_id(memory, "k1111111111").doubted, waits(memory)) == ("", [])
    memory.curate("undo", "--now", "2026-03-21T12:00")
    assert by_id(memory, "k1111111111").doubted == "2026-03-12"


def test_a_contact_that_is_updated_in_its_own_run_keeps_its_name(memory: Memory) -> None:
    log(memory, "Paul has the keys, 555 880.", day="2026-03-12")
    log(memory, "The number of Paul is 555 990.", day="2026-03-13")
    text = "Paul has the keys, 555 990."

    def read(day: dict[str, Any]) -> dict[str, Any]:
        [entry] = day["entries"]
        if day["day"] == "2026-03-12":
            return reply(item("Fact", entry["text"][2:], entry, section="contacts", name="Paul"))
        [paul] = [row for row in day["near"] if "Paul" in row["text"]]
        return reply(operations=[operation(entry, "update", paul["id"], text=text)])

    curate(memory, Reader(read))
    assert (items(memory)[text].person, items(memory)[text].page_section) == ("Paul", "contacts")


# ---------------------------------------------------------------- what is not sure, or said twice


def doubting(model: Reader, *sure: str) -> Reader:
    """Return a model that is unsure of all that is done, but to items whose words these are."""
    model.verifies = lambda claim: (
        "supported" if claim["kind"] != "close" or any(one in claim["text"] for one in sure) else "unsure"
    )
    return model


def test_what_may_be_over_is_told_and_is_proposed_again_with_the_line_that_said_so(memory: Memory) -> None:
    hold(memory, CALL)
    log(memory, "Anders was on the phone.")
    curate(memory, doubting(says("close", "k4444444444", how="done")))
    told = memory.curate("context", "--now", "2026-03-20T08:00")
    assert by_id(memory, "k4444444444").status is Status.OPEN
    assert "Todo: Call Anders about the invoices. (perhaps done since 2026-03-12, alpha)" in told
    log(memory, "The invoices are paid.", day="2026-03-21")
    model = says("close", "k4444444444", how="done")
    curate(memory, model, "2026-03-22T02:00+00:00")
    [shown] = model.shown[0]["open"]
    assert shown["text"] == "Call Anders about the invoices. (perhaps done 2026-03-12: - Anders was on the phone.)"
    assert "said earlier: perhaps done 2026-03-12: - Anders was on the phone." in model.claims[0][0]["context"]
    assert (by_id(memory, "k4444444444").status, by_id(memory, "k4444444444").perhaps) == (Status.DONE, "")


def test_what_is_said_to_be_open_again_is_no_longer_perhaps_over(memory: Memory) -> None:
    hold(memory, CALL)
    log(memory, "Anders was on the phone.")
    curate(memory, doubting(says("close", "k4444444444", how="done")))
    log(memory, "Anders is still to be called about the invoices.", day="2026-03-21")
    curate(memory, Reader(lambda _: reply(seen=["k4444444444"])), "2026-03-22T02:00+00:00")
    assert (by_id(memory, "k4444444444").status, by_id(memory, "k4444444444").perhaps) == (Status.OPEN, "")


@pytest.mark.parametrize("verdict", ["replaces", "both"])
def test_an_item_takes_the_place_of_what_says_the_same_as_the_one_it_replaces(memory: Memory, verdict: str) -> None:
    hold(
        memory, HOST, f"Decision: Hetzner runs all the billing jobs of the north and the south. <!-- k8888888888 {SELF}"
    )
    log(memory, "Fact: Scaleway hosts the billing jobs from now on.")
    model = replaces("k1111111111")
    model.verifies = lambda claim: verdict if claim["kind"] == "pair" else "supported"
    curate(memory, model)
    pairs = [one["quotes"] for one in model.claims[0] if one["kind"] == "pair"]
    assert pairs == [["Decision: Hetzner runs all the billing jobs of the north and the south."]]
    found = [by_id(memory, ident).status for ident in ("k1111111111", "k8888888888")]
    assert found == [Status.SUPERSEDED, Status.SUPERSEDED if verdict == "replaces" else Status.LIVE]
