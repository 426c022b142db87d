"""OpenClaw: the MCP server in its JSON5 settings, and a block in the AGENTS.md that each of its sessions begins with.

Its hooks are programs that run inside its gateway, and its sessions can be captured from their folder at any time.
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pipelines.errors import BadFile, UsageFault
from pipelines.install.block import with_block, without_block
from pipelines.install.files import read_text
from pipelines.install.plan import Edit, Plan
from pipelines.install.servers import HINT, add_server, remove_server
from pipelines.install.settings_files import CannotEdit, edit_json, load_json, value_at

if TYPE_CHECKING:
    from pipelines.install.plan import Asked

_SERVERS: Final = ("mcp", "servers")
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
        change = partial(remove_server, path=_SERVERS)
        edits.append(Edit(settings, partial(edit_json, change=change), "{}\n"))
    elif asked.servers:
        change = partial(add_server, path=_SERVERS, program=asked.program)
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
