"""So many calls of one provider at the same time, and no more."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pipelines.models.calling import Answer, Call, Model


class Slots:
    """A model that is asked by at most `most` threads at once; the others wait for their turn."""

    def __init__(self, model: Model, most: int) -> None:
        self._model, self._free = model, threading.BoundedSemaphore(most)
        self.name, self.source = model.name, model.source
        self.input_tokens, self.output_tokens, self.retries = model.input_tokens, model.output_tokens, model.retries

    def ask(self, call: Call) -> Answer:
        """Make the call, once, when it is its turn.

        Raises:
            ModelFailed: no usable answer came.
        """
        with self._free:
            return self._model.ask(call)
