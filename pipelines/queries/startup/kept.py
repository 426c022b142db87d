"""What the start of a session and `curate log` need at once: the last start pages, and the memory's clock.

Nothing here imports what takes time to import. A page is printed again for an hour at most, while no file that it
rests on has changed.
"""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

BUDGET = 4000
LEAST_BUDGET = 300
HOOKS = ("claude-code", "cursor")
FORMATS = ("text", *HOOKS)
HOOK_CHARACTERS = 10_000
"""A hook's longer answer is put into a file by Claude Code, and the session sees its beginning alone."""
PAGE, SETTINGS, ZONES = ".curate/start", "curate.toml", "/usr/share/zoneinfo"
HOLDS_SECONDS = 3600
_PAGES, _BETWEEN = 8, "\0"  # who works on several projects asks from each folder
_SETTLED = 2  # seconds within which a file can change again under the same stamp


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
    from contextlib import suppress

    from pipelines.errors import CurateError
    from pipelines.store.files import replace_synced
    from pipelines.store.lock import private_folder

    settled = stamps and all(int(one.split(" ", 1)[0]) < (now - _SETTLED) * 1e9 for one in stamps)
    until = now + HOLDS_SECONDS if settled else 0
    page = "\n".join([repr(asked), str(now), str(until), *stamps, "", text.replace(_BETWEEN, "\ufffd")])
    others = (one for one in _pages(str(root)) if not one.startswith(f"{asked!r}\n"))
    with suppress(CurateError, OSError):  # a disk that refuses only costs time
        replace_synced(
            private_folder(root) / PAGE.rpartition("/")[2],
            _BETWEEN.join([page, *others][:_PAGES]).encode("utf-8", "replace"),
        )


def was_asked_from(root: str, folder: str) -> bool:
    """Return whether a session was started in a folder, or below it, of late."""
    heads = [head for head in (page.partition("\n")[0] for page in _pages(root)) if folder in head or "\\" in head]
    if not heads:
        return False
    from ast import literal_eval
    from contextlib import suppress

    for head in heads:
        with suppress(ValueError, SyntaxError):
            asked = literal_eval(literal_eval(head).partition(" ")[2])
            if f"{asked['folder']}/".startswith(f"{folder}/"):
                return True
    return False


def _pages(root: str) -> list[str]:
    """Return the pages that are kept, newest first."""
    try:
        with open(f"{root}/{PAGE}", encoding="utf-8", newline="") as file:
            return file.read().split(_BETWEEN)
    except (OSError, ValueError):
        return []


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
        OSError, ValueError, LookupError: its settings say them in an unusual way, or not at all.
    """
    with open(f"{root}/{SETTINGS}", encoding="utf-8-sig") as file:
        rows = [line.partition("=") for line in f"\n{file.read()}".partition("\n[")[0].split("\n")]
    told = {"timezone": '"UTC"', "day_end": '"00:00"'} | {key.strip("\"' "): value for key, _, value in rows}
    zone, day_end = (told[key].split('"')[1] for key in ("timezone", "day_end"))
    hour, minute = map(int, day_end.split(":"))
    local = now + _offset(zone, now)
    day = time.gmtime(local - 60 * (60 * hour + minute))
    return time.strftime("%Y-%m-%d", day), time.strftime("%H:%M", time.gmtime(local))


def _offset(zone: str, now: float) -> int:
    """Return the seconds by which a zone is ahead of UTC, from the system's own table of it."""
    if zone == "UTC":
        return 0
    if ".." in zone or not os.path.isfile(f"{ZONES}/{zone}"):
        raise ValueError(zone)
    before = os.environ.get("TZ")
    try:
        os.environ["TZ"] = f":{ZONES}/{zone}"
        time.tzset()
        return time.localtime(now).tm_gmtoff
    finally:
        del os.environ["TZ"]
        if before is not None:
            os.environ["TZ"] = before
        time.tzset()
