"""Lines for the journal of systemd: what happened as `key=value`, with a priority, and no word of the memory."""

from __future__ import annotations

import json
import os
import re
import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pipelines.report import RunReport

ERROR, WARNING, INFO = 3, 4, 6
_BARE: Final = re.compile(r"[\w.:+/-]+", re.ASCII)


def in_journal(environ: Mapping[str, str]) -> bool:
    """Whether standard error is the journal. Terminals may inherit the variable, so the stream counts."""
    try:
        known = os.fstat(sys.stderr.fileno())
    except (OSError, ValueError, AttributeError):
        return False
    return environ.get("JOURNAL_STREAM") == f"{known.st_dev}:{known.st_ino}"


def journal_line(priority: int, event: str, **fields: object) -> str:
    """Return a line; values that are no single word are quoted as JSON quotes them."""
    told = [f"event={event}", *(f"{key}={_value(value)}" for key, value in fields.items() if value is not None)]
    return f"<{priority}>{' '.join(told)}"


def ended(report: RunReport, seconds: float) -> str:
    """Return the line for a run that came to its end: counts, and none of what was counted."""
    code = report.exit_code
    return journal_line(
        WARNING if code or report.warnings else INFO,
        "night-ended" if not code else "night-left-pending",
        run=report.run,
        day=report.day,
        logs=report.logs_read,
        entries=report.entries_read,
        pending=report.entries_pending,
        added=report.added,
        changed=report.changed,
        asked=report.asked,
        calls=sum(one.calls for one in report.spent),
        tokens=sum(one.usage.input_tokens + one.usage.output_tokens for one in report.spent),
        usd=report.usd,
        warnings=len(report.warnings),
        commit=report.commit[:10] or None,
        seconds=round(seconds, 1),
        exit=code,
    )


def write(line: str) -> None:
    """Write a line to standard error, at once."""
    print(line, file=sys.stderr, flush=True)  # noqa: T201  the journal reads this


def _value(value: object) -> str:
    text = str(value)
    return text if _BARE.fullmatch(text) else json.dumps(text)
