"""Work done at once comes out in its order, stops where it is enough, and never keeps an interrupted caller."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from pipelines.errors import ModelFailed
from pipelines.extract.llm.call import Call
from pipelines.extract.llm.concurrency import ThrottledModel, ordered_map
from pipelines.extract.llm.fallback import OPENS_AFTER, Circuit
from pipelines.usage import FailureKind as Kind
from pipelines.usage import Tally
from tests.extract.fakes import Scripted

if TYPE_CHECKING:
    from collections.abc import Callable

WAIT = 30


def numbered(count: int, done: Callable[[int], object] = lambda _: None) -> list[Callable[[], int]]:
    def work(number: int) -> int:
        done(number)
        return number

    return [lambda number=number: work(number) for number in range(count)]  # type: ignore[misc]  # a default binds


@pytest.mark.parametrize("most", [1, 2, 4, 9])
def test_results_come_in_the_order_of_the_work(most: int) -> None:
    assert list(ordered_map(numbered(7), most, lambda _: False)) == list(range(7))
    assert list(ordered_map(numbered(0), most, lambda _: False)) == []


def test_as_many_as_asked_for_are_under_way_and_end_in_any_order() -> None:
    ended = [threading.Event() for _ in range(5)]

    def after_the_next(number: int) -> None:
        assert number in {3, 4} or ended[number + 1].wait(WAIT)
        ended[number].set()

    assert list(ordered_map(numbered(5, after_the_next), 4, lambda _: False)) == list(range(5))


def test_nothing_is_begun_once_it_is_enough_and_what_was_begun_is_told() -> None:
    begun: list[int] = []
    second_has_ended, second_is_told = threading.Event(), threading.Event()

    def first_is_slow(number: int) -> None:
        begun.append(number)
        assert number or second_has_ended.wait(WAIT)

    def is_enough(result: int) -> bool:
        if result == 1:
            second_has_ended.set()
        return result == 1

    assert list(ordered_map(numbered(9, first_is_slow), 2, is_enough)) == [0, 1]
    assert sorted(begun) == [0, 1]
    assert not second_is_told.is_set()


@pytest.mark.parametrize("most", [1, 3])
def test_what_the_work_raises_is_raised_at_its_turn(most: int) -> None:
    def raises(number: int) -> None:
        if number == 2:
            raise KeyError(number)

    found: list[int] = []
    with pytest.raises(KeyError):
        found.extend(ordered_map(numbered(5, raises), most, lambda _: False))
    told = ordered_map(numbered(5, raises), most, lambda _: False)
    assert [next(told), next(told)] == [0, 1]


def test_a_caller_that_leaves_waits_for_nobody() -> None:
    held, begun = threading.Event(), threading.Event()

    def hold(number: int) -> None:
        begun.set()
        assert number == 0 or held.wait(WAIT)

    told = ordered_map(numbered(9, hold), 2, lambda _: False)
    assert next(told) == 0
    assert begun.wait(WAIT)
    told.close()  # type: ignore[attr-defined]  # a generator's; a KeyboardInterrupt ends it in the same way
    held.set()


def test_so_many_calls_of_a_provider_at_the_same_time() -> None:
    under_way, most_seen, lock = 0, 0, threading.Lock()
    both_there = threading.Barrier(2, timeout=WAIT)

    def answer(_: Call) -> str:
        nonlocal under_way, most_seen
        with lock:
            under_way += 1
            most_seen = max(most_seen, under_way)
        both_there.wait()
        with lock:
            under_way -= 1
        return "yes"

    model = ThrottledModel(Scripted("a:1", answers=answer), 2)
    call = Call("extract", "extract", 2, "s", "u", {})
    assert len(list(ordered_map([lambda: model.ask(call)] * 8, 8, lambda _: False))) == 8
    assert (most_seen, model.name, model.source) == (2, "a:1", "a:1 here")


# ---------------------------------------------------------------- the circuit


def down(kind: Kind) -> ModelFailed:
    return ModelFailed("a", f"was {kind}", kind)


def is_open(circuit: Circuit, day: str) -> bool:
    try:
        circuit.enter((day, 0), Tally())
    except ModelFailed:
        return True
    return False


def test_a_failure_concerns_later_days_alone() -> None:
    circuit = Circuit("a")
    early, late = circuit.enter(("03", 0), Tally()), circuit.enter(("07", 0), Tally())
    circuit.failed(late, down(Kind.UNAUTHORISED))
    assert [is_open(circuit, day) for day in ("03", "06", "07", "08")] == [False, False, True, True]
    circuit.failed(early, down(Kind.UNAUTHORISED))
    assert is_open(circuit, "06")


def test_failures_are_in_a_row_by_their_days() -> None:
    circuit = Circuit("a")
    tickets = {day: circuit.enter((day, 0), Tally()) for day in "ceagbfd"}
    for day in "geca":
        circuit.failed(tickets[day], down(Kind.TIMED_OUT))
    assert not is_open(circuit, "h"), "days between them were answered, or are under way"
    circuit.failed(tickets["d"], down(Kind.REFUSED))
    assert not is_open(circuit, "h")
    circuit.failed(tickets["f"], down(Kind.REFUSED))
    assert is_open(circuit, "i"), "a refusal says nothing of the provider"
    assert OPENS_AFTER == 3
    assert not is_open(circuit, "b")
