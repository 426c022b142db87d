"""How a language model is asked, whoever it is: a prompt makes a `Call`, an `Answer` or `ModelFailed` comes out.

Everything that stands around a model (retries, a chain, a budget, replies kept) is built on the one protocol `Model`.
The prompts are Jinja2 templates under `prompts/`, each with a strict front matter and two blocks:

    ---
    id: extract
    version: 1
    schema: extraction
    ---
    {% block system %}…{% endblock %}{% block user %}…{% endblock %}

The version names what an item was extracted with, so it goes up with every change of the words.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol

from pipelines.errors import BadFile
from pipelines.store.secrets import veil
from pipelines.templating import resource
from pipelines.usage import FailureKind, Usage

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


KEYS: Final = ("id", "version", "schema")
SCHEMAS: Final = frozenset({"extraction", "description", "review", "verification", "brief"})
_SUBJECTS: Final = {"review": "review", "verify": "verification", "brief": "states and episodes"}
_ADVICE: Final = "Mend the prompt, or install memcurate anew."
_FRONT = re.compile(r"---\n(?P<front>.*?)\n---\n(?P<body>.*)", re.DOTALL)
Place = tuple[str, int]
"""A day, and which piece of it."""


@dataclass(frozen=True, slots=True)
class Picture:
    """An image as it is sent: its bytes, and what they are by their own beginning, as `image/png`."""

    media_type: str
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Call:
    """One request to a language model.

    Args:
        task: what it is for: `extract`, `review`, `verify`, `brief`, `describe`.
        prompt_id: the prompt that was rendered.
        prompt_version: its version.
        system: the part that is the same every night, and may be cached by the provider.
        user: the part that holds the day.
        schema: the JSON schema of the reply.
        image: what is to be looked at, or None.
        place: which part of the run's work it belongs to; calls are made in this order, or judged as if they were.
        input: the same as `user`, as data, for programs.
    """

    task: str
    prompt_id: str
    prompt_version: int
    system: str
    user: str
    schema: Mapping[str, Any]
    image: Picture | None = None
    place: Place = ("", 0)
    input: Mapping[str, Any] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """The hash of what is asked: of the words, the schema and the image, whoever is asked."""
        asked = json.dumps([self.system, self.user, self.schema], sort_keys=True).encode()
        return hashlib.sha256(asked + (self.image.data if self.image else b"")).hexdigest()

    @property
    def bytes(self) -> int:
        """How many bytes of text and schema are sent; an image is not counted."""
        return len(f"{self.system}{self.user}{json.dumps(self.schema)}".encode(errors="replace"))

    @property
    def subject(self) -> str:
        """What it is about, as a failure names it."""
        return "image" if self.image else _SUBJECTS.get(self.task, "day")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model said to one call, unchecked, and what it cost; `model` is the `name` of who was asked."""

    text: str
    model: str
    usage: Usage = field(default_factory=Usage)


class Model(Protocol):
    """A language model that can be asked, by several threads at once."""

    @property
    def name(self) -> str:
        """Provider and model, as an item's `by` and the reports record them (`anthropic:claude-haiku-5-5`)."""

    @property
    def source(self) -> str:
        """The name and all else that decides who answers, such as an address; kept replies are told apart by it."""

    @property
    def input_tokens(self) -> int:
        """The most log text that one call should hold, at four bytes a token."""

    @property
    def output_tokens(self) -> int:
        """The most that an answer may hold, thinking included."""

    @property
    def retries(self) -> int:
        """How often a call is worth making again after a failure that may pass."""

    def ask(self, call: Call) -> Answer:
        """Make the call, once.

        Raises:
            ModelFailed: no usable answer came; its kind says how, its usage what that cost.
        """


class WrappedModel:
    """A model that stands before another one and looks like it."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.name, self.source = model.name, model.source
        self.input_tokens, self.output_tokens, self.retries = model.input_tokens, model.output_tokens, model.retries


class BadReply(ValueError):
    """Raised by what reads a reply that cannot be used as a whole; its text ends a sentence that names the provider."""

    def __init__(self, why: str, kind: FailureKind = FailureKind.OUTSIDE_SCHEMA) -> None:
        super().__init__(why)
        self.kind = kind


def provider_of(model: str) -> str:
    """Return the provider in a model's name."""
    return model.partition(":")[0]


