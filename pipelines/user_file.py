"""Where the user's own settings are, and what of them a search needs: it has no time to check them all."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.errors import BadSettings
from pipelines.faults import read_toml
from pipelines.models.embedders.settings import VOYAGE_KEY, EmbedderSettings

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


def embedder_settings(environ: Mapping[str, str]) -> EmbedderSettings:
    """Return the user's `[embedder]`; a file that says nothing of it is not looked at any further.

    Raises:
        BadSettings: the file cannot be read, or has that table and any fault.
    """
    path = user_file(environ)
    if path is None or "embedder" not in read_toml(path):
        return EmbedderSettings(api_key=environ.get(VOYAGE_KEY, "").strip())
    from pipelines.user_settings import load_user_settings  # noqa: PLC0415  a tenth of a second for the checks alone

    return load_user_settings(environ).embedder
