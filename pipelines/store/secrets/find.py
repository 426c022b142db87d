"""Find the secrets of a text: first the keywords, then the rules where a keyword occurs.

Private keys are blocks: several lines of a text, or one line of JSON with escaped line ends.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from itertools import accumulate, chain, pairwise, zip_longest
from json import loads
from typing import TYPE_CHECKING, Final, NamedTuple

from pipelines.store.secrets.secret_rules import Rule, Rules, compiled, load_rules
from pipelines.store.secrets.secret_values import believed, checked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pipelines.store.secrets.known import KnownSecrets


LONGEST_BLOCK: Final = 20_000
"""Bytes of the longest block; no key in use has half as many."""
_EDGE = re.compile(rb"-----(?P<edge>BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_PUBLIC = re.compile(
    rb"-----(?P<edge>BEGIN|END) (?:[A-Z0-9]{1,12} ){0,4}"
    rb"(?:CERTIFICATE(?: REQUEST)?|PUBLIC KEY(?: BLOCK)?|SIGNATURE|MESSAGE|PARAMETERS|CRL)-----"
)
"""Where a certificate, a public key, a signature, an encrypted message or the like begins and ends."""
_BODY = re.compile(rb"[A-Za-z0-9+/=]{40}")
_BLOCKS_RUN = re.compile(rb"[A-Za-z0-9+/=]{16,}")
_STRING_END = re.compile(rb'(?<!\\)(?:\\\\)*"')
_ESCAPE = re.compile(rb"[bfnrt]|u[0-9a-fA-F]{4}")
"""An escaped character of JSON, after the backslash."""
_VALUE = re.compile(rb'"(?P<text>(?:[^"\\]|\\.)*+)"|[^\s"{}\[\],:]++')
"""A string of JSON, or a number."""
# An escaped character, or the two halves of one.
_WHOLE_ESCAPE = re.compile(rb"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|u....|.)")
_GAP = 24
"""Bytes between two lines of a key: line ends, their escapes, line numbers, quotes in source code."""


def key_blocks(data: bytes, *, json: bool) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each private key, also of one whose beginning or end is cut off.

    It then begins, or ends, with the first or last line that looks like a key. A mark without any key beside it is
    ordinary text, and is skipped.

    Args:
        data: the text.
        json: whether it is a line of JSON, where no block extends beyond its string.
    """
    done, edges = 0, list(_EDGE.finditer(data))
    for edge, after in zip_longest(edges, edges[1:]):
        if edge.start() < done:
            continue
        if edge["edge"] == b"END":
            start, end = _first_line(data, max(done, edge.start() - LONGEST_BLOCK), edge.start(), json=json), edge.end()
        else:
            start, limit = edge.start(), min(edge.end() + LONGEST_BLOCK, after.start() if after else len(data))
            if json and (quote := _STRING_END.search(data, edge.end(), limit)):
                limit = quote.start()
            is_closed = after and after["edge"] == b"END" and after.start() == limit
            end = after.end() if is_closed else _last_line(data, edge.end(), limit)
        done = end
        if _BODY.search(data, start, end):
            yield start, end


def _first_line(data: bytes, least: int, end: int, *, json: bool) -> int:
    """Return the start of the first line that looks like a part of a key, of those right before `end`."""
    first = end
    for run in reversed(list(_BLOCKS_RUN.finditer(data, least, end))):
        between = data[run.end() : first]
        is_part = first == end or _BODY.match(run[0])  # all lines but the last one are full
        if not is_part or len(between) > _GAP or (json and _STRING_END.search(between)):
            break
        first = run.start()
    escape = _ESCAPE.match(data, first) if data[first - 1 : first] == b"\\" else None
    return escape.end() if escape else first


def _last_line(data: bytes, start: int, limit: int) -> int:
    """Return the end of the last line that looks like a part of a key."""
    last = start
    for run in _BLOCKS_RUN.finditer(data, start, limit):
        if last > start and run.start() > last + _GAP:
            break
        last = run.end()
    return last


_REDACTED = re.compile(rb"\[redacted:[a-z0-9-]{1,40}:[0-9a-f]{4}\]")
_ALLOWED = re.compile(rb"^[^\n]*<!-- allow-secret -->[^\n]*", re.MULTILINE)
"""A line that a person marked."""
_BLOCK = "block"
# Zero-width characters: the soft hyphen, U+200B to U+200D, U+2060 and U+FEFF.
_UNSEEN = re.compile("|".join("\u00ad\u200b\u200c\u200d\u2060\ufeff").encode())
_NEAR = 400


class Span(NamedTuple):
    """A secret in a text: its first byte, the byte after its last, and the rule that found it."""

    start: int
    end: int
    rule: str


