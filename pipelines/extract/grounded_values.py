"""Dates and figures in a text: `2026-04-01`, `1.4.`, `tomorrow`, `Friday`; `three`, `1,000`, `4 pm`.

Evidence is read generously (a weekday may be the one before or after the log's day), an item strictly: it should give
absolute dates, and each must be a possible day of its evidence.
"""

from __future__ import annotations

import calendar
import re
from datetime import date, timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


# ---------------------------------------- numbers in words


_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_UNITS_OF_TEN = "one two three four five six seven eight nine".split()
SCALES: Final = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9}
WORDS: Final[dict[str, int]] = {
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
_IN_WORDS = "|".join(sorted(WORDS, key=len, reverse=True))
# The longest first: "twenty-one" is not "twenty".
NUMBER: Final = rf"(?:\d{{1,6}}(?:\.\d{{1,3}})?|{_IN_WORDS})"


def value_of(word: str) -> float:
    """Return the value of what `NUMBER` matched; of `a` and `an`, one."""
    folded = word.casefold()
    if folded in {"a", "an"}:
        return 1
    return WORDS[folded] if folded in WORDS else float(folded)


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
_ALONE = re.compile(r"\b(?:January|February|March|April|May|June|July|August|September|October|November|December)\b")
_DAY_ALONE = re.compile(
    rf"(?:\b(\d\d?)(?:st|nd|rd|th)\b|\b(?:am|ab|bis|vom|zum) (\d\d?)\.(?!\d))(?!\s+(?:of\s+)?(?:{MONTH})\b)", _FLAGS
)
_NAMED_DAY = re.compile(r"\b(?P<name>(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)(?P<many>s)?\b", re.IGNORECASE)


class KnownDates(NamedTuple):
    """The possible dates of a text: days, months, years, the weekdays it names, and whether it says `today`.

    Of the months, `open_months` are named without a day, as in `the middle of October`.
    """

    days: frozenset[date]
    months: frozenset[tuple[int, int]]
    open_months: frozenset[tuple[int, int]]
    years: frozenset[int]
    weekdays: frozenset[int]
    today: bool


_Written = tuple[str, int, list[tuple[int, int]]]
"""A date as written: its words, year, and month and day (two readings for 3/4/2026); 0 if not given."""


def known_dates(text: str, log_day: date) -> KnownDates:
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
    weekdays = {at for at, names in enumerate(_WEEKDAYS) if _names(f"(?:{names})s?", text)}
    years = {int(year) for year in re.findall(rf"(?<!\d){_YEAR}(?!\d)", text)}
    years |= {day.year for day in days} | {log_day.year}
    today = _names("today|tonight|now|this (?:morning|afternoon|evening)|heute", text)
    alone = re.finditer(rf"\b({MONTH})\b", without_dates(text), _FLAGS)
    open_months = frozenset((year, _month(found[1])) for found in alone for year in near)
    return KnownDates(frozenset(days), frozenset(months), open_months, frozenset(years), frozenset(weekdays), today)


def unproven_dates(text: str, known: KnownDates, log_day: date) -> list[str]:
    """Return the dates, months and weekdays of an item's text that its evidence does not have, in the item's words.

    The log's own day is allowed if the evidence has no other day, says today, or if the item names the other day, too.
    """
    dates = list(_written(text, _SURE))
    unproven = [one for one in dates if not _is_known(one, known)]
    on_the_day = [one[0] for one in unproven if _is_day(one, log_day)]
    wrong = [one[0] for one in unproven if not _is_day(one, log_day)]
    if known.days and not known.today and len(dates) == len(on_the_day):
        wrong += on_the_day
    rest = without_dates(text)
    named_months = {month for _, month in known.months} | {day.month for day in known.days}
    for found in _ALONE.finditer(rest):
        if _month(found[0]) not in named_months and not (found[0] == "May" and found.start() == 0):
            wrong.append(found[0])
    shown = {log_day} if any(_is_day(one, log_day) for one in dates) else set()
    for found in _NAMED_DAY.finditer(rest):
        near = set() if found["many"] else {day.weekday() for day in (known.days | shown)}
        if _place_in(_WEEKDAYS, found["name"]) not in known.weekdays | near:
            wrong.append(found[0])
    return wrong


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


def _is_known(written: _Written, known: KnownDates) -> bool:
    _, year, readings = written
    month, day = readings[0]
    if not day:
        return (year, month) in known.months or any((one.year, one.month) == (year, month) for one in known.days)
    if any(month == one and year in {0, of} for of, one in known.open_months):
        return True
    return any((one.month, one.day) in readings and year in {0, one.year} for one in known.days)


def _is_day(written: _Written, day: date) -> bool:
    _, year, readings = written
    return year in {0, day.year} and ((day.month, day.day) in readings or readings[0] == (day.month, 0))


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
_SPAN = re.compile(rf"\b(?P<n>{NUMBER}|an?)[\s-]+(?P<unit>day|week|month|year|tage?n?|wochen?)s?\b", _FLAGS)
_FARTHEST = 5000  # no date in a memory is that far off


def _relative(text: str, day: date) -> Iterator[date]:
    yield from (day + timedelta(off) for words, off in _OFFSETS if _names(words, text))
    for found in _SPAN.finditer(text):
        number = value_of(found["n"])
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


# ---------------------------------------- numbers, versions and times of day: `three` is 3, `4 pm` is 16:00


_HALF = r"(?:\s*(?P<half>[ap])\.?m\b\.?)"
_TIME = re.compile(
    rf"(?<![\d.:])(?P<h>[01]?\d|2[0-4])(?::|\.(?=\d\d\s?[ap]\.?m))(?P<m>[0-5]\d)(?::[0-5]\d)?(?![\d:]){_HALF}?", _FLAGS
)
_HOUR = re.compile(rf"(?<![\d.:])(?P<h>1[0-2]|0?[1-9]){_HALF}", _FLAGS)
_CLOCK = re.compile(rf"\b(?P<part>half past|quarter past|quarter to)\s(?P<h>{NUMBER})\b", _FLAGS)
_PARTS = {"half past": 30, "quarter past": 15, "quarter to": -15}
_HALF_HOUR = re.compile(rf"\bhalf\s(?P<h>{NUMBER})\b", _FLAGS)
"""As the British say it: half nine is 9:30."""
_NAMED_TIMES = {"noon": 720, "midday": 720, "midnight": 0}
# 1,000 and 1’000 and 1 000; a point may mean a decimal or a version, and stays.
_GROUPED = re.compile(r"(?<![\w.,])\d{1,3}(?:[,'’_ \u202f\u00a0]\d{3})+(?![,.]?\d)")
_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)")
_MINUS = re.compile(rf"\bminus (?P<n>{NUMBER})\b", _FLAGS)
_AND_A_HALF = re.compile(
    rf"\b(?P<n>{NUMBER}|an?)(?P<unit> hour| day| week| month| year)? and a half\b|\b(?P<digits>\d{{0,6}})\s?½", _FLAGS
)
_MONEY = re.compile(r"(?P<sign>[$€])\s?(?P<n>\d{1,12}(?:\.\d{1,6})?(?:[km]\b|mio\b|bn\b)?)", _FLAGS)
_CURRENCIES = {"$": "USD", "€": "EUR"}
_FIGURE = re.compile(
    r"(?<![\w.])(?P<sign>(?<![^\s(=<>~:])[-−](?=[\d.]))?[vV£¥]?"
    r"(?:(?P<n>\d+(?:\.\d+)*)(?P<unit>[^\W\d_]{0,12})(?!\w|\.\w)|(?P<version>\d+(?:\.\w+)+))"
)
_THOUSANDS = {"k": 1000, "m": 10**6, "mio": 10**6, "bn": 10**9}
_WORD = re.compile(rf"\b(?:{_IN_WORDS})\b", _FLAGS)
_FEW = {"twice": ("2",), "thrice": ("3",), "half": ("0.5", "50")}
_ONE = re.compile(r"\b(?:an?|one|once|single|sole|first)\b", _FLAGS)
_TWO = re.compile(r"\b(?:both|pair|couple|twice|second|double)\b", _FLAGS)
# One-letter units count only after digits: `5 d`, not `and`.
_UNITS = {
    "second": r"s|secs?|seconds?", "minute": r"min|mins|minutes?", "hour": r"h|hrs?|hours?", "day": r"d|days?|nights?",
    "week": r"w|wks?|weeks?", "month": r"months?", "year": r"y|yrs?|years?", "%": r"%|percent|per cent",
    "MB": r"mb|mib|megabytes?", "GB": r"gb|gib|gigabytes?", "TB": r"tb|tib|terabytes?", "KB": r"kb|kib|kilobytes?",
    "ms": r"ms|milliseconds?", "USD": r"usd|dollars?|bucks", "EUR": r"eur|euros?",
}  # fmt: skip
_UNIT = "|".join(f"(?:{forms})" for forms in _UNITS.values())
_PAIR = re.compile(
    rf"(?<![\w.])(?:(?P<n>\d{{1,12}}(?:\.\d{{1,6}})?)[\s-]?(?P<unit>{_UNIT})(?!\w)"
    rf"|(?P<word>{_IN_WORDS}|half an?|every (?:other|second)|an?|per|each|every)[\s-]+(?=(?P<of>\w{{2,}})))",
    _FLAGS,
)
_COUNTS = {"half a": 0.5, "half an": 0.5, "every other": 2, "every second": 2}
_RATE = re.compile(
    r"(?<=\w)/(?P<unit>s|sec|min|h|hr|hour|day|week|month|year)\b|\b(?P<adverb>hourly|daily|nightly|weekly|monthly|"
    r"quarterly|yearly|annual|annually|biweekly|fortnightly|every fortnight|(?:every|each) \w{3,6}day|\w{3,6}days)\b",
    _FLAGS,
)
_ADVERBS = {
    "hourly": (1, "hour"), "daily": (1, "day"), "nightly": (1, "day"), "weekly": (1, "week"), "monthly": (1, "month"),
    "quarterly": (3, "month"), "yearly": (1, "year"), "annual": (1, "year"), "annually": (1, "year"),
    "biweekly": (2, "week"), "fortnightly": (2, "week"), "every fortnight": (2, "week"),
}  # fmt: skip
_SAME = {
    "week": ("day", 7),
    "year": ("month", 12),
    "hour": ("minute", 60),
    "minute": ("second", 60),
    "second": ("ms", 1000),
    "day": ("hour", 24),
}
# Number words that often mean no number: "one of them", "a second look".
_LOOSE = frozenset({"zero", "one"})


