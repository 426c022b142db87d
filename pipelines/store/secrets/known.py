"""What earlier runs knew of secrets: values, and rules. A secret found once is found anywhere, whatever is around it.

For each value, `.curate/secrets.jsonl` has a keyed hash, its length and the rule that found it, but never the value.
Without that file, values are unknown until a rule finds them again.
"""

from __future__ import annotations

import hmac
import json
import re
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from pipelines.errors import CurateError
from pipelines.store.append_log import append_bytes
from pipelines.store.files import read_bytes
from pipelines.store.lock import private_folder
from pipelines.store.secrets.secret_values import entropy, is_identifier, is_name
from pipelines.store.state import read_record, write_record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path


FILE: Final = ".curate/secrets.jsonl"
TAG_DIGITS: Final = 4
"""Hex digits of a tag: enough to distinguish a few secrets, too few to guess one by."""
_SHORTEST = 8
_PLAIN = 12
"""The shortest value to remember; and the shortest without a small letter, a capital, a digit or a sign."""
_LONGEST = 512
_VARIED = 8
_BITS = 3.0
_HASH = 32
_KINDS = tuple(map(re.compile, (rb"[a-z]", rb"[A-Z]", rb"[0-9]", rb"[^A-Za-z0-9]")))
_RUN = re.compile(rb"(?:[!#-&(-~]|[\xc2-\xf4][\x80-\xbf]{1,3}){3,}+")
"""What a value can be part of: UTF-8 without blanks, quotes and control characters. Few bytes of vectors are."""
_NAMED = re.compile(rb"^[A-Za-z_]\w*=(?=[^=])")
_EDGE = re.compile(rb"\\[nrtbf]|[^A-Za-z0-9]")
_WORDS = b"abcdefghijklmnopqrstuvwxyz-_.:/@"
"""Words, names and paths consist only of these, and known values do not."""


@dataclass(slots=True, eq=False)
class KnownSecrets:
    """The values of a memory that were found before.

    Args:
        root: the memory.
        key: returns the user's key, when there is something to hash.
        rules: digest → the rule that found the value.
        allowed: the digests of values that a person allowed.
    """

    root: Path
    key: Callable[[], bytes]
    rules: dict[str, str] = field(default_factory=dict, init=False)
    allowed: set[str] = field(default_factory=set, init=False)
    _lengths: set[int] = field(default_factory=set, init=False)
    _size: int = field(default=-1, init=False)

    def refresh(self) -> None:
        """Read what other processes have written since."""
        with suppress(OSError, CurateError, ValueError):
            size = (self.root / FILE).stat().st_size
            if size != self._size:
                self._size, data = size, read_bytes(self.root, FILE) or b""
                for line in data.splitlines():
                    with suppress(ValueError, TypeError, KeyError):
                        self._take(json.loads(line))

    def _take(self, row: dict[str, Any]) -> None:
        digest, length = str(row["hash"]), int(row["length"])
        if row.get("allowed"):
            self.allowed.add(digest)
            self.rules.pop(digest, None)
        elif _SHORTEST <= length <= _LONGEST and digest not in self.allowed and digest not in self.rules:
            self.rules[digest] = str(row["rule"])
            self._lengths.add(length)

    def _write(self, rows: Sequence[dict[str, Any]]) -> bool:
        """Write rows, if there are any, and return whether there are."""
        if rows:
            with suppress(CurateError, OSError):  # this process knows them all the same
                private_folder(self.root)
                append_bytes(self.root, FILE, "".join(f"{json.dumps(row)}\n" for row in rows).encode())
        return bool(rows)

    def digest(self, value: bytes) -> str:
        """Return a value's keyed hash, which starts with its tag."""
        return hmac.digest(self.key(), value, "sha256").hex()[:_HASH]

    def learn(self, values: Iterable[tuple[bytes, str]]) -> bool:
        """Remember values that rules found, except those that may also name something else; return whether any is new.

        Args:
            values: of one text, each with its rule.
        """
        rows = list[dict[str, Any]]()
        for value, rule in values:
            # The value of `Token: API_TOKEN=…` is what stands behind the name.
            value = _NAMED.sub(b"", value)  # noqa: PLW2901  as above
            if not _SHORTEST <= len(value) <= _LONGEST or not _RUN.fullmatch(value) or b"[redacted:" in value:
                continue
            if (
                (digest := self.digest(value)) in self.rules
                or not value.translate(None, _WORDS)
                or len(set(value)) < _VARIED
                or entropy(value) < _BITS
                or is_name(value)
                or is_identifier(value)
                or (len(value) < _PLAIN and not all(kind.search(value) for kind in _KINDS))
            ):
                continue
            rows.append({"hash": digest, "length": len(value), "rule": rule})
            self._take(rows[-1])
        return self._write(rows)

    def allow(self, tag: str) -> bool:
        """Allow all values with a tag, and return whether there are any."""
        rows = [
            {"hash": digest, "length": _LONGEST, "allowed": True} for digest in self.rules if digest[:TAG_DIGITS] == tag
        ]
        for row in rows:
            self._take(row)
        return self._write(rows)

    def is_allowed(self, value: bytes) -> bool:
        """Return whether a person allowed that value."""
        return bool(self.allowed) and self.digest(value) in self.allowed

    def places(self, data: bytes) -> Iterator[tuple[int, int, str]]:
        """Yield start and end of known values, each with the rule that found it first.

        A value must begin and end at boundaries of letters and digits, and only text as long as a known value is
        hashed.
        """
        for match in _RUN.finditer(data) if self.rules else ():
            start, run = match.start(), match[0]
            last = len(run.rstrip(_WORDS))  # a value that begins after it would be a word
            edges = {0, len(run), *(at for edge in _EDGE.finditer(run) for at in edge.span())} if last else set()
            for begin in sorted(at for at in edges if at < last):
                for value in (run[begin : begin + length] for length in self._lengths if begin + length in edges):
                    if value.translate(None, _WORDS) and (rule := self.rules.get(self.digest(value))):
                        yield start + begin, start + begin + len(value), rule


_RULES = "rules.json"
RULES_VERSION: Final = 6
"""Raise it with any change that lets the rules find more: the next night then cleans every log again."""


def rules_changed(root: Path) -> bool:
    """Return whether the last run cleaned a memory's logs by other rules than these; where nothing is known, it did."""
    return read_record(root, _RULES).get("version") != RULES_VERSION


def remember_rules(root: Path) -> None:
    """Write down that all logs of a memory were cleaned by these rules."""
    if rules_changed(root):
        with suppress(CurateError):  # the next run cleans them again
            write_record(root, _RULES, {"version": RULES_VERSION})
