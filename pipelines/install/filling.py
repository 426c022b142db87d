"""The files of deploy/ with a person's own paths and time filled in: what is installed is what can be read there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pipelines.errors import UsageFault
from pipelines.templating import resource

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

USUAL: Final = "02:00"
"""When nights begin where nobody says: the day's log is closed, and few people work."""


def fill(name: str, slots: Mapping[str, str]) -> str:
    """Return a file of deploy/ with what stands there as an example replaced; all else stays, reasons included.

    Args:
        name: the file.
        slots: the example, which must be in the file → what to write in its place, quoted as the file wants it.

    Raises:
        BadFile: the installation lacks the file.
        LookupError: the file lacks an example.
    """
    text = (resource("deploy") / name).read_text(encoding="utf-8")
    if missing := [example for example in slots if example not in text]:
        raise LookupError(missing)
    longest_first = sorted(slots, key=len, reverse=True)
    return re.sub("|".join(map(re.escape, longest_first)), lambda found: slots[found[0]], text) if slots else text


def clock(text: str) -> tuple[int, int]:
    """Return hour and minute of a time of day.

    Raises:
        UsageFault: it is none.
    """
    found = re.fullmatch(r"([01]\d|2[0-3]):([0-5]\d)", text, re.ASCII)
    if not found:
        raise UsageFault(f"--time {text} is no time of day.", "Write it like 02:00 or 23:30.")
    return int(found[1]), int(found[2])


def plain(path: Path | str) -> str:
    """Return a path as text, where a file of settings can hold it.

    Raises:
        UsageFault: it holds a line end or another character that no such file can hold.
    """
    text = str(path)
    if not text.isprintable():
        raise UsageFault(
            f"The path {text!r} holds a character that cannot stand in a file of a scheduler.", "Rename it."
        )
    return text
