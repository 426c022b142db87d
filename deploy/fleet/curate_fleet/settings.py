"""The operator's settings of a fleet, `fleet.toml`: caps, rates, limits of a night, and where each tenant's keys are.

Every machine with a worker has this file. The database holds which memories there are and how far the night is, but no
key: a tenant's keys come from a file or from the output of a command, each time a night of theirs starts.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from curate_fleet.say import FleetFault

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


DEFAULT_TENANT: Final = "default"
_OURS = frozenset({"PATH", "HOME", "TMPDIR", "XDG_CONFIG_HOME", "CURATE_GUARD"})
_LINE = re.compile(r"(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)=(.*)")
_KEYS_SECONDS = 60


class BadSettings(FleetFault):
    """Raised when fleet.toml has faults; the sentence names all of them, and no value, which may be a password."""

    def __init__(self, path: Path, faults: Sequence[str]) -> None:
        count = "a fault" if len(faults) == 1 else f"{len(faults)} faults"
        super().__init__(f"{path} has {count}:\n  " + "\n  ".join(faults), "\nFix the file and run again.")


class KeysMissing(FleetFault):
    """Raised when a tenant's keys cannot be read; the sentence holds none of them."""

    def __init__(self, tenant: str, why: str) -> None:
        super().__init__(f"The keys of the tenant {tenant} cannot be read: {why}.", "Correct fleet.toml.")


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


Tokens = Annotated[int, Field(ge=1, le=10**15)]


class FleetCaps(_Table):
    """The most that any 20 hours may cost, for the fleet or for a tenant; None for no cap."""

    max_usd: Annotated[float, Field(ge=0, le=10**7, allow_inf_nan=False)] | None = None
    max_tokens: Tokens | None = None


class Rates(_Table):
    """What a provider accepts in a minute for one key; None for no limit."""

    requests: Annotated[int, Field(ge=1, le=10**9)] | None = None
    tokens: Tokens | None = None


class ChildLimits(_Table):
    """The limits of the child process of one night: minutes at work, memory of a process, files on the disk."""

    minutes: Annotated[float, Field(gt=0, le=1440)] = 60.0
    memory_mb: Annotated[int, Field(ge=256, le=10**6)] = 2048
    disk_mb: Annotated[int, Field(ge=16, le=10**7)] = 4096


class Tenant(FleetCaps):
    """One tenant: what they have of their own, beside their caps.

    Args:
        config: the folder with their config.toml, capture.key and redaction.key, the same on each machine; without one,
            a folder below `workdir`.
        keys: a file with the keys of models.
        keys_command: a command that prints such a file.
    """

    config: Path | None = None
    keys: Path | None = None
    keys_command: str = ""


