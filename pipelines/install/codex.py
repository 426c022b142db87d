"""Codex CLI: hooks in a file of their own, the MCP server in its TOML settings."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pipelines.install.hooks import Hook, with_hooks, without_hooks
from pipelines.install.jsontext import Broken
from pipelines.install.plan import Edit, Plan
from pipelines.install.program import CAPTURE, CONTEXT, MCP, NAME
from pipelines.install.servers import HINT, is_ours
from pipelines.install.tomltext import entry_at, with_table, without_table

if TYPE_CHECKING:
    from pipelines.install.plan import Asked
    from pipelines.install.program import Program

# Codex gives the end of a session three seconds at most, and cuts a hook's context at 2,500 tokens unless told more.
HOOKS: Final = (
    Hook("SessionStart", CONTEXT, 10, "startup|clear|compact", {"additionalContextLimit": 5000}),
    Hook("PreCompact", CAPTURE, 60),
    Hook("SessionEnd", CAPTURE, 3),
)
_TABLE: Final = ("mcp_servers", NAME)


def plan(asked: Asked, *, adding: bool) -> Plan:
    """Return what to do to tell Codex of the memory, or to take that back."""
    folder = asked.folder / ".codex" if asked.folder else _home(asked)
    hooks, settings = folder / "hooks.json", folder / "config.toml"
    if not adding:
        return Plan((Edit(hooks, partial(without_hooks, hooks=HOOKS), "{}\n"), Edit(settings, _without)))
    edits = [Edit(hooks, partial(with_hooks, hooks=HOOKS, program=asked.program), "{}\n")]
    notes = ["Codex runs a new or changed hook only once you trusted it: start `codex` and open /hooks."]
    if asked.servers:
        edits.append(Edit(settings, partial(_with, program=asked.program)))
    else:
        notes.append(HINT)
    if asked.folder:
        notes.append("Codex reads the settings of a project only where you trust the project.")
    return Plan(tuple(edits), tuple(notes))


def _home(asked: Asked) -> Path:
    named = os.environ.get("CODEX_HOME")
    return Path(named).expanduser().absolute() if named else asked.home / ".codex"


def _with(text: str, program: Program) -> str:
    found = entry_at(text, _TABLE)
    if found is not None and not is_ours(found):
        raise Broken(f"has another MCP server called {NAME} (`{'.'.join(_TABLE)}`)")
    return with_table(text, _TABLE, {"command": program.words[0], "args": program.arguments(MCP)})


def _without(text: str) -> str:
    return without_table(text, _TABLE) if is_ours(entry_at(text, _TABLE)) else text
