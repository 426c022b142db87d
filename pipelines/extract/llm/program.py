"""`exec:COMMAND`: a user's program as a model. It gets each request as JSON and prints the reply.

This works for any model, or a person. The command comes from the command line or the user's settings, never from a
memory, and no shell runs it.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import shlex
import signal
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

from pipelines.errors import ModelFailed
from pipelines.extract.llm.call import Call, ModelAnswer
from pipelines.provider_settings import PREFIX, SECONDS
from pipelines.usage import FailureKind

if TYPE_CHECKING:
    from collections.abc import Sequence


PROVIDER: Final = "exec"
_ANSWER_BYTES = 4_000_000
_running: set[int] = set()


@atexit.register
def end_programs() -> None:
    """Kill every running program: at the end of its time, a night leaves the thread that waits for one."""
    for process in tuple(_running):
        _kill(process)


def _kill(process: int) -> None:
    """Kill a program and everything it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process, signal.SIGKILL)


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
            ModelFailed: it could not be started, failed, or timed out.
        """
        asked = ("task", "prompt_id", "prompt_version", "system", "user", "schema", "input")
        request = json.dumps({name: getattr(call, name) for name in asked})
        output, status = run_program(PROVIDER, self._command, request, self._timeout_seconds)
        if status:
            raise ModelFailed(PROVIDER, ending(status))
        return ModelAnswer(output, self.name)


def run_program(
    provider: str,
    command: Sequence[str],
    request: str,
    seconds: float,
    **how: Any,  # noqa: ANN401  as in `Popen`
) -> tuple[str, int]:
    """Run a program; return its output and status. If it takes too long, kill it and everything it started.

    Both its ends are files: a program that never reads, and one that leaves a child behind, block nobody.

    Args:
        provider: the provider that a failure names.
        command: the program and its arguments; no shell is used.
        request: its standard input.
        seconds: the timeout.
        how: more arguments of `Popen` (`cwd`, `env`, `stderr`).

    Raises:
        ModelFailed: it could not be started, or timed out.
    """
    with tempfile.TemporaryFile() as asked, tempfile.TemporaryFile() as output:
        asked.write(request.encode())
        asked.seek(0)

        def start() -> subprocess.Popen[bytes]:
            process = subprocess.Popen(command, stdin=asked, stdout=output, start_new_session=True, **how)
            _running.add(process.pid)
            return process

        try:
            # A signal interrupts the main thread: there it could end the night before the program is known.
            with ThreadPoolExecutor(1) as starter:
                process = starter.submit(start).result()
        except (OSError, ValueError) as fault:
            why = f"could not start its program ({type(fault).__name__})"
            raise ModelFailed(provider, why, FailureKind.DOWN) from None
        try:
            status = process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise ModelFailed(provider, "gave no answer in time", FailureKind.TIMED_OUT) from None
        finally:
            if process.poll() is None:
                _kill(process.pid)
                process.wait()
            _running.discard(process.pid)
        output.seek(0)
        return output.read(_ANSWER_BYTES).decode(errors="replace"), status


def ending(status: int) -> str:
    """Return how a failed program ended, as the end of a sentence."""
    return f"ended with status {status}" if status > 0 else f"ended by signal {-status}"
