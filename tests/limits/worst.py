"""The inputs that hurt a regular expression, derived from how it is parsed: each repeat, pumped, and then failing."""

import importlib
import itertools
import re
from collections.abc import Iterator
from typing import Any, Final

_parser: Final[Any] = importlib.import_module("re._parser")
_TASTE: Final = "a 0-\t\n<\"'`.*_[(/#A:,é="
_MANY: Final = 24
_GENERIC: Final = (
    "a", " ", "-", "\n", "\t", '"', "[", "(", "<!--", "0", "a ", "-a", "` ", "*a*", "_", "a.", "\\", "'", "[a](", "<a ",
    "\r\n", "# ", "- ", "a:", "é", ">", "|", "{", "=", "~", "/", "a@", "1.", "1,", "--", "and ", "ab", "Ab ", "﻿",
)  # fmt: skip
_ENDS: Final = ("\x00", "!", "\n", "a", " \x00")


def worst_inputs(pattern: re.Pattern[Any], size: int) -> list[str]:
    """Return inputs of about a size: what each repeat accepts, again and again, and general ones.

    For another size they are the same kinds of inputs in the same order.
    """
    tree = _parser.parse(pattern.pattern, pattern.flags)
    pumps: dict[tuple[str, str], None] = {("", one): None for one in _GENERIC}
    for before, body, least in _repeats(tree, ""):
        for taste in body:
            pumps[(before, taste)] = None
            pumps[("", before + taste)] = None
            pumps[("", before + taste * least)] = None
            pumps[("", taste + before)] = None
        pumps[(before, "".join(body))] = None
    whole = _sample(tree, "")
    pumps[("", whole)] = None
    pumps[("", whole[:-1])] = None
    found = []
    for index, (before, pump) in enumerate((before, pump) for before, pump in pumps if pump):
        head = before + pump * max(1, size // len(pump))
        found += [head, head + _ENDS[index % len(_ENDS)]]
    return found


def _repeats(tree: Any, before: str) -> Iterator[tuple[str, list[str], int]]:
    """Yield of each repeat that can go on for long: what leads to it, what it may hold, and its least count."""
    for op, value in tree:
        name = str(op)
        if name in {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}:
            least, most, inner = value
            if most >= _MANY:
                yield before, _tastes(inner), max(1, int(least))
            yield from _repeats(inner, before)
        for inner in _inner(name, value):
            yield from _repeats(inner, before)
        before += _sample([(op, value)], before)


def _inner(name: str, value: Any) -> list[Any]:
    if name == "SUBPATTERN":
        return [value[-1]]
    if name == "BRANCH":
        return list(value[1])
    if name in {"ASSERT", "ASSERT_NOT"}:
        return [value[1]] if value[0] > 0 else []
    if name == "ATOMIC_GROUP":
        return [value]
    return []


def _tastes(tree: Any) -> list[str]:
    """Return a few different texts that a repeated part matches."""
    alternatives = [_sample(tree, "")]
    for op, value in tree:
        if str(op) in {"IN", "ANY", "NOT_LITERAL"}:
            alternatives += [_sample(tree, "", taste=char) for char in _TASTE if _accepts(op, value, char)][:6]
        for inner in _inner(str(op), value):
            alternatives += _tastes(inner)
    return list(dict.fromkeys(one for one in alternatives if one))[:8]


def _sample(tree: Any, sofar: str, taste: str = "") -> str:
    """Return a text that a parsed pattern would match, lookarounds aside."""
    out = ""
    for op, value in tree:
        name = str(op)
        if name == "LITERAL":
            out += chr(value)
        elif name in {"IN", "ANY", "NOT_LITERAL"}:
            out += _char(op, value, taste)
        elif name == "BRANCH":
            out += _sample(max(value[1], key=len), sofar + out, taste)
        elif name in {"SUBPATTERN", "ATOMIC_GROUP"}:
            out += _sample(_inner(name, value)[0], sofar + out, taste)
        elif name in {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}:
            out += _sample(value[2], sofar + out, taste) * max(int(value[0]), 1 if taste else 0)
    return out


def _char(op: Any, value: Any, taste: str) -> str:
    for char in itertools.chain(taste, _TASTE, map(chr, range(256))):
        if _accepts(op, value, char):
            return char
    first = next((v for o, v in value if str(o) in {"LITERAL", "RANGE"}), 97) if str(op) == "IN" else 97
    return chr(first if isinstance(first, int) else first[0])


def _accepts(op: Any, value: Any, char: str) -> bool:
    name = str(op)
    if name == "ANY":
        return char != "\n"
    if name == "NOT_LITERAL":
        return bool(ord(char) != value)
    negated = any(str(o) == "NEGATE" for o, _ in value)
    return any(_in(str(o), v, char) for o, v in value) != negated


_CATEGORIES: Final = {
    "CATEGORY_SPACE": r"\s", "CATEGORY_NOT_SPACE": r"\S", "CATEGORY_WORD": r"\w", "CATEGORY_NOT_WORD": r"\W",
    "CATEGORY_DIGIT": r"\d", "CATEGORY_NOT_DIGIT": r"\D",
}  # fmt: skip


def _in(name: str, value: Any, char: str) -> bool:
    if name == "LITERAL":
        return bool(ord(char) == value)
    if name == "RANGE":
        return bool(value[0] <= ord(char) <= value[1])
    return name == "CATEGORY" and re.match(_CATEGORIES[str(value)], char) is not None
