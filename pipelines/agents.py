"""Where agents keep their sessions."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pipelines.errors import BadFile
from pipelines.store import files

if TYPE_CHECKING:
    from collections.abc import Mapping

_PLACES: Final = {
    "claude-code": ("CLAUDE_CONFIG_DIR", ".claude", "projects"),
    "codex": ("CODEX_HOME", ".codex", "sessions"),
    "openclaw": ("OPENCLAW_STATE_DIR", ".openclaw", "agents"),
}
# What a subagent said comes back in its agent's own session.
_SUBAGENTS: Final = ("agent-", "subagents")


def sessions_folder(agent: str, environ: Mapping[str, str]) -> Path:
    """Return the folder below which an agent keeps its sessions.

    Args:
        agent: claude-code, codex or openclaw.
        environ: the environment, which may say that its folder is elsewhere.
    """
    variable, folder, below = _PLACES[agent]
    home = Path(environ.get("HOME") or "~").expanduser()
    return Path(environ.get(variable) or home / folder).expanduser() / below


def transcripts_below(folder: Path) -> list[Path]:
    """Return the transcripts anywhere below a folder, the one that was begun first in front; subagents' are none.

    Raises:
        BadFile: more files than a memory may have end as transcripts do.
    """
    listed = list(islice(folder.rglob("*.jsonl"), files.MOST_FILES + 1))
    if len(listed) > files.MOST_FILES:
        raise BadFile(
            folder, files.too_many(files.MOST_FILES), "Name the transcripts that are meant, or a folder in it."
        )
    found = [
        path
        for path in listed
        if path.is_file()
        and not path.is_symlink()
        and not path.name.startswith(_SUBAGENTS)
        and not any(part in _SUBAGENTS for part in path.relative_to(folder).parts)
    ]
    return sorted(found, key=lambda path: (path.stat().st_mtime, path))
