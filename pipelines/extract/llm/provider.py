"""What an exception of an SDK or of HTTP means: which kind of failure it is, by its status, class and error code.

The words of an error serve to tell the kinds apart and are never repeated: they may quote the request.
"""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

from pipelines.errors import ModelFailed
from pipelines.usage import FailureKind, reason

if TYPE_CHECKING:
    from collections.abc import Callable

    from pipelines.provider_settings import ProviderSettings


_QUOTA: Final = re.compile(
    r"insufficient_quota|credit balance|spend(?:ing)?[ _]limit|reached your specified|billing_error|per_?day",
    re.IGNORECASE,
)
_TOO_LONG: Final = re.compile(
    r"prompt is too long|context[_ ](?:length|window|size)|maximum context|input token count|request_too_large|"
    r"too many (?:input )?tokens|exceeds the (?:maximum|available)[^.]{0,40}(?:tokens|context)",
    re.IGNORECASE,
)
_BAD_KEY: Final = re.compile(r"API_KEY_INVALID|API key not valid", re.IGNORECASE)
_KINDS: Final = {
    400: FailureKind.BAD_REQUEST,
    401: FailureKind.UNAUTHORISED,
    402: FailureKind.OVER_QUOTA,
    403: FailureKind.UNAUTHORISED,
    404: FailureKind.UNKNOWN_MODEL,
    408: FailureKind.TIMED_OUT,
    409: FailureKind.DOWN,
    413: FailureKind.TOO_LONG,
    422: FailureKind.BAD_REQUEST,
    429: FailureKind.RATE_LIMITED,
    504: FailureKind.TIMED_OUT,
}
_WHY: Final = {
    FailureKind.OVER_QUOTA: "is over its quota, or its credit is used up",
    FailureKind.TOO_LONG: "found the {} too long for its context",
    FailureKind.UNAUTHORISED: "refused the key; see that it is right and still valid",
}
_BY_CLASS: Final = (
    (frozenset({"ConnectTimeout", "ConnectError", "ConnectionRefusedError", "gaierror"}), FailureKind.DOWN),
    (frozenset({"APITimeoutError", "TimeoutException", "TimeoutError"}), FailureKind.TIMED_OUT),
    (
        frozenset({"RemoteProtocolError", "ReadError", "IncompleteRead", "ConnectionResetError", "BrokenPipeError"}),
        FailureKind.CUT_OFF,
    ),
    (frozenset({"DecodingError"}), FailureKind.GARBLED),
    (frozenset({"APIConnectionError", "TransportError", "OSError", "HTTPException"}), FailureKind.DOWN),
    (frozenset({"ValueError", "APIResponseValidationError", "UnknownApiResponseError"}), FailureKind.GARBLED),
)
_LONGEST_WORDS: Final = 20_000
_ERRORS_BEGIN: Final = 400
_REDIRECTS_BEGIN: Final = 300


def as_failure(provider: str, fault: BaseException, subject: str = "day") -> ModelFailed:
    """Return what `fault`, raised by a provider's library, means.

    Args:
        provider: who was asked.
        fault: an exception with a status, or of a transport.
        subject: what it was asked about, as a failure names it.

    Returns:
        The failure, to be raised `from None`: an SDK's exception holds the request, and a traceback would show it.
    """
    status = status_of(fault)
    if status is None:
        kind = _by_class(fault)
        return ModelFailed(provider, _transport_why(kind, fault), kind)
    kind = _by_status(status, words_of(fault))
    if status < _ERRORS_BEGIN:
        why = f"sent a redirect, which is not followed (status {status}); name the address that it leads to"
    else:
        why = (
            f"{_WHY[kind].format(subject)} (status {status})"
            if kind in _WHY and status not in {403, 413}
            else reason(fault)
        )
    return ModelFailed(provider, why, kind, retry_after=_retry_after(fault))


def status_of(fault: BaseException) -> int | None:
    """Return the HTTP status that an exception tells, or None."""
    status = getattr(fault, "status_code", None) or getattr(fault, "code", None)
    return status if isinstance(status, int) and status >= _REDIRECTS_BEGIN else None


def words_of(fault: BaseException) -> str:
    """Return what an error's body says, for telling kinds apart and for nothing else."""
    parts = (getattr(fault, name, None) for name in ("body", "details", "message"))
    return " ".join(str(part)[:_LONGEST_WORDS] for part in parts if part)


