"""What becomes of what a model reads: it is added, repeats, replaces or contradicts, within its bounds."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipelines.night.plan import plan_night
from pipelines.night.report import Watch
from pipelines.store.git import Git
from pipelines.store.item import Status
from pipelines.usage import FailureKind as Kind
from tests.asking import tick
from tests.reviewing import (
    ALPHA,
    NOW,
    Reader,
    a_night,
    by_id,
    curate,
    hold,
    item,
    items,
    labelled,
    log,
    only,
    replaces,
    reply,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Memory

SELF = "since=2026-03-01 trust=self confidence=high by=rules@1 -->"
HOST = f"Fact: The billing jobs are hosted by Hetzner. <!-- k1111111111 {SELF}"
PORT = f"Fact: The gateway listens on port 8080. <!-- k2222222222 {SELF}"
OWNED = "Fact: The mirror of the gateway belongs to Ines. <!-- k3333333333 since=2026-03-01 trust=owner -->"
NEW_TEXT = "Scaleway hosts the billing jobs."
NEW_HOST = f"Fact: {NEW_TEXT}"
REPEAT = "Fact: The gateway process listens on port 8080."


def of_pairs(verdict: str) -> Callable[[dict[str, Any]], str]:
    """Return a verifier that supports all, and says this of each pair."""
    return lambda claim: verdict if claim["kind"] == "pair" else "supported"


# ---------------------------------------------------------------- what the reading says


def test_what_is_new_is_added_without_a_word_to_a_second_reader(memory: Memory) -> None:
    log(memory, NEW_HOST)
    model = Reader()
    report = curate(memory, model)
    assert (report.verdicts, model.claims, report.tally.calls) == ({"add": 1}, [], 1)


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
    assert report.review == {"claims": 1}
    assert report.tally.calls == 2, "one reads, one verifies"


def test_an_item_of_the_same_reply_may_be_replaced(memory: Memory) -> None:
    log(memory, "Fact: Hetzner hosts the billing jobs.", "Correction of that. Scaleway hosts the billing jobs.")

    def read(day: dict[str, Any]) -> dict[str, Any]:
        first, second = day["entries"]
        old = item("Fact", "Hetzner hosts the billing jobs.", first)
        return reply(old, item("Fact", NEW_TEXT, second, replaces=["n0"]))

    curate(memory, Reader(read))
    new = items(memory)[NEW_TEXT]
    assert only(memory, Status.SUPERSEDED).superseded_by == new.id
    assert new.links == (("supersedes", (only(memory, Status.SUPERSEDED).id,)),)


def test_one_item_takes_the_place_of_several(memory: Memory) -> None:
    bill = f"Fact: The billing jobs cost 40 euros at Hetzner. <!-- k4444444444 {SELF}"
    hold(memory, HOST, bill)
    log(memory, NEW_HOST)
    report = curate(memory, replaces("k1111111111", "k4444444444"))
    new = items(memory)[NEW_TEXT]
    assert new.links == (("supersedes", ("k1111111111", "k4444444444")),)
    assert {by_id(memory, one).superseded_by for one in ("k1111111111", "k4444444444")} == {new.id}
    assert report.items["superseded"] == 2
    assert json.loads(memory.curate("check", "--json")) == []


def test_an_item_is_replaced_by_two(memory: Memory) -> None:
    hold(memory, HOST)
    texts = ("Scaleway runs the billing jobs of Bern.", "OVH runs the billing jobs of Basel since noon.")
    log(memory, *(f"Fact: {text}" for text in texts))
    curate(memory, replaces("k1111111111"))
    assert [items(memory)[text].status for text in texts] == [Status.LIVE] * 2
    assert by_id(memory, "k1111111111").superseded_by == items(memory)[texts[0]].id
    assert json.loads(memory.curate("check", "--json")) == []


def test_a_todo_that_was_done_with_may_be_replaced_by_a_fact(memory: Memory) -> None:
    hold(memory, f"Todo: Find a host for the billing jobs. <!-- k5555555555 {SELF}")
    log(memory, NEW_HOST)
    curate(memory, replaces("k5555555555"))
    assert by_id(memory, "k5555555555").superseded_by == items(memory)[NEW_TEXT].id


@pytest.mark.parametrize("ident", ["k9999999999", "n7", "n0", "Projects/alpha.md"])
def test_what_was_not_shown_is_not_replaced_and_the_item_stays(memory: Memory, ident: str) -> None:
    hold(memory, HOST)
    log(memory, NEW_HOST)
    report = curate(memory, replaces(ident))
    assert (report.verdicts, by_id(memory, "k1111111111").status) == ({"add": 1}, Status.LIVE)


@pytest.mark.parametrize("confidence", ["low", "speculative"])
def test_a_barely_believed_item_replaces_nothing(memory: Memory, confidence: str) -> None:
    hold(memory, HOST)
    log(memory, NEW_HOST)
    report = curate(memory, replaces("k1111111111", confidence=confidence))
    assert (report.verdicts, report.items["superseded"]) == ({"add": 1}, 0)


def test_what_a_person_wrote_is_not_replaced_unasked(memory: Memory) -> None:
    hold(memory, OWNED)
    said = "The mirror of the gateway is with Paul."
    log(memory, f"Fact: {said}")
    report = curate(memory, replaces("k3333333333"))
    assert (by_id(memory, "k3333333333").status, items(memory)[said].status) == (Status.LIVE, Status.WAITING)
    assert (report.verdicts, report.people["asked"]) == ({"ask": 1}, 1)
    tick(memory, "keep new")
    memory.curate("run", "--now", "2026-03-21T02:00")
    assert by_id(memory, "k3333333333").superseded_by == items(memory)[said].id


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
    return {one["id"] for one in json.loads(memory.curate("items", "--as-of", day, "--json"))}


def test_a_later_day_of_the_run_replaces_what_an_earlier_one_brought(memory: Memory) -> None:
    """Each day is read against the memory as the day before left it: the ids are those of filed items."""
    hold(memory, HOST)
    log(memory, NEW_HOST)
    log(memory, "Fact: Kamatera hosts the billing jobs.", day="2026-03-13")

    def read(day: dict[str, Any]) -> dict[str, Any]:
        held = {row["text"]: row["id"] for row in day["near"]}
        old = HOST[6:].partition(" <!--")[0] if day["day"] == "2026-03-12" else NEW_TEXT
        return reply(*labelled(day, replaces=[held[old]]))

    report = curate(memory, Reader(read))
    first, second = by_id(memory, "k1111111111"), items(memory)[NEW_TEXT]
    assert (first.superseded_by, second.until) == (second.id, "2026-03-13")
    assert second.superseded_by == items(memory)["Kamatera hosts the billing jobs."].id
    assert report.items["superseded"] == 2


def test_a_late_log_tells_what_had_been_replaced_already(memory: Memory) -> None:
    hold(memory, HOST)
    log(memory, NEW_HOST, day="2026-03-14")
    curate(memory, replaces("k1111111111"))
    after = items(memory)[NEW_TEXT]
    log(memory, "Fact: Gandi hosts the billing jobs.", day="2026-03-13")
    report = curate(memory, replaces(after.id), "2026-03-21T02:00+00:00")
    assert (items(memory)[NEW_TEXT].status, report.items["superseded"]) == (Status.LIVE, 0)
    assert json.loads(memory.curate("check", "--json")) == []


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
    memory.curate("run", "--now", "2026-03-21T02:00")
    new = items(memory)["The gateway listens on port 9090."]
    assert (new.status, by_id(memory, "k2222222222").superseded_by) == (Status.LIVE, new.id)


@pytest.mark.parametrize("verdict", ["replaces", "conflict"])
def test_a_pair_takes_nothing_from_a_person(memory: Memory, verdict: str) -> None:
    hold(memory, OWNED)
    log(memory, "Fact: The mirror of the gateway is with Paul.")
    report = curate(memory, Reader(verifies=of_pairs(verdict)))
    assert (report.verdicts, by_id(memory, "k3333333333").status) == ({"ask": 1}, Status.LIVE)


def test_only_items_of_one_page_with_words_in_common_are_a_pair(memory: Memory) -> None:
    hold(memory, PORT)
    memory.write("Projects/beta.md", f"# Beta\n\n## Facts\n- {HOST}\n")
    log(memory, NEW_HOST, "Fact: Otto tends the garden.")
    model = Reader()
    curate(memory, model)
    assert model.claims == []


def test_a_new_fact_meets_an_open_todo(memory: Memory) -> None:
    hold(memory, f"Todo: Move the billing jobs to Scaleway. <!-- k5555555555 {SELF}")
    log(memory, NEW_HOST)
    model = Reader(verifies=of_pairs("replaces"))
    curate(memory, model)
    assert [one["quotes"] for one in model.claims[0]] == [["Todo: Move the billing jobs to Scaleway."]]
    assert by_id(memory, "k5555555555").superseded_by == items(memory)[NEW_TEXT].id


def test_what_the_reading_linked_or_ends_is_no_pair(memory: Memory) -> None:
    hold(memory, HOST)
    log(memory, NEW_HOST)
    model = Reader(lambda day: reply(*labelled(day, links=[{"kind": "related", "id": "k1111111111"}])))
    curate(memory, model)
    assert (model.claims, items(memory)[NEW_TEXT].links) == ([], (("related", ("k1111111111",)),))


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


def test_what_a_day_says_twice_is_added_once(memory: Memory) -> None:
    log(memory, "Fact: The gateway listens on port 8080.", "Fact: the gateway listens on port 8080")
    assert curate(memory, Reader()).verdicts == {"add": 1, "confirm": 1}


def test_what_was_closed_is_not_learnt_anew(memory: Memory) -> None:
    closed = f"k1111111111 since=2026-03-01 until=2026-03-05 superseded-by=k2222222222 {SELF.partition(' ')[2]}"
    hold(memory, f"~~Fact: The gateway listens on port 7070.~~ <!-- {closed}", PORT)
    log(memory, "Fact: the gateway listens on port 7070")
    assert curate(memory, Reader()).verdicts == {"ignore": 1}


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

NAMES = ("alder", "birch", "cedar", "dogwood", "elm", "fir", "ginkgo", "hazel")


@pytest.mark.parametrize("by", ["reading", "pair"])
def test_no_more_than_the_bound_of_a_document_is_replaced_in_one_night(memory: Memory, by: str) -> None:
    hold(
        memory,
        *(f"Fact: Job {name} is hosted by Hetzner. <!-- k{at}{at}11111111 {SELF}" for at, name in enumerate(NAMES)),
    )
    log(memory, *(f"Fact: Scaleway hosts job {name}." for name in NAMES))

    def read(day: dict[str, Any]) -> dict[str, Any]:
        found = labelled(day)
        for at, one in enumerate(found if by == "reading" else ()):
            one["replaces"] = [f"k{at}{at}11111111"]
        return reply(*found)

    def verify(claim: dict[str, Any]) -> str:
        if claim["kind"] != "pair":
            return "supported"
        name = claim["text"].removesuffix(".").split()[-1]
        return "replaces" if f"Job {name} " in claim["quotes"][0] else "both"

    report = curate(memory, Reader(read, verify))
    assert report.items["superseded"] == 3
    assert report.verdicts == {"supersede": 3, "ask": len(NAMES) - 3}


# ---------------------------------------------------------------- again, byte for byte


@pytest.mark.parametrize("kind", [Kind.DOWN, Kind.REFUSED, Kind.OVER_BUDGET, Kind.TRUNCATED])
def test_a_day_that_cannot_be_read_stays_pending(memory: Memory, kind: Kind) -> None:
    hold(memory, HOST)
    log(memory, NEW_HOST)
    report = curate(memory, Reader(lambda _: kind))
    assert (report.added, report.pending_days) == (0, ("2026-03-12",))
    assert curate(memory, Reader(), "2026-03-21T02:00+00:00").added == 1


# ---------------------------------------------------------------- hostile replies

IDS = ["k1111111111", "k2222222222", "k3333333333", "k9999999999", "n0", "n3", "", "kx", "k1111111111 trust=owner"]
ANY = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 9) | st.text(max_size=8),
    lambda one: st.lists(one, max_size=3) | st.dictionaries(st.text(max_size=5), one, max_size=3),
    max_leaves=6,
)
SOME_IDS = st.lists(st.sampled_from(IDS), max_size=3)
LINES = st.lists(st.lists(st.integers(0, 12), min_size=1, max_size=2), max_size=2)
LINK = st.fixed_dictionaries({"kind": st.sampled_from(["because", "supersedes"]) | ANY, "id": st.sampled_from(IDS)})
TEXTS = st.sampled_from(["", "Job alder is hosted by Scaleway.", "Job 77 is gone.", "The mirror is with Paul."])
ITEM = st.fixed_dictionaries({
    "type": st.sampled_from(["Fact", "Rule", "Todo"]) | ANY, "text": TEXTS | ANY, "lines": LINES | ANY,
    "replaces": SOME_IDS | ANY, "document": st.sampled_from(["", "general", "../x", "MEMORY"]),
    "new_page": st.sampled_from(["", "project: Evil", "area: ../x"]) | ANY, "links": st.lists(LINK, max_size=3) | ANY,
    "from": st.sampled_from(["", "2026-13-45"]) | ANY, "closed": st.sampled_from(["", "done", "ended"]) | ANY,
    "confidence": st.sampled_from(["high", "low"]) | ANY,
})  # fmt: skip
OPERATION = st.fixed_dictionaries({
    "operation": st.sampled_from(["close", "update", "retract", "doubt"]) | ANY, "ids": SOME_IDS | ANY,
    "text": TEXTS, "how": st.sampled_from(["", "done", "ended", "answered"]) | ANY, "lines": LINES | ANY,
})  # fmt: skip
REPLY = st.fixed_dictionaries({
    "items": st.lists(ITEM | ANY, max_size=4), "operations": st.lists(OPERATION | ANY, max_size=4),
    "seen": SOME_IDS | st.lists(ANY, max_size=2), "open_lists": st.lists(ANY, max_size=2),
    "episode": st.lists(ANY, max_size=2),
})  # fmt: skip
VERDICTS = ["supported", "unsure", "unsupported", "same", "replaces", "both", "conflict"]
HELD = [f"Fact: Job {name} is hosted by Hetzner. <!-- k{at}{at}11111111 {SELF}" for at, name in enumerate(NAMES[:5])]
SAID = [*(f"Fact: Scaleway hosts job {name}." for name in NAMES[:3]), "Fact: The mirror is with Paul."]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(REPLY, st.sampled_from(VERDICTS))
def test_no_reply_leaves_its_bounds(memory: Memory, said: dict[str, Any], verdict: str) -> None:
    hold(memory, HOST, PORT, OWNED, *HELD)
    log(memory, *SAID)
    night = a_night(memory, Reader(lambda _: json.dumps(said), lambda _: verdict))
    night.extractor.chain._replies = None  # type: ignore[attr-defined]  # each example is a night of its own
    plan = plan_night(night, Git(memory.root), Watch())
    after = {change.path: (change.after or b"").decode() for change in plan.changes}
    assert set(after) <= {
        ALPHA, "Areas/general.md", "Episodes/2026-03.md", "MEMORY.md", "Review.md", "State/progress.jsonl",
        "State/tombstones.jsonl",
    }  # fmt: skip
    text = "".join(after.values())
    assert sum(plan.report.items[how] for how in ("superseded", "closed")) <= 3
    assert f"- {OWNED.partition(' trust')[0]}" in after.get(ALPHA, memory.read(ALPHA))
    assert "~~Fact: The mirror of" not in text
    assert "k9999999999" not in text
    assert "kx" not in text
    assert "Job 77" not in text


def test_a_program_reads_and_verifies_from_the_command_line(memory: Memory, tmp_path: Any) -> None:
    hold(memory, HOST)
    log(memory, NEW_HOST)
    program = tmp_path / "think"
    program.write_text(
        "import json, sys\n"
        "asked = json.load(sys.stdin)\n"
        "given = asked['input']\n"
        "if asked['task'] == 'verify':\n"
        "    told = [dict(claim=one['claim'], verdict='supported') for one in given['claims']]\n"
        "    print(json.dumps({'verdicts': told}))\n"
        "elif asked['task'] == 'extract':\n"
        "    [line], [held] = given['entries'], given['near']\n"
        f"    found = dict(type='Fact', text={NEW_TEXT!r}, lines=[[line['line']]], replaces=[held['id']])\n"
        "    print(json.dumps({'items': [found]}))\n"
        "else:\n"
        "    print('{}')\n"
    )
    told = json.loads(memory.curate("run", "--json", "--provider", f"exec:{sys.executable} {program}", "--now", NOW))
    assert (told["items"]["superseded"], told["review"]) == (1, {"claims": 1})
