"""Common code of the models behind SDKs and HTTP: their names, and the meaning of their failures.

The kind of a failure follows from an exception's status, class and error code. An error's text serves only to tell the
kinds apart and is never repeated: it may quote the request.
"""

from __future__ import annotations

import re
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from pipelines.errors import ModelFailed
from pipelines.usage import BAD_KEY, FailureKind, Usage, failure_of, status_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from pipelines.extract.llm.call import Call, ModelAnswer
    from pipelines.provider_settings import ProviderSettings


Result = TypeVar("Result")
_CUT_OFF = frozenset({"max_tokens", "length"})
_REFUSED = frozenset({
    "refusal", "content_filter", "model_context_window_exceeded", "safety", "recitation", "language", "blocklist",
    "prohibited_content", "spii", "malformed_response", "other",
})  # fmt: skip
INPUT_TOKENS = 24_000
"""Longer calls gain nothing, and above 100,000 tokens in all some models cost several times as much."""
RETRIES = 2
_SLACK = 1.1  # the library's own timeout, with a better message, should come first
_GRACE = 0.2
_IMPORT_SECONDS = 15.0


class ProviderModel:
    """A model with the user's settings; subclasses name the provider and make the request."""

    provider: ClassVar[str]
    retries = RETRIES

    def __init__(self, settings: ProviderSettings) -> None:
        self.settings = settings
        self.name = f"{self.provider}:{settings.model}"
        self.source = settings.address
        self.input_tokens, self.output_tokens = INPUT_TOKENS, settings.max_tokens

    def ask(self, call: Call) -> ModelAnswer:
        """Make the call, once.

        Raises:
            ModelFailed: no usable answer came.
        """
        try:
            reply = with_deadline(self.settings.timeout_seconds, lambda: self._reply(call))
        except Exception as fault:  # noqa: BLE001  whatever an SDK raises, the night goes on without this answer
            raise as_failure(self.provider, fault) from None
        return self._answer(reply)

    def _reply(self, call: Call) -> object:
        """Return the reply of the provider's library."""
        raise NotImplementedError

    def _answer(self, reply: Any) -> ModelAnswer:  # noqa: ANN401  of the library's type
        """Return the answer in a reply, or raise the reason why there is none."""
        raise NotImplementedError

    def model_list(self) -> object:
        """List the models, at no cost."""
        raise NotImplementedError

    def trouble(self) -> str:
        """Return why the provider cannot be used, as the end of a sentence that begins with it; empty if it can."""
        try:
            with_deadline(self.settings.timeout_seconds + _IMPORT_SECONDS, self.model_list)
        except Exception as fault:  # noqa: BLE001  any error of an SDK is an answer
            return as_failure(self.provider, fault).why
        return ""

    def check_whole(self, ending: object, usage: Usage) -> None:
        """Check the word by which a provider says how an answer ended; only these words are shown of it.

        Raises:
            ModelFailed: it was cut off, or refused.
        """
        word, why = str(getattr(ending, "value", ending)).lower(), ""
        if word in _CUT_OFF:
            why = f"was cut off at the longest answer allowed; raise {self.provider}.max_tokens in your settings"
        elif word in _REFUSED:
            why = f"stopped without an answer ({word})"
        if why:
            raise ModelFailed(self.provider, why, usage=usage)


def with_deadline(seconds: float, work: Callable[[], Result]) -> Result:
    """Return what `work` returns, or raise what it raises.

    It runs in a thread of its own, which is abandoned at the timeout and holds up neither the run nor its end. The
    libraries' own timeouts restart with every byte, so a server that drips never reaches them.

    Raises:
        TimeoutError: it took longer than `seconds`, plus some slack.
    """
    result: Future[Result] = Future()

    def run() -> None:
        try:
            result.set_result(work())
        except BaseException as fault:  # noqa: BLE001  it is raised below, in the thread that asked
            result.set_exception(fault)

    threading.Thread(target=run, name="model call", daemon=True).start()
    return result.result(seconds * _SLACK + _GRACE)


def as_count(found: object) -> int:
    """Return a token count of a reply; 0 for anything else."""
    return found if isinstance(found, int) and found > 0 else 0


# ---------------------------------------- what an exception means


_QUOTA = re.compile(
    r"insufficient_quota|credit balance|spend(?:ing)?[ _]limit|reached your specified|billing_error|per_?day",
    re.IGNORECASE,
)
_TOO_LONG = re.compile(
    r"prompt is too long|context[_ ](?:length|window|size)|maximum context|input token count|request_too_large|"
    r"too many (?:input )?tokens|exceeds the (?:maximum|available)[^.]{0,40}(?:tokens|context)",
    re.IGNORECASE,
)
_BAD_KEY = re.compile(r"API_KEY_INVALID|API key not valid", re.IGNORECASE)
_LONGEST_WORDS = 20_000


def as_failure(provider: str, fault: BaseException) -> ModelFailed:
    """Return the failure for an exception of a provider's library.

    Args:
        provider: the provider.
        fault: an exception with a status, or from a transport.

    Returns:
        The failure, to be raised `from None`: an SDK's exception holds the request, and a traceback would show it.
    """
    kind, why = failure_of(fault)
    parts = (getattr(fault, name, None) for name in ("body", "details", "message"))  # only for telling kinds apart
    words = " ".join(str(part)[:_LONGEST_WORDS] for part in parts if part)
    if (status := status_of(fault)) is None:
        return ModelFailed(provider, why, kind)
    if _QUOTA.search(words):
        kind, why = FailureKind.UNAUTHORISED, f"is over its quota, or its credit is used up (status {status})"
    elif _TOO_LONG.search(words):
        kind, why = FailureKind.UNUSABLE, f"says the text is too long for its context (status {status})"
    elif _BAD_KEY.search(words):  # Gemini says 400 for a wrong key
        kind, why = FailureKind.UNAUTHORISED, f"{BAD_KEY} (status {status})"
    headers: Any = getattr(getattr(fault, "response", None), "headers", None) or getattr(fault, "headers", None) or {}
    named = headers.get("retry-after")
    # Gemini says in its details how long to wait.
    wait = _DELAY.search(words) if named is None else _SECONDS.fullmatch(str(named).strip())
    return ModelFailed(provider, why, kind, retry_after=float(wait[1]) if wait else None)


_SECONDS = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)")
_DELAY = re.compile(rf"retryDelay['\"]?\s*:\s*['\"]{_SECONDS.pattern}s")
