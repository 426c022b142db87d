"""Progress as a run tells it: which stage it is in and how far; what becomes of that is the command's matter."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class Watch:
    """Takes the seconds of each stage and shows nothing; a command for people shows more (`cli.progress_line`)."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextlib.contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Be told that a stage runs inside the block; a stage that runs twice adds up."""
        begun = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - begun

    def begin(self, name: str) -> None:
        """Be told that work begins of which the end is not told."""

    def advance(self, done: int, total: int) -> None:
        """Be told how far the current stage is."""
