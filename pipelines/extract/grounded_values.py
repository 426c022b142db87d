"""The days that a text tells: `2026-04-01`, `April 1st`, `1.4.`, `tomorrow`, `in two weeks`, `Friday`.

What evidence may mean is read generously (a weekday is the one before and the one after the log's day), what an item
says strictly: it is to give absolute dates, and each must be a day that its evidence may mean.
"""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


# ---------------------------------------- numbers in words


_SMALL: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
_TENS: Final = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_ORDINALS: Final = "third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split()
_GERMAN: Final = "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf".split()
SCALES: Final = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9}

WORDS: Final[dict[str, int]] = {
    **{word: value for value, word in enumerate(_SMALL)},
    **{word: 20 + 10 * at for at, word in enumerate(_TENS)},
    **{
        f"{tens}{joint}{word}": 20 + 10 * at + value
        for at, tens in enumerate(_TENS)
        for value, word in enumerate(_SMALL[1:10], 1)
        for joint in "- "
    },
    **{word: value for value, word in enumerate(_ORDINALS, 3)},
    **{word: value for value, word in enumerate(_GERMAN, 2)},
    "a dozen": 12,
    "dozen": 12,
}
# The longest first: "twenty-one" is not "twenty".
NUMBER: Final = r"(?:\d{1,6}(?:\.\d{1,3})?|" + "|".join(sorted(WORDS, key=len, reverse=True)) + ")"


def value_of(word: str) -> float:
    """Return the value of what `NUMBER` matched; of `a` and `an`, one."""
    folded = word.casefold()
    if folded in {"a", "an"}:
        return 1
    return WORDS[folded] if folded in WORDS else float(folded)