# ---------------------------------------- the prompts


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt: its front matter and its template."""

    path: Path
    id: str
    version: int
    body: str

    @property
    def tag(self) -> str:
        """What items extracted with it record: `extract/1`."""
        return f"{self.id}/{self.version}"

    def call(
        self,
        values: Mapping[str, object],
        schema: Mapping[str, Any],
        *,
        data: Mapping[str, Any] | None = None,
        place: Place = ("", 0),
        image: Picture | None = None,
    ) -> Call:
        """Return the call that asks this prompt, with `values` filled in; data that holds template marks stays data.

        Args:
            values: what the template names.
            schema: the JSON schema of the reply.
            data: the values as data, for programs.
            place: which part of the run's work it belongs to.
            image: what is to be looked at, or None.

        Raises:
            BadFile: the template is no template, lacks a block, or names a value that is not in `values`.
        """
        import jinja2  # noqa: PLC0415  only a run that asks a model pays for it

        environment = jinja2.Environment(
            undefined=jinja2.StrictUndefined,
            autoescape=False,  # noqa: S701  it is Markdown for a model: escaping would change the words it must quote
            keep_trailing_newline=True,
            trim_blocks=True,
        )
        try:
            template = environment.from_string(self.body)
            blocks = ["".join(template.blocks[name](template.new_context(dict(values)))) for name in ("system", "user")]
        except KeyError as fault:
            raise BadFile(self.path, f"has no block {fault}", _ADVICE) from None
        except jinja2.TemplateError as fault:
            raise BadFile(self.path, f"cannot be filled in: {fault.message}", _ADVICE) from None
        # The last net: no secret of a log, a document or a title leaves the machine, whoever rendered it.
        system, user = (veil(block.strip()) + "\n" for block in blocks)
        return Call(self.id, self.id, self.version, system, user, schema, image, place, _veiled(data or {}))


def _veiled(data: Any) -> Any:  # noqa: ANN401  any JSON
    if isinstance(data, str):
        return veil(data)
    if isinstance(data, dict):
        return {key: _veiled(value) for key, value in data.items()}
    return [_veiled(one) for one in data] if isinstance(data, list | tuple) else data


def load_prompt(name: str, folder: Path | None = None) -> Prompt:
    """Return the prompt `NAME.md.j2` of this installation, or of another folder.

    Raises:
        BadFile: it is missing, or its front matter has an unknown, missing, repeated or wrong key; all are named.
    """
    path = (folder or resource("prompts")) / f"{name}.md.j2"
    try:
        found = _FRONT.fullmatch(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as fault:
        raise BadFile(path, f"cannot be read ({type(fault).__name__})", _ADVICE) from fault
    if not found:
        raise BadFile(path, "has no front matter between two lines of three dashes", _ADVICE)
    rows = [line.partition(":") for line in found["front"].split("\n")]
    pairs = [(key.strip(), value.strip()) for key, _, value in rows]
    if faults := _faults(name, pairs):
        raise BadFile(path, f"has a front matter that cannot be used: {'; '.join(faults)}", _ADVICE)
    front = dict(pairs)
    return Prompt(path, front["id"], int(front["version"]), found["body"])


def _faults(name: str, pairs: list[tuple[str, str]]) -> list[str]:
    front = dict(pairs)
    faults = [f"the key {key!r} is unknown" for key in front if key not in KEYS]
    faults += [f"the key {key!r} is missing" for key in KEYS if key not in front]
    if len(front) < len(pairs):
        faults.append("a key stands there twice")
    if front.get("id", name) != name:
        faults.append(f"id is {front['id']!r}, and the file is called {name!r}")
    if not re.fullmatch(r"[1-9]\d{0,5}", front.get("version", "1")):
        faults.append(f"version is {front['version']!r}, not a whole number from 1")
    if front.get("schema", "extraction") not in SCHEMAS:
        faults.append(f"schema is {front['schema']!r}, not one of {', '.join(sorted(SCHEMAS))}")
    return faults
