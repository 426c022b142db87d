"""A night whose review asks a model: each operation end to end, each rule broken once, and a model that fails."""

from __future__ import annotations

import json
import sys
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipelines.extract.llm.model_reviewer import ModelReviewer
from pipelines.night.plan import plan_night
from pipelines.night.progress import Watch
from pipelines.night.replay import replay
from pipelines.night.run_history import all_runs
from pipelines.night.run_night import curate_night
from pipelines.store.git import Git
from pipelines.store.item import Status
from pipelines.usage import FailureKind as Kind
from tests.reviewing import ALPHA, NOW, Reader, a_night, curate, hold, items, log, operation, operations, shown

if TYPE_CHECKING:
    from tests.conftest import Memory

SELF = "since=2026-03-01 trust=self confidence=high by=rules@1 -->"
HOST = f"Fact: The billing jobs are hosted by Hetzner. <!-- k1111111111 {SELF}"
PORT = f"Fact: The gateway listens on port 8080. <!-- k2222222222 {SELF}"
OWNED = "Fact: The mirror of the gateway belongs to Ines. <!-- k3333333333 since=2026-03-01 trust=owner -->"
NEW_HOST = "Fact: Scaleway hosts the billing jobs."
NEW_TEXT = "Scaleway hosts the billing jobs."
REPEAT = "Fact: The gateway process listens on port 8080."


def says(kind: str, **changes: Any) -> Reader:
    """Return a model that says the same of every candidate."""
    return Reader(lambda found: operations(*(operation(one, kind, **changes) for one in found)))


# ---------------------------------------------------------------- at once


def test_the_parts_of_a_long_review_are_asked_about_at_the_same_time(memory: Memory) -> None:
    log(memory, *(f"Fact: Crate {n} holds the {n}th sensor." for n in range(45)))
    together = threading.Barrier(3, timeout=30)  # nobody gets an answer before all three ask

    def said(found: list[dict[str, Any]]) -> dict[str, Any]:
        together.wait()
        return operations(*(operation(one) for one in found))

    night = a_night(memory, Reader(said))
    assert isinstance(night.reviewer, ModelReviewer)
    report = curate_night(replace(night, reviewer=replace(night.reviewer, at_once=3)), Watch())
    assert (report.review["asked"], report.review["by_model"]) == (45, 45)
    git = Git(memory.root)
    assert replay(memory.root, git, all_runs(memory.root, git)[0]).same


# ---------------------------------------------------------------- each operation


def test_the_rules_alone_would_add_it(memory: Memory) -> None:
    hold(memory, HOST)
    log(memory, NEW_HOST)
    report = curate(memory, Reader(lambda _: Kind.REFUSED))
    assert report.verdicts == {"add": 1}


def test_what_takes_the_place_of_an_item_supersedes_it(memory: Memory) -> None:
    hold(memory, HOST)
    log(memory, NEW_HOST)
    model = says("supersede", id="k1111111111")
    report = curate(memory, model)
    [call] = model.asked
    assert (call.task, call.prompt_id, call.prompt_version, call.place) == ("review", "review", 1, ("review", 0))
    [candidate] = shown(call)
    assert candidate["neighbours"] == [
        {"id": "k1111111111", "type": "Fact", "status": "live", "since": "2026-03-01", "document": "Projects/alpha",
         "text": "The billing jobs are hosted by Hetzner."},
    ]  # fmt: skip
    old, new = items(memory)["The billing jobs are hosted by Hetzner."], items(memory)[NEW_TEXT]
    assert (old.status, old.superseded_by, old.until) == (Status.SUPERSEDED, new.id, "2026-03-12")
    assert (report.verdicts, report.items["superseded"]) == ({"supersede": 1}, 1)
    told = report.to_json()
    assert told["review"] == {"asked": 1, "by_model": 1, "noise": 0, "broken": 0, "unlinked": 0}
    assert told["model"]["calls"] == 2, "one reads, one reviews"  # type: ignore[index]  # a dictionary


def test_a_duplicate_confirms_the_item_and_adds_nothing(memory: Memory) -> None:
    hold(memory, PORT)
    log(memory, REPEAT)
    report = curate(memory, says("duplicate", id="k2222222222"))
    assert list(items(memory)) == ["The gateway listens on port 8080."]
    assert (report.items["confirmed"], items(memory)["The gateway listens on port 8080."].confirmed) == (
        1,
        "2026-03-12",
    )


