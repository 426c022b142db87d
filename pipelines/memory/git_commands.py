"""Running git: one command at a time, hardened, its answer read as it comes."""

from __future__ import annotations

import contextlib
import os
from typing import IO, TYPE_CHECKING, Any, BinaryIO, Final, cast

from pipelines.errors import GitFault, GitMissing, TooMuchFromGit
from pipelines.memory import git_answers
from pipelines.memory.git_answers import TooMuch, given, last_line, lines_of, signal_name, whole
from pipelines.memory.git_hardening import hardened

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path
    from subprocess import Popen

_NOT_FOUND: Final = 127


class GitCommands:
    """Git in one folder: what it prints, and why it failed.

    Args:
        root: the folder.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def run(self, *arguments: str, data: bytes = b"", env: Mapping[str, str] | None = None) -> bytes:
        """Run one git command and return what it printed.

        Raises:
            GitFault: it failed; the sentence holds git's own last line.
            TooMuchFromGit: it printed more than is held at once.
        """
        code, out, error = self._call(list(arguments), data=data, env=env)
        if code:
            raise GitFault(f"git {arguments[0]} failed: {last_line(error) or f'exit code {code}'}")
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
        error = bytearray()
        process = self._started(list(arguments), None, {})
        with contextlib.closing(git_answers.pieces_of(process, error)) as pieces:
            yield from lines_of(pieces, git_answers.MOST_LINE)
        if code := _checked(arguments[0], process.returncode):
            raise GitFault(f"git {arguments[0]} failed: {last_line(bytes(error)) or f'exit code {code}'}")

    def _call(
        self, arguments: list[str], *, data: bytes = b"", env: Mapping[str, str] | None = None
    ) -> tuple[int, bytes, bytes]:
        """Run git and return its exit code, what it printed, and the end of what it said on standard error."""
        error = bytearray()
        with given(data) as stream:
            process = self._started(arguments, stream, env or {})
            try:
                with contextlib.closing(git_answers.pieces_of(process, error)) as pieces:
                    out = whole(pieces, git_answers.MOST_BYTES)
            except TooMuch:
                raise TooMuchFromGit(arguments[0], git_answers.MOST_BYTES) from None
        return _checked(arguments[0], process.returncode), out, bytes(error)

    def _started(self, arguments: list[str], stream: IO[bytes] | None, env: Mapping[str, str]) -> Popen[bytes]:
        """Start git behind `env -i`, the one way to give GitPython's children an environment that is an allow-list."""
        command = hardened(self.root, env, arguments)
        started: Any = _git_python()(str(self.root)).execute(
            command, istream=cast("BinaryIO | None", stream), as_process=True
        )
        process: Popen[bytes] = started.proc
        started.proc = None  # GitPython would end it when we are interrupted; a git that writes may finish
        return process


def _checked(command: str, code: int) -> int:
    """Return git's exit code where it is an answer."""
    if code == _NOT_FOUND:
        raise GitMissing
    if code < 0:
        raise GitFault(f"git {command} was ended by {signal_name(-code)}.", "Nothing is lost; run again.")
    return code


def _git_python() -> type[Any]:
    """Import GitPython's command interface; it asks git for its version meanwhile.

    Raises:
        GitFault: git does not even say its version.
    """
    os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")
    try:
        from git.cmd import Git as Command  # noqa: PLC0415  GitPython takes 90 ms to import
    except ImportError as fault:
        raise GitFault("git does not say its version.", "Run `git --version` to see what ails it.") from fault
    return Command
