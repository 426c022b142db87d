"""Why a provider failed, in words that say what to do and hold no key, no address and no word of the log."""

from __future__ import annotations

from typing import Final

_BY_STATUS: Final = {
    400: "refused the request as wrong",
    401: "refused the key; see that it is right and still valid",
    402: "wants payment first",
    403: "does not let this key use the model",
    404: "does not know the model, or nothing answers at that address",
    408: "gave no answer in time",
    413: "found the request too long",
    422: "refused the request as wrong",
    429: "is over its rate limit or quota",
    503: "is not available at the moment",
    504: "gave no answer in time",
    529: "is overloaded",
}
_TIMEOUTS: Final = frozenset({"APITimeoutError", "TimeoutException", "TimeoutError"})
_TRANSPORT: Final = frozenset({"APIConnectionError", "TransportError", "ConnectionError", "OSError"})


def reason(fault: BaseException) -> str:
    """Return what is wrong, from the kind of an SDK's exception alone.

    The exception's own words are never used: they may quote the request. Kinds are known by the names of their
    classes, since two SDKs over two HTTP libraries raise them.
    """
    status = getattr(fault, "status_code", None) or getattr(fault, "code", None)
    if isinstance(status, int) and status >= 400:  # noqa: PLR2004  where HTTP's error statuses begin
        return f"{_status_reason(status, fault)} (status {status})"
    kinds = {kind.__name__ for kind in type(fault).__mro__}
    if kinds & _TIMEOUTS:
        return "gave no answer in time"
    if kinds & _TRANSPORT:
        return "could not be reached, or the connection broke"
    if isinstance(fault, ValueError) or "APIResponseValidationError" in kinds or "UnknownApiResponseError" in kinds:
        return "answered with something that is not its wire format"
    return f"failed in a way that is not known ({type(fault).__name__})"


def _status_reason(status: int, fault: BaseException) -> str:
    if "API_KEY_INVALID" in str(getattr(fault, "details", "")):
        return _BY_STATUS[401]  # Gemini says 400 for a wrong key
    return _BY_STATUS.get(status) or ("has a fault of its own" if status >= 500 else "refused the request")  # noqa: PLR2004
