"""A chain of models: the next is asked when one is down, refuses, or is over its limit.

A model that keeps failing is left alone for the rest of the run: its circuit opens. A reply that was kept is used
before anybody is asked, whosever it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from pipelines.errors import ModelFailed
from pipelines.models.calling import BadReply, provider_of
from pipelines.models.circuit import Circuit
from pipelines.models.patience import Patience
from pipelines.usage import FailureKind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pipelines.models.calling import Call, Model
    from pipelines.models.replies import Replies
    from pipelines.usage import Tally

Read = TypeVar("Read")


class Chain:
    """Several models as one. It lives as long as a run: its circuits close with the next. Threads may share it.

    Args:
        models: who is asked, in order; at least one.
        replies: where replies are kept, or None to keep none.
        patience: how a model is asked again.
    """

    def __init__(
        self, models: Sequence[Model], replies: Replies | None = None, patience: Patience | None = None
    ) -> None:
        self.models = tuple(models)
        self._replies, self._patience = replies, patience or Patience()
        self._circuits = [Circuit(provider_of(model.name), self._patience) for model in self.models]

    @property
    def input_tokens(self) -> int:
        """The most log text that every model of the chain takes in one call."""
        return min(model.input_tokens for model in self.models)

    def ask(self, call: Call, read: Callable[[str], Read], tally: Tally) -> tuple[Read, str]:
        """Return what `read` makes of the first usable reply, and the name of the model that gave it.

        Args:
            call: what is asked.
            read: makes something of a reply's text, or raises `BadReply`; such a reply is not kept.
            tally: counts what is spent and what fails, also where the whole fails.

        Raises:
            ModelFailed: no model gave a usable reply. It names all of them, and it is of a kind that concerns the day
                where for one of them it may be the day; `OVER_BUDGET` where nothing but the caps was in the way.
        """
        for model in self.models:
            if found := self._kept(model, call, read, tally):
                return found
        faults = []
        for model, circuit in zip(self.models, self._circuits, strict=True):
            try:
                return self._asked(model, circuit, call, read, tally)
            except ModelFailed as fault:
                faults.append(fault)
        raise _all_failed(faults)

    def _kept(self, model: Model, call: Call, read: Callable[[str], Read], tally: Tally) -> tuple[Read, str] | None:
        kept = self._replies.find(model, call) if self._replies else None
        if kept is None:
            return None
        try:
            found = read(kept.answer.text)
        except BadReply:
            return None  # somebody changed the file, or the rules are stricter than they were
        tally.replies.append(kept.key)
        return found, kept.answer.model

    def _asked(
        self, model: Model, circuit: Circuit, call: Call, read: Callable[[str], Read], tally: Tally
    ) -> tuple[Read, str]:
        ticket = circuit.enter(call.place, tally)
        try:
            answer = self._patience.ask(model, call, tally)
            try:
                found = read(answer.text)
            except BadReply as bad:
                fault = ModelFailed(provider_of(model.name), str(bad), bad.kind)
                tally.failed(fault.provider, fault.kind)
                raise fault from None
        except ModelFailed as fault:
            circuit.failed(ticket, fault)
            raise
        if self._replies:
            tally.replies.append(self._replies.keep(model, call, answer))
        return found, answer.model


def _all_failed(faults: Sequence[ModelFailed]) -> ModelFailed:
    first, *others = faults
    own = [fault for fault in faults if not fault.kind.concerns_provider]
    failed = [fault for fault in faults if fault.kind is not FailureKind.OVER_BUDGET]
    telling = (own or failed or faults)[0]
    why = "; ".join([first.why, *(f"{fault.provider} {fault.why}" for fault in others)])
    return ModelFailed(first.provider, why, telling.kind)
