"""Nights of other machines, as git tells of them: two that share a memory keep it curated together."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from pipelines.errors import CurateError
from pipelines.memory.git import Git
from pipelines.memory.history import run_commits
from pipelines.nights.moments import moment_of

if TYPE_CHECKING:
    from collections.abc import Container
    from datetime import datetime
    from pathlib import Path


def nights_elsewhere(root: Path, known: Container[str]) -> list[datetime]:
    """Return the moments of the nights that another machine ran, as far as their commits are here.

    A night that found nothing new makes no commit and is not among them, and nor is what a person did by a verb.

    Args:
        root: the memory.
        known: the ids of the runs that left a report here, which says more of them.
    """
    with contextlib.suppress(CurateError):  # whoever asks has other ways to say that git is in no good state
        nights = [one for one in run_commits(Git(root)) if not one.by_hand and not one.undoes]
        moments = [moment_of({"now": one.when}) for one in nights if one.run not in known]
        return [when for when in moments if when]
    return []
