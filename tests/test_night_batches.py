"""Nights that send their calls in batches, with the real SDKs: what is paid is paid once, and counted once."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.batch_nights import DAYS, USD, Nights, answer, plans
from tests.models.batch_wire import anthropic_batches, cut, gemini_batches, lost
from tests.models.wire import Prepared, anthropic_error, gemini_error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import Memory


def _nights(memory: Memory, kind: str) -> Iterator[Nights]:
    with (anthropic_batches if kind == "anthropic" else gemini_batches)(answer) as server:
        made = Nights(memory, kind, server)
        made.log()
        yield made
        assert server.refused == []


@pytest.fixture(params=["anthropic", "gemini"])
def nights(memory: Memory, request: pytest.FixtureRequest) -> Iterator[Nights]:
    yield from _nights(memory, request.param)


@pytest.fixture(params=["anthropic", pytest.param("gemini", marks=pytest.mark.torture)])
def either(memory: Memory, request: pytest.FixtureRequest) -> Iterator[Nights]:
    """Nights of which the memory's side alone is looked at: that is the same whoever answers."""
    yield from _nights(memory, request.param)


@pytest.fixture
def claude(memory: Memory) -> Iterator[Nights]:
    with anthropic_batches(answer) as server:
        made = Nights(memory, "anthropic", server)
        made.log()
        yield made


def complete(nights: Nights, *, paid: int = 1) -> None:
    """Say that every day was read, paid so often, counted so, and that nothing is left over."""
    assert nights.texts() == plans(*DAYS)
    assert nights.server.paid == dict.fromkeys(DAYS, paid)
    assert nights.notes == []
    assert nights.usd == pytest.approx(3 * paid * USD[nights.kind], abs=2e-6)


def test_three_days_are_sent_by_one_run_and_read_by_the_next(nights: Nights) -> None:
    nights.memory.write("Logs/partial/2026-03-12-phone.md", "- 10:00 walked\n")
    first = nights.run("2026-03-20T02:00")
    assert (first.exit_code, first.pending_days, first.entries_pending) == (0, tuple(DAYS), 4)
    assert (first.failure, first.over_budget, first.spent, first.failures) == ("", "", (), ())
    assert first.folded == ("Logs/partial/2026-03-12-phone.md",), "what needs no model happens as on any night"
    assert (nights.texts(), nights.server.count("create"), nights.server.count("ask"), len(nights.notes)) == (
        [],
        1,
        0,
        1,
    )

    waiting = nights.run("2026-03-20T03:00")
    assert (waiting.exit_code, waiting.pending_days, nights.server.count("create")) == (0, tuple(DAYS), 1)
    assert waiting.to_json()["batches"]["waiting"] == 1  # type: ignore[index]  # a dictionary

    nights.server.finish()
    third = nights.run("2026-03-20T04:00", batch=False)
    assert (third.exit_code, third.pending_days, third.spent[0].calls) == (0, (), 3)
    complete(nights)
    assert nights.run("2026-03-20T05:00").spent == ()


def test_a_run_without_a_batch_waits_for_one_that_is_open_and_reads_the_rest(claude: Nights) -> None:
    claude.run("2026-03-20T02:00")
    claude.log("2026-03-14")
    report = claude.run("2026-03-20T03:00", batch=False)
    assert (report.pending_days, claude.texts(), claude.server.count("ask")) == (tuple(DAYS), plans("2026-03-14"), 1)


def test_todays_log_waits_for_its_end(claude: Nights) -> None:
    claude.log("2026-03-20")
    report = claude.run("2026-03-20T02:00")
    assert report.pending_days == (*DAYS, "2026-03-20")
    assert len(claude.server.batches["msgbatch_00"].calls) == 3


@pytest.mark.parametrize(
    ("fate", "kind"), [("errored", "bad-request"), ("expired", "expired"), ("canceled", "canceled")]
)
def test_a_call_that_fails_in_a_batch_is_made_at_once_and_counted(claude: Nights, fate: str, kind: str) -> None:
    claude.run("2026-03-20T02:00")
    claude.server.finish(but={1: fate})
    report = claude.run("2026-03-20T03:00")
    assert (report.pending_days, claude.texts(), claude.server.count("ask")) == ((), plans(*DAYS), 1)
    assert [(one.kind, one.count) for one in report.failures] == [(kind, 1)]
    assert (claude.server.paid, claude.notes) == (dict.fromkeys(DAYS, 1), [])
    assert report.usd == pytest.approx(4 * USD["anthropic"], abs=2e-6), "two at half the price, and one at the whole"


def test_an_unusable_answer_is_paid_counted_and_asked_for_at_once(claude: Nights) -> None:
    claude.run("2026-03-20T02:00")
    claude.server.answer = lambda _: "I would rather not."
    claude.server.finish()
    claude.server.answer = answer
    report = claude.run("2026-03-20T03:00")
    assert (claude.texts(), claude.server.paid) == (plans(*DAYS), dict.fromkeys(DAYS, 2))
    assert [(one.kind, one.count) for one in report.failures] == [("outside-schema", 3)]
    assert report.usd == pytest.approx(9 * USD["anthropic"], abs=2e-6)


