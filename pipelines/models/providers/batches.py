"""What the batches of all providers share: a request within its time, and what its failure means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

from pipelines.errors import ModelFailed
from pipelines.failure_kinds import FailureKind
from pipelines.models.batching.wire import Looked, Sent, Stage
from pipelines.models.providers.deadline import within
from pipelines.models.providers.faults import as_failure, status_of

if TYPE_CHECKING:
    import re
    from collections.abc import Callable

Told = TypeVar("Told")
_NEVER_SENT: Final = frozenset({"ConnectError", "ConnectTimeout", "ConnectionRefusedError", "gaierror"})
_REFUSED: Final = frozenset({*range(300, 408), *range(409, 500), 503, 529})
_NOT_FOUND: Final = 404


def sending(provider: str, seconds: float, work: Callable[[], object], form: re.Pattern[str]) -> Sent:
    """Send a batch and tell what became of it. Where an answer could be missing, it counts as unsure.

    Args:
        provider: who is asked.
        seconds: how long that may take.
        work: sends it and returns the provider's name for it.
        form: what such a name looks like; it becomes part of an address.
    """
    try:
        ident = within(seconds, work)
    except Exception as fault:  # noqa: BLE001  whatever an SDK raises, the night must go on
        failed = as_failure(provider, fault, "batch")
        return Sent(refused=failed) if _is_refused(fault) else Sent(unsure=failed)
    if isinstance(ident, str) and form.fullmatch(ident):
        return Sent(ident)
    return Sent(unsure=not_its_wire(provider))


def _is_refused(fault: BaseException) -> bool:
    """Whether a provider has certainly not taken a batch: it said so, or was never reached."""
    if (status := status_of(fault)) is not None:
        return status in _REFUSED
    behind = [fault, fault.__cause__]
    return any(kind.__name__ in _NEVER_SENT for one in behind if one for kind in type(one).__mro__)


def looking(provider: str, seconds: float, work: Callable[[], Looked]) -> Looked:
    """Ask how far a batch is; one that the provider does not know is gone.

    Raises:
        ModelFailed: it cannot be told.
    """
    try:
        return within(seconds, work)
    except Exception as fault:  # noqa: BLE001  as above
        if status_of(fault) == _NOT_FOUND:
            return Looked(Stage.GONE)
        raise as_failure(provider, fault, "batch") from None


def asking(provider: str, seconds: float, work: Callable[[], Told]) -> Told:
    """Make another request about batches.

    Raises:
        ModelFailed: it failed.
    """
    try:
        return within(seconds, work)
    except Exception as fault:  # noqa: BLE001  as above
        raise as_failure(provider, fault, "batch") from None


def not_its_wire(provider: str) -> ModelFailed:
    """Return the failure of an answer that cannot be understood."""
    return ModelFailed(provider, "answered with something that is not its wire format", FailureKind.GARBLED)
