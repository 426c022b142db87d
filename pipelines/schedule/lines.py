"""The daemon's log: a line an event on standard error, `key=value`, without a word of the memory."""

from __future__ import annotations

import os
import re
import sys
from typing import Final

from pipelines.text import plain_line

_PRIORITIES: Final = {"error": 3, "warning": 4, "info": 6}


def log(event: str, *, level: str = "info", **values: object) -> None:
    """Write one line. Under systemd it begins with the priority by which the journal files it."""
    pairs = {"event": event, "level": level} | values
    mark = f"<{_PRIORITIES[level]}>" if os.environ.get("JOURNAL_STREAM") else ""
    print(mark + " ".join(f"{key}={_value(value)}" for key, value in pairs.items()), file=sys.stderr, flush=True)  # noqa: T201  the daemon's voice


def _value(value: object) -> str:
    text = plain_line(str(value))
    return text if re.fullmatch(r"[^\s\"=]+", text) else '"' + re.sub(r"[\"\\\x00-\x1f]", " ", text) + '"'
