"""Find the secrets of a text: first the keywords, then the rules where a keyword occurs.

Private keys are blocks: several lines of a text, or one line of JSON with escaped line ends.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from itertools import accumulate, chain, zip_longest
from typing import TYPE_CHECKING, NamedTuple

from pipelines.store.secrets.secret_rules import Rule, compiled, load_rules
from pipelines.store.secrets.secret_values import believed, checked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pipelines.store.secrets.known import KnownSecrets


_LONGEST = 20_000
"""Bytes of the longest block; no key in use has half as many."""
_EDGE = re.compile(rb"-----(?P<edge>BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_BODY = re.compile(rb"[A-Za-z0-9+/=]{40}")
# Between two lines of a key are line ends, their escapes, line numbers, and quotes in source code.
_ROWS = re.compile(rb"(?:.{0,24}?[A-Za-z0-9+/=]{16,}+)*+", re.DOTALL)
_QUOTE = re.compile(rb'"(?!\\)')
"""A quote without a backslash before it, read from the end."""


def key_blocks(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each private key, also of one whose beginning or end is cut off.

    It then begins, or ends, with the first or last line that looks like a key. A mark without any key beside it is
    ordinary text, and is skipped.
    """
    done, edges = 0, list(_EDGE.finditer(data))
    for edge, after in zip_longest(edges, edges[1:]):
        start, end = edge.span()
        if edge["edge"] == b"BEGIN":
            limit = min(end + _LONGEST, after.start() if after else len(data))
            is_closed = after and after["edge"] == b"END" and after.start() == limit
            end = after.end() if is_closed else _end_of_rows(data[end:limit]) + end
        elif start >= done:
            before = data[max(done, start - _LONGEST) : start][::-1]
            start -= _end_of_rows(_QUOTE.split(before, 1)[0])
        done = end
        if _BODY.search(data, start, end):
            yield start, end


def _end_of_rows(data: bytes) -> int:
    return found.end() if (found := _ROWS.match(data)) else 0


_REDACTED = re.compile(rb"\[redacted:[a-z0-9-]{1,40}:[0-9a-f]{4}\]")
_ALLOWED = re.compile(rb"^[^\n]*<!-- allow-secret -->[^\n]*", re.MULTILINE)
"""A line that a person marked."""
_PUBLIC = re.compile(
    rb"-----BEGIN (?![A-Z0-9 ]{0,40}(?:PRIVATE|SECRET))[A-Z0-9 ]{3,60}-----"
    rb"(?:(?:\s|\\[nr])+(?:Version|Comment|Charset|Hash): [^\r\n\\]{1,80})*[A-Za-z0-9+/=\\\s]{1,20000}-----END "
)
"""A certificate, a public key, a signature or the like, which only looks random."""
_BLOCK = "block"
# Zero-width characters: the soft hyphen, U+200B to U+200D, U+2060 and U+FEFF.
_UNSEEN = re.compile("|".join("\u00ad\u200b\u200c\u200d\u2060\ufeff").encode())
_NEAR = 400


_Places = list[tuple[int, int, int]]
"""Secrets: start, end, and the number of the rule."""


class Span(NamedTuple):
    """A secret in a text: its first byte, the byte after its last, and the rule that found it."""

    start: int
    end: int
    rule: str


