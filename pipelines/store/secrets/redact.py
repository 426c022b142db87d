"""Redaction: a secret is replaced by a mark with its kind and a tag that is equal for equal secrets.

Text between `<private>` and `</private>` is replaced by `[private]`, in logs and in transcripts.
"""

from __future__ import annotations

import hmac
import json
import os
import re
from bisect import bisect_right
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pipelines.store.files import create_synced, writing
from pipelines.store.lock import private_folder
from pipelines.store.log import parse_entries
from pipelines.store.secrets.find import Span, find_secrets, visible, within_strings
from pipelines.store.secrets.known import TAG_DIGITS, KnownSecrets
from pipelines.text import count, escape_terminal_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path


_PASSES = 8
"""Replacing one secret may reveal another beside it."""
# JSON escapes of characters that could be written plainly; pairs of backslashes do not count.
_HIDDEN = re.compile(rb"\\\\|\\u00([2-7][0-9a-fA-F])|\\(/)|\\u(?:200[b-d]|2060|feff|00ad)")
_KEPT = {0x22, 0x5C, 0x7F}


class FoundSecret(NamedTuple):
    """A secret that was found.

    Args:
        rule: the rule that found it.
        tag: equal for equal secrets.
        line: counted from 1.
        path: the file, if any: relative to the memory, or to the repository's top for a version in git.
        blob: the version in git; empty for the current file.
        commit: the first commit with that version.
    """

    rule: str
    tag: str
    line: int
    path: str = ""
    blob: str = ""
    commit: str = ""

    def __str__(self) -> str:
        where = f" in commit {self.commit[:10]}" if self.commit else f" in {self.blob[:10]}" if self.blob else ""
        return f"{escape_terminal_line(self.path)}:{self.line}{where}: {self.rule} ({self.tag})"


class Redacted(NamedTuple):
    """A text without its secrets, and what was found in it."""

    text: str
    found: tuple[FoundSecret, ...]


@dataclass(frozen=True)
class Redactor:
    """Redacts secrets as `[redacted:RULE:TAG]`, where the tag is an HMAC of the secret.

    Idempotent, keeps line ends in place, and takes linear time.

    Args:
        key: returns the key of the HMAC; it is asked when the first secret is found. With it, guesses can be
            tested against tags, so it is kept outside the memory.
        known: the memory's known values, to be removed anywhere.
        learns: whether new ones are added.
    """

    key: Callable[[], bytes]
    known: KnownSecrets | None = None
    learns: bool = True

    def find(self, data: bytes, *, marks: bool = True) -> list[Span]:
        """Return the secrets of a text, including known values, and remember new values."""
        spans = find_secrets(data, marks=marks, known=self.known)
        values = ((visible(data[span.start : span.end]), span.rule) for span in spans)
        if self.learns and self.known and self.known.learn(values):
            return find_secrets(data, marks=marks, known=self.known)
        return spans

    @property
    def learned(self) -> int:
        """The number of known values."""
        return len(self.known.rules) if self.known else 0

    def redact(self, text: str) -> Redacted:
        """Return a text without its secrets. Lines marked with `<!-- allow-secret -->` are exempt."""
        data, found = self.redact_bytes(text.encode(errors="surrogatepass"))
        return Redacted(data.decode(errors="surrogatepass"), found)

    def redact_bytes(self, data: bytes) -> tuple[bytes, tuple[FoundSecret, ...]]:
        """Return the bytes of a text file without its secrets, and what was found; marked lines are exempt."""
        found = list[FoundSecret]()
        for _ in range(_PASSES):
            spans = self.find(data)
            if not spans:
                break
            found += locate(self, data, spans)
            data = self.replaced(data, spans)
        return data, tuple(found)

    def redact_record(self, line: bytes) -> bytes:
        """Return a line of JSON without its secrets; it stays valid JSON.

        Marks are ignored, since a tool may have written them. Unneeded escapes are decoded first. What is not JSON, as
        a line that is cut off, loses all that is found.
        """
        shown = _HIDDEN.sub(_shown, line) if b"\\u" in line or b"\\/" in line else line
        for _ in range(_PASSES):
            spans = self.find(shown, marks=False)
            if spans and _is_record(shown):
                spans = within_strings(shown, spans)
            if not spans:
                break
            line = shown = self.replaced(shown, spans)
        return line

    def replaced(self, data: bytes, spans: Sequence[Span]) -> bytes:
        """Return a text with a mark in the place of each of these secrets."""
        parts, at = [], 0
        for span in spans:
            secret = data[span.start : span.end]
            mark = f"[redacted:{span.rule}:{self.tag(secret)}]".encode()
            parts += [data[at : span.start], _on_each_line(secret, mark)]
            at = span.end
        return b"".join([*parts, data[at:]])

    def tag(self, secret: bytes) -> str:
        """Return the four hex digits that are equal for equal secrets."""
        return hmac.digest(self.key(), visible(secret), "sha256").hex()[:TAG_DIGITS]


