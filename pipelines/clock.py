"""Time: each command takes the time once, and days are days in the memory's time zone."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from pipelines.errors import UsageFault

if TYPE_CHECKING:
    from pipelines.settings import Settings

DAY_ADVICE = 'Write 2026-04-09, "9 Apr", today, yesterday, Monday, "3 days ago", "last week" or 2026-04.'
_WEEK = timedelta(days=7)
_AGO = re.compile(r"(an?|\d{1,4}) (day|week)s? ago")
_DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_FORMS = ("%d %b %Y", "%d %B %Y", "%b %d %Y", "%B %d %Y")


def moment(text: str | None, settings: Settings) -> datetime:
    """Return the time at which a command acts, in the memory's time zone.

    Args:
        text: the value of `--now` (ISO 8601; in the memory's zone unless it has an offset), or None for the real clock.
        settings: the memory's settings, for the time zone.

    Raises:
        UsageFault: `text` is not an ISO 8601 time.
    """
    zone = ZoneInfo(settings.timezone)
    if text is None:
        return datetime.now(UTC).astimezone(zone)
    try:
        named = datetime.fromisoformat(text)
    except ValueError:
        raise UsageFault(f"--now {text} is not an ISO 8601 time.", "Write it like 2026-03-18T02:00.") from None
    return named.replace(tzinfo=zone) if named.tzinfo is None else named.astimezone(zone)


def day_of(now: datetime, settings: Settings) -> str:
    """Return the memory's day at `now`. Until `day_end`, the night belongs to the day before."""
    end = time.fromisoformat(settings.day_end)
    local = now.replace(tzinfo=None) - timedelta(hours=end.hour, minutes=end.minute)
    return local.date().isoformat()


def span_of(when: str, today: str) -> tuple[str, str]:
    """Return the first and the last day that words mean: by no words the seven days up to today.

    Args:
        when: a day (2026-04-09, "9 Apr", today, yesterday, a weekday, "3 days ago"), a month (2026-04), or `this` or
            `last` `week` or `month`. A week begins on Monday; a day without a year is the latest that is not to come.
        today: the memory's day.

    Raises:
        UsageFault: they mean no days.
    """
    words, now = " ".join(when.casefold().split()), date.fromisoformat(today)
    monday, first = now - timedelta(days=now.weekday()), now.replace(day=1)
    before = first - timedelta(days=1)
    spans = {
        "": (now - _WEEK + timedelta(days=1), now),
        "this week": (monday, now),
        "last week": (monday - _WEEK, monday - timedelta(days=1)),
        "this month": (first, now),
        "last month": (before.replace(day=1), before),
    }
    try:
        if re.fullmatch(r"\d{4}-\d\d", words):
            begin = date.fromisoformat(f"{words}-01")
            spans[words] = (begin, (begin.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1))
        since, until = spans.get(words) or (_day_meant(words, now),) * 2
    except (ValueError, OverflowError):
        raise UsageFault(f"“{when}” is not a day.", DAY_ADVICE) from None
    return since.isoformat(), until.isoformat()


def _day_meant(words: str, now: date) -> date:
    """Return the one day that words mean, or raise a ValueError."""
    if words in {"today", "yesterday", "tomorrow"}:
        return now + timedelta(days=("yesterday", "today", "tomorrow").index(words) - 1)
    if ago := _AGO.fullmatch(words):
        count = int(ago[1]) if ago[1].isdecimal() else 1
        return now - count * (_WEEK if ago[2] == "week" else timedelta(days=1))
    if (name := words.removeprefix("last ")) in _DAYS:
        back = (now.weekday() - _DAYS.index(name)) % 7
        return now - (_WEEK if not back and name != words else timedelta(days=back))
    for form in _FORMS:
        for year in ("", f" {now.year}", f" {now.year - 1}"):
            try:
                found = datetime.strptime(f"{words}{year}", form).date()  # noqa: DTZ007  a day has no zone
            except ValueError:
                continue
            if not year or found <= now:
                return found
    return date.fromisoformat(words)


def day_words(day: str, today: date) -> str:
    """Return a day (YYYY-MM-DD) as people say it on `today`; any other text comes back unchanged.

    That is today, yesterday, tomorrow, "in 11 days" within two weeks, and otherwise "12 Mar", with the year unless it
    is the current one. `span_of` reads all of these that are past.
    """
    try:
        one = date.fromisoformat(day)
    except ValueError:
        return day
    ago = (today - one).days
    if -1 <= ago <= 1:
        return ("tomorrow", "today", "yesterday")[ago + 1]
    if ago in range(-13, -1):
        return f"in {-ago} days"
    return f"{one.day} {one:%b}{f' {one.year}' if one.year != today.year else ''}"


def system_zone() -> str:
    """Return the IANA name of the system's time zone, or UTC if it is unknown."""
    from tzlocal import get_localzone_name  # noqa: PLC0415  only `curate init` asks

    try:
        return get_localzone_name() or "UTC"
    except (LookupError, ValueError, OSError):
        return "UTC"
