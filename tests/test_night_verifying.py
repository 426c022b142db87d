"""A night whose claims a second reader checks: what its quotes do not say is not filed, and takes nothing out."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pipelines.extract.llm.fallback import Chain
from pipelines.extract.llm.replies import Replies
from pipelines.extract.llm.verifier import ModelVerifier
from pipelines.night.replay import replay
from pipelines.night.report import Watch
from pipelines.night.run_history import all_runs
from pipelines.night.run_night import curate_night
from pipelines.store.git import Git
from pipelines.store.item import Confidence, Status
from pipelines.store.layout import REPLIES
from pipelines.store.review_queue import read_queue
from pipelines.store.snapshot import read_documents
from pipelines.usage import FailureKind as Kind
from tests.asking import tick
from tests.reviewing import ALPHA, NOW, Reader, a_night, curate, hold, item, items, log, operation, operations, says

if TYPE_CHECKING:
    from collections.abc import Callable

    from pipelines.night.report import RunReport
    from tests.conftest import Memory

SELF = "since=2026-03-01 trust=self confidence=high by=rules@1 -->"
HOST = f"Fact: The billing jobs are hosted by Hetzner. <!-- k1111111111 {SELF}"
CALL = f"Todo: Call Anders about the invoices. <!-- k2222222222 {SELF}"
LINE = "Mara lends Jonas the van."
TOLD = "Jonas lends Mara the van."
"""The same words, turned round: only whoever reads the quote can tell."""
NEXT = "2026-03-21T02:00+00:00"


def telling(verdict: str | Kind | Callable[[dict[str, Any]], str], **more: Any) -> Reader:
    """Return a model that words the day's only line otherwise, and verifies so."""

    def read(day: dict[str, Any]) -> dict[str, Any]:
        told = {"confidence": "high", **more}
        return {"items": [item("Fact", TOLD, one, one["text"][2:], **told) for one in day["entries"]]}

    says_it = verdict if callable(verdict) or isinstance(verdict, Kind) else lambda _: verdict
    return Reader(lambda _: operations(), reads=read, verifies=says_it)


def ending(verdict: str | Kind, kind: str = "supersede", ident: str = "k1111111111", **more: Any) -> Reader:
    model = says(kind, ident, **more)
    model.verifies = verdict if isinstance(verdict, Kind) else lambda _: verdict
    return model


def waits(memory: Memory) -> list[str]:
    return [entry.kind for entry in read_queue(read_documents(memory.root)["Review.md"])]


def by_id(memory: Memory, ident: str) -> Any:
    return next(one for one in items(memory).values() if one.id == ident)


def same_again(memory: Memory, report: RunReport) -> bool:
    git = Git(memory.root)
    [run] = [one for one in all_runs(memory.root, git) if one.id == report.run]
    return replay(memory.root, git, run).same


# ---------------------------------------------------------------- what is asked


def test_what_the_log_says_word_for_word_needs_nobody(memory: Memory) -> None:
    log(memory, f"Fact: {LINE}", "Todo: Call Anders.")
    model = says("add")
    assert curate(memory, model).added == 2
    assert model.claims == []


def test_a_claim_holds_its_quotes_and_where_they_stand(memory: Memory) -> None:
    memory.write("Logs/2026-03-12.md", f"# 2026-03-12\n\nproject: Alpha\n\n## The van\n\n- {LINE}\n")
    model = telling("supported")
    report = curate(memory, model)
    [[claim]] = model.claims
    assert claim == {
        "claim": 0, "kind": "item", "text": TOLD, "quotes": [LINE],
        "context": ["2026-03-12 > The van", "project Alpha", "day 2026-03-12 (Thursday)"],
    }  # fmt: skip
    assert (items(memory)[TOLD].status, report.review) == (Status.LIVE, {"claims": 1})


def test_whatever_is_taken_out_is_asked_about(memory: Memory) -> None:
    hold(memory, HOST, CALL)
    log(memory, "Fact: Scaleway hosts the billing jobs, and Anders was called about the invoices.")
    model = Reader(
        lambda one: operations(
            operation(one[0], "supersede", "k1111111111"), operation(one[0], "close", "k2222222222", how="done")
        )
    )
    curate(memory, model)
    [claims] = model.claims
    said = "Scaleway hosts the billing jobs, and Anders was called about the invoices."
    assert [(one["kind"], one["text"]) for one in claims] == [
        ("supersede", f"Fact: The billing jobs are hosted by Hetzner. is replaced by: {said}"),
        ("close", "Todo: Call Anders about the invoices. is done"),
    ]


