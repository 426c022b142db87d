"""Batches through the command: settings, caps, estimates, chains, and what a person is told."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from pipelines.models.caps import Caps
from pipelines.nightly import curate_night
from pipelines.watch import Watch
from tests.batch_nights import DAYS, USD, Nights, answer, plans
from tests.models.batch_wire import anthropic_batches, gemini_batches
from tests.models.wire import KEY, anthropic_error, gemini_error

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.conftest import Memory
    from tests.models.batch_wire import Provider

ANSWERED = 1121  # the tokens of a good answer of the server


@pytest.fixture
def claude(memory: Memory) -> Iterator[Nights]:
    with anthropic_batches(answer) as server:
        made = Nights(memory, "anthropic", server)
        made.log()
        yield made


class Command:
    """`curate` with a settings file of the test's own."""

    def __init__(self, memory: Memory, config: Path, server: Provider) -> None:
        self.memory, self._config, self.server = memory, config, server
        self.settings()

    def settings(self, more: str = "", providers: str = '"anthropic"') -> None:
        head = f"providers = [{providers}]\n{more}\n[anthropic]\nbase_url = '{self.server.url}'\nmax_tokens = 256\n"
        self._config.write_text(head)

    def run(self, moment: str, *more: str, exits: int = 0) -> dict[str, Any]:
        told: dict[str, Any] = json.loads(self.memory.curate("run", "--json", "--now", moment, *more, exits=exits))
        return told


@pytest.fixture
def command(memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Command]:
    config = tmp_path / "config.toml"
    monkeypatch.setenv("CURATE_CONFIG", str(config))
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    with anthropic_batches(answer) as server:
        Nights(memory, "anthropic", server).log()
        yield Command(memory, config, server)


# ---------------------------------------------------------------- what a person is told


def test_a_batch_in_words(command: Command) -> None:
    said = command.memory.curate("run", "--batch", "--now", "2026-03-20T02:00")
    assert "Sent 3 calls to anthropic in a batch; a later run collects the answers." in said
    status = command.memory.curate("status", "--now", "2026-03-20T02:30")
    assert (
        "Batch     3 calls about 2026-03-11 to 2026-03-13 at anthropic:claude-haiku-5-5, sent 2026-03-20T02:00:00+00:00"
    ) in status
    assert "Waiting   3 days, from 2026-03-11" in status
    assert "well; 3 calls sent in a batch" in command.memory.curate("runs")
    again = command.memory.curate("run", "--now", "2026-03-20T03:00")
    assert "3 calls of the batch of 2026-03-20 wait at anthropic still." in again
    command.server.finish(but={0: "expired"})
    said = command.memory.curate("run", "--now", "2026-03-20T04:00")
    assert "Collected 2 calls of the batch of 2026-03-20 from anthropic; 1 had failed." in said
    assert "Batch" not in command.memory.curate("status", "--now", "2026-03-20T04:30")
    told = command.memory.curate("runs", "--json")
    assert "Batch     Collected 2 calls" in command.memory.curate("runs", json.loads(told)[0]["run"])


def test_the_settings_can_ask_for_batches_and_the_command_line_wins(command: Command) -> None:
    command.settings("batch = true\nbatch_hours = 1.5")
    assert command.run("2026-03-20T02:00")["batches"]["sent"][0]["calls"] == 3
    command.memory.write("Logs/2026-03-14.md", "# 2026-03-14\n\n- 09:14 We go with plan B14.\n")
    assert command.run("2026-03-20T02:30", "--no-batch")["pending_days"] == DAYS
    assert command.server.count("ask") == 2, "one reads, one reviews"
    assert command.run("2026-03-20T03:30", "--no-batch")["pending_days"] == []
    assert (command.server.count("cancel"), command.server.count("ask")) == (1, 6)


