"""The moments that records tell: ISO texts and numbers since the epoch, in any zone."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from datetime import tzinfo

_MILLISECONDS: Final = 1e11
_MICROSECONDS: Final = 1e14
# No agent spoke before, and none will be asked after: a moment outside is a slip, not a time.
_YEARS: Final = range(2000, 2200)


def moment_of(told: object, zone: tzinfo) -> datetime | None:
    """Return the moment that a record tells, or None where that is no moment.

    Args:
        told: an ISO 8601 text, or a number of seconds, milliseconds or microseconds since the epoch.
        zone: the zone of a text that names none.
    """
    try:
        moment = _from_text(told, zone) if isinstance(told, str) else _from_number(told)
    except (ValueError, OverflowError, OSError):
        return None
    return moment if moment and moment.year in _YEARS else None


def _from_text(told: str, zone: tzinfo) -> datetime:
    try:
        moment = datetime.fromisoformat(told.strip())
    except ValueError:
        return _since_epoch(float(told))
    return moment.replace(tzinfo=zone) if moment.tzinfo is None else moment


def _from_number(told: object) -> datetime | None:
    return _since_epoch(float(told)) if isinstance(told, (int, float)) and not isinstance(told, bool) else None


def _since_epoch(number: float) -> datetime:
    divisor = 1e6 if number > _MICROSECONDS else 1e3 if number > _MILLISECONDS else 1
    return datetime.fromtimestamp(number / divisor, UTC)
