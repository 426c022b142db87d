"""Why an address gave no vectors, in words that hold no key, no address and no text."""

from __future__ import annotations

from typing import Final

from pipelines.usage import reason

_ERRORS: Final = 400
"""Where HTTP's error statuses begin."""
_ANOTHER_WIRE: Final = "answered with something that is not its wire format"
# What an SDK raises that takes an answer apart without looking.
_TAKEN_APART: Final = frozenset({"AttributeError", "LookupError", "TypeError"})
_TIMEOUTS: Final = frozenset({"Timeout", "TimeoutError"})


class _Refused(Exception):
    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status_code = status


def why(fault: BaseException) -> str:
    """Return what is wrong, from the kind and the status of an exception alone; its words may quote the request."""
    cause = getattr(fault, "reason", None)  # urllib wraps what really happened
    if isinstance(cause, BaseException):
        fault = cause
    status = getattr(fault, "http_status", None)  # voyageai's name for it
    if isinstance(status, int):
        return reason(_Refused(status)) if status >= _ERRORS else _ANOTHER_WIRE
    names = {kind.__name__ for kind in type(fault).__mro__}
    if names & _TAKEN_APART:
        return _ANOTHER_WIRE
    if names & _TIMEOUTS:
        return "gave no answer in time"
    if "HTTPException" in names:
        return "could not be reached, or the connection broke"
    return reason(fault)


def with_path(base_url: str, default: str = "/v1") -> str:
    """Return an address without its last slash; one that names only a host gets the path that is usual there."""
    address = base_url.rstrip("/")
    return address if "/" in address.partition("://")[2] else address + default
