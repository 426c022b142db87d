"""A chain of models: if one is down, refuses, or is over its limit, the next one is asked.

Temporary failures are retried after a pause. A model that keeps failing, or that no other call can reach, is skipped
for the rest of the run. A kept reply of any model is used before a call is made: a night that died, or left days
pending, is not paid twice for the same call. One file per reply is named by the model and the call. They go once a
night has read all there is; they are derived and safe to delete.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import time
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Final, TypeVar

from pipelines.errors import CurateError, ModelFailed
from pipelines.extract.llm.call import BadReply, Call, Model, ModelAnswer, provider_of
from pipelines.provider_settings import price_of
from pipelines.store.files import make_folder, read_bytes, replace_synced
from pipelines.store.layout import REPLIES
from pipelines.store.user_layout import inside
from pipelines.usage import FailureKind, Tally, Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from pipelines.extract.llm.budget import Budget
    from pipelines.provider_settings import Prices


Read = TypeVar("Read")
MOST_FAILURES: Final = 3
"""So many calls of a model fail in a row, retries not counted, before it is skipped."""
FIRST_PAUSE: Final = 1.0
"""Seconds before the first retry, doubled each time, unless the provider sets them."""
LONGEST_PAUSE: Final = 60.0
"""The longest pause. A provider that asks for more is skipped instead."""


class Chain:
    """Several models as one, for one run; the next run asks again who was skipped.

    Args:
        models: the models, in order; at least one.
        replies: the store of kept replies, or None to keep none.
        pause: pauses for some seconds before a retry.
        prices: the user's own prices, which override the table.
        budget: the budget of the night, or None for no limit.
    """

    def __init__(
        self,
        models: Sequence[Model],
        replies: Replies | None = None,
        pause: Callable[[float], None] | None = None,
        prices: Prices = (),
        budget: Budget | None = None,
    ) -> None:
        self.models, self.prices = tuple(models), prices
        self._replies, self._budget = replies, budget
        self._pause = pause or (budget.pause if budget else time.sleep)
        self._failures = Counter[str]()
        self._skipped: dict[str, ModelFailed] = {}

    @property
    def input_tokens(self) -> int:
        """The most log text that every model of the chain accepts in one call."""
        return min(model.input_tokens for model in self.models)

    def new_tally(self) -> Tally:
        """Return a tally that counts what calls cost."""

        def cost(model: str, usage: Usage) -> float | None:
            price = price_of(model, self.prices)
            return price.cost(usage) if price else usage.usd or None

        return Tally(cost=cost)

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
        for model in self.models if self._replies else ():
            if found := self._kept(model, call, read):
                return found
        faults = []
        for model in self.models:
            try:
                return self._asked(model, call, read, tally)
            except ModelFailed as fault:
                faults.append(fault)
        own = [fault for fault in faults if not fault.kind.concerns_provider]
        failed = [fault for fault in faults if fault.kind is not FailureKind.OVER_BUDGET]
        why = "; ".join([faults[0].why, *(f"{fault.provider} {fault.why}" for fault in faults[1:])])
        raise ModelFailed(faults[0].provider, why, (own or failed or faults)[0].kind)

    def _kept(self, model: Model, call: Call, read: Callable[[str], Read]) -> tuple[Read, str] | None:
        kept = self._replies.find(model, call) if self._replies else None
        if kept is None:
            return None
        try:
            found = read(kept.text)
        except BadReply:
            return None  # the file was changed, or the rules are stricter now
        return found, kept.model

    def _asked(self, model: Model, call: Call, read: Callable[[str], Read], tally: Tally) -> tuple[Read, str]:
        """Return a model's reply that can be read; it is asked once more if the first cannot.

        Raises:
            ModelFailed: it gave no answer, or two that cannot be read; or it is skipped.
        """
        provider = provider_of(model.name)
        if last := self._skipped.get(model.name):
            kind = last.kind if last.kind is FailureKind.OVER_BUDGET else FailureKind.NOT_ASKED
            tally.failed(provider, kind)
            raise ModelFailed(provider, f"{last.why}, so it is skipped for the rest of this run", kind)
        for is_last in (False, True):
            answer = self._answer(model, call, tally)
            try:
                found = read(answer.text)
            except BadReply as bad:
                tally.failed(provider, FailureKind.UNUSABLE)
                if is_last:
                    raise ModelFailed(provider, str(bad)) from None
                continue
            if self._replies:
                self._replies.keep(model, call, answer)
            return found, answer.model
        raise AssertionError  # the second try returns or raises

    def _answer(self, model: Model, call: Call, tally: Tally) -> ModelAnswer:
        """Return a model's answer; it is asked up to `model.retries` times more while its failure is temporary.

        `tally` counts the usage and failure of every try.

        Raises:
            ModelFailed: the last try's failure; the model may be skipped from now on.
        """
        for tried in range(model.retries + 1):
            try:
                price = price_of(model.name, self.prices)
                answer = self._budget.ask(model, call, price) if self._budget else model.ask(call)
            except ModelFailed as fault:
                if fault.usage is not None or fault.kind is not FailureKind.OVER_BUDGET:  # else no call was made
                    tally.paid(model.name, fault.usage)
                tally.failed(fault.provider, fault.kind)
                told = fault.retry_after
                pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0**tried) if told is None else told
                if tried < model.retries and fault.kind.may_pass and pause <= LONGEST_PAUSE:
                    self._pause(pause)
                    continue
                self._failures[model.name] += fault.kind.may_pass
                if fault.kind.is_final or pause > LONGEST_PAUSE or self._failures[model.name] == MOST_FAILURES:
                    self._skipped[model.name] = fault
                raise
            tally.paid(model.name, answer.usage)
            self._failures[model.name] = 0
            return answer
        raise AssertionError  # the last try returns or raises


class Replies:
    """The replies that a memory keeps.

    Args:
        root: the memory.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    def find(self, model: Model, call: Call) -> ModelAnswer | None:
        """Return a model's kept reply to this call, with the usage of that time, or None."""
        with contextlib.suppress(CurateError, OSError, ValueError, KeyError, TypeError, RecursionError):
            if data := read_bytes(self._root, f"{REPLIES}/{_key(model, call)}.json"):
                found = json.loads(data)
                return ModelAnswer(str(found["text"]), model.name, Usage(**found["usage"]))
        return None

    def keep(self, model: Model, call: Call, answer: ModelAnswer) -> None:
        """Keep a reply atomically. If the disk refuses, the run goes on without."""
        with contextlib.suppress(ValueError, CurateError, OSError):
            data = json.dumps(asdict(answer), indent=1).encode()
            replace_synced(make_folder(self._root, REPLIES) / f"{_key(model, call)}.json", data)


def drop_replies(root: Path) -> None:
    """Delete the replies that a memory keeps; what cannot be deleted stays."""
    with contextlib.suppress(CurateError, OSError):
        for file in inside(root, REPLIES).iterdir():
            file.unlink()


def _key(model: Model, call: Call) -> str:
    """Return the file name of a model's reply to a call."""
    return hashlib.sha256(f"{model.source}\x1f{call.digest}".encode(errors="surrogatepass")).hexdigest()[:32]
