"""Codex CLI: hooks in a file of their own, the MCP server in its TOML settings."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pipelines.agents.edit_files import changes, read_text
from pipelines.agents.install_plan import CAPTURE, CONTEXT, NIGHTLY, TARGETS, Edit, Plan
from pipelines.agents.settings_files import (
    HINT,
    CannotEdit,
    Hook,
    add_hooks,
    add_server,
    edit_json,
    edit_toml,
    load_json,
    remove_hooks,
    remove_server,
    value_at,
    with_block,
    without_block,
)
from pipelines.agents.timers import plan_systemd
from pipelines.agents.timers_cron import plan_cron, plan_launchd
from pipelines.errors import BadFile, CurateError, UsageFault
from pipelines.store.layout import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pipelines.agents.install_plan import Asked


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


# ---------------------------------------- any agent that reads AGENTS.md
# a block that tells it how to use the memory by its command line.


def plan_agents(asked: Asked, *, adding: bool) -> Plan:
    """Return what to do to tell the agents of a project of the memory, or to take that back.

    Raises:
        UsageFault: the file would be the memory's own AGENTS.md, which needs no block.
    """
    file = asked.agents_md or (asked.folder or Path.cwd()) / "AGENTS.md"
    if adding and (file.parent / SETTINGS).exists():
        raise UsageFault(
            f"{file} is a memory's own, and tells its agent how to use it already.",
            "Go to the project where your agent works, or name a file with --agents-md FILE.",
        )
    return Plan((Edit(file, partial(with_block, program=asked.program) if adding else without_block),))


# ---------------------------------------- claude Code
# hooks in its settings, the MCP server beside them.


# A resumed session has its context in its own transcript. The end of a session waits a second and a half for hooks that
# name no time of their own, and a minute at most.
CLAUDE_HOOKS: Final = (
    Hook("SessionStart", CONTEXT, 10, "startup|clear|compact"),
    Hook("PreCompact", CAPTURE, 60),
    Hook("SessionEnd", CAPTURE, 60),
)
_CLAUDE_CODE_SERVERS: Final = ("mcpServers",)


def plan_claude_code(asked: Asked, *, adding: bool) -> Plan:
    """Return what to do to tell Claude Code of the memory, or to take that back."""
    settings, servers = _places(asked)
    if not adding:
        without_hooks = partial(edit_json, change=partial(remove_hooks, hooks=CLAUDE_HOOKS))
        without_server = partial(edit_json, change=partial(remove_server, path=_CLAUDE_CODE_SERVERS))
        return Plan(
            (Edit(settings, without_hooks, "{}\n"), Edit(servers, without_server, "{}\n")),
            ("Sessions that run now keep what they were started with.",),
        )
    hooks = partial(add_hooks, hooks=CLAUDE_HOOKS, program=asked.program)
    edits = [Edit(settings, partial(edit_json, change=hooks))]
    notes = ["Sessions that start from now on have the memory; one that runs has to be started anew."]
    if asked.servers:
        server = partial(add_server, path=_CLAUDE_CODE_SERVERS, program=asked.program, more={"type": "stdio"})
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


# ---------------------------------------- openClaw: the MCP server in its JSON5 settings
# and a block in the AGENTS.md that each of its sessions begins with.
#
# Its hooks are programs that run inside its gateway, and its sessions can be captured from their folder at any time.


_OPENCLAW_SERVERS: Final = ("mcp", "servers")
_CAPTURE: Final = "Its sessions are taken in by `curate capture --from openclaw`, for example before the nightly run."


def plan_openclaw(asked: Asked, *, adding: bool) -> Plan:
    """Return what to do to tell OpenClaw of the memory, or to take that back.

    Raises:
        UsageFault: a project was named; OpenClaw has settings for a person alone.
        BadFile: its settings are no JSON.
    """
    if asked.folder:
        raise UsageFault("OpenClaw has no settings for a project.", "Leave --project-dir out.")
    state = _folder("OPENCLAW_STATE_DIR", asked.home / ".openclaw")
    settings = _folder("OPENCLAW_CONFIG_PATH", state / "openclaw.json")
    edits, notes = [], list[str]()
    if not adding:
        change = partial(remove_server, path=_OPENCLAW_SERVERS)
        edits.append(Edit(settings, partial(edit_json, change=change), "{}\n"))
    elif asked.servers:
        change = partial(add_server, path=_OPENCLAW_SERVERS, program=asked.program)
        edits.append(Edit(settings, partial(edit_json, change=change)))
        notes.append("A gateway that runs has to be started anew: `openclaw gateway restart`.")
    else:
        notes.append(HINT)
    workspace = _workspace(settings, state, asked.home)
    if workspace.is_dir() and not (workspace / "curate.toml").exists():
        block = partial(with_block, program=asked.program) if adding else without_block
        edits.append(Edit(workspace / "AGENTS.md", block))
    return Plan(tuple(edits), (*notes, _CAPTURE) if adding else ())


def _folder(variable: str, usual: Path) -> Path:
    named = os.environ.get(variable)
    return Path(named).expanduser().absolute() if named else usual


def _workspace(settings: Path, state: Path, home: Path) -> Path:
    """Return the folder in which OpenClaw's agent works: what its settings say, else the usual one."""
    _, text = read_text(settings)
    try:
        value = value_at(load_json(text or ""), ("agents", "defaults", "workspace"))
    except CannotEdit as fault:
        raise BadFile(settings, fault.why, "Nothing was written; mend the file, then run this again.") from None
    if not isinstance(value, str) or not value:
        return state / "workspace"
    return home / value[2:] if value.startswith("~/") else Path(value)


# ---------------------------------------- which targets are installed
# found out by what taking them back would change.


PLANS: Final[Mapping[str, Callable[..., Plan]]] = {
    "claude-code": plan_claude_code,
    "codex": plan_codex,
    "openclaw": plan_openclaw,
    "agents": plan_agents,
    "cron": plan_cron,
    "systemd": plan_systemd,
    "launchd": plan_launchd,
}
"""What each target of `TARGETS` does: from what was asked for, and whether to add or to take back, to its plan."""


def installed_agents(asked: Asked) -> list[str]:
    """Return the agents that are told of a memory: those from which an uninstallation would take something."""
    return [name for name in TARGETS if name not in NIGHTLY and _is_installed(name, asked)]


def _is_installed(name: str, asked: Asked) -> bool:
    try:
        return bool(changes(PLANS[name](asked, adding=False)))
    except CurateError:
        return False
