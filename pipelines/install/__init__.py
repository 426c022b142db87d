"""Telling agents, and what starts runs at night, of a memory: one module a target.

Each goes from the files as they are to the files as they should be.

A target has a `plan(asked, *, adding)`, which reads and writes nothing but returns `Plan`: the edits, and what else a
person should know. `pipelines.install.files` writes them. To add a target, add its module and its line here.
"""

from __future__ import annotations

from typing import Final

TARGETS: Final = {
    "claude-code": "Claude Code: startup context, capture of sessions, MCP tools.",
    "codex": "Codex CLI: the same.",
    "openclaw": "OpenClaw: MCP tools, and a block in its workspace's AGENTS.md.",
    "agents": "Any agent that reads AGENTS.md: a block that tells it how to use the memory.",
    "cron": "Every night, by a line of your crontab.",
    "systemd": "Every night, by a timer of yours under systemd, which makes up for missed ones.",
    "launchd": "Every night, by launchd on a Mac.",
}
"""The targets, with what a person is told of each; the module is named as the target, with `_` for `-`."""

NIGHTLY: Final = ("cron", "systemd", "launchd")
"""The targets that start a run every night; each has a `found(asked)` too, which says what is installed of it."""
