"""What may become of a line, as a model says it: each operation of a night, from the log to the documents."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pipelines.store.item import Status
from pipelines.store.review_queue import read_queue
from pipelines.store.snapshot import read_documents
from tests.asking import tick
from tests.reviewing import ALPHA, Reader, curate, hold, items, log, operation, operations, says, shown
from tests.reviewing import item as found

if TYPE_CHECKING:
    from pipelines.store.review_queue import QueueEntry
    from tests.conftest import Memory

SELF = "since=2026-03-01 trust=self confidence=high by=rules@1 -->"
HOST = f"Fact: The billing jobs are hosted by Hetzner. <!-- k1111111111 {SELF}"
BILL = f"Fact: The billing jobs cost 40 euros at Hetzner. <!-- k2222222222 {SELF}"
STACK = f"Fact: The billing jobs use PostgreSQL 16 and FastAPI. <!-- k3333333333 {SELF}"
CALL = f"Todo: Call Anders about the invoices. <!-- k4444444444 {SELF}"
LEAK = f"Risk: The billing jobs may leak invoices. <!-- k5555555555 {SELF}"
ASKED = f"Fact: Who reads the invoices? <!-- k6666666666 section=questions {SELF}"
CHOICE = f"Decision: Print the invoices on paper. <!-- k7777777777 {SELF}"
OWNED = "Fact: The mirror of the billing jobs belongs to Ines. <!-- k8888888888 since=2026-03-01 trust=owner -->"
NEW = "Scaleway hosts the billing jobs."


def waits(memory: Memory) -> list[QueueEntry]:
    return list(read_queue(read_documents(memory.root)["Review.md"]))


def by_id(memory: Memory, ident: str) -> Any:
    return next(one for one in items(memory).values() if one.id == ident)


def held_on(memory: Memory, day: str) -> set[str]:
    return {one["id"] for one in json.loads(memory.curate("items", "--as-of", day, "--json"))}


def reads(*told: dict[str, Any]) -> Reader:
    """Return a model that finds nothing in a day, and says this of what it is shown, resting on the day's last line."""

    def read(day: dict[str, Any]) -> dict[str, Any]:
        line = day["entries"][-1]
        place = {"quote": line["text"][2:], "start_line": line["line"], "end_line": line["end_line"]}
        return {"items": [], "operations": [{"evidence": [place], **one} for one in told]}

    return Reader(lambda _: operations(), reads=read)


# ---------------------------------------------------------------- of the review


def test_one_candidate_takes_the_place_of_several(memory: Memory) -> None:
    hold(memory, HOST, BILL)
    log(memory, f"Fact: {NEW}")
    report = curate(memory, says("supersede", "k1111111111", "k2222222222"))
    new = items(memory)[NEW]
    assert new.links == (("supersedes", ("k1111111111", "k2222222222")),)
    for ident in ("k1111111111", "k2222222222"):
        old = by_id(memory, ident)
        assert (old.status, old.superseded_by, old.until) == (Status.SUPERSEDED, new.id, "2026-03-12")
    assert report.items["superseded"] == 2
    assert json.loads(memory.curate("check", "--json")) == []


def test_an_update_keeps_what_survives(memory: Memory) -> None:
    hold(memory, STACK)
    log(memory, "Fact: The billing jobs moved to PostgreSQL 15.")
    text = "The billing jobs use PostgreSQL 15 and FastAPI."
    curate(memory, says("update", "k3333333333", text=text))
    old, new = by_id(memory, "k3333333333"), items(memory)[text]
    assert (old.status, old.superseded_by) == (Status.SUPERSEDED, new.id)
    assert (new.status, new.since, new.links) == (Status.LIVE, "2026-03-12", (("supersedes", (old.id,)),))
    assert "The billing jobs moved to PostgreSQL 15." not in items(memory), "the candidate itself is not added"


def test_an_update_says_nothing_that_neither_the_item_nor_the_quote_says(memory: Memory) -> None:
    hold(memory, STACK)
    log(memory, "Fact: The billing jobs moved to PostgreSQL 15.")
    report = curate(memory, says("update", "k3333333333", text="The billing jobs use PostgreSQL 15 and Django."))
    assert report.review["broken"] == 1
    assert by_id(memory, "k3333333333").status is Status.LIVE


