"""The numbers, versions and times of day that a text tells: `three` is 3, `1,000` is 1000, `4 pm` is 16:00."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pipelines.models.grounding.words import NUMBER, SCALES, WORDS, value_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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
