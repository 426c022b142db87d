"""What `curate install` needs to plan an installation: the targets, what a person asked for, and the plan itself.

A plan is data: the edits that put files right, and notes for the person. Making one writes nothing, so it can be shown
without being carried out; `settings_files` writes. The plans themselves are in `targets` and `timers`.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    TextChange = Callable[[str], str]


TARGETS = {
    "claude-code": "Claude Code: context at the start, capture at the end, MCP tools.",
    "codex": "Codex CLI: the same.",
    "cursor": "Cursor: context at the start, MCP tools.",
    "gemini": "Gemini CLI: the same.",
    "vscode": "VS Code: MCP tools.",
    "claude-desktop": "Claude Desktop: MCP tools.",
    "openclaw": "OpenClaw: MCP tools, and a block in its workspace's AGENTS.md.",
    "agents": "Any agent that reads AGENTS.md: a block on how to use the memory.",
    "cron": "Every night, by a line in your crontab.",
    "systemd": "Every night, by a systemd user timer, which makes up for missed nights.",
    "launchd": "Every night, by launchd on a Mac.",
}
"""The targets, each with a line of help."""

NIGHTLY = ("cron", "systemd", "launchd")
"""The targets that start a run every night."""


class InstallRequest(NamedTuple):
    """What a person asked for.

    Args:
        program: how to call `curate` for the memory.
        home: the person's home folder.
        agents_md: the AGENTS.md to change, or None for the usual one.
        time: when nights begin, `HH:MM`; empty to keep the time that is installed, else 02:00.
        zone: the memory's time zone if it is not the machine's, else empty.
    """

    program: Program
    home: Path
    agents_md: Path | None = None
    time: str = ""
    zone: str = ""


class Edit(NamedTuple):
    """A change to one file.

    Args:
        path: the file as the agent finds it; it may be a symbolic link.
        change: takes the file's text (empty if there is none) and returns the new one; an empty one removes the file.
    """

    path: Path
    change: TextChange


class InstallPlan(NamedTuple):
    """What a target does.

    Args:
        edits: the files to change, in order.
        notes: sentences for the person, such as what is left to do by hand.
        crontab: takes the person's crontab and returns the new one; None if the target does not touch it.
        needs: a command that must succeed before anything is changed; none if empty.
        before: commands that make the edits safe, run first.
        after: commands that put the edits into effect, run last.
    """

    edits: Sequence[Edit]
    notes: Sequence[str] = ()
    crontab: TextChange | None = None
    needs: Sequence[str] = ()
    before: Sequence[Sequence[str]] = ()
    after: Sequence[Sequence[str]] = ()


# The commands that agents run, and how they are recognised in an agent's settings.


NAME = "memcurate"
PLUGIN = "memcurate"
"""The name of the Claude Code plugin in deploy/claude-code."""
CONTEXT = ("context", "--format", "claude-code")
CURSOR_CONTEXT = ("context", "--format", "cursor")
CAPTURE = ("capture", "--hook")
MCP = ("mcp",)
_MODULE = ("-m", "pipelines.cli")


class Program(NamedTuple):
    """How to call `curate` for one memory.

    Args:
        words: the program, by an absolute path: whatever starts an agent often has another PATH.
        root: the memory.
    """

    words: tuple[str, ...]
    root: Path

    def arguments(self, verb: Sequence[str]) -> list[str]:
        """Return the arguments of a call, without the program itself."""
        return [*self.words[1:], *verb, "--memory", str(self.root)]

    def line(self, verb: Sequence[str]) -> str:
        """Return a call as a shell reads it."""
        return shlex.join([self.words[0], *self.arguments(verb)])

    def renewed(self, line: str, verb: Sequence[str]) -> str:
        """Return an existing line brought up to date: this program and memory, plus the options that a person added."""
        words = shlex.split(line)
        kept = words[words.index(verb[0]) + 1 :]
        at = kept.index("--memory") + 1
        wanted = [*self.words, verb[0], *kept[:at], str(self.root), *kept[at + 1 :]]
        return line if words == wanted else shlex.join(wanted)

    def for_people(self) -> str:
        """Return the program as a person types it: just `curate` if that is the same program."""
        found = shutil.which("curate")
        same = found is not None and len(self.words) == 1 and Path(found).resolve() == Path(self.words[0]).resolve()
        return "curate" if same else shlex.join(self.words)


def this_program(root: Path) -> Program:
    """Return the program that is running, for a memory."""
    called = Path(sys.argv[0]).absolute()
    beside = Path(sys.executable).with_name("curate")
    for candidate in (called, beside):
        if candidate.name == "curate" and os.access(candidate, os.X_OK):
            return Program((str(candidate),), root)
    return Program((sys.executable, *_MODULE), root)


def is_call(words: Sequence[str], verb: Sequence[str]) -> bool:
    """Whether some words are a call that `curate install` wrote, whatever program path and memory they name."""
    if verb[0] not in words:
        return False
    at = list(words).index(verb[0])
    program, rest = words[:at], list(words[at + 1 :])
    curate = (len(program) == 1 and Path(program[0]).name == "curate") or tuple(program[-2:]) == _MODULE
    return curate and all(word in rest for word in verb[1:]) and "--memory" in rest[:-1]