ENDS = [
    (CALL, "done"),
    (CALL, "dropped"),
    (LEAK, "resolved"),
    (LEAK, "occurred"),
    (ASKED, "answered"),
    (CHOICE, "ended"),
    (HOST, "ended"),
]


@pytest.mark.parametrize(("held", "how"), ENDS)
@pytest.mark.parametrize("where", ["review", "extract"])
def test_what_is_over_is_closed(memory: Memory, held: str, how: str, where: str) -> None:
    ident = held.partition("<!-- ")[2].split()[0]
    hold(memory, held)
    log(memory, "Fact: It is over with Anders, the invoices and the billing jobs.")
    on_review, on_read = says("close", ident, how=how), reads({"operation": "close", "ids": [ident], "how": how})
    report = curate(memory, on_review if where == "review" else on_read)
    one = by_id(memory, ident)
    assert (one.status, one.until, one.seen) == (Status(how), "2026-03-12", 1)
    assert one.evidence[-1].path == "Logs/2026-03-12.md"
    assert (report.items["closed"], report.added) == (1, 0)
    assert (ident in held_on(memory, "2026-03-11"), ident in held_on(memory, "2026-03-13")) == (True, False)
    assert json.loads(memory.curate("check", "--json")) == []


@pytest.mark.parametrize(("held", "how"), [(CALL, "resolved"), (LEAK, "done"), (CHOICE, "answered"), (HOST, "dropped")])
def test_what_cannot_end_so_is_asked_for_once_more_and_stays(memory: Memory, held: str, how: str) -> None:
    ident = held.partition("<!-- ")[2].split()[0]
    hold(memory, held)
    log(memory, "Fact: It is over with Anders, the invoices and the billing jobs.")
    model = says("close", ident, how=how)
    report = curate(memory, model)
    assert (len(model.asked), report.review["broken"]) == (2, 1)
    assert by_id(memory, ident).active


def test_what_was_a_mistake_never_held(memory: Memory) -> None:
    hold(memory, HOST)
    memory.curate("run", "--now", "2026-03-11T02:00")
    log(memory, "Fact: That about the billing jobs and Hetzner was a mistake.")
    curate(memory, says("retract", "k1111111111"))
    assert by_id(memory, "k1111111111").status is Status.NEVER_HELD
    assert not [day for day in ("2026-03-02", "2026-03-12", "2026-03-19") if "k1111111111" in held_on(memory, day)]
    told = json.loads(memory.curate("history", "k1111111111", "--json"))["versions"]
    assert [one["status"] for one in told] == ["live", "never-held"]
    assert "Hetzner" not in memory.curate("context", "--now", "2026-03-20T09:00").partition("Logs")[0]
    audited = json.loads(memory.curate("audit", "billing jobs", "--as-of", "2026-03-05", "--json"))
    assert (audited["current"], audited["superseded"]) == ([], [])


def test_what_is_doubted_stays_is_marked_and_is_asked_about_once(memory: Memory) -> None:
    hold(memory, HOST)
    for day in ("2026-03-12", "2026-03-13"):
        log(memory, f"Fact: Is it still Hetzner for the billing jobs on {day}, I wonder.", day=day)
        curate(memory, says("question", "k1111111111"))
    one = by_id(memory, "k1111111111")
    assert (one.status, one.doubted) == (Status.LIVE, "2026-03-13")
    assert [(entry.kind, entry.title.endswith("(k1111111111)")) for entry in waits(memory)] == [("doubt", True)]
    assert len(items(memory)) == 1


@pytest.mark.parametrize(
    ("choice", "status"), [("keep", Status.LIVE), ("end", Status.ENDED), ("retract", Status.NEVER_HELD)]
)
def test_a_person_settles_a_doubt(memory: Memory, choice: str, status: Status) -> None:
    hold(memory, HOST)
    log(memory, "Fact: Is it still Hetzner for the billing jobs, I wonder.")
    curate(memory, says("question", "k1111111111"))
    tick(memory, choice)
    memory.curate("run", "--now", "2026-03-21T02:00")
    one = by_id(memory, "k1111111111")
    assert (one.status, one.doubted, waits(memory)) == (status, "", [])


