"""What of the user's settings a search needs: it has no time to check them all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.errors import read_toml
from pipelines.provider_settings import VOYAGE_KEY, EmbedderSettings, user_file

if TYPE_CHECKING:
    from collections.abc import Mapping


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
