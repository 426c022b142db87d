"""The parts of a plan that are no files: the crontab, and commands of the system."""

from __future__ import annotations

import contextlib
import difflib
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipelines.errors import CurateError
from pipelines.install.cron import found_in_cron, read_crontab, write_crontab
from pipelines.install.launchd import found_in_launchd
from pipelines.install.nights import call
from pipelines.install.systemd import found_in_systemd

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pipelines.install.nights import Found
    from pipelines.install.plan import Asked, Plan


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
        write_crontab(self.after)


def crontab_change(plan: Plan) -> TableChange | None:
    """Return what a plan would change in the crontab, or None.

    Raises:
        CurateError: the crontab cannot be read or understood.
    """
    if plan.crontab is None:
        return None
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


def found_nights(asked: Asked) -> list[Found]:
    """Return what is installed to run every night; a crontab that cannot be read counts as none."""
    nights = []
    for look in (found_in_cron, found_in_systemd, found_in_launchd):
        with contextlib.suppress(CurateError):
            nights += [one] if (one := look(asked)) else []
    return nights
