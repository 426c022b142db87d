"""The settings that the startup context needs, kept small in `.curate/context.txt` by each run.

Reading curate.toml takes its parser and its checks, longer than all the rest. The cache holds the stamp of the
curate.toml that it was made from, so one that a person changed is never believed.
"""

from __future__ import annotations

import os

from pipelines.queries.startup.read import open_folder, read_part

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

CACHE = ".curate/context.txt"
_VERSION = "memcurate context 2"
_SETTLED = 2_000_000_000  # a file that changed within two seconds can change again under the same stamp
_AHEAD_DAYS = 10
_CHANGES_AT = 900  # clocks change at such multiples of seconds
_ASKED = "asked"
_ASKED_DAYS = 7
_BEGINS = ("-", "_", " ", ".", "T")


class StartupSettings:
    """What a session's start needs of the settings; without any, days are those of Greenwich and places the usual ones.

    Whoever makes one sets what is otherwise.
    """

    east = 0
    """Seconds that the clock of the memory's zone is ahead of Greenwich's."""
    day_end = 0
    """Minutes past midnight until which the night belongs to the day before."""
    home = ""
    """The folder of what runs make, with `/` at its end; empty for the memory itself."""
    logs = ""
    """How daily notes are named, as curate.toml says; empty for `Logs/{YYYY}-{MM}-{DD}.md`."""
    theirs: Sequence[tuple[str, str]] = ()
    """(name, file) pairs: the person's own file that plays that part beside the runs' one, or in its place."""
    only_theirs: Sequence[str] = ()
    """The names for which there is only the person's file."""
    more: Sequence[str] = ()
    """Folders with documents of the person's that can be a project's, each with `/` at its end."""

    def day_number(self, moment: float) -> int:
        """Return the memory's day at a moment, counted from 1970-01-01."""
        return int((self.local(moment) - 60 * self.day_end) // 86400)

    def local(self, moment: float) -> float:
        """Return what the clock of the memory's zone shows at a moment, counted in seconds from 1970-01-01T00:00."""
        return moment + self.east

    @property
    def projects(self) -> tuple[str, ...]:
        """The folders in which documents of projects stand."""
        return f"{self.home}Projects/", *self.more

    def documents(self, name: str) -> list[str]:
        """Return the files that play SOUL.md, USER.md or MEMORY.md, the person's own in front."""
        if not self.home:
            return [name]
        theirs = [path for played, path in self.theirs if played == name]
        return theirs if name in self.only_theirs else [*theirs, f"{self.home}{name}"]

    def log(self, day: str) -> str:
        """Return the path of the log of a day, `YYYY-MM-DD`."""
        return f"{self._stem(day)}.md" if self.logs else f"Logs/{day}.md"

    def others(self, root: str, day: str) -> list[str]:
        """Return what else tells of a day: its partial logs, or the notes whose names begin with it."""
        folder, slash, begin = self._stem(day).rpartition("/") if self.logs else ("Logs/partial", "/", day)
        if self.logs and not self.logs.endswith("*.md"):
            return []
        try:
            names = sorted(os.listdir(f"{root}/{folder}"))
        except OSError:
            return []
        found = [name for name in names if name.startswith(begin) and name.endswith(".md")]
        if self.logs:
            found = [name for name in found if name[len(begin) : -3].startswith(_BEGINS)]
        return [f"{folder}{slash}{name}" for name in found]

    def _stem(self, day: str) -> str:
        stem = self.logs.removesuffix(".md").removesuffix("*")
        return stem.replace("{YYYY}", day[:4]).replace("{MM}", day[5:7]).replace("{DD}", day[8:])


def read_cache(root: str, now: float) -> StartupSettings | None:
    """Return what the cache holds, or None where there is none for this curate.toml and this moment."""
    found = StartupSettings()
    try:
        version, stamp, since, until, east, day_end, *rows = read_part(root, CACHE, 1 << 16).split("\n")
        found.east, found.day_end = int(east), int(day_end)
        if version != _VERSION or stamp != _stamp(root) or not float(since) <= now < float(until):
            return None
        places = [row[1:].partition("\t") for row in rows if row[:1] == "="]
        named = {key: [value for other, _, value in places if other == key] for key, *_ in places}
        found.home, found.logs = ("".join(named.pop(key, ())) for key in ("home", "logs"))
        found.only_theirs, found.more = (named.pop(key, ()) for key in ("only", "more"))
        found.theirs = [(name, path) for name, (path,) in named.items()]
    except (OSError, ValueError, IndexError):
        return None
    return found


def load_cached(root: str, now: float) -> StartupSettings:
    """Return what the settings say, from the cache or else from curate.toml, for which the cache is then made anew.

    Raises:
        BadSettings: curate.toml has faults.
    """
    return read_cache(root, now) or write_cache(root, now)


def settings_of(root: str, now: float) -> StartupSettings:
    """Return the same; if curate.toml has faults, the day of Greenwich and the usual places, for a session goes on."""
    try:
        return load_cached(root, now)
    except Exception:  # noqa: BLE001  `curate status` names the faults
        return StartupSettings()


def write_cache(root: str, now: float) -> StartupSettings:
    """Make the cache anew from curate.toml and return what it holds; a disk that refuses only costs the next start.

    Raises:
        BadSettings: curate.toml has faults.
    """
    from pathlib import Path  # the cache is there so that this is seldom needed

    from pipelines.settings import load_settings
    from pipelines.store.in_place_layout import InPlaceLayout
    from pipelines.store.layout import SOUL
    from pipelines.store.user_layout import layout_of

    before = _stamp(root)
    settings = load_settings(Path(root))
    hour, minute = settings.day_end.split(":")
    made = StartupSettings()
    (made.east, *held), made.day_end = _offset(settings.timezone, now), 60 * int(hour) + int(minute)
    if isinstance(names := layout_of(Path(root)), InPlaceLayout):
        made.home, made.logs, made.theirs = f"{names.home}/", names.days.pattern, list(names.theirs.items())
        only = [own for own, real in names.theirs.items() if own == SOUL or names.is_opted_in(real)]
        made.only_theirs, made.more = list(dict.fromkeys([*only, SOUL])), list(names.open_folders)
    if before == _stamp(root) and max(map(int, before.split()[:2])) + _SETTLED < now * 1e9:
        rows = [*map(str, held), str(made.east), str(made.day_end)]
        if made.home:
            lists = [*(("only", name) for name in made.only_theirs), *(("more", folder) for folder in made.more)]
            pairs = [("home", made.home), ("logs", made.logs), *made.theirs, *lists]
            rows += [f"={key}\t{value}" for key, value in pairs]
        _save(root, "\n".join([_VERSION, before, *rows, ""]))
    return made


def note_asked(root: str) -> None:
    """Note that a session asks for its start now; a disk that refuses only costs the note."""
    try:
        folder = open_folder(root, [".curate"])
        try:
            os.close(os.open(_ASKED, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600, dir_fd=folder))
            os.utime(_ASKED, dir_fd=folder, follow_symlinks=False)
        finally:
            os.close(folder)
    except OSError:
        return


def was_asked(root: str, now: float) -> bool:
    """Whether a session asked for its start in the week before a moment, or later."""
    try:
        return os.stat(f"{root}/.curate/{_ASKED}").st_mtime > now - 86400 * _ASKED_DAYS
    except OSError:
        return False


def _stamp(root: str) -> str:
    """Return what tells a curate.toml from another: its times, size and number."""
    found = os.stat(f"{root}/curate.toml")
    return f"{found.st_mtime_ns} {found.st_ctime_ns} {found.st_size} {found.st_ino}"


def _offset(zone: str, now: float) -> tuple[int, float, float]:
    """Return the zone's offset at a moment, in seconds, and from and until when it is known to hold."""
    from datetime import UTC, datetime
    from zoneinfo import ZoneInfo

    place = ZoneInfo(zone)

    def offset(moment: float) -> int:
        delta = datetime.fromtimestamp(moment, UTC).astimezone(place).utcoffset()
        return int(delta.total_seconds()) if delta else 0

    begin = now // _CHANGES_AT * _CHANGES_AT
    ahead = [begin + _CHANGES_AT * at for at in range(1, _AHEAD_DAYS * 86400 // _CHANGES_AT)]
    until = next((moment for moment in ahead if offset(moment) != offset(now)), ahead[-1])
    return offset(now), begin - 86400 * (offset(begin - 86400) == offset(now)), until


def _save(root: str, text: str) -> None:
    folder, _, name = CACHE.rpartition("/")
    aside = f"{name}.{os.getpid()}"
    try:
        here = open_folder(root, [folder])
        try:
            descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=here)
            with open(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
            os.rename(aside, name, src_dir_fd=here, dst_dir_fd=here)
        finally:
            os.close(here)
    except OSError:
        return
