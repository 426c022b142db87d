"""Running git: one command at a time, hardened, its answer read as it comes."""

from __future__ import annotations

import contextlib
import os
import selectors
import shutil
import signal
import subprocess
import tempfile
import time
import weakref
from io import BytesIO
from typing import IO, TYPE_CHECKING, Any, BinaryIO, Final, cast

from pipelines.errors import GitFailed, GitFault, GitMissing, TooMuchFromGit
from pipelines.store.files import writing

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator
    from pathlib import Path
    from subprocess import Popen


_NOT_FOUND: Final = 127


class GitCommands:
    """Git in one folder, `root`: what it prints, and why it failed."""

    root: Path

    def run(self, *arguments: str, data: bytes = b"") -> bytes:
        """Run one git command and return what it printed.

        Raises:
            GitFault: it failed; the sentence holds git's own last line.
            TooMuchFromGit: it printed more than is held at once.
        """
        code, out, error = self._call(list(arguments), data=data)
        if code:
            raise GitFailed(arguments[0], code, error)
        return out

    def _ask(self, *arguments: str) -> str | None:
        code, out, _ = self._call(list(arguments))
        return os.fsdecode(out).rstrip("\n") if code == 0 else None

    def rows(self, *arguments: str) -> Iterator[bytes]:
        """Yield the lines that one git command prints, as they come: those of a whole history are too many to be held.

        Of a line that is longer than any with an item, the first part stands for it.

        Raises:
            GitFault: it failed, as in `run`; what came before that was yielded.
        """
        with contextlib.closing(self.pieces(*arguments)) as pieces:
            yield from lines_of(pieces, MOST_LINE)

    def pieces(self, *arguments: str) -> Generator[bytes]:
        """Yield what one git command prints, as it comes.

        Raises:
            GitFault: it failed, as in `run`; what came before that was yielded.
        """
        error = bytearray()
        process = self._started(list(arguments), None)
        with contextlib.closing(pieces_of(process, error)) as pieces:
            yield from pieces
        if code := _checked(arguments[0], process.returncode):
            raise GitFailed(arguments[0], code, bytes(error))

    def talk(self, *arguments: str) -> Dialogue:
        """Start a git that answers one question after another."""
        return Dialogue(arguments[0], self._started(list(arguments), subprocess.PIPE))

    def _call(self, arguments: list[str], *, data: bytes = b"") -> tuple[int, bytes, bytes]:
        """Run git and return its exit code, what it printed, and the end of what it said on standard error."""
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
        """Start git by GitPython, with settings that the repository cannot undo, and by no program in the memory.

        It stands behind `env -i`, the one way to give GitPython's children an environment that is an allow-list.

        Raises:
            GitFault: git does not even say its version.
        """
        os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")
        try:
            from git.cmd import Git as Command  # noqa: PLC0415  GitPython takes 90 ms to import
        except ImportError as fault:
            raise GitFault("git does not say its version.", "Run `git --version` to see what ails it.") from fault
        folders = [folder for folder in os.environ.get("PATH", os.defpath).split(os.pathsep) if folder.startswith("/")]
        own = os.path.realpath(self.root)
        outside = [folder for folder in folders if not f"{os.path.realpath(folder)}/".startswith(f"{own}/")]
        passed = {key: os.environ[key] for key in _PASSED_ON if key in os.environ}
        told = passed | _TOLD | {"PATH": os.pathsep.join(outside)}
        program = shutil.which("env", path=told["PATH"]) or "/usr/bin/env"
        settings = [part for setting in _HARDENED for part in ("-c", setting)]
        command = [program, "-i", *(f"{key}={value}" for key, value in told.items()), "git", *settings, *arguments]
        started: Any = Command(str(self.root)).execute(
            command, istream=cast("BinaryIO | None", stream), as_process=True
        )
        process: Popen[bytes] = started.proc
        started.proc = None  # GitPython would end it when we are interrupted; a git that writes may finish
        return process


