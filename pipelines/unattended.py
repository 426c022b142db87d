"""A night that nobody watches: it pings a monitor, and says to the journal how it began and ended."""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from pipelines.errors import BUG, CurateError, DetachedHead, GitMissing, LockHeld, NotARepository, ending_code
from pipelines.nightly import curate_night
from pipelines.nights import journal
from pipelines.report import save_report

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from pipelines.nights.pings import Pings
    from pipelines.planning import Night
    from pipelines.report import RunReport
    from pipelines.watch import Watch

_SAYABLE = (LockHeld, NotARepository, DetachedHead, GitMissing)  # their sentences name the memory's folder at the most


class ToldAlready(CurateError):
    """Raised in place of what ended a night whose journal has its line: the sentence itself may name documents."""

    def __init__(self, exit_code: int) -> None:
        super().__init__("The night did not end well.", "`curate runs` says why.")
        self.exit_code = exit_code


def curate_unattended(night: Night, watch: Watch, pings: Pings) -> RunReport:
    """Run one night, pinging at its beginning and its end; under systemd, log it.

    A ping that nobody took is a warning in the report, and changes neither the night nor its exit code.

    Raises:
        ToldAlready: under systemd, whatever of these ended the night; the journal has its kind.
        LockHeld: another run works on the memory, and pings for itself.
        CurateError: as `curate_night` raises.
    """
    pings.begin()
    began = time.monotonic()
    logs = journal.in_journal(os.environ)
    with _logged(began) if logs else contextlib.nullcontext():
        try:
            report = curate_night(night, watch)
        except LockHeld:
            raise
        except BaseException:
            pings.end(well=False)
            raise
        if faults := pings.end(well=not report.exit_code):
            report = replace(report, warnings=(*report.warnings, *faults))
            with contextlib.suppress(CurateError):  # the report is there already, without the pings
                save_report(night.root, report)
    if logs:
        journal.write(journal.ended(report, time.monotonic() - began))
    return report


@contextlib.contextmanager
def _logged(began: float) -> Iterator[None]:
    """Say to the journal how a night begins and fails; what would be said of it elsewhere may name documents."""
    journal.write(journal.journal_line(journal.INFO, "night-begins"))
    try:
        yield
    except (Exception, KeyboardInterrupt) as fault:
        code = ending_code(fault)
        journal.write(
            journal.journal_line(
                journal.WARNING if isinstance(fault, LockHeld | KeyboardInterrupt) else journal.ERROR,
                "night-failed",
                kind=type(fault).__name__,
                why=str(fault) if isinstance(fault, _SAYABLE) else None,
                at=_place(fault.__traceback__) if code == BUG else None,
                seconds=round(time.monotonic() - began, 1),
                exit=code,
            )
        )
        if isinstance(fault, KeyboardInterrupt):
            raise
        raise ToldAlready(code) from None


def _place(traceback: TracebackType | None) -> str:
    """Return where the code broke: file and line, and no value that it held."""
    while traceback and traceback.tb_next:
        traceback = traceback.tb_next
    if traceback is None:
        return ""
    file = traceback.tb_frame.f_code.co_filename
    return f"{os.path.basename(file)}:{traceback.tb_lineno}"  # noqa: PTH119  a name and no path
