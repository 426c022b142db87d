"""Where the user's own settings are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.errors import BadSettings

if TYPE_CHECKING:
    from collections.abc import Mapping


def user_file(environ: Mapping[str, str]) -> Path | None:
    """Return the file of the user's settings, which may be missing; None where the environment names no place for it.

    Raises:
        BadSettings: CURATE_CONFIG names a file that is not there.
    """
    if named := environ.get("CURATE_CONFIG"):
        path = Path(named).expanduser()
        if not path.exists():
            raise BadSettings(path, ["CURATE_CONFIG names this file, and it does not exist"])
        return path
    config, home = environ.get("XDG_CONFIG_HOME", ""), environ.get("HOME", "")
    if Path(config).is_absolute():  # the XDG rules say that a relative one is to be ignored
        return Path(config, "memcurate", "config.toml")
    return Path(home, ".config", "memcurate", "config.toml") if home else None
