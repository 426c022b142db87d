"""How a rehearsal shows what it would write: a unified diff."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from pipelines.store.layout import LOGS
from pipelines.store.secrets import veil
from pipelines.store.secrets.redact import log_without_private
from pipelines.store.user_layout import real_path

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pipelines.store.change_set import Change


def diff_of(root: Path, changes: Iterable[Change]) -> str:
    """Return a change set as one unified diff; a file that is not there is `/dev/null`.

    What a run redacts is not shown: of a secret that goes, its mark stands on both sides, with another tag on each.

    Args:
        root: the memory.
        changes: the change set.
    """
    lines: list[str] = []
    for change in changes:
        before = _shown(change.path, change.before).splitlines(keepends=True)
        after = (change.after or b"").decode(errors="replace").splitlines(keepends=True)
        path = real_path(root, change.path)
        old = f"a/{path}" if change.before is not None else "/dev/null"
        new = f"b/{path}" if change.after is not None else "/dev/null"
        lines += [
            line if line.endswith("\n") else f"{line}\n" for line in difflib.unified_diff(before, after, old, new)
        ]
    return "".join(lines)


def _shown(path: str, data: bytes | None) -> str:
    text = (data or b"").decode(errors="replace")
    return veil(log_without_private(text) if path.startswith(f"{LOGS}/") else text)
