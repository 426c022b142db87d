"""What a memory's own curate.toml says although only the user's settings can: it is named, and it counts for nothing.

A memory may be somebody else's repository. So that none of its keys can stop a night, let alone run a command, name
an address, a model, a remote or a key, or raise trust, those that belong to the user's settings are set aside before
curate.toml is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Table = dict[str, object]


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
        if field is None and key in _users():
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


def _users() -> frozenset[str]:
    """Return the names of all keys and tables of the user's settings."""
    from pipelines.user_settings import UserFile  # noqa: PLC0415  it takes long, and few memories have such a key

    return frozenset(names_in(UserFile))


def names_in(table: type[BaseModel]) -> Iterator[str]:
    """Yield the name of every key of a table, and of the tables in it."""
    for name, field in table.model_fields.items():
        yield name
        for inner in (field.annotation, *getattr(field.annotation, "__args__", ())):
            if isinstance(inner, type) and issubclass(inner, BaseModel):
                yield from names_in(inner)
