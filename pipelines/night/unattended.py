"""An unattended night, where somebody listens: it pings a monitor, and a failed one notifies a person."""

from __future__ import annotations

import contextlib
import os
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit, urlunsplit

from pipelines.errors import CurateError, LockHeld
from pipelines.night.report import RunReport, Watch, save_report
from pipelines.night.run_night import curate_night
from pipelines.text import escape_terminal_line

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.night.run import Night


SECONDS: Final = 3.0
"""The timeout of a ping."""


def curate_with_pings(night: Night, watch: Watch, monitor: str) -> RunReport:
    """Run one night, pinging a monitor (healthchecks and similar) at its start and end.

    A failed ping is a warning in the report, and changes neither the night nor its exit code.

    Args:
        night: the night.
        watch: receives the progress.
        monitor: the address, which is a secret and appears in no message.

    Raises:
        LockHeld: another run is working on the memory, and sends its own pings.
        CurateError: any error of `curate_night`.
    """
    faults = _pinged(_with_path(monitor, "/start"), "start")
    try:
        report = curate_night(night, watch)
    except LockHeld:
        raise
    except BaseException:
        _pinged(_with_path(monitor, "/fail"), "end")
        raise
    faults += _pinged(_with_path(monitor, "/fail") if report.exit_code else monitor, "end")
    if faults:
        report.warnings += faults
        with contextlib.suppress(CurateError):  # the report without the pings is saved already
            save_report(night.root, report.to_json())
    return report


def _pinged(url: str, when: str) -> list[str]:
    """Request an address; return a sentence if it did not answer as it should."""
    from pipelines.search.embedders.remote import open_url  # noqa: PLC0415  few nights have a monitor

    try:
        request = urllib.request.Request(url, headers={"User-Agent": "memcurate"})  # noqa: S310  http(s) alone
        with open_url(request, SECONDS):
            return []
    except urllib.error.HTTPError as refusal:
        why = f"status {refusal.code}"
        refusal.close()
    except Exception:  # noqa: BLE001  whatever the network does, the night goes on
        why = "no answer"
    return [f"The ping at the {when} of the run failed ({why})."]


def _with_path(url: str, more: str) -> str:
    """Return a URL with its path extended; its query stays."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(path=parts.path.rstrip("/") + more))


# ---------------------------------------- notifying a person of a failed night
# On the desktop. The message names the memory's folder and the commands that tell more; it holds no text of the memory.


TITLE: Final = "memcurate"
_DESKTOPS = ("DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY")


def notification_text(root: Path) -> str:
    """Return the notification's text, whose reader only knows that something called for it."""
    memory = escape_terminal_line(str(root))
    return f"The nights of the memory in {memory} need you: `curate status` says why, `curate doctor` what to do."


def notify(text: str) -> bool:
    """Notify a person by `notify-send`; return whether that worked."""
    from pipelines.agents.timers import call  # noqa: PLC0415  only for `curate status --notify`

    has_desktop = any(os.environ.get(name) for name in _DESKTOPS)
    words = ("notify-send", "--app-name", TITLE, "--urgency=critical", "--", TITLE, text)
    return has_desktop and call(words).returncode == 0
