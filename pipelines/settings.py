"""The memory's own settings, `curate.toml`: what is safe to share.

Whatever could spend money, name an endpoint or run a command is in the user's own settings, outside the memory.
"""

from __future__ import annotations

import re
from pathlib import Path  # noqa: TC003  read at run time by pydantic's namespace
from typing import Annotated, ClassVar
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from pipelines.errors import BadFile, BadSettings, faults_of, read_toml
from pipelines.store.layout import LINKED, SETTINGS
from pipelines.text import fold


def _zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (LookupError, ValueError, OSError):
        raise ValueError("not a known time zone; write an IANA name such as Europe/Zurich") from None
    return name


def _clock(text: str) -> str:
    if not re.fullmatch(r"([01]\d|2[0-3]):[0-5]\d", text, re.ASCII):
        raise ValueError("not a time of day; write it like 04:00")
    return text


Clock = Annotated[str, AfterValidator(_clock)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="allow", frozen=True, strict=True)


def _nights(told: object) -> object:
    if told == []:
        raise ValueError("an empty list; write it like ['02:00', '14:00']")
    return [told] if isinstance(told, str) else told


LoadedSize = Annotated[int, Field(ge=1024, le=1_000_000)]  # of what every session loads


class SizeCaps(_Table):
    """How large documents may grow, in bytes."""

    briefing: LoadedSize = 8192
    user: LoadedSize = 4096
    document: Annotated[int, Field(ge=4096, le=10_000_000)] = 65_536


class Schedule(_Table):
    """When `curate schedule` runs its nights."""

    night: Annotated[list[Clock], BeforeValidator(_nights)] = ["02:00"]


class Settings(_Table):
    """The contents of curate.toml; every key has a default."""

    timezone: Annotated[str, AfterValidator(_zone)] = "UTC"
    day_end: Clock = "00:00"
    caps: SizeCaps = SizeCaps()
    schedule: Schedule = Schedule()
    author: ClassVar = ("memcurate", "memcurate@localhost")  # of commits of runs

    @property
    def ignored_note(self) -> list[str]:
        """The sentence, in a list of one, that names ignored keys, without their values.

        A memory may be somebody else's repository. It cannot run a command, name an address, a model, a remote or a
        key, or raise trust; what it says of that does nothing, as keys of older and newer versions do.
        """
        tables = ((f"{name}.", table) for name, table in self if isinstance(table, _Table))
        unknown = [f"{above}{key}" for above, table in (("", self), *tables) for key in table.model_extra or ()]
        keys = ", ".join(f"`{fold(key)}`" for key in unknown)
        return [f"{SETTINGS} sets {keys}, which a memory cannot set; that is ignored."] if keys else []


def load_settings(root: Path) -> Settings:
    """Return the settings of the memory at `root`. Keys that a memory cannot set are ignored.

    Raises:
        BadFile: the file is a symbolic link.
        BadSettings: the file has faults; the message lists all.
    """
    path = root / SETTINGS
    if path.is_symlink():
        raise BadFile(SETTINGS, LINKED)
    raw = read_toml(path)
    try:
        return Settings.model_validate(raw)
    except ValidationError as error:
        raise BadSettings(path, faults_of(error)) from None
