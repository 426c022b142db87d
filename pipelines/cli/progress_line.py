"""A progress bar a stage, on a terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Self

from pipelines.night.progress import Watch

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


def watch_for_people() -> Watch:
    """Return a watch that draws bars where a person looks at standard error, and is silent elsewhere."""
    return Bars() if sys.stderr.isatty() else Watch()


class Bars(Watch):
    """One bar a stage, drawn on standard error and left standing when the stage is over."""

    def __init__(self) -> None:
        super().__init__()
        from rich.console import Console  # noqa: PLC0415  50 ms that cron need not pay
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

        self._progress: Progress = Progress(
            TextColumn("{task.description:>8}"),
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=Console(stderr=True),
        )
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        """Begin drawing."""
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the bars as they stand."""
        self._progress.stop()

    def begin(self, name: str) -> None:
        """Draw a bar for the stage."""
        self._task = self._progress.add_task(name, total=1)

    def advance(self, done: int, total: int) -> None:
        """Move the current bar."""
        if self._task is not None:
            self._progress.update(self._task, completed=done, total=total)

    def end(self, name: str) -> None:  # noqa: ARG002  the bar of the stage is the current one
        """Fill the current bar."""
        if self._task is not None:
            task = self._progress.tasks[-1]
            self._progress.update(self._task, completed=task.total or 1)
