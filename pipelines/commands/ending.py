"""SIGTERM and SIGHUP end a command as Ctrl-C does: it unwinds, says so, and the next run takes up where it was."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

from pipelines.errors import INTERRUPTED, Ended

if TYPE_CHECKING:
    from types import FrameType


def why_ended(fault: BaseException) -> tuple[str, int]:
    """Return the sentence and the exit code of a command that a signal ended."""
    cause = fault.__cause__ or fault  # click makes an abort of every interrupt
    if isinstance(cause, Ended):
        return cause.sentence, cause.exit_code
    return "Interrupted; the next run takes up where this one was.", INTERRUPTED


def listen() -> None:
    """Let both signals raise `Ended`, except where whoever started the process had it ignore them (`nohup`)."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _end)


def _end(number: int, _frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_IGN)  # one is enough: a second would cut short what the first one lets unwind
    raise Ended(number)