def locate(redactor: Redactor, data: bytes, spans: Sequence[Span]) -> tuple[FoundSecret, ...]:
    """Return the findings at these places of a text, with tags and lines, without the secrets themselves."""
    found, line, at = [], 1, 0
    for span in spans:
        line, at = line + data.count(b"\n", at, span.start), span.start
        found.append(FoundSecret(span.rule, redactor.tag(data[span.start : span.end]), line))
    return tuple(found)


def format_found(found: Sequence[FoundSecret]) -> str:
    """Return a summary of the findings, without the secrets: `2 secrets (aws-access-key, password)`."""
    return f"{count(len(found), 'secret')} ({', '.join(sorted({one.rule for one in found}))})"


def without_secrets(text: str) -> str:
    """Return a text without its secrets: the last safeguard for what leaves the memory, where no key is at hand.

    Nothing is remembered: two harmless texts may read as a secret in one line. The values of the memory that this
    process opened last count. Where no value is known, its tags are comparable within one process only.
    """
    known = next(iter(_OPENED.values()), None)
    redactor = Redactor(known.key, known, learns=False) if known and known.rules else _VEIL
    return redactor.redact(text).text


def holds_secret(text: str) -> bool:
    """Return whether a text holds a secret; likewise."""
    return without_secrets(text) != text


_VEIL = Redactor(cache(lambda: os.urandom(_BYTES)))
_OPENED: dict[Path, KnownSecrets] = {}
"""The known values of the memory that was opened last."""


_LINE = re.compile(rb"^([ \t]*)[^\n]*?(\r?)$", re.MULTILINE)


def _on_each_line(secret: bytes, mark: bytes) -> bytes:
    """Return the mark, repeated on each line of a secret with several: no line of a log may vanish."""
    return _LINE.sub(lambda line: line[1] + mark + line[2], secret)


def _shown(found: re.Match[bytes]) -> bytes:
    if found[2] or (not found[1] and found[0][1:2] == b"u"):  # a slash, or an invisible character
        return found[2] or b""
    code = int(found[1], 16) if found[1] else 0x5C
    return found[0] if code in _KEPT else bytes([code])


def _is_record(line: bytes) -> bool:
    with suppress(ValueError, RecursionError):
        return isinstance(json.loads(line.decode("utf-8-sig", "replace")), (dict, list))
    return False


NAME: Final = "redaction.key"
_BYTES = 32
_LONGEST = 1024


def load_redactor(root: Path) -> Redactor:
    """Return the user's redactor, with the values of a memory that were found before.

    Its key is read, or created, only when the first secret is found.

    Raises:
        NotWritable: later, if there is no key and nowhere to store one.
    """
    if (known := _OPENED.get(root)) is None:
        known = KnownSecrets(root, cache(lambda: redaction_key(root)))
        _OPENED.clear()
        _OPENED[root] = known
    known.refresh()
    return Redactor(known.key, known)


def redaction_key(root: Path) -> bytes:
    """Return the key in `$XDG_CONFIG_HOME/memcurate/redaction.key`, creating it if needed.

    Without a writable home, the key is kept under `.curate/`, which is never committed: tags still work, but whoever
    can read that folder can test guesses against them.

    Raises:
        NotWritable: there is no key, and neither place is writable.
    """
    if key := key_outside(NAME, make=True):
        return key
    folder = private_folder(root)
    with writing(folder / NAME):
        return _key_in(folder, NAME)


def key_outside(name: str, *, make: bool) -> bytes:
    """Return the key of that name beside the user's settings; empty if there is none, and none can or may be created.

    Unlike the key of the tags, it is never kept in a memory, where whoever can write could use it.
    """
    from pipelines.provider_settings import config_folder  # noqa: PLC0415  a text without secrets needs no key

    if folder := config_folder():
        with suppress(OSError):
            if make:
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                return _key_in(folder, name)
            return (folder / name).read_bytes()[:_LONGEST]
    return b""


