"""Redaction: a secret gives way to a mark that names its kind, and tells equal ones from others."""

from __future__ import annotations

import hashlib
import hmac
import os
import re
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Final

from pipelines.memory.secrets.finding import find_secrets

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pipelines.memory.secrets.finding import Span

_TAG: Final = 4
"""Hex digits: enough to tell a few secrets apart, too few to guess one by."""
_PASSES: Final = 8
"""A mark in place of one secret may show another one beside it."""
# Escapes of JSON that hide what could stand there as it is; pairs of backslashes are none.
_HIDDEN: Final = re.compile(rb"\\\\|\\u00([2-7][0-9a-fA-F])|\\(/)")
_KEPT: Final = {0x22, 0x5C, 0x7F}


@dataclass(frozen=True, slots=True)
class Found:
    """A secret that was redacted: the rule that found it, its tag, and its line, counted from 1."""

    rule: str
    tag: str
    line: int


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets, and what was found in it."""

    text: str
    found: tuple[Found, ...] = ()


class Redactor:
    """Redacts secrets as `[redacted:RULE:TAG]`, the tag being an HMAC of the secret.

    Redacting twice is the same as once, line ends stay where they are, and the time is in proportion to the text.

    Args:
        key: of the HMAC, or what gives it when the first secret is found; whoever has it can test guesses against tags,
            so it is kept out of the memory.
    """

    def __init__(self, key: bytes | Callable[[], bytes]) -> None:
        self._given = key

    def redact(self, text: str) -> Redacted:
        """Return a text without its secrets. Lines that a person marked with `<!-- allow-secret -->` pass."""
        data, found = self.redact_bytes(text.encode(errors="surrogatepass"))
        return Redacted(data.decode(errors="surrogatepass"), found) if found else Redacted(text)

    def redact_bytes(self, data: bytes) -> tuple[bytes, tuple[Found, ...]]:
        """Return the bytes of a text file without its secrets, and what was found; marked lines pass."""
        found: list[Found] = []
        for _ in range(_PASSES):
            spans = find_secrets(data)
            if not spans:
                break
            found += told_of(self, data, spans)
            data = self._without(data, spans)
        return data, tuple(found)

    def redact_record(self, line: bytes) -> bytes:
        """Return a line of JSON without its secrets; it is JSON still.

        No mark in it counts: a tool may have put it there. Escapes that hide plain characters are looked through.
        """
        plain = _HIDDEN.sub(_shown, line) if b"\\u00" in line or b"\\/" in line else line
        for _ in range(_PASSES):
            spans = [_without_half(plain, span) for span in find_secrets(plain, marks=False, json=True)]
            if not spans:
                break
            line = plain = self._without(plain, spans)
        return line

    def _without(self, data: bytes, spans: Sequence[Span]) -> bytes:
        parts, at = [], 0
        for span in spans:
            secret = data[span.start : span.end]
            mark = f"[redacted:{span.rule}:{self.tag(secret)}]".encode()
            parts += [data[at : span.start], _on_each_line(secret, mark)]
            at = span.end
        return b"".join([*parts, data[at:]])

    @cached_property
    def _key(self) -> bytes:
        return self._given if isinstance(self._given, bytes) else self._given()

    def tag(self, secret: bytes) -> str:
        """Return the four hex digits by which equal secrets are told equal."""
        return hmac.new(self._key, secret, hashlib.sha256).hexdigest()[:_TAG]


def told_of(redactor: Redactor, data: bytes, spans: Sequence[Span]) -> tuple[Found, ...]:
    """Return what stands at these places of a text, with tags and lines and without the secrets themselves."""
    found, line, at = [], 1, 0
    for span in spans:
        line, at = line + data.count(b"\n", at, span.start), span.start
        found.append(Found(span.rule, redactor.tag(data[span.start : span.end]), line))
    return tuple(found)


def told(found: Sequence[Found]) -> str:
    """Return what was found in words, without any of it: `2 secrets (aws-access-key, password)`."""
    count = "1 secret" if len(found) == 1 else f"{len(found):,} secrets"
    return f"{count} ({', '.join(sorted({one.rule for one in found}))})"


def veil(text: str) -> str:
    """Return a text without its secrets: the last net under what leaves the memory, where no key is at hand.

    Its tags tell equal secrets equal within one process only.
    """
    return _veiling().redact(text).text


@lru_cache(maxsize=1)
def _veiling() -> Redactor:
    return Redactor(os.urandom(32))


def _on_each_line(secret: bytes, mark: bytes) -> bytes:
    """Return the mark, on each line of a secret that has several: no line of a log may vanish."""
    if b"\n" not in secret:
        return mark
    first, *more = secret.split(b"\n")
    lines = [mark + (b"\r" if first.endswith(b"\r") else b"")]
    for line in more:
        indent = line[: len(line) - len(line.lstrip(b" \t"))]
        lines.append(indent + mark + (b"\r" if line.endswith(b"\r") else b""))
    return b"\n".join(lines)


def _without_half(data: bytes, span: Span) -> Span:
    """Return where a secret stands in JSON, without the half of an escape that it may end with."""
    secret = data[span.start : span.end]
    is_half = (len(secret) - len(secret.rstrip(b"\\"))) % 2
    return replace(span, end=span.end - 1) if is_half else span


def _shown(found: re.Match[bytes]) -> bytes:
    if found[2]:
        return b"/"
    code = int(found[1], 16) if found[1] else 0x5C
    return found[0] if code in _KEPT else bytes([code])