def test_what_is_confirmed_gains_evidence_and_nothing_is_added(memory: Memory) -> None:
    hold(memory, STACK)
    log(memory, "Fact: PostgreSQL 16 serves the billing jobs.")
    report = curate(memory, says("confirm", "k3333333333"))
    [one] = items(memory).values()
    assert (one.confirmed, one.seen, report.items["confirmed"]) == ("2026-03-12", 1, 1)
    assert not report.review.get("broken"), "a value that only the older one has is no hindrance"


def test_noise_is_not_added(memory: Memory) -> None:
    hold(memory, HOST)
    log(memory, f"Fact: {NEW}")
    report = curate(memory, says("ignore"))
    assert (list(items(memory)), report.verdicts) == (["The billing jobs are hosted by Hetzner."], {"ignore": 1})


def test_a_candidate_may_be_added_and_close_something(memory: Memory) -> None:
    hold(memory, LEAK)
    log(memory, "Decision: The billing jobs encrypt all invoices, so nothing leaks.")
    both = Reader(
        lambda asked: operations(
            operation(asked[0]), operation(asked[0], "close", "k5555555555", how="resolved", reason="encrypted")
        )
    )
    report = curate(memory, both)
    assert (report.added, by_id(memory, "k5555555555").status) == (1, Status.RESOLVED)


def test_an_operation_gives_the_candidate_its_document_and_its_links(memory: Memory) -> None:
    hold(memory, HOST)
    log(memory, f"Fact: {NEW}")
    links = [{"kind": "related", "id": "k1111111111"}, {"kind": "because", "id": "k9999999999"}]
    report = curate(memory, says("add", document="MEMORY", links=links))
    assert items(memory)[NEW].links == (("related", ("k1111111111",)),)
    assert NEW in memory.read("MEMORY.md")
    assert report.review["unlinked"] == 1


# ---------------------------------------------------------------- of the reading


def test_what_is_no_item_closes_one(memory: Memory) -> None:
    hold(memory, CALL)
    log(memory, "called Anders, he agreed")
    model = reads({"operation": "close", "ids": ["k4444444444"], "how": "done"})
    report = curate(memory, model)
    assert [row["id"] for row in model.shown[0]["open"]] == ["k4444444444"]
    assert (by_id(memory, "k4444444444").status, report.added, model.asked) == (Status.DONE, 0, [])
    assert "- [x] Todo: Call Anders" in memory.read(ALPHA)


def test_reading_alone_confirms_updates_retracts_and_doubts(memory: Memory) -> None:
    hold(memory, HOST, BILL, STACK, CHOICE)
    log(memory, "Hetzner still hosts the billing jobs, on PostgreSQL 15; the 40 euros were a mistake; paper invoices?")
    text = "The billing jobs use PostgreSQL 15 and FastAPI."
    curate(
        memory,
        reads(
            {"operation": "confirm", "ids": ["k1111111111"]},
            {"operation": "retract", "ids": ["k2222222222"]},
            {"operation": "update", "ids": ["k3333333333"], "text": text},
            {"operation": "question", "ids": ["k7777777777"]},
        ),
    )
    assert by_id(memory, "k1111111111").confirmed == "2026-03-12"
    assert by_id(memory, "k2222222222").status is Status.NEVER_HELD
    assert by_id(memory, "k3333333333").superseded_by == items(memory)[text].id
    assert by_id(memory, "k7777777777").doubted == "2026-03-12"


def test_an_id_that_was_not_shown_changes_nothing(memory: Memory) -> None:
    hold(memory, CALL)
    log(memory, "called Anders, he agreed")
    report = curate(memory, reads({"operation": "close", "ids": ["k9999999999"], "how": "done"}))
    assert (report.items["closed"], by_id(memory, "k4444444444").status) == (0, Status.OPEN)


# ---------------------------------------------------------------- neighbours, and links


