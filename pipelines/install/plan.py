"""What a target was asked for, and what it means to do: data, so that it can be shown without being done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pipelines.install.program import Program


@dataclass(frozen=True, slots=True)
class Asked:
    """What a person asked for.

    Args:
        program: how `curate` is called for the memory.
        home: the person's home folder.
        folder: the project whose settings to change, or None for the person's own.
        agents_md: the AGENTS.md to change, or None for the usual one.
        servers: whether the MCP server can run here.
        time: when the nights begin, `HH:MM`; empty for what was installed before, else 02:00.
        zone: the memory's time zone where it is not the machine's, else empty.
    """

    program: Program
    home: Path
    folder: Path | None = None
    agents_md: Path | None = None
    servers: bool = True
    time: str = ""
    zone: str = ""


@dataclass(frozen=True, slots=True)
class Edit:
    """One file that is to change.

    Args:
        path: the file, as the agent finds it; it may be a symbolic link.
        change: from its text (empty where there is none) to the text it should have; an empty one removes the file.
        empty: what stands in a file that holds nothing, where it cannot be removed because it is linked to.
    """

    path: Path
    change: Callable[[str], str]
    empty: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a target does.

    Args:
        edits: the files, in order.
        notes: sentences for the person, as what is left to do by hand.
        crontab: from the person's crontab to the one they should have, or None for a target that has no part in it.
        before: commands that make the edits safe, run first.
        after: commands that make the edits count, run last.
    """

    edits: tuple[Edit, ...]
    notes: tuple[str, ...] = ()
    crontab: Callable[[str], str] | None = None
    before: tuple[tuple[str, ...], ...] = ()
    after: tuple[tuple[str, ...], ...] = ()
