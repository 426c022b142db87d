"""Claude Code: hooks in its settings, the MCP server beside them."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pipelines.install.hooks import Hook, add_hooks, remove_hooks
from pipelines.install.plan import Edit, Plan
from pipelines.install.program import CAPTURE, CONTEXT
from pipelines.install.servers import HINT, add_server, remove_server
from pipelines.install.settings_files import edit_json

if TYPE_CHECKING:
    from pipelines.install.plan import Asked

# A resumed session has its context in its own transcript. The end of a session waits a second and a half for hooks that
# name no time of their own, and a minute at most.
CLAUDE_HOOKS: Final = (
    Hook("SessionStart", CONTEXT, 10, "startup|clear|compact"),
    Hook("PreCompact", CAPTURE, 60),
    Hook("SessionEnd", CAPTURE, 60),
)
_SERVERS: Final = ("mcpServers",)


def plan_claude_code(asked: Asked, *, adding: bool) -> Plan:
    """Return what to do to tell Claude Code of the memory, or to take that back."""
    settings, servers = _places(asked)
    if not adding:
        without_hooks = partial(edit_json, change=partial(remove_hooks, hooks=CLAUDE_HOOKS))
        without_server = partial(edit_json, change=partial(remove_server, path=_SERVERS))
        return Plan(
            (Edit(settings, without_hooks, "{}\n"), Edit(servers, without_server, "{}\n")),
            ("Sessions that run now keep what they were started with.",),
        )
    hooks = partial(add_hooks, hooks=CLAUDE_HOOKS, program=asked.program)
    edits = [Edit(settings, partial(edit_json, change=hooks))]
    notes = ["Sessions that start from now on have the memory; one that runs has to be started anew."]
    if asked.servers:
        server = partial(add_server, path=_SERVERS, program=asked.program, more={"type": "stdio"})
        edits.append(Edit(servers, partial(edit_json, change=server)))
        if asked.folder:
            notes.append("Claude Code asks once before it uses the MCP server of a project.")
    else:
        notes.append(HINT)
    return Plan(tuple(edits), tuple(notes))


def _places(asked: Asked) -> tuple[Path, Path]:
    """Return the file of the hooks and the file of the servers."""
    if asked.folder:
        return asked.folder / ".claude/settings.json", asked.folder / ".mcp.json"
    if named := os.environ.get("CLAUDE_CONFIG_DIR"):
        folder = Path(named).expanduser().absolute()
        return folder / "settings.json", folder / ".claude.json"
    return asked.home / ".claude/settings.json", asked.home / ".claude.json"
