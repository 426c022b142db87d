"""Work done by several threads at once, with results in the order of the work, whatever the order in which it ends."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pipelines.extract.llm.call import Answer, Call, Model


Result = TypeVar("Result")


def abreast(work: Sequence[Callable[[], Result]], most: int, is_enough: Callable[[Result], bool]) -> Iterator[Result]:
    """Do the work and yield its results, in the order of the work.

    The work is begun in order, so that what stands before a piece was begun before it. Once any result is enough,
    nothing more is begun; what was begun comes to its end and is yielded, too. An interrupted caller waits for nobody:
    the threads are left behind and hold up the end of the process no more than it does.

    Args:
        work: what is to be done; what it raises is raised here, at its turn.
        most: how many threads; with one, everything happens in the caller's.
        is_enough: whether a result makes the rest needless.
    """
    if most > 1 and len(work) > 1:
        yield from _Crew(work, is_enough).results(min(most, len(work)))
        return
    for one in work:
        result = one()
        yield result
        if is_enough(result):
            return


class _Crew(Generic[Result]):
    """Threads that take the next piece of work until there is none, or enough."""

    def __init__(self, work: Sequence[Callable[[], Result]], is_enough: Callable[[Result], bool]) -> None:
        self._work, self._is_enough = work, is_enough
        self._changed = threading.Condition()
        self._begun = 0
        self._over = False
        self._results: dict[int, Result] = {}
        self._raised: dict[int, BaseException] = {}

    def results(self, threads: int) -> Iterator[Result]:
        try:
            for _ in range(threads):
                threading.Thread(target=self._run, name="reading", daemon=True).start()
            for at in range(len(self._work)):
                with self._changed:
                    self._changed.wait_for(lambda at=at: self._is_settled(at))  # type: ignore[misc]  # a default binds
                    if at in self._raised:
                        raise self._raised[at]
                    if at not in self._results:
                        return
                    result = self._results.pop(at)
                yield result
        finally:
            with self._changed:
                self._over = True

    def _is_settled(self, at: int) -> bool:
        return at in self._results or at in self._raised or (self._over and at >= self._begun)

    def _run(self) -> None:
        while (at := self._next()) is not None:
            try:
                result = self._work[at]()
            except BaseException as fault:  # noqa: BLE001  it is raised in the caller's thread
                self._note(self._raised, at, fault, over=True)
            else:
                self._note(self._results, at, result, over=self._is_enough(result))

    def _next(self) -> int | None:
        with self._changed:
            if self._over or self._begun == len(self._work):
                return None
            self._begun += 1
            return self._begun - 1

    def _note(self, where: dict[int, Result] | dict[int, BaseException], at: int, what: object, *, over: bool) -> None:
        with self._changed:
            where[at] = what  # type: ignore[assignment]  # of the dictionary's kind
            self._over = self._over or over
            self._changed.notify_all()


# ---------------------------------------- so many calls of one provider at the same time
# and no more.


class Slots:
    """A model that is asked by at most `most` threads at once; the others wait for their turn."""

    def __init__(self, model: Model, most: int) -> None:
        self._model, self._free = model, threading.BoundedSemaphore(most)
        self.name, self.source = model.name, model.source
        self.input_tokens, self.output_tokens, self.retries = model.input_tokens, model.output_tokens, model.retries

    def ask(self, call: Call) -> Answer:
        """Make the call, once, when it is its turn.

        Raises:
            ModelFailed: no usable answer came.
        """
        with self._free:
            return self._model.ask(call)
