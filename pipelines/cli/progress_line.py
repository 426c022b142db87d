"""A progress bar a stage, on a terminal."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING

from pipelines.night.report import Watch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.progress import TaskID


@contextlib.contextmanager
def watch_for_people() -> Iterator[Watch]:
    """Give a watch that draws bars where a person looks at standard error, and is silent elsewhere."""
    if not sys.stderr.isatty():
        yield Watch()
        return
    bars = Bars()
    with bars.progress:
        yield bars


class Bars(Watch):
    """One bar a stage, drawn on standard error and left standing when the stage is over."""

    def __init__(self) -> None:
        super().__init__()
        from rich.console import Console  # noqa: PLC0415  50 ms that cron need not pay
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

        self.progress = Progress(
            TextColumn("{task.description:>8}"),
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=Console(stderr=True),
        )
        self._task: TaskID | None = None

    @contextlib.contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Draw a bar for the stage, and fill it at the end."""
        self.begin(name)
        try:
            with super().stage(name):
                yield
        finally:
            task = self.progress.tasks[-1]
            self.progress.update(task.id, completed=task.total or 1)

    def begin(self, name: str) -> None:
        """Draw a bar."""
        self._task = self.progress.add_task(name, total=1)

    def advance(self, done: int, total: int) -> None:
        """Move the current bar."""
        if self._task is not None:
            self.progress.update(self._task, completed=done, total=total)
