"""What the targets that run every night share: what is found of them, and how another program is asked."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pipelines.provider_settings import VOYAGE_KEY

if TYPE_CHECKING:
    from collections.abc import Sequence


_SECONDS: Final = 20.0
NOT_THERE: Final = 127
TIMED_OUT: Final = 124


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
    program = shutil.which(words[0])
    if program is None:
        return Answer(NOT_THERE, "", f"the program `{words[0]}` was not found")
    environ = {**os.environ, "LC_ALL": "C"}
    try:
        done = subprocess.run(
            [program, *words[1:]],
            input=data.encode(errors="surrogateescape"),
            capture_output=True,
            check=False,
            env=environ,
            timeout=_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return Answer(TIMED_OUT, "", f"the program `{words[0]}` did not end within {_SECONDS:.0f} seconds")
    except OSError as fault:
        return Answer(
            NOT_THERE, "", f"the program `{words[0]}` cannot be run: {(fault.strerror or str(fault)).lower()}"
        )
    out, error = (part.decode(errors="surrogateescape") for part in (done.stdout, done.stderr))
    return Answer(done.returncode, out, error)


def keys_file(home: Path) -> Path:
    """Return the file of the environment that nights get, where keys of models stand."""
    config = os.environ.get("XDG_CONFIG_HOME", "")
    return (Path(config) if Path(config).is_absolute() else home / ".config") / "memcurate/environment"


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
    names = ("CURATE_CONFIG", "XDG_CONFIG_HOME", VOYAGE_KEY, *(key for keys in KEY_VARIABLES.values() for key in keys))
    unknown = [name for name in dict.fromkeys(names) if os.environ.get(name, "").strip() and name not in known]
    if not unknown:
        return []
    return [f"Nights do not know what your shell sets: write {', '.join(unknown)} into {file}, a line NAME=value each."]


def search_path() -> str:
    """Return the PATH of a night: git's folder, and the usual ones."""
    usual = ["/usr/local/bin", "/usr/bin", "/bin"]
    git = shutil.which("git")
    folder = str(Path(git).parent) if git else ""
    return ":".join(usual if folder in {*usual, ""} else [folder, *usual])