@pytest.mark.parametrize("wrong", ['batch = "yes"', "batch_hours = 0", "batch_hours = 1000"])
def test_settings_that_cannot_be_meant(command: Command, wrong: str) -> None:
    command.settings(wrong)
    assert wrong in command.memory.curate("run", exits=1)


def test_an_estimate_of_a_batch_is_half_the_price_and_leaves_out_what_is_sent(command: Command) -> None:
    whole, half = (
        command.run("2026-03-20T02:00", "--estimate", flag)["models"][0] for flag in ("--no-batch", "--batch")
    )
    assert (half["usd"], half["most_usd"]) == (pytest.approx(whole["usd"] / 2), pytest.approx(whole["most_usd"] / 2))
    command.run("2026-03-20T02:00", "--batch")
    told = command.run("2026-03-20T02:30", "--estimate")
    assert (told["days"], told["calls"], told["kept"]) == (3, 0, 3)
    assert command.server.operations == ["create"]


def test_a_rehearsal_sends_and_collects_nothing(command: Command) -> None:
    assert "Nothing would change" in command.memory.curate("run", "--dry-run", "--batch", "--now", "2026-03-20T02:00")
    assert command.server.operations == []
    command.run("2026-03-20T02:00", "--batch")
    command.server.finish()
    command.memory.curate("run", "--dry-run", "--now", "2026-03-20T03:00")
    assert command.server.operations == ["create"]
    command.run("2026-03-20T03:00")
    assert command.server.paid == {**dict.fromkeys(DAYS, 1), "?": 1}, "the review is of no day, and asked directly"


def test_who_takes_no_batches_is_asked_one_by_one(command: Command, tmp_path: Path) -> None:
    program = tmp_path / "nothing.py"
    program.write_text("print('{\"items\": []}')")
    command.settings(providers=f"\"exec:'{sys.executable}' '{program}'\"")
    said = command.memory.curate("run", "--batch", "--now", "2026-03-20T02:00")
    assert "exec takes no batches, so its calls were made one by one, at the usual price." in said
    command.settings(providers='"rules"')
    command.memory.write("Logs/2026-03-14.md", "- Decision: use SQLite\n")
    said = command.memory.curate("run", "--batch", "--now", "2026-03-20T03:00")
    assert "The rules read the logs, so there was nothing to send in a batch." in said
    assert command.server.operations == []


def test_notes_that_somebody_damaged_are_named(command: Command) -> None:
    for name, text in (("x.json", "{}"), (f"{'0' * 32}.json", "{"), (f"{'1' * 32}.json", '{"form": 1, "asks": 3}')):
        command.memory.write(f".curate/batches/{name}", text)
    said = command.memory.curate("run", "--now", "2026-03-20T02:00")
    assert said.count("is no note of a batch; remove it.") == 3


# ---------------------------------------------------------------- a chain


def test_the_next_of_the_chain_is_sent_the_batch_where_the_first_refuses(memory: Memory) -> None:
    with anthropic_batches(answer) as claude, gemini_batches(answer) as gemini:
        nights, other = Nights(memory, "anthropic", claude), Nights(memory, "gemini", gemini)
        nights.log()
        nights.user = nights.using("anthropic", "gemini")
        assert other.user.gemini
        object.__setattr__(nights.user, "gemini", other.user.gemini)
        claude.trouble["create"] = [anthropic_error(400, "invalid_request_error", "credit balance is too low")]
        report = nights.run("2026-03-20T02:00")
        assert (report.exit_code, report.failure) == (0, ""), "another stands in for it"
        assert [(one.provider, str(one.kind)) for one in report.failures] == [("anthropic", "over-quota")]
        gemini.finish()
        nights.run("2026-03-20T03:00")
        assert (nights.texts(), gemini.paid, claude.paid) == (plans(*DAYS), dict.fromkeys(DAYS, 1), {})
        claude.trouble["create"] = [anthropic_error(401, "authentication_error")]
        gemini.trouble["create"] = [gemini_error(403, "PERMISSION_DENIED")]
        nights.log("2026-03-14")
        report = nights.run("2026-03-21T02:00")
        assert (report.exit_code, report.pending_days, nights.notes) == (1, ("2026-03-14",), [])
        assert ("anthropic refused the key" in report.failure, "gemini does not let" in report.failure) == (True, True)


