"""Somebody's settings, from text to data and back: JSON by the standard library, TOML by tomlkit."""

from __future__ import annotations

import copy
import json
import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, MutableMapping, Sequence

    Settings = MutableMapping[str, Any]

_INDENT: Final = re.compile(r"\n([ \t]{1,40})\S")
_COMMENT: Final = re.compile(r"^[ \t]*//|/\*", re.MULTILINE)


class CannotEdit(ValueError):
    """Raised where settings cannot be edited without harm.

    Args:
        why: the end of a sentence that begins with the file's name.
    """

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


def load_json(text: str) -> Settings:
    """Return the object of a JSON text; an empty text holds an empty one.

    Raises:
        CannotEdit: it is no JSON object, or it holds comments, which would be lost.
    """
    if not text.strip():
        return {}
    try:
        data = json.loads(text.removeprefix("\ufeff"), parse_constant=_no_constant)
    except ValueError as fault:
        if _COMMENT.search(text):
            raise CannotEdit("holds comments, which an edit would lose; edit it by hand (docs/agents.md)") from None
        line, column = getattr(fault, "lineno", 1), getattr(fault, "colno", 1)
        raise CannotEdit(f"is no JSON: line {line}, column {column} is not understood") from None
    except RecursionError:
        raise CannotEdit("is nested too deeply") from None
    if not isinstance(data, dict):
        raise CannotEdit("holds no JSON object")
    return data


def _no_constant(name: str) -> None:
    raise ValueError(name)


def edit_json(text: str, change: Callable[[Settings], None]) -> str:
    """Return a JSON text after a change of its object, with its order of keys, indent and line ends.

    Returns:
        The text itself where the change changed nothing, and an empty one where nothing is left.

    Raises:
        CannotEdit: the text cannot be read, or does not have the shape that the change needs.
    """
    data = load_json(text)
    before = copy.deepcopy(data)
    change(data)
    if data == before:
        return text
    return _dumped(data, text) if data else ""


def json_as_written(text: str) -> str:
    """Return a JSON text as an edit writes it, so that a diff shows what changes and not what is laid out anew."""
    return _dumped(load_json(text), text) if text.strip() else text


def _dumped(data: Settings, like: str) -> str:
    body, end = like.strip(), like[len(like.rstrip()) :] if like.strip() else "\n"
    found = _INDENT.search(body)
    compact = bool(body) and found is None
    separators = (",", ":") if compact and '": ' not in body else None
    made = json.dumps(data, ensure_ascii=False, indent=None if compact else _indent(found), separators=separators)
    newline = "\r\n" if "\r\n" in like else "\n"
    return ("\ufeff" if like.startswith("\ufeff") else "") + made.replace("\n", newline) + end


def _indent(found: re.Match[str] | None) -> str:
    return found[1] if found else "  "


def load_toml(text: str) -> Settings:
    """Return the tables of a TOML text, which keep their comments and form.

    Raises:
        CannotEdit: it is no TOML.
    """
    import tomlkit  # noqa: PLC0415  few installations write TOML
    from tomlkit.exceptions import TOMLKitError  # noqa: PLC0415  as above

    try:
        return tomlkit.parse(text.removeprefix("\ufeff"))
    except TOMLKitError as fault:
        raise CannotEdit(f"is no TOML: {fault}") from None
    except RecursionError:
        raise CannotEdit("is nested too deeply") from None


def edit_toml(text: str, change: Callable[[Settings], None]) -> str:
    """Return a TOML text after a change of its tables; comments and everything else stay as they are.

    Returns:
        The text itself where the change changed nothing, and an empty one where nothing is left.

    Raises:
        CannotEdit: as `edit_json`.
    """
    import tomlkit  # noqa: PLC0415  as above

    data = load_toml(text)
    before = copy.deepcopy(data)
    change(data)
    if data == before:
        return text
    made = tomlkit.dumps(data)
    return made.rstrip() + ("\r\n" if "\r\n" in text else "\n") if made.strip() else ""


def table_at(settings: Settings, path: Sequence[str]) -> Settings:
    """Return the table at a path; what is missing of it is made.

    Raises:
        CannotEdit: something else stands on the way.
    """
    here = settings
    for at, key in enumerate(path):
        here = here.setdefault(key, {}) if key in here else _made(here, key)
        if not hasattr(here, "setdefault"):
            raise CannotEdit(f"cannot be edited: `{'.'.join(path[: at + 1])}` is no table")
    return here


def _made(here: Settings, key: str) -> Settings:
    here[key] = {}
    made: Settings = here[key]  # tomlkit puts a table of its own there
    return made


def value_at(settings: Settings, path: Sequence[str]) -> object | None:
    """Return what stands at a path, or None."""
    value: object = settings
    for key in path:
        value = value.get(key) if hasattr(value, "get") else None
    return value


def drop_at(settings: Settings, path: Sequence[str]) -> None:
    """Take out what stands at a path, and each table that is empty then."""
    tables = [settings]
    for key in path[:-1]:
        tables.append(tables[-1][key])
    for table, key in zip(reversed(tables), reversed(path), strict=True):
        del table[key]
        if table:
            return
