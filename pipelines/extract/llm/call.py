"""How any language model is called: a prompt makes a `Call`, which returns an `ModelAnswer` or raises `ModelFailed`.

Everything around a model (retries, chain, budget, kept replies) builds on the one protocol `Model`. The prompts are
Jinja2 templates under `prompts/`, each with a strict front matter and two blocks:

    ---
    id: extract
    version: 1
    schema: extraction
    ---
    {% block system %}…{% endblock %}{% block user %}…{% endblock %}

Items record the version they were extracted with, so it goes up with every change of the text.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from pipelines.store.secrets.redact import without_secrets
from pipelines.templating import resource
from pipelines.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from jinja2 import Template


_FRONT = re.compile(
    r"---\nid: (?P<id>\w+)\nversion: (?P<version>[1-9]\d{0,5})\nschema: \w+\n---\n(?P<body>.*)", re.DOTALL
)


@dataclass(frozen=True)
class Call:
    """One request to a language model, in the shape that programs get it.

    Args:
        task: `extract`, `verify`, `brief` or `describe`.
        prompt_id: the id of the prompt.
        prompt_version: its version.
        system: the part that is the same every night; the provider may cache it.
        user: the part with the day's text.
        schema: the JSON schema of the reply.
        input: the same as `user`, as data, for programs.
    """

    task: str
    prompt_id: str
    prompt_version: int
    system: str
    user: str
    schema: Mapping[str, Any]
    input: Mapping[str, Any] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """The hash of the text and schema, whatever the model."""
        asked = json.dumps([self.system, self.user, self.schema], sort_keys=True).encode()
        return hashlib.sha256(asked).hexdigest()

    @property
    def bytes(self) -> int:
        """The size of the text and schema in bytes."""
        return len(f"{self.system}{self.user}{json.dumps(self.schema)}".encode(errors="replace"))


class ModelAnswer(NamedTuple):
    """A model's unchecked answer to one call, and its cost."""

    text: str
    usage: Usage = Usage()


class Model(Protocol):
    """A language model.

    Args:
        name: provider and model, as an item's `by` and the reports record them (`anthropic:claude-haiku-5-5`).
        source: what else identifies it, such as an address: kept replies depend on it.
        input_tokens: the most log text that one call should have, at four bytes a token.
        output_tokens: the most tokens of an answer, thinking included.
        retries: how often to retry a call after a temporary failure.
    """

    name: str
    source: str
    input_tokens: int
    output_tokens: int
    retries: int

    def ask(self, call: Call) -> ModelAnswer:
        """Make the call, once.

        Raises:
            ModelFailed: no usable answer came; it has a kind and a usage.
        """


class BadReply(ValueError):
    """A reply cannot be used; the text ends a sentence that begins with the provider."""


def json_lines(rows: Iterable[object]) -> list[str]:
    """Return each row as JSON on one line: no text in it can become structure."""
    return [json.dumps(row, ensure_ascii=False) for row in rows]


def provider_of(model: str) -> str:
    """Return the provider in a model's name."""
    return model.partition(":")[0]


# ---------------------------------------- the prompts


class Prompt(NamedTuple):
    """One prompt: its front matter and its template."""

    id: str
    version: int
    body: str

    @property
    def tag(self) -> str:
        """Its id and version, as items record them: `extract/1`."""
        return f"{self.id}/{self.version}"

    def call(
        self, values: Mapping[str, object], schema: Mapping[str, Any], *, data: Mapping[str, Any] | None = None
    ) -> Call:
        """Return the call for this prompt with `values` filled in; template marks in the values stay text.

        The marker lines around what others wrote hold a code, the value `nonce`. It is a hash of all values, so that no
        text can contain its own code, and the same values have the same prompt on every machine.

        Args:
            values: the values of the template.
            schema: the JSON schema of the reply.
            data: the values as data, for programs.
        """
        code = hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:20]
        template, filled = _template(self.body), {"nonce": code, **values}
        blocks = ["".join(template.blocks[name](template.new_context(filled))) for name in ("system", "user")]
        # The last safety net: no secret of a log, document or title leaves the machine.
        system, user = (without_secrets(block.strip()) + "\n" for block in blocks)
        return Call(self.id, self.id, self.version, system, user, schema, _veiled(data or {}))


@cache
def _template(body: str) -> Template:
    import jinja2  # noqa: PLC0415  only a run that calls a model needs it

    return jinja2.Environment(
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # noqa: S701  Markdown for a model, which must quote it unchanged
        keep_trailing_newline=True,
        trim_blocks=True,
    ).from_string(body)


def _veiled(data: Any) -> Any:  # noqa: ANN401  any JSON
    if isinstance(data, str):
        return without_secrets(data)
    if isinstance(data, dict):
        return {key: _veiled(value) for key, value in data.items()}
    return [_veiled(one) for one in data] if isinstance(data, list | tuple) else data


def load_prompt(name: str) -> Prompt:
    """Return the prompt `NAME.md.j2` of this installation."""
    found = _FRONT.fullmatch((resource("prompts") / f"{name}.md.j2").read_text(encoding="utf-8"))
    if not found:
        raise AssertionError(name)  # a test reads each
    return Prompt(found["id"], int(found["version"]), found["body"])
