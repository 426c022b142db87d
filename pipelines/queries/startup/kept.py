"""What the start of a session and `curate log` need at once, kept in `.curate`: the last start pages, and the clock.

Nothing here imports what takes time to import. A page is printed again for an hour at most, while no file that it
rests on has changed. The clock is the offset of the memory's zone, which its settings take long to tell.
"""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from pipelines.settings import Settings

BUDGET = 4000
LEAST_BUDGET = 300
HOOKS = ("claude-code", "cursor")
FORMATS = ("text", "json", *HOOKS)
HOOK_CHARACTERS = 10_000
"""A hook's longer answer is put into a file by Claude Code, and the session sees its beginning alone."""
PAGE, CLOCK = ".curate/start", ".curate/clock"
HOLDS_SECONDS = 3600
_PAGES, _BETWEEN = 8, "\0"  # who works on several projects asks from each folder
_SETTLED = 2  # seconds within which a file can change again under the same stamp
_DAY = 86400
_CHANGES_AT = 900  # clocks change at such multiples of seconds
_ASKED_DAYS = 7


def units(text: str) -> int:
    """Return a text's length as JavaScript counts it."""
    return len(text) if text.isascii() else len(text) + sum(map("\uffff".__lt__, text))


def kept_page(root: str, asked: str, now: float) -> str:
    """Return the page that answered the same question if it still holds, or an empty string.

    Args:
        root: the memory.
        asked: what the session asked for.
        now: the moment.
    """
    page = next((one for one in _pages(root) if one.startswith(f"{asked!r}\n")), "")
    head, _, text = page.partition("\n\n")
    try:
        _, since, until, *stamps = head.split("\n")
        holds = float(since) <= now < float(until)
    except ValueError:
        return ""
    return text if holds and all(one == stamp(one.partition("\t")[2]) for one in stamps) else ""


def keep_page(root: Path, asked: str, text: str, stamps: list[str], now: float) -> None:
    """Keep a page with the stamps of what it rests on, taken before it was read; without any it never holds."""
    settled = stamps and all(int(one.split(" ", 1)[0]) < (now - _SETTLED) * 1e9 for one in stamps)
    until = now + HOLDS_SECONDS if settled else 0
    page = "\n".join([repr(asked), str(now), str(until), *stamps, "", text.replace(_BETWEEN, "\ufffd")])
    others = (one for one in _pages(str(root)) if not one.startswith(f"{asked!r}\n"))
    _save(root, PAGE, _BETWEEN.join([page, *others][:_PAGES]))


def _pages(root: str) -> list[str]:
    """Return the pages that are kept, newest first."""
    try:
        with open(f"{root}/{PAGE}", encoding="utf-8", newline="") as file:
            return file.read().split(_BETWEEN)
    except (OSError, ValueError):
        return []


def was_asked(root: Path, now: float) -> bool:
    """Whether a session asked for its start in the week before a moment, or later."""
    try:
        return os.stat(f"{root}/{PAGE}").st_mtime > now - _DAY * _ASKED_DAYS
    except OSError:
        return False


def stamp(path: str) -> str:
    """Return what tells a file or folder from another version of it, with its path."""
    try:
        found = os.stat(path)
    except OSError:
        return f"0 \t{path}"
    return f"{found.st_ctime_ns} {found.st_size} {found.st_ino}\t{path}"


def day_and_time(root: str, now: float) -> tuple[str, str]:
    """Return the memory's day, `YYYY-MM-DD`, and the time on its clock, `HH:MM`.

    Raises:
        OSError, ValueError: they are not known.
    """
    with open(f"{root}/{CLOCK}", encoding="utf-8") as file:
        made_from, since, until, east, day_end = file.read().split("\n")
    if made_from != stamp(f"{root}/curate.toml") or not float(since) <= now < float(until):
        raise ValueError(until)
    local = now + int(east)
    return time.strftime("%Y-%m-%d", time.gmtime(local - int(day_end))), time.strftime("%H:%M", time.gmtime(local))


def keep_clock(root: Path, settings: Settings, when: datetime) -> None:
    """Keep the offset of the memory's zone for a day, or until the clock may change.

    Args:
        root: the memory.
        settings: its settings.
        when: the moment, in its zone.
    """
    from datetime import timedelta

    now, before = when.timestamp(), stamp(f"{root}/curate.toml")
    offsets = [one.utcoffset() or timedelta() for one in (when, when.fromtimestamp(now + _DAY, when.tzinfo))]
    until = now + _DAY if offsets[0] == offsets[1] else now // _CHANGES_AT * _CHANGES_AT + _CHANGES_AT
    hour, minute = settings.day_end.split(":")
    east, day_end = int(offsets[0].total_seconds()), 60 * (60 * int(hour) + int(minute))
    _save(root, CLOCK, f"{before}\n{now}\n{until}\n{east}\n{day_end}")


def _save(root: Path, path: str, text: str) -> None:
    """Write a file that others cannot read; a disk that refuses only costs time."""
    from contextlib import suppress

    from pipelines.errors import CurateError
    from pipelines.store.files import replace_synced
    from pipelines.store.lock import private_folder

    with suppress(CurateError, OSError):
        replace_synced(private_folder(root) / path.rpartition("/")[2], text.encode("utf-8", "replace"))
