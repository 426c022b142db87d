"""Changing a value in somebody's JSON file and no other byte of it: order, indent, numbers and comments stay.

What is put in can be taken out again to the byte. JSON5 (comments, trailing commas, bare keys) is read as well, because
one of the agents keeps its settings so; a caller that wants plain JSON checks that first.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import Any, Final

Keys = tuple[str | int, ...]

_STRICT: Final = json.JSONDecoder()
_BLANK: Final = re.compile(r"(?:[\s\ufeff]+|//[^\n\r]*|/\*.*?\*/)*", re.DOTALL)
_WORD: Final = re.compile(r"[\w$+.-]+")
_QUOTED: Final = re.compile(r"""(['"])((?:(?!\1)[^\\\n]|\\.)*)\1""", re.DOTALL)
_INDENT: Final = re.compile(r"[ \t]*")


class Broken(ValueError):
    """Raised where a text is no JSON, or does not have the shape that a change needs.

    Args:
        why: the end of a sentence that begins with the file's name.
    """

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


@dataclass(frozen=True, slots=True)
class Child:
    """A member or element: its key (empty in a list), where it and its value begin, where it ends, its comma or -1."""

    key: str
    start: int
    value_start: int
    end: int
    value: Any
    comma: int = -1


@dataclass(frozen=True, slots=True)
class Container:
    """An object or list: where it opens and closes, and what is in it."""

    start: int
    close: int
    children: tuple[Child, ...]
    is_object: bool


def load(text: str) -> Any:  # noqa: ANN401  whatever JSON can hold
    """Return what a text holds.

    Raises:
        Broken: it is no JSON.
    """
    at = _skip(text, 0)
    try:
        value, end = _decode(text, at)
    except RecursionError:
        raise Broken("is nested too deeply") from None
    if _skip(text, end) != len(text):
        raise _broken(text, _skip(text, end))
    return value


def check_strict(text: str) -> None:
    """Refuse what is JSON5 at best, for readers that know no more than JSON.

    Raises:
        Broken: the sentence tells the line.
    """
    try:
        json.loads(text.removeprefix("\ufeff"))
    except ValueError as fault:
        line, column = getattr(fault, "lineno", 1), getattr(fault, "colno", 1)
        raise Broken(f"is no JSON: line {line}, column {column} is not understood") from None
    except RecursionError:
        raise Broken("is nested too deeply") from None


def put(text: str, path: Keys, value: Any) -> str:  # noqa: ANN401  as above
    """Return a text with a value at a path: put in the place of what is there, else added at the end."""
    at = _skip(text, 0)
    for depth, step in enumerate(path):
        here = _container(text, at, path[:depth], is_object=isinstance(step, str))
        child = _child(here, step)
        if child is None:
            for key in reversed(path[depth + 1 :]):
                value = {key: value}
            return _insert(text, here, step, value)
        at = child.value_start
    old, end = _decode(text, at)
    if old == value:
        return text
    style = _style(text, _line_indent(text, at))
    return text[:at] + _render(value, style) + text[end:]


def append(text: str, path: Keys, value: Any) -> str:  # noqa: ANN401  as above
    """Return a text with a value added at the end of the list at a path; a list that is missing is made."""
    at, known = _skip(text, 0), True
    for depth, step in enumerate(path):
        child = _child(_container(text, at, path[:depth], is_object=True), step)
        known = child is not None
        if child is None:
            break
        at = child.value_start
    if not known:
        return put(text, path, [value])
    return _insert(text, _container(text, at, path, is_object=False), None, value)


def drop(text: str, path: Keys) -> str:
    """Return a text without the value at a path, and without each object and list that is empty for it."""
    at, containers = _skip(text, 0), []
    for depth, step in enumerate(path):
        here = _container(text, at, path[:depth], is_object=isinstance(step, str))
        child = _child(here, step)
        if child is None:
            return text
        containers.append((here, child))
        at = child.value_start
    while len(containers) > 1 and _holds_only(text, *containers[-1]):
        containers.pop()
    return _remove(text, *containers[-1])


def _skip(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _broken(text: str, at: int) -> Broken:
    line = text.count("\n", 0, at) + 1
    return Broken(f"is no JSON: line {line}, column {at - (text.rfind(chr(10), 0, at) + 1) + 1} is not understood")


def _container(text: str, at: int, path: Keys, *, is_object: bool) -> Container:
    if text[at : at + 1] != ("{" if is_object else "["):
        where = f"`{'.'.join(map(str, path))}`" if path else "its content"
        raise Broken(f"cannot be changed: {where} is no {'object' if is_object else 'list'}")
    return _children(text, at)


def _children(text: str, at: int) -> Container:
    is_object = text[at] == "{"
    close = "}" if is_object else "]"
    found: list[Child] = []
    here = _skip(text, at + 1)
    while text[here : here + 1] != close:
        if found and found[-1].comma < 0:
            raise _broken(text, here)
        key, start = "", here
        if is_object:
            key, here = _key(text, here)
        value, end = _decode(text, here)
        found.append(Child(key, start, here, end, value))
        here = _skip(text, end)
        if text[here : here + 1] == ",":
            found[-1] = replace(found[-1], comma=here)
            here = _skip(text, here + 1)
    return Container(at, here, tuple(found), is_object)


def _key(text: str, at: int) -> tuple[str, int]:
    """Return a member's key, and where its value begins."""
    found = _QUOTED.match(text, at) or _WORD.match(text, at)
    if not found:
        raise _broken(text, at)
    colon = _skip(text, found.end())
    if text[colon : colon + 1] != ":":
        raise _broken(text, colon)
    return str(_scalar(found[0])), _skip(text, colon + 1)


def _decode(text: str, at: int) -> tuple[Any, int]:
    try:
        value, end = _STRICT.raw_decode(text, at)
    except (ValueError, RecursionError):
        pass
    else:
        if isinstance(value, dict | list | str) or not _WORD.match(text, end):
            return value, end
    if text[at : at + 1] in {"{", "["}:
        inner = _children(text, at)
        values = {child.key: child.value for child in inner.children}
        return values if inner.is_object else [child.value for child in inner.children], inner.close + 1
    found = _QUOTED.match(text, at) or _WORD.match(text, at)
    if not found:
        raise _broken(text, at)
    return _scalar(found[0]), found.end()


def _scalar(told: str) -> Any:  # noqa: ANN401  as above
    """Return what a string, or a bare word, means; of JSON5's own escapes only that two texts that differ do so."""
    try:
        return json.loads(told)
    except ValueError:
        return told[1:-1] if told[0] in "'\"" else told


def _child(here: Container, step: str | int) -> Child | None:
    """Return a child by its key, the last of several as every reader has it, or by its number."""
    if isinstance(step, int):
        return here.children[step] if step < len(here.children) else None
    return next((child for child in reversed(here.children) if child.key == step), None)


@dataclass(frozen=True, slots=True)
class _Style:
    """How a file is written: its line end, the indent of a level (empty: all on one line), and of the line at hand."""

    newline: str
    unit: str
    base: str
    colon: str = ": "


def _style(text: str, base: str) -> _Style:
    newline = "\r\n" if "\r\n" in text else "\n"
    found = re.search(r"[\[{][ ]*\r?\n([ \t]+)\S", text)
    tight = not found and "\n" not in text.strip() and re.search(r'":\S', text) and '": ' not in text
    one_line = "\n" not in text.strip() and len(text.strip()) > len("{}")
    return _Style(newline, "" if one_line else found[1] if found else "  ", base, ":" if tight else ": ")


def _render(value: Any, style: _Style) -> str:  # noqa: ANN401  as above
    if not style.unit:
        separators = (",", ":") if style.colon == ":" else (", ", ": ")
        return json.dumps(value, ensure_ascii=False, separators=separators)
    told = json.dumps(value, ensure_ascii=False, indent=style.unit)
    return told.replace("\n", style.newline + style.base)


def _line_indent(text: str, at: int) -> str:
    """Return the blanks at the beginning of the line that a place stands in."""
    found = _INDENT.match(text, text.rfind("\n", 0, at) + 1)
    return found[0] if found else ""


def _insert(text: str, here: Container, key: str | int | None, value: Any) -> str:  # noqa: ANN401  as above
    outer = _style(text, _line_indent(text, here.start))
    first = here.children[0] if here.children else None
    spread = "\n" in text[here.start : first.start] if first else bool(outer.unit)
    style = replace(outer, unit=outer.unit if spread else "")
    if spread:
        inner = _line_indent(text, first.start) if first else outer.base + outer.unit
        style = replace(style, base=inner)
    told = _render(value, style)
    if key is not None:
        told = f"{json.dumps(key, ensure_ascii=False)}{style.colon}{told}"
    lead = style.newline + style.base if spread else " " if style.colon != ":" and first else ""
    return _joined(text, here, lead + told, outer.newline + outer.base if spread else "")


def _joined(text: str, here: Container, told: str, tail: str) -> str:
    """Put a rendered child behind the last one and its comment, or into what is empty."""
    if not here.children:
        inner = text[here.start + 1 : here.close].rstrip()
        return text[: here.start + 1] + inner + told + tail + text[here.close :]
    last = here.children[-1]
    behind = last.comma + 1 if last.comma >= 0 else last.end
    rest = text[behind : here.close]
    place = behind + len(rest.rstrip())
    if last.comma >= 0:
        return text[:place] + told + "," + text[place:]
    return text[: last.end] + "," + text[last.end : place] + told + text[place:]


def _remove(text: str, here: Container, child: Child) -> str:
    """Take a child out with its comma; comments before it stay."""
    number = here.children.index(child)
    before = here.children[number - 1] if number else None
    if before is None and number + 1 == len(here.children):
        left = text[here.start + 1 : child.start].rstrip() + text[max(child.end, child.comma + 1) : here.close].rstrip()
        # A comment that stays must not swallow what closes the container.
        close = f"{_style(text, '').newline}{_line_indent(text, here.close)}" if left else ""
        return text[: here.start + 1] + left + close + text[here.close :]
    if before is None:
        return text[: child.start] + text[_past_blanks(text, child.comma + 1) :]
    gap = text[before.comma + 1 : child.start].rstrip()
    if child.comma >= 0:
        return text[: before.comma + 1] + gap + text[child.comma + 1 :]
    return text[: before.comma] + gap + text[child.end :]


def _holds_only(text: str, here: Container, child: Child) -> bool:
    """Whether a container would be quite empty without a child, of comments too."""
    around = text[here.start + 1 : child.start] + text[max(child.end, child.comma + 1) : here.close]
    return len(here.children) == 1 and not around.strip()


def _past_blanks(text: str, at: int) -> int:
    while text[at : at + 1].isspace():
        at += 1
    return at
