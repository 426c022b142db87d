"""Processor time with an end: what takes longer is stopped where it stands, whatever it catches."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager


class TooSlow(BaseException):
    """Something took more processor time than it was given; nothing under test may catch it."""


@contextmanager
def watched() -> Iterator[None]:
    """Have what takes too long inside `within` raise `TooSlow`. Only a process's main thread can watch."""

    def stop(_number: int, _frame: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGVTALRM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGVTALRM, before)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Give the block so many seconds of processor time."""
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
