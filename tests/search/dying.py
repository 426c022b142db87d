"""A process that is killed in the midst of its work, without a process: what is on the disk at that moment stays so."""

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest

from pipelines.search import build, embed, read_files
from pipelines.search import schema as store

POINTS: Final[tuple[tuple[ModuleType, str], ...]] = (
    (read_files, "put"),
    (read_files, "take_out"),
    (read_files, "surround"),
    (build, "reading"),
    (store, "remove_database"),
    (embed, "keep"),
    (embed, "note_model"),
    (embed, "drop_unused"),
)
"""Calls before each of which a killed process may have ended: in an update, a rebuild, and while vectors are made."""


class Killed(BaseException):
    """Raised where the process ends."""


@contextlib.contextmanager
def dying(root: Path, module: ModuleType, name: str, calls: int) -> Iterator[list[str]]:
    """End the block before the call of a function after so many calls; what is yielded tells whether it came to that.

    What is cleaned up on the way out is undone: `.curate` is left as it was when the process ended.
    """
    kept, folder, left, fired = root.with_name("killed"), root / ".curate", calls, list[str]()
    work = getattr(module, name)

    def counted(*given: Any, **named: Any) -> Any:
        nonlocal left
        left -= 1
        if left >= 0 or kept.exists():
            return work(*given, **named)
        shutil.copytree(folder, kept)
        fired.append(name)
        raise Killed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, name, counted)
        with contextlib.suppress(Killed):
            yield fired
    if kept.exists():
        shutil.rmtree(folder)
        kept.rename(folder)
