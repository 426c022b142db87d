"""Telling agents of a memory: one module a target, each from the files as they are to the files as they should be.

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
}
"""The targets, with what a person is told of each; the module is named as the target, with `_` for `-`."""