class FleetSettings(_Table):
    """The contents of `fleet.toml`; every key may be left out.

    Args:
        dsn: the database; empty for the embedded PostgreSQL.
        curate: the program `curate`; empty for the one beside this program, or on the PATH.
        workdir: the folder of clones and of the children's homes.
        sweep: when to look for memories with something new, as cron writes it.
        stalled_seconds: without a sign of life for so long, a worker counts as dead, and others take over its jobs.
        retry_seconds: the pause before a failed night is tried again, doubled each time.
        free_mb: with less room on the disk of its clones, a worker pauses.
        caps: the caps of the whole fleet.
        child: the limits of each child.
        rates: provider → what it accepts in a minute for one key.
        tenants: their names and settings.
    """

    dsn: str = ""
    curate: str = ""
    workdir: Path = Path("~/.cache/memcurate/nights")
    sweep: str = "*/10 * * * *"
    stalled_seconds: Annotated[float, Field(ge=1, le=3600)] = 30.0
    retry_seconds: Annotated[float, Field(ge=0, le=3600)] = 60.0
    free_mb: Annotated[int, Field(ge=0, le=10**9)] = 1024
    caps: FleetCaps = FleetCaps()
    child: ChildLimits = ChildLimits()
    rates: dict[str, Rates] = Field(default_factory=dict)
    tenants: dict[str, Tenant] = Field(default_factory=dict)

    def program(self) -> str:
        """Return the path of the program `curate`.

        Raises:
            FleetFault: there is none.
        """
        beside = shutil.which("curate", path=str(Path(sys.executable).parent))
        found = shutil.which(self.curate) if self.curate else beside or shutil.which("curate")
        if not found:
            raise FleetFault(
                f"The program {self.curate or '`curate`'} was not found.",
                "Install memcurate, or name it in fleet.toml: curate.",
            )
        return found

    def tenant(self, name: str) -> Tenant:
        """Return a tenant's settings.

        Raises:
            KeysMissing: there is no such tenant here.
        """
        if name not in self.tenants and name != DEFAULT_TENANT:
            raise KeysMissing(name, f"fleet.toml has no table [tenants.{name}]")
        return self.tenants.get(name, Tenant())

    def keys_of(self, name: str) -> dict[str, str]:
        """Return the environment variables with a tenant's keys.

        Raises:
            KeysMissing: the file or command named for them fails, or gives something else.
        """
        tenant = self.tenant(name)
        text = ""
        try:
            if tenant.keys:
                text = tenant.keys.expanduser().read_text(encoding="utf-8")
            if tenant.keys_command:
                words = shlex.split(tenant.keys_command)
                done = subprocess.run(
                    words, check=True, stdin=subprocess.DEVNULL, capture_output=True, timeout=_KEYS_SECONDS
                )
                text = f"{text}\n{done.stdout.decode()}"
        except OSError as fault:
            raise KeysMissing(name, (fault.strerror or type(fault).__name__).lower()) from None
        except (subprocess.SubprocessError, ValueError) as fault:  # their text may hold what was printed
            raise KeysMissing(name, f"{type(fault).__name__} in its file or command") from None
        return _variables(name, text)


def _variables(tenant: str, text: str) -> dict[str, str]:
    """Return the variables of lines `NAME=VALUE`; blank lines and those that begin with # are skipped."""
    found = {}
    for number, line in enumerate(map(str.strip, text.splitlines()), 1):
        if not line or line.startswith("#"):
            continue
        matched = _LINE.fullmatch(line)
        if not matched or matched[1] in _OURS:
            raise KeysMissing(tenant, f"line {number} is not NAME=VALUE, or sets one of {', '.join(sorted(_OURS))}")
        value = matched[2].strip()
        found[matched[1]] = value[1:-1] if value[:1] in {"'", '"'} and value[-1:] == value[0] else value
    return found


def fleet_file(environ: Mapping[str, str]) -> Path:
    """Return the path of `fleet.toml`: the one that CURATE_FLEET names, or the one beside the user's config.toml."""
    if named := environ.get("CURATE_FLEET"):
        return Path(named).expanduser()
    config = Path(environ.get("XDG_CONFIG_HOME", ""))
    above = config if config.is_absolute() else Path(environ.get("HOME") or "/", ".config")
    return above / "memcurate" / "fleet.toml"


def load_fleet_settings(environ: Mapping[str, str] = os.environ) -> FleetSettings:
    """Return the settings; the defaults if the file does not exist.

    Raises:
        BadSettings: the file cannot be read or has faults; the message lists all.
    """
    path = fleet_file(environ)
    try:
        # TOML has no paths, so those are read from text.
        return FleetSettings.model_validate(tomllib.loads(path.read_text(encoding="utf-8")), strict=False)
    except FileNotFoundError:
        if environ.get("CURATE_FLEET"):
            raise BadSettings(path, ["CURATE_FLEET names this file, and it does not exist"]) from None
        return FleetSettings()
    except OSError as fault:
        raise BadSettings(path, [f"it cannot be read: {fault.strerror}"]) from None
    except ValidationError as error:
        told = (("".join(f".{part}" for part in one["loc"])[1:], one["msg"]) for one in error.errors(include_url=False))
        raise BadSettings(path, [f"{key}: {what[:1].lower()}{what[1:]}" for key, what in told]) from None
    except ValueError as fault:
        raise BadSettings(path, [f"it is not TOML: {fault}"]) from None
