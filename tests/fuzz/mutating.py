"""Random inputs that look real enough to get far: seeds that are cut, joined, repeated and sprinkled with marks."""

import re
from collections.abc import Callable, Sequence
from random import Random
from typing import Final

_MARKS: Final = (
    "<!--", "-->", "<!-- k1234567890 since=2026-01-01 -->", "<!-- review gone 2026-01-01 -->", "&lt;!--", "--&gt;", "~~", "~",
    "- Fact: ", "- [ ] Todo: ", "- [x] ", "- **Rule:** ", "# ", "## History\n", "### ", "---\n", "...\n", "```", "~~~", "> ",
    "k7f3a9c2b10", "from=Logs/2026-02-11.md#L42~9c1e55aa", "superseded-by=", "trust=owner", "status=waiting", "pinned=yes",
    "<private>", "</private>", "[project: X]", "project: X\n", "#tag", "[[wiki|x]]", "[a](http://x)", "{:", "%", "%2D", "%ff",
    "\x00", "\x1b", "\t", "\r", "\n", "\r\n", "\x0b", "\x0c", "\x85", "\u2028", "\ufeff", "\u202e", "\u200b", "\U000e0041",
    "é", "e\u0301", "Ａ", "Ⅳ", "²", "٣", "İ", "ß", "日本", "😀", "👩‍👩‍👧",
)  # fmt: skip
_VALUES: Final = (
    "null", "true", "-1", "0", "1e999", "NaN", "1" * 5000, "[]", "{}", "[[]]", '""', '"\\ud800"', '"\\u0000"', '"x"', "'y'",
    '["a"]', "{}]", "[" * 3000, '{"a":' * 2000, "2026-02-30", "1979-05-27T07:32:00Z", "inf", "0x7f", '"""', "[1, 2]", "9" * 19,
    '"2026-03-18"', '{"a" = 1}', "-0.0", '"../../x"', '"k1111111111"', "[null]", '[{"x": 1}]',
)  # fmt: skip
_BAD_BYTES: Final = (b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xe2\x80", b"\xf4\x90\x80\x80", b"\xef\xbb\xbf", b"\x80")
_TOKENS: Final = (*(mark.encode() for mark in _MARKS), *_BAD_BYTES)
_SET: Final = re.compile(rb"(?<=[:=]) ?[^,\n}\]]*")
_LONGEST: Final = 8_192
_HUGE: Final = 65_536
_SELDOM: Final = 1 / 400


def mutated(random: Random, seeds: Sequence[bytes]) -> bytes:
    """Return an input that was made from one of the seeds."""
    data = random.choice(seeds)
    for _ in range(1 + int(random.expovariate(0.5))):
        data = random.choice(_WAYS)(random, data, seeds)
    data = data[:_LONGEST]
    return _blown_up(random, data) if random.random() < _SELDOM else data


def _flip(random: Random, data: bytes, _seeds: Sequence[bytes]) -> bytes:
    at = random.randrange(len(data) + 1)
    return data[:at] + bytes([random.randrange(256)]) + data[at + 1 :]


def _drop(random: Random, data: bytes, _seeds: Sequence[bytes]) -> bytes:
    start, end = _range(random, data)
    return data[:start] + data[end:]


def _repeat(random: Random, data: bytes, _seeds: Sequence[bytes]) -> bytes:
    start, end = _range(random, data)
    return data[:end] + data[start:end] * random.choice((1, 2, 5, 40)) + data[end:]


def _insert(random: Random, data: bytes, _seeds: Sequence[bytes]) -> bytes:
    at = random.randrange(len(data) + 1)
    return data[:at] + random.choice(_TOKENS) * random.choice((1, 1, 1, 2, 30)) + data[at:]


def _splice(random: Random, data: bytes, seeds: Sequence[bytes]) -> bytes:
    other = random.choice(seeds)
    start, end = _range(random, other)
    at = random.randrange(len(data) + 1)
    return data[:at] + other[start:end] + data[at:]


def _lines(random: Random, data: bytes, _seeds: Sequence[bytes]) -> bytes:
    lines = data.splitlines(keepends=True) or [b""]
    one, other = random.randrange(len(lines)), random.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return b"".join(lines)


def _value(random: Random, data: bytes, _seeds: Sequence[bytes]) -> bytes:
    places = [found.span() for found in _SET.finditer(data)]
    if not places:
        return data
    start, end = random.choice(places)
    return data[:start] + b" " + random.choice(_VALUES).encode() + data[end:]


def _range(random: Random, data: bytes) -> tuple[int, int]:
    start = random.randrange(len(data) + 1)
    return start, min(len(data), start + random.choice((1, 2, 8, 40, 200)))


def _blown_up(random: Random, data: bytes) -> bytes:
    """Return it with one part of it again and again: what is quadratic shows."""
    start, end = _range(random, data)
    part = data[start:end] or b"a"
    return (data[:start] + part * (_HUGE // len(part)) + data[end:])[:_HUGE]


_WAYS: Final[tuple[Callable[[Random, bytes, Sequence[bytes]], bytes], ...]] = (
    _flip, _drop, _repeat, _insert, _insert, _splice, _lines, _value, _value,
)  # fmt: skip