def test_an_item_without_ground_is_asked_for_once_more_at_once(claude: Nights) -> None:
    claude.run("2026-03-20T02:00")
    claude.server.answer = lambda call: answer(call).replace("B12.", "B99.")
    claude.server.finish()
    claude.server.answer = answer
    claude.run("2026-03-20T03:00")
    assert (claude.texts(), claude.server.count("ask")) == (plans(*DAYS), 1)


def test_results_in_another_order_twice_and_of_strangers(nights: Nights) -> None:
    nights.run("2026-03-20T02:00")
    stranger = {"custom_id": "x-1", "metadata": {"key": "x-1"}, "key": "x-1", "result": {"type": "expired"}}
    nights.server.arrange = lambda rows: [*reversed(rows), stranger, *rows]
    nights.server.finish()
    report = nights.run("2026-03-20T03:00")
    assert report.pending_days == ()
    assert "gave a result of a call that was not in the batch" in str(report.batches["said"])
    complete(nights)


@pytest.mark.parametrize("how", ["cut", "short", "half a line", "reset", "error"])
def test_results_that_break_off_are_fetched_again(claude: Nights, how: str) -> None:
    claude.run("2026-03-20T02:00")
    claude.server.finish()
    broken = {
        "cut": cut,
        "short": lambda right: Prepared(body=str(right.body).split("\n")[0] + "\n"),
        "half a line": lambda right: Prepared(body=str(right.body)[:-40]),
        "reset": lost,
        "error": lambda _: anthropic_error(529, "overloaded_error"),
    }[how]
    claude.server.trouble["results"] = [broken]
    report = claude.run("2026-03-20T03:00")
    assert (report.exit_code, report.pending_days, bool(report.failure), report.spent) == (1, tuple(DAYS), True, ())
    claude.run("2026-03-20T04:00")
    complete(claude)


def test_a_batch_that_the_provider_does_not_know_any_more(nights: Nights) -> None:
    nights.run("2026-03-20T02:00")
    nights.server.batches.clear()
    report = nights.run("2026-03-20T03:00")
    assert (report.exit_code, report.pending_days, nights.texts()) == (0, (), plans(*DAYS))
    assert (nights.server.count("ask"), nights.notes) == (3, [])
    assert "does not know a batch of 2026-03-20 any more" in str(report.batches["said"])


def test_a_batch_that_never_ends_is_cancelled_and_its_days_are_read(nights: Nights) -> None:
    nights.run("2026-03-20T02:00")
    assert nights.run("2026-03-21T01:59").pending_days == tuple(DAYS)
    nights.server.end = "canceled"
    report = nights.run("2026-03-21T02:00")
    assert (report.pending_days, nights.texts(), nights.notes) == ((), plans(*DAYS), [])
    assert (nights.server.count("cancel"), nights.server.count("ask")) == (1, 3)
    assert [(one.kind, one.count) for one in report.failures] == [("canceled", 3)]


def test_what_comes_after_a_batch_was_given_up_is_counted(nights: Nights) -> None:
    nights.run("2026-03-20T02:00")
    report = nights.run("2026-03-21T02:00")
    assert (report.pending_days, nights.texts(), len(nights.notes)) == ((), plans(*DAYS), 1)
    for batch in nights.server.batches.values():
        batch.state = "open"
    nights.server.finish()
    assert nights.run("2026-03-21T03:00").usd == pytest.approx(3 * USD[nights.kind], abs=2e-6)
    assert (nights.notes, nights.texts()) == ([], plans(*DAYS))


def test_a_batch_that_was_given_up_is_forgotten_in_the_end(either: Nights) -> None:
    either.run("2026-03-20T02:00")
    either.run("2026-03-21T02:00")
    either.run("2026-03-22T02:00")
    assert either.notes == []


def test_a_key_that_is_gone(claude: Nights) -> None:
    claude.run("2026-03-20T02:00")
    claude.server.finish()
    claude.user = claude.using("gemini")
    report = claude.run("2026-03-20T03:00", batch=False)
    assert (report.exit_code, report.pending_days) == (1, tuple(DAYS))
    assert report.failure == (
        "anthropic cannot be asked for a batch of 2026-03-20: no key for it, or another address, is set now."
    )
    claude.user = claude.using("anthropic")
    claude.run("2026-03-20T04:00")
    complete(claude)


def test_refused_batches_leave_no_trace(nights: Nights) -> None:
    wrong = anthropic_error(401, "authentication_error") if nights.kind == "anthropic" else gemini_error(403, "DENIED")
    nights.server.trouble["create"] = [wrong]
    report = nights.run("2026-03-20T02:00")
    assert (report.exit_code, report.pending_days, nights.notes) == (1, tuple(DAYS), [])
    assert f"{nights.kind} " in report.failure
    nights.run("2026-03-20T03:00")
    nights.server.finish()
    nights.run("2026-03-20T04:00")
    complete(nights)


