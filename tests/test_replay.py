"""A run is repeated byte for byte from its kept replies, whatever happened in it, and the memory is left alone."""

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
from tests.test_night_with_models import DAYS, LOG, a_night, curate, item, logs, reply, scripted, texts

if TYPE_CHECKING:
    from tests.conftest import Memory


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the network was used")

    monkeypatch.setattr(socket.socket, "connect", refuse)


def everything(memory: Memory) -> dict[str, bytes]:
    """Return every file of a memory, those of git and of the derived folder included."""
    return {
        str(file): file.read_bytes()
        for file in sorted(memory.root.rglob("*"))
        if file.is_file() and not file.is_symlink()
    }


def replayed(memory: Memory, run: str, exits: int = 0) -> dict[str, Any]:
    before = everything(memory)
    told: dict[str, Any] = json.loads(memory.curate("replay", run, "--json", exits=exits))
    assert everything(memory) == before
    return told


def same(memory: Memory, run: str) -> None:
    told = replayed(memory, run)
    assert (told["same"], told["commit"], told["diff"], told["different"]) == (True, told["replayed"], "", [])


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
    said = memory.curate("replay", runs[0])
    assert said.startswith(f"Same: replaying run {runs[0]} gives commit ")


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


def test_of_a_night_of_several_days_the_first_is_repeated_and_the_others_say_why_not(memory: Memory) -> None:
    logs(memory)
    curate(memory, scripted(lambda _, call: reply(call)))
    third, second, first = (one["run"] for one in json.loads(memory.curate("runs", "--json"))[:3])
    same(memory, first)
    for run in (second, third):
        assert "it read a later day of a night of several days" in memory.curate("replay", run, exits=1)


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


@pytest.fixture
def night(memory: Memory) -> tuple[Memory, str]:
    one_day(memory)
    return memory, curate(memory, scripted(lambda _, call: reply(call))).run


def test_a_reply_that_somebody_changed_is_seen(night: tuple[Memory, str]) -> None:
    memory, run = night
    file = next(one for one in (memory.root / REPLIES).glob("*.json") if "Harbour uses" in one.read_text())
    file.write_text(file.read_text().replace("Harbour uses Terraform", "We go with Terraform"))
    told = replayed(memory, run, exits=1)
    assert (told["same"], told["different"]) == (False, ["Episodes/2026-03.md", "MEMORY.md", "Projects/harbour.md"])
    assert "+- Decision: We go with Terraform" in told["diff"]
    said = memory.curate("replay", run, exits=1)
    assert f"Different: run {run} made " in said


def test_a_reply_that_is_gone_leaves_its_day_unread(night: tuple[Memory, str]) -> None:
    memory, run = night
    for file in (memory.root / REPLIES).glob("*.json"):
        file.unlink()
    told = replayed(memory, run, exits=1)
    assert (told["same"], told["without_reply"]) == (False, 1)
    assert "1 call had no kept reply" in memory.curate("replay", run, exits=1)
    assert len(texts(memory)) == 1


def test_another_message_over_the_same_files_is_shown(night: tuple[Memory, str]) -> None:
    memory, run = night
    message = memory.git("log", "-1", "--format=%B").replace("Curated", "I curated")
    memory.git("-c", "user.name=n", "-c", "user.email=m", "commit", "-q", "--amend", "--no-gpg-sign", "-m", message)
    told = replayed(memory, run, exits=1)
    assert (told["different"], "+Curated 2026-03-11" in told["diff"], "-I curated" in told["diff"]) == ([], True, True)


def test_what_cannot_be_replayed_says_why(night: tuple[Memory, str]) -> None:
    memory, run = night
    memory.curate("undo", run, "--now", "2026-03-21T02:00")
    undone = json.loads(memory.curate("runs", "--json"))[0]["run"]
    assert "it is an undo" in memory.curate("replay", undone, exits=1)
    same(memory, run)
    (memory.root / ".curate/runs" / f"{run}.json").unlink()
    memory.git("reset", "-q", "--hard", "HEAD~")
    memory.git("rm", "-q", f"State/runs/{run}.json")
    memory.git("-c", "user.name=n", "-c", "user.email=m", "commit", "-q", "--amend", "--no-gpg-sign", "--no-edit")
    assert "no report of its input" in memory.curate("replay", run, exits=1)
    assert "No run has the id" in memory.curate("replay", "2019", exits=1)
