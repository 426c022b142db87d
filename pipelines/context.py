"""The startup context: what a new session should read first, under a budget of tokens."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Final

from pipelines.errors import BadFile
from pipelines.memory.files import read_bytes
from pipelines.memory.layout import BRIEFING, USER, log_path

if TYPE_CHECKING:
    from pathlib import Path

BYTES_A_TOKEN: Final = 4
_COMMENT: Final = re.compile(r"[ \t]*<!--.*?-->", re.DOTALL)
_BLANKS: Final = re.compile(r"\n{3,}")


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the context: its path, what of it fits, and how many lines were cut."""

    path: str
    text: str
    cut: int


def context_parts(root: Path, today: str, budget: int) -> list[Part]:
    """Return SOUL, USER, MEMORY and the logs of today and yesterday, within `budget` tokens of four bytes.

    The identity files come whole as far as they fit; the logs share what is left, and lose their oldest lines first.
    """
    yesterday = (date.fromisoformat(today) - timedelta(days=1)).isoformat()
    left, parts = budget * BYTES_A_TOKEN, []
    for path in ("SOUL.md", USER, BRIEFING):
        part = _part(root, path, left, newest_first=False)
        left -= len(part.text.encode())
        parts.append(part)
    now = _part(root, log_path(today), left, newest_first=True)
    before = _part(root, log_path(yesterday), left - len(now.text.encode()), newest_first=True)
    return [part for part in (*parts, before, now) if part.text or part.cut]


def _part(root: Path, path: str, room: int, *, newest_first: bool) -> Part:
    """Return what fits of a file: whole lines, without comments."""
    try:
        text = (read_bytes(root, path) or b"").decode(errors="replace")
    except BadFile as fault:
        return Part(path, f"({fault.sentence})", 0)
    lines = _BLANKS.sub("\n\n", _COMMENT.sub("", text)).strip().split("\n")
    kept: list[str] = []
    for line in reversed(lines) if newest_first else lines:
        room -= len(line.encode()) + 1
        if room < 0:
            break
        kept.append(line)
    return Part(path, "\n".join(reversed(kept) if newest_first else kept).strip(), len(lines) - len(kept))


def render_context(parts: list[Part]) -> str:
    """Return the context as text: each part under its path, with a line on what was cut and how to read it."""
    out = []
    for part in parts:
        cut = f"\n({part.cut} lines of {part.path} were cut; read the file, or `curate search`.)" if part.cut else ""
        out.append(f"<!-- {part.path} -->\n{part.text}{cut}\n")
    return "\n".join(out)
