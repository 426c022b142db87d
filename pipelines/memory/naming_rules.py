"""The `[layout]` of curate.toml: what it may say, and every fault of it at once.

Its paths are paths of the memory: none leads out of it, into what is hidden, or through a symbolic link.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Any, Final

from pipelines.errors import fault_line
from pipelines.memory.daynames import DayNames, name_fault
from pipelines.memory.filenames import SOUL, Names
from pipelines.memory.layout import BRIEFING, LOGS, SETTINGS, USER, can_stand
from pipelines.provider_settings import foreign_keys

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_ROLES: Final = {"memory": BRIEFING, "user": USER, "soul": SOUL}
_ALIAS: Final = re.compile(r"git~\d", re.IGNORECASE)
"""What `.git` is called on some disks; git commits no such name."""
_MOST_GLOBS: Final = 200
_LONGEST_NAME: Final = 255
_LONGEST: Final = 1024
KEYS: Final = ("home", "logs", *_ROLES, "notes", "opted_in")


def layout_names(told: Any) -> Names:  # noqa: ANN401  what TOML gives; `layout_faults` has found no fault in it
    """Return the names that a layout without faults gives."""
    theirs = {own: told[key] for key, own in _ROLES.items() if told.get(key)}
    return Names(told["home"], DayNames(told["logs"]), theirs, tuple(told.get("notes", ())), _globs(told))


def _globs(told: Any) -> tuple[str, ...]:  # noqa: ANN401  as above
    return tuple(told.get("opted_in", ()))


def layout_faults(told: object, root: Path) -> list[str]:
    """Return each fault of a layout as `key = value: what is wrong`. What only the user's settings can say is none."""
    if not isinstance(told, dict):
        return [fault_line("layout", told, "it should be a table")]
    return [fault_line(f"layout.{key}", value, what) for key, value, what in _faults(told, root)]


def _faults(told: dict[str, object], root: Path) -> Iterator[tuple[str, object, str]]:
    set_aside = foreign_keys(told, KEYS)
    unknown = [key for key in told if key not in KEYS and key not in set_aside]
    yield from ((key, told[key], "there is no such key") for key in unknown)
    for key in ("home", "logs", *(role for role in _ROLES if role in told)):
        if what := _path_fault(told.get(key), root):
            yield key, told.get(key), what
    if isinstance(home := told.get("home"), str) and not _odd(home) and not all(map(_can_be_made, home.split("/"))):
        yield "home", home, "a folder of that name cannot be made on every disk, or not be committed"
    if isinstance(logs := told.get("logs"), str) and logs and (what := name_fault(logs)):
        yield "logs", logs, what
    for key in ("notes", "opted_in"):
        yield from _glob_faults(key, told.get(key, []))
    yield from _overlaps(told)


def _can_be_made(name: str) -> bool:
    return can_stand(name) and unicodedata.is_normalized("NFC", name) and not _ALIAS.fullmatch(name)


def _path_fault(value: object, root: Path) -> str:
    if not isinstance(value, str) or not value:
        return "it should be a path in the memory"
    if what := _odd(value):
        return what
    parts = value.split("/")
    above = ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]
    if link := next((one for one in above if (root / one).is_symlink()), ""):
        return f"{link} is a symbolic link, which is never followed"
    return ""


def _odd(value: str) -> str:
    parts = value.split("/")
    if value.startswith(("/", "~")) or ".." in parts:
        return "it leads out of the memory"
    if not value.isprintable() or "\\" in value or not all(parts):
        return "it is no plain path; write it with single / between folders and none at its ends"
    if len(value.encode()) > _LONGEST or any(len(part.encode()) > _LONGEST_NAME for part in parts):
        return "it is longer than a file can be called"
    if parts[0].casefold() == SETTINGS:
        return "the settings have that name"
    return "it is hidden, and what is hidden is left alone" if any(part.startswith(".") for part in parts) else ""


def _glob_faults(key: str, value: object) -> Iterator[tuple[str, object, str]]:
    if not isinstance(value, list):
        yield key, value, "it should be a list of globs"
        return
    if len(value) > _MOST_GLOBS:
        yield key, value, f"it has more than {_MOST_GLOBS} globs"
        return
    for number, glob in enumerate(value):
        plain = glob.removeprefix("!") if isinstance(glob, str) else ""
        if what := _odd(plain) if plain else 'it should be a glob, such as "**/*.md"':
            yield f"{key}[{number}]", glob, what


def _overlaps(told: dict[str, object]) -> Iterator[tuple[str, object, str]]:
    """Yield what stands in the way of another: two things under one name, or a file of the person's in the home."""
    home, logs = told.get("home"), told.get("logs")
    if not (isinstance(home, str) and isinstance(logs, str)):
        return
    if logs.startswith(f"{home}/") and not logs.startswith(f"{home}/{LOGS}/"):
        yield "logs", logs, f"daily notes can stand beside {home} or in {home}/{LOGS}, not elsewhere in it"
    if logs.partition("/")[0] == home and "/" not in logs:
        yield "home", home, "the daily notes have that name"
    taken: dict[object, str] = {}
    for key in _ROLES:
        value = told.get(key)
        if not isinstance(value, str):
            continue
        if value == home or value.startswith(f"{home}/"):
            yield key, value, f"it stands in {home}, which is for what runs make"
        if value in taken:
            yield key, value, f"layout.{taken[value]} says the same"
        if not name_fault(logs) and DayNames(logs).canonical(value):
            yield key, value, "it is named like a daily note"
        if not value.endswith(".md"):
            yield key, value, "it must end with .md"
        taken[value] = key
