"""The targets that run every night: systemd's units, cron's lines in the crontab, and launchd's property list.

The installed files are those in deploy/ with a person's own paths and time filled in.
"""

from __future__ import annotations

import contextlib
import os
import plistlib
import re
import shlex
import shutil
import subprocess
import sys
from functools import partial
from itertools import chain
from pathlib import Path
from subprocess import CompletedProcess
from typing import TYPE_CHECKING, NamedTuple
from xml.sax.saxutils import escape

from pipelines.agents.install_plan import Edit, InstallPlan, InstallRequest
from pipelines.agents.settings_files import CannotEdit, put_block
from pipelines.errors import CurateError, UsageFault, reason_of
from pipelines.provider_settings import VOYAGE_KEY
from pipelines.templating import resource

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


_USUAL = "02:00"
"""When nights begin by default: the day's log is closed, and few people work."""
_SECONDS = 20.0
_NOT_RUN = 127
SERVICE = "memcurate.service"
TIMER = "memcurate.timer"
FAILED = "memcurate-failed.service"
_SYSTEMCTL = ("systemctl", "--user")
ANSWERS = (*_SYSTEMCTL, "show-environment")
"""A command that succeeds where a systemd of the user runs, and can be reached."""
_EXAMPLE = ":%h/.local/bin/curate"
_CALENDAR = re.compile(r"^OnCalendar=\*-\*-\* (\d{2}:\d{2}):00(?: (\S+))?$", re.MULTILINE)
_GLOB = re.compile(r"([*?\[\\])")
NO_SCHEDULER = "Neither systemd nor cron answers here. `curate schedule` runs the nights in the foreground."
BEGIN = "# memcurate:begin"
END = "# memcurate:end"
_NIGHT = re.compile(r"^(\d{1,2}) (\d{1,2}) \* \* \* (.*)$", re.MULTILINE)
_PLACE = "Library/LaunchAgents/memcurate.plist"
_MEMORY_AT = 4


class InstalledNight(NamedTuple):
    """An installed nightly run.

    Args:
        target: the name of its target.
        place: where it is installed.
        time: when its nights begin, `HH:MM`, or empty if that cannot be read.
        zone: the time zone of that, or empty for the machine's.
        ours: whether it is for the memory in question.
        enabled: whether it is active, or None if that cannot be known.
    """

    target: str
    place: str
    time: str
    zone: str
    ours: bool
    enabled: bool | None


def call(words: Sequence[str], data: str = "") -> CompletedProcess[str]:
    """Run a system program with a timeout, and return the result."""
    program, why = shutil.which(words[0]), "was not found"
    try:
        if program:
            return subprocess.run(
                [program, *words[1:]],
                input=data,
                capture_output=True,
                check=False,
                encoding="utf-8",
                errors="surrogateescape",
                env={**os.environ, "LC_ALL": "C"},
                timeout=_SECONDS,
            )
    except subprocess.TimeoutExpired:
        why = f"did not finish within {_SECONDS:.0f} seconds"
    except OSError as fault:
        why = f"cannot be started: {reason_of(fault)}"
    return CompletedProcess(words, _NOT_RUN, "", f"the program `{words[0]}` {why}")


def complaint(done: CompletedProcess[str]) -> str:
    """Return the last line that a program printed as its error."""
    lines = done.stderr.strip().splitlines()
    return lines[-1].strip() if lines else f"it failed with exit code {done.returncode} and no message"


def keys_file(home: Path) -> Path:
    """Return the file with the environment of nights, which holds the keys of models."""
    return _config_folder(home) / "memcurate/environment"


def _config_folder(home: Path) -> Path:
    named = Path(os.environ.get("XDG_CONFIG_HOME", ""))
    return named if named.is_absolute() else home / ".config"


def night_time(asked: InstallRequest, found: InstalledNight | None) -> str:
    """Return when nights begin: the time asked for, else the installed one, else the default."""
    return asked.time or (found.time if found else "") or _USUAL


def unknown_at_night(home: Path) -> list[str]:
    """Return a sentence that names the variables that the shell sets and nights would lack, if there are any.

    A key that only the shell has quietly leads to nights without a model. Values are not read.
    """
    from pipelines.user_settings import KEY_VARIABLES  # noqa: PLC0415  only this needs the user's settings

    file = keys_file(home)
    try:
        known = set(re.findall(r"^\s*(?:export\s+)?(\w+)=", file.read_text(encoding="utf-8"), re.MULTILINE))
    except (OSError, ValueError):
        known = set()
    logins = ("CLAUDE_CONFIG_DIR", "CLAUDE_CODE_OAUTH_TOKEN", "CODEX_HOME")
    names = ("CURATE_CONFIG", "XDG_CONFIG_HOME", VOYAGE_KEY, *chain.from_iterable(KEY_VARIABLES.values()), *logins)
    unknown = [name for name in dict.fromkeys(names) if os.environ.get(name, "").strip() and name not in known]
    return unknown and [
        f"Nights do not see your shell's variables. Put {', '.join(unknown)} into {file}, one line NAME=value for each."
    ]


def search_path() -> str:
    """Return the PATH of nights: git's folder and the usual ones."""
    usual = ["/usr/local/bin", "/usr/bin", "/bin"]
    git = shutil.which("git")
    folder = str(Path(git).parent) if git else ""
    return ":".join(usual if folder in {*usual, ""} else [folder, *usual])


