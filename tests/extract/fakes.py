"""Models that say what a test wrote down, and time that does not pass."""

from collections.abc import Callable
from dataclasses import dataclass, field

from pipelines.errors import ModelFailed
from pipelines.extract.llm.call import Call, ModelAnswer, provider_of
from pipelines.usage import FailureKind, Usage

Said = str | FailureKind | ModelFailed
USAGE = Usage(100, 10)


@dataclass
class Scripted:
    """A model that gives what was prepared, in order; the last for good. A kind stands for a failure of that kind."""

    name: str
    said: list[Said] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    input_tokens: int = 24_000
    output_tokens: int = 1000
    retries: int = 0
    source: str = ""
    answers: Callable[[Call], str] | None = None

    def ask(self, call: Call) -> ModelAnswer:
        self.calls.append(call)
        if self.answers:
            return ModelAnswer(self.answers(call), USAGE)
        said = self.said.pop(0) if len(self.said) > 1 else self.said[0]
        if isinstance(said, FailureKind):
            said = ModelFailed(provider_of(self.name), f"was {said}", said, usage=USAGE)
        if isinstance(said, ModelFailed):
            raise said
        return ModelAnswer(said, USAGE)


class Still:
    """Pauses that take no time and are written down."""

    def __init__(self) -> None:
        self.pauses: list[float] = []
        self.retry = self.pauses.append
