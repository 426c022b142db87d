"""Progress on a terminal: one line, which moves even while a single step takes long."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from pipelines.night.report import Watch

if TYPE_CHECKING:
    from collections.abc import Iterator


class Bar(Watch):
    """A bar on standard error for the current stage.

    Until a stage says how far it is, the bar runs to and fro; the time moves in any case.
    """

    patience = 60.0

    def __init__(self) -> None:
        super().__init__()
        from rich.console import Console  # noqa: PLC0415  50 ms that cron need not pay
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

        columns = TextColumn("{task.description:<8}"), BarColumn(bar_width=30), TextColumn("{task.fields[how_far]}")
        self.progress = Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True)
        self._task, self._left = self.progress.add_task("", how_far=""), ""

    def next_day(self, left: int) -> None:
        """Note how many days are left, for the stages that follow."""
        self._left = f"{left} more" if left > 1 else ""

    @contextlib.contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Draw the bar anew for the stage."""
        self.begin(name)
        with super().stage(name):
            yield

    def begin(self, name: str) -> None:
        """Draw the bar anew."""
        self.progress.reset(self._task, description=name, total=None, how_far=self._left)

    def advance(self, done: int, total: int) -> None:
        """Move the bar. A single step of one says nothing of how far it is: the bar goes on running."""
        if total > 1 or done:
            self.progress.update(self._task, completed=done, total=total, how_far=f"{done:,}/{total:,}")

    def ready(self) -> None:
        """Say that the rest is no reason to wait."""
        self.progress.console.print("All is saved: you can work now. What follows is for search; Ctrl-C ends it.")
