"""Telling agents, and what starts runs at night, of a memory: one module a target.

Each has a plan: from what was asked for to the edits that make the files as they should be, and what else a person
should know. It is data, so that it can be shown without being done: it reads and writes nothing; `edit_files` writes.
To add a target, add its plan to `PLANS` and a line here.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


TARGETS: Final = {
    "claude-code": "Claude Code: startup context, capture of sessions, MCP tools.",
    "codex": "Codex CLI: the same.",
    "openclaw": "OpenClaw: MCP tools, and a block in its workspace's AGENTS.md.",
    "agents": "Any agent that reads AGENTS.md: a block that tells it how to use the memory.",
    "cron": "Every night, by a line of your crontab.",
    "systemd": "Every night, by a timer of yours under systemd, which makes up for missed ones.",
    "launchd": "Every night, by launchd on a Mac.",
}
"""The targets, with what a person is told of each."""

NIGHTLY: Final = ("cron", "systemd", "launchd")
"""The targets that start a run every night."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a person asked for.

    Args:
        program: how `curate` is called for the memory.
        home: the person's home folder.
        folder: the project whose settings to change, or None for the person's own.
        agents_md: the AGENTS.md to change, or None for the usual one.
        time: when the nights begin, `HH:MM`; empty for what was installed before, else 02:00.
        zone: the memory's time zone where it is not the machine's, else empty.
        recall: whether each prompt is answered with what bears on it.
    """

    program: Program
    home: Path
    folder: Path | None = None
    agents_md: Path | None = None
    time: str = ""
    zone: str = ""
    recall: bool = False


@dataclass(frozen=True, slots=True)
class Edit:
    """One file that is to change.

    Args:
        path: the file, as the agent finds it; it may be a symbolic link.
        change: from its text (empty where there is none) to the text it should have; an empty one removes the file.
        empty: what stands in a file that holds nothing, where it cannot be removed because it is linked to.
    """

    path: Path
    change: Callable[[str], str]
    empty: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a target does.

    Args:
        edits: the files, in order.
        notes: sentences for the person, as what is left to do by hand.
        crontab: from the person's crontab to the one they should have, or None for a target that has no part in it.
        before: commands that make the edits safe, run first.
        after: commands that make the edits count, run last.
    """

    edits: tuple[Edit, ...]
    notes: tuple[str, ...] = ()
    crontab: Callable[[str], str] | None = None
    before: tuple[tuple[str, ...], ...] = ()
    after: tuple[tuple[str, ...], ...] = ()


# The command line that an agent is told, and how it is known again in the agent's settings.


NAME: Final = "memcurate"
CONTEXT: Final = ("context", "--format", "claude-code")
RECALL: Final = ("recall", "--hook")
CAPTURE: Final = ("capture", "--hook")
MCP: Final = ("mcp",)
_MODULE: Final = ("-m", "pipelines.cli")
_EARLIER: Final = ("-m", "pipelines.commands")
"""What `curate install` wrote before the module was renamed; installing again renews it."""


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
    curate = (len(program) == 1 and Path(program[0]).name == "curate") or tuple(program[-2:]) in {_MODULE, _EARLIER}
    return curate and all(word in rest for word in verb[1:]) and "--memory" in rest[:-1]


def is_line(line: object, verb: Sequence[str]) -> bool:
    """Whether a value of somebody's settings is such a call, as a shell reads it."""
    if not isinstance(line, str):
        return False
    try:
        return is_call(shlex.split(line), verb)
    except ValueError:
        return False
