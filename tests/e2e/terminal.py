"""A program in a terminal of its own, driven as a person drives it: by what stands on the screen and by keys."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_CODES = re.compile(r"\x1b(?:\[[0-9;?<>=]*[A-Za-z]|[()][A-B0-9]|[=>]|\][^\x07\x1b]*(?:\x07|\x1b\\))|\s")
# What programs ask a terminal: where the cursor is, what it can do, which colours it has.
_ANSWERS = {
    b"\x1b[6n": b"\x1b[1;1R",
    b"\x1b[?u": b"\x1b[?0u",
    b"\x1b[c": b"\x1b[?62;22c",
    b"\x1b[>0q": b"\x1bP>|terminal(1)\x1b\\",
    b"\x1b]10;?": b"\x1b]10;rgb:ffff/ffff/ffff\x1b\\",
    b"\x1b]11;?": b"\x1b]11;rgb:0000/0000/0000\x1b\\",
}
_QUESTIONS = re.compile(b"|".join(map(re.escape, _ANSWERS)))
_PATIENCE = 60.0
_SIZE = 50, 120


class Terminal:
    """A running program and what it has written.

    Args:
        descriptor: the terminal's other end.
        pid: the program.
    """

    def __init__(self, descriptor: int, pid: int) -> None:
        self._descriptor, self.pid = descriptor, pid
        self._written = bytearray()
        self._seen = self._asked = 0

    def wait_for(self, words: str) -> None:
        """Wait until these words are written after those that were waited for last; blanks do not count."""
        wanted, until = _plain(words), time.monotonic() + _PATIENCE
        while (at := self._screen().find(wanted, self._seen)) < 0:
            assert time.monotonic() < until, f"{words!r} is not on the screen:\n{self._screen()[self._seen :]}"
            assert self._read(), f"the program ended without {words!r}:\n{self._screen()[self._seen :]}"
        self._seen = at + len(wanted)

    def press(self, keys: str) -> None:
        """Press keys."""
        os.write(self._descriptor, keys.encode())

    def settle(self) -> None:
        """Wait until nothing is written for half a second: some programs throw away what is typed before."""
        until, before = time.monotonic() + _PATIENCE, -1
        while len(self._written) > before:
            assert time.monotonic() < until, "the program does not come to rest"
            before = len(self._written)
            self._read()

    def enter(self, words: str) -> None:
        """Type words, wait until they stand there, and press Enter."""
        self.press(words)
        self.wait_for(words)
        self.press("\r")

    def wait_for_end(self) -> None:
        """Wait until the program has ended."""
        until = time.monotonic() + _PATIENCE
        while self._read():
            assert time.monotonic() < until, "the program does not end"

    def _screen(self) -> str:
        return _plain(self._written.decode(errors="replace"))

    def _read(self) -> bool:
        """Take what is written meanwhile; whether the program may still write."""
        if select.select([self._descriptor], [], [], 0.5)[0]:
            try:
                written = os.read(self._descriptor, 1 << 16)
            except OSError:  # what Linux says where the other end is closed
                return False
            self._written += written
            for found in _QUESTIONS.finditer(self._written, self._asked):
                os.write(self._descriptor, _ANSWERS[found[0]])
                self._asked = found.end()
            return bool(written)
        return True


@contextmanager
def terminal(command: list[str], cwd: Path) -> Iterator[Terminal]:
    """Start a program in a terminal, with the environment as it is; it is ended with the block."""
    pid, descriptor = pty.fork()
    if pid == 0:
        try:
            os.chdir(cwd)
            os.environ["TERM"] = "xterm-256color"
            os.execvp(command[0], command)  # noqa: S606  a shell would be one more program
        finally:
            os._exit(127)
    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", *_SIZE, 0, 0))
    try:
        yield Terminal(descriptor, pid)
    finally:
        os.kill(pid, signal.SIGKILL)  # one that has ended is not gone until it is waited for
        os.waitpid(pid, 0)
        os.close(descriptor)


def _plain(text: str) -> str:
    return _CODES.sub("", text)
