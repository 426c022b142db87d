"""Run git commands, hardened, and read their output as it arrives."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import tempfile
import threading
import weakref
from collections import deque
from functools import cache, partial
from io import BytesIO
from subprocess import PIPE
from typing import IO, TYPE_CHECKING, Any, Final, cast

from pipelines.errors import GitFailed, GitFault, GitMissing, TooMuchFromGit
from pipelines.store.files import writing

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator
    from pathlib import Path
    from subprocess import Popen


MOST_BYTES: Final = 512 * 1024 * 1024
"""The limit of an answer that is held whole: the logs of ten years, at 140 KB a day."""
MOST_LINE: Final = 1024 * 1024
"""No line with an item is longer; of a longer line, only this much is read."""
_NOT_FOUND = 127
_PIECE = 65_536
_TAIL = 8192
_LAST = 16
"""How many pieces of a standard error are kept, to quote git's reason."""


class GitCommands:
    """Git commands in one folder, `root`."""

    root: Path

    def run(self, *arguments: str, data: bytes = b"") -> bytes:
        """Run a git command and return its output.

        Raises:
            GitFault: it failed; the message contains git's own reason.
            TooMuchFromGit: the output is too large to hold.
        """
        code, out, error = self._call(list(arguments), data=data)
        if code:
            raise GitFailed(arguments[0], reason_in(error, code))
        return out

    def _ask(self, *arguments: str) -> str | None:
        code, out, _ = self._call(list(arguments))
        return os.fsdecode(out).rstrip("\n") if code == 0 else None

    def rows(self, *arguments: str) -> Iterator[bytes]:
        """Yield the output lines of a git command as they arrive: a whole history is too large to hold.

        Lines longer than any item's are cut.

        Raises:
            GitFault: it failed, as in `run`; earlier lines were yielded.
        """
        with contextlib.closing(self.pieces(*arguments)) as pieces:
            yield from lines_of(pieces, MOST_LINE)

    def pieces(self, *arguments: str) -> Generator[bytes]:
        """Yield the output of a git command as it arrives.

        Raises:
            GitFault: it failed, as in `run`; earlier output was yielded.
        """
        process = self.start(*arguments)
        try:
            yield from process.pieces()
            process.end()
        finally:
            process.kill()

    def _call(self, arguments: list[str], *, data: bytes = b"") -> tuple[int, bytes, bytes]:
        """Run git and return its exit code, its output, and the end of its standard error."""
        with contextlib.ExitStack() as held:
            stream: IO[bytes] | int | None = None
            if data:
                with writing(tempfile.gettempdir()):
                    stream = held.enter_context(tempfile.TemporaryFile())
                    stream.write(data)
                    stream.seek(0)
            # Not killed when we are interrupted: a git that writes may finish.
            process, out = Process(arguments[0], self._started(arguments, stream)), BytesIO()
            for piece in process.pieces():
                if out.tell() + len(piece) > MOST_BYTES:
                    process.kill()
                    raise TooMuchFromGit(arguments[0], MOST_BYTES)
                out.write(piece)
            return process.wait(), out.getvalue(), process.error

    def start(self, *arguments: str) -> Process:
        """Start a git command that answers requests, and is killed when nobody holds it any more."""
        process = Process(arguments[0], started := self._started(list(arguments), PIPE))
        weakref.finalize(process, _kill, started)
        return process

    def _started(self, arguments: list[str], stream: IO[bytes] | int | None) -> Popen[bytes]:
        """Start git through GitPython, with settings that the repository cannot override, and not from the memory.

        `env -i` is the only way to give GitPython's children a minimal environment.
        """
        folders = [folder for folder in os.environ.get("PATH", os.defpath).split(os.pathsep) if folder.startswith("/")]
        own = os.path.realpath(self.root)
        outside = [folder for folder in folders if not f"{os.path.realpath(folder)}/".startswith(f"{own}/")]
        passed = {key: os.environ[key] for key in _PASSED_ON if key in os.environ}
        environment = passed | _FIXED | {"PATH": os.pathsep.join(outside)}
        program = shutil.which("env", path=environment["PATH"]) or "/usr/bin/env"
        settings = [part for setting in _HARDENED for part in ("-c", setting)]
        told = (f"{key}={value}" for key, value in environment.items())
        command = [program, "-i", *told, "git", *settings, *arguments]
        started = _gitpython()(str(self.root)).execute(command, istream=stream, as_process=True)
        process: Popen[bytes] = started.proc
        started.proc = None  # or GitPython would kill it when we are interrupted; a git that writes may finish
        return process


