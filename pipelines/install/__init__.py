"""Telling agents, and what starts runs at night, of a memory: one module a target.

Each has a plan: from what was asked for to the edits that make the files as they should be, and what else a person
should know. It reads and writes nothing; `edit_files` writes. To add a target, add its plan to `PLANS` and a line
here.
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
"""The targets, with what a person is told of each."""

NIGHTLY: Final = ("cron", "systemd", "launchd")
"""The targets that start a run every night."""
