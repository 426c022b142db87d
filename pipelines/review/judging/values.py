"""The values in a sentence: days, times of day, weekdays and numbers with their units, in one form for each."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pipelines.extract.grounded_values import WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator


_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTH: Final = (
    "(?:January|February|March|April|May|June|July|August|September|October|November|December|"
    "january|february|april|june|july|august|september|october|november|december|"
    r"(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\b\.?)"
)
_YEAR: Final = r"(?:19|20)\d\d"
_TH: Final = r"(?:st|nd|rd|th|\.)?"
_NUMBER_WORDS: Final = {word: value for word, value in WORDS.items() if word not in {"zero", "dozen"}} | {
    "first": 1,
    "half": 0.5,
}
_UNITS: Final = {
    "second": r"secs?|seconds?|s", "minute": r"mins?|minutes?", "hour": r"hrs?|hours?|h", "day": r"days?",
    "week": r"weeks?|wks?", "month": r"months?", "year": r"years?|yrs?", "%": r"%|percent|per cent",
    "degree": r"°\s?[CF]?|degrees?", "MB": r"mb|megabytes?", "GB": r"gb|gigabytes?", "TB": r"tb|terabytes?",
    "KB": r"kb|kilobytes?", "ms": r"ms|milliseconds?", "euro": r"eur|euros?|€", "dollar": r"usd|dollars?|bucks",
    "franc": r"chf|francs?", "pound": r"gbp|pounds?", "times": r"times|x",
    "km": r"km|kilomet(?:er|re)s?", "m": r"met(?:er|re)s?",
    "kg": r"kg|kilos?|kilograms?", "ton": r"tons?|tonnes?", "person": r"people|persons?|employees|members",
}  # fmt: skip
_UNIT: Final = "|".join(f"(?P<u{at}>{forms})" for at, forms in enumerate(_UNITS.values()))
_HOURS_IN_WORDS: Final = "one two three four five six seven eight nine ten eleven twelve".split()
_FORM: Final = re.compile(
    rf"(?P<url>\bhttps?://\S*[\w/])"
    rf"|(?P<iso>{_YEAR}-\d\d-\d\d)\b"
    rf"|\b(?P<d1>\d\d?){_TH}\s+(?:of\s+)?(?P<m1>{_MONTH})(?![a-z])(?:,?\s+(?P<y1>{_YEAR})\b)?"
    rf"|\b(?P<m2>{_MONTH})\s+(?P<d2>\d\d?)(?:st|nd|rd|th)?(?![\d:])(?:,?\s+(?P<y2>{_YEAR})\b)?"
    rf"|\b(?P<m3>{_MONTH})(?![a-z])(?:,?\s+(?P<y3>{_YEAR})\b)?"
    r"|\b(?P<h>[0-2]?\d):(?P<min>[0-5]\d)(?:\s*(?P<half>[ap])\.?m\b\.?)?"
    r"|\b(?P<h2>1[0-2]|0?\d)\s*(?P<half2>[ap])\.?m\b\.?"
    r"|\b(?P<clock>noon|midnight)\b"
    rf"|\b(?P<h3>\d\d?|{'|'.join(_HOURS_IN_WORDS)})(?: o['’]clock)? in the (?P<half3>morning|afternoon|evening)\b"
    rf"|\b(?P<h4>\d\d?|{'|'.join(_HOURS_IN_WORDS)}) o['’]clock\b"
    r"|\b(?P<weekday>(?:mon|tues|wednes|thurs|fri|satur|sun)days?)\b"
    r"|(?P<sign>(?<![\w)])[-−])?(?P<money>[$€£]\s?)?(?P<mark>#)?(?<![\w.])(?P<v>[vV])?(?P<n>\d+(?:[,'’]\d{3})*(?:\.\d+)*)"
    rf"(?P<th>st|nd|rd|th)?(?:[\s-]?(?:{_UNIT})(?![\w]))?"
    rf"|\b(?P<word>{'|'.join(sorted(map(re.escape, _NUMBER_WORDS), key=len, reverse=True))})\b"
    rf"(?:[\s-](?:{_UNIT.replace('?P<u', '?P<w')})(?![\w]))?",
    re.IGNORECASE,
)
_OF_TIME: Final = re.compile(r"\b(?:at|until|till) $")
_OF_YEAR: Final = re.compile(r"\b(?:in|since|until|of|for|by|from|spring|summer|autumn|winter) $")
_NAMES: Final = re.compile(
    r"(?:issue|ticket|pull request|pr|invoice|room|sensor|batch|release|flight|platform|step|phase|chapter|page|"
    r"section|sample|gate|order|case|task|bug|line|number|no\.?|lot|exhibit|sprint|milestone) $"
)
_HOURS: Final = 24


@dataclass(frozen=True, slots=True)
class Value:
    """One value where it stands.

    Args:
        kind: `date`, `time`, `weekday`, `number`, `number:UNIT`, or `mark` for a number that only names something.
        key: the value; equal for two that mean the same.
        start: where it begins in the text.
        end: where it ends.
    """

    kind: str
    key: str
    start: int
    end: int

    @property
    def base(self) -> str:
        """The kind without the unit."""
        return self.kind.partition(":")[0]


def find_values(text: str) -> Iterator[Value]:
    """Yield the values of a text, in order."""
    for found in _FORM.finditer(text):
        kind, key = _read(found, text[: found.start()].lower())
        if kind:
            yield Value(kind, key, found.start(), found.end())


def _read(found: re.Match[str], before: str) -> tuple[str, str]:
    told = {name: part for name, part in found.groupdict().items() if part}
    if any(f"m{at}" in told for at in "123"):
        return _date(told)
    if "url" in told:
        return "mark", told["url"].lower()
    if "iso" in told:
        return "date", told["iso"]
    if (minutes := _clock(told)) is not None:
        return "time", str(minutes)
    if "weekday" in told:
        return "weekday", told["weekday"].lower().removesuffix("s")
    return _number(told, before)


def _clock(told: dict[str, str]) -> int | None:
    """Return the minutes of the day that a time says, or None where it is none."""
    if "h" in told or "h2" in told:
        return _minutes(told)
    if hour := told.get("h3") or told.get("h4"):
        number = _NUMBER_WORDS.get(hour.lower()) or float(hour)
        late = told.get("half3", "morning").lower() != "morning" and number < _HOURS / 2
        return int(number + 12 * late) % 24 * 60
    if "clock" in told:
        return 720 if told["clock"].lower() == "noon" else 0
    return None


def _date(told: dict[str, str]) -> tuple[str, str]:
    at = next(at for at in "123" if f"m{at}" in told)
    month = told[f"m{at}"]
    if month.lower() == "may" and month != "May":  # `may 3 of us` is no day
        return "", ""
    return "date", f"{told.get(f'y{at}', '')}-{_month(month):02}-{int(told.get(f'd{at}', '0')):02}"


def _month(name: str) -> int:
    return next(at for at, month in enumerate(_MONTHS, 1) if month.lower().startswith(name.lower().strip(".")[:3]))


def _minutes(told: dict[str, str]) -> int:
    hour = int(told.get("h") or told["h2"])
    half = (told.get("half") or told.get("half2") or "").lower()
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    return hour % 24 * 60 + int(told.get("min") or 0)


def _number(told: dict[str, str], before: str) -> tuple[str, str]:
    units = list(_UNITS)
    unit = next((units[int(name[1:])] for name in told if re.fullmatch(r"[uw]\d+", name)), "")
    if "word" in told:
        return f"number:{unit}" if unit else "number", f"{_NUMBER_WORDS[told['word'].lower()]:g}"
    digits = re.sub(r"[,'’]", "", told["n"])
    unit = unit or {"$": "dollar", "€": "euro", "£": "pound"}.get(told.get("money", "").strip(), "")
    if "mark" in told or (not unit and _NAMES.search(before)):
        return "mark", digits
    if not unit and re.fullmatch(_YEAR, digits) and _OF_YEAR.search(before):
        return "date", f"{digits}-00-00"
    if not unit and digits.isdecimal() and int(digits) <= _HOURS and _OF_TIME.search(before) and "th" not in told:
        return "time", str(int(digits) % 24 * 60)
    plain = digits if "." in digits else digits.lstrip("0") or "0"
    return f"number:{unit}" if unit else "number", ("-" if "sign" in told else "") + plain


def same_value(one: Value, other: Value) -> bool:
    """Whether two values mean the same; a date without a year is the one with it."""
    if one.base != other.base:
        return False
    if one.base == "date":
        (year, rest), (other_year, other_rest) = one.key.split("-", 1), other.key.split("-", 1)
        return rest == other_rest and (year == other_year or not (year and other_year))
    return one.key == other.key and comparable(one, other)


def comparable(one: Value, other: Value) -> bool:
    """Whether two values are of one kind: hours with hours, and a bare number with any."""
    return one.kind == other.kind or (one.base == other.base and "number" in {one.kind, other.kind})
