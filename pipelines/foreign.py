"""What a memory's own curate.toml says although only the user's settings can: it is named, and it counts for nothing.

A memory may be somebody else's repository. So that none of its keys can stop a night, let alone run a command, name
an address, a model, a remote or a key, or raise trust, those that belong to the user's settings are set aside before
curate.toml is read; so is what would do such a thing if there were a setting of that name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pydantic import BaseModel

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

Table = dict[str, object]
_MEANT: Final = (
    "command", "commands", "program", "shell", "hook", "hooks", "editor", "pager", "endpoint", "endpoints", "address",
    "host", "proxy", "webhook", "models", "remotes", "origin", "upstream", "key", "keys", "token", "secret", "password",
    "credentials", "env", "environment", "trust", "trusted",
)  # fmt: skip
"""No settings have such keys: who writes one wants a program run, an address asked, a key used or words believed."""
_USERS: Final = (
    "anthropic", "api_key", "api_key_env", "base_url", "cached", "concurrency", "embedder", "exec", "folder", "gemini",
    "input", "input_tokens", "limits", "max_minutes", "max_tokens", "max_usd", "memories", "model", "openai", "output",
    "ping", "precision", "prices", "provider", "providers", "push", "remote", "rules_from", "threads",
    "timeout_seconds", "tries", "url", "written",
)  # fmt: skip
"""Every key of the user's settings, in whatever table; a test holds it against them."""


def without_foreign(raw: Mapping[str, object], known: type[BaseModel]) -> tuple[Table, tuple[str, ...]]:
    """Return a table without the keys that belong to the user's settings, and those keys with their tables' names.

    Args:
        raw: the table.
        known: what the memory itself may set; its own keys are never foreign, whatever they are called.
    """
    own: Table = {}
    foreign: list[str] = []
    for key, value in raw.items():
        field = known.model_fields.get(key)
        table = field.annotation if field else None
        if field is None and foreign_keys([key]):
            foreign.append(key)
        elif isinstance(value, dict) and isinstance(table, type) and issubclass(table, BaseModel):
            own[key], further = without_foreign(value, table)
            foreign += (f"{key}.{one}" for one in further)
        else:
            own[key] = value
    return own, tuple(foreign)


def told_foreign(name: str, foreign: tuple[str, ...]) -> list[str]:
    """Return the sentence that names the keys, if there are any. No value is in it."""
    if not foreign:
        return []
    keys = ", ".join(f"`{key}`" for key in foreign)
    if len(foreign) == 1:
        return [f"{name} sets {keys}, which only your own settings can; it counts for nothing there, so take it out."]
    return [f"{name} sets {keys}, which only your own settings can; they count for nothing there, so take them out."]


def foreign_keys(keys: Iterable[str], own: Container[str] = ()) -> tuple[str, ...]:
    """Return those keys of a table that belong to the user's settings, or that mean what only those can say.

    Args:
        keys: of a table; case, `-` and `_` make no difference.
        own: keys that the table itself has, which are never foreign.
    """
    users = {_folded(name) for name in (*_USERS, *_MEANT)}
    return tuple(key for key in keys if key not in own and _folded(key) in users)


def _folded(key: str) -> str:
    return key.casefold().replace("_", "").replace("-", "")