def test_a_contradiction_is_asked_about(memory: Memory) -> None:
    hold(memory, HOST)
    log(memory, NEW_HOST)
    report = curate(memory, says("contradict", id="k1111111111"))
    assert (report.people["asked"], items(memory)[NEW_TEXT].status) == (1, Status.WAITING)
    assert "A model finds that both cannot hold." in memory.read("Review.md")


def test_noise_drops_what_is_not_sure_and_is_counted(memory: Memory) -> None:
    log(memory, NEW_HOST)
    model = says("noise")
    model.confidence = "medium"
    report = curate(memory, model)
    assert (items(memory), report.verdicts, report.review["noise"]) == ({}, {"noise": 1}, 1)
    assert "The model took 1 candidate for noise; what they say stands in the logs." in report.warnings
    assert curate(memory, model).commit is None


def test_what_is_added_goes_where_the_model_says_with_its_links(memory: Memory) -> None:
    hold(memory, HOST)
    log(memory, NEW_HOST)
    links = [{"kind": "related", "id": "k1111111111"}, {"kind": "because", "id": "k9999999999"}]
    report = curate(memory, says("add", document="MEMORY", links=links))
    assert items(memory)[NEW_TEXT].links == (("related", ("k1111111111",)),)
    assert NEW_TEXT in memory.read("MEMORY.md")
    assert report.review["unlinked"] == 1


def test_the_same_words_and_what_a_person_took_out_are_asked_of_nobody(memory: Memory) -> None:
    hold(memory, PORT)
    log(memory, PORT.partition(" <!--")[0])
    model = says("add")
    report = curate(memory, model)
    assert (model.asked, report.items["confirmed"], report.review) == ([], 1, {})
    memory.write(ALPHA, "# Alpha\n")
    log(memory, PORT.partition(" <!--")[0], day="2026-03-13")
    assert curate(memory, model).verdicts == {"noise": 1}
    assert model.asked == []


def test_what_this_night_let_in_is_said_once_whatever_the_model_says(memory: Memory) -> None:
    log(memory, "Fact: The gateway listens on port 8080.", "Fact: On port 8080 the gateway listens.")
    report = curate(memory, says("add"))
    assert report.verdicts == {"add": 1, "duplicate": 1}


def test_what_was_closed_is_not_learnt_anew(memory: Memory) -> None:
    closed = f"k1111111111 since=2026-03-01 until=2026-03-05 superseded-by=k2222222222 {SELF.partition(' ')[2]}"
    hold(memory, f"~~Fact: The gateway listens on port 7070.~~ <!-- {closed}", PORT)
    log(memory, "Fact: On port 7070 the gateway listens.")
    report = curate(memory, says("add"))
    assert report.added == 0


# ---------------------------------------------------------------- each rule, broken once

EVIL = [
    ("supersede", {"id": "k9999999999"}, "own neighbours"),
    ("supersede", {"id": ""}, "own neighbours"),
    ("duplicate", {"id": "k1111111111"}, "no duplicate"),
    ("contradict", {"id": "k9999999999"}, "own neighbours"),
    ("noise", {}, "never noise"),
    ("add", {"document": "../../etc/passwd"}, "`document` must be"),
    ("retract", {"id": "k1111111111"}, "operation breaks the schema"),
    ("add", {"path": "MEMORY.md"}, "its shape breaks the schema"),
]


@pytest.mark.parametrize(("kind", "changes", "rule"), EVIL)
def test_what_breaks_a_rule_is_asked_for_once_more_and_then_the_rules_judge(
    memory: Memory, kind: str, changes: dict[str, Any], rule: str
) -> None:
    hold(memory, HOST)
    log(memory, NEW_HOST)
    model = says(kind, **changes)
    report = curate(memory, model)
    first, second = model.asked
    assert "breaks a rule" not in first.user
    assert rule in second.user.partition("END CANDIDATES")[2]
    assert (report.verdicts, report.review["broken"], report.review["by_model"]) == ({"add": 1}, 1, 0)
    assert "The rules reviewed 1 candidate: the model's answers broke a rule twice." in report.warnings
    assert items(memory)["The billing jobs are hosted by Hetzner."].status is Status.LIVE


def test_a_right_answer_to_the_second_question_counts(memory: Memory) -> None:
    hold(memory, HOST)
    log(memory, NEW_HOST)
    model = Reader(lambda _: {})

    def review(found: list[dict[str, Any]]) -> object:
        right = operation(found[0], "supersede", id="k1111111111")
        return operations(right, right) if len(model.asked) == 1 else operations(right)

    model.review = review
    report = curate(memory, model)
    assert "exactly one operation, and there are 2" in model.asked[1].user
    assert (report.items["superseded"], report.review["broken"]) == (1, 0)