def _by_status(status: int, words: str) -> FailureKind:
    if status in {400, 403, 429} and _QUOTA.search(words):
        return FailureKind.OVER_QUOTA
    if status in {400, 422, 500} and _TOO_LONG.search(words):
        return FailureKind.TOO_LONG
    if status == 400 and _BAD_KEY.search(words):  # noqa: PLR2004  Gemini says 400 for a wrong key
        return FailureKind.UNAUTHORISED
    if status >= 500:  # noqa: PLR2004  where the server's own faults begin
        return _KINDS.get(status, FailureKind.DOWN)
    return _KINDS.get(status, FailureKind.BAD_REQUEST)


def _by_class(fault: BaseException) -> FailureKind:
    """Return the kind by the class of a fault, or of what lies behind it: an SDK wraps what the transport raised."""
    behind = fault.__cause__ or getattr(fault, "reason", None)
    chain = [behind, fault] if isinstance(behind, BaseException) else [fault]
    names = [{kind.__name__ for kind in type(one).__mro__} for one in chain]
    for known, kind in _BY_CLASS:
        if any(known & found for found in names):
            return kind
    return FailureKind.FAILED


def _transport_why(kind: FailureKind, fault: BaseException) -> str:
    whys = {
        FailureKind.DOWN: "could not be reached",
        FailureKind.TIMED_OUT: "gave no answer in time",
        FailureKind.CUT_OFF: "began to answer, and the connection broke",
        FailureKind.GARBLED: "answered with something that is not its wire format",
    }
    return whys.get(kind) or reason(fault)


# ---------------------------------------------------------------- Retry-After


def _retry_after(fault: BaseException) -> float | None:
    """Return the seconds that an error asks to be left alone, from its headers or from Gemini's details."""
    headers: Any = getattr(getattr(fault, "response", None), "headers", None) or getattr(fault, "headers", None) or {}
    if (milliseconds := _number(headers.get("retry-after-ms"))) is not None:
        return milliseconds / 1000
    named = headers.get("retry-after")
    if named is not None:
        return _number(named) if _number(named) is not None else _until(str(named))
    found = re.search(r"retryDelay['\"]?\s*:\s*['\"](\d{1,9}(?:\.\d{1,9})?)s", words_of(fault))
    return float(found[1]) if found else None


def _number(text: object) -> float | None:
    found = re.fullmatch(r"\d{1,9}(\.\d{1,9})?", str(text).strip())
    return float(found[0]) if found else None


def _until(date: str) -> float | None:
    try:
        then = parsedate_to_datetime(date)
    except ValueError:
        return None
    return max(0.0, (then if then.tzinfo else then.replace(tzinfo=UTC)).timestamp() - datetime.now(UTC).timestamp())


# ---------------------------------------- what the providers' models tell of themselves
# all of it stands in the user's settings.


@dataclass(frozen=True, slots=True)
class SettledModel:
    """A model that is asked as the user's settings say; who inherits says of which provider it is, and asks."""

    provider: ClassVar[str]
    settings: ProviderSettings

    @property
    def name(self) -> str:
        """Provider and model."""
        return f"{self.provider}:{self.settings.model}"

    @property
    def source(self) -> str:
        """The name, and the address where it is not the provider's own."""
        return f"{self.name} {self.settings.address}".strip()

    @property
    def input_tokens(self) -> int:
        """The most log text in one call."""
        return self.settings.input_tokens

    @property
    def output_tokens(self) -> int:
        """The most that an answer may hold."""
        return self.settings.max_tokens

    @property
    def retries(self) -> int:
        """How often a call is worth making again."""
        return self.settings.max_retries


# ---------------------------------------- A whole call within its time
# The libraries' own time limits begin anew with every byte, so a server that drips never reaches them.


Result = TypeVar("Result")
_SLACK: Final = 1.1  # the library's own limit, which says more of what was wrong, comes first where it works
_GRACE: Final = 0.2


def within(seconds: float, work: Callable[[], Result]) -> Result:
    """Return what `work` returns, or raise what it raises.

    It runs in a thread of its own, which is left behind when its time is over: it holds up neither the run nor its end.

    Raises:
        TimeoutError: it took longer than `seconds`, and a little.
    """
    returned: list[Result] = []
    raised: list[BaseException] = []

    def run() -> None:
        try:
            returned.append(work())
        except BaseException as fault:  # noqa: BLE001  it is raised below, in the thread that asked
            raised.append(fault)

    thread = threading.Thread(target=run, name="model call", daemon=True)
    thread.start()
    thread.join(seconds * _SLACK + _GRACE)
    if raised:
        raise raised[0]
    if returned:
        return returned[0]
    raise TimeoutError
