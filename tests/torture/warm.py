"""Processes that have everything imported: one is forked for each run, so that a point costs half of what it would.

`python -m tests.torture.warm` reads a request a line and answers with a line. A forked run has its own process id,
files and environment as a started one has; it stops itself before it begins, for strace to take hold of it.
"""

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pipelines

_SET_PTRACER = 0x59616D61
_ANYBODY = ctypes.c_ulong(-1)


@dataclass
class Warm:
    """The process that forks; started when first needed."""

    process: subprocess.Popen[str] | None = None

    def start(self, words: list[str], output: Path, path: str) -> int:
        """Fork a run of `curate WORDS`, stopped before its first step, and return its process id."""
        return int(self._ask({"words": words, "output": str(output), "path": path}))

    def wait(self, pid: int) -> int:
        """Return the exit code of a run, negative for a signal."""
        return int(self._ask({"wait": pid}))

    def close(self) -> None:
        """End the process; the next run starts another."""
        if self.process:
            self.process.communicate()
            self.process = None

    def _ask(self, request: dict[str, Any]) -> str:
        if self.process is None:
            told = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
            told["PYTHONPATH"] = os.pathsep.join([*_folders(), told.get("PYTHONPATH", "")])
            command = [sys.executable, "-m", "tests.torture.warm"]
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=told)
        written, read = _pipes(self.process)
        written.write(json.dumps(request) + "\n")
        written.flush()
        return read.readline()


def _folders() -> list[str]:
    return [str(Path(pipelines.__file__).parents[1]), str(Path(__file__).parents[2])]


def _pipes(process: subprocess.Popen[str]) -> tuple[IO[str], IO[str]]:
    assert process.stdin is not None
    assert process.stdout is not None
    return process.stdin, process.stdout


def _fork(words: list[str], output: str, path: str) -> int:
    pid = os.fork()
    if pid:
        os.waitpid(pid, os.WUNTRACED)
        return pid
    file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(file, 1)
    os.dup2(file, 2)
    if path:
        os.environ["PATH"] = f"{path}{os.pathsep}{os.environ['PATH']}"
    # Where only a process's ancestors may trace it, it has to say that strace may.
    ctypes.CDLL(None).prctl(_SET_PTRACER, _ANYBODY, 0, 0, 0)
    os.kill(os.getpid(), signal.SIGSTOP)
    from pipelines.cli import run_cli

    code = run_cli(words)
    with contextlib.suppress(OSError):
        sys.stdout.flush()
    os._exit(code)


def _serve() -> None:
    """Answer requests until there are no more."""
    _import_everything()
    for line in sys.stdin:
        request = json.loads(line)
        if "wait" in request:
            answer = os.waitstatus_to_exitcode(os.waitpid(request["wait"], 0)[1])
        else:
            answer = _fork(request["words"], request["output"], request["path"])
        sys.stdout.write(f"{answer}\n")
        sys.stdout.flush()


def _import_everything() -> None:
    """Import what a run imports, by doing one in a folder of its own."""
    import io
    import tempfile

    from pipelines.cli import run_cli

    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        for words in (["init", folder], ["log", "Fact: one", "--memory", folder], ["run", "--memory", folder]):
            assert run_cli(words) == 0


if __name__ == "__main__":
    _serve()