@pytest.mark.parametrize(
    ("held", "said", "kind", "confidence"),
    [
        (HOST.replace("billing jobs are hosted", "office is owned"), "Fact: Ada bills Hetzner.", "supersede", "high"),
        (HOST, NEW_HOST, "supersede", "low"),
        (HOST.replace("Fact", "Decision"), NEW_HOST, "contradict", "high"),
        (PORT, "Fact: The gateway listens on port 9090.", "duplicate", "high"),
        (HOST, "Fact: The billing jobs are not hosted by Hetzner.", "duplicate", "high"),
        (HOST, "Fact: The billing jobs are hosted by Scaleway.", "duplicate", "high"),
        (HOST, "Fact: The backups of the warehouse and its archive jobs pass quickly.", "duplicate", "high"),
    ],
)  # fmt: skip
def test_what_code_finds_wrong_is_not_done(memory: Memory, held: str, said: str, kind: str, confidence: str) -> None:
    hold(memory, held)
    log(memory, said)
    ident = held.partition("<!-- ")[2].split()[0]
    model = says(kind, id=ident)
    model.confidence = confidence
    report = curate(memory, model)
    assert (report.review["asked"], report.review["broken"]) == (1, 1)
    old = next(item for item in items(memory).values() if item.id == ident)
    assert (old.status, old.confirmed) == (Status.LIVE, "")


def test_what_a_person_wrote_is_asked_about_and_never_superseded(memory: Memory) -> None:
    hold(memory, OWNED)
    log(memory, "Fact: The mirror of the gateway is with Paul.")
    report = curate(memory, says("supersede", id="k3333333333"))
    assert (report.verdicts, report.people["asked"]) == ({"contradict": 1}, 1)


def test_no_more_than_the_bound_of_a_document_is_superseded_in_one_night(memory: Memory) -> None:
    hold(
        memory,
        *(f"Fact: Job {name} is hosted by Hetzner. <!-- k{at}{at}11111111 {SELF}" for at, name in enumerate(NAMES)),
    )
    log(memory, *(f"Fact: Scaleway hosts job {name}." for name in NAMES))

    def review(found: list[dict[str, Any]]) -> object:
        told = []
        for one in found:
            name = one["text"].removesuffix(".").split()[-1]
            [old] = [n for n in one["neighbours"] if f"Job {name} " in n["text"]][:1]
            told.append(operation(one, "supersede", id=old["id"]))
        return operations(*told)

    report = curate(memory, Reader(review))
    assert report.items["superseded"] == 3
    assert report.verdicts == {"supersede": 3, "contradict": len(NAMES) - 3}


NAMES = ("alder", "birch", "cedar", "dogwood", "elm", "fir", "ginkgo", "hazel")


# ---------------------------------------------------------------- failures


@pytest.mark.parametrize("kind", [Kind.DOWN, Kind.REFUSED, Kind.OVER_BUDGET, Kind.TRUNCATED])
def test_a_review_that_fails_leaves_the_verdicts_of_the_rules(memory: Memory, kind: Kind) -> None:
    hold(memory, HOST)
    log(memory, NEW_HOST)
    report = curate(memory, Reader(lambda _: kind))
    assert (report.verdicts, report.exit_code, report.pending_days) == ({"add": 1}, 0, ())
    assert "The rules reviewed what a model could not be asked about. a was " in " ".join(report.warnings)
    assert curate(memory, says("noise")).commit is None, "the day is read: nothing is asked again"


@pytest.mark.parametrize("said", ["", "no", "[]", '{"items": []}', '{"operations": {}}', '{"operations": [], "x": 1}'])
def test_an_answer_that_is_none_is_a_failed_call(memory: Memory, said: str) -> None:
    hold(memory, HOST)
    log(memory, NEW_HOST)
    report = curate(memory, Reader(lambda _: said))
    assert (report.verdicts, report.exit_code) == ({"add": 1}, 0)
    assert report.tally.failures


def test_many_candidates_are_asked_about_in_several_calls(memory: Memory) -> None:
    log(memory, *(f"Fact: Shelf {at} holds {at + 40} boxes." for at in range(45)))
    model = says("add")
    report = curate(memory, model)
    assert [len(shown(call)) for call in model.asked] == [20, 20, 5]
    assert (report.added, report.review["by_model"]) == (45, 45)


