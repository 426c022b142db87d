"""Claude's Message Batches, through the `anthropic` SDK."""

from __future__ import annotations

import re
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pipelines.errors import ModelFailed
from pipelines.failure_kinds import FailureKind
from pipelines.models.batching.wire import Found, Looked, Result, Stage
from pipelines.models.providers.anthropic import PROVIDER, AnthropicModel, answer_of
from pipelines.models.providers.batches import asking, looking, sending
from pipelines.models.providers.settled import SettledBatches

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from anthropic import Anthropic

    from pipelines.models.batching.wire import Sent
    from pipelines.models.calling import Call

_IDENT: Final = re.compile(r"[A-Za-z0-9_-]{1,200}")
_OPEN: Final = frozenset({"in_progress", "canceling"})
_LISTED: Final = 100


@dataclass(frozen=True, slots=True)
class AnthropicBatches(SettledBatches[AnthropicModel]):
    """The batches of a model of Claude's. The wire allows 100,000 calls and 256 MB each; no night needs that."""

    most_calls: int = 10_000
    most_bytes: int = 100_000_000

    def submit(self, mark: str, calls: Sequence[tuple[str, Call]]) -> Sent:  # noqa: ARG002  the ids carry the mark
        """Send calls as a batch."""
        return sending(PROVIDER, self.seconds, lambda: self._create(calls), _IDENT)

    def _create(self, calls: Sequence[tuple[str, Call]]) -> object:
        requests: Any = [{"custom_id": ident, "params": self.model.params(call)} for ident, call in calls]
        with self.model.client() as client:
            return client.messages.batches.create(requests=requests).id

    def look(self, ident: str) -> Looked:
        """Ask how far a batch is, and for its results where it has ended.

        Raises:
            ModelFailed: it cannot be told.
        """
        return looking(PROVIDER, self.seconds, lambda: self._look(ident))

    def _look(self, ident: str) -> Looked:
        with self.model.client() as client:
            batch = client.messages.batches.retrieve(ident)
            if batch.processing_status in _OPEN:
                return Looked(Stage.OPEN)
            if batch.processing_status != "ended":
                raise ValueError(batch.type)  # no batch: its wire format is another
            if batch.archived_at:
                return Looked(Stage.GONE)
            with closing(_rows(client, ident)) as rows:
                return Looked(Stage.ENDED, tuple(_result(row, self.name) for row in rows))

    def find(self, mark: str, count: int, known: Container[str]) -> Found:
        """Look for a batch by the ids of its results; while one of as many calls has none yet, that is unsure.

        Raises:
            ModelFailed: it cannot be told.
        """
        return asking(PROVIDER, self.seconds, lambda: self._find(mark, count, known))

    def _find(self, mark: str, count: int, known: Container[str]) -> Found:
        unsure = False
        with self.model.client() as client:
            for batch in client.messages.batches.list(limit=_LISTED).data:
                if batch.id in known or _calls(batch) != count or not _IDENT.fullmatch(batch.id) or batch.archived_at:
                    continue
                if batch.processing_status != "ended":
                    unsure = True
                elif _is_marked(client, batch.id, mark):
                    return Found(batch.id)
        return Found(unsure=unsure)

    def cancel(self, ident: str) -> None:
        """Ask for a batch to be ended.

        Raises:
            ModelFailed: it failed.
        """
        asking(PROVIDER, self.seconds, lambda: self._cancel(ident))

    def _cancel(self, ident: str) -> None:
        with self.model.client() as client:
            client.messages.batches.cancel(ident)


def _rows(client: Anthropic, ident: str) -> Any:  # noqa: ANN401  what the SDK makes of the lines, unchecked
    """Return the results, line by line.

    They are asked for under the address that the user named, not under the `results_url` that the batch tells, as the
    SDK's own `results` does: the key would go wherever that leads.
    """
    from anthropic._decoders.jsonl import JSONLDecoder  # noqa: PLC0415  the SDK takes a second to import
    from anthropic.types.messages import MessageBatchIndividualResponse  # noqa: PLC0415  as above

    get: Any = client.get
    path = f"/v1/messages/batches/{ident}/results"
    headers = {"Accept": "application/binary"}
    return get(path, cast_to=JSONLDecoder[MessageBatchIndividualResponse], options={"headers": headers}, stream=True)


def _calls(batch: object) -> int:
    counts = getattr(batch, "request_counts", None)
    names = ("processing", "succeeded", "errored", "canceled", "expired")
    return sum(count for name in names if isinstance(count := getattr(counts, name, 0), int))


def _is_marked(client: Anthropic, ident: str, mark: str) -> bool:
    with closing(_rows(client, ident)) as rows:
        return str(getattr(next(iter(rows), None), "custom_id", "")).startswith(f"{mark}-")


_KINDS: Final = {
    "invalid_request_error": FailureKind.BAD_REQUEST,
    "request_too_large": FailureKind.TOO_LONG,
    "authentication_error": FailureKind.UNAUTHORISED,
    "permission_error": FailureKind.UNAUTHORISED,
    "billing_error": FailureKind.OVER_QUOTA,
    "not_found_error": FailureKind.UNKNOWN_MODEL,
    "rate_limit_error": FailureKind.RATE_LIMITED,
    "timeout_error": FailureKind.TIMED_OUT,
    "overloaded_error": FailureKind.DOWN,
    "api_error": FailureKind.DOWN,
}


def _result(row: Any, name: str) -> Result:  # noqa: ANN401  the SDK does not check it, so nothing is taken for granted
    ident = str(getattr(row, "custom_id", ""))
    result = getattr(row, "result", None)
    kind = getattr(result, "type", "")
    if kind == "succeeded":
        try:
            return Result(ident, answer_of(getattr(result, "message", None), name))
        except ModelFailed as fault:
            return Result(ident, fault=fault)
    if kind == "canceled":
        return Result(ident, fault=ModelFailed(PROVIDER, "ended the batch before this call", FailureKind.CANCELED))
    if kind == "expired":
        return Result(ident, fault=ModelFailed(PROVIDER, "did not come to this call in time", FailureKind.EXPIRED))
    error = getattr(getattr(getattr(result, "error", None), "error", None), "type", "")
    why = "failed at this call of the batch"
    return Result(ident, fault=ModelFailed(PROVIDER, why, _KINDS.get(str(error), FailureKind.FAILED)))
