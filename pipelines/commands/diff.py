"""How a rehearsal shows what it would write: a unified diff."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pipelines.memory.changes import Change


def diff_of(changes: Iterable[Change]) -> str:
    """Return a change set as one unified diff; a file that is not there is `/dev/null`."""
    lines: list[str] = []
    for change in changes:
        before, after = (
            (side or b"").decode(errors="replace").splitlines(keepends=True) for side in (change.before, change.after)
        )
        old = f"a/{change.path}" if change.before is not None else "/dev/null"
        new = f"b/{change.path}" if change.after is not None else "/dev/null"
        lines += [
            line if line.endswith("\n") else f"{line}\n" for line in difflib.unified_diff(before, after, old, new)
        ]
    return "".join(lines)