class Process:
    """A running git. Its standard error is read by a thread: git would block on a full pipe.

    Args:
        command: the git command.
        process: the process, with a pipe for each output, and for its input if it is asked something.
    """

    def __init__(self, command: str, process: Popen[bytes]) -> None:
        self._command, self._process = command, process
        self._input, self._output = cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout)
        self._errors: deque[bytes] = deque(maxlen=_LAST)
        self._listener = threading.Thread(target=_listen, args=(process.stderr, self._errors), daemon=True)
        self._listener.start()

    def write(self, *pieces: bytes) -> None:
        """Write to its input.

        Raises:
            GitFault: it has ended.
        """
        try:
            for piece in pieces:
                self._input.write(piece)
            self._input.flush()
        except BrokenPipeError:
            raise self._failure(self.wait()) from None

    def readline(self) -> bytes:
        """Return its next output line, without the line end.

        Raises:
            GitFault: it has ended, or the line is too long for an answer.
        """
        line = self._output.readline(_PIECE)
        if len(line) == _PIECE:
            self.kill()
            raise TooMuchFromGit(self._command, _PIECE)
        if not line.endswith(b"\n"):
            raise self._failure(self.wait())
        return line[:-1]

    def read(self, size: int) -> bytes:
        """Return the next `size` bytes of its output.

        Raises:
            GitFault: it has ended.
        """
        taken = self._output.read(size)
        if len(taken) < size:
            raise self._failure(self.wait())
        return taken

    def pieces(self) -> Iterator[bytes]:
        """Yield its output as it arrives, until it ends."""
        return iter(partial(os.read, self._output.fileno(), _PIECE), b"")

    def end(self) -> None:
        """Close its input, and wait for it to end.

        Raises:
            GitFault: it failed.
        """
        if code := self.wait():
            raise self._failure(code)

    def wait(self) -> int:
        """Close its input, drop the rest of its output, and return its exit code.

        Raises:
            GitFault: it could not be started, or was killed.
        """
        if self._process.stdin:
            with contextlib.suppress(BrokenPipeError):
                self._input.close()
        if not self._output.closed:
            self._output.read()
            self._output.close()
        self._listener.join()
        code = self._process.wait()
        if code == _NOT_FOUND:
            raise GitMissing
        if code < 0:
            raise GitFault(f"git {self._command} was ended by {signal_name(-code)}.", "Nothing is lost; run again.")
        return code

    @property
    def error(self) -> bytes:
        """The end of its standard error, once it has ended."""
        return b"".join(self._errors)[-_TAIL:]

    def _failure(self, code: int) -> GitFailed:
        return GitFailed(self._command, reason_in(self.error, code))

    def kill(self) -> None:
        """End it; nothing happens if it has ended."""
        _kill(self._process)


def _listen(pipe: IO[bytes], errors: deque[bytes]) -> None:
    with pipe:
        errors.extend(iter(partial(os.read, pipe.fileno(), _TAIL), b""))


def _kill(process: Popen[bytes]) -> None:
    """Kill a git: an import that merely lost its input would leave a crash report in the person's repository."""
    process.kill()
    process.wait()
    for pipe in filter(None, (process.stdin, process.stdout)):
        with contextlib.suppress(BrokenPipeError):
            pipe.close()


_UNASKED = {"GIT_PYTHON_REFRESH": "quiet", "GIT_PYTHON_GIT_EXECUTABLE": "/nowhere/git"}


@cache
def _gitpython() -> Any:  # noqa: ANN401  its types are not worth the import
    """Import GitPython, which takes 90 ms, without its asking a git for its version: the first command says as much."""
    kept = {key: os.environ.get(key) for key in _UNASKED}
    os.environ.update(_UNASKED)
    from git.cmd import Git  # noqa: PLC0415  as above

    for key, value in kept.items():
        del os.environ[key]
        if value is not None:
            os.environ[key] = value
    return Git


def signal_name(number: int) -> str:
    """Return the name of a signal."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def reason_in(error: bytes, code: int = 0) -> str:
    """Return git's reason, from its standard error: what was fatal, else its last line or its exit code."""
    lines = error.decode(errors="replace").strip().splitlines() or [f"exit code {code}"]
    return next((line for line in lines if line.startswith("fatal: ")), lines[-1].strip())


def lines_of(pieces: Iterable[bytes], most: int) -> Iterator[bytes]:
    """Yield the lines of pieces, without their ends, each cut to `most` bytes."""
    line_start = b""
    for piece in pieces:
        first, *others = piece.split(b"\n")
        line_start += first[: most - len(line_start)]
        for line in others:
            yield line_start
            line_start = line[:most]
    if line_start:
        yield line_start


# ---------------------------------------- hardening
# The repository may be somebody else's: the environment and settings with which git runs.


_PASSED_ON = (
    "PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "XDG_CONFIG_HOME", "SSH_AUTH_SOCK",
    "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM",
)  # fmt: skip
_FIXED = {
    "LC_ALL": "C.UTF-8",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "",  # overrides the repository's settings
}
_HARDENED = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.autocrlf=false",
    "core.quotePath=false",
    "commit.gpgSign=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "core.fsync=all",  # git's default lets a power cut tear the objects of a commit that a branch already names
    "safe.bareRepository=explicit",
    "fastimport.unpackLimit=1",  # keep a commit as one pack, flushed at once
    "pack.compression=1",  # a night stores whole pages, which a later repack stores as differences
    "log.showSignature=false",  # would run a program named in the repository's settings
    "submodule.recurse=false",
    "core.askPass=",
    "core.pager=cat",
    "protocol.allow=never",  # nothing here fetches, and a partial clone must not either
)
