"""What is given to git, and how its answers are read."""

from __future__ import annotations

import contextlib
import os
import signal
import tempfile
from typing import IO, TYPE_CHECKING

from pipelines.memory.files import writing

if TYPE_CHECKING:
    from collections.abc import Iterator


def signal_name(number: int) -> str:
    """Return what a signal is called."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def last_line(error: bytes) -> str:
    """Return the last line of what git said on standard error."""
    return next(iter(reversed(error.decode(errors="replace").strip().splitlines())), "")


def as_bytes(value: bytes | str) -> bytes:
    """Return what GitPython took for text as the bytes that git wrote."""
    return value if isinstance(value, bytes) else os.fsencode(value)


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