def test_neighbours_of_every_type_are_shown_and_what_is_open_in_the_document_among_them(memory: Memory) -> None:
    other = f"Todo: Call Anders of the bakery. <!-- k9999999999 {SELF}"
    hold(memory, HOST, CHOICE, CALL, LEAK, ASKED)
    memory.write("Projects/beta.md", f"# Beta\n\n## Next steps\n- [ ] {other}\n")
    log(memory, "Fact: Hetzner hosts what prints on paper.")
    model = says("add")
    curate(memory, model)
    [candidate] = shown(model.asked[0])
    near = {one["id"]: (one["type"], one["document"]) for one in candidate["neighbours"]}
    assert set(near) == {"k1111111111", "k4444444444", "k5555555555", "k6666666666", "k7777777777"}
    assert near["k4444444444"] == ("Todo", "alpha")


def test_each_neighbour_appears_once_in_a_call(memory: Memory) -> None:
    hold(memory, HOST)
    log(memory, *(f"Fact: Job {name} of the billing jobs is hosted by Hetzner." for name in ("one", "two", "three")))
    model = says("add")
    curate(memory, model)
    rows = [row["id"] for row in model.asked[0].input["items"]]
    assert len(rows) == len(set(rows))
    assert [["k1111111111" in one["neighbours"] for one in model.asked[0].input["candidates"]]] == [[True] * 3]


def test_nobody_is_asked_where_no_candidate_has_a_neighbour(memory: Memory) -> None:
    log(memory, "Fact: Otto tends the garden.", "Decision: Paint the boat.")
    model = says("ignore")
    report = curate(memory, model)
    assert (model.asked, report.added) == ([], 2)


def test_links_keep_what_was_true_then(memory: Memory) -> None:
    queue = SELF.replace(" by=", " because=k1111111111 by=")
    hold(memory, HOST, f"Decision: Queue the billing jobs by hand. <!-- k9999999999 {queue}")
    log(memory, f"Fact: {NEW}")
    curate(memory, says("supersede", "k1111111111"))
    assert by_id(memory, "k9999999999").links == (("because", ("k1111111111",)),)
    why = memory.curate("why", "k9999999999")
    assert "superseded" in why
    assert "Hetzner" in why


def test_what_a_model_concludes_supersedes_nothing(memory: Memory) -> None:
    hold(memory, HOST)
    log(memory, f"Fact: {NEW}")
    model = says("supersede", "k1111111111")
    model.confidence = "speculative"
    report = curate(memory, model)
    assert (by_id(memory, "k1111111111").status, report.items["superseded"]) == (Status.LIVE, 0)


# ---------------------------------------------------------------- whose word counts


def test_what_a_person_wrote_is_not_superseded_unasked(memory: Memory) -> None:
    hold(memory, OWNED)
    said = "The mirror of the billing jobs is with Paul."
    log(memory, f"Fact: {said}")
    report = curate(memory, says("supersede", "k8888888888"))
    assert (by_id(memory, "k8888888888").status, items(memory)[said].status) == (Status.LIVE, Status.WAITING)
    assert (report.verdicts, report.people["asked"]) == ({"ask": 1}, 1)
    tick(memory, "keep new")
    memory.curate("run", "--now", "2026-03-21T02:00")
    assert by_id(memory, "k8888888888").superseded_by == items(memory)[said].id


@pytest.mark.parametrize("kind", ["confirm", "supersede", "close"])
def test_what_waits_can_be_confirmed_and_nothing_else(memory: Memory, kind: str) -> None:
    hold(memory, OWNED)
    said = "The mirror of the billing jobs is with Paul."
    log(memory, f"Fact: {said}")
    curate(memory, says("supersede", "k8888888888"))
    waits = items(memory)[said].id
    log(memory, "Fact: Paul has the mirror of the billing jobs.", day="2026-03-13")
    model = says(kind, waits)
    report = curate(memory, model, "2026-03-21T02:00+00:00")
    [row] = [row for row in model.asked[0].input["items"] if row["id"] == waits]
    assert (row["status"], row["document"]) == ("waiting", "alpha")
    assert by_id(memory, waits).status is Status.WAITING
    assert (by_id(memory, waits).confirmed, len(model.asked)) == (("2026-03-13", 1) if kind == "confirm" else ("", 2))
    assert report.verdicts == ({"confirm": 1} if kind == "confirm" else {"add": 1})