def plan_systemd(asked: InstallRequest, *, adding: bool) -> InstallPlan:
    """Return the plan that installs the units and starts the timer, or removes them.

    Raises:
        UsageFault: the time is invalid.
    """
    folder = _config_folder(asked.home) / "systemd/user"
    reload = (*_SYSTEMCTL, "daemon-reload")
    if not adding:
        edits = [whole_file(folder / name, "") for name in (SERVICE, TIMER, FAILED)]
        return InstallPlan(edits, before=((*_SYSTEMCTL, "disable", "--now", TIMER),), after=(reload,))
    edits = [whole_file(folder / name, text) for name, text in units(asked).items()]
    linger = "User timers stop when you log out. Run `loginctl enable-linger` once to keep them going."
    notes = (linger, *unknown_at_night(asked.home))
    return InstallPlan(edits, notes, needs=ANSWERS, after=(reload, (*_SYSTEMCTL, "enable", "--now", TIMER)))


def found_in_systemd(asked: InstallRequest) -> InstalledNight | None:
    """Return what is installed among the person's units."""
    folder = _config_folder(asked.home) / "systemd/user"
    timer = folder / TIMER
    try:
        when, what = timer.read_text(encoding="utf-8"), (folder / SERVICE).read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None
    time, zone = found.groups("") if (found := _CALENDAR.search(when)) else ("", "")
    ours = f"run --memory {_quoted(asked.program.root)}\n" in what
    enabled = (folder / "timers.target.wants" / TIMER).is_symlink()
    return InstalledNight("systemd", str(timer), time, zone, ours, enabled)


def units(asked: InstallRequest) -> dict[str, str]:
    """Return the text of each unit by name.

    Raises:
        UsageFault: the time is invalid.
    """
    time = night_time(asked, found_in_systemd(asked))
    clock(time)
    # With a colon before the program, systemd leaves `$` in paths alone.
    program = ":" + " ".join(map(_quoted, asked.program.words))
    memory = _quoted(asked.program.root)
    keys = _GLOB.sub(r"\\\1", str(keys_file(asked.home))).replace("%", "%%")
    slots = {
        f"{_EXAMPLE} run --memory %h/memory": f"{program} run --memory {memory}",
        "-%h/.config/memcurate/environment": f"-{keys}",
    }
    failed_slots = {f"{_EXAMPLE} status --notify --memory %h/memory": f"{program} status --notify --memory {memory}"}
    zone = f" {asked.zone}" if asked.zone else ""
    return {
        SERVICE: fill(SERVICE, slots),
        FAILED: fill(FAILED, failed_slots),
        TIMER: fill(TIMER, {"*-*-* 02:00:00": f"*-*-* {time}:00{zone}"}),
    }


def _quoted(text: str | Path) -> str:
    """Return a word quoted for systemd, with `%` doubled."""
    escaped = str(text).replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"'


def whole_file(path: Path, text: str) -> Edit:
    """Return the edit that replaces the text of a file; an empty text removes the file."""
    return Edit(path, lambda _: text)


def fill(name: str, slots: Mapping[str, str]) -> str:
    """Return a file of deploy/ with its examples replaced; everything else stays, comments included.

    Args:
        name: the file.
        slots: each example, which must be in the file → its replacement, quoted as the file wants it.

    Raises:
        BadFile: the file is missing from the installation.
        LookupError: an example is missing from the file.
    """
    text = (resource("deploy") / name).read_text(encoding="utf-8")
    if missing := [example for example in slots if example not in text]:
        raise LookupError(missing)
    longest_first = map(re.escape, sorted(slots, key=len, reverse=True))
    return re.sub("|".join(longest_first), lambda found: slots[found[0]], text) if slots else text


def clock(text: str) -> tuple[int, int]:
    """Return the hour and minute of a time of day.

    Raises:
        UsageFault: it is not a time of day.
    """
    found = re.fullmatch(r"([01]\d|2[0-3]):([0-5]\d)", text, re.ASCII)
    if not found:
        raise UsageFault(f"{text} is not a time of day.", "Write it like 02:00 or 23:30.")
    return int(found[1]), int(found[2])


def notify(root: Path) -> str:
    """Notify a person on the desktop of nights that need them; return what to say on standard error.

    The message names the memory's folder and the commands that tell more; it holds no text of the memory.
    """
    text = f"The nights of the memory in {root} need you: `curate status` says why, `curate doctor` what to do."
    has_desktop = any(map(os.environ.get, ("DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY")))
    words = ("notify-send", "--app-name", "memcurate", "--urgency=critical", "--", "memcurate", text)
    return "Notified you on the desktop." if has_desktop and call(words).returncode == 0 else text


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
    return InstallPlan((), notes, crontab=partial(_with_block, block=block(asked, time)))


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
        "cron", "your crontab", time, "", _for_cron(asked.program.root) in inside, enabled=line is not None
    )


def block(asked: InstallRequest, time: str) -> str:
    """Return the lines for the crontab, with their marks.

    Raises:
        UsageFault: the time is invalid.
    """
    hour, minute = clock(time)
    slots = {
        "0 2 * * *": f"{minute} {hour} * * *",
        '"$HOME/.config/memcurate/environment"': _for_cron(keys_file(asked.home)),
        "PATH=/usr/local/bin:/usr/bin:/bin": f"PATH={_for_cron(search_path())}",
        '"$HOME/.local/bin/curate"': " ".join(_for_cron(word) for word in asked.program.words),
        '"$HOME/memory"': _for_cron(asked.program.root),
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


def _for_cron(text: str | Path) -> str:
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
    return InstallPlan((edit,), notes, before=known, after=(("launchctl", "bootstrap", domain, str(file)),))


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
