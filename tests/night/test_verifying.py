"""A night whose claims a second reader checks: what its lines do not say is not filed, and takes nothing out."""

import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pipelines.extract.llm.fallback import Chain
from pipelines.extract.llm.verifier import ModelVerifier
from pipelines.night.report import Watch
from pipelines.night.run_night import curate_night
from pipelines.store.item import Confidence, Status
from pipelines.store.review_queue import read_queue
from pipelines.store.snapshot import read_documents
from pipelines.usage import FailureKind as Kind
from tests.conftest import Memory
from tests.reviewing import (
    NOW,
    Reader,
    a_night,
    by_id,
    curate,
    hold,
    item,
    items,
    lines,
    log,
    operation,
    replaces,
    reply,
    says,
)

SELF = "since=2026-03-01 trust=self confidence=high by=rules@1 -->"
HOST = f"Fact: The billing jobs are hosted by Hetzner. <!-- k1111111111 {SELF}"
CALL = f"Todo: Call Anders about the invoices. <!-- k2222222222 {SELF}"
NEW = "Scaleway hosts the billing jobs."
LINE = "Mara lends Jonas the van."
TOLD = "Jonas lends Mara the van."
"""The same words, turned round: only whoever reads the line can tell."""
NEXT = "2026-03-21T02:00+00:00"


def telling(verdict: str | Kind, **more: Any) -> Reader:
    """Return a model that words each line of a day otherwise, and verifies so."""
    verifies = verdict if isinstance(verdict, Kind) else lambda _: verdict
    return Reader(lambda day: reply(*(item("Fact", TOLD, one, **more) for one in day["entries"])), verifies)


def answering(answer: str | dict[str, Any]) -> Reader:
    """Return the same model, whose whole answer about any claims this is."""
    model = telling("supported")
    model.verifies = answer
    return model


def judging(model: Reader, verdict: str | Kind) -> Reader:
    model.verifies = verdict if isinstance(verdict, Kind) else lambda _: verdict
    return model


def waits(memory: Memory) -> list[str]:
    return [entry.kind for entry in read_queue(read_documents(memory.root)["Review.md"])]


# ---------------------------------------------------------------- what is asked


def test_one_call_asks_of_all_that_a_day_says(memory: Memory) -> None:
    """Items, what is done to held ones, near pairs, and the sentences of the episode and the brief."""
    hold(memory, HOST, CALL)
    log(memory, LINE, "Scaleway hosts the billing jobs, and Anders was called.", "The billing jobs cost nothing.")

    def read(day: dict[str, Any]) -> dict[str, Any]:
        van, host, cost = day["entries"]
        return reply(
            item("Fact", TOLD, van, due="", on="2026-04-01"),
            item("Fact", NEW, host, replaces=["k1111111111"]),
            item("Fact", "The billing jobs cost nothing.", cost),
            operations=[operation(host, "close", "k2222222222", how="done")],
            episode=[{"text": "The host of the billing jobs changed.", "lines": lines(host)}],
        )

    def write(given: dict[str, Any]) -> dict[str, Any]:
        ids = [row["id"] for page in given["pages"] for row in page["items"] if row["text"] == NEW]
        return {"now": [{"text": "The billing jobs have a new host.", "ids": ids}], "states": []}

    model = Reader(read, lambda claim: "both" if claim["kind"] == "pair" else "supported", write)
    curate(memory, model)
    [claims] = model.claims
    assert [(one["kind"], one["text"]) for one in claims] == [
        ("item", f"{TOLD} (on 2026-04-01)"),
        ("item", NEW),
        ("replace", f"Fact: The billing jobs are hosted by Hetzner. is replaced by: {NEW}"),
        ("pair", "Fact: The billing jobs cost nothing."),
        ("close", "Todo: Call Anders about the invoices. is done"),
        ("sentence", "The billing jobs have a new host."),
        ("sentence", "The host of the billing jobs changed."),
    ]
    assert "The billing jobs have a new host." in memory.read("MEMORY.md")
    assert "The host of the billing jobs changed." in memory.read("Episodes/2026-03.md")


def test_a_change_of_a_day_is_shown_to_the_second_reader(memory: Memory) -> None:
    hold(memory, CALL)
    log(memory, "The call to Anders moves to Friday.")
    later = "Call Anders about the invoices. (due 2026-03-13)"
    model = Reader(lambda day: reply(operations=[operation(day["entries"][0], "update", "k2222222222", text=later)]))
    curate(memory, model)
    [[claim]] = model.claims
    assert claim["text"].endswith(f"is changed to: {later}")


def test_no_request_names_a_transcript(memory: Memory) -> None:
    """A close that nobody is sure of keeps its line, which the next day's requests show."""
    at = " <!-- Sessions/2026-03-12/claude-code-s.jsonl#L3~0a1b2c3d -->"
    hold(memory, CALL)
    log(memory, f"Fine.{at}", f"Perhaps that is done.{at}", f"Anders has the invoices.{at}")
    closes = operation({"line": 6, "end_line": 6}, "close", "k2222222222", how="done")
    model = Reader(lambda _: reply(operations=[closes]), lambda _: "unsure")
    curate(memory, model)
    log(memory, f"Perhaps.{at}", f"Done, I think.{at}", day="2026-03-19")
    curate(memory, model, NEXT)
    told = json.dumps([model.shown, model.claims])
    assert "line 7: - Anders has" in told
    assert "said earlier: perhaps done 2026-03-12: - Perhaps that is done." in told
    assert "Sessions/" not in told