def find_secrets(
    data: bytes, *, marks: bool = True, json: bool = False, known: KnownSecrets | None = None
) -> list[Span]:
    """Return the secrets of a text, in order and without overlap, in time proportional to its length.

    Args:
        data: UTF-8, or any bytes.
        marks: whether lines that a person marked with `<!-- allow-secret -->` are exempt.
        json: whether it is a line of JSON, where no secret extends beyond its string.
        known: values that were found before, which count anywhere, or are allowed.
    """
    if len(seen := visible(data)) < len(data):
        return _at_their_places(data, find_secrets(seen, marks=marks, json=json, known=known))
    rules = load_rules()
    spans: list[tuple[int, int, int]] = []
    blocks = None
    for at, rule in chain(rules.words.places(data.lower()), rules.tokens.places(data)):
        if (found := compiled(rule.pattern).match(data, at)) is None:
            continue
        if rule.value == _BLOCK:
            blocks = rule.number
        elif where := _found(rules, rule, found, data):
            spans.append((*where, rule.number))
    if blocks is not None:
        spans += [(start, end, blocks) for start, end in key_blocks(data, json=json)]
    if known:
        last = len(rules.rules) - 1
        spans = [span for span in spans if not known.is_allowed(data[span[0] : span[1]])]
        spans += [(start, end, rules.numbers.get(rule, last)) for start, end, rule in known.places(data)]
    if not spans:
        return []
    if b"-----BEGIN " in data:
        spans = _outside_public_blocks(spans, data, rules)
    joined = _joined(data, spans, json=json)
    passed = [[found.span() for found in mark.finditer(data)] for mark in (_REDACTED, _ALLOWED)[: 1 + marks]]
    return [
        Span(start, end, rules.rules[order].id)
        for start, end, order in joined
        if not any(_meets(stretches, start, end) for stretches in passed)
    ]


def _meets(stretches: list[tuple[int, int]], start: int, end: int) -> bool:
    """Whether a span overlaps one of some stretches, which are in order."""
    at = bisect_left(stretches, (end, 0)) - 1
    return at >= 0 and stretches[at][1] > start


def _outside_public_blocks(spans: list[tuple[int, int, int]], data: bytes, rules: Rules) -> list[tuple[int, int, int]]:
    """Return the spans without the lines of certificates, public keys and the like, which only look random."""
    marks = pairwise(_PUBLIC.finditer(data))
    blocks = [(a.end(), b.start()) for a, b in marks if (a["edge"], b["edge"]) == (b"BEGIN", b"END")]
    # Prose may name both marks: what is between them counts only if most of it is lines of a block.
    blocks = [(a, b) for a, b in blocks if 2 * (b - a) <= 3 * sum(map(len, _BLOCKS_RUN.findall(data, a, b)))]

    return [
        span for span in spans if rules.rules[span[2]].check != "unnamed" or not _meets(blocks, span[0], span[0] + 1)
    ]


def visible(data: bytes) -> bytes:
    """Return a text without invisible characters."""
    return data if data.isascii() else _UNSEEN.sub(b"", data)


def _at_their_places(data: bytes, found: list[Span]) -> list[Span]:
    """Return spans of the text without invisible characters, mapped back to the text itself."""
    if not found:
        return []
    unseen = [one.span() for one in _UNSEEN.finditer(data)]
    gaps = [0, *accumulate(end - start for start, end in unseen)]
    starts = [0, *(start - gap for (start, _), gap in zip(unseen, gaps, strict=False))]

    def there(at: int) -> int:
        return at + gaps[bisect_right(starts, at) - 1]

    return [Span(there(span.start), there(span.end - 1) + 1, span.rule) for span in found]


def _found(rules: Rules, rule: Rule, found: re.Match[bytes], data: bytes) -> tuple[int, int] | None:
    """Return the position of the secret in the match of a rule's pattern, if it is one."""
    start = found.start()
    if rule.near:
        before = data[max(0, start - _NEAR) : start].replace(b"\\\n", b" ").rpartition(b"\n")[2]
        if not any(word.encode() in before for word in rule.near):
            return None
    if rule.value:
        if rule.is_named(data, start):
            return None
        return believed(rules, rule, found, data)
    begin, end = found.span("secret") if "secret" in found.re.groupindex else found.span()
    if not checked(rules, rule, data[begin:end]) or rule.is_named(data, begin):
        return None
    return begin, end


def _joined(data: bytes, spans: list[tuple[int, int, int]], *, json: bool) -> list[tuple[int, int, int]]:
    """Return the spans in order, of whole characters; overlapping ones are joined under the first of their rules."""
    out: list[tuple[int, int, int]] = []
    for start, end, order in sorted(spans):
        while end < len(data) and 0x80 <= data[end] < 0xC0:  # noqa: PLR2004  a byte within a character
            end += 1  # noqa: PLW2901  extend the span
        if out and start < out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], end), min(out[-1][2], order))
        else:
            out.append((start, end, order))
    return _within_values(data, out) if json else out


def _within_values(line: bytes, spans: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Return the spans of a line of JSON, each cut to the first value that it meets and to whole escapes."""
    try:
        loads(line)
    except (ValueError, RecursionError):
        return spans
    values = list(_VALUE.finditer(line))
    escapes = [found.span() for found in _WHOLE_ESCAPE.finditer(line)]

    def escape_at(at: int) -> tuple[int, int]:
        """Return the escape within which a place is, or the place itself."""
        number = bisect_left(escapes, (at, 0)) - 1
        return escapes[number] if number >= 0 and escapes[number][1] > at else (at, at)

    out: list[tuple[int, int, int]] = []
    for start, end, order in spans:
        value = values[min(bisect_right(values, start, key=re.Match.end), len(values) - 1)]
        first, last = value.span("text" if value["text"] is not None else 0)
        if value["text"] is not None:
            first, last = max(first, escape_at(start)[1]), min(last, escape_at(end)[0])
        if first < last:
            out.append((first, last, order))
    return out
