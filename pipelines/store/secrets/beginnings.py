"""Where rules may match: the places at which one of their words, or the beginning of one of their tokens, occurs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pipelines.store.secrets.secret_rules import Rule


TOKEN_STARTS: Final = rb"(?=[^\s]{15})(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt])|(?<=[0-9]m))"
"""Where a token may begin: an escape of JSON or of a terminal may precede it. The shortest token has 15 characters."""
_RUN = rb"(?=[A-Za-z0-9_.~+/=$%@!#^&*?-]{24})"
"""The shortest token that is known by nothing but its looks."""
_CLOSE, _CROWD = 256, 20
"""No text has a word so often within so many bytes, except to cost us time."""


class Beginnings(NamedTuple):
    """How matches of rules begin, and one pattern that finds all the places.

    Args:
        pattern: matches the first byte of each of the texts.
        rules: by first byte, the texts that begin so, each with its rule. The empty text is any long run.
    """

    pattern: re.Pattern[bytes]
    rules: Mapping[bytes, Sequence[tuple[bytes, Rule]]]

    @classmethod
    def of(cls, texts: Iterable[tuple[bytes, Rule]], before: bytes = b"") -> Beginnings:
        """Return the texts with their pattern; `before` must match where a text begins."""
        rules: dict[bytes, list[tuple[bytes, Rule]]] = {}
        for text, rule in texts:
            rules.setdefault(text[:1], []).append((text, rule))
        any_run = rules.pop(b"", [])
        # Texts are grouped by their first byte: that is several times faster.
        groups = [
            re.escape(first) + b"(?=%b)" % b"|".join(sorted({re.escape(text[1:]) for text, _ in found}))
            for first, found in rules.items()
        ]
        pattern = re.compile(before + b"(?:%b)" % b"|".join([*groups, *[_RUN] * bool(any_run)]))
        return cls(pattern, {first: [*found, *any_run] for first, found in rules.items()} | {b"": any_run})

    def places(self, data: bytes) -> Iterator[tuple[int, Rule]]:
        """Yield where a text occurs, and its rule, unless it is repeated closely: that only costs us time."""
        for found in self.pattern.finditer(data):
            at = found.start()
            for text, rule in self.rules[found[0]]:
                if data.startswith(text, at) and (not text or data.count(text, max(0, at - _CLOSE), at) < _CROWD):
                    yield at, rule
