"""The memory's own settings, `curate.toml`: what is safe to share.

Whatever could spend money, name an endpoint or run a command is in the user's own settings, outside the memory.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path  # noqa: TC003  read at run time by pydantic's namespace
from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

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


def _nights(value: str | list[str]) -> str | list[str]:
    if isinstance(value, list):
        if not value:
            raise ValueError("an empty list; write it like ['02:00', '14:00']")
        return [_clock(one) for one in value]
    if " " not in value:
        return _clock(value)
    from apscheduler.triggers.cron import CronTrigger  # noqa: PLC0415  only a cron line needs it

    try:
        trigger = CronTrigger.from_crontab(value, timezone=UTC)
    except ValueError:
        raise ValueError("not a cron expression; write it like '0 2,14 * * *'") from None
    if trigger.get_next_fire_time(None, datetime.now(UTC)) is None:
        raise ValueError("a time that never comes")
    if re.search(r"\d", value.split()[4]):  # to cron 1 is Monday, to APScheduler Tuesday
        raise ValueError("programs number weekdays differently; write them like mon-fri")
    return value


def _person(text: str) -> str:
    if not re.fullmatch(r"[^\S\n]*+[^<>\s\x00][^<>\n\x00]* <[^<>\s\x00]+>", text):
        raise ValueError('not an author; write it like "Name <name@example.org>"')
    return text


class _Table(BaseModel):
    model_config = ConfigDict(extra="allow", frozen=True, strict=True)


class SizeCaps(_Table):
    """How large documents may grow, in bytes."""

    briefing: Annotated[int, Field(ge=1024, le=1_000_000)] = 8192
    user: Annotated[int, Field(ge=1024, le=1_000_000)] = 4096
    document: Annotated[int, Field(ge=4096, le=10_000_000)] = 65_536


class CommitSettings(_Table):
    """The author of a run's commits."""

    author: Annotated[str, AfterValidator(_person)] = "memcurate <memcurate@localhost>"


class Schedule(_Table):
    """When `curate schedule` runs its nights."""

    night: Annotated[str | list[str], AfterValidator(_nights)] = "02:00"


class Settings(_Table):
    """The contents of curate.toml; every key has a default."""

    timezone: Annotated[str, AfterValidator(_zone)] = "UTC"
    day_end: Annotated[str, AfterValidator(_clock)] = "00:00"
    caps: SizeCaps = SizeCaps()
    commit: CommitSettings = CommitSettings()
    schedule: Schedule = Schedule()

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

    @property
    def author(self) -> tuple[str, str]:
        """The name and email address of the commits' author."""
        name, _, mail = self.commit.author.rpartition(" <")
        return name.strip(), mail.rstrip(">")


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
