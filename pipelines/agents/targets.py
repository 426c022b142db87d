"""The targets of `curate install`: a table of agents and their settings files, and a plan for each target."""

from __future__ import annotations

import contextlib
import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pipelines.agents.install_plan import (
    CAPTURE,
    CONTEXT,
    CURSOR_CONTEXT,
    MCP,
    NIGHTLY,
    PLUGIN,
    TARGETS,
    Edit,
    InstallPlan,
    InstallRequest,
)
from pipelines.agents.settings_files import (
    ADVICE,
    BEGINS,
    END,
    CannotEdit,
    add_hooks,
    add_server,
    changes,
    edit_json,
    edit_toml,
    load_json,
    memory_block,
    our_calls,
    put_block,
    read_text,
    remove_calls,
    table_at,
    value_at,
)
from pipelines.agents.timers import plan_cron, plan_launchd, plan_systemd
from pipelines.errors import BadFile, CurateError, UsageFault
from pipelines.extract.llm.logged_in import found_program
from pipelines.provider_settings import LOGINS
from pipelines.store.layout import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pipelines.agents.settings_files import Change, Hook, Settings


_STARTS = "startup|clear|compact"
"""A resumed session has its context in its own transcript."""
_NEW_SESSIONS = "Sessions that start from now on have the memory; restart the ones that are running."


class SettingsPlace(NamedTuple):
    """Where a program keeps a settings file.

    Args:
        file: the file, in the folder below.
        folder: its folder, in the home folder.
        variable: the environment variable that names another folder; empty if there is none.
        mac: the folder on a Mac, in the home folder, if that differs.
        named: the environment variable that names another file; empty if there is none.
    """

    file: str
    folder: str
    variable: str = ""
    mac: str = ""
    named: str = ""

    def path(self, asked: InstallRequest) -> Path:
        """Return the file."""
        if self.mac and sys.platform == "darwin":
            return asked.home / self.mac / self.file
        return _named_path(self.named, _named_path(self.variable, asked.home / self.folder) / self.file)


class Agent(NamedTuple):
    """An agent that is set up by settings files alone.

    Args:
        title: its name.
        servers: the file that lists its MCP servers.
        keys: where the list is in that file.
        entry: what an entry of the list needs besides command and arguments.
        hooks: the hooks it gets.
        hooks_file: the file that lists them.
        head: what the file of hooks must hold besides.
        grouped: whether hooks are listed in groups.
        notes: what a person should know after an installation.
    """

    title: str
    servers: SettingsPlace
    keys: tuple[str, ...] = ("mcpServers",)
    entry: Mapping[str, str] = {}
    hooks: Sequence[Hook] = ()
    hooks_file: SettingsPlace | None = None
    head: Mapping[str, Any] = {}
    grouped: bool = True
    notes: tuple[str, ...] = ()

    @property
    def settings(self) -> SettingsPlace:
        """The file that shows that the agent is here, and what it calls."""
        return self.hooks_file or self.servers


