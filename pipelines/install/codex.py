"""Codex CLI: hooks in a file of their own, the MCP server in its TOML settings."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pipelines.install.hooks import Hook, add_hooks, remove_hooks
from pipelines.install.plan import Edit, Plan
from pipelines.install.program import CAPTURE, CONTEXT
from pipelines.install.servers import HINT, add_server, remove_server
from pipelines.install.settings_files import edit_json, edit_toml

if TYPE_CHECKING:
    from pipelines.install.plan import Asked

# Codex gives the end of a session three seconds at most, and cuts a hook's context at 2,500 tokens unless told more.
CODEX_HOOKS: Final = (
    Hook("SessionStart", CONTEXT, 10, "startup|clear|compact", {"additionalContextLimit": 5000}),
    Hook("PreCompact", CAPTURE, 60),
    Hook("SessionEnd", CAPTURE, 3),
)
_SERVERS: Final = ("mcp_servers",)


def plan_codex(asked: Asked, *, adding: bool) -> Plan:
    """Return what to do to tell Codex of the memory, or to take that back."""
    folder = asked.folder / ".codex" if asked.folder else _home(asked)
    hooks, settings = folder / "hooks.json", folder / "config.toml"
    if not adding:
        without = partial(edit_json, change=partial(remove_hooks, hooks=CODEX_HOOKS))
        edit = Edit(settings, partial(edit_toml, change=partial(remove_server, path=_SERVERS)))
        return Plan((Edit(hooks, without, "{}\n"), edit))
    edits = [Edit(hooks, partial(edit_json, change=partial(add_hooks, hooks=CODEX_HOOKS, program=asked.program)))]
    notes = ["Codex runs a new or changed hook only once you trusted it: start `codex` and open /hooks."]
    if asked.servers:
        server = partial(add_server, path=_SERVERS, program=asked.program)
        edits.append(Edit(settings, partial(edit_toml, change=server)))
    else:
        notes.append(HINT)
    if asked.folder:
        notes.append("Codex reads the settings of a project only where you trust the project.")
    return Plan(tuple(edits), tuple(notes))


def _home(asked: Asked) -> Path:
    named = os.environ.get("CODEX_HOME")
    return Path(named).expanduser().absolute() if named else asked.home / ".codex"
