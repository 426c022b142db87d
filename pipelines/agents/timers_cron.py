"""Nights by cron (lines in the crontab) and by launchd (a property list), and the commands that plans run."""

from __future__ import annotations

import contextlib
import os
import plistlib
import re
import shlex
import sys
from functools import partial
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from pipelines.agents.install_plan import InstallPlan, InstallRequest
from pipelines.agents.settings_files import CannotEdit, put_block
from pipelines.agents.timers import (
    ANSWERS,
    InstalledNight,
    call,
    clock,
    complaint,
    fill,
    found_in_systemd,
    keys_file,
    night_time,
    search_path,
    unknown_at_night,
    whole_file,
)
from pipelines.errors import CurateError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path


BEGIN = "# memcurate:begin"
END = "# memcurate:end"
_NIGHT = re.compile(r"^(\d{1,2}) (\d{1,2}) \* \* \* (.*)$", re.MULTILINE)
_PLACE = "Library/LaunchAgents/memcurate.plist"
_MEMORY_AT = 4


def crontab_change(plan: InstallPlan) -> tuple[str, str] | None:
    """Return the person's crontab before and after a plan, or None if nothing changes.

    Raises:
        CurateError: the crontab cannot be read or understood.
    """
    if plan.crontab is None:
        return None
    before = read_crontab()
    after = plan.crontab(before)
    return (before, after) if after != before else None


def run_in_order(commands: Iterable[Sequence[str]]) -> list[str]:
    """Run commands; return those that failed, quoted for a shell, each with the reason as a comment."""
    left = []
    for words in commands:
        answer = call(words)
        if answer.returncode:
            left.append(f"{shlex.join(words)}  # {complaint(answer)}")
    return left


def found_nights(asked: InstallRequest) -> list[InstalledNight]:
    """Return what is installed to run every night; a crontab that cannot be read counts as none."""
    nights = []
    for look in (found_in_cron, found_in_systemd, found_in_launchd):
        with contextlib.suppress(CurateError):
            nights += [one] if (one := look(asked)) else []
    return nights


def scheduler_here() -> str:
    """Return the scheduler that answers on this machine, the best first; empty if there is none."""
    if sys.platform == "darwin":
        return "launchd"
    if not call(ANSWERS).returncode:
        return "systemd"
    try:
        read_crontab()
    except CrontabRefused:
        return ""
    return "cron"


class CrontabRefused(CurateError):
    """Raised when the crontab cannot be read or written; it is unchanged."""

    def __init__(self, what: str, why: str) -> None:
        advice = "Make sure that `crontab -l` works, or use `curate install systemd` or `curate schedule`."
        super().__init__(f"Your crontab could not be {what}: {why}.", advice)


def plan_cron(asked: InstallRequest, *, adding: bool) -> InstallPlan:
    """Return the plan that adds the line to the crontab, or removes it.

    Raises:
        CurateError: the crontab cannot be read.
        UsageFault: the time is invalid.
    """
    if not adding:
        return InstallPlan((), crontab=partial(_with_block, block=""))
    time = night_time(asked, found_in_cron(asked))
    notes = ["cron skips nights when the machine is off; the next run reads everything that is pending."]
    if asked.zone:
        notes.append(f"cron's {time} is in the machine's time zone; this memory's days begin in {asked.zone}.")
    notes += unknown_at_night(asked.home)
    return InstallPlan((), tuple(notes), crontab=partial(_with_block, block=block(asked, time)))


def found_in_cron(asked: InstallRequest) -> InstalledNight | None:
    """Return what is installed in the crontab.

    Raises:
        CurateError: the crontab cannot be read.
    """
    text = read_crontab()
    inside = text.partition(BEGIN)[2].partition(END)[0]
    if not inside:
        return None
    line = _NIGHT.search(inside)
    time = f"{int(line[2]):02}:{int(line[1]):02}" if line else ""
    return InstalledNight(
        "cron", "your crontab", time, "", _quoted(asked.program.root) in inside, enabled=line is not None
    )


