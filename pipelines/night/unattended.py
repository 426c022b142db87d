"""An unattended night: it pings a monitor, and logs its start and end to the journal."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
import traceback
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit, urlunsplit

from pipelines.agents.timers import call
from pipelines.errors import BUG, CurateError, DetachedHead, GitMissing, LockHeld, NotARepository, ending_code
from pipelines.night.report import RunReport, Watch, save_report
from pipelines.night.run_night import curate_night
from pipelines.search.embedders.remote import open_url
from pipelines.text import escape_terminal_line, key_values

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pipelines.night.run import Night


_SAYABLE = (LockHeld, NotARepository, DetachedHead, GitMissing)  # these sentences name at most the memory's folder


class AlreadyReported(CurateError):
    """Replaces the error of a night that the journal has logged: the original sentence may name documents."""

    def __init__(self, exit_code: int) -> None:
        super().__init__("The run failed.", "For the reason, see `curate runs`.")
        self.exit_code = exit_code


def curate_unattended(night: Night, watch: Watch, monitor: str) -> RunReport:
    """Run one night, pinging a monitor at its start and end; under systemd, log it.

    A failed ping is a warning in the report, and changes neither the night nor its exit code.

    Args:
        night: the night.
        watch: receives the progress.
        monitor: the address, which is a secret and appears in no message; empty for no pings.

    Raises:
        AlreadyReported: under systemd, in place of any other error; the journal has its kind.
        LockHeld: another run is working on the memory, and sends its own pings.
        CurateError: any error of `curate_night`.
    """
    start = _Ping(_with_path(monitor, "/start")) if monitor else None
    began = time.monotonic()
    logs = in_journal(os.environ)
    with _logged(began) if logs else contextlib.nullcontext():
        try:
            report = curate_night(night, watch)
        except LockHeld:
            raise
        except BaseException:
            if start:
                _ping_at_end(monitor, start, well=False)
            raise
        if start and (faults := _ping_at_end(monitor, start, well=not report.exit_code)):
            report.warnings += faults
            with contextlib.suppress(CurateError):  # the report without the pings is saved already
                save_report(night.root, report.to_json())
    if logs:
        _log_end(report, time.monotonic() - began)
    return report


@contextlib.contextmanager
def _logged(began: float) -> Iterator[None]:
    """Log a night's start and failure to the journal, without sentences that may name documents."""
    _log(INFO, "night-begins")
    try:
        yield
    except (Exception, KeyboardInterrupt) as fault:
        code, last = ending_code(fault), traceback.extract_tb(fault.__traceback__)[-1]
        _log(
            WARNING if isinstance(fault, LockHeld | KeyboardInterrupt) else ERROR,
            "night-failed",
            kind=type(fault).__name__,
            why=str(fault) if isinstance(fault, _SAYABLE) else None,
            at=f"{Path(last.filename).name}:{last.lineno}" if code == BUG else None,
            seconds=round(time.monotonic() - began, 1),
            exit=code,
        )
        if isinstance(fault, KeyboardInterrupt):
            raise
        raise AlreadyReported(code) from None


# ---------------------------------------- notifying a person of a failed night
# On the desktop. The message names the memory's folder and the commands that tell more; it holds no text of the memory.


TITLE: Final = "memcurate"
_DESKTOPS = ("DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY")


def notification_text(root: Path, *, overdue: bool, left: bool) -> str:
    """Return the notification's text, whose reader only knows that something called for it.

    Args:
        root: the memory.
        overdue: whether no run has ended well for a day and a half.
        left: whether the last run did end, and left something pending.
    """
    what = "The last run left something pending" if left else "The last run failed"
    what = "No run has succeeded for more than a day and a half" if overdue else what
    memory = escape_terminal_line(str(root))
    return f"{what} for the memory in {memory}. For details, see `curate status`; for a fix, `curate doctor`."


def notify(text: str) -> bool:
    """Notify a person by `notify-send`; return whether that worked."""
    has_desktop = any(os.environ.get(name) for name in _DESKTOPS)
    words = ("notify-send", "--app-name", TITLE, "--urgency=critical", "--", TITLE, text)
    return has_desktop and call(words).returncode == 0


# ---------------------------------------- pings of a monitor (healthchecks and similar)
# Pings report a run's start, success or failure to the user's address. They never hold up a night: each has a few
# seconds, and a failed one is only a sentence in the report.


SECONDS: Final = 3.0
"""The timeout of a ping, name resolution included."""


def _ping_at_end(url: str, start: _Ping, *, well: bool) -> list[str]:
    """Ping the end of a run; return a sentence for each failed ping, after at most two timeouts."""
    start.thread.join(SECONDS)
    last = _Ping(url if well else _with_path(url, "/fail"))
    last.thread.join(SECONDS)
    pings = (("start", start.fault), ("end", last.fault))
    return [f"The ping at the {when} of the run {fault}." for when, fault in pings if fault]


class _Ping:
    """A request in a thread of its own; no run waits for it to finish.

    `fault` is the end of a sentence about the ping; it is empty once the ping succeeded.
    """

    def __init__(self, url: str) -> None:
        self.fault = "got no answer in time"
        self._url = url
        self.thread = threading.Thread(target=self._send, name="ping", daemon=True)
        self.thread.start()

    def _send(self) -> None:
        try:
            request = urllib.request.Request(self._url, headers={"User-Agent": "memcurate"})  # noqa: S310  http(s) alone
            with open_url(request, SECONDS):
                self.fault = ""
        except urllib.error.HTTPError as refusal:
            self.fault = f"was answered with status {refusal.code}"
            refusal.close()
        except TimeoutError:
            return
        except Exception as fault:  # noqa: BLE001  whatever the network does, the night goes on
            if not isinstance(getattr(fault, "reason", None), TimeoutError):
                self.fault = "failed: the address could not be reached"


def _with_path(url: str, more: str) -> str:
    """Return a URL with its path extended; its query stays."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(path=parts.path.rstrip("/") + more))


# ---------------------------------------- lines for the journal of systemd
# `key=value` pairs with a priority, and no text of the memory.


ERROR, WARNING, INFO = 3, 4, 6


def in_journal(environ: Mapping[str, str]) -> bool:
    """Whether standard error is the journal. Terminals may inherit the variable, so the stream counts."""
    try:
        known = os.fstat(sys.stderr.fileno())
    except (OSError, ValueError, AttributeError):
        return False
    return environ.get("JOURNAL_STREAM") == f"{known.st_dev}:{known.st_ino}"


def _log(priority: int, event: str, **fields: object) -> None:
    print(f"<{priority}>{key_values(event=event, **fields)}", file=sys.stderr, flush=True)  # noqa: T201  the journal reads this


def _log_end(report: RunReport, seconds: float) -> None:
    """Log a completed run: counts, and no content."""
    code = report.exit_code
    _log(
        WARNING if code or report.warnings else INFO,
        "night-ended" if not code else "night-left-pending",
        run=report.run,
        day=report.day,
        logs=report.logs["read"],
        entries=report.entries["read"],
        pending=report.entries["pending"],
        added=report.added,
        changed=report.changed,
        asked=report.people["asked"],
        calls=report.tally.calls,
        tokens=report.tally.usage.input_tokens + report.tally.usage.output_tokens,
        usd=report.tally.usd,
        warnings=len(report.warnings),
        commit=report.commit and report.commit[:10],
        seconds=round(seconds, 1),
        exit=code,
    )