@pytest.mark.parametrize(("choice", "status"), [("close", Status.DONE), ("keep", Status.OPEN)])
@pytest.mark.parametrize("where", ["review", "extract"])
def test_what_a_person_wrote_is_not_closed_unasked(memory: Memory, choice: str, status: Status, where: str) -> None:
    hold(memory, CALL.replace(f"{SELF}", "since=2026-03-01 trust=owner -->"))
    log(memory, "Fact: Anders was called about the invoices.")
    on_read = reads({"operation": "close", "ids": ["k4444444444"], "how": "done"})
    report = curate(memory, says("close", "k4444444444", how="done") if where == "review" else on_read)
    assert (by_id(memory, "k4444444444").status, report.items["closed"]) == (Status.OPEN, 0)
    [entry] = waits(memory)
    assert (entry.kind, [word for word, _ in entry.choices]) == ("done", ["close", "keep"])
    tick(memory, choice)
    memory.curate("run", "--now", "2026-03-21T02:00")
    assert (by_id(memory, "k4444444444").status, waits(memory)) == (status, [])


def test_too_much_of_a_document_does_not_go_in_one_night(memory: Memory) -> None:
    names = ("alder", "birch", "cedar", "dogwood", "elm", "fir", "ginkgo", "hazel")
    hold(memory, *(f"Fact: Job {name} ends at noon. <!-- k{at}{at}11111111 {SELF}" for at, name in enumerate(names)))
    log(memory, *(f"Fact: No more of job {name}." for name in names))

    def review(asked: list[dict[str, Any]]) -> object:
        told = []
        for one in asked:
            name = one["text"].removesuffix(".").split()[-1]
            [old] = [near["id"] for near in one["neighbours"] if f"Job {name} " in near["text"]]
            told.append(operation(one, "close", old, how="ended"))
        return operations(*told)

    report = curate(memory, Reader(review))
    assert (report.items["closed"], report.verdicts) == (3, {"close": 3, "ask": len(names) - 3})
    assert len(waits(memory)) == len(names) - 3


def test_what_came_later_is_not_ended_by_an_older_line(memory: Memory) -> None:
    hold(memory, HOST.replace("2026-03-01", "2026-03-20"))
    log(memory, f"Fact: {NEW}")
    report = curate(memory, says("supersede", "k1111111111"))
    assert (by_id(memory, "k1111111111").status, report.items["superseded"]) == (Status.LIVE, 0)


def test_what_begins_on_another_day_holds_from_then_on(memory: Memory) -> None:
    hold(memory, HOST)
    log(memory, "From 2026-04-15 on Scaleway hosts the billing jobs.")

    def read(day: dict[str, Any]) -> dict[str, Any]:
        said = "From 2026-04-15 on Scaleway hosts the billing jobs"
        return {"items": [found("Fact", NEW, day["entries"][0], said, **{"from": "2026-04-15"}, confidence="high")]}

    curate(memory, Reader(lambda one: operations(operation(one[0], "supersede", "k1111111111")), reads=read))
    old, new = by_id(memory, "k1111111111"), items(memory)[NEW]
    assert (new.since, old.until) == ("2026-04-15", "2026-04-15")
    assert {old.id, new.id} & held_on(memory, "2026-04-10") == {old.id}
    assert {old.id, new.id} & held_on(memory, "2026-04-20") == {new.id}


# ---------------------------------------------------------------- what later nights make of it


