"""A model under the caps of a night."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pipelines.errors import ModelFailed
from pipelines.models.budget import Cost, OverBudget
from pipelines.models.calling import provider_of
from pipelines.models.providers.deadline import within
from pipelines.usage import FailureKind, Usage

if TYPE_CHECKING:
    from pipelines.models.budget import Budget
    from pipelines.models.calling import Answer, Call, Model
    from pipelines.provider_settings import Price

# More than any ordinary text needs, in any script: what is set aside must not turn out to be too little.
WORST_BYTES_A_TOKEN: Final = 2
_MAY_BE_PAID: Final = frozenset(
    {FailureKind.TIMED_OUT, FailureKind.CUT_OFF, FailureKind.GARBLED, FailureKind.FAILED, FailureKind.OVER_BUDGET}
)


class Capped:
    """A model that is asked only while its calls fit the caps, and left alone at once when the night's time is over.

    A call counts as what the provider says it cost, whether it failed or not; where that is not said, and the call may
    have been answered, as the most that it may have cost.

    Args:
        model: who is asked.
        budget: what is left of the night.
        price: what the model costs, or None where that is not known; then it counts as free.
    """

    def __init__(self, model: Model, budget: Budget, price: Price | None) -> None:
        self._model, self._budget, self._price = model, budget, price
        self.name, self.source = model.name, model.source
        self.input_tokens, self.output_tokens, self.retries = model.input_tokens, model.output_tokens, model.retries

    def ask(self, call: Call) -> Answer:
        """Make the call, once.

        Raises:
            ModelFailed: no usable answer came; of the kind `OVER_BUDGET` where the caps are in the way.
        """
        worst = self._worst(call)
        try:
            held = self._budget.hold(self.name, call.place, worst)
        except OverBudget as fault:
            raise ModelFailed(provider_of(self.name), str(fault), FailureKind.OVER_BUDGET) from None
        cost = worst
        try:
            answer = self._in_time(call)
            if answer.usage != Usage() or not self.output_tokens:  # a program has no tokens to tell
                cost = self._cost(answer.usage)
        except ModelFailed as fault:
            if fault.usage and fault.usage != Usage():
                cost = self._cost(fault.usage)
            elif fault.kind not in _MAY_BE_PAID:
                cost = Cost()
            raise
        finally:
            self._budget.settle(held, cost)
        return answer

    def _in_time(self, call: Call) -> Answer:
        left = self._budget.seconds_left()
        if left is None:
            return self._model.ask(call)
        try:
            return within(left, lambda: self._model.ask(call))
        except TimeoutError:
            why = "was still answering when the max_minutes of the night were over"
            raise ModelFailed(provider_of(self.name), why, FailureKind.OVER_BUDGET, usage=Usage()) from None

    def _cost(self, usage: Usage) -> Cost:
        return Cost(usage.input_tokens + usage.output_tokens, self._price.cost(usage) if self._price else 0.0)

    def _worst(self, call: Call) -> Cost:
        sent = -(-call.bytes // WORST_BYTES_A_TOKEN)
        received = call.max_output_tokens or self.output_tokens
        return Cost(sent + received, self._price.worst(sent, received) if self._price else 0.0)