_BEFORE_COMPACTION = ("PreCompact", CAPTURE, "", {"timeout": 60})
_STDIO = {"type": "stdio"}
_GEMINI = SettingsPlace(".gemini/settings.json", "", "GEMINI_CLI_HOME")
_READS_BLOCK = "also reads AGENTS.md: `curate install agents` in a project says when to use the memory."
AGENTS: Mapping[str, Agent] = {
    "claude-code": Agent(
        "Claude Code",
        SettingsPlace(".claude.json", "", "CLAUDE_CONFIG_DIR"),
        entry=_STDIO,
        hooks=(  # it waits 1.5 seconds for a SessionEnd hook without a timeout, and a minute at most
            ("SessionStart", CONTEXT, _STARTS, {"timeout": 10}),
            _BEFORE_COMPACTION,
            ("SessionEnd", CAPTURE, "", {"timeout": 60}),
        ),
        hooks_file=SettingsPlace("settings.json", ".claude", "CLAUDE_CONFIG_DIR"),
        notes=(_NEW_SESSIONS,),
    ),
    "codex": Agent(
        "Codex",
        SettingsPlace("config.toml", ".codex", "CODEX_HOME"),
        keys=("mcp_servers",),
        hooks=(  # it waits 3 seconds at most for a SessionEnd hook, and cuts a context at 2,500 tokens by default
            ("SessionStart", CONTEXT, _STARTS, {"timeout": 10, "additionalContextLimit": 5000}),
            _BEFORE_COMPACTION,
            ("SessionEnd", CAPTURE, "", {"timeout": 3}),
        ),
        hooks_file=SettingsPlace("hooks.json", ".codex", "CODEX_HOME"),
        notes=("Codex runs a new or changed hook only after you trust it: start `codex` and open /hooks.",),
    ),
    "cursor": Agent(
        "Cursor",
        SettingsPlace("mcp.json", ".cursor"),
        entry=_STDIO,
        hooks=(("sessionStart", CURSOR_CONTEXT, "", {"timeout": 10}),),
        hooks_file=SettingsPlace("hooks.json", ".cursor"),
        head={"version": 1},
        grouped=False,
        notes=("Open a new chat in Cursor: it starts with the memory.", f"Cursor {_READS_BLOCK}"),
    ),
    "claude-desktop": Agent(
        "Claude Desktop",
        SettingsPlace("Claude/claude_desktop_config.json", ".config", "XDG_CONFIG_HOME", "Library/Application Support"),
        notes=("Quit Claude Desktop and start it again: it reads its settings only at the start.",),
    ),
    "gemini": Agent(
        "Gemini CLI",
        _GEMINI,
        # It takes milliseconds, and its matcher is one exact word.
        hooks=(("SessionStart", CONTEXT, "", {"name": "memcurate", "timeout": 10_000}),),
        hooks_file=_GEMINI,
        notes=(_NEW_SESSIONS, "Gemini CLI starts hooks and MCP servers only in folders that you trust."),
    ),
    "vscode": Agent(
        "VS Code",
        SettingsPlace("Code/User/mcp.json", ".config", "XDG_CONFIG_HOME", "Library/Application Support"),
        keys=("servers",),
        entry=_STDIO,
        notes=("VS Code asks once whether you trust the server, before it starts it.", f"VS Code {_READS_BLOCK}"),
    ),
    "openclaw": Agent(  # its hooks are programs inside its gateway, so none are installed
        "OpenClaw",
        SettingsPlace("openclaw.json", ".openclaw", "OPENCLAW_STATE_DIR", named="OPENCLAW_CONFIG_PATH"),
        keys=("mcp", "servers"),
        notes=(
            "Restart a gateway that is running: `openclaw gateway restart`.",
            "Runs capture its sessions; `curate capture --from openclaw` captures all that it ever kept.",
        ),
    ),
}
"""The agents. To add one, add a row here and a line to `TARGETS`."""


def installed_agents(asked: InstallRequest) -> dict[str, list[str]]:
    """Return the agents that use a memory, each with the places that say so: what uninstalling would change."""
    found = dict[str, list[str]]()
    for name in TARGETS:
        with contextlib.suppress(CurateError):
            places = (
                [] if name in NIGHTLY else [str(one.edit.path) for one in changes(PLANS[name](asked, adding=False))]
            )
            if name == "claude-code" and (plugin := enabled_plugin(asked)):
                places.append(f"plugin {plugin}")
            found |= {name: places} if places else {}
    return found


def found_agents(asked: InstallRequest) -> list[str]:
    """Return the agents whose folder of settings is on this machine."""
    return [name for name in TARGETS if name in AGENTS and AGENTS[name].settings.path(asked).parent.is_dir()]


def gives_sessions(name: str, asked: InstallRequest) -> bool:
    """Whether an agent's settings hand its sessions to the memory: by a hook that captures; OpenClaw's by the server.

    A person who took the hook out wants no session captured.
    """
    agent = AGENTS[name]
    with contextlib.suppress(CurateError, CannotEdit):
        settings = load_json(read_text(agent.settings.path(asked))[1] or "")
        calls = our_calls(settings, CAPTURE if agent.hooks else MCP)
        named: list[object] = [words[words.index("--memory") + 1] for _, words in calls]
        if name == "claude-code" and (plugin := enabled_plugin(asked)):
            named += [os.environ.get("CURATE_MEMORY"), value_at(settings, ("env", "CURATE_MEMORY"))]
            named.append(value_at(settings, ("pluginConfigs", plugin, "options", "memory")))
        root = os.path.realpath(asked.program.root)
        return any(isinstance(one, str) and one and os.path.realpath(one) == root for one in named)
    return False


