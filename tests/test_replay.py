"""The same commit, logs and replies give the same bytes, whatever happened in the run."""

from __future__ import annotations

import json
import shutil
import socket
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pipelines.night.report import Watch
from pipelines.night.run_night import curate_night
from pipelines.store.layout import REPLIES
from pipelines.usage import FailureKind as Kind
from tests.extract.fakes import Scripted
from tests.replaying import replayed
from tests.test_night_with_models import DAYS, LOG, a_night, curate, item, logs, reply, scripted

if TYPE_CHECKING:
    from tests.conftest import Memory


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the network was used")

    monkeypatch.setattr(socket.socket, "connect", refuse)


def same(memory: Memory, run: str) -> None:
    again = replayed(memory, run)
    assert (again.changes, again.messages, again.commit) == ((), (), again.replayed)


# ---------------------------------------------------------------- the same


def test_nights_of_the_rules_with_peoples_edits_between(memory: Memory) -> None:
    runs = []
    for day in (11, 12, 13):
        memory.write(f"Logs/2026-03-{day}.md", f"- Decision: use Terraform {day}\n- Rule: never push on {day}\n")
        memory.write(f"Logs/partial/2026-03-{day}-phone.md", f"- 10:00 Fact: port is 80{day}\n")
        runs.append(json.loads(memory.curate("run", "--json", "--now", f"2026-03-{day + 1}T02:00"))["run"])
        general = memory.read("Areas/general.md")
        memory.write("Areas/general.md", general.replace("Terraform 11", "OpenTofu 11") + "\nMine.\n")
    memory.write("curate.toml", memory.read("curate.toml").replace("UTC", "Europe/Berlin"))
    runs.append(json.loads(memory.curate("run", "--json", "--now", "2026-03-15T02:00"))["run"])
    runs.append(json.loads(memory.curate("run", "--json", "--now", "2026-03-15T03:00"))["run"])
    for run in runs:
        same(memory, run)


def one_day(memory: Memory) -> None:
    memory.write(f"Logs/{DAYS[0]}.md", LOG.format(day=DAYS[0], n=1))


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("kind", [None, Kind.REFUSED, Kind.DOWN, Kind.OVER_BUDGET, Kind.OUTSIDE_SCHEMA])
def test_nights_of_models_whatever_failed(memory: Memory, kind: Kind | None, last: bool) -> None:  # noqa: FBT001  a case
    one_day(memory)
    first = curate(memory, scripted(lambda at, call: kind if kind and at == 1 else reply(call)), last=last)
    second = curate(memory, scripted(lambda _, call: reply(call)), last=last)
    same(memory, first.run)
    if second.run != first.run:
        same(memory, second.run)


@pytest.mark.parametrize("failing", ["a", "verify"])
def test_a_chain_whose_first_model_fails(memory: Memory, failing: str) -> None:
    one_day(memory)
    second = scripted(lambda _, call: reply(call), *([lambda *_: Kind.DOWN] if failing == "verify" else []))
    second.name = "b:2"
    report = curate(memory, Scripted("a:1", [Kind.OVER_QUOTA], input_tokens=9000), second)
    assert (len(second.calls), len(report.tally.replies)) == (2, 1 if failing == "verify" else 2)
    same(memory, report.run)


def test_the_first_of_a_night_of_several_days(memory: Memory) -> None:
    logs(memory)
    curate(memory, scripted(lambda _, call: reply(call)))
    same(memory, json.loads(memory.curate("runs", "--json"))[2]["run"])


def test_a_day_read_again_by_hand_and_by_itself(memory: Memory) -> None:
    one_day(memory)
    first = curate_night(a_night(memory, Scripted("a:1", [Kind.DOWN]), last=True), Watch())
    night = a_night(memory, scripted(lambda _, call: reply(call)), last=True, now="2026-03-21T02:00+00:00")
    second = curate_night(replace(night, rereads=True), Watch())
    rule = {"type": "Rule", "text": "Use Terraform, not Pulumi."}
    other = scripted(lambda _, call: json.dumps({"items": [item(call, **rule)]}))
    third = curate_night(a_night(memory, other, again=DAYS[0]), Watch())
    assert third.added == 1
    assert (first.fallback, second.reread, third.again) == (DAYS[:1], DAYS[:1], DAYS[0])
    for report in (first, second, third):
        same(memory, report.run)


def test_a_memory_within_a_larger_repository(memory: Memory, tmp_path: Any) -> None:
    outer = tmp_path / "outer"
    shutil.copytree(memory.root, outer / "deep" / "memory")
    shutil.rmtree(outer / "deep" / "memory" / ".git")
    inner = memory.aside(outer / "deep" / "memory")
    (outer / "README").write_text("not of the memory\n")
    (inner.root / "Areas" / "link.md").symlink_to("MEMORY.md")
    inner.git("init", "-q", "-b", "main", str(outer))
    inner.git("-c", "user.name=n", "-c", "user.email=m", "-C", str(outer), "add", "-A")
    inner.git("-c", "user.name=n", "-c", "user.email=m", "-C", str(outer), "commit", "-qm", "x")
    inner.write("Logs/2026-03-11.md", "- Decision: use Terraform\n")
    told = inner.curate("run", "--json", "--now", "2026-03-12T02:00")  # the link is named, and left alone
    run = json.loads(told)
    assert run["items"]["added"] == 1
    same(inner, run["run"])


# ---------------------------------------------------------------- different


def test_another_reply_gives_another_commit(memory: Memory) -> None:
    one_day(memory)
    run = curate(memory, scripted(lambda _, call: reply(call))).run
    file = next(one for one in (memory.root / REPLIES).glob("*.json") if "Harbour uses" in one.read_text())
    file.write_text(file.read_text().replace("Harbour uses Terraform", "We go with Terraform"))
    again = replayed(memory, run)
    assert [change.path for change in again.changes] == ["Episodes/2026-03.md", "MEMORY.md", "Projects/harbour.md"]
