"""The days that a text may mean: `2026-04-01`, `1.4.`, `tomorrow`, `Friday`, `in three weeks`.

It is read generously: a weekday may be the one before or after the log's day.
"""

from __future__ import annotations

import calendar
import re
from datetime import date, timedelta
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator


# ---------------------------------------- numbers in words


_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_UNITS_OF_TEN = "one two three four five six seven eight nine".split()
_WORDS: dict[str, int] = {
    **{
        word: value
        for first, some in (
            (0, "zero one two three four five six seven eight nine ten eleven twelve"),
            (13, "thirteen fourteen fifteen sixteen seventeen eighteen nineteen"),
            (3, "third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"),
            (2, "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf"),
        )
        for value, word in enumerate(some.split(), first)
    },
    **{word: 20 + 10 * at for at, word in enumerate(_TENS)},
    **{
        f"{tens}{joint}{word}": 20 + 10 * at + value
        for at, tens in enumerate(_TENS)
        for value, word in enumerate(_UNITS_OF_TEN, 1)
        for joint in "- "
    },
    "a dozen": 12,
    "dozen": 12,
}  # fmt: skip
_IN_WORDS = "|".join(sorted(_WORDS, key=len, reverse=True))
# The longest first: "twenty-one" is not "twenty".
_NUMBER = rf"(?:\d{{1,6}}(?:\.\d{{1,3}})?|{_IN_WORDS})"


def _value_of(word: str) -> float:
    """Return the value of what `_NUMBER` matched; of `a` and `an`, one."""
    folded = word.casefold()
    if folded in {"a", "an"}:
        return 1
    return _WORDS[folded] if folded in _WORDS else float(folded)


_MONTHS = (
    "jan(?:uary|uar)?", "feb(?:ruary|ruar)?", "mar(?:ch)?|märz", "apr(?:il)?", "(?-i:Ma[yi])", "jun[ei]?", "jul[yi]?",
    "aug(?:ust)?", "sept?(?:ember)?", "o[ck]t(?:ober)?", "nov(?:ember)?", "de[cz](?:ember)?",
)  # fmt: skip
_WEEKDAYS = (
    "mon(?:day)?|montag", "tue(?:s(?:day)?)?|dienstag", "wed(?:nesday)?|mittwoch", "thu(?:rs(?:day)?)?|donnerstag",
    "fri(?:day)?|freitag", "sat(?:urday)?|samstag|sonnabend", "sun(?:day)?|sonntag",
)  # fmt: skip
MONTH: Final = "|".join(f"(?:{month})" for month in _MONTHS)
_YEAR = r"(?:19|20)\d\d"
_TH = r"(?:st|nd|rd|th|\.)?"
_FLAGS = re.IGNORECASE
# Forms that are certainly dates, with the groups y, m and d as far as given.
_SURE = (
    re.compile(rf"\b(?P<y>{_YEAR})[-/.](?P<m>\d\d?)[-/.](?P<d>\d\d?)(?!\d)"),
    re.compile(rf"\b(?P<y>{_YEAR})-(?P<m>0[1-9]|1[0-2])(?![\d-])"),
    re.compile(rf"\b(?P<d>\d\d?){_TH}\s+(?:of\s+)?(?P<m>{MONTH})\b\.?(?:,?\s+(?P<y>{_YEAR})\b)?", _FLAGS),
    re.compile(
        rf"\b(?P<m>{MONTH})\b\.?\s+(?P<d>\d\d?)(?:st|nd|rd|th)?(?![\d:.]\d|\d)(?:,?\s+(?P<y>{_YEAR})\b)?", _FLAGS
    ),
    re.compile(rf"\b(?P<m>{MONTH})\b\.?,?\s+(?P<y>{_YEAR})\b", _FLAGS),
    re.compile(r"(?<![\d.])(?P<d>\d\d?)\.(?P<m>\d\d?)\.(?P<y>(?:19|20)\d\d)\b"),
    re.compile(r"(?<![\d/])(?P<a>\d\d?)/(?P<b>\d\d?)/(?P<y>(?:19|20)\d\d)\b"),
)
# Forms that may be something else; they count as dates in evidence, but not in an item.
_LIKELY = (
    re.compile(r"(?<![\d.])(?P<d>\d\d?)\.(?P<m>\d\d?)\.(?!\d)"),
    re.compile(r"(?<![\d/.])(?P<a>\d\d?)/(?P<b>\d\d?)(?![\d/])"),
    re.compile(r"\b(?P<m>may)\s+(?P<d>\d\d?)(?:st|nd|rd|th)?\b"),
    re.compile(r"\b(?P<d>\d\d?)(?:st|nd|rd|th)?\s+(?P<m>may)\b"),
)
_LAST = rf"(?=\d\d?{_TH}\s+(?:of\s+)?(?P<m>{MONTH})\b(?:,?\s+(?P<y>{_YEAR})\b)?)"
_FIRST = re.compile(rf"\b(?P<d>\d\d?){_TH}\s*(?:[-–]|to|and)\s*{_LAST}", _FLAGS)  # of `9 to 11 March 2027`
_DAY_ALONE = re.compile(
    rf"(?:\b(\d\d?)(?:st|nd|rd|th)\b|\b(?:am|ab|bis|vom|zum) (\d\d?)\.(?!\d))(?!\s+(?:of\s+)?(?:{MONTH})\b)", _FLAGS
)