def test_the_taught_forms_and_the_rules_need_nobody(memory: Memory) -> None:
    hold(memory, CALL)
    log(memory, "Done: call Anders about the invoices")
    model = Reader(lambda _: operations(), reads=lambda _: {"items": [], "operations": []})
    assert curate(memory, model).items["closed"] == 1
    assert model.claims == []


# ---------------------------------------------------------------- what is unsupported


def test_what_is_unsupported_twice_is_dropped_and_counted(memory: Memory) -> None:
    log(memory, LINE)
    model = telling("unsupported")
    report = curate(memory, model)
    assert len(model.claims) == 2
    assert (items(memory), report.added, report.review) == ({}, 0, {"claims": 1, "unsupported": 1})
    assert curate(memory, model).commit is None
    assert same_again(memory, report)


def test_what_is_supported_the_second_time_is_filed(memory: Memory) -> None:
    log(memory, LINE)
    verdicts = iter(["unsupported", "supported"])
    model = telling(lambda _: next(verdicts))
    assert curate(memory, model).review == {"claims": 1}
    assert items(memory)[TOLD].status is Status.LIVE


def test_a_removal_that_is_unsupported_takes_nothing_out(memory: Memory) -> None:
    hold(memory, HOST, CALL)
    log(memory, "Fact: Scaleway hosts the billing jobs.")
    curate(memory, ending("unsupported"))
    found = items(memory)
    assert by_id(memory, "k1111111111").status is Status.LIVE
    assert found["Scaleway hosts the billing jobs."].links == (), "what is new stands beside it"
    log(memory, "Fact: Anders may be called about the invoices.", day="2026-03-13")
    report = curate(memory, ending("unsupported", "close", "k2222222222", how="done"), NEXT)
    assert (by_id(memory, "k2222222222").status, report.items["closed"], waits(memory)) == (Status.OPEN, 0, [])


def test_a_confirmation_that_is_unsupported_adds_what_it_would_have_swallowed(memory: Memory) -> None:
    hold(memory, HOST)
    log(memory, "Fact: The billing jobs are hosted by Hetzner in Falkenstein.")
    model = ending("unsupported", "confirm")
    report = curate(memory, model)
    assert [one["kind"] for one in model.claims[0]] == ["confirm"]
    assert (report.added, by_id(memory, "k1111111111").confirmed) == (1, "")


# ---------------------------------------------------------------- what is unsure


@pytest.mark.parametrize(("choice", "stands"), [("keep", True), ("drop", False)])
def test_what_is_unsure_waits_for_a_person(memory: Memory, choice: str, stands: bool) -> None:  # noqa: FBT001  a case
    log(memory, LINE)
    report = curate(memory, telling("unsure"))
    assert (items(memory)[TOLD].status, report.added, report.people["asked"]) == (Status.WAITING, 0, 1)
    assert report.review == {"claims": 1, "unsure": 1}
    assert "A second reader is not sure" in memory.read("Review.md")
    tick(memory, choice)
    memory.curate("run", "--now", NEXT)
    assert (TOLD in items(memory), waits(memory)) == (stands, [])


def test_a_removal_that_is_unsure_is_asked_about(memory: Memory) -> None:
    hold(memory, HOST, CALL)
    log(memory, "Fact: Scaleway hosts the billing jobs.")
    curate(memory, ending("unsure"))
    log(memory, "Fact: Anders was perhaps called about the invoices.", day="2026-03-13")
    curate(memory, ending("unsure", "close", "k2222222222", how="done"), NEXT)
    assert (by_id(memory, "k1111111111").status, by_id(memory, "k2222222222").status) == (Status.LIVE, Status.OPEN)
    assert sorted(waits(memory)) == ["contradict", "done"]


# ---------------------------------------------------------------- nobody can be asked


def test_a_verifier_that_is_down_files_with_less_confidence_and_the_next_night_verifies(memory: Memory) -> None:
    log(memory, LINE)
    report = curate(memory, telling(Kind.DOWN))
    one = items(memory)[TOLD]
    assert (one.confidence, one.unverified, one.status) == (Confidence.MEDIUM, True, Status.LIVE)
    assert report.review == {"claims": 1, "unverified": 1}
    assert any("No model could check the items against their quotes" in told for told in report.warnings)
    assert "unverified=yes" in memory.read(ALPHA)
    later = telling("supported")
    again = curate(memory, later, NEXT)
    assert [one["quotes"] for one in later.claims[0]] == [[f"- {LINE}"]]
    assert (items(memory)[TOLD].unverified, items(memory)[TOLD].confidence) == (False, Confidence.MEDIUM)
    assert curate(memory, later, "2026-03-22T02:00+00:00").commit is None
    assert same_again(memory, report)
    assert same_again(memory, again)