def block(asked: InstallRequest, time: str) -> str:
    """Return the lines for the crontab, with their marks.

    Raises:
        UsageFault: the time is invalid.
    """
    hour, minute = clock(time)
    slots = {
        "0 2 * * *": f"{minute} {hour} * * *",
        '"$HOME/.config/memcurate/environment"': _quoted(keys_file(asked.home)),
        "PATH=/usr/local/bin:/usr/bin:/bin": f"PATH={_quoted(search_path())}",
        '"$HOME/.local/bin/curate"': " ".join(_quoted(word) for word in asked.program.words),
        '"$HOME/memory"': _quoted(asked.program.root),
    }
    return BEGIN + fill("crontab", slots).partition(BEGIN)[2].partition(END)[0] + END


def _with_block(text: str, block: str) -> str:
    try:
        return put_block(text and text.rstrip("\n") + "\n", block, BEGIN, END)
    except CannotEdit as fault:
        raise CrontabRefused("understood", f"it {fault}") from None


def read_crontab() -> str:
    """Return the person's crontab, or an empty text if there is none.

    Raises:
        CurateError: it cannot be read.
    """
    answer = call(("crontab", "-l"))
    if answer.returncode == 0:
        return answer.stdout
    if answer.returncode == 1 and "no crontab" in answer.stderr.lower():
        return ""
    raise CrontabRefused("read", complaint(answer))


def write_crontab(text: str) -> None:
    """Replace the person's crontab; an empty one is removed.

    Raises:
        CurateError: it was refused; the crontab is unchanged.
    """
    answer = call(("crontab", "-"), text) if text else call(("crontab", "-r"))
    if answer.returncode:
        raise CrontabRefused("written", complaint(answer))


def _quoted(text: str | Path) -> str:
    """Return a word quoted for a shell and for cron, which reads a bare `%` as a line break."""
    return shlex.quote(str(text)).replace("%", r"\%")


def plan_launchd(asked: InstallRequest, *, adding: bool) -> InstallPlan:
    """Return the plan that makes launchd start a run every night, or removes that.

    Raises:
        UsageFault: the time is invalid.
    """
    file = asked.home / _PLACE
    domain = f"gui/{os.getuid()}"
    remove = ("launchctl", "bootout", f"{domain}/memcurate")
    if not adding:
        return InstallPlan((whole_file(file, ""),), before=(remove,))
    edit = whole_file(file, property_list(asked))
    notes = ["A Mac that was asleep runs when it wakes; one that was off runs the next night."]
    if asked.zone:
        notes.append(f"launchd's time is in the machine's time zone; this memory's days begin in {asked.zone}.")
    notes += unknown_at_night(asked.home)
    known = (remove,) if file.exists() else ()
    return InstallPlan((edit,), tuple(notes), before=known, after=(("launchctl", "bootstrap", domain, str(file)),))


def found_in_launchd(asked: InstallRequest) -> InstalledNight | None:
    """Return what is installed among the person's launch agents."""
    file = asked.home / _PLACE
    try:
        raw = plistlib.loads(file.read_bytes())
        words, when = raw["ProgramArguments"], raw["StartCalendarInterval"]
        time = f"{int(when['Hour']):02}:{int(when['Minute']):02}"
        ours = words[_MEMORY_AT] == str(asked.program.root)
    except (OSError, ValueError, LookupError, TypeError, plistlib.InvalidFileException):
        return None
    return InstalledNight("launchd", str(file), time, "", ours, enabled=None)


def property_list(asked: InstallRequest) -> str:
    """Return the text of the property list.

    Raises:
        UsageFault: the time is invalid.
    """
    hour, minute = clock(night_time(asked, found_in_launchd(asked)))
    return fill(
        "memcurate.plist",
        {
            "<integer>2</integer>": f"<integer>{hour}</integer>",
            "<integer>0</integer>": f"<integer>{minute}</integer>",
            "<string>/Users/YOU/.config/memcurate/environment</string>": _string(keys_file(asked.home)),
            "<string>/Users/YOU/memory</string>": _string(asked.program.root),
            "<string>/Users/YOU/.local/bin/curate</string>": "\n\t\t".join(map(_string, asked.program.words)),
            "<string>/opt/homebrew/bin:/usr/local/bin:/usr/bin:/bin</string>": _string(search_path()),
            "<string>/Users/YOU/Library/Logs/memcurate.log</string>": _string(
                asked.home / "Library/Logs/memcurate.log"
            ),
        },
    )


def _string(text: str | Path) -> str:
    return f"<string>{escape(str(text))}</string>"
