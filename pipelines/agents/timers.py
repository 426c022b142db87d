"""The targets that run every night: what they share, how a program of the system is asked, and systemd's units.

Their files are those of deploy/ with a person's own paths and time filled in, so that what is installed is what can be
read there.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pipelines.agents.install_plan import Edit, Plan
from pipelines.errors import GitFault, UsageFault
from pipelines.provider_settings import VOYAGE_KEY
from pipelines.store.git import Git
from pipelines.templating import resource

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pipelines.agents.install_plan import Asked


_USUAL: Final = "02:00"
"""When nights begin where nobody says: the day's log is closed, and few people work."""
_SECONDS: Final = 20.0
_NOT_RUN: Final = 127
_TIMED_OUT: Final = 124
SERVICE: Final = "memcurate.service"
TIMER: Final = "memcurate.timer"
FAILED: Final = "memcurate-failed.service"
_SYSTEMCTL: Final = ("systemctl", "--user")
_EXAMPLE: Final = ":%h/.local/bin/curate"
_EXAMPLE_PATHS: Final = '"-%h/memory" "-%h/.cache/memcurate" "-%h/.claude" "-%h/.codex"'
_CALENDAR: Final = re.compile(r"^OnCalendar=\*-\*-\* (\d{2}:\d{2}):00(?: (\S+))?$", re.MULTILINE)
_WALLS: Final = re.compile(r"^# BEGIN walls\n.*?^# END walls\n", re.MULTILINE | re.DOTALL)
_GLOB: Final = re.compile(r"([*?\[\\])")
_NOT_STARTED: Final = range(200, 256)  # exit codes by which systemd says what of a service it could not set up
_KERNEL: Final = (
    ("/proc/sys/kernel/unprivileged_userns_clone", "0"),
    ("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1"),
    ("/proc/sys/user/max_user_namespaces", "0"),
)


@dataclass(frozen=True, slots=True)
class Found:
    """What of a target is installed.

    Args:
        target: its name.
        place: where it stands.
        time: when its nights begin, `HH:MM`, or empty where that cannot be read.
        zone: the time zone of that, or empty for the machine's.
        ours: whether it is for the memory that was asked about.
        enabled: whether it is in force, or None where that cannot be told.
    """

    target: str
    place: str
    time: str
    zone: str
    ours: bool
    enabled: bool | None


@dataclass(frozen=True, slots=True)
class Answer:
    """What a program came to: its exit code, and what it said on its two streams."""

    code: int
    out: str
    error: str

    @property
    def why(self) -> str:
        """The last line that it complained with."""
        lines = [line for line in self.error.splitlines() if line.strip()]
        return lines[-1].strip() if lines else f"it ended with exit code {self.code} and said nothing"


