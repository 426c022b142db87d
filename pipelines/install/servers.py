"""The MCP server in an agent's settings: one entry under a name of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pipelines.install.program import MCP, NAME, is_call
from pipelines.install.settings_files import CannotEdit, drop_at, table_at, value_at

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pipelines.install.program import Program
    from pipelines.install.settings_files import Settings

HINT: Final = (
    "The MCP server was left out, because its package is not installed: `pipx inject memcurate 'mcp>=2.3,<3'` (or"
    " `pip install '.[mcp]'` in a checkout), then install again."
)


def add_server(
    settings: Settings, path: Sequence[str], program: Program, more: Mapping[str, Any] | None = None
) -> None:
    """Put the server into settings under `path`; what a person added to its entry stays.

    Raises:
        CannotEdit: another server has the name, or something else stands at the path.
    """
    servers = table_at(settings, path)
    found = servers.get(NAME)
    if found is not None and not is_ours(found):
        raise CannotEdit(f"has another MCP server called {NAME} (`{'.'.join((*path, NAME))}`)")
    entry = {"command": program.words[0], "args": program.arguments(MCP)}
    if found is None:
        servers[NAME] = {**(more or {}), **entry}
        return
    for key, value in entry.items():
        if found.get(key) != value:
            found[key] = value


def remove_server(settings: Settings, path: Sequence[str]) -> None:
    """Take the server out of settings, and what is empty then; one that is not ours stays."""
    if is_ours(value_at(settings, (*path, NAME))):
        drop_at(settings, (*path, NAME))


def is_ours(entry: object) -> bool:
    """Whether an entry starts `curate mcp`, wherever that is."""
    if not isinstance(entry, dict):
        return False
    words = [entry.get("command"), *(entry.get("args") or [])]
    return all(isinstance(word, str) for word in words) and is_call(words, MCP)
