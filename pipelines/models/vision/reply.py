"""What a model may say of an image: the schema it is given, and the check of what came back."""

from __future__ import annotations

import re
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pipelines.models.calling import BadReply
from pipelines.models.reply import objects_in, single_line, without_thinking

LONGEST: Final = 2000
TITLE_LENGTH: Final = 120
_TOLERATED: Final = 4 * LONGEST
_SENTENCE_END: Final = re.compile(r"[.!?…](?=\s)|[\u3002\uff01\uff1f]")


class DescriptionReply(BaseModel):
    """The whole reply about one image."""

    model_config = ConfigDict(extra="forbid", strict=True)

    title: Annotated[str, Field(max_length=_TOLERATED, description="At most eight words.")]
    description: Annotated[str, Field(min_length=1, max_length=_TOLERATED, description="Two to six sentences.")]


def description_schema() -> dict[str, Any]:
    """Return the JSON schema that is sent to a provider; a fresh one, for the caller to change."""
    return DescriptionReply.model_json_schema()


def read_description(text: str) -> tuple[str, str]:
    """Return the title and the description of a reply's text, each one line; what is too long is cut at a sentence.

    Raises:
        BadReply: no object of the schema is in it.
    """
    if not text.strip():
        raise BadReply("gave an empty answer")
    found = [value for value in objects_in(without_thinking(text)) if "description" in value]
    if not found:
        raise BadReply("answered with something that is not the JSON it was asked for")
    try:
        reply = DescriptionReply.model_validate(found[-1])
    except ValidationError:
        raise BadReply("answered outside the schema") from None
    description = _cut(single_line(reply.description))
    if not description:
        raise BadReply("gave an empty description")
    return single_line(reply.title)[:TITLE_LENGTH].strip(), description


def _cut(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    ends = [found.end() for found in _SENTENCE_END.finditer(text, 0, LONGEST)]
    return text[: ends[-1]] if ends and ends[-1] > LONGEST // 2 else f"{text[: LONGEST - 1]}…"
