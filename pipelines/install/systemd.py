"""systemd: a user service and its timer, and a service that tells of a night that failed."""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pipelines.errors import GitFault
from pipelines.install.filling import USUAL, clock, fill, plain
from pipelines.install.nights import Found, call, keys_file, unknown_at_night
from pipelines.install.plan import Edit, Plan
from pipelines.store.git import Git

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pipelines.install.plan import Asked

SERVICE: Final = "memcurate.service"
TIMER: Final = "memcurate.timer"
FAILED: Final = "memcurate-failed.service"
_SYSTEMCTL: Final = ("systemctl", "--user")
_EXAMPLE: Final = ":%h/.local/bin/curate"
_EXAMPLE_PATHS: Final = '"-%h/memory" "-%h/.cache/memcurate"'
_CALENDAR: Final = re.compile(r"^OnCalendar=\*-\*-\* (\d{2}:\d{2}):00(?: (\S+))?$", re.MULTILINE)
_WALLS: Final = re.compile(r"^# BEGIN walls\n.*?^# END walls\n", re.MULTILINE | re.DOTALL)
_GLOB: Final = re.compile(r"([*?\[\\])")
_NOT_STARTED: Final = range(200, 256)  # exit codes by which systemd says what of a service it could not set up
_KERNEL: Final = (
    ("/proc/sys/kernel/unprivileged_userns_clone", "0"),
    ("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1"),
    ("/proc/sys/user/max_user_namespaces", "0"),
)


def plan_systemd(asked: Asked, *, adding: bool) -> Plan:
    """Return what to do to have the units and the timer in force, or to have none of them any more.

    Raises:
        UsageFault: no such time, or a path that cannot stand in a unit.
    """
    folder = units_folder(asked.home)
    reload = (*_SYSTEMCTL, "daemon-reload")
    if not adding:
        edits = tuple(Edit(folder / name, lambda _: "") for name in (SERVICE, TIMER, FAILED))
        return Plan(edits, before=((*_SYSTEMCTL, "disable", "--now", TIMER),), after=(reload,))
    walls = has_user_namespaces() and walls_stand()
    edits = tuple(Edit(folder / name, _always(text)) for name, text in units(asked, walls=walls).items())
    notes = ["A user's timers stop at logout: say `loginctl enable-linger` once where you are not always logged in."]
    if not walls:
        notes.append(
            "No walls stand here for your services (user namespaces), so the walls of memcurate.service are left out."
        )
    notes += unknown_at_night(asked.home)
    return Plan(edits, tuple(notes), after=(reload, (*_SYSTEMCTL, "enable", "--now", TIMER)))


def found_in_systemd(asked: Asked) -> Found | None:
    """Return what stands among the person's units."""
    folder = units_folder(asked.home)
    timer, service = folder / TIMER, folder / SERVICE
    try:
        when, what = timer.read_text(encoding="utf-8"), service.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None
    calendar = _CALENDAR.search(when)
    ours = f"run --memory {quoted(str(asked.program.root))}\n" in what
    enabled = (folder / "timers.target.wants" / TIMER).is_symlink()
    return Found(
        "systemd", str(timer), calendar[1] if calendar else "", (calendar and calendar[2]) or "", ours, enabled
    )


def units(asked: Asked, *, walls: bool) -> dict[str, str]:
    """Return name → text of the units.

    Raises:
        UsageFault: no such time, or a path that cannot stand in a unit.
    """
    before = found_in_systemd(asked)
    time = asked.time or (before.time if before else "") or USUAL
    clock(time)
    # A bare colon before the program: what looks like a variable in a path is none.
    program = ":" + " ".join(quoted(plain(word)) for word in _startable(asked.program.words))
    memory = quoted(plain(asked.program.root))
    keys = _GLOB.sub(r"\\\1", plain(keys_file(asked.home))).replace("%", "%%")
    slots: Mapping[str, str] = {
        f"{_EXAMPLE} run --memory %h/memory": f"{program} run --memory {memory}",
        "-%h/.config/memcurate/environment": f"-{keys}",
        _EXAMPLE_PATHS: " ".join(quoted(f"-{plain(path)}") for path in _written(asked)),
    }
    service = fill(SERVICE, slots)
    told = {f"{_EXAMPLE} status --notify --memory %h/memory": f"{program} status --notify --memory {memory}"}
    zone = f" {asked.zone}" if asked.zone else ""
    return {
        SERVICE: service if walls else _WALLS.sub("# They are left out on this machine.\n", service),
        FAILED: fill(FAILED, told),
        TIMER: fill(TIMER, {"*-*-* 02:00:00": f"*-*-* {time}:00{zone}"}),
    }


def units_folder(home: Path) -> Path:
    """Return where a person's own units stand."""
    config = os.environ.get("XDG_CONFIG_HOME", "")
    return (Path(config) if Path(config).is_absolute() else home / ".config") / "systemd/user"


def has_user_namespaces() -> bool:
    """Whether the kernel lets a user's services have user namespaces, which their walls stand on."""
    return not any(_says(path, value) for path, value in _KERNEL)


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


def quoted(text: str) -> str:
    """Return a word as systemd reads it in a list of words, with what it takes for a specifier doubled."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"'


def _startable(words: Sequence[str]) -> Sequence[str]:
    """Return a call of a program that systemd accepts: it refuses a program whose path holds a quote or a backslash."""
    return words if not set(words[0]) & set("\"'\\") else ("/bin/sh", "-c", 'exec "$@"', "sh", *words)


def _written(asked: Asked) -> Iterable[Path]:
    """Return the folders that a night writes: the memory, the repository that it stands in, the models' cache."""
    root = asked.program.root.resolve()
    cache = os.environ.get("XDG_CACHE_HOME", "")
    kept = (Path(cache) if Path(cache).is_absolute() else asked.home / ".cache") / "memcurate"
    return dict.fromkeys([root, *(folder for folder in _repository(root) if not folder.is_relative_to(root)), kept])


def _repository(root: Path) -> list[Path]:
    """Return where the repository of a memory is on the disk; none where there is no repository yet."""
    with contextlib.suppress(GitFault):
        where = Git(root).repository
        return [folder.resolve() for folder in (where.git_dir, where.common_dir)]
    return []


def _says(path: str, value: str) -> bool:
    try:
        return Path(path).read_text(encoding="ascii").strip() == value
    except (OSError, ValueError):
        return False


def _always(text: str) -> Callable[[str], str]:
    return lambda _: text
