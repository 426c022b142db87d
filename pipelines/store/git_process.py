"""Run git commands, hardened, and read their output as it arrives."""

from __future__ import annotations

import contextlib
import os
import selectors
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import weakref
from collections import deque
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO, Final, cast

from pipelines.errors import GitFailed, GitFault, GitMissing, TooMuchFromGit
from pipelines.store.files import writing

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator
    from subprocess import Popen


_NOT_FOUND = 127


MOST_CLASHES: Final = 127
"""`git merge-file` exits with how many clashes there are, up to this many; beyond, it failed."""


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

    def merged(self, base: str, ours: str, now: str) -> str:
        """Return a text with a person's changes and those on disk; where they clash, both stand between marks.

        Args:
            base: the text that the person saw.
            ours: their text.
            now: the text on disk.
        """
        names = ("your text", "as you saw it", "on disk")
        with tempfile.TemporaryDirectory() as folder:
            files = [Path(folder, name) for name in ("ours", "base", "now")]
            for file, text in zip(files, (ours, base, now), strict=True):
                file.write_bytes(text.encode())
            labels = (part for name in names for part in ("-L", name))
            code, out, error = self._call(["merge-file", "-p", *labels, *map(str, files)])
        if code > MOST_CLASHES or (code and not out):
            raise GitFailed("merge-file", reason_in(error, code))
        return out.decode()

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
        error = bytearray()
        process = self._started(list(arguments), None)
        with contextlib.closing(pieces_of(process, error)) as pieces:
            yield from pieces
        if code := _checked(arguments[0], process.returncode):
            raise GitFailed(arguments[0], reason_in(error, code))

    def talk(self, *arguments: str) -> Dialogue:
        """Start a git command that answers requests."""
        return Dialogue(arguments[0], self._started(list(arguments), subprocess.PIPE))

    def _call(self, arguments: list[str], *, data: bytes = b"") -> tuple[int, bytes, bytes]:
        """Run git and return its exit code, its output, and the end of its standard error."""
        error, stream = bytearray(), None
        with contextlib.ExitStack() as held:
            if data:
                with writing(tempfile.gettempdir()):
                    stream = held.enter_context(tempfile.TemporaryFile())
                    stream.write(data)
                    stream.seek(0)
            process = self._started(arguments, stream)
            try:
                with contextlib.closing(pieces_of(process, error)) as pieces:
                    out = whole(pieces, MOST_BYTES)
            except TooMuch:
                raise TooMuchFromGit(arguments[0], MOST_BYTES) from None
        return _checked(arguments[0], process.returncode), out, bytes(error)

    def _started(self, arguments: list[str], stream: IO[bytes] | int | None) -> Popen[bytes]:
        """Start git through GitPython, with settings that the repository cannot override, and not from the memory.

        `env -i` is the only way to give GitPython's children a minimal environment.

        Raises:
            GitFault: `git --version` fails.
        """
        os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")
        try:
            from git.cmd import Git as Command  # noqa: PLC0415  GitPython takes 90 ms to import
        except ImportError as fault:
            raise GitFault("`git --version` failed.", "Run it to see what is wrong with git.") from fault
        folders = [folder for folder in os.environ.get("PATH", os.defpath).split(os.pathsep) if folder.startswith("/")]
        own = os.path.realpath(self.root)
        outside = [folder for folder in folders if not f"{os.path.realpath(folder)}/".startswith(f"{own}/")]
        passed = {key: os.environ[key] for key in _PASSED_ON if key in os.environ}
        environment = passed | _FIXED | {"PATH": os.pathsep.join(outside)}
        program = shutil.which("env", path=environment["PATH"]) or "/usr/bin/env"
        settings = [part for setting in _HARDENED for part in ("-c", setting)]
        command = [
            program,
            "-i",
            *(f"{key}={value}" for key, value in environment.items()),
            "git",
            *settings,
            *arguments,
        ]
        started: Any = Command(str(self.root)).execute(
            command, istream=cast("BinaryIO | None", stream), as_process=True
        )
        process: Popen[bytes] = started.proc
        started.proc = None  # or GitPython would kill it when we are interrupted; a git that writes may finish
        return process