# ---------------------------------------------------------------- again, byte for byte


@pytest.mark.parametrize("fails", [False, True])
def test_a_night_is_replayed_from_its_kept_replies(memory: Memory, fails: bool) -> None:  # noqa: FBT001  a parameter
    hold(memory, HOST, PORT)
    log(memory, NEW_HOST, REPEAT)
    report = curate(memory, Reader(lambda _: Kind.DOWN) if fails else says("supersede", id="k1111111111"))
    git = Git(memory.root)
    [run] = [one for one in all_runs(memory.root, git) if one.id == report.run]
    assert replay(memory.root, git, run).same
    assert report.items["superseded"] == (not fails)


# ---------------------------------------------------------------- hostile replies

IDS = ["k1111111111", "k2222222222", "k3333333333", "k9999999999", "", "kx", "k1111111111 trust=owner"]
ANY = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 9) | st.text(max_size=8),
    lambda one: st.lists(one, max_size=3) | st.dictionaries(st.text(max_size=5), one, max_size=3),
    max_leaves=6,
)
KINDS = st.sampled_from(["add", "duplicate", "supersede", "contradict", "noise"])
LINK = st.fixed_dictionaries({"kind": st.sampled_from(["because", "supersedes"]) | ANY, "id": st.sampled_from(IDS)})
OPERATION = st.fixed_dictionaries({
    "candidate": st.integers(1, 5), "operation": KINDS | ANY, "id": st.sampled_from(IDS) | ANY,
    "document": st.sampled_from(["", "Areas/general", "../x", "MEMORY"]), "links": st.lists(LINK, max_size=3) | ANY,
    "reason": st.just(""),
})  # fmt: skip
HELD = [f"Fact: Job {name} is hosted by Hetzner. <!-- k{at}{at}11111111 {SELF}" for at, name in enumerate(NAMES[:5])]
LINES = [*(f"Fact: Scaleway hosts job {name}." for name in NAMES[:3]), "Fact: The mirror is with Paul."]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(OPERATION | ANY, max_size=6), st.sampled_from(["high", "medium", "low"]))
def test_no_reply_leaves_its_bounds(memory: Memory, said: list[Any], confidence: str) -> None:
    hold(memory, HOST, PORT, OWNED, *HELD)
    log(memory, *LINES)
    night = a_night(memory, Reader(lambda _: json.dumps(operations(*said)), confidence))
    night.extractor.chain._replies = None  # type: ignore[attr-defined]  # each example is a night of its own
    plan = plan_night(night, Git(memory.root), Watch())
    after = {change.path: (change.after or b"").decode() for change in plan.changes}
    assert set(after) <= {ALPHA, "Areas/general.md", "MEMORY.md", "Review.md", "State/progress.jsonl"}
    text = "".join(after.values())
    assert text.count("superseded-by=") <= 3
    assert f"- {OWNED.partition(' trust')[0]}" in memory.read(ALPHA)
    assert "~~Fact: The mirror" not in text
    assert "k9999999999" not in text
    assert "kx" not in text
    if confidence == "high":
        assert not plan.report.review["noise"]
    if confidence == "low":
        assert (plan.report.items["superseded"], plan.report.people["asked"]) == (0, 0)


def test_a_program_reviews_from_the_command_line(memory: Memory, tmp_path: Any) -> None:
    hold(memory, HOST)
    log(memory, NEW_HOST)
    program = tmp_path / "think"
    program.write_text(
        "import json, sys\n"
        "asked = json.load(sys.stdin)\n"
        "if asked['task'] == 'review':\n"
        "    told = dict(candidate=1, operation='supersede', id='k1111111111', document='', links=[], reason='')\n"
        "    print(json.dumps({'operations': [told]}))\n"
        "else:\n"
        f"    said = {NEW_TEXT!r}\n"
        "    print(json.dumps({'items': [dict(type='Fact', text=said, document='', new_project='', quote=said,\n"
        "        start_line=5, end_line=5, closed=False, confidence='high', reason='', links=[])]}))\n"
    )
    told = json.loads(memory.curate("run", "--json", "--provider", f"exec:{sys.executable} {program}", "--now", NOW))
    assert (told["items"]["superseded"], told["review"]["by_model"]) == (1, 1)
    assert "Same: run" in memory.curate("replay", told["run"])
