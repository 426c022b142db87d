"""The command line that an agent is told, and how it is known again in the agent's settings."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

NAME: Final = "memcurate"
CONTEXT: Final = ("context", "--format", "claude-code")
CAPTURE: Final = ("capture", "--hook")
MCP: Final = ("mcp",)
_MODULE: Final = ("-m", "pipelines.commands")


@dataclass(frozen=True, slots=True)
class Program:
    """How `curate` is called for one memory.

    Args:
        words: the program, by an absolute path: what starts an agent often has another PATH.
        root: the memory.
    """

    words: tuple[str, ...]
    root: Path

    def arguments(self, verb: Sequence[str]) -> list[str]:
        """Return the words of a call of a verb, without the program's first."""
        return [*self.words[1:], *verb, "--memory", str(self.root)]

    def line(self, verb: Sequence[str]) -> str:
        """Return a call of a verb as a shell reads it."""
        return shlex.join([self.words[0], *self.arguments(verb)])

    def renewed(self, line: str, verb: Sequence[str]) -> str:
        """Return a line that was found as it should be now: this program, this memory, and what a person added."""
        words = shlex.split(line)
        kept = words[words.index(verb[0]) + 1 :]
        at = kept.index("--memory") + 1
        wanted = [*self.words, verb[0], *kept[:at], str(self.root), *kept[at + 1 :]]
        return line if words == wanted else shlex.join(wanted)

    def for_people(self) -> str:
        """Return the program as a person types it: short where that means the same."""
        found = shutil.which("curate")
        same = found is not None and len(self.words) == 1 and Path(found).resolve() == Path(self.words[0]).resolve()
        return "curate" if same else shlex.join(self.words)


def this_program(root: Path) -> Program:
    """Return the program that runs now, for a memory."""
    called = Path(sys.argv[0]).absolute()
    beside = Path(sys.executable).with_name("curate")
    for candidate in (called, beside):
        if candidate.name == "curate" and os.access(candidate, os.X_OK):
            return Program((str(candidate),), root)
    return Program((sys.executable, *_MODULE), root)


def is_call(words: Sequence[str], verb: Sequence[str]) -> bool:
    """Whether some words are a call of a verb as `curate install` writes it, whatever its place and memory are."""
    if verb[0] not in words:
        return False
    at = list(words).index(verb[0])
    program, rest = words[:at], list(words[at + 1 :])
    curate = (len(program) == 1 and Path(program[0]).name == "curate") or tuple(program[-2:]) == _MODULE
    return curate and all(word in rest for word in verb[1:]) and "--memory" in rest[:-1]


def is_line(line: object, verb: Sequence[str]) -> bool:
    """Whether a value of somebody's settings is such a call, as a shell reads it."""
    if not isinstance(line, str):
        return False
    try:
        return is_call(shlex.split(line), verb)
    except ValueError:
        return False
