"""Where agents keep their sessions."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple


class SessionPlaces(NamedTuple):
    """Where an agent keeps its sessions.

    Args:
        variable: the environment variable that names its folder.
        folder: that folder in the home folder, if the variable is not set.
        places: the folders in it; `*` stands for any one, and `**` for any number.
    """

    variable: str
    folder: str
    places: tuple[str, ...]

    def home(self) -> Path:
        """Return the agent's folder."""
        return Path(os.environ.get(self.variable) or Path.home() / self.folder).expanduser().absolute()


AGENTS_SESSIONS = {
    "claude-code": SessionPlaces("CLAUDE_CONFIG_DIR", ".claude", ("projects/*", "projects/*/*/subagents")),
    "codex": SessionPlaces("CODEX_HOME", ".codex", ("sessions/**", "archived_sessions/**")),
    "openclaw": SessionPlaces("OPENCLAW_STATE_DIR", ".openclaw", ("agents/*/sessions", "agents/*/agent")),
}
GROUP = "memcurate.sessions"
"""The entry points of other programs that keep sessions; to look through what is installed takes 20 ms."""
