"""Gemini's batch mode, through the `google-genai` SDK."""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pipelines.errors import ModelFailed
from pipelines.failure_kinds import FailureKind
from pipelines.models.batching.wire import Found, Looked, Result, Stage
from pipelines.models.providers.batches import asking, looking, sending
from pipelines.models.providers.faults import as_failure
from pipelines.models.providers.gemini import PROVIDER, GeminiModel, answer_of, contents
from pipelines.models.providers.settled import SettledBatches

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence

    from google.genai import Client
    from google.genai.types import BatchJob, GenerateContentResponse

    from pipelines.models.batching.wire import Sent
    from pipelines.models.calling import Call

_IDENT: Final = re.compile(r"batches/[A-Za-z0-9_-]{1,200}")
_FILE: Final = re.compile(r"files/[A-Za-z0-9_-]{1,200}")
_KEY: Final = "key"
_LISTED: Final = 500
_FAILED: Final = {
    "PARTIALLY_SUCCEEDED": ("left this call of the batch without a result", FailureKind.FAILED),
    "FAILED": ("failed at the batch", FailureKind.FAILED),
    "CANCELLED": ("ended the batch before this call", FailureKind.CANCELED),
    "EXPIRED": ("did not come to this call in time", FailureKind.EXPIRED),
}


@dataclass(frozen=True, slots=True)
class GeminiBatches(SettledBatches[GeminiModel]):
    """The batches of a model of Gemini's. The wire takes 20 MB of requests that are sent inline."""

    most_calls: int = 1000
    most_bytes: int = 15_000_000

    def submit(self, mark: str, calls: Sequence[tuple[str, Call]]) -> Sent:
        """Send calls as a batch, whose display name is the mark."""
        return sending(PROVIDER, self.seconds, lambda: self._create(mark, calls), _IDENT)

    def _create(self, mark: str, calls: Sequence[tuple[str, Call]]) -> object:
        from google.genai import types  # noqa: PLC0415  takes half a second; only a run that asks pays for it

        requests = [
            types.InlinedRequest(contents=contents(call), metadata={_KEY: ident}, config=self.model.config(call))
            for ident, call in calls
        ]
        config = types.CreateBatchJobConfig(display_name=mark)
        # The client is held by a name until the answer is there: its connections close with the last reference.
        with self.model.client() as client:
            return client.batches.create(model=self.model.settings.model, src=requests, config=config).name

    def look(self, ident: str) -> Looked:
        """Ask how far a batch is, and for its results where it has ended.

        Raises:
            ModelFailed: it cannot be told.
        """
        return looking(PROVIDER, self.seconds, lambda: self._look(ident))

    def _look(self, ident: str) -> Looked:
        with self.model.client() as client:
            job = client.batches.get(name=ident)
            state = _state(job)
            if state != "SUCCEEDED" and state not in _FAILED:
                return Looked(Stage.OPEN)
            rest = ModelFailed(PROVIDER, *_FAILED[state]) if state in _FAILED else None
            return Looked(Stage.ENDED, tuple(_results(client, job, self.name)), rest)

    def find(self, mark: str, count: int, known: Container[str]) -> Found:  # noqa: ARG002  the mark tells enough
        """Look for a batch by its display name.

        Raises:
            ModelFailed: it cannot be told.
        """
        return asking(PROVIDER, self.seconds, lambda: self._find(mark))

    def _find(self, mark: str) -> Found:
        with self.model.client() as client:
            for job in itertools.islice(client.batches.list(), _LISTED):
                if job.display_name == mark and job.name and _IDENT.fullmatch(job.name):
                    return Found(job.name)
        return Found()

    def cancel(self, ident: str) -> None:
        """Ask for a batch to be ended.

        Raises:
            ModelFailed: it failed.
        """
        asking(PROVIDER, self.seconds, lambda: self._cancel(ident))

    def _cancel(self, ident: str) -> None:
        with self.model.client() as client:
            client.batches.cancel(name=ident)


def _state(job: BatchJob) -> str:
    """Return a job's state without its prefix, which differs between the wire and the SDK."""
    if job.state is None:
        raise ValueError(job.name)  # no job: its wire format is another
    return str(job.state.value).removeprefix("JOB_STATE_").removeprefix("BATCH_STATE_")


def _results(client: Client, job: BatchJob, name: str) -> Iterator[Result]:
    """Yield what came inline, and what came as a file."""
    if job.dest is None:
        return
    for one in job.dest.inlined_responses or ():
        code = one.error.code if one.error else None
        yield _result(str((one.metadata or {}).get(_KEY, "")), one.response, code, name)
    if (file := job.dest.file_name) and _FILE.fullmatch(file):
        yield from _lines(client.files.download(file=file).splitlines(), name)


def _lines(lines: Iterable[bytes], name: str) -> Iterator[Result]:
    from google.genai import types  # noqa: PLC0415  as above

    for line in lines:
        row = json.loads(line)
        told: Any = row.get("response")
        response = types.GenerateContentResponse._from_response(response=told, kwargs={}) if told else None  # noqa: SLF001  as the SDK reads answers
        key = row.get(_KEY) or (row.get("metadata") or {}).get(_KEY, "")
        yield _result(str(key), response, (row.get("error") or {}).get("code"), name)


_STATUSES: Final = {3: 400, 4: 504, 7: 403, 8: 429, 13: 500, 14: 503, 16: 401}
"""The codes of gRPC, which a call of a batch may fail with, as statuses of HTTP."""


class _Told(Exception):
    def __init__(self, code: int) -> None:
        super().__init__()
        self.code = _STATUSES.get(code, code)


def _result(ident: str, response: GenerateContentResponse | None, code: int | None, name: str) -> Result:
    if response is None:
        why = "failed at this call of the batch"
        kind = as_failure(PROVIDER, _Told(code or 0)).kind
        return Result(ident, fault=ModelFailed(PROVIDER, why, kind))
    try:
        return Result(ident, answer_of(response, name))
    except ModelFailed as fault:
        return Result(ident, fault=fault)