_MONTHS: Final = (
    "jan(?:uary|uar)?", "feb(?:ruary|ruar)?", "mar(?:ch)?|märz", "apr(?:il)?", "(?-i:Ma[yi])", "jun[ei]?", "jul[yi]?",
    "aug(?:ust)?", "sept?(?:ember)?", "o[ck]t(?:ober)?", "nov(?:ember)?", "de[cz](?:ember)?",
)  # fmt: skip
_WEEKDAYS: Final = (
    "mon(?:day)?|montag", "tue(?:s(?:day)?)?|dienstag", "wed(?:nesday)?|mittwoch", "thu(?:rs(?:day)?)?|donnerstag",
    "fri(?:day)?|freitag", "sat(?:urday)?|samstag|sonnabend", "sun(?:day)?|sonntag",
)  # fmt: skip
_MONTH: Final = "|".join(f"(?:{month})" for month in _MONTHS)
_YEAR: Final = r"(?:19|20)\d\d"
_TH: Final = r"(?:st|nd|rd|th|\.)?"
_FLAGS: Final = re.IGNORECASE
# Forms that are dates and nothing else; each has the groups y, m, d as far as it tells them.
_SURE: Final = (
    re.compile(rf"\b(?P<y>{_YEAR})[-/.](?P<m>\d\d?)[-/.](?P<d>\d\d?)(?!\d)"),
    re.compile(rf"\b(?P<y>{_YEAR})-(?P<m>0[1-9]|1[0-2])(?![\d-])"),
    re.compile(rf"\b(?P<d>\d\d?){_TH}\s+(?:of\s+)?(?P<m>{_MONTH})\b\.?(?:,?\s+(?P<y>{_YEAR})\b)?", _FLAGS),
    re.compile(
        rf"\b(?P<m>{_MONTH})\b\.?\s+(?P<d>\d\d?)(?:st|nd|rd|th)?(?![\d:.]\d|\d)(?:,?\s+(?P<y>{_YEAR})\b)?", _FLAGS
    ),
    re.compile(rf"\b(?P<m>{_MONTH})\b\.?,?\s+(?P<y>{_YEAR})\b", _FLAGS),
    re.compile(r"(?<![\d.])(?P<d>\d\d?)\.(?P<m>\d\d?)\.(?P<y>(?:19|20)\d\d)\b"),
    re.compile(r"(?<![\d/])(?P<a>\d\d?)/(?P<b>\d\d?)/(?P<y>(?:19|20)\d\d)\b"),
)
# Forms that may be something else; evidence may mean a date by them, an item says none by them.
_LIKELY: Final = (
    re.compile(r"(?<![\d.])(?P<d>\d\d?)\.(?P<m>\d\d?)\.(?!\d)"),
    re.compile(r"(?<![\d/.])(?P<a>\d\d?)/(?P<b>\d\d?)(?![\d/])"),
    re.compile(r"\b(?P<m>may)\s+(?P<d>\d\d?)(?:st|nd|rd|th)?\b"),
    re.compile(r"\b(?P<d>\d\d?)(?:st|nd|rd|th)?\s+(?P<m>may)\b"),
    re.compile(rf"\b(?P<d>\d\d?){_TH}\s*(?:[-–]|to|and)\s*\d\d?{_TH}\s+(?:of\s+)?(?P<m>{_MONTH})\b", _FLAGS),
)
_ALONE: Final = re.compile(
    r"\b(?:January|February|March|April|May|June|July|August|September|October|November|December)\b"
)
_NAMED_DAY: Final = re.compile(r"\b(?P<name>(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)(?P<many>s)?\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ToldDates:
    """What a text may mean: single days, whole months, years, the weekdays it names, and whether it says `today`."""

    days: frozenset[date]
    months: frozenset[tuple[int, int]]
    years: frozenset[int]
    weekdays: frozenset[int]
    today: bool


@dataclass(frozen=True, slots=True)
class _Said:
    """A date as it is written; what is not told is 0. `turned` is the other reading of 3/4/2026."""

    words: str
    year: int
    month: int
    day: int
    turned: tuple[int, int] | None = None


def told_dates(text: str, log_day: date) -> ToldDates:
    """Return every day that `text`, written on `log_day`, may mean."""
    days: set[date] = set(_relative(text, log_day)) | set(_ordinals(text, log_day))
    months: set[tuple[int, int]] = set(_relative_months(text, log_day))
    for said in _said(text, (*_SURE, *_LIKELY)):
        for month, day in {(said.month, said.day), said.turned or (said.month, said.day)}:
            for year in (said.year,) if said.year else (log_day.year - 1, log_day.year, log_day.year + 1):
                months |= {(year, month)} if 1 <= month <= 12 else set()  # noqa: PLR2004  months of a year
                days |= _days(year, month, day) if day else set()
    for found in re.finditer(rf"\b({_MONTH}|may)\b", text, _FLAGS):
        months |= {(log_day.year + off, _month(found[1])) for off in (-1, 0, 1)}
    if re.search(r"\bend of\b|\bmonth'?s end\b|\bby the end\b", text, _FLAGS):
        days |= {_last_day(*month) for month in months} | {_last_day(log_day.year, log_day.month)}
        days |= {date(log_day.year, 12, 31)}
    weekdays = {at for at, names in enumerate(_WEEKDAYS) if re.search(rf"\b(?:{names})s?\b", text, _FLAGS)}
    years = {int(year) for year in re.findall(rf"(?<!\d){_YEAR}(?!\d)", text)}
    years |= {day.year for day in days} | {log_day.year}
    today = bool(re.search(r"\b(?:today|tonight|now|this (?:morning|afternoon|evening)|heute)\b", text, _FLAGS))
    return ToldDates(frozenset(days), frozenset(months), frozenset(years), frozenset(weekdays), today)


def unproven_dates(text: str, told: ToldDates, log_day: date) -> list[str]:
    """Return the dates, months and weekdays of an item's text that its evidence does not tell, in its own words.

    The day of the log itself is a right answer where the evidence tells no other, says today, or where the item gives
    the other one, too.
    """
    said = list(_said(text, _SURE))
    wrong = [one.words for one in said if not _is_told(one, told) and not _is_day(one, log_day)]
    on_the_day = [one.words for one in said if _is_day(one, log_day) and not _is_told(one, told)]
    if told.days and not told.today and len(said) == len(on_the_day):
        wrong += on_the_day
    rest = without_dates(text)
    for found in _ALONE.finditer(rest):
        month = _month(found[0])
        said_there = any(month == one for _, one in told.months) or any(day.month == month for day in told.days)
        if not said_there and not (found[0] == "May" and found.start() == 0):
            wrong.append(found[0])
    shown = {log_day} if any(_is_day(one, log_day) for one in said) else set()
    for found in _NAMED_DAY.finditer(rest):
        weekday = _weekday(found["name"])
        near = set() if found["many"] else {day.weekday() for day in (told.days | shown)}
        if weekday not in told.weekdays | near:
            wrong.append(found[0])
    return wrong


def without_dates(text: str) -> str:
    """Return `text` with a blank for each date that is one for sure, so that its digits are no numbers."""
    for form in _SURE:
        text = form.sub(" ", text)
    return text


def _said(text: str, forms: tuple[re.Pattern[str], ...]) -> Iterator[_Said]:
    for form in forms:
        for found in form.finditer(text):
            parts = found.groupdict()
            year = int(parts.get("y") or 0)
            if "a" in parts:
                first, second = int(parts["a"]), int(parts["b"])
                yield _Said(found[0], year, first, second, (second, first))
            else:
                yield _Said(found[0].strip(), year, _month(parts["m"]), int(parts.get("d") or 0))
        text = form.sub(lambda found: " " * len(found[0]), text)


def _is_told(said: _Said, told: ToldDates) -> bool:
    readings = {(said.month, said.day), said.turned or (said.month, said.day)}
    if not said.day:
        in_days = any((day.year, day.month) == (said.year, said.month) for day in told.days)
        return in_days or (said.year, said.month) in told.months
    return any((day.month, day.day) in readings and said.year in {0, day.year} for day in told.days)


def _is_day(said: _Said, day: date) -> bool:
    readings = {(said.month, said.day), said.turned or (said.month, said.day)}
    return said.year in {0, day.year} and ((day.month, day.day) in readings or (said.month, said.day) == (day.month, 0))


# ---------------------------------------------------------------- relative to the log's day


def _relative(text: str, day: date) -> Iterator[date]:
    for words, off in _OFFSETS:
        if re.search(rf"\b(?:{words})\b", text, _FLAGS):
            yield day + timedelta(off)
    for found in _SPAN.finditer(text):
        number = value_of(found["n"])
        for sign in (1, -1):
            yield from _moved(day, sign * number, found["unit"].lower())
    for at, names in enumerate(_WEEKDAYS):
        if named := re.search(rf"(?:\b(next|last)\s+)?\b(?:{names})s?\b", text, _FLAGS):
            near = range(-14, 15) if named[1] else range(-6, 8)
            yield from (day + timedelta(off) for off in near if (day + timedelta(off)).weekday() == at)
    for words, weeks in (("next week|nächste woche", 1), ("last week", -1), ("this week|weekend", 0)):
        if re.search(rf"\b(?:{words})\b", text, _FLAGS):
            monday = day + timedelta(7 * weeks - day.weekday())
            yield from (monday + timedelta(off) for off in range(7))


_OFFSETS: Final = (
    ("today|tonight|this (?:morning|afternoon|evening)|heute", 0),
    ("tomorrow|morgen", 1),
    ("day after tomorrow|übermorgen", 2),
    ("yesterday|last night|gestern", -1),
    ("day before yesterday|vorgestern", -2),
    ("next week|nächste woche", 7),
    ("last week", -7),
    ("fortnight", 14),
)
_SPAN: Final = re.compile(rf"\b(?P<n>{NUMBER}|an?)[\s-]+(?P<unit>day|week|month|year|tage?n?|wochen?)s?\b", _FLAGS)


def _moved(day: date, number: float, unit: str) -> Iterator[date]:
    if abs(number) > 5000 or number != int(number):  # noqa: PLR2004  no date of a memory is so far off
        return
    count = int(number)
    if unit.startswith(("day", "tag")):
        yield day + timedelta(count)
    elif unit.startswith(("week", "woche")):
        yield day + timedelta(7 * count)
    else:
        months = day.year * 12 + day.month - 1 + count * (12 if unit.startswith("year") else 1)
        year, month = divmod(months, 12)
        if 1 <= year <= 9998:  # noqa: PLR2004  what a date can hold
            yield date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


def _relative_months(text: str, day: date) -> Iterator[tuple[int, int]]:
    for words, off in (("this month", 0), ("next month|nächsten monat", 1), ("last month", -1)):
        if re.search(rf"\b(?:{words})\b", text, _FLAGS):
            year, month = divmod(day.year * 12 + day.month - 1 + off, 12)
            yield year, month + 1


def _ordinals(text: str, day: date) -> Iterator[date]:
    """Yield what `the 15th` may mean: of this month, the next or the one before."""
    for found in re.finditer(r"\b(\d\d?)(?:st|nd|rd|th)\b", text, _FLAGS):
        for off in (-1, 0, 1):
            year, month = divmod(day.year * 12 + day.month - 1 + off, 12)
            yield from _days(year, month + 1, int(found[1]))


def _days(year: int, month: int, day: int) -> set[date]:
    try:
        return {date(year, month, day)}
    except ValueError:
        return set()


def _last_day(year: int, month: int) -> date:
    return date(year, month, calendar.monthrange(year, month)[1])


def _month(word: str) -> int:
    if word.isdigit():
        return int(word)
    return next(at for at, names in enumerate(_MONTHS, 1) if re.fullmatch(names, word.capitalize(), _FLAGS))


def _weekday(word: str) -> int:
    return next(at for at, names in enumerate(_WEEKDAYS) if re.fullmatch(names, word, _FLAGS))


# ---------------------------------------- the numbers
# versions and times of day that a text tells: `three` is 3, `1,000` is 1000, `4 pm` is 16:00.


_HALF = r"(?:\s*(?P<half>[ap])\.?m\b\.?)"
_TIME: Final = re.compile(
    rf"(?<![\d.:])(?P<h>[01]?\d|2[0-4]):(?P<m>[0-5]\d)(?::[0-5]\d)?(?![\d:]){_HALF}?", re.IGNORECASE
)
_HOUR: Final = re.compile(rf"(?<![\d.:])(?P<h>1[0-2]|0?[1-9]){_HALF}", re.IGNORECASE)
_NAMED_TIMES: Final = {"noon": 720, "midnight": 0}
# 1,000 and 1’000 and 1_000; a point there may be a decimal or a version, and stays.
_GROUPED: Final = re.compile(r"(?<![\w.,])\d{1,3}(?:[,'’_\u202f\u00a0]\d{3})+(?![\d,])")
_DECIMAL_COMMA: Final = re.compile(r"(?<=\d),(?=\d)")
_FIGURE: Final = re.compile(
    r"(?<![\w.])(?P<sign>(?<![^\s(=<>~:])[-−](?=[\d.]))?[vV]?(?P<n>\d+(?:\.\w+)*)(?P<unit>[^\W\d_]{0,12})(?![\w])"
    r"|(?<![\w.])[-−]?[$€£¥]\s?(?P<money>\d+(?:\.\d+)*)(?P<scale>[kKmM]?)\b"
)
_THOUSANDS: Final = {"k": 1000, "m": 10**6, "mio": 10**6, "bn": 10**9}
_WORD: Final = re.compile(r"\b(?:" + "|".join(sorted(WORDS, key=len, reverse=True)) + r")\b", re.IGNORECASE)
_ONE: Final = re.compile(r"\b(?:an?|one|once|single|sole|first)\b", re.IGNORECASE)
_TWO: Final = re.compile(r"\b(?:both|pair|couple|twice|second|double)\b", re.IGNORECASE)
_UNITS: Final = {
    "second": r"s|secs?|seconds?", "minute": r"min|mins|minutes?", "hour": r"h|hrs?|hours?", "day": r"d|days?|daily",
    "week": r"w|wks?|weeks?", "month": r"months?", "year": r"y|yrs?|years?", "%": r"%|percent|per cent",
    "MB": r"mb|mib|megabytes?", "GB": r"gb|gib|gigabytes?", "TB": r"tb|tib|terabytes?", "KB": r"kb|kib|kilobytes?",
    "ms": r"ms|milliseconds?",
}  # fmt: skip
_PAIR: Final = re.compile(
    rf"(?<![\w.])(?P<n>{NUMBER}|an?)[\s-]?(?P<unit>"
    + "|".join(f"(?:{forms})" for forms in _UNITS.values())
    + r")(?!\w)",
    re.IGNORECASE,
)
_SAME: Final = {
    "week": ("day", 7),
    "year": ("month", 12),
    "hour": ("minute", 60),
    "minute": ("second", 60),
    "day": ("hour", 24),
}
# Words for a number that often are none: "one of them", "a second look".
_LOOSE: Final = frozenset({"zero", "one"})


@dataclass(frozen=True, slots=True)
class ToldFigures:
    """What a text tells: numbers and versions as written, times in minutes, and (number, unit) pairs."""

    numbers: frozenset[str]
    times: frozenset[int]
    pairs: frozenset[tuple[float, str]]


def told_figures(text: str) -> ToldFigures:
    """Return every figure that `text` may mean."""
    times = {minutes for _, minutes in _times(text)} | set(_half_days(text))
    numbers = {number for _, number in _numbers(_plain(text))}
    numbers |= {str(minutes // 60) for minutes in times if minutes % 60 == 0}
    numbers |= {"1"} if _ONE.search(text) else set()
    numbers |= {"2"} if _TWO.search(text) else set()
    return ToldFigures(frozenset(numbers), frozenset(times), frozenset(_pairs(text)))


def unproven_figures(text: str, told: ToldFigures, years: Iterable[int] = ()) -> list[str]:
    """Return the figures of an item's text that its evidence does not tell, in its own words.

    Args:
        text: the item's sentence, without its dates.
        told: what the evidence tells.
        years: years that may be named.
    """
    wrong = [words for words, minutes in _times(text) if minutes not in told.times]
    pairs = list(_own_pairs(text))
    known = told.numbers | {str(year) for year in years} | {f"{pair[0]:g}" for pair in pairs if pair in told.pairs}
    several: dict[str, set[str]] = {}
    for words, number in _numbers(_plain(text)):
        if words.casefold() not in _LOOSE:
            several.setdefault(words, set()).add(number)
    wrong += [words for words, readings in several.items() if not known & readings]
    for value, unit in pairs:
        others = {one for told_value, one in told.pairs if told_value == value}
        if others and unit not in others:
            wrong.append(f"{value:g} {unit}")
    return list(dict.fromkeys(wrong))


# ---------------------------------------------------------------- times


def _times(text: str) -> Iterator[tuple[str, int]]:
    for form in (_TIME, _HOUR):
        for found in form.finditer(text):
            parts = found.groupdict()
            hour, half = int(parts["h"]), (parts["half"] or "").lower()
            if half:
                hour = hour % 12 + (12 if half == "p" else 0)
            yield found[0].strip(), hour % 24 * 60 + int(parts.get("m") or 0)
        text = form.sub(" ", text)
    for word, minutes in _NAMED_TIMES.items():
        if re.search(rf"\b{word}\b", text, re.IGNORECASE):
            yield word, minutes


def _half_days(text: str) -> Iterator[int]:
    """Yield the afternoon's reading of `4:30`, which may mean it; `04:30` does not."""
    for found in _TIME.finditer(text):
        if not found["half"] and not found["h"].startswith("0") and int(found["h"]) <= 12:  # noqa: PLR2004  half a day
            yield int(found["h"]) % 12 * 60 + 720 + int(found["m"])


# ---------------------------------------------------------------- numbers


def _plain(text: str) -> str:
    text = _HOUR.sub(" ", _TIME.sub(" ", text))
    text = _GROUPED.sub(lambda found: re.sub(r"\D", "", found[0]), text)
    return _DECIMAL_COMMA.sub(".", text)


def _numbers(text: str) -> Iterator[tuple[str, str]]:
    """Yield the words of each number and its value; of one that has several readings, each."""
    for found in _FIGURE.finditer(text):
        parts = found.groupdict()
        number, unit = parts["n"] or parts["money"], (parts["unit"] or parts["scale"] or "").casefold()
        if "." in number and not number.replace(".", "").isdecimal():
            yield found[0], _value(found[0].lstrip("vV-−")).casefold()  # a version such as 1.2.rc1 or 3.x
            continue
        sign = "-" if parts["sign"] else ""
        scale = _THOUSANDS.get(unit) or _scale_after(text, found.end())
        if scale:
            yield found[0], _scaled(number, scale)
        if not scale or unit == "m":
            yield found[0], sign + _value(number)
    for found in _WORD.finditer(text):
        scale = _scale_after(text, found.end()) or 1
        yield found[0], str(WORDS[found[0].casefold()] * scale)
    for found in re.finditer(r"\b(?:a|one) (hundred|thousand|million|billion)\b", text, re.IGNORECASE):
        yield found[0], str(SCALES[found[1].casefold()])


def _scale_after(text: str, at: int) -> int | None:
    found = re.match(r"\s+(hundred|thousand|million|billion)\b", text[at : at + 20], re.IGNORECASE)
    return SCALES[found[1].casefold()] if found else None


def _scaled(number: str, scale: int) -> str:
    return f"{float(number) * scale:.0f}" if number.count(".") <= 1 else number


def _value(number: str) -> str:
    """Return a number as it is compared: `007` is `7`; `3.10` is not `3.1`, which as a version is another."""
    return number if "." in number else number.lstrip("0") or "0"


# ---------------------------------------------------------------- numbers with units


def _own_pairs(text: str) -> Iterator[tuple[float, str]]:
    for found in _PAIR.finditer(text):
        unit = next(name for name, forms in _UNITS.items() if re.fullmatch(forms, found["unit"], re.IGNORECASE))
        yield value_of(found["n"]), unit


def _pairs(text: str) -> Iterator[tuple[float, str]]:
    """Yield each pair, and what it is in other units."""
    for number, unit in _own_pairs(text):
        yield number, unit
        if unit in _SAME:
            finer, times = _SAME[unit]
            yield number * times, finer
        for coarser, (finer, times) in _SAME.items():
            if finer == unit:
                yield number / times, coarser
