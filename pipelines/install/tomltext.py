"""One table in somebody's TOML file, put in and taken out without touching another byte.

Python reads TOML and does not write it. Here text is added and removed by lines, and the parser is the judge: what is
written must read as the old data and the table, or nothing is written.
"""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any, Final

from pipelines.install.jsontext import Broken

_HEADER: Final = re.compile(r"[ \t]*\[{1,2}[ \t]*+([^\[\]]*[^\[\] \t])[ \t]*\]{1,2}[ \t]*(?:#.*)?")

Table = dict[str, str | list[str]]


def with_table(text: str, path: tuple[str, ...], table: Table) -> str:
    """Return a text with a table under a header of its own; keys that a person added to it stay.

    Raises:
        Broken: the text is no TOML, or is written so that no table can be added to it.
    """
    before = _parsed(text)
    if (old := _at(before, path)) is None:
        made = _appended(text, path, table)
    elif not isinstance(old, dict):
        raise Broken(f"cannot be changed: `{'.'.join(path)}` is no table")
    elif all(old.get(key) == value for key, value in table.items()):
        return text
    else:
        made = _replaced(text, path, table)
    try:
        sound = _parsed(made) == _joined(before, path, {**(old or {}), **table})
    except Broken:
        sound = False
    if not sound:
        wanted = " ".join(_lines(path, table))
        raise Broken(f"is written in a way that is not changed by itself; write into it by hand: {wanted}")
    return made


def without_table(text: str, path: tuple[str, ...]) -> str:
    """Return a text without a table, and what stands under it; an empty text where nothing else is in it.

    Raises:
        Broken: the text is no TOML, or the table stands in it in a way that is not changed by itself.
    """
    before = _parsed(text)
    if _at(before, path) is None:
        return text
    made = text
    while (region := _region(made, path, whole=True)) is not None:
        made = _cut(made, *region)
    if not _is_toml(made) or _dropped(_parsed(made), path) != _dropped(before, path) or _at(_parsed(made), path):
        raise Broken(f"holds `{'.'.join(path)}` in a way that is not changed by itself; take it out by hand")
    return made


def _parsed(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError as fault:
        raise Broken(f"is no TOML: {fault}") from None
    except RecursionError:
        raise Broken("is nested too deeply") from None


def _is_toml(text: str) -> bool:
    try:
        _parsed(text)
    except Broken:
        return False
    return True


def entry_at(text: str, path: tuple[str, ...]) -> object | None:
    """Return what stands at a path, or None.

    Raises:
        Broken: the text is no TOML.
    """
    return _at(_parsed(text), path)


def _at(data: dict[str, Any], path: tuple[str, ...]) -> object | None:
    value: object = data
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _joined(data: dict[str, Any], path: tuple[str, ...], table: dict[str, Any]) -> dict[str, Any]:
    inner = data.get(path[0], {})
    value = table if len(path) == 1 else _joined(inner if isinstance(inner, dict) else {}, path[1:], table)
    return {**data, path[0]: value}


def _dropped(data: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    """Return data without what stands at a path, and without each table that is empty then."""
    inner = data.get(path[0])
    rest = _dropped(inner, path[1:]) if len(path) > 1 and isinstance(inner, dict) else None
    others = {key: value for key, value in data.items() if key != path[0]}
    return {**others, path[0]: rest} if rest else others


def _lines(path: tuple[str, ...], table: Table) -> list[str]:
    return [f"[{'.'.join(path)}]", *(f"{key} = {_value(value)}" for key, value in table.items())]


def _value(value: str | list[str]) -> str:
    # What JSON escapes in a string, TOML reads the same way; DEL alone TOML wants escaped, too.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _appended(text: str, path: tuple[str, ...], table: Table) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    block = newline.join(_lines(path, table))
    if not text:
        return block + newline
    return f"{text}{newline}{block}{newline}" if text.endswith("\n") else f"{text}{newline}{newline}{block}"


def _replaced(text: str, path: tuple[str, ...], table: Table) -> str:
    """Return a text with the values of some keys of a table replaced, each where it stands."""
    for key, value in table.items():
        region = _region(text, path, whole=False)
        if region is None:
            return text
        start, end = region
        found = re.compile(rf"^[ \t]*{re.escape(key)}[ \t]*=[ \t]*", re.MULTILINE).search(text, start, end)
        if found:
            text = text[: found.end()] + _value(value) + text[_value_end(text, found.start(), found.end(), end) :]
        else:
            head = text.index("\n", start) + 1
            text = f"{text[:head]}{key} = {_value(value)}\n{text[head:]}"
    return text


def _value_end(text: str, line: int, start: int, end: int) -> int:
    """Return where a value ends: the first line end up to which the assignment reads as TOML, without its comment."""
    at = start
    while at < end:
        at = next((n for n in range(at + 1, end) if text[n] == "\n"), end)
        if _is_toml(text[line:at]):
            break
    told = text[start:at].rstrip()
    bare = re.fullmatch(r"((?:\"(?:[^\"\\]|\\.)*\"|'[^']*'|[^\"'#])*+)#.*", told, re.DOTALL)
    return start + len(bare[1].rstrip(" \t") if bare and "\n" not in told else told)


def _region(text: str, path: tuple[str, ...], *, whole: bool) -> tuple[int, int] | None:
    """Return where the first table of a path begins and ends, by its lines; with `whole`, or of a path below it.

    It ends with its last line that says something: what stands between it and the next header is the next one's.
    """
    start, end, at = -1, -1, 0
    for line in text.splitlines(keepends=True):
        bare = line.strip()
        header = _HEADER.fullmatch(line.rstrip("\r\n"))
        # What looks like a header inside of a text or a list of several lines ends in the middle of a value.
        if header and start >= 0 and _is_toml(text[:at]):
            break
        if header and start < 0:
            name = _keys(header[1])
            wanted = name == path or (whole and name[: len(path)] == path)
            start = at if wanted and _is_toml(text[:at]) else -1
        if start >= 0 and bare and not bare.startswith("#"):
            end = at + len(line.rstrip("\r\n"))
        at += len(line)
    return (start, end) if start >= 0 else None


def _keys(header: str) -> tuple[str, ...]:
    try:
        value: object = tomllib.loads(f"{header} = 0")
    except tomllib.TOMLDecodeError:
        return ()
    keys = []
    while isinstance(value, dict):
        [(key, value)] = value.items()
        keys.append(key)
    return tuple(keys)


def _cut(text: str, start: int, end: int) -> str:
    """Return a text without a region, the blank line before it, and its line end."""
    before, after = text[:start], text[end:]
    newline = "\r\n" if before.endswith("\r\n") else "\n"
    if not after:
        return before.removesuffix(newline).removesuffix(newline)
    after = after.removeprefix("\r\n") if after.startswith("\r\n") else after.removeprefix("\n")
    blank = before.endswith(newline * 2) or before == newline
    return (before.removesuffix(newline) if blank else before) + after