def plan_settings(name: str, asked: InstallRequest, *, adding: bool) -> InstallPlan:
    """Return the plan for an agent of the table: its hooks and its MCP server; for OpenClaw also a block of AGENTS.md.

    Raises:
        BadFile: OpenClaw's settings are not JSON.
        UsageFault: the agent's plugin does all of it.
    """
    agent = AGENTS[name]
    if adding and name == "claude-code" and (plugin := enabled_plugin(asked)):
        raise UsageFault(
            f"The plugin {plugin} is enabled in Claude Code and does the same.",
            f"Keep one of the two: `claude plugin uninstall {plugin}` removes the plugin.",
        )
    files: dict[Path, list[Change]] = {}
    if agent.hooks_file:
        verbs = [verb for _, verb, *_ in agent.hooks]
        files[agent.hooks_file.path(asked)] = [
            partial(add_hooks, hooks=agent.hooks, program=asked.program, head=agent.head, grouped=agent.grouped)
            if adding
            else partial(remove_calls, key="hooks", verbs=verbs, head=agent.head)
        ]
    files.setdefault(agent.servers.path(asked), []).append(
        partial(add_server, path=agent.keys, program=asked.program, more=agent.entry)
        if adding
        else partial(remove_calls, key=agent.keys[0], verbs=[MCP])
    )
    edits = [_edit_settings(path, *changes) for path, changes in files.items()]
    if name == "openclaw" and (workspace := _workspace(asked)).is_dir() and not (workspace / SETTINGS).exists():
        edits.append(_edit_block(workspace / "AGENTS.md", asked, adding=adding))
    if not adding:
        return InstallPlan(edits, ("Sessions that are running keep the memory until they end.",))
    return InstallPlan(edits, agent.notes)


def _edit_settings(path: Path, *changes: Change) -> Edit:
    """Return the edit of a settings file that makes the changes."""
    edited = edit_toml if path.suffix == ".toml" else edit_json
    return Edit(path, lambda text: edited(text, *changes))


def enabled_plugin(asked: InstallRequest) -> str:
    """Return the name of our plugin if it is enabled in Claude Code, else an empty string."""
    file = AGENTS["claude-code"].settings.path(asked)
    with contextlib.suppress(CurateError, CannotEdit):
        enabled = value_at(load_json(read_text(file)[1] or ""), ("enabledPlugins",))
        names = enabled if isinstance(enabled, dict) else {}
        return next((name for name, on in names.items() if on is True and name.partition("@")[0] == PLUGIN), "")
    return ""


def _workspace(asked: InstallRequest) -> Path:
    """Return the folder that OpenClaw's agent works in, whose AGENTS.md starts each session.

    Raises:
        BadFile: its settings are not JSON.
    """
    settings = AGENTS["openclaw"].servers.path(asked)
    try:
        value = value_at(load_json(read_text(settings)[1] or ""), ("agents", "defaults", "workspace"))
    except CannotEdit as fault:
        raise BadFile(settings, str(fault), ADVICE) from None
    if isinstance(value, str) and value:
        return Path(value).expanduser()
    return _named_path("OPENCLAW_STATE_DIR", asked.home / ".openclaw") / "workspace"


def _named_path(variable: str, usual: Path) -> Path:
    named = os.environ.get(variable)
    return Path(named).expanduser().absolute() if named else usual


def plan_agents(asked: InstallRequest, *, adding: bool) -> InstallPlan:
    """Return the plan for the agents of a project: a block in its AGENTS.md.

    Raises:
        UsageFault: the file is the memory's own AGENTS.md, which needs no block.
    """
    file = asked.agents_md or Path.cwd() / "AGENTS.md"
    if adding and (file.parent / SETTINGS).exists():
        raise UsageFault(
            f"{file} is a memory's own file and already says how to use it.",
            "Go to the project where your agent works, or name a file with --agents-md FILE.",
        )
    return InstallPlan((_edit_block(file, asked, adding=adding),))


def _edit_block(file: Path, asked: InstallRequest, *, adding: bool) -> Edit:
    block = memory_block(asked.program) if adding else ""
    return Edit(file, partial(put_block, block=block, begins=BEGINS, end=END))


PLANS: Mapping[str, Callable[..., InstallPlan]] = {
    **{name: partial(plan_settings, name) for name in AGENTS},
    "agents": plan_agents,
    "cron": plan_cron,
    "systemd": plan_systemd,
    "launchd": plan_launchd,
}
"""The plan of each target in `TARGETS`: called with what was asked for and whether to add or to take back."""


# ---------------------------------------- which models read the logs


def reader_edit(file: Path, names: Sequence[str], more: Mapping[str, str]) -> Edit:
    """Return the edit that names the providers that read, in order; all other settings stay.

    Programs are written with their paths, because nights run with another PATH.

    Args:
        file: the user's settings.
        names: the providers.
        more: the address and model of `openai`, if they are new.
    """

    def named(settings: Settings) -> None:
        settings["providers"] = list(names)
        for name in names:
            if name in LOGINS and (program := found_program(name)):
                table_at(settings, [name]).setdefault("program", program)
        if more:
            table_at(settings, ["openai"]).update(more)

    return Edit(file, lambda text: edit_toml(text, named))
