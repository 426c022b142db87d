"""Where agents keep their sessions."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class SessionPlaces:
    """Where an agent keeps its sessions.

    Args:
        variable: the environment variable that names its folder.
        folder: that folder in the home folder, if the variable is not set.
        places: the folders in it; `*` stands for any one, and `**` for any number.
    """

    variable: str
    folder: str
    places: tuple[str, ...]

    def home(self, environ: Mapping[str, str]) -> Path:
        """Return the agent's folder."""
        home = Path(environ.get("HOME") or "~").expanduser()
        return Path(environ.get(self.variable) or home / self.folder).expanduser().absolute()


AGENTS_SESSIONS = {
    "claude-code": SessionPlaces("CLAUDE_CONFIG_DIR", ".claude", ("projects/*", "projects/*/*/subagents")),
    "codex": SessionPlaces("CODEX_HOME", ".codex", ("sessions/**", "archived_sessions/**")),
    "openclaw": SessionPlaces("OPENCLAW_STATE_DIR", ".openclaw", ("agents/*/sessions", "agents/*/agent")),
}
GROUP: Final = "memcurate.sessions"
"""The entry points of other programs that keep sessions; to look through what is installed takes 20 ms."""


def may_have_sessions(environ: Mapping[str, str]) -> bool:
    """Whether any agent or other program keeps sessions on this machine."""
    return any(one.home(environ).is_dir() for one in AGENTS_SESSIONS.values()) or bool(entry_points(group=GROUP))
