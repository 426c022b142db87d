"""What each target of `curate install` does: its plan for agents' settings, and which agents are told of a memory."""

from __future__ import annotations

import contextlib
import os
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pipelines.agents.edit_files import ADVICE, changes, read_text
from pipelines.agents.install_plan import CAPTURE, CONTEXT, NIGHTLY, RECALL, TARGETS, Edit, Plan
from pipelines.agents.settings_files import (
    CannotEdit,
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
    from collections.abc import Callable, Mapping, Sequence

    from pipelines.agents.install_plan import Asked
    from pipelines.agents.settings_files import Hook


_STARTS: Final = "startup|clear|compact"
"""A resumed session has its context in its own transcript."""
# The end of a session waits a second and a half for hooks that name no time of their own, and a minute at most.
CLAUDE_HOOKS: Final[Sequence[Hook]] = (
    ("SessionStart", CONTEXT, _STARTS, {"timeout": 10}),
    ("PreCompact", CAPTURE, "", {"timeout": 60}),
    ("SessionEnd", CAPTURE, "", {"timeout": 60}),
)
RECALL_HOOKS: Final[Sequence[Hook]] = (("UserPromptSubmit", RECALL, "", {"timeout": 5}),)
"""Off unless it is asked for: an installation without it takes it out."""
# Codex gives the end of a session three seconds at most, and cuts a hook's context at 2,500 tokens unless told more.
CODEX_HOOKS: Final[Sequence[Hook]] = (
    ("SessionStart", CONTEXT, _STARTS, {"timeout": 10, "additionalContextLimit": 5000}),
    ("PreCompact", CAPTURE, "", {"timeout": 60}),
    ("SessionEnd", CAPTURE, "", {"timeout": 3}),
)
_EMPTY: Final = "{}\n"


def installed_agents(asked: Asked) -> list[str]:
    """Return the agents that are told of a memory: those from which an uninstallation would take something."""
    found = []
    for name in TARGETS:
        with contextlib.suppress(CurateError):
            found += [name] if name not in NIGHTLY and changes(PLANS[name](asked, adding=False)) else []
    return found


def plan_claude_code(asked: Asked, *, adding: bool) -> Plan:
    """Return what to do to tell Claude Code of the memory, or to take that back: hooks, and the server beside them."""
    settings = _named_path("CLAUDE_CONFIG_DIR", asked.home / ".claude") / "settings.json"
    servers = _named_path("CLAUDE_CONFIG_DIR", asked.home) / ".claude.json"
    if asked.folder:
        settings, servers = asked.folder / ".claude/settings.json", asked.folder / ".mcp.json"
    server = _edit_server(servers, ("mcpServers",), asked, adding=adding, more={"type": "stdio"})
    hooks, _ = _edit_hooks(settings, CLAUDE_HOOKS, server, asked, adding=adding)
    recall, _ = _edit_hooks(settings, RECALL_HOOKS, server, asked, adding=adding and asked.recall)
    edits = replace(hooks, change=lambda text: recall.change(hooks.change(text))), server
    if not adding:
        return Plan(edits, ("Sessions that run now keep what they were started with.",))
    notes = ["Sessions that start from now on have the memory; one that runs has to be started anew."]
    if asked.folder:
        notes.append("Claude Code asks once before it uses the MCP server of a project.")
    return Plan(edits, tuple(notes))


def plan_codex(asked: Asked, *, adding: bool) -> Plan:
    """Return what to do to tell Codex of the memory, or to take that back: hooks, and the server in its TOML."""
    folder = asked.folder / ".codex" if asked.folder else _named_path("CODEX_HOME", asked.home / ".codex")
    server = _edit_server(folder / "config.toml", ("mcp_servers",), asked, adding=adding, edit=edit_toml)
    edits = _edit_hooks(folder / "hooks.json", CODEX_HOOKS, server, asked, adding=adding)
    notes = ["Codex runs a new or changed hook only once you trusted it: start `codex` and open /hooks."]
    notes += ["Codex reads the settings of a project only where you trust the project."] if asked.folder else []
    return Plan(edits, tuple(notes) if adding else ())


def _edit_hooks(file: Path, hooks: Sequence[Hook], server: Edit, asked: Asked, *, adding: bool) -> tuple[Edit, ...]:
    """Return the edits that add hooks to a file of JSON, and the server, or take both out."""
    change = partial(add_hooks, program=asked.program) if adding else remove_hooks
    edit = Edit(file, partial(edit_json, change=partial(change, hooks=hooks)), _EMPTY)
    return edit, server


def _edit_server(
    file: Path,
    path: Sequence[str],
    asked: Asked,
    *,
    adding: bool,
    edit: Callable[..., str] = edit_json,
    more: Mapping[str, str] | None = None,
) -> Edit:
    """Return the edit that adds the server to an agent's settings, or takes it out."""
    change = partial(add_server, program=asked.program, more=more) if adding else remove_server
    empty = _EMPTY if edit is edit_json else ""
    return Edit(file, partial(edit, change=partial(change, path=path)), empty)


def plan_openclaw(asked: Asked, *, adding: bool) -> Plan:
    """Return what to do to tell OpenClaw of the memory, or to take that back.

    That is the server in its settings, and a block in the AGENTS.md with which each session begins. Its hooks are
    programs that run inside its gateway, and its sessions can be captured from their folder at any time.

    Raises:
        UsageFault: a project was named; OpenClaw has settings for a person alone.
        BadFile: its settings are no JSON.
    """
    if asked.folder:
        raise UsageFault("OpenClaw has no settings for a project.", "Leave --project-dir out.")
    state = _named_path("OPENCLAW_STATE_DIR", asked.home / ".openclaw")
    settings = _named_path("OPENCLAW_CONFIG_PATH", state / "openclaw.json")
    edits = [_edit_server(settings, ("mcp", "servers"), asked, adding=adding)]
    notes = ["A gateway that runs has to be started anew: `openclaw gateway restart`."]
    workspace = _workspace(settings, state, asked.home)
    if workspace.is_dir() and not (workspace / SETTINGS).exists():
        edits.append(_edit_block(workspace / "AGENTS.md", asked, adding=adding))
    notes.append("Its sessions are taken in by `curate capture --from openclaw`, for example before the nightly run.")
    return Plan(tuple(edits), tuple(notes) if adding else ())


def _workspace(settings: Path, state: Path, home: Path) -> Path:
    """Return the folder in which OpenClaw's agent works: what its settings say, else the usual one."""
    _, text = read_text(settings)
    try:
        value = value_at(load_json(text or ""), ("agents", "defaults", "workspace"))
    except CannotEdit as fault:
        raise BadFile(settings, fault.why, ADVICE) from None
    if not isinstance(value, str) or not value:
        return state / "workspace"
    return home / value[2:] if value.startswith("~/") else Path(value)


def _named_path(variable: str, usual: Path) -> Path:
    named = os.environ.get(variable)
    return Path(named).expanduser().absolute() if named else usual


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
    return Plan((_edit_block(file, asked, adding=adding),))


def _edit_block(file: Path, asked: Asked, *, adding: bool) -> Edit:
    return Edit(file, partial(with_block, program=asked.program) if adding else without_block)


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
