"""Work done at once comes out in its order, stops where it is enough, and never keeps an interrupted caller."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from pipelines.extract.llm.concurrency import ordered_map

if TYPE_CHECKING:
    from collections.abc import Callable

WAIT = 30


def numbered(count: int, done: Callable[[int], object] = lambda _: None) -> list[Callable[[], int]]:
    def work(number: int) -> int:
        done(number)
        return number

    return [lambda number=number: work(number) for number in range(count)]  # type: ignore[misc]  # a default binds


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


# ---------------------------------------------------------------- the circuit