def call(words: Sequence[str], data: str = "") -> Answer:
    """Run a program of the system to its end, within seconds, and return what it came to."""
    program, name = shutil.which(words[0]), f"the program `{words[0]}`"
    if program is None:
        return Answer(_NOT_RUN, "", f"{name} was not found")
    try:
        done = subprocess.run(
            [program, *words[1:]],
            input=data.encode(errors="surrogateescape"),
            capture_output=True,
            check=False,
            env={**os.environ, "LC_ALL": "C"},
            timeout=_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return Answer(_TIMED_OUT, "", f"{name} did not end within {_SECONDS:.0f} seconds")
    except OSError as fault:
        return Answer(_NOT_RUN, "", f"{name} cannot be run: {(fault.strerror or str(fault)).lower()}")
    out, error = (part.decode(errors="surrogateescape") for part in (done.stdout, done.stderr))
    return Answer(done.returncode, out, error)


def keys_file(home: Path) -> Path:
    """Return the file of the environment that nights get, where keys of models stand."""
    return _xdg_folder("XDG_CONFIG_HOME", home / ".config") / "memcurate/environment"


def _xdg_folder(variable: str, usual: Path) -> Path:
    named = Path(os.environ.get(variable, ""))
    return named if named.is_absolute() else usual


def night_time(asked: Asked, found: Found | None) -> str:
    """Return when the nights begin: as was asked for, else as what is installed says, else at the usual time."""
    return asked.time or (found.time if found else "") or _USUAL


def unknown_at_night(home: Path) -> list[str]:
    """Return a sentence that names what the shell sets and nights would not know; none where they know all.

    A key that only the shell has is the quiet way to nights without a model. Its value is not looked at.
    """
    from pipelines.user_settings import KEY_VARIABLES  # noqa: PLC0415  the user's settings are for this alone

    file = keys_file(home)
    try:
        known = set(re.findall(r"^\s*(?:export\s+)?(\w+)=", file.read_text(encoding="utf-8"), re.MULTILINE))
    except (OSError, ValueError):
        known = set()
    logins = ("CLAUDE_CONFIG_DIR", "CLAUDE_CODE_OAUTH_TOKEN", "CODEX_HOME")
    names = ("CURATE_CONFIG", "XDG_CONFIG_HOME", VOYAGE_KEY, *chain.from_iterable(KEY_VARIABLES.values()), *logins)
    unknown = [name for name in dict.fromkeys(names) if os.environ.get(name, "").strip() and name not in known]
    return unknown and [
        f"Nights do not know what your shell sets: write {', '.join(unknown)} into {file}, a line NAME=value each."
    ]


def search_path() -> str:
    """Return the PATH of a night: git's folder, and the usual ones."""
    usual = ["/usr/local/bin", "/usr/bin", "/bin"]
    git = shutil.which("git")
    folder = str(Path(git).parent) if git else ""
    return ":".join(usual if folder in {*usual, ""} else [folder, *usual])


def plan_systemd(asked: Asked, *, adding: bool) -> Plan:
    """Return what to do to have the units and the timer in force, or to have none of them any more.

    Raises:
        UsageFault: no such time, or a path that cannot stand in a unit.
    """
    folder = _units_folder(asked.home)
    reload = (*_SYSTEMCTL, "daemon-reload")
    if not adding:
        edits = tuple(whole_file(folder / name, "") for name in (SERVICE, TIMER, FAILED))
        return Plan(edits, before=((*_SYSTEMCTL, "disable", "--now", TIMER),), after=(reload,))
    walls = has_user_namespaces() and walls_stand()
    edits = tuple(whole_file(folder / name, text) for name, text in units(asked, walls=walls).items())
    notes = ["A user's timers stop at logout: say `loginctl enable-linger` once where you are not always logged in."]
    if not walls:
        notes.append(
            "No walls stand here for your services (user namespaces), so the walls of memcurate.service are left out."
        )
    notes += unknown_at_night(asked.home)
    return Plan(edits, tuple(notes), after=(reload, (*_SYSTEMCTL, "enable", "--now", TIMER)))


def found_in_systemd(asked: Asked) -> Found | None:
    """Return what stands among the person's units."""
    folder = _units_folder(asked.home)
    timer = folder / TIMER
    try:
        when, what = timer.read_text(encoding="utf-8"), (folder / SERVICE).read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None
    time, zone = found.groups("") if (found := _CALENDAR.search(when)) else ("", "")
    ours = f"run --memory {_quoted(str(asked.program.root))}\n" in what
    enabled = (folder / "timers.target.wants" / TIMER).is_symlink()
    return Found("systemd", str(timer), time, zone, ours, enabled)


def units(asked: Asked, *, walls: bool) -> dict[str, str]:
    """Return name → text of the units.

    Raises:
        UsageFault: no such time, or a path that cannot stand in a unit.
    """
    time = night_time(asked, found_in_systemd(asked))
    clock(time)
    # A bare colon before the program: what looks like a variable in a path is none.
    words = asked.program.words
    if set(words[0]) & set("\"'\\"):  # systemd refuses a program whose path holds a quote or a backslash
        words = ("/bin/sh", "-c", 'exec "$@"', "sh", *words)
    program = ":" + " ".join(_quoted(printable_path(word)) for word in words)
    memory = _quoted(printable_path(asked.program.root))
    keys = _GLOB.sub(r"\\\1", printable_path(keys_file(asked.home))).replace("%", "%%")
    slots: Mapping[str, str] = {
        f"{_EXAMPLE} run --memory %h/memory": f"{program} run --memory {memory}",
        "-%h/.config/memcurate/environment": f"-{keys}",
        _EXAMPLE_PATHS: " ".join(_quoted(f"-{printable_path(path)}") for path in _written(asked)),
    }
    service = fill(SERVICE, slots)
    failed_slots = {f"{_EXAMPLE} status --notify --memory %h/memory": f"{program} status --notify --memory {memory}"}
    zone = f" {asked.zone}" if asked.zone else ""
    return {
        SERVICE: service if walls else _WALLS.sub("# They are left out on this machine.\n", service),
        FAILED: fill(FAILED, failed_slots),
        TIMER: fill(TIMER, {"*-*-* 02:00:00": f"*-*-* {time}:00{zone}"}),
    }


def has_user_namespaces() -> bool:
    """Whether the kernel lets a user's services have user namespaces, which their walls stand on."""
    for path, value in _KERNEL:
        with contextlib.suppress(OSError, ValueError):
            if Path(path).read_text(encoding="ascii").strip() == value:
                return False
    return True


def walls_stand() -> bool:
    """Whether a service that does nothing starts within the walls; also where nothing here can say so.

    What a kernel and its policies allow a user's services is told by no setting alone, so it is tried.
    """
    inside = _WALLS.search(fill(SERVICE, {}))
    lines = inside[0].splitlines() if inside else []
    walls = [line for line in lines if not line.startswith(("#", "ReadWritePaths="))]
    asked = [word for wall in walls for word in ("-p", wall)]
    answer = call(("systemd-run", "--user", "--wait", "--quiet", "--collect", *asked, "/bin/true"))
    return answer.code not in _NOT_STARTED


def _quoted(text: str) -> str:
    """Return a word as systemd reads it in a list of words, with what it takes for a specifier doubled."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"'


def _written(asked: Asked) -> Iterable[Path]:
    """Return the folders that a night writes: the memory, its repository, the models' cache, and the agents' logins."""
    root = asked.program.root.resolve()
    folders = [root]
    with contextlib.suppress(GitFault):  # there may be no repository yet
        where = Git(root).repository
        places = (folder.resolve() for folder in (where.git_dir, where.common_dir))
        folders += [folder for folder in places if not folder.is_relative_to(root)]
    logins = [asked.home / ".claude", asked.home / ".codex"]
    return dict.fromkeys([*folders, _xdg_folder("XDG_CACHE_HOME", asked.home / ".cache") / "memcurate", *logins])


def _units_folder(home: Path) -> Path:
    return _xdg_folder("XDG_CONFIG_HOME", home / ".config") / "systemd/user"


def whole_file(path: Path, text: str) -> Edit:
    """Return the edit that gives a file this text whatever it held; an empty one removes the file."""
    return Edit(path, lambda _: text)


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
    longest_first = map(re.escape, sorted(slots, key=len, reverse=True))
    return re.sub("|".join(longest_first), lambda found: slots[found[0]], text) if slots else text


def clock(text: str) -> tuple[int, int]:
    """Return hour and minute of a time of day.

    Raises:
        UsageFault: it is none.
    """
    found = re.fullmatch(r"([01]\d|2[0-3]):([0-5]\d)", text, re.ASCII)
    if not found:
        raise UsageFault(f"--time {text} is no time of day.", "Write it like 02:00 or 23:30.")
    return int(found[1]), int(found[2])


def printable_path(path: Path | str) -> str:
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