_Written = tuple[str, int, list[tuple[int, int]]]
"""A date as written: its words, year, and month and day (two readings for 3/4/2026); 0 if not given."""


def known_days(text: str, log_day: date) -> frozenset[date]:
    """Return every day that `text`, written on `log_day`, can mean."""
    near = (log_day.year - 1, log_day.year, log_day.year + 1)
    days: set[date] = set(_relative(text, log_day))
    named = (("this month", 0), ("next month|nächsten monat", 1), ("last month", -1))
    months = {_months_on(log_day, off) for words, off in named if _names(words, text)}
    for _, given_year, readings in _written(text, (_FIRST, *_SURE, *_LIKELY)):
        for month, day in readings:
            for year in (given_year,) if given_year else near:
                months |= {(year, month)} if 1 <= month <= 12 else set()  # noqa: PLR2004  months of a year
                days |= _days(year, month, day)
    for found in re.finditer(rf"\b({MONTH}|may)\b", text, _FLAGS):
        months |= {(year, _month(found[1])) for year in near}
    for found in _DAY_ALONE.finditer(text):  # of this month or an adjacent one, or of a month that is named
        for year, month in {*months, *(_months_on(log_day, off) for off in (-1, 0, 1))}:
            days |= _days(year, month, int(found[1] or found[2]))
    for found in re.finditer(r"\bQ([1-4])\b", text):  # a quarter ends with its third month
        months |= {(year, 3 * int(found[1])) for year in near}
    if _names("end of|month'?s end|by the end", text):
        ending = {*months, (log_day.year, log_day.month), (log_day.year, 12)}
        days |= {date(year, month, calendar.monthrange(year, month)[1]) for year, month in ending}
    return frozenset(days)


def without_dates(text: str) -> str:
    """Return `text` with each certain date blanked, so that its digits do not count as numbers."""
    for form in _SURE:
        text = form.sub(" ", text)
    return text


def _names(words: str, text: str) -> bool:
    return re.search(rf"\b(?:{words})\b", text, _FLAGS) is not None


def _written(text: str, forms: tuple[re.Pattern[str], ...]) -> Iterator[_Written]:
    for form in forms:
        for found in form.finditer(text):
            parts = found.groupdict()
            if "a" in parts:
                one, other = int(parts["a"]), int(parts["b"])
                readings = [(one, other), (other, one)]
            else:
                readings = [(_month(parts["m"]), int(parts.get("d") or 0))]
            yield found[0].strip(), int(parts.get("y") or 0), readings
        text = form.sub(lambda found: " " * len(found[0]), text)


def _days(year: int, month: int, day: int) -> set[date]:
    try:
        return {date(year, month, day)}
    except ValueError:
        return set()


def _month(word: str) -> int:
    return int(word) if word.isdigit() else 1 + _place_in(_MONTHS, word)


def _place_in(forms: tuple[str, ...], word: str) -> int:
    return next(at for at, names in enumerate(forms) if re.fullmatch(names, word.capitalize(), _FLAGS))


# ---------------------------------------- days relative to the log's


_OFFSETS = (
    ("today|tonight|this (?:morning|afternoon|evening)|heute", 0),
    ("tomorrow|morgen", 1),
    ("day after tomorrow|übermorgen", 2),
    ("yesterday|last night|gestern", -1),
    ("day before yesterday|vorgestern", -2),
    ("next week|nächste woche", 7),
    ("last week", -7),
    ("fortnight", 14),
)
_WEEKS = (("next week|nächste woche", 1), ("last week", -1), ("this week|the week|weekend", 0))
_SPAN = re.compile(rf"\b(?P<n>{_NUMBER}|an?)[\s-]+(?P<unit>day|week|month|year|tage?n?|wochen?)s?\b", _FLAGS)
_FARTHEST = 5000  # no date in a memory is that far off


def _relative(text: str, day: date) -> Iterator[date]:
    yield from (day + timedelta(off) for words, off in _OFFSETS if _names(words, text))
    for found in _SPAN.finditer(text):
        number = _value_of(found["n"])
        if number <= _FARTHEST and number == int(number):
            for count in (int(number), -int(number)):
                yield from _moved(day, count, found["unit"].lower())
    for at, names in enumerate(_WEEKDAYS):
        if named := re.search(rf"(?:\b(next|last)\s+)?\b(?:{names})s?\b", text, _FLAGS):
            near = (day + timedelta(off) for off in (range(-14, 15) if named[1] else range(-6, 8)))
            yield from (one for one in near if one.weekday() == at)
    for words, weeks in _WEEKS:
        if _names(words, text):
            yield from (day + timedelta(7 * weeks - day.weekday() + off) for off in range(7))


def _moved(day: date, count: int, unit: str) -> Iterator[date]:
    """Yield the day a number of days, weeks, months or years later."""
    if unit.startswith(("day", "tag")):
        yield day + timedelta(count)
    elif unit.startswith(("week", "woche")):
        yield day + timedelta(7 * count)
    else:
        year, month = _months_on(day, count * (12 if unit.startswith("year") else 1))
        if 1 <= year <= 9998:  # noqa: PLR2004  the range of `date`
            yield date(year, month, min(day.day, calendar.monthrange(year, month)[1]))


def _months_on(day: date, count: int) -> tuple[int, int]:
    year, month = divmod(day.year * 12 + day.month - 1 + count, 12)
    return year, month + 1
