"""A folder of logs whose items are known: `Logs/` and `gold.jsonl`, the measure of an extractor.

A line of `gold.jsonl` is `{"date": "2026-01-02", "type": "Decision", "text": "..."}`. It has `"procedural": true` where
an extractor neither has to find the item nor is wrong to keep it (the approval of minutes), and `"lines": [7, 8]` where
the place is known; otherwise every line on which the text stands word for word counts as its place.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pipelines.errors import BadFile, BadGold
from pipelines.extract.rules.lines import same_key
from pipelines.store.item import ItemType
from pipelines.store.layout import LOGS, log_day
from pipelines.store.log import parse_entries

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from pipelines.store.log import Entry

GOLD: Final = "gold.jsonl"
_SHAPE: Final = '{"date": "2026-01-02", "type": "Decision", "text": "..."}'


@dataclass(frozen=True, slots=True)
class Gold:
    """An item that a log holds.

    Args:
        date: the day of the log, `YYYY-MM-DD`.
        type: what it is.
        text: its words.
        lines: where it stands in the log, counted from 1; empty where the words stand nowhere as they are.
        procedural: whether it is neutral: not asked for, and no error where it is kept.
    """

    date: str
    type: ItemType
    text: str
    lines: frozenset[int] = frozenset()
    procedural: bool = False


@dataclass(frozen=True, slots=True)
class GoldDay:
    """One log: its day, its entries, and the items that it holds, each said once."""

    day: str
    entries: tuple[Entry, ...]
    gold: tuple[Gold, ...]


def read_gold_days(folder: Path) -> list[GoldDay]:
    """Return the days of a folder, oldest first, those without any item included.

    Raises:
        BadGold: `gold.jsonl` has faults; all of them are named with their lines.
        BadFile: there are no logs, or one of the files cannot be read.
    """
    logs = {log_day(path.name): path for path in sorted((folder / LOGS).glob("*.md"))}
    logs.pop("", None)
    if not logs:
        raise BadFile(folder, f"holds no log ({LOGS}/YYYY-MM-DD.md)", "Name a folder with logs and a gold.jsonl.")
    texts = {day: _read(path) for day, path in logs.items()}
    gold = _read_gold(folder / GOLD, texts)
    return [
        GoldDay(day, parse_entries(f"{LOGS}/{day}.md", day, text), _once(one for one in gold if one.date == day))
        for day, text in texts.items()
    ]


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadFile(path, f"cannot be read: {getattr(error, 'strerror', None) or 'it is not UTF-8'}") from None


def _read_gold(path: Path, texts: Mapping[str, str]) -> list[Gold]:
    found: list[Gold] = []
    faults: list[str] = []
    places = {day: _Places(text) for day, text in texts.items()}
    for number, line in enumerate(_read(path).splitlines(), 1):
        if not line.strip():
            continue
        told = _told(line)
        wrong = _faults(told, texts) if isinstance(told, dict) else [f"no JSON object; it should look like {_SHAPE}"]
        faults += [f"line {number}: {fault}" for fault in wrong]
        if not wrong:
            found.append(_gold(told, places[told["date"]]))
    if not found and not faults:
        faults.append(f"no item; a line should look like {_SHAPE}")
    if faults:
        raise BadGold(path, faults)
    return found


def _told(line: str) -> Any:  # noqa: ANN401  what JSON may hold
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _faults(told: Mapping[str, Any], texts: Mapping[str, str]) -> list[str]:
    faults = []
    if not isinstance(told.get("date"), str) or not log_day(f"{told['date']}.md"):
        faults.append(f"date is {_shown(told.get('date'))}; it should be a day, YYYY-MM-DD")
    elif told["date"] not in texts:
        faults.append(f"there is no log of {told['date']}")
    if told.get("type") not in [str(kind) for kind in ItemType]:
        faults.append(f"type is {_shown(told.get('type'))}; it should be one of {', '.join(ItemType)}")
    if not isinstance(told.get("text"), str) or not told["text"].strip():
        faults.append(f"text is {_shown(told.get('text'))}; it should be the words of the item")
    if not isinstance(told.get("procedural", False), bool):
        faults.append(f"procedural is {_shown(told['procedural'])}; it should be true or false")
    if "lines" in told and not _is_span(told["lines"]):
        faults.append(f"lines is {_shown(told['lines'])}; it should be the first and the last line, from 1")
    return faults


def _is_span(value: object) -> bool:
    match value:
        case [int() as first, int() as last]:
            return 1 <= first <= last
    return False


def _shown(value: object) -> str:
    return "missing" if value is None else json.dumps(value, ensure_ascii=False)[:60]


def _gold(told: Mapping[str, Any], places: _Places) -> Gold:
    if "lines" in told:
        first, last = told["lines"]
        lines = frozenset(range(first, last + 1))
    else:
        lines = places.of(told["text"])
    return Gold(told["date"], ItemType(told["type"]), told["text"].strip(), lines, told.get("procedural", False))


class _Places:
    """Finds on which lines of a log some words stand as they are, whatever the marks around them."""

    def __init__(self, text: str) -> None:
        self._lines = [f" {same_key(line)} " for line in text.split("\n")]

    def of(self, words: str) -> frozenset[int]:
        key = same_key(words)
        return frozenset(at for at, line in enumerate(self._lines, 1) if key and f" {key} " in line)


def _once(gold: Iterable[Gold]) -> tuple[Gold, ...]:
    first: dict[tuple[str, str], Gold] = {}
    for one in gold:
        first.setdefault((one.type, same_key(one.text)), one)
    return tuple(first.values())


def sample(days: Sequence[GoldDay], count: int) -> list[GoldDay]:
    """Return `count` days spread evenly over all of them, always the same ones; all where there are no more."""
    if count >= len(days):
        return list(days)
    return [days[at * len(days) // count] for at in range(count)]