class Dialogue:
    """A git that reads what it is told and answers, until it is ended.

    What it says on standard error is read all the while: once that pipe was full, it would wait for ever.
    `close` ends it, whatever it is at, and so does whatever lets go of it; doing so twice is the same as once.

    Args:
        command: the name of git's command.
        process: the program, with a pipe for its input and each output.
    """

    def __init__(self, command: str, process: Popen[bytes]) -> None:
        self._command, self._process = command, process
        self._answer, self._error = bytearray(), bytearray()
        self._ready = selectors.DefaultSelector()
        if process.stdin is None or process.stdout is None or process.stderr is None:
            raise AssertionError  # all were asked for
        self._input, self._output = process.stdin, process.stdout
        for pipe in (process.stdout, process.stderr):
            self._ready.register(pipe, selectors.EVENT_READ)
        self.close = weakref.finalize(self, _kill, process, self._ready)

    def tell(self, *pieces: bytes) -> None:
        """Give it bytes to read.

        Raises:
            GitFault: it has ended.
        """
        try:
            for piece in pieces:
                self._input.write(piece)
            self._input.flush()
        except BrokenPipeError:
            self.end()
            raise GitFailed(self._command, 0, bytes(self._error)) from None

    def line(self) -> bytes:
        """Return its next line, without the end.

        Raises:
            GitFault: it has ended, or says what is no answer.
        """
        while (end := self._answer.find(b"\n")) < 0:
            if len(self._answer) > _PIECE:
                self.close()
                raise TooMuchFromGit(self._command, _PIECE)
            self._read()
        return self.take(end + 1)[:-1]

    def take(self, size: int) -> bytes:
        """Return the next so many bytes of what it says.

        Raises:
            GitFault: it has ended.
        """
        while len(self._answer) < size:
            self._read()
        taken = bytes(self._answer[:size])
        del self._answer[:size]
        return taken

    def end(self) -> None:
        """Let it end, and wait for that.

        Raises:
            GitFault: it says that it failed.
        """
        with contextlib.suppress(BrokenPipeError):
            self._input.close()
        while self._ready.get_map():
            self._pass_on()
        self._process.wait()
        self.close()
        if code := _checked(self._command, self._process.returncode):
            raise GitFailed(self._command, code, bytes(self._error))

    def _read(self) -> None:
        if not self._pass_on():
            self.end()
            raise GitFailed(self._command, 0, bytes(self._error))

    def _pass_on(self) -> bool:
        """Take in what there is to read; False when all was said."""
        for key, _ in self._ready.select():
            piece = os.read(key.fd, _PIECE)
            if key.fileobj is self._output:
                self._answer += piece
            else:
                self._error += piece
                del self._error[:-_TAIL]
            if not piece:
                self._ready.unregister(key.fileobj)
        return any(key.fileobj is self._output for key in self._ready.get_map().values())


def _kill(process: Popen[bytes], ready: selectors.BaseSelector) -> None:
    """End a git: one that writes and only loses its input leaves a report of a crash in the person's repository."""
    process.kill()
    process.wait()
    ready.close()
    for pipe in filter(None, (process.stdin, process.stdout, process.stderr)):
        with contextlib.suppress(BrokenPipeError):
            pipe.close()


def _checked(command: str, code: int) -> int:
    """Return git's exit code where it is an answer."""
    if code == _NOT_FOUND:
        raise GitMissing
    if code < 0:
        raise GitFault(f"git {command} was ended by {signal_name(-code)}.", "Nothing is lost; run again.")
    return code


# ---------------------------------------- how git is called in a repository that may be somebody else's
# what it is told, and what it is not.


_PASSED_ON: Final = (
    "PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "XDG_CONFIG_HOME", "SSH_AUTH_SOCK",
    "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM",
)  # fmt: skip
_TOLD: Final = {
    "LC_ALL": "C.UTF-8",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "",  # a repository's settings cannot allow what the environment does not
}
_HARDENED: Final = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.autocrlf=false",
    "core.quotePath=false",
    "commit.gpgSign=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "core.fsync=all",  # must, or a branch may name a commit whose objects a power cut tore: git leaves those to chance
    "safe.bareRepository=explicit",
    "fastimport.unpackLimit=1",  # a commit stays one pack, whose bytes are flushed in one go
    "log.showSignature=false",  # would ask the program that the repository's settings name
    "submodule.recurse=false",
    "core.askPass=",
    "core.pager=cat",
    "protocol.allow=never",  # nothing here fetches, and a partial clone shall not make git do so
)


# ---------------------------------------- what is given to git
# and how its answers are read: in pieces as they come, and never more than can be held.


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
                left = None if end is None else end - time.monotonic()
                if left is not None and left <= 0:
                    raise subprocess.TimeoutExpired(process.args, 0)  # noqa: TRY301  git is waited for then, too
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
    except BaseException:  # whoever asked wants no more: with its outputs closed git has nobody left to tell, and ends
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_PATIENCE)
        raise
