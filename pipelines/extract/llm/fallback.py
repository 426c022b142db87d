"""A chain of models: if one is down, refuses, or is over its limit, the next one is asked.

Temporary failures are retried after a pause. A model that keeps failing, or that no other call can reach, is skipped
for the rest of the run.
A kept reply of any model is used before a call is made: a night that died, or left days pending, is not paid twice for
the same call. One file per reply is named by the model and the call. They go once a night has read all there is; they
are derived and safe to delete.
"""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections import Counter
from typing import TYPE_CHECKING, TypeVar

from pipelines.errors import CurateError, ModelFailed
from pipelines.extract.llm.call import BadReply, Call, Model, provider_of
from pipelines.store.files import make_folder, read_bytes, replace_synced
from pipelines.store.layout import REPLIES
from pipelines.store.user_layout import inside
from pipelines.usage import FailureKind, Tally

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from pipelines.extract.llm.budget import Budget


Read = TypeVar("Read")
MOST_FAILURES = 3
"""So many calls of a model fail in a row, retries not counted, before it is skipped."""
FIRST_PAUSE = 1.0
"""Seconds before the first retry, doubled each time, unless the provider sets them."""
LONGEST_PAUSE = 60.0
"""The longest pause. A provider that asks for more is skipped instead."""

_FINAL = frozenset({FailureKind.UNAUTHORISED, FailureKind.OVER_BUDGET})


class Chain:
    """Several models as one, for one run; the next run asks again who was skipped.

    Args:
        models: the models, in order; at least one.
        root: the memory that keeps the replies, or None to keep none.
        pause: pauses for some seconds before a retry.
        budget: the budget of the night, or None for no limit.
    """

    def __init__(
        self,
        models: Sequence[Model],
        root: Path | None = None,
        pause: Callable[[float], None] = time.sleep,
        budget: Budget | None = None,
    ) -> None:
        self.models = tuple(models)
        self._root, self._pause, self._budget = root, pause, budget
        self._failures = Counter[str]()
        self._skipped: dict[str, ModelFailed] = {}

    @property
    def input_tokens(self) -> int:
        """The most log text that every model of the chain accepts in one call."""
        return min(model.input_tokens for model in self.models)

    def ask(self, call: Call, read: Callable[[str], Read], tally: Tally) -> tuple[Read, str]:
        """Return the first usable reply, parsed by `read`, and the name of its model.

        Args:
            call: the request.
            read: parses a reply's text, or raises `BadReply`; such a reply is not kept.
            tally: counts usage and failures, even if the whole call fails.

        Raises:
            ModelFailed: no model gave a usable reply. It names all of them. Its kind concerns the day if one of their
                failures may; it is `OVER_BUDGET` if only the caps were in the way.
        """
        for model in self.models if self._root else ():
            with contextlib.suppress(CurateError, OSError, ValueError):  # also what was changed, or is refused now
                if self._root and (data := read_bytes(self._root, f"{REPLIES}/{_name(model, call)}")):
                    return read(data.decode()), model.name
        faults = []
        for model in self.models:
            try:
                return self._asked(model, call, read, tally), model.name
            except ModelFailed as fault:
                faults.append(fault)
        own = [fault for fault in faults if not fault.kind.concerns_provider]
        failed = [fault for fault in faults if fault.kind is not FailureKind.OVER_BUDGET]
        why = "; ".join([faults[0].why, *(f"{fault.provider} {fault.why}" for fault in faults[1:])])
        raise ModelFailed(faults[0].provider, why, (own or failed or faults)[0].kind)

    def _asked(self, model: Model, call: Call, read: Callable[[str], Read], tally: Tally) -> Read:
        """Return a model's reply, read; it is asked once more if the first cannot be read.

        Raises:
            ModelFailed: it gave no answer, or two that cannot be read; or it is skipped.
        """
        if last := self._skipped.get(model.name):
            kind = last.kind if last.kind is FailureKind.OVER_BUDGET else FailureKind.NOT_ASKED
            tally.failed(last.provider, kind)
            raise ModelFailed(last.provider, last.why, kind)
        why = ""
        for _ in range(2):
            text = self._answer(model, call, tally)
            try:
                found = read(text)
            except BadReply as bad:
                why = str(bad)
                tally.failed(provider_of(model.name), FailureKind.UNUSABLE)
                continue
            if self._root:
                with contextlib.suppress(CurateError, OSError, ValueError):  # if the disk refuses, it is not kept
                    replace_synced(make_folder(self._root, REPLIES) / _name(model, call), text.encode())
            return found
        raise ModelFailed(provider_of(model.name), why)

    def _answer(self, model: Model, call: Call, tally: Tally) -> str:
        """Return a model's answer; it is asked up to `model.retries` times more while its failure is temporary.

        `tally` counts the usage and failure of every try.

        Raises:
            ModelFailed: the last try's failure; the model may be skipped from now on.
        """
        for tried in range(model.retries + 1):
            try:
                answer = self._budget.ask(model, call) if self._budget else model.ask(call)
            except ModelFailed as fault:
                if fault.kind is not FailureKind.OVER_BUDGET:  # else no call was made
                    tally.paid(model.name, fault.usage)
                tally.failed(fault.provider, fault.kind)
                pause = FIRST_PAUSE * 2.0**tried if fault.retry_after is None else fault.retry_after
                if tried < model.retries and fault.kind.may_pass and pause <= LONGEST_PAUSE:
                    self._pause(pause)
                    continue
                self._failures[model.name] += fault.kind.may_pass
                if fault.kind in _FINAL or pause > LONGEST_PAUSE or self._failures[model.name] == MOST_FAILURES:
                    self._skipped[model.name] = fault
                raise
            tally.paid(model.name, answer.usage)
            self._failures[model.name] = 0
            return answer.text
        raise AssertionError  # the last try returns or raises


def drop_replies(root: Path) -> None:
    """Delete the replies that a memory keeps; what cannot be deleted stays."""
    with contextlib.suppress(CurateError, OSError):
        for file in inside(root, REPLIES).iterdir():
            file.unlink()


def _name(model: Model, call: Call) -> str:
    """Return the file name of a model's reply to a call."""
    named = hashlib.sha256(f"{model.name}\x1f{model.source}\x1f{call.digest}".encode(errors="surrogatepass"))
    return named.hexdigest()[:32]