def test_a_late_log_tells_what_had_been_replaced_already(memory: Memory) -> None:
    hold(memory, HOST)
    log(memory, "Fact: Scaleway hosts the billing jobs.", day="2026-03-14")
    curate(memory, says("supersede", "k1111111111"))
    after = items(memory)[NEW]
    log(memory, "Fact: Gandi hosts the billing jobs.", day="2026-03-12")
    curate(memory, says("supersede", "k1111111111"), "2026-03-21T02:00+00:00")
    between, first = items(memory)["Gandi hosts the billing jobs."], by_id(memory, "k1111111111")
    assert (between.status, between.superseded_by, between.until) == (Status.SUPERSEDED, after.id, "2026-03-14")
    assert (first.superseded_by, first.until, items(memory)[NEW].status) == (between.id, "2026-03-12", Status.LIVE)
    assert [len(held_on(memory, f"2026-03-{day}") & {first.id, between.id, after.id}) for day in (11, 13, 15)] == [
        1
    ] * 3
    assert json.loads(memory.curate("check", "--json")) == []


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
    log(memory, f"Fact: {said}")
    curate(memory, says("update", "k1111111111", text=said))
    assert (items(memory)[said].due, by_id(memory, "k1111111111").status) == (due, Status.SUPERSEDED)


def test_what_is_said_again_is_in_doubt_no_more(memory: Memory) -> None:
    hold(memory, HOST)
    log(memory, "Fact: Are the billing jobs at Hetzner, really?")
    curate(memory, says("question", "k1111111111"))
    assert (by_id(memory, "k1111111111").doubted, len(waits(memory))) == ("2026-03-12", 1)
    log(memory, "Fact: Hetzner has the billing jobs.", day="2026-03-13")
    curate(memory, says("confirm", "k1111111111"), "2026-03-21T02:00+00:00")
    assert (by_id(memory, "k1111111111").doubted, waits(memory)) == ("", [])
    memory.curate("undo", "--now", "2026-03-21T12:00")
    assert (by_id(memory, "k1111111111").doubted, len(waits(memory))) == ("2026-03-12", 1)


def test_a_contact_that_is_updated_in_its_own_run_keeps_its_name(memory: Memory) -> None:
    log(memory, "Paul has the keys, 555 880.", day="2026-03-12")
    log(memory, "The number of Paul is 555 990.", day="2026-03-13")
    text = "Paul has the keys, 555 990."

    def read(day: dict[str, Any]) -> dict[str, Any]:
        [entry] = day["entries"]
        said = entry["text"][2:]
        return {"items": [found("Fact", said, entry, said, section="contacts", name="Paul", confidence="high")]}

    def review(rows: list[dict[str, Any]]) -> dict[str, Any]:
        return operations(*(operation(row, "update", "n1", text=text) for row in rows if row["day"] == "2026-03-13"))

    curate(memory, Reader(review, reads=read))
    assert (items(memory)[text].person, items(memory)[text].page_section) == ("Paul", "contacts")


@pytest.mark.parametrize("kinds", [("supersede", "supersede"), ("update", "update"), ("supersede", "update")])
def test_one_belief_is_replaced_by_two(memory: Memory, kinds: tuple[str, str]) -> None:
    hold(memory, HOST)
    texts = ("Scaleway runs the billing jobs of Bern.", "OVH runs the billing jobs of Basel since noon.")
    log(memory, *(f"Fact: {text}" for text in texts))

    def review(rows: list[dict[str, Any]]) -> dict[str, Any]:
        pairs = zip(rows, kinds, texts, strict=True)
        return operations(*(operation(row, kind, "k1111111111", text=text) for row, kind, text in pairs))

    curate(memory, Reader(review))
    assert [items(memory)[text].status for text in texts] == [Status.LIVE] * 2
    assert by_id(memory, "k1111111111").superseded_by == items(memory)[texts[0]].id
    assert json.loads(memory.curate("check", "--json")) == []


@pytest.mark.parametrize("count", [30, 60])
def test_a_model_sees_all_that_an_ordinary_page_holds(memory: Memory, count: int) -> None:
    hold(memory, HOST, *(f"Fact: Der Verein zahlt {n} Euro Miete. <!-- k{n:010} {SELF}" for n in range(count)))
    log(memory, f"Fact: Der Verein hat {'die Abrechnung' if count == 30 else 'billing'} jetzt bei Scaleway.")
    model = says("supersede", "k1111111111")
    curate(memory, model)
    assert "k1111111111" in {row["id"] for row in model.asked[0].input["items"]}
    assert by_id(memory, "k1111111111").status is Status.SUPERSEDED
