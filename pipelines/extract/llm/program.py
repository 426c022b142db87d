"""`exec:COMMAND`: a user's program as a model. It gets each request as JSON and prints the reply.

This works for any model, or a person. The command comes from the command line or the user's settings, never from a
memory, and no shell runs it.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from pipelines.errors import ModelFailed
from pipelines.extract.llm.call import Call, ModelAnswer
from pipelines.extract.llm.provider import INPUT_TOKENS
from pipelines.usage import FailureKind

if TYPE_CHECKING:
    from collections.abc import Sequence


PROVIDER = "exec"
_ANSWER_BYTES = 4_000_000
_SECONDS = 600.0


class ProgramModel:
    """Runs a program for each call.

    Its name is the program's file name: folder and arguments may be secrets, so no item or report holds them. It
    reports no tokens, and its retries are up to the user.

    Args:
        command: the program and its arguments.
        seconds: the timeout of one run.
    """

    input_tokens = INPUT_TOKENS
    output_tokens = retries = 0

    def __init__(self, command: Sequence[str], seconds: float = _SECONDS) -> None:
        self.name = f"{PROVIDER}:{PurePath(command[0]).name}"
        self.source = "\0".join(command)
        self._command, self._seconds = command, seconds

    def ask(self, call: Call) -> ModelAnswer:
        """Run the program with the request on its standard input and return its output.

        Raises:
            ModelFailed: it could not be started, failed, or timed out.
        """
        output, status = run_program(PROVIDER, self._command, json.dumps(asdict(call)), self._seconds)
        if status:
            raise ModelFailed(PROVIDER, ending(status))
        return ModelAnswer(output)


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

        started: list[subprocess.Popen[bytes]] = []

        def start() -> None:
            started.append(subprocess.Popen(command, stdin=asked, stdout=output, start_new_session=True, **how))

        try:
            # A signal interrupts the main thread: there it could end the night before the program is known.
            with ThreadPoolExecutor(1) as starter:
                starter.submit(start).result()
            status = started[0].wait(seconds)
        except subprocess.TimeoutExpired:
            raise ModelFailed(provider, "gave no answer in time", FailureKind.TIMED_OUT) from None
        except (OSError, ValueError) as fault:
            why = f"could not start its program ({type(fault).__name__})"
            raise ModelFailed(provider, why, FailureKind.DOWN) from None
        finally:
            for process in started:
                if process.poll() is None:
                    with contextlib.suppress(ProcessLookupError, PermissionError):
                        os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
        output.seek(0)
        return output.read(_ANSWER_BYTES).decode(errors="replace"), status


def ending(status: int) -> str:
    """Return how a failed program ended, as the end of a sentence."""
    return f"ended with status {status}" if status > 0 else f"ended by signal {-status}"