# ---------------------------------------------------------------- caps


def test_what_the_caps_forbid_is_not_sent_and_the_oldest_goes_first(claude: Nights) -> None:
    claude.user = claude.using("anthropic", caps=Caps(max_tokens=25_000))
    report = claude.run("2026-03-20T02:00")
    [sent] = claude.server.batches.values()
    assert [call["messages"][0]["content"][16:26] for call in sent.calls.values()] == [DAYS[0], DAYS[1]][
        : len(sent.calls)
    ]
    assert 0 < len(sent.calls) < 3
    assert (report.exit_code, report.pending_days) == (0, tuple(DAYS))
    assert "of max_tokens = 25000 of a night" in report.over_budget
    assert claude.run("2026-03-20T03:00").over_budget, "what is in a batch counts as its most until it is collected"
    claude.server.finish()
    report = claude.run("2026-03-20T04:00")
    assert len(claude.server.batches) == 2, "what was set aside and not used up is there again"
    claude.server.finish()
    claude.run("2026-03-21T02:00")
    claude.server.finish()
    claude.run("2026-03-21T03:00")
    assert (claude.texts(), claude.server.paid, claude.notes) == (plans(*DAYS), dict.fromkeys(DAYS, 1), [])


def test_a_batch_that_was_refused_counts_nothing(claude: Nights) -> None:
    claude.user = claude.using("anthropic", caps=Caps(max_usd=0.01))
    claude.server.trouble["create"] = [anthropic_error(400, "invalid_request_error")] * 20
    for hour in range(2, 7):
        report = claude.run(f"2026-03-20T{hour:02}:00")
        assert (report.over_budget, claude.server.count("create")) == ("", hour - 1)


def test_a_batch_counts_half_the_price_against_the_caps(claude: Nights) -> None:
    claude.user = claude.using("anthropic", caps=Caps(max_usd=0.00700))  # a call by itself may come to $0.0043
    claude.run("2026-03-20T02:00")
    assert len(claude.server.batches["msgbatch_00"].calls) == 3
    claude.server.finish()
    claude.run("2026-03-20T03:00")
    assert claude.usd == pytest.approx(3 * USD["anthropic"], abs=2e-6)


# ---------------------------------------------------------------- the limits of a batch


def test_more_calls_than_a_batch_takes_go_into_several(claude: Nights) -> None:
    night = claude.night("2026-03-20T02:00")
    assert night.batches
    [batcher] = night.batches.batchers
    object.__setattr__(batcher, "most_calls", 2)
    report = curate_night(night, Watch())
    assert [len(batch.calls) for batch in claude.server.batches.values()] == [2, 1]
    assert len(claude.notes) == 2
    claude.server.batches["msgbatch_01"].state = "canceling"
    claude.server.finish()
    second = claude.run("2026-03-20T03:00")
    assert (report.pending_days, second.pending_days) == (tuple(DAYS), (DAYS[2],))
    claude.server.batches["msgbatch_01"].state = "open"
    claude.server.finish()
    claude.run("2026-03-20T04:00")
    assert (claude.texts(), claude.server.paid, claude.notes) == (plans(*DAYS), dict.fromkeys(DAYS, 1), [])


def test_more_bytes_than_a_batch_takes_go_into_several(claude: Nights) -> None:
    night = claude.night("2026-03-20T02:00")
    assert night.batches
    object.__setattr__(night.batches.batchers[0], "most_bytes", 10)
    curate_night(night, Watch())
    assert [len(batch.calls) for batch in claude.server.batches.values()] == [1, 1, 1]
