"""How verbs tell which files are not in the index, or only in part: each with its reason, many of one in few lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pipelines.text import plain_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

SHOWN: Final = 3
"""So many files with the same reason are named; of more, their number is told."""


def passed_over(files: Iterable[Mapping[str, str]]) -> Iterator[str]:
    """Yield one line a file, and one for all that are left of a reason.

    Args:
        files: `path` and `reason` of each, as `--json` shows them; the reason ends a sentence that the path begins.
    """
    groups: dict[str, list[str]] = {}
    for one in files:
        groups.setdefault(one["reason"], []).append(one["path"])
    for reason, paths in groups.items():
        named = paths if len(paths) == SHOWN + 1 else paths[:SHOWN]
        yield from (f"{plain_line(path)} {reason}." for path in named)
        if left := len(paths) - len(named):
            yield f"and {left:,} more, of which each {reason}."
