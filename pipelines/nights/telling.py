"""Telling a person that a night went wrong: on the desktop where there is one, else by the machine's own mail.

What is told is the name of the memory's folder and which command says more. No word of the memory is in it.
"""

from __future__ import annotations

import getpass
import os
import shutil
import sys
from typing import TYPE_CHECKING, Final

from pipelines.agents.timers import call
from pipelines.text import plain_line

if TYPE_CHECKING:
    from pathlib import Path

TITLE: Final = "memcurate"
_DESKTOPS: Final = ("DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY")
_SENDMAIL: Final = ("/usr/sbin", "/usr/lib")


def sentence(root: Path, *, overdue: bool) -> str:
    """Return what a person is told."""
    what = "No night ended well for more than a day and a half" if overdue else "The last night did not end well"
    return f"{what} for the memory in {_shown(root)}. `curate status` says how it stands, `curate doctor` what to do."


def tell(text: str) -> str:
    """Tell a person, and return how (`notify-send`, `osascript`, `mail`, `sendmail`); empty where there was no way."""
    for name, words, data in _ways(text):
        if call(words, data).code == 0:
            return name
    return ""


def _ways(text: str) -> list[tuple[str, tuple[str, ...], str]]:
    ways: list[tuple[str, tuple[str, ...], str]] = []
    if any(os.environ.get(name) for name in _DESKTOPS):
        ways.append(("notify-send", ("notify-send", "--app-name", TITLE, "--urgency=critical", "--", TITLE, text), ""))
    if sys.platform == "darwin":
        script = 'on run told\ndisplay notification (item 1 of told) with title "memcurate"\nend run'
        ways.append(("osascript", ("osascript", "-e", script, text), ""))
    user = _user()
    ways.append(("mail", ("mail", "-s", f"{TITLE}: a night did not end well", user), f"{text}\n"))
    letter = f"To: {user}\nSubject: {TITLE}: a night did not end well\n\n{text}\n"
    ways.append(("sendmail", (_sendmail(), "-i", user), letter))
    return [way for way in ways if shutil.which(way[1][0])]


def _sendmail() -> str:
    """Return the program; it lies where a user's PATH seldom leads."""
    return shutil.which("sendmail", path=os.pathsep.join((os.environ.get("PATH", ""), *_SENDMAIL))) or "sendmail"


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return str(os.getuid())


def _shown(root: Path) -> str:
    return plain_line(str(root))
