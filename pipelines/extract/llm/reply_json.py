"""What the replies of language models have in common: the JSON in them, its schema, and parts that are faulty."""

from __future__ import annotations

import json
import string
from contextlib import suppress
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from pipelines.extract.extraction import HIDDEN
from pipelines.extract.llm.call import BadReply
from pipelines.store.markdown import without_spans
from pipelines.text import fold

TEXT_LENGTH = 500
MOST_OBJECTS = 50
_Part = TypeVar("_Part", bound=BaseModel)
_LOWER = {ord(char): char.lower() for char in string.ascii_uppercase}


def single_line(text: str) -> str:
    """Return a model's text on one line, without invisible characters."""
    return fold(HIDDEN.sub("", text))


Id = Annotated[str, Field(max_length=80)]
Text = Annotated[str, Field(max_length=TEXT_LENGTH), AfterValidator(single_line)]
Sentence = Annotated[Text, Field(min_length=1)]


class Reply(BaseModel):
    """A part of a reply: what is left out is empty, and unknown keys are passed over."""

    model_config = ConfigDict(extra="ignore", strict=True)


class Faulty(ValueError):
    """A part of a reply that cannot be used: why, for the report, without text of the log or the model."""


def schema_of(reply: type[BaseModel]) -> dict[str, Any]:
    """Return a new copy of the JSON schema to send to a provider: its shape, without lengths and descriptions.

    Every key is required, and no other is allowed: some providers reject schemas with optional keys.
    """

    def closed(node: Any, *, named: bool = False) -> Any:  # noqa: ANN401  any JSON
        if isinstance(node, list):
            return [closed(one) for one in node]
        if not isinstance(node, dict):
            return node
        found = {key: closed(value, named=key in _NAMED) for key, value in node.items() if named or key in _KEPT}
        if "properties" in found and not named:
            found |= {"required": list(found["properties"]), "additionalProperties": False}
        return found

    schema: dict[str, Any] = closed(reply.model_json_schema())
    return schema


_NAMED = frozenset({"properties", "$defs"})
_KEPT = _NAMED | {"type", "items", "enum", "const", "anyOf", "$ref"}


def checked(model: type[_Part], raw: object) -> _Part:
    """Return a validated part of a reply; a field that may be left out and is invalid is left out.

    Raises:
        Faulty: it breaks the schema.
    """
    try:
        return model.model_validate(raw)
    except ValidationError as fault:
        wrong = {str(one["loc"][0]) for one in fault.errors(include_url=False) if one["loc"]}
        needed = {one.alias or name for name, one in model.model_fields.items() if one.is_required()}
        if not isinstance(raw, dict) or not wrong or wrong & needed or not wrong <= raw.keys():
            raise Faulty(f"{min(wrong & needed, default='its shape')} breaks the schema") from None
        return checked(model, {key: value for key, value in raw.items() if key not in wrong})


def last_object(text: str, *keys: str) -> dict[str, Any]:
    """Return the last JSON object of a reply with one of some keys, since a model may show drafts before it.

    An empty object counts, too, if it is all that the reply has: it may be what is left of one that was cut off.

    Raises:
        BadReply: there is none.
    """
    if not text.strip():
        raise BadReply("gave an empty answer")
    for tag in ("think", "thinking"):
        text = without_spans(text, f"<{tag}>", f"</{tag}>", text.translate(_LOWER))
    decoder, objects, at = json.JSONDecoder(), list[dict[str, Any]](), text.find("{")
    for _ in range(MOST_OBJECTS):
        if at < 0:
            break
        end = at + 1
        with suppress(ValueError, RecursionError):  # this brace starts no object; a later one may
            value, end = decoder.raw_decode(text, at)
            objects.append(value)
        at = text.find("{", end)
    found = [value for value in objects if any(key in value for key in keys)]
    if not found and objects == [{}] and text.count("{") == 1:
        found = objects
    if not found:
        raise BadReply("answered without the requested JSON")
    return found[-1]
