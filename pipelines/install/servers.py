"""The MCP server in an agent's JSON settings: one entry under a name of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pipelines.install.hooks import emptied
from pipelines.install.jsontext import Broken, drop, load, put
from pipelines.install.program import MCP, NAME, is_call

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pipelines.install.program import Program

HINT: Final = (
    "The MCP server was left out, because its package is not installed: `pipx inject memcurate 'mcp>=2.3,<3'` (or"
    " `pip install '.[mcp]'` in a checkout), then install again."
)


def with_server(text: str, path: tuple[str, ...], program: Program, more: Mapping[str, Any] | None = None) -> str:
    """Return settings with the server under `path`; what a person added to its entry stays.

    Raises:
        Broken: the settings are no JSON, or another server has the name.
    """
    text = text if text.strip() else "{}\n"
    entry = {"command": program.words[0], "args": program.arguments(MCP)}
    found = _entry(text, path)
    if found is None:
        return put(text, (*path, NAME), {**(more or {}), **entry})
    _check(found, path)
    for key, value in entry.items():
        text = put(text, (*path, NAME, key), value)
    return text


def without_server(text: str, path: tuple[str, ...]) -> str:
    """Return settings without the server; one that is not ours stays.

    Raises:
        Broken: the settings are no JSON.
    """
    if not text.strip() or (found := _entry(text, path)) is None or not is_ours(found):
        return text
    return emptied(drop(text, (*path, NAME)))


def is_ours(entry: object) -> bool:
    """Whether an entry starts `curate mcp`, wherever that is."""
    if not isinstance(entry, dict):
        return False
    words = [entry.get("command"), *(entry.get("args") or [])]
    return all(isinstance(word, str) for word in words) and is_call(words, MCP)


def _check(entry: object, path: tuple[str, ...]) -> None:
    if not is_ours(entry):
        raise Broken(f"has another MCP server called {NAME} (`{'.'.join((*path, NAME))}`)")


def _entry(text: str, path: tuple[str, ...]) -> object | None:
    value: object = load(text)
    for key in (*path, NAME):
        value = value.get(key) if isinstance(value, dict) else None
    return value
