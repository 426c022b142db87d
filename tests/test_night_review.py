"""A night whose review asks a model: each operation end to end, each rule broken once, and a model that fails."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipelines.night.plan import plan_night
from pipelines.night.replay import replay
from pipelines.night.report import Watch
from pipelines.night.run_history import all_runs
from pipelines.store.git import Git
from pipelines.store.item import Status
from pipelines.usage import FailureKind as Kind
from tests.reviewing import ALPHA, NOW, Reader, a_night, curate, hold, items, log, operation, operations, says, shown

if TYPE_CHECKING:
    from tests.conftest import Memory

SELF = "since=2026-03-01 trust=self confidence=high by=rules@1 -->"
HOST = f"Fact: The billing jobs are hosted by Hetzner. <!-- k1111111111 {SELF}"
PORT = f"Fact: The gateway listens on port 8080. <!-- k2222222222 {SELF}"
OWNED = "Fact: The mirror of the gateway belongs to Ines. <!-- k3333333333 since=2026-03-01 trust=owner -->"
NEW_HOST = "Fact: Scaleway hosts the billing jobs."
NEW_TEXT = "Scaleway hosts the billing jobs."
REPEAT = "Fact: The gateway process listens on port 8080."


# ---------------------------------------------------------------- what is asked, and what is said


def test_the_rules_alone_would_add_it(memory: Memory) -> None:
    hold(memory, HOST)
    log(memory, NEW_HOST)
    report = curate(memory, Reader(lambda _: Kind.REFUSED))
    assert report.verdicts == {"add": 1}


def test_what_takes_the_place_of_an_item_supersedes_it(memory: Memory) -> None:
    hold(memory, HOST)
    log(memory, NEW_HOST)
    model = says("supersede", "k1111111111")
    report = curate(memory, model)
    [call] = model.asked
    assert (call.task, call.prompt_id, call.place) == ("review", "review", ("review", 1))
    assert call.input["candidates"] == [
        {"candidate": 0, "id": "n1", "type": "Fact", "text": NEW_TEXT, "document": "alpha", "quotes": [NEW_TEXT],
         "day": "2026-03-12", "closed": "", "neighbours": ["k1111111111"]},
    ]  # fmt: skip
    assert call.input["items"] == [
        {"id": "k1111111111", "type": "Fact", "text": "The billing jobs are hosted by Hetzner.", "status": "live",
         "document": "alpha", "since": "2026-03-01", "trust": "self"},
    ]  # fmt: skip
    for row in (*call.input["candidates"], *call.input["items"]):
        assert json.dumps(row) in call.user
    old, new = items(memory)["The billing jobs are hosted by Hetzner."], items(memory)[NEW_TEXT]
    assert (old.status, old.superseded_by, old.until) == (Status.SUPERSEDED, new.id, "2026-03-12")
    assert (report.verdicts, report.items["superseded"]) == ({"supersede": 1}, 1)
    told = report.to_json()
    assert told["review"] == {"asked": 1, "by_model": 1, "claims": 1}
    assert told["model"]["calls"] == 3, "one reads, one reviews, one verifies"  # type: ignore[index]  # a dictionary


def test_what_repeats_an_item_confirms_it_and_adds_nothing(memory: Memory) -> None:
    hold(memory, PORT)
    log(memory, REPEAT)
    report = curate(memory, says("confirm", "k2222222222"))
    assert list(items(memory)) == ["The gateway listens on port 8080."]
    assert (report.items["confirmed"], items(memory)["The gateway listens on port 8080."].confirmed) == (
        1,
        "2026-03-12",
    )


ARCHIVE, MADE_ROOM = "Archives/alpha-2026.md", "by=rules@1 status=archived -->"


def archived(memory: Memory, line: str) -> None:
    memory.write(ARCHIVE, f"# Alpha 2026\n\n## Facts\n\n- {line.replace('by=rules@1 -->', MADE_ROOM)}\n")


@pytest.mark.parametrize("said", ["The gateway listens on port 8080.", "The gateway process listens on port 8080."])
def test_what_made_room_returns_when_it_is_said_again(memory: Memory, said: str) -> None:
    hold(memory, HOST)
    archived(memory, PORT)
    log(memory, f"Fact: {said}")
    report = curate(memory, says("confirm", "k2222222222"))
    found = items(memory)["The gateway listens on port 8080."]
    assert (report.verdicts, report.items["confirmed"]) == ({"confirm": 1}, 1)
    assert (found.id, found.status, found.confirmed, found.seen) == ("k2222222222", Status.LIVE, "2026-03-12", 1)
    assert "k2222222222" in memory.read(ALPHA)
    assert "k2222222222" not in memory.read(ARCHIVE)


def test_what_made_room_can_be_superseded_and_its_successor_is_on_the_page(memory: Memory) -> None:
    hold(memory, PORT)
    archived(memory, HOST)
    log(memory, NEW_HOST)
    report = curate(memory, says("supersede", "k1111111111"))
    old, new = items(memory)["The billing jobs are hosted by Hetzner."], items(memory)[NEW_TEXT]
    assert (report.verdicts, old.status, old.superseded_by) == ({"supersede": 1}, Status.SUPERSEDED, new.id)
    assert NEW_TEXT in memory.read(ALPHA)
    assert "k1111111111" in memory.read(ARCHIVE).partition("## History")[2]


def test_what_made_room_and_returned_can_be_replaced_in_the_same_run(memory: Memory) -> None:
    archived(memory, PORT)
    log(memory, "Fact: The gateway listens on port 8080.")
    log(memory, "Fact: The gateway is reached on port 9090 now.", day="2026-03-13")
    report = curate(memory, says("supersede", "k2222222222"))
    old, new = (
        items(memory)["The gateway listens on port 8080."],
        items(memory)["The gateway is reached on port 9090 now."],
    )
    assert report.verdicts == {"confirm": 1, "supersede": 1}
    assert (old.status, old.superseded_by, old.until) == (Status.SUPERSEDED, new.id, "2026-03-13")
    assert new.text in memory.read(ALPHA)


def test_what_is_ignored_is_not_asked_about_again(memory: Memory) -> None:
    hold(memory, HOST)
    log(memory, NEW_HOST)
    model = says("ignore")
    assert curate(memory, model).verdicts == {"ignore": 1}
    assert curate(memory, model).commit is None
    assert len(model.asked) == 1


def test_a_candidate_of_which_nothing_is_said_is_added(memory: Memory) -> None:
    hold(memory, HOST)
    log(memory, NEW_HOST)
    report = curate(memory, Reader(lambda _: operations()))
    assert (report.verdicts, report.review) == ({"add": 1}, {"asked": 1, "by_model": 1})


def test_the_same_words_and_what_a_person_took_out_are_asked_of_nobody(memory: Memory) -> None:
    hold(memory, PORT)
    log(memory, PORT.partition(" <!--")[0])
    model = says("add")
    report = curate(memory, model)
    assert (model.asked, report.items["confirmed"], report.review) == ([], 1, {})
    memory.write(ALPHA, "# Alpha\n")
    log(memory, PORT.partition(" <!--")[0], day="2026-03-13")
    assert curate(memory, model).verdicts == {"ignore": 1}
    assert model.asked == []


def test_what_this_night_let_in_is_said_once_whatever_the_model_says(memory: Memory) -> None:
    log(memory, "Fact: The gateway listens on port 8080.", "Fact: the gateway listens on port 8080")
    report = curate(memory, says("add"))
    assert report.verdicts == {"add": 1, "confirm": 1}


def test_what_was_closed_is_not_learnt_anew(memory: Memory) -> None:
    closed = f"k1111111111 since=2026-03-01 until=2026-03-05 superseded-by=k2222222222 {SELF.partition(' ')[2]}"
    hold(memory, f"~~Fact: The gateway listens on port 7070.~~ <!-- {closed}", PORT)
    log(memory, "Fact: the gateway listens on port 7070")
    report = curate(memory, says("add"))
    assert report.verdicts == {"ignore": 1}


# ---------------------------------------------------------------- each rule, broken once

EVIL = [
    ("supersede", {"ids": ["k9999999999"]}, "`ids` must name items"),
    ("supersede", {"ids": []}, "`ids` must name items"),
    ("confirm", {"ids": ["k1111111111", "n1"]}, "`ids` must name items"),
    ("question", {"ids": ["k9999999999"]}, "`ids` must name items"),
    ("close", {"ids": ["k1111111111"], "how": "done"}, "`how` for a Fact"),
    ("close", {"ids": ["k1111111111"], "how": "over"}, "how: Input should be"),
    ("update", {"ids": ["k1111111111"]}, "the whole new sentence"),
    ("update", {"ids": ["k1111111111"], "text": "Scaleway hosts 7 jobs."}, "The text of an update says what"),
    ("add", {"document": "../../etc/passwd"}, "`document` must be"),
    ("noise", {}, "operation: Input should be"),
    ("close", {"ids": "k1111111111"}, "ids: Input should be"),
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
    assert (report.verdicts, report.review) == ({"add": 1}, {"asked": 1, "broken": 1})
    assert "The rules reviewed 1 candidate, because the model's answers were invalid twice." in report.warnings
    assert items(memory)["The billing jobs are hosted by Hetzner."].status is Status.LIVE


def test_a_right_answer_to_the_second_question_counts(memory: Memory) -> None:
    hold(memory, HOST)
    log(memory, NEW_HOST)
    model = Reader(lambda _: {})

    def review(found: list[dict[str, Any]]) -> object:
        ident = "k9999999999" if len(model.asked) == 1 else "k1111111111"
        return operations(operation(found[0], "supersede", ident))

    model.review = review
    report = curate(memory, model)
    assert len(model.asked) == 2
    assert (report.items["superseded"], "broken" in report.review) == (1, False)


def test_what_is_right_stays_where_another_answer_breaks_a_rule(memory: Memory) -> None:
    hold(memory, HOST, PORT)
    log(memory, NEW_HOST, REPEAT)

    def review(found: list[dict[str, Any]]) -> object:
        told = {"n1": ("supersede", "k1111111111"), "n2": ("confirm", "k9999999999")}
        return operations(*(operation(one, *told[one["id"]]) for one in found))

    model = Reader(review)
    report = curate(memory, model)
    assert [[one["id"] for one in shown(call)] for call in model.asked] == [["n1", "n2"], ["n2"]]
    assert (report.items["superseded"], report.review["broken"]) == (1, 1)


@pytest.mark.parametrize(
    ("held", "kind"),
    [
        (HOST.replace("Fact", "Todo"), "supersede"),
        (HOST.replace("Fact", "Risk"), "supersede"),
        (HOST.replace("Fact", "Decision").replace("Decision", "Todo"), "confirm"),
    ],
)
def test_what_is_of_another_kind_is_neither_replaced_nor_confirmed(memory: Memory, held: str, kind: str) -> None:
    hold(memory, held)
    log(memory, NEW_HOST)
    report = curate(memory, says(kind, "k1111111111"))
    assert (report.review["asked"], report.review["broken"], report.verdicts) == (1, 1, {"add": 1})
    assert next(one for one in items(memory).values() if one.id == "k1111111111").active


@pytest.mark.parametrize("kind", ["supersede", "confirm", "update", "close", "retract"])
def test_what_holds_in_one_project_changes_nothing_in_another(memory: Memory, kind: str) -> None:
    memory.write("Projects/beta.md", f"# Beta\n\n## Facts\n- {HOST}\n")
    log(memory, NEW_HOST)
    how = {"how": "ended"} if kind == "close" else {"text": NEW_TEXT} if kind == "update" else {}
    report = curate(memory, says(kind, "k1111111111", **how))
    assert (report.review["broken"], report.verdicts) == (1, {"add": 1})
    one = items(memory)["The billing jobs are hosted by Hetzner."]
    assert (one.status, one.confirmed) == (Status.LIVE, "")


def test_what_supersedes_an_item_under_a_projects_old_name_is_filed_under_the_new_one(memory: Memory) -> None:
    renamed = "- Fact: Beta is called Alpha from now on. <!-- k2222222222 since=2026-03-01 trust=self -->"
    memory.write("Projects/beta.md", f"# Beta\n\n## Facts\n- {HOST}\n{renamed}\n")
    log(memory, NEW_HOST)
    report = curate(memory, says("supersede", "k1111111111"))
    assert ("broken" in report.review, report.verdicts) == (False, {"supersede": 1})
    assert items(memory)["The billing jobs are hosted by Hetzner."].status is Status.SUPERSEDED
    assert "Scaleway" in memory.read("Projects/alpha.md")


def test_a_barely_believed_candidate_supersedes_nothing(memory: Memory) -> None:
    hold(memory, HOST)
    log(memory, NEW_HOST)
    model = says("supersede", "k1111111111")
    model.confidence = "low"
    report = curate(memory, model)
    assert (report.verdicts, report.items["superseded"]) == ({"add": 1}, 0)


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
            told.append(operation(one, "supersede", old["id"]))
        return operations(*told)

    report = curate(memory, Reader(review))
    assert report.items["superseded"] == 3
    assert report.verdicts == {"supersede": 3, "ask": len(NAMES) - 3}


NAMES = ("alder", "birch", "cedar", "dogwood", "elm", "fir", "ginkgo", "hazel")


# ---------------------------------------------------------------- failures


@pytest.mark.parametrize("kind", [Kind.DOWN, Kind.REFUSED, Kind.OVER_BUDGET, Kind.TRUNCATED])
def test_a_review_that_fails_leaves_the_verdicts_of_the_rules(memory: Memory, kind: Kind) -> None:
    hold(memory, HOST)
    log(memory, NEW_HOST)
    report = curate(memory, Reader(lambda _: kind))
    assert (report.verdicts, report.exit_code, report.pending_days) == ({"add": 1}, 0, ())
    assert "The rules reviewed the candidates that no model could review. a was " in " ".join(report.warnings)
    assert curate(memory, says("ignore")).commit is None, "the day is read: nothing is asked again"


@pytest.mark.parametrize("said", ["", "no", "[]", '{"items": []}', '{"operations": {}}', '{"operations": "add"}'])
def test_an_answer_that_is_none_is_a_failed_call(memory: Memory, said: str) -> None:
    hold(memory, HOST)
    log(memory, NEW_HOST)
    report = curate(memory, Reader(lambda _: said))
    assert (report.verdicts, report.exit_code) == ({"add": 1}, 0)
    assert report.tally.failures


def test_an_empty_object_leaves_it_to_the_rules(memory: Memory) -> None:
    hold(memory, PORT)
    log(memory, "Fact: The gateway listens on port 9090.")
    report = curate(memory, Reader(lambda _: "{}"))
    assert (report.verdicts, report.tally.failures) == ({"ask": 1}, {})


def test_what_else_an_answer_holds_is_passed_over(memory: Memory) -> None:
    hold(memory, HOST)
    log(memory, NEW_HOST)
    model = says("supersede", "k1111111111", path="MEMORY.md")
    assert curate(memory, model).items["superseded"] == 1


def test_many_candidates_are_asked_about_in_several_calls(memory: Memory) -> None:
    log(memory, *(f"Fact: Shelf {at} holds {at + 40} boxes." for at in range(45)))
    model = says("add")
    report = curate(memory, model)
    assert [len(shown(call)) for call in model.asked] == [19, 19, 4], "what is the first has nothing beside it"
    assert (report.added, report.review["by_model"]) == (45, 42)


# ---------------------------------------------------------------- again, byte for byte


@pytest.mark.parametrize("fails", [False, True])
def test_a_night_is_replayed_from_its_kept_replies(memory: Memory, fails: bool) -> None:  # noqa: FBT001  a parameter
    hold(memory, HOST, PORT)
    log(memory, NEW_HOST, REPEAT)
    log(memory, "Fact: Kamatera hosts the billing jobs.", day="2026-03-13")
    ids = {"2026-03-12": "k1111111111", "2026-03-13": "n1"}
    hosts = Reader(lambda found: operations(*(operation(one, "supersede", ids[one["day"]]) for one in found[:1])))
    report = curate(memory, Reader(lambda _: Kind.DOWN) if fails else hosts)
    git = Git(memory.root)
    [run] = [one for one in all_runs(memory.root, git) if one.id == report.run]
    assert replay(memory.root, git, run).same
    assert report.items["superseded"] == (0 if fails else 2), "each day has a review of its own"
    assert len(hosts.asked) == (0 if fails else 2)


# ---------------------------------------------------------------- hostile replies

IDS = ["k1111111111", "k2222222222", "k3333333333", "k9999999999", "n1", "n3", "", "kx", "k1111111111 trust=owner"]
ANY = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 9) | st.text(max_size=8),
    lambda one: st.lists(one, max_size=3) | st.dictionaries(st.text(max_size=5), one, max_size=3),
    max_leaves=6,
)
KINDS = st.sampled_from(["add", "confirm", "supersede", "update", "close", "retract", "question", "ignore"])
LINK = st.fixed_dictionaries({"kind": st.sampled_from(["because", "supersedes"]) | ANY, "id": st.sampled_from(IDS)})
OPERATION = st.fixed_dictionaries({
    "candidate": st.integers(0, 4), "operation": KINDS | ANY, "ids": st.lists(st.sampled_from(IDS), max_size=3) | ANY,
    "text": st.sampled_from(["", "Job alder is hosted by Scaleway.", "Job 7 is gone."]),
    "how": st.sampled_from(["", "done", "ended", "answered"]) | ANY,
    "document": st.sampled_from(["", "general", "../x", "MEMORY"]), "links": st.lists(LINK, max_size=3) | ANY,
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
    assert set(after) <= {
        ALPHA, "Areas/general.md", "Episodes/2026-03.md", "MEMORY.md", "Review.md", "State/progress.jsonl",
    }  # fmt: skip
    text = "".join(after.values())
    assert sum(plan.report.items[how] for how in ("superseded", "closed")) <= 3
    assert f"- {OWNED.partition(' trust')[0]}" in memory.read(ALPHA)
    assert "~~Fact: The mirror" not in text
    assert "k9999999999" not in text
    assert "kx" not in text
    assert "Job 7" not in text
    if confidence == "low":
        assert not plan.report.items["superseded"]


def test_a_program_reviews_from_the_command_line(memory: Memory, tmp_path: Any) -> None:
    hold(memory, HOST)
    log(memory, NEW_HOST)
    program = tmp_path / "think"
    program.write_text(
        "import json, sys\n"
        "asked = json.load(sys.stdin)\n"
        "given = asked['input']\n"
        "if asked['task'] == 'review':\n"
        "    [one] = given['candidates']\n"
        "    told = dict(candidate=0, operation='supersede', ids=one['neighbours'])\n"
        "    print(json.dumps({'operations': [told]}))\n"
        "elif asked['task'] == 'verify':\n"
        "    told = [dict(claim=one['claim'], verdict='supported') for one in given['claims']]\n"
        "    print(json.dumps({'verdicts': told}))\n"
        "else:\n"
        "    [line] = given['entries']\n"
        f"    said = {NEW_TEXT!r}\n"
        "    place = dict(quote=said, start_line=line['line'], end_line=line['end_line'])\n"
        "    print(json.dumps({'items': [dict(type='Fact', text=said, evidence=[place], confidence='high')]}))\n"
    )
    told = json.loads(memory.curate("run", "--json", "--provider", f"exec:{sys.executable} {program}", "--now", NOW))
    assert (told["items"]["superseded"], told["review"]["by_model"]) == (1, 1)
    assert told["given"]["verifier"] == "the same"
    assert "Same: replaying run" in memory.curate("replay", told["run"])
