"""cron: some lines between two marks in the person's crontab; every other byte stays as it is."""

from __future__ import annotations

import re
import shlex
from functools import partial
from typing import TYPE_CHECKING, Final

from pipelines.errors import CurateError
from pipelines.install.filling import USUAL, clock, fill, plain
from pipelines.install.nights import Found, call, keys_file, search_path, unknown_at_night
from pipelines.install.plan import Plan

if TYPE_CHECKING:
    from pipelines.install.plan import Asked

BEGIN: Final = "# memcurate:begin\n"
END: Final = "# memcurate:end\n"
_LONGEST: Final = 990  # bytes of a line; the oldest cron that is in use cuts at 1000
_EXAMPLE_KEYS: Final = '"$HOME/.config/memcurate/environment"'
_EXAMPLE_PATH: Final = "PATH=/usr/local/bin:/usr/bin:/bin"
_EXAMPLE_PROGRAM: Final = '"$HOME/.local/bin/curate"'
_EXAMPLE_MEMORY: Final = '"$HOME/memory"'
_NIGHT: Final = re.compile(r"^(\d{1,2}) (\d{1,2}) \* \* \* (.*)$", re.MULTILINE)


class CrontabRefused(CurateError):
    """Raised when the crontab cannot be read or written; it is as it was."""

    def __init__(self, what: str, why: str) -> None:
        advice = "See that `crontab -l` works for you, or use `curate install systemd` or `curate schedule`."
        super().__init__(f"Your crontab could not be {what}: {why}.", advice)


def plan_cron(asked: Asked, *, adding: bool) -> Plan:
    """Return what to do to have a line in the crontab, or to have none any more.

    Raises:
        CurateError: the crontab cannot be read, or the paths are too long for cron.
        UsageFault: no such time, or a path that cannot stand in a crontab.
    """
    if not adding:
        return Plan((), crontab=without_block)
    before = found_in_cron(asked)
    time = asked.time or (before.time if before else "") or USUAL
    notes = ["cron does not make up for a night when the machine was off; the next run reads all that is pending."]
    if asked.zone:
        notes.append(f"cron's {time} is the machine's; this memory's days are cut in {asked.zone}.")
    notes += unknown_at_night(asked.home)
    return Plan((), tuple(notes), crontab=partial(with_block, block=block(asked, time)))


def found_in_cron(asked: Asked) -> Found | None:
    """Return what stands in the crontab.

    Raises:
        CurateError: the crontab cannot be read.
    """
    text = read_crontab()
    place = _place(text)
    if place is None:
        return None
    inside = text[place[0] : place[1]]
    line = _NIGHT.search(inside)
    time = f"{int(line[2]):02}:{int(line[1]):02}" if line else ""
    return Found("cron", "your crontab", time, "", _quoted(str(asked.program.root)) in inside, enabled=line is not None)


def block(asked: Asked, time: str) -> str:
    """Return the lines with their marks.

    Raises:
        CurateError: the paths are too long for cron.
        UsageFault: no such time, or a path that cannot stand in a crontab.
    """
    hour, minute = clock(time)
    slots = {
        "0 2 * * *": f"{minute} {hour} * * *",
        _EXAMPLE_KEYS: _quoted(plain(keys_file(asked.home))),
        _EXAMPLE_PATH: f"PATH={_quoted(plain(search_path()))}",
        _EXAMPLE_PROGRAM: " ".join(_quoted(plain(word)) for word in asked.program.words),
        _EXAMPLE_MEMORY: _quoted(plain(asked.program.root)),
    }
    lines = fill("crontab", slots).partition(BEGIN)[2].partition(END)[0]
    if max(len(line.encode()) for line in lines.splitlines()) > _LONGEST:
        raise CurateError("The paths are too long for a line of a crontab.", "Use `curate install systemd`.")
    return BEGIN + lines + END


def with_block(text: str, block: str) -> str:
    """Return a crontab with the block: in the place of an older one, else at the end."""
    if (place := _place(text)) is not None:
        return text[: place[0]] + block + text[place[1] :]
    return text + ("\n" if text and not text.endswith("\n") else "") + block


def without_block(text: str) -> str:
    """Return a crontab without the block."""
    place = _place(text)
    return text if place is None else text[: place[0]] + text[place[1] :]


def read_crontab() -> str:
    """Return the person's crontab; empty where there is none.

    Raises:
        CurateError: it cannot be read.
    """
    answer = call(("crontab", "-l"))
    if answer.code == 0:
        return answer.out
    if answer.code == 1 and "no crontab" in answer.error.lower():
        return ""
    raise CrontabRefused("read", answer.why)


def write_crontab(text: str) -> None:
    """Replace the person's crontab; an empty one is removed.

    Raises:
        CurateError: it was refused, and is as it was.
    """
    answer = call(("crontab", "-"), text) if text else call(("crontab", "-r"))
    if answer.code:
        raise CrontabRefused("written", answer.why)


def _place(text: str) -> tuple[int, int] | None:
    begins, ends = (
        [found.start() for found in re.finditer(f"^{re.escape(mark)}", text, re.MULTILINE)] for mark in (BEGIN, END)
    )
    if not begins and not ends:
        return None
    if len(begins) != 1 or len(ends) != 1 or ends[0] < begins[0]:
        raise CrontabRefused("understood", "its marks of memcurate are not one beginning and one end after it")
    return begins[0], ends[0] + len(END)


def _quoted(text: str) -> str:
    """Return a word as a shell reads it, in a line of which cron takes a bare `%` for a line end."""
    return shlex.quote(text).replace("%", r"\%")
