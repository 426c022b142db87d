"""How a model describes an image, whoever it is: the prompt, the question, the checked answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from pipelines.errors import DescribingFailed, ModelFailed
from pipelines.models.calling import BadReply, Call, provider_of
from pipelines.models.describing import Description
from pipelines.models.patience import Patience
from pipelines.models.prompts import load_prompt
from pipelines.usage import Tally, total

if TYPE_CHECKING:
    from pipelines.models.calling import Model
    from pipelines.models.describing import Limits, Picture
    from pipelines.models.prompts import Prompt

TASK: Final = "describe"


@dataclass(frozen=True, slots=True)
class SeeingModel:
    """A model that can see, as a describer of images.

    Args:
        model: who is asked.
        limits: what its provider takes.
        prompt: the prompt for describing.
    """

    model: Model
    limits: Limits
    prompt: Prompt = field(default_factory=lambda: load_prompt("describe"))

    @property
    def name(self) -> str:
        """Provider, model and prompt version, as a sidecar's `by` records them."""
        return f"{self.model.name}@{self.prompt.tag}"

    def describe(self, picture: Picture) -> Description:
        """Return what an image shows.

        Raises:
            DescribingFailed: the call failed or its answer cannot be used.
        """
        from pipelines.models.vision.reply import description_schema, read_description  # noqa: PLC0415  pydantic

        words, tally = self.prompt.render({}), Tally()
        call = Call(
            TASK, self.prompt.id, self.prompt.version, words.system, words.user, description_schema(), image=picture
        )
        try:
            answer = Patience().ask(self.model, call, tally)
            title, description = read_description(answer.text)
        except ModelFailed as fault:
            raise DescribingFailed(fault.provider, fault.why) from None
        except BadReply as fault:
            raise DescribingFailed(provider_of(self.model.name), str(fault)) from None
        [spent] = total(tuple(tally.spent))
        return Description(description, title, self.name, spent.usage.input_tokens, spent.usage.output_tokens)