def find_secrets(data: bytes, *, marks: bool = True, known: KnownSecrets | None = None) -> list[Span]:
    """Return the secrets of a text, in order and without overlap, in time proportional to its length.

    Args:
        data: UTF-8, or any bytes.
        marks: whether lines that a person marked with `<!-- allow-secret -->` are exempt.
        known: values that were found before, which count anywhere, or are allowed.
    """
    if len(seen := visible(data)) < len(data):
        return _at_their_places(data, find_secrets(seen, marks=marks, known=known))
    rules = load_rules()
    spans = _Places()
    blocks = None
    for at, rule in chain(rules.words.places(data.lower()), rules.tokens.places(data)):
        if (found := compiled(rule.pattern).match(data, at)) is None:
            continue
        if rule.value == _BLOCK:
            blocks = rule.number
        elif where := _found(rule, found, data):
            spans.append((*where, rule.number))
    if blocks is not None:
        spans += [(start, end, blocks) for start, end in key_blocks(data)]
    if known:
        last = len(rules.rules) - 1
        spans = [span for span in spans if not known.is_allowed(data[span[0] : span[1]])]
        spans += [(start, end, rules.numbers.get(rule, last)) for start, end, rule in known.places(data)]
    exempt = (_REDACTED, _PUBLIC, _ALLOWED)[: 2 + marks]
    passed = [[found.span() for found in mark.finditer(data)] for mark in exempt if spans]
    return [
        Span(start, end, rules.rules[order].id)
        for start, end, order in _joined(data, spans)
        if not any(_meets(stretches, start, end) for stretches in passed)
    ]


def _meets(stretches: list[tuple[int, int]], start: int, end: int) -> bool:
    """Whether a span overlaps one of some stretches, which are in order."""
    at = bisect_left(stretches, (end, 0)) - 1
    return at >= 0 and stretches[at][1] > start


def visible(data: bytes) -> bytes:
    """Return a text without invisible characters."""
    return data if data.isascii() else _UNSEEN.sub(b"", data)


def _at_their_places(data: bytes, found: list[Span]) -> list[Span]:
    """Return spans of the text without invisible characters, mapped back to the text itself."""
    unseen = [one.span() for one in _UNSEEN.finditer(data) if found]
    gaps = [0, *accumulate(end - start for start, end in unseen)]
    starts = [start - gap for (start, _), gap in zip(unseen, gaps, strict=False)]

    def there(at: int) -> int:
        return at + gaps[bisect_right(starts, at)]

    return [Span(there(span.start), there(span.end - 1) + 1, span.rule) for span in found]


def _found(rule: Rule, found: re.Match[bytes], data: bytes) -> tuple[int, int] | None:
    """Return the position of the secret in the match of a rule's pattern, if it is one."""
    start = found.start()
    if rule.near:
        before = data[max(0, start - _NEAR) : start].replace(b"\\\n", b" ").rpartition(b"\n")[2]
        if not any(word.encode() in before for word in rule.near):
            return None
    if rule.value:
        if rule.is_named(data, start):
            return None
        return believed(rule, found, data)
    begin, end = found.span("secret") if "secret" in found.re.groupindex else found.span()
    if not checked(rule, data[begin:end]) or rule.is_named(data, begin):
        return None
    return begin, end


def _joined(data: bytes, spans: _Places) -> _Places:
    """Return the spans in order, of whole characters; overlapping ones are joined under the first of their rules."""
    out = _Places()
    for start, end, order in sorted(spans):
        while end < len(data) and 0x80 <= data[end] < 0xC0:  # noqa: PLR2004  a byte within a character
            end += 1  # noqa: PLW2901  extend the span
        if out and start < out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], end), min(out[-1][2], order))
        else:
            out.append((start, end, order))
    return out


_STRING = re.compile(rb'"(?P<text>(?:[^"\\]|\\.)*+)"')
_ESCAPE = re.compile(rb"\\(?:u....|.)")


def within_strings(line: bytes, spans: list[Span]) -> list[Span]:
    """Return the spans of a line of JSON, each cut to the first string that it meets and to whole escapes."""
    strings = [found.span("text") for found in _STRING.finditer(line) if spans]
    escapes = [found.span() for found in _ESCAPE.finditer(line) if spans]

    def escape_at(at: int) -> tuple[int, int]:
        """Return the escape within which a place is, or the place itself."""
        number = bisect_left(escapes, (at, 0)) - 1
        return escapes[number] if number >= 0 and escapes[number][1] > at else (at, at)

    out = list[Span]()
    for start, end, rule in spans:
        number = bisect_right(strings, start, key=lambda one: one[1])
        first, last = strings[number] if number < len(strings) else (end, end)
        first, last = max(first, escape_at(start)[1]), min(last, escape_at(end)[0])
        if first < last:
            out.append(Span(first, last, rule))
    return out
