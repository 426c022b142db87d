"""Progress on a terminal: one line a stage, which moves even while a single step takes long."""

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
    """Give a watch that draws bars if standard error is a terminal, and is silent elsewhere."""
    if not sys.stderr.isatty():
        yield Watch()
        return
    bars = Bars()
    with bars.progress:
        yield bars


class Bars(Watch):
    """One bar a stage on standard error, which stays when the stage is over.

    Until a stage says how far it is, its bar runs to and fro; a spinner and the time move in any case.
    """

    patience = 60.0

    def __init__(self) -> None:
        super().__init__()
        from rich.console import Console  # noqa: PLC0415  50 ms that cron need not pay
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415

        self.progress = Progress(
            SpinnerColumn(finished_text=" "),
            TextColumn("{task.description:<8}"),
            BarColumn(bar_width=30),
            TextColumn("{task.fields[how_far]}"),
            TimeElapsedColumn(),
            console=Console(stderr=True),
        )
        self._task: TaskID | None = None
        self._left = 0

    def next_day(self, left: int) -> None:
        """Note how many days are left, for the bars that follow."""
        self._left = left

    @contextlib.contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Draw a bar for the stage, and fill it at the end."""
        self.begin(name)
        try:
            with super().stage(name):
                yield
        finally:
            task = self.progress.tasks[-1]
            self.progress.update(task.id, total=task.total or 1, completed=task.total or 1)

    def begin(self, name: str) -> None:
        """Draw a bar. The bars of a day that is over make room for those of the next one."""
        for task in self.progress.tasks if self._left else ():
            if task.finished:
                self.progress.remove_task(task.id)
        left = f"{self._left} more" if self._left > 1 else ""
        self._task = self.progress.add_task(name, total=None, how_far=left)

    def advance(self, done: int, total: int) -> None:
        """Move the current bar."""
        if self._task is not None:
            # A single step of one says nothing of how far it is: the bar goes on running.
            known = total if total > 1 or done else None
            self.progress.update(
                self._task, completed=done, total=known, how_far=f"{done:,}/{total:,}" if known else ""
            )

    def ready(self) -> None:
        """Say that the rest is no reason to wait."""
        self.progress.console.print("All is saved: you can work now. What follows is for search; Ctrl-C ends it.")