def _key_in(folder: Path, name: str) -> bytes:
    """Return the key in a folder, creating it if needed; concurrent processes all get the same one."""
    file = folder / name
    if not file.exists():
        new = file.with_name(f"{file.name}.{os.getpid()}.{os.urandom(4).hex()}")
        create_synced(new, file, os.urandom(_BYTES).hex().encode() + b"\n", 0o600)
    return file.read_bytes()[:_LONGEST]


@dataclass(slots=True)
class TranscriptCleaner:
    """Cleans transcripts.

    Args:
        redactor: removes secrets.
        redacted: the number of lines that contained any, so far.
    """

    redactor: Redactor
    redacted: int = 0

    def record(self, line: bytes) -> bytes:
        """Return a line of a transcript as it is kept: on one line, and JSON if it was JSON."""
        open_line = record_without_private(line)
        clean = self.redactor.redact_record(open_line)
        self.redacted += clean is not open_line
        return clean

    def words(self, text: str) -> str:
        """Return the words of a turn, redacted again: JSON escapes may have hidden something."""
        return self.redactor.redact(without_private(text)).text


PRIVATE: Final = "[private]"
_MARK = re.compile(r"<\s{0,3}(/?)\s{0,3}private\s{0,3}>", re.IGNORECASE)
_IN_RECORD = re.compile(rb"(?:<|\\u003c)\s{0,3}/?\s{0,3}private", re.IGNORECASE)
_WORDS = frozenset({"text", "content", "thinking"})


def is_private(text: str) -> bool:
    """Return whether a text contains a private part."""
    return any(not mark[1] for mark in _MARK.finditer(text))


def without_private(text: str) -> str:
    """Return a text without its private parts; an unclosed one extends to the end.

    Every line of a private part keeps its place, so that line numbers stay valid.
    """
    return _without(text, lambda _: len(text)) if _MARK.search(text) else text


def log_without_private(text: str) -> str:
    """Return a log without its private parts; an unclosed one extends to the end of its entry."""
    if not _MARK.search(text):
        return text
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    entries = parse_entries("", "", text)
    firsts = [entry.start_line for entry in entries]

    def end(at: int) -> int:
        line = bisect_right(starts, at)
        number = bisect_right(firsts, line) - 1
        last = max(line, entries[number].end_line) if number >= 0 else line
        return starts[last] - 1 if last < len(starts) else len(text)

    return _without(text, end)


def record_without_private(line: bytes) -> bytes:
    """Return a line of a transcript without its private parts; it stays valid JSON.

    An unclosed part extends to the end of the turn. A marked line that is not JSON is left out entirely.
    """
    if not (b"rivate" in line or b"RIVATE" in line) or not (_IN_RECORD.search(line) or b"\\u00" in line):
        return line
    end = b"\n" if line.endswith(b"\n") else b""
    is_open = False  # a part left open extends into the following parts of the turn

    def without(value: Any, *, said: bool = False) -> Any:  # noqa: ANN401  whatever JSON can hold
        nonlocal is_open
        if isinstance(value, list):
            return [without(one, said=said) for one in value]
        if isinstance(value, dict):
            return {key: without(one, said=key in _WORDS) for key, one in value.items()}
        if not isinstance(value, str):
            return value
        if said:
            value, depth = f"<private>{value}" if is_open else value, 0
            for mark in _MARK.finditer(value):
                depth = max(0, depth - 1) if mark[1] else depth + 1
            is_open = depth > 0
        return without_private(value)

    try:
        record = json.loads(line.decode("utf-8-sig", errors="replace"))
        return json.dumps(without(record), separators=(",", ":")).encode() + end
    except (ValueError, RecursionError):
        return b'{"type":"left-out","bytes":%d}' % len(line) + end


def _without(text: str, end_of: Callable[[int], int]) -> str:
    """Return a text without its private parts; `end_of` returns the end of an unclosed one."""
    spans = list[tuple[int, int]]()
    opened = list[int]()
    for mark in _MARK.finditer(text):
        if not mark[1]:
            opened.append(mark.start())
        elif opened:
            spans.append((opened.pop(), mark.end()))
    spans += [(start, end_of(start)) for start in opened]
    out, at = "", 0
    for start, end in sorted(spans):
        if start >= at:
            out += text[at:start] + _hidden(text[start:end])
        elif end > at:
            out += _hidden(text[at:end]).removeprefix(PRIVATE)
        at = max(at, end)
    return out + text[at:]


def _hidden(text: str) -> str:
    return _on_each_line(text.encode(errors="surrogatepass"), PRIVATE.encode()).decode(errors="surrogatepass")