class KnownFigures(NamedTuple):
    """The figures of a text: numbers and versions as written, times in minutes, and (number, unit) pairs."""

    numbers: frozenset[str]
    times: frozenset[int]
    pairs: frozenset[tuple[float, str]]


def known_figures(text: str) -> KnownFigures:
    """Return every figure that `text` can mean: `5` may be 5:00 or 17:00, and `12 500` two numbers or one."""
    ungrouped, text = _in_digits(text, grouped=False), _in_digits(text)
    times = {minutes for _, minutes in _times(text)}
    for found in _TIME.finditer(text):
        # `4:30` may mean the afternoon; `04:30` and `16:30` mean what they say
        if not found["half"] and not found["h"].startswith("0") and int(found["h"]) in range(1, 13):
            times |= {(int(found["h"]) % 12 + off) * 60 + int(found["m"]) for off in (0, 12)}
    numbers = {number for one in (text, ungrouped) for _, number in _numbers(one)}
    hours = {int(one) for one in numbers if one.isdecimal() and len(one) <= 2 and int(one) in range(25)}  # noqa: PLR2004
    times |= {(hour + off) % 24 * 60 for hour in hours for off in ((0, 12) if hour in range(1, 13) else (0,))}
    numbers |= {str(hour) for minutes in times if minutes % 60 == 0 for hour in (minutes // 60, minutes // 60 % 12)}
    numbers |= {"1"} if _ONE.search(text) else set()
    numbers |= {"2"} if _TWO.search(text) else set()
    return KnownFigures(frozenset(numbers), frozenset(times), frozenset(_pairs(text)))


def unproven_figures(text: str, known: KnownFigures, years: Iterable[int] = ()) -> list[str]:
    """Return the figures of an item's text that its evidence does not have, in the item's words or in digits.

    Args:
        text: the item's sentence, without its dates.
        known: the figures of the evidence.
        years: years that the item may name.
    """
    text = _in_digits(text)
    wrong = [words for words, minutes in _times(text) if minutes not in known.times]
    pairs = list(_own_pairs(text))
    proven = known.numbers | {str(year) for year in years} | {f"{pair[0]:g}" for pair in pairs if pair in known.pairs}
    several: dict[str, set[str]] = {}
    for words, number in _numbers(text):
        if words.casefold() not in _LOOSE:
            several.setdefault(words, set()).add(number)
    wrong += [words for words, readings in several.items() if not proven & readings]
    for value, unit in pairs:
        others = {one for other_value, one in known.pairs if other_value == value}
        if others and unit not in others:
            wrong.append(f"{value:g} {unit}")
    return list(dict.fromkeys(wrong))


def _in_digits(text: str, *, grouped: bool = True) -> str:
    """Return `text` with groups, halves, sums of money and times of day in one form: `half past nine` is `9:30`."""
    text = _GROUPED.sub(lambda found: re.sub(r"\D", "", found[0]), text) if grouped else text
    text = _DECIMAL_COMMA.sub(".", text)
    text = _MINUS.sub(lambda found: f"-{value_of(found['n']):g}", text)
    text = _AND_A_HALF.sub(_and_a_half, text)
    text = _MONEY.sub(lambda found: f"{found['n']} {_CURRENCIES[found['sign']]}", text)
    return _CLOCK.sub(_clock, text)


def _and_a_half(found: re.Match[str]) -> str:
    return f"{value_of(found['n'] or found['digits'] or '0') + 0.5:g}{found['unit'] or ''}"


def _clock(found: re.Match[str]) -> str:
    hour = value_of(found["h"])
    if hour not in range(1, 25):
        return found[0]
    minutes = int(hour) * 60 + _PARTS[found["part"].casefold()]
    return f"{minutes // 60}:{minutes % 60:02}"


def _times(text: str) -> Iterator[tuple[str, int]]:
    for form in (_TIME, _HOUR):
        for found in form.finditer(text):
            parts = found.groupdict()
            hour, half = int(parts["h"]), (parts["half"] or "").lower()
            if half:
                hour = hour % 12 + (12 if half == "p" else 0)
            yield found[0].strip(), hour % 24 * 60 + int(parts.get("m") or 0)
        text = form.sub(" ", text)
    yield from ((word, minutes) for word, minutes in _NAMED_TIMES.items() if _names(word, text))
    halves = ((found[0], value_of(found["h"])) for found in _HALF_HOUR.finditer(text))
    yield from ((words, int(hour) * 60 + 30) for words, hour in halves if hour in range(1, 13))


def _numbers(text: str) -> Iterator[tuple[str, str]]:
    """Yield the words and value of each number that is not a time, once for each possible reading."""
    text = _HOUR.sub(" ", _TIME.sub(" ", text))
    for found in _FIGURE.finditer(text):
        number, unit = found["n"], (found["unit"] or "").casefold()
        if not number:  # a version such as 1.2.rc1 or 3.x
            yield found[0], found["version"].casefold()
            continue
        scale = _THOUSANDS.get(unit) or _scale_after(text, found.end())
        if scale:
            yield found[0], f"{float(number) * scale:.0f}" if number.count(".") <= 1 else number
        if not scale or unit == "m":
            yield found[0], ("-" if found["sign"] else "") + _value(number)
    for found in _WORD.finditer(text):
        yield found[0], str(WORDS[found[0].casefold()] * (_scale_after(text, found.end()) or 1))
    for found in re.finditer(r"\b(?:a|one) (hundred|thousand|million|billion)\b", text, _FLAGS):
        yield found[0], str(SCALES[found[1].casefold()])
    for found in re.finditer(r"\b(?:twice|thrice|half)\b", text, _FLAGS):
        yield from ((found[0], number) for number in _FEW[found[0].casefold()])


def _scale_after(text: str, at: int) -> int | None:
    found = re.match(r"\s+(hundred|thousand|million|billion)\b", text[at : at + 20], _FLAGS)
    return SCALES[found[1].casefold()] if found else None


def _value(number: str) -> str:
    """Return a number for comparison: `007` is `7`, but `3.10` is not `3.1`, since they differ as versions."""
    return number if "." in number else number.lstrip("0") or "0"


def _own_pairs(text: str) -> Iterator[tuple[float, str]]:
    """Yield each number with its unit; `daily` and `per day` are one day."""
    for found in _PAIR.finditer(text):
        if unit := _unit(found["unit"] or found["of"]):
            word = (found["word"] or found["n"]).casefold()
            if (word, unit) != ("a", "second"):  # a second look
                yield _COUNTS.get(word) or (1 if word in {"per", "each", "every"} else value_of(word)), unit
    for found in _RATE.finditer(text):
        if found["unit"]:
            yield 1, _unit(found["unit"])
        elif (adverb := found["adverb"].casefold()) in _ADVERBS:
            yield _ADVERBS[adverb]
        elif _NAMED_DAY.search(adverb):
            yield 1, "week"


def _unit(word: str) -> str:
    return next((name for name, forms in _UNITS.items() if re.fullmatch(forms, word, _FLAGS)), "")


def _pairs(text: str) -> Iterator[tuple[float, str]]:
    """Yield each pair, and the same in other units."""
    for number, unit in _own_pairs(text):
        yield number, unit
        for coarser, (finer, times) in _SAME.items():
            if unit == coarser:
                yield number * times, finer
            elif unit == finer:
                yield number / times, coarser
