"""What is given to git, and how its answers are read: in pieces as they come, and never more than can be held."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import tempfile
import time
from io import BytesIO
from typing import IO, TYPE_CHECKING, Final

from pipelines.memory.files import writing

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

MOST_BYTES: Final = 512 * 1024 * 1024
"""What one answer may have that is held whole: the logs of ten years, at 140 KB a day."""
MOST_LINE: Final = 1024 * 1024
"""No line of a document that holds an item is longer; of one that is, no more than this is looked at."""
_PIECE: Final = 65_536
_TAIL: Final = 8192
_PATIENCE: Final = 0.25
"""Seconds for which a git is waited for when it is we who end: in a terminal the same interrupt reaches it, too."""


class TooMuch(Exception):
    """Raised when a program prints more than is read; whoever asked says what that means."""


def signal_name(number: int) -> str:
    """Return what a signal is called."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def last_line(error: bytes) -> str:
    """Return the last line of what git said on standard error."""
    return next(iter(reversed(error.decode(errors="replace").strip().splitlines())), "")


@contextlib.contextmanager
def given(data: bytes) -> Iterator[IO[bytes] | None]:
    """Yield a stream of these bytes for a child to read, or None for none."""
    if not data:
        yield None
        return
    with contextlib.ExitStack() as stack:
        with writing(tempfile.gettempdir()):
            stream = stack.enter_context(tempfile.TemporaryFile())
            stream.write(data)
            stream.seek(0)
        yield stream


def whole(pieces: Iterable[bytes], most: int) -> bytes:
    """Return pieces as one.

    Raises:
        TooMuch: they are more than `most` bytes; no further one is taken.
    """
    held = BytesIO()
    for piece in pieces:
        if held.tell() + len(piece) > most:
            raise TooMuch
        held.write(piece)
    return held.getvalue()


def lines_of(pieces: Iterable[bytes], most: int) -> Iterator[bytes]:
    """Yield the lines of pieces without their ends; of a line that is longer than `most` bytes, the first of them."""
    begun = b""
    for piece in pieces:
        first, *others = piece.split(b"\n")
        begun += first[: most - len(begun)]
        for line in others:
            yield begun
            begun = line[:most]
    if begun:
        yield begun


def pieces_of(process: subprocess.Popen[bytes], error: bytearray, seconds: float | None = None) -> Generator[bytes]:
    """Yield what a program prints, as it comes, until it has ended. Both of its outputs are closed in any case.

    Args:
        process: the program, with a pipe for each output.
        error: is given the end of what it says on standard error.
        seconds: how long it may take; None for ever.

    Raises:
        subprocess.TimeoutExpired: it took longer.
    """
    end = None if seconds is None else time.monotonic() + seconds
    out, told = process.stdout, process.stderr
    if out is None or told is None:
        raise AssertionError  # both were asked for
    try:
        with out, told, selectors.DefaultSelector() as ready:
            ready.register(out, selectors.EVENT_READ)
            ready.register(told, selectors.EVENT_READ)
            while ready.get_map():
                for key, _ in ready.select(_left(process, end)):
                    piece = os.read(key.fd, _PIECE)
                    if not piece:
                        ready.unregister(key.fileobj)
                    elif key.fileobj is out:
                        yield piece
                    else:
                        error += piece
                        del error[:-_TAIL]
        process.wait(_left(process, end))
    except BaseException:  # whoever asked wants no more: with its outputs closed git has nobody left to tell, and ends
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_PATIENCE)
        raise


def _left(process: subprocess.Popen[bytes], end: float | None) -> float | None:
    """Return the seconds that a program has left."""
    if end is None:
        return None
    if (left := end - time.monotonic()) <= 0:
        raise subprocess.TimeoutExpired(process.args, 0)
    return left
