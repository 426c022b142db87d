"""The parts of a plan that are no files: the crontab, and commands of the system."""

from __future__ import annotations

import difflib
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipelines.install.nights import call

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pipelines.install.plan import Plan


@dataclass(frozen=True, slots=True)
class TableChange:
    """The person's crontab before and after."""

    before: str
    after: str

    def diff(self) -> str:
        """Return what changes, as lines of a diff without what stands around them: that may be secret."""
        before, after = self.before.splitlines(keepends=True), self.after.splitlines(keepends=True)
        told = difflib.unified_diff(before, after, "crontab", "crontab", n=0)
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in told)

    def write(self) -> None:
        """Replace the crontab.

        Raises:
            CurateError: it was refused, and is as it was.
        """
        from pipelines.install.cron import write_crontab  # noqa: PLC0415  only this target has one

        write_crontab(self.after)


def crontab_change(plan: Plan) -> TableChange | None:
    """Return what a plan would change in the crontab, or None.

    Raises:
        CurateError: the crontab cannot be read or understood.
    """
    if plan.crontab is None:
        return None
    from pipelines.install.cron import read_crontab  # noqa: PLC0415  only this target has one

    before = read_crontab()
    after = plan.crontab(before)
    return TableChange(before, after) if after != before else None


def run_in_order(commands: Iterable[Sequence[str]]) -> list[str]:
    """Run commands, and return those that did not work as a shell reads them, each with why as a comment."""
    left = []
    for words in commands:
        answer = call(words)
        if answer.code:
            left.append(f"{shlex.join(words)}  # {answer.why}")
    return left
