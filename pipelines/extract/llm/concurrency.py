"""Parallel work with results in the order of the work, whatever finishes first."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, TypeVar

from pipelines.extract.llm.call import Call, Model, ModelAnswer, WrappedModel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Future


Result = TypeVar("Result")


def ordered_map(
    work: Sequence[Callable[[], Result]], most: int, is_enough: Callable[[Result], bool]
) -> Iterator[Result]:
    """Do the work and yield its results, in the order of the work.

    Work starts in order. Once any result is enough, nothing more starts; what has started finishes and is yielded, too.
    An interrupted caller does not wait: the threads are daemons, and do not hold up the end of the process.

    Args:
        work: the work; its exceptions are raised here, in turn.
        most: how many threads; with one, everything runs in the caller's.
        is_enough: whether a result makes the rest unnecessary.
    """
    if most <= 1 or len(work) <= 1:
        for one in work:
            result = one()
            yield result
            if is_enough(result):
                return
        return
    from concurrent.futures import CancelledError  # noqa: PLC0415  only several threads need it

    futures, run, begin_no_more = _shared(work, is_enough)
    try:
        for _ in range(min(most, len(work))):
            threading.Thread(target=run, name="reading", daemon=True).start()
        for future in futures:
            try:
                result = future.result()
            except CancelledError:
                return  # it never started, nor did those after it
            yield result
    finally:
        begin_no_more()


def _shared(
    work: Sequence[Callable[[], Result]], is_enough: Callable[[Result], bool]
) -> tuple[list[Future[Result]], Callable[[], None], Callable[[], None]]:
    """Return the futures, the loop that each thread runs, and a function that cancels the work not yet started."""
    from concurrent.futures import Future  # noqa: PLC0415  as above

    futures = [Future[Result]() for _ in work]
    turns = iter(zip(futures, work, strict=True))
    lock = threading.Lock()

    def next_turn() -> tuple[Future[Result], Callable[[], Result]] | None:
        with lock:
            return next(turns, None)

    def run() -> None:
        for future, one in iter(next_turn, None):
            try:
                result = one()
                if is_enough(result):
                    begin_no_more()
                future.set_result(result)
            except BaseException as fault:  # noqa: BLE001  it is raised in the caller's thread
                begin_no_more()
                future.set_exception(fault)

    def begin_no_more() -> None:
        for future, _ in iter(next_turn, None):
            future.cancel()

    return futures, run, begin_no_more


class ThrottledModel(WrappedModel):
    """A model that at most `most` threads call at once; others wait."""

    def __init__(self, model: Model, most: int) -> None:
        super().__init__(model)
        self._free = threading.BoundedSemaphore(most)

    def ask(self, call: Call) -> ModelAnswer:
        """Make the call, once, when it is its turn.

        Raises:
            ModelFailed: no usable answer came.
        """
        with self._free:
            return self._model.ask(call)
