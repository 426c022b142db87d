"""When runs acted, as their reports tell."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def moment_of(report: Mapping[str, object]) -> datetime | None:
    """Return the moment at which a run acted, or None where its report does not tell one."""
    try:
        when = datetime.fromisoformat(str(report.get("now")))
    except ValueError:
        return None
    return when if when.tzinfo else when.astimezone()
