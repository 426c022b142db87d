"""What is known of a memory's nights, gathered: reports, days that wait, other machines, what is left unfinished."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.night.report import read_reports
from pipelines.nights.health import Signs
from pipelines.store.git_history import nights_elsewhere
from pipelines.store.journal import is_unfinished

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def signs_of(root: Path, waiting: Sequence[str]) -> Signs:
    """Return what is known of the nights of the memory at `root`, in which these days wait."""
    reports = read_reports(root)
    return Signs(list(reports.values()), waiting, nights_elsewhere(root, reports), is_unfinished(root))
