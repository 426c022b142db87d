"""`exec:COMMAND`: a user's program as a model. It gets each request as JSON and prints the reply.

This works for any model, or a person. The command comes from the command line or the user's settings, never from a
memory, and no shell runs it.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import selectors
import shlex
import signal
import subprocess
import tempfile
import threading
import time
from concurrent.futures import Future
from pathlib import PurePath
from typing import IO, TYPE_CHECKING, Any, Final

from pipelines.errors import ModelFailed
from pipelines.extract.llm.call import Call, ModelAnswer
from pipelines.provider_settings import PREFIX, SECONDS
from pipelines.usage import FailureKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


PROVIDER: Final = "exec"
_ANSWER_BYTES = 4_000_000
_LOOK_SECONDS = 0.05


_running: set[int] = set()


@atexit.register
def end_programs() -> None:
    """Kill every running program: an interrupted run leaves the threads that wait for them."""
    for process in tuple(_running):
        _kill(process)


def _kill(process: int) -> None:
    """Kill a program and everything it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process, signal.SIGKILL)


@contextlib.contextmanager
def _noted_till_the_end(process: int) -> Iterator[None]:
    try:
        yield
    finally:
        _running.discard(process)


class ProgramModel:
    """Runs a program for each call.

    Its name is the program's file name: folder and arguments may be secrets, so no item or report holds them. It
    reports no tokens, and its retries are up to the user.

    Args:
        command: the program and its arguments.
        timeout_seconds: the timeout of one run.
        input_tokens: the most log text in one call.
    """

    def __init__(self, command: tuple[str, ...], timeout_seconds: float = SECONDS, input_tokens: int = 24_000) -> None:
        self.name, self.source = f"{PROVIDER}:{PurePath(command[0]).name}", PREFIX + shlex.join(command)
        self.input_tokens, self.output_tokens, self.retries = input_tokens, 0, 0
        self._command, self._timeout_seconds = command, timeout_seconds

    def ask(self, call: Call) -> ModelAnswer:
        """Run the program with the request on its standard input and return its output.

        Raises:
            ModelFailed: it could not be started, failed, timed out, or printed nothing or too much.
        """
        # From a file, so that a program that never reads its input blocks nobody.
        with tempfile.TemporaryFile() as request:
            asked = ("task", "prompt_id", "prompt_version", "system", "user", "schema", "input")
            request.write(json.dumps({name: getattr(call, name) for name in asked}).encode())
            request.seek(0)
            output, status = run_program(PROVIDER, self._command, request, self._timeout_seconds)
        if status:
            raise ModelFailed(PROVIDER, ending(status), FailureKind.FAILED)
        return ModelAnswer(output, self.name)


def run_program(
    provider: str,
    command: Sequence[str],
    request: IO[bytes],
    seconds: float,
    **how: Any,  # noqa: ANN401  as in `Popen`
) -> tuple[str, int]:
    """Run a program; return its output and status. On failure, kill it and everything it started.

    Args:
        provider: the provider that a failure names.
        command: the program and its arguments; no shell is used.
        request: its standard input.
        seconds: the timeout.
        how: more arguments of `Popen` (`cwd`, `env`, `stderr`).

    Raises:
        ModelFailed: it could not be started, timed out, or printed too much.
    """
    end = time.monotonic() + seconds
    try:
        process = _started(command, request, how)
    except (OSError, ValueError, RuntimeError) as fault:  # the last if no thread is available
        why = f"could not start its program ({type(fault).__name__})"
        raise ModelFailed(provider, why, FailureKind.DOWN) from None
    with process, _noted_till_the_end(process.pid):
        try:
            output = _read(provider, process, end)
            return output.decode(errors="replace"), process.wait(max(0.0, end - time.monotonic()))
        except BaseException as fault:
            _kill(process.pid)
            if isinstance(fault, subprocess.TimeoutExpired):
                raise ModelFailed(provider, "gave no answer in time", FailureKind.TIMED_OUT) from None
            raise


def ending(status: int) -> str:
    """Return how a failed program ended, as the end of a sentence."""
    return f"ended with status {status}" if status > 0 else f"ended by signal {-status}"


def _started(command: Sequence[str], request: IO[bytes], how: Mapping[str, Any]) -> subprocess.Popen[bytes]:
    """Start a program in another thread, so that a signal cannot interrupt the start and lose the process.

    That thread also records the process, so that it is killed at our exit at the latest.
    """
    starting: Future[subprocess.Popen[bytes]] = Future()

    def start() -> None:
        if not starting.set_running_or_notify_cancel():
            return
        try:
            process = subprocess.Popen(command, stdin=request, stdout=subprocess.PIPE, start_new_session=True, **how)
        except BaseException as fault:  # noqa: BLE001  it is raised in the caller's thread
            starting.set_exception(fault)
        else:
            _running.add(process.pid)
            starting.set_result(process)

    try:
        threading.Thread(target=start, name="starting").start()
        return starting.result()
    except (KeyboardInterrupt, SystemExit):
        if not starting.cancel() and not starting.exception():
            with starting.result() as process, _noted_till_the_end(process.pid):
                _kill(process.pid)
        raise


def _read(provider: str, process: subprocess.Popen[bytes], end: float) -> bytes:
    """Return the program's output until it closes it or exits."""
    pipe = process.stdout
    if pipe is None:
        raise AssertionError  # it was asked for
    output = bytearray()
    with selectors.DefaultSelector() as ready:
        ready.register(pipe, selectors.EVENT_READ)
        while time.monotonic() < end:
            gone = process.poll() is not None  # polled first: its output is in the pipe by then
            if ready.select(0 if gone else min(_LOOK_SECONDS, max(0.0, end - time.monotonic()))):
                part = os.read(pipe.fileno(), 65_536)
                if not part:
                    return bytes(output)
                output += part
                if len(output) > _ANSWER_BYTES:
                    raise ModelFailed(provider, "printed too much", FailureKind.GARBLED)
            elif gone:
                return bytes(output)  # a child of it keeps the pipe open
    raise subprocess.TimeoutExpired(process.args, 0)
