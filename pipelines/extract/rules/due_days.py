"""The day by which a todo is owed, as labels, plugins and updates tell it."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

from pipelines.store.item import ItemType
from pipelines.text import stated_due

if TYPE_CHECKING:
    from pipelines.store.item import Item


_DUE = re.compile(
    r"(?P<inside>\()?\b(?:due:?|by)(?: on)? (?P<day>\d{4}-\d\d-\d\d|tomorrow"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|(?:\d{1,2}(?:st|nd|rd|th)? [a-z]{3,9}|[a-z]{3,9} \d{1,2}(?:st|nd|rd|th)?)(?:,? \d{4})?)(?(inside)\))[.!]?$",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d+")
_DAY_FORMS = ("%Y-%m-%d", "%d %B %Y", "%B %d %Y", "%d %b %Y", "%b %d %Y")
_MARKS = re.compile(r"[ ]?(?:[➕✅❌]\ufe0f?[ ]?\d{4}-\d\d-\d\d|[🔺⏫🔼🔽⏬]\ufe0f?(?=[ ]|$)|(?<=[ ])\^[\w-]+$)")


def due_of(text: str, log_day: str) -> tuple[str, str]:
    """Return a todo's text, and the due day that it ends with (`by Friday`, `by 12 May`), or an empty string.

    A day without a year is the next one from the log's day on. A due day in brackets, or in a field of the Tasks
    plugin, leaves the text, as do that plugin's other marks and a block's id.
    """
    text, stated = stated_due(_MARKS.sub("", text))
    if stated:
        return text.strip(), stated
    found = _DUE.search(text)
    day = _day_after(found["day"].lower(), log_day) if found else ""
    if not found or not day:
        return text, ""
    return text[: found.start()].rstrip() if found["inside"] else text, day


def due_after(old: Item, text: str, log_day: str) -> str:
    """Return the due day of an updated item: the one that its new text ends with, or the old one.

    If the new text lacks the old one's number, only another number in its place tells the new day.

    Args:
        old: the item; only a todo is due.
        text: its new sentence.
        log_day: the day of the log that says so.
    """
    told = due_of(text, log_day)[1] if old.type is ItemType.TODO else ""
    if told or not old.due:
        return told
    day, (was, now) = date.fromisoformat(old.due), (_NUMBER.findall(one) for one in (old.text, text))
    if (number := str(day.day)) not in was or number in now:
        return old.due
    with suppress(ValueError):
        if len(now) == len(was) and _NUMBER.sub("", old.text) == _NUMBER.sub("", text):
            return day.replace(day=int(now[was.index(number)])).isoformat()
    return ""


def _day_after(words: str, log_day: str) -> str:
    """Return the day that words mean on a day, `YYYY-MM-DD`, or an empty string.

    On a Friday, "Friday" may be either of two days.
    """
    today = date.fromisoformat(log_day)
    near = {f"{one:%A}".lower(): one for one in (today + timedelta(ahead) for ahead in range(1, 7))}
    near["tomorrow"] = today + timedelta(1)
    if words in near:
        return near[words].isoformat()
    plain = re.sub(r"(?<=\d)(?:st|nd|rd|th)\b|,", "", words)
    for form in _DAY_FORMS:
        for year in ("", f" {today.year}", f" {today.year + 1}"):
            with suppress(ValueError):
                day = datetime.strptime(f"{plain}{year}", form).date()  # noqa: DTZ007  a day, of the memory's own time
                if not year or day >= today:
                    return day.isoformat()
    return ""