@pytest.mark.parametrize("ended", [False, True])
def test_a_batch_whose_sending_nobody_saw_the_end_of_is_found(nights: Nights, ended: bool) -> None:  # noqa: FBT001  a case
    nights.server.trouble["create"] = [lost]
    first = nights.run("2026-03-20T02:00")
    assert (first.exit_code, first.pending_days, len(nights.notes)) == (1, tuple(DAYS), 1)
    if ended:
        nights.server.finish()
    second = nights.run("2026-03-20T03:00")
    assert (nights.server.count("create"), second.pending_days) == (1, () if ended else tuple(DAYS))
    nights.server.finish()
    nights.run("2026-03-20T04:00")
    complete(nights)


def test_a_batch_that_never_arrived_is_sent_again(nights: Nights) -> None:
    nights.server.trouble["create"] = [Prepared(reset=True)]
    nights.run("2026-03-20T02:00")
    nights.run("2026-03-20T03:00")
    assert (nights.server.count("create"), len(nights.server.batches)) == (2, 1)
    nights.server.finish()
    nights.run("2026-03-20T04:00")
    complete(nights)


def test_two_memories_with_one_key_do_not_mix(nights: Nights) -> None:
    root = shutil.copytree(nights.memory.root, nights.memory.root.parent / "other")
    other = Nights(nights.memory.aside(root), nights.kind, nights.server)
    nights.server.trouble["create"] = [lost]
    nights.run("2026-03-20T02:00")
    other.run("2026-03-20T02:00")
    nights.server.finish()
    nights.run("2026-03-20T03:00")
    other.run("2026-03-20T03:00")
    assert (nights.server.count("create"), nights.server.count("ask")) == (2, 0)
    assert (nights.texts(), other.texts()) == (plans(*DAYS), plans(*DAYS))


# ---------------------------------------------------------------- the memory goes on meanwhile


def test_lines_that_move_and_come_meanwhile_cost_nothing_twice(either: Nights) -> None:
    either.run("2026-03-20T02:00")
    either.server.finish()
    log = either.memory.read("Logs/2026-03-12.md")
    late = "\n- 07:00 An early walk.\n" + log.partition("\n\n")[2] + "- 17:00 We go with plan C12.\n"
    either.memory.write("Logs/2026-03-12.md", log.partition("\n\n")[0] + "\n" + late)
    either.memory.write("Projects/harbour.md", "# Harbour\n")
    report = either.run("2026-03-20T03:00", batch=False)
    assert either.texts() == sorted([*plans(*DAYS), "We go with plan C12."])
    assert (report.pending_days, either.server.count("ask"), either.notes) == ((), 1, [])
    assert either.server.paid == {**dict.fromkeys(DAYS, 1), "2026-03-12": 2}
    told = either.memory.curate("replay", report.run)
    assert told.startswith("Same: ")


def test_what_came_late_goes_into_the_next_batch_where_batches_are_wished(claude: Nights) -> None:
    claude.run("2026-03-20T02:00")
    claude.server.finish()
    claude.memory.write(
        "Logs/2026-03-12.md", claude.memory.read("Logs/2026-03-12.md") + "- 17:00 We go with plan C12.\n"
    )
    second = claude.run("2026-03-20T03:00")
    assert (second.pending_days, claude.texts()) == (("2026-03-12",), plans(DAYS[0], DAYS[2]))
    claude.server.finish()
    third = claude.run("2026-03-20T04:00")
    assert (third.pending_days, claude.server.count("ask"), claude.notes) == ((), 0, [])
    assert claude.texts() == sorted([*plans(*DAYS), "We go with plan C12."])
    assert claude.usd == pytest.approx(4 * USD["anthropic"], abs=2e-6)


def test_an_entry_that_was_changed_meanwhile_is_asked_about_anew(claude: Nights) -> None:
    claude.run("2026-03-20T02:00")
    claude.server.finish()
    claude.memory.write("Logs/2026-03-12.md", "# 2026-03-12\n\n- 09:14 We go with plan D12.\n")
    claude.run("2026-03-20T03:00", batch=False)
    assert claude.texts() == sorted([*plans(DAYS[0], DAYS[2]), "We go with plan D12."])


def test_a_night_that_collected_is_replayed(either: Nights) -> None:
    either.run("2026-03-20T02:00")
    either.server.finish()
    report = either.run("2026-03-20T03:00")
    assert either.memory.curate("replay", report.run).startswith("Same: ")


def test_a_day_is_read_anew_at_once_whatever_is_in_a_batch(claude: Nights) -> None:
    claude.run("2026-03-20T02:00")
    report = claude.run("2026-03-20T03:00", again=DAYS[1])
    assert (report.pending_days, claude.texts()) == ((DAYS[0], DAYS[2]), plans(DAYS[1]))