class Dialogue:
    """A running git that answers requests.

    Its standard error is read by a thread: git would block on a full pipe. `close` kills git; it is idempotent and also
    runs when the object is collected.

    Args:
        command: the git command.
        process: the process, with a pipe for its input and each output.
    """

    def __init__(self, command: str, process: Popen[bytes]) -> None:
        self._command, self._process = command, process
        if process.stdin is None or process.stdout is None or process.stderr is None:
            raise AssertionError  # the caller asked for all three
        self._input, self._output = process.stdin, process.stdout
        self._errors: deque[bytes] = deque(maxlen=_LAST)
        self._listener = threading.Thread(target=_listen, args=(process.stderr, self._errors), daemon=True)
        self._listener.start()
        self.close = weakref.finalize(self, _kill, process)

    def tell(self, *pieces: bytes) -> None:
        """Write to its input.

        Raises:
            GitFault: it has ended.
        """
        try:
            for piece in pieces:
                self._input.write(piece)
            self._input.flush()
        except BrokenPipeError:
            raise self._failure() from None

    def line(self) -> bytes:
        """Return its next output line, without the line end.

        Raises:
            GitFault: it has ended, or the line is too long for an answer.
        """
        line = self._output.readline(_PIECE)
        if len(line) == _PIECE:
            self.close()
            raise TooMuchFromGit(self._command, _PIECE)
        if not line.endswith(b"\n"):
            raise self._failure()
        return line[:-1]

    def take(self, size: int) -> bytes:
        """Return the next `size` bytes of its output.

        Raises:
            GitFault: it has ended.
        """
        taken = self._output.read(size)
        if len(taken) < size:
            raise self._failure()
        return taken

    def end(self) -> None:
        """Close its input, and wait for it to end.

        Raises:
            GitFault: it failed.
        """
        with contextlib.suppress(BrokenPipeError):
            self._input.close()
        self._output.read()
        self._listener.join()
        self._process.wait()
        self.close()
        if code := _checked(self._command, self._process.returncode):
            raise GitFailed(self._command, reason_in(b"".join(self._errors), code))

    def _failure(self) -> GitFailed:
        """Return what to raise when it has ended too early."""
        self.end()
        return GitFailed(self._command, reason_in(b"".join(self._errors)))


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


def _checked(command: str, code: int) -> int:
    """Return git's exit code if git could be started and was not killed."""
    if code == _NOT_FOUND:
        raise GitMissing
    if code < 0:
        raise GitFault(f"git {command} was ended by {signal_name(-code)}.", "Nothing is lost; run again.")
    return code


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


# ---------------------------------------- reading output
# In pieces as they arrive, within limits.


MOST_BYTES: Final = 512 * 1024 * 1024
"""The limit of an answer that is held whole: the logs of ten years, at 140 KB a day."""
MOST_LINE: Final = 1024 * 1024
"""No line with an item is longer; of a longer line, only this much is read."""
_PIECE = 65_536
_TAIL = 8192
_LAST = 16
"""How many pieces of a standard error are kept, to quote git's reason."""
_PATIENCE = 0.25
"""Seconds to wait for git when we are interrupted: in a terminal, git gets the same signal."""


class TooMuch(Exception):
    """Raised when a program prints more than the limit; the caller turns it into a message."""


def signal_name(number: int) -> str:
    """Return the name of a signal."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def reason_in(error: bytes | bytearray, code: int = 0) -> str:
    """Return git's reason, from its standard error: what was fatal, else its last line or its exit code."""
    lines = error.decode(errors="replace").strip().splitlines() or [f"exit code {code}"]
    return next((line for line in lines if line.startswith("fatal: ")), lines[-1].strip())


def whole(pieces: Iterable[bytes], most: int) -> bytes:
    """Return the joined pieces.

    Raises:
        TooMuch: they exceed `most` bytes; no more pieces are read.
    """
    collected = BytesIO()
    for piece in pieces:
        if collected.tell() + len(piece) > most:
            raise TooMuch
        collected.write(piece)
    return collected.getvalue()


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


def pieces_of(process: subprocess.Popen[bytes], error: bytearray, seconds: float | None = None) -> Generator[bytes]:
    """Yield a program's output as it arrives, until it ends. Both output pipes are closed in any case.

    Args:
        process: the program, with a pipe for each output.
        error: receives the end of its standard error.
        seconds: its time limit; None for none.

    Raises:
        subprocess.TimeoutExpired: it took longer.
    """
    end = None if seconds is None else time.monotonic() + seconds
    out, errors = process.stdout, process.stderr
    if out is None or errors is None:
        raise AssertionError  # the caller asked for both
    try:
        with out, errors, selectors.DefaultSelector() as ready:
            ready.register(out, selectors.EVENT_READ)
            ready.register(errors, selectors.EVENT_READ)
            while ready.get_map():
                left = None if end is None else end - time.monotonic()
                if left is not None and left <= 0:
                    raise subprocess.TimeoutExpired(process.args, 0)  # noqa: TRY301  wait for git then, too
                for key, _ in ready.select(left):
                    piece = os.read(key.fd, _PIECE)
                    if not piece:
                        ready.unregister(key.fileobj)
                    elif key.fileobj is out:
                        yield piece
                    else:
                        error += piece
                        del error[:-_TAIL]
        process.wait(None if end is None else max(0.0, end - time.monotonic()))
    except BaseException:  # the caller stopped reading: git ends once it writes to a closed pipe
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_PATIENCE)
        raise