# ---------------------------------------------------------------- what is unsupported


@pytest.mark.parametrize(
    ("kind", "verdict"),
    [("close", "unsure"), ("update", "unsupported"), ("retract", "unsure"), ("doubt", "unsupported")],
)
def test_what_is_not_supported_changes_nothing_and_asks_nobody(memory: Memory, kind: str, verdict: str) -> None:
    hold(memory, CALL)
    log(memory, "Anders may be called about the invoices.")
    model = judging(says(kind, "k2222222222", text="Call Anders, or not, about the invoices."), verdict)
    report = curate(memory, model)
    one = by_id(memory, "k2222222222")
    assert (one.status, one.doubted, waits(memory)) == (Status.OPEN, "", [])
    assert report.items["closed"] == 0


# ---------------------------------------------------------------- what is unsure


@pytest.mark.parametrize(("kind", "confidence"), [("item", Confidence.LOW), ("replace", Confidence.HIGH)])
def test_what_may_replace_an_item_stands_beside_it_as_a_pair_to_settle(
    memory: Memory, kind: str, confidence: Confidence
) -> None:
    hold(memory, HOST)
    log(memory, LINE)
    model = telling("supported", replaces=["k1111111111"])
    model.verifies = lambda claim: "unsure" if claim["kind"] == kind else "supported"
    curate(memory, model)
    old = by_id(memory, "k1111111111")
    assert (old.status, items(memory)[TOLD].confidence, waits(memory)) == (Status.LIVE, confidence, ["pair"])


def test_what_the_second_reader_denies_is_no_pair(memory: Memory) -> None:
    hold(memory, HOST)
    log(memory, LINE)
    model = telling("supported", replaces=["k1111111111"])
    model.verifies = lambda claim: "unsupported" if claim["kind"] == "replace" else "supported"
    curate(memory, model)
    assert (by_id(memory, "k1111111111").status, waits(memory)) == (Status.LIVE, [])


# ---------------------------------------------------------------- a second reader that fails


@pytest.mark.parametrize("kind", [Kind.DOWN, Kind.OVER_BUDGET])
def test_a_verifier_that_fails_leaves_the_day_pending_and_nothing_of_it_filed(memory: Memory, kind: Kind) -> None:
    hold(memory, CALL)
    memory.night("2026-03-11T02:00")
    log(memory, LINE, "Anders was called about the invoices.", "Fact: The mast is tall.")

    def read(day: dict[str, Any]) -> dict[str, Any]:
        van, call, mast = day["entries"]
        done = operation(call, "close", "k2222222222", how="done")
        episode = [{"text": "Anders was called.", "lines": lines(call)}]
        return reply(
            item("Fact", TOLD, van), item("Fact", "The mast is tall.", mast), operations=[done], episode=episode
        )

    before = items(memory)
    report = curate(memory, Reader(read, kind))
    assert (items(memory), report.added, report.pending_days) == (before, 0, ("2026-03-12",))
    assert "a was " in f"{report.failure} {report.over_budget}"
    assert "Anders was called" not in "".join(memory.read(one) for one in memory.files() if one.startswith("Episodes"))
    again = curate(memory, Reader(read), NEXT)
    assert (again.items["closed"], again.added, again.pending_days) == (1, 2, ())
    assert by_id(memory, "k2222222222").status is Status.DONE, "no closing is lost"


@pytest.mark.parametrize("said", ["no", '{"verdicts": {}}'])
def test_an_answer_that_is_none_is_a_failed_call(memory: Memory, said: str) -> None:
    log(memory, LINE)
    report = curate(memory, answering(said))
    assert (report.added, report.pending_days) == (0, ("2026-03-12",))


# ---------------------------------------------------------------- who verifies, and once more


def test_another_vendor_verifies(memory: Memory) -> None:
    hold(memory, HOST)
    log(memory, f"Fact: {NEW}")
    model, other = replaces("k1111111111"), Reader()
    other.name, other.input_tokens = "b:2", 9000
    night = a_night(memory, model)
    chain = Chain([other], memory.root)
    report = curate_night(replace(night, verifier=ModelVerifier(chain)), Watch())
    assert (len(model.claims), len(other.claims), report.items["superseded"]) == (0, 1, 1)


PROGRAM = """\
import json, sys
asked = json.load(sys.stdin)
given = asked["input"]
if asked["task"] == "verify":
    print(json.dumps({"verdicts": [dict(claim=one["claim"], verdict=VERDICT) for one in given["claims"]]}))
elif asked["task"] == "extract":
    [line] = given["entries"]
    print(json.dumps({"items": [dict(type="Fact", text=TOLD, lines=[[line["line"], line["end_line"]]])]}))
else:
    print("{}")
"""


def test_the_verifier_that_the_user_names_is_asked(memory: Memory, tmp_path: Path) -> None:
    programs = {}
    for name, verdict in (("reader", "supported"), ("other", "unsupported")):
        programs[name] = tmp_path / name
        programs[name].write_text(PROGRAM.replace("VERDICT", repr(verdict)).replace("TOLD", repr(TOLD)))
    reader, other = (f"exec:{sys.executable} {programs[name]}" for name in ("reader", "other"))
    config = Path(os.environ["XDG_CONFIG_HOME"]) / "memcurate" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(f"providers = [{reader!r}]\n[verify]\nproviders = [{other!r}]\n")
    log(memory, LINE)
    told = memory.json("run", "--now", NOW)
    assert told["items"]["added"] == 0
