"""One line on the memory's health: a night that did not happen, or did not end well, is seen at the next start."""

from __future__ import annotations

import os
import time

from pipelines.queries.startup.read import read_head

OVERDUE_HOURS = 36
"""After so many hours a night was missed: one a day, and half a day for a machine that was asleep."""
_AHEAD_SECONDS = 3600


def health_line(root: str, review: str, now: float, queue: str = "Review.md") -> str:
    """Return a sentence or two: the last run and how it ended, what waits for review, whether a night is overdue.

    Args:
        root: the memory.
        review: the text of Review.md.
        now: seconds since 1970.
        queue: where that file stands.
    """
    told = [_last_run(root, now)]
    if waiting := review.count("<!-- review "):
        told.append(f"{waiting} {'entry waits' if waiting == 1 else 'entries wait'} for a person in {queue}.")
    return f"Memory health: {' '.join(told)}"


def _last_run(root: str, now: float) -> str:
    report = _newest_report(root)
    when = _value(report, "now")
    ended = moment_of(when)
    if report and (ended is None or (now - ended) / 3600 <= OVERDUE_HOURS):
        return f"last run {when[:16].replace('T', ' ')}, {_ending(report)}."
    there = _newest_elsewhere(root, now)
    told = f"last run {when[:16].replace('T', ' ')}, {_ending(report)}." if report else ""
    if there is not None and (ended is None or there > ended):
        shown = time.strftime("%Y-%m-%d %H:%M", time.gmtime(there))
        told = f"{told} Another machine's night: {shown} UTC.".lstrip()
        ended = there
    if ended is not None and (hours := (now - ended) / 3600) > OVERDUE_HOURS and report:
        told += f" Curation is overdue: that was {_long_ago(hours)} ago; run `curate run`, then see `curate status`."
    return told or "no run yet; `curate run` makes the first."


def _newest_elsewhere(root: str, now: float) -> float | None:
    """Return when another machine ran a night, up to now; None where none did, or the memory is shared with none.

    It takes time, and so is asked only where this machine's own nights are late.
    """
    if not any(os.path.isdir(f"{root}/{folder}") for folder in (".git/refs/remotes", ".curate/remote.git")):
        return None
    from pathlib import Path

    from pipelines.store.git_history import nights_elsewhere

    known = {name.removesuffix(".json") for name in _names(root)}
    told = [when.timestamp() for when in nights_elsewhere(Path(root), known)]
    return max((when for when in told if when <= now + _AHEAD_SECONDS), default=None)


def _ending(report: str) -> str:
    if '\n "error":' in report:
        import json  # a failure may take its time

        told = json.loads(report)["error"] or {}
        return f"failed: {str(told.get('sentence') or 'see `curate runs`').strip().rstrip('.')}"
    if _value(report, "exit_code") not in {"", "0"}:
        return "left something pending; `curate runs` says what"
    return "ended well"


def _value(report: str, key: str) -> str:
    """Return a value at the top of a report, which a run writes with one key a line, indented by one blank."""
    return report.partition(f'\n "{key}": ')[2].partition("\n")[0].rstrip(",").strip('"')


def _long_ago(hours: float) -> str:
    return f"{int(hours // 24)} days" if hours >= 2 * 24 else f"{int(hours)} hours"


def _newest_report(root: str) -> str:
    """Return the text of the newest report that is whole, or an empty string."""
    names = sorted(_names(root), reverse=True)
    for name in names[:5]:
        try:
            found = read_head(root, f".curate/runs/{name}", 1 << 20)
        except (OSError, ValueError):
            continue
        if found.startswith("{\n") and found.rstrip().endswith("}") and _value(found, "now"):
            return found
    return ""


def _names(root: str) -> list[str]:
    try:
        return [name for name in os.listdir(f"{root}/.curate/runs") if name.endswith(".json")]
    except OSError:
        return []


def moment_of(text: str) -> float | None:
    """Return an ISO moment (`2026-03-18T02:00:00+01:00`) as seconds since 1970, or None; no offset means Greenwich."""
    try:
        year, month, day = int(text[:4]), int(text[5:7]), int(text[8:10])
        hour, minute, second = int(text[11:13]), int(text[14:16]), int(text[17:19])
        zone = text[19:].removesuffix("Z")
        east = (int(zone[1:3]) * 3600 + int(zone[4:6]) * 60) * (-1 if zone[0] == "-" else 1) if zone else 0
    except (ValueError, IndexError):
        return None
    return float(days_from_civil(year, month, day) * 86400 + hour * 3600 + minute * 60 + second - east)


def days_from_civil(year: int, month: int, day: int) -> int:
    """Return a date of the Gregorian calendar as days since 1970-01-01 (Hinnant, chrono-compatible low-level dates)."""
    year -= month <= 2  # noqa: PLR2004  years are counted from March, so that February is the last month
    era = year // 400
    of_era = year - era * 400
    of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468


def day_text(number: int) -> str:
    """Return a day, counted from 1970-01-01, as `YYYY-MM-DD`."""
    return time.strftime("%Y-%m-%d", time.gmtime(number * 86400))
