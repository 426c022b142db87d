"""Several notes of one day become one log; a single one keeps its bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.adopting.found import shown
from pipelines.store.markdown import line_end, read_front_matter, split_lines

if TYPE_CHECKING:
    from collections.abc import Sequence


def joined(day: str, notes: Sequence[tuple[str, bytes]]) -> bytes:
    """Return the log of a day: the note that is named after it as it is, each other one under a heading of its own.

    Args:
        day: the day, `YYYY-MM-DD`.
        notes: path and bytes (UTF-8) of each note, the day's own in front.
    """
    if len(notes) == 1:
        return notes[0][1]
    own = notes[0][0].rpartition("/")[2] == f"{day}.md"
    out = notes[0][1].decode() if own else f"# {day}\n"
    for path, data in notes[1:] if own else notes:
        text = _below(data.decode().removeprefix("\ufeff"))
        out += f"{_gap(out)}## {shown(path).removesuffix('.md')}\n\n{text}"
    return out.encode()


def _gap(text: str) -> str:
    return "" if text.endswith("\n\n") else "\n" if text.endswith("\n") else "\n\n"


def _below(text: str) -> str:
    """Return a note as it can stand further down: front matter is that only at a file's top, elsewhere a comment."""
    lines = split_lines(text)
    front = read_front_matter(lines)
    if not front.lines:
        return text
    end = line_end(lines)
    kept = "".join(lines[1 : front.lines - 1]).replace("-->", "--&gt;")
    return "".join([f"<!--{end}", kept, f"-->{end}", *lines[front.lines :]])