def test_a_low_confidence_is_not_raised_by_a_verifier_that_is_down(memory: Memory) -> None:
    log(memory, LINE)
    curate(memory, telling(Kind.DOWN, confidence="low"))
    assert items(memory)[TOLD].confidence is Confidence.LOW


def test_what_the_next_night_finds_unsupported_never_held(memory: Memory) -> None:
    log(memory, LINE)
    curate(memory, telling(Kind.DOWN))
    report = curate(memory, telling("unsupported"), NEXT)
    assert items(memory)[TOLD].status is Status.NEVER_HELD
    assert same_again(memory, report)
    ident = items(memory)[TOLD].id
    memory.curate("undo", "--now", "2026-03-22T12:00")
    assert by_id(memory, ident).status is Status.LIVE, "it was the run's doing"


def test_what_the_next_night_cannot_verify_stays_unverified(memory: Memory) -> None:
    log(memory, LINE)
    curate(memory, telling(Kind.DOWN))
    assert curate(memory, telling(Kind.DOWN), NEXT).commit is None
    assert items(memory)[TOLD].unverified


def test_a_removal_that_nobody_could_verify_is_asked_about(memory: Memory) -> None:
    hold(memory, HOST, CALL)
    log(memory, "Fact: Scaleway hosts the billing jobs.")
    curate(memory, ending(Kind.DOWN))
    log(memory, "Fact: Anders was called about the invoices.", day="2026-03-13")
    report = curate(memory, ending(Kind.DOWN, "close", "k2222222222", how="done"), NEXT)
    assert (by_id(memory, "k1111111111").status, by_id(memory, "k2222222222").status) == (Status.LIVE, Status.OPEN)
    assert sorted(waits(memory)) == ["contradict", "done"]
    assert "o second reader was available" in memory.read("Review.md")
    tick(memory, "close")
    memory.curate("run", "--now", "2026-03-22T02:00")
    assert by_id(memory, "k2222222222").status is Status.DONE
    assert same_again(memory, report)


# ---------------------------------------------------------------- who verifies, and once more


def test_another_vendor_verifies_and_the_night_is_repeated(memory: Memory) -> None:
    hold(memory, HOST)
    log(memory, "Fact: Scaleway hosts the billing jobs.")
    model, other = says("supersede", "k1111111111"), Reader(lambda _: "")
    other.name, other.source, other.input_tokens = "b:2", "b:2 there", 9000
    night = a_night(memory, model)
    chain = Chain([other], Replies(memory.root / REPLIES, night.now))
    report = curate_night(replace(night, verifier=ModelVerifier(chain)), Watch())
    assert (len(model.claims), len(other.claims), report.items["superseded"]) == (0, 1, 1)
    assert (report.given["verifier"], report.given["verifier_input_tokens"]) == (["b:2"], 9000)
    assert same_again(memory, report)


def test_a_night_without_a_verifier_is_repeated_without_one(memory: Memory) -> None:
    hold(memory, HOST)
    log(memory, "Fact: Scaleway hosts the billing jobs.")
    report = curate_night(replace(a_night(memory, says("supersede", "k1111111111")), verifier=None), Watch())
    assert (report.items["superseded"], "verifier" in report.given) == (1, False)
    assert same_again(memory, report)


PROGRAM = """\
import json, sys
asked = json.load(sys.stdin)
given = asked["input"]
if asked["task"] == "verify":
    print(json.dumps({"verdicts": [dict(claim=one["claim"], verdict=VERDICT) for one in given["claims"]]}))
elif asked["task"] == "extract":
    [line] = given["entries"]
    place = dict(quote=line["text"][2:], start_line=line["line"], end_line=line["end_line"])
    print(json.dumps({"items": [dict(type="Fact", text=TOLD, evidence=[place], confidence="high")]}))
else:
    print("{}")
"""


def test_the_verifier_that_the_user_names_is_asked_and_replayed(memory: Memory, tmp_path: Path) -> None:
    programs = {}
    for name, verdict in (("reader", "supported"), ("other", "unsupported")):
        programs[name] = tmp_path / name
        programs[name].write_text(PROGRAM.replace("VERDICT", repr(verdict)).replace("TOLD", repr(TOLD)))
    reader, other = (f"exec:{sys.executable} {programs[name]}" for name in ("reader", "other"))
    config = Path(os.environ["XDG_CONFIG_HOME"]) / "memcurate" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(f"providers = [{reader!r}]\n[verify]\nproviders = [{other!r}]\n")
    log(memory, LINE)
    told = json.loads(memory.curate("run", "--json", "--now", NOW))
    assert (told["items"]["added"], told["review"]["unsupported"]) == (0, 1)
    assert json.loads(memory.curate("replay", told["run"], "--json"))["same"]
