"""launchd: a property list among the person's agents."""

from __future__ import annotations

import os
import plistlib
from typing import TYPE_CHECKING, Final
from xml.sax.saxutils import escape

from pipelines.install.filling import USUAL, clock, fill, plain
from pipelines.install.nights import Found, keys_file, search_path, unknown_at_night
from pipelines.install.plan import Edit, Plan

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.install.plan import Asked

LABEL: Final = "memcurate"
_PLACE: Final = "Library/LaunchAgents/memcurate.plist"
_MEMORY_AT: Final = 4


def plan_launchd(asked: Asked, *, adding: bool) -> Plan:
    """Return what to do to have launchd start a run every night, or to have none any more.

    Raises:
        UsageFault: no such time, or a path that cannot stand in a property list.
    """
    file = asked.home / _PLACE
    domain = f"gui/{os.getuid()}"
    remove = ("launchctl", "bootout", f"{domain}/{LABEL}")
    if not adding:
        return Plan((Edit(file, lambda _: ""),), before=(remove,))
    text = property_list(asked)
    notes = ["A Mac that slept makes up for the night when it wakes; one that was off curates the next night."]
    if asked.zone:
        notes.append(f"launchd's time is the machine's; this memory's days are cut in {asked.zone}.")
    notes += unknown_at_night(asked.home)
    known = (remove,) if file.exists() else ()
    return Plan(
        (Edit(file, lambda _: text),),
        tuple(notes),
        before=known,
        after=(("launchctl", "bootstrap", domain, str(file)),),
    )


def found_in_launchd(asked: Asked) -> Found | None:
    """Return what stands among the person's agents."""
    file = asked.home / _PLACE
    try:
        told = plistlib.loads(file.read_bytes())
        words, when = told["ProgramArguments"], told["StartCalendarInterval"]
        time = f"{int(when['Hour']):02}:{int(when['Minute']):02}"
        ours = words[_MEMORY_AT] == str(asked.program.root)
    except OSError:
        return None
    except (ValueError, LookupError, TypeError, plistlib.InvalidFileException):
        return Found("launchd", str(file), "", "", ours=False, enabled=None)
    return Found("launchd", str(file), time, "", ours, enabled=None)


def property_list(asked: Asked) -> str:
    """Return the text of the property list.

    Raises:
        UsageFault: no such time, or a path that cannot stand in it.
    """
    before = found_in_launchd(asked)
    hour, minute = clock(asked.time or (before.time if before else "") or USUAL)
    return fill(
        "memcurate.plist",
        {
            "<integer>2</integer>": f"<integer>{hour}</integer>",
            "<integer>0</integer>": f"<integer>{minute}</integer>",
            "<string>/Users/YOU/.config/memcurate/environment</string>": _string(keys_file(asked.home)),
            "<string>/Users/YOU/memory</string>": _string(asked.program.root),
            "<string>/Users/YOU/.local/bin/curate</string>": "\n\t\t".join(map(_string, asked.program.words)),
            "<string>/opt/homebrew/bin:/usr/local/bin:/usr/bin:/bin</string>": _string(search_path()),
            "<string>/Users/YOU/Library/Logs/memcurate.log</string>": _string(
                asked.home / "Library/Logs/memcurate.log"
            ),
        },
    )


def _string(text: str | Path) -> str:
    return f"<string>{escape(plain(text))}</string>"
