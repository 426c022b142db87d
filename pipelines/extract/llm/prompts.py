"""The prompts: Jinja2 templates under `prompts/`, each with a strict front matter and two blocks, `system` and `user`.

    ---
    id: extract
    version: 1
    schema: extraction
    ---
    {% block system %}…{% endblock %}{% block user %}…{% endblock %}

The version names what an item was extracted with, so it goes up with every change of the words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pipelines.errors import BadFile
from pipelines.store.secrets import veil
from pipelines.templating import resource

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


KEYS: Final = ("id", "version", "schema")
SCHEMAS: Final = frozenset({"extraction", "description", "review"})
_ADVICE: Final = "Mend the prompt, or install memcurate anew."
_FRONT = re.compile(r"---\n(?P<front>.*?)\n---\n(?P<body>.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Rendered:
    """What is sent to a model: `system` is the same every night, `user` holds the day."""

    system: str
    user: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt: its front matter and its template."""

    path: Path
    id: str
    version: int
    schema: str
    body: str

    @property
    def tag(self) -> str:
        """What items extracted with it record: `extract/1`."""
        return f"{self.id}/{self.version}"

    def render(self, values: Mapping[str, object]) -> Rendered:
        """Return both blocks with `values` filled in; data that holds template marks stays data.

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
        return Rendered(*(veil(block.strip()) + "\n" for block in blocks))


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
    pairs = [line.partition(":") for line in found["front"].split("\n")]
    faults = _faults(name, [(key.strip(), value.strip()) for key, _, value in pairs])
    if faults:
        raise BadFile(path, f"has a front matter that cannot be used: {'; '.join(faults)}", _ADVICE)
    front = {key.strip(): value.strip() for key, _, value in pairs}
    return Prompt(path, front["id"], int(front["version"]), front["schema"], found["body"])


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
