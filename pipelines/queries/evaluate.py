"""Score an extractor on days whose items are known.

A candidate finds a gold item of the same day and type if it rests on a line of that item and the F1 of their words is
at least 0.2, or if that F1 is at least 0.6 on any line. Each is matched once: matches on the same lines first, and the
most alike first. Procedural gold is neutral, and so is a candidate that finds it. Types that the gold does not have
are not judged, because its author did not look for them.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from dataclasses import asdict, astuple, dataclass, field
from operator import add
from typing import TYPE_CHECKING, Any, Final

from pipelines.errors import BadFile, BadGold, ModelFailed
from pipelines.extract.extract_days import is_grounded
from pipelines.extract.extraction import ExtractionRequest
from pipelines.store.files import read_text
from pipelines.store.item import Confidence, ItemType
from pipelines.store.layout import LOGS, log_day
from pipelines.store.log import parse_entries
from pipelines.store.spoken_lines import overlap, same_key, words
from pipelines.usage import Tally as Paid

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from pipelines.extract.extraction import Candidate, Extractor
    from pipelines.store.log import Entry


_OVERLAP: Final = 0.6
_OVERLAP_ON_ITS_LINES: Final = 0.2
_GOLD: Final = "gold.jsonl"
_SHAPE: Final = '{"date": "2026-01-02", "type": "Decision", "text": "..."}'
_COUNTED: Final = (
    "unjudged", "days", "failed", "fallback", "failures", "ungrounded",
)  # fmt: skip
_PATIENCE: Final = 3
"""Days in a row that may fail before the rest is not asked any more: a wrong key fails every day."""


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of one type.

    Args:
        gold: items to find, each once a day.
        found: how many of them were found.
        kept: candidates, except those that found procedural gold.
        right: candidates that found an item.
    """

    gold: int = 0
    found: int = 0
    kept: int = 0
    right: int = 0

    def __add__(self, other: Tally) -> Tally:
        """Return the sum of both."""
        return Tally(*map(add, astuple(self), astuple(other)))

    @property
    def precision(self) -> float | None:
        """The share of what was kept that is right, or None if nothing was kept."""
        return self.right / self.kept if self.kept else None

    @property
    def recall(self) -> float | None:
        """The share of gold items that were found, or None if there are none."""
        return self.found / self.gold if self.gold else None

    @property
    def f1(self) -> float | None:
        """The harmonic mean of both, or None if there is neither an item nor a candidate."""
        return 2 * self.right / (self.kept + self.gold) if self.kept + self.gold else None

    def to_json(self) -> dict[str, Any]:
        """Return it for JSON."""
        shares = {"precision": self.precision, "recall": self.recall, "f1": self.f1}
        return asdict(self) | {name: None if share is None else round(share, 4) for name, share in shares.items()}


@dataclass(frozen=True, slots=True)
class Gold:
    """An item that a log holds.

    Args:
        type: what it is.
        text: its words.
        lines: its lines in the log, counted from 1; empty if its words are not in the log verbatim.
        procedural: whether it is neutral: not required, and no error if kept.
    """

    type: ItemType
    text: str
    lines: frozenset[int]
    procedural: bool


@dataclass(frozen=True, slots=True)
class GoldDay:
    """One log: its day, its entries and its items, each once."""

    day: str
    entries: tuple[Entry, ...]
    gold: list[Gold]


def read_gold_days(folder: Path) -> list[GoldDay]:
    """Return the days of a folder of `Logs/` with `gold.jsonl`, oldest first, including those without items.

    A line of `gold.jsonl` is `{"date": "2026-01-02", "type": "Decision", "text": "..."}`. It has `"procedural": true`
    if an extractor need not find the item but may keep it (the approval of minutes), and `"lines": [7, 8]` if its place
    is known; otherwise every line with the exact text counts.

    Raises:
        BadGold: `gold.jsonl` has faults; the sentence names all of them, with their lines.
        BadFile: there are no logs, or one of the files cannot be read.
    """
    logs = {log_day(path.name): path for path in sorted((folder / LOGS).glob("*.md"))}
    logs.pop("", None)
    if not logs:
        raise BadFile(folder, f"holds no log ({LOGS}/YYYY-MM-DD.md)", "Name a folder with logs and a gold.jsonl.")
    texts = {day: read_text(path) for day, path in logs.items()}
    gold = _read_gold(folder / _GOLD, texts)
    return [
        GoldDay(day, parse_entries(f"{LOGS}/{day}.md", day, text), list(gold.get(day, {}).values()))
        for day, text in texts.items()
    ]


def _read_gold(path: Path, texts: Mapping[str, str]) -> dict[str, dict[tuple[str, str], Gold]]:
    """Return day → type and folded words → the first item that says them."""
    found: dict[str, dict[tuple[str, str], Gold]] = {}
    faults: list[str] = []
    lines = {day: [f" {same_key(line)} " for line in text.split("\n")] for day, text in texts.items()}
    for number, line in enumerate(read_text(path).splitlines(), 1):
        if not line.strip():
            continue
        try:
            raw = json.loads(line)
        except (ValueError, RecursionError):
            raw = None
        wrong = _faults(raw, texts) if isinstance(raw, dict) else [f"no JSON object; it should look like {_SHAPE}"]
        faults += [f"line {number}: {fault}" for fault in wrong]
        if not wrong:
            key = same_key(raw["text"])
            if "lines" in raw:
                first, last = raw["lines"]
                places = frozenset(range(first, last + 1))
            else:
                places = frozenset(n for n, text in enumerate(lines[raw["date"]], 1) if key and f" {key} " in text)
            gold = Gold(ItemType(raw["type"]), raw["text"].strip(), places, raw.get("procedural", False))
            found.setdefault(raw["date"], {}).setdefault((gold.type, key), gold)
    if not found and not faults:
        faults.append(f"no item; a line should look like {_SHAPE}")
    if faults:
        raise BadGold(path, faults)
    return found


def _faults(raw: Mapping[str, Any], texts: Mapping[str, str]) -> list[str]:
    faults = []

    def fault(key: str, should: str) -> None:
        value = raw.get(key)
        shown = "missing" if value is None else json.dumps(value, ensure_ascii=False)[:60]
        faults.append(f"{key} is {shown}; it should be {should}")

    if not isinstance(raw.get("date"), str) or not log_day(f"{raw['date']}.md"):
        fault("date", "a day, YYYY-MM-DD")
    elif raw["date"] not in texts:
        faults.append(f"there is no log of {raw['date']}")
    if raw.get("type") not in [str(kind) for kind in ItemType]:
        fault("type", f"one of {', '.join(ItemType)}")
    if not isinstance(raw.get("text"), str) or not raw["text"].strip():
        fault("text", "the words of the item")
    if not isinstance(raw.get("procedural", False), bool):
        fault("procedural", "true or false")
    match raw.get("lines", [1, 1]):
        case [int() as first, int() as last] if 1 <= first <= last:
            pass
        case _:
            fault("lines", "the first and the last line, from 1")
    return faults


def sample(days: Sequence[GoldDay], count: int) -> list[GoldDay]:
    """Return `count` days spread evenly and always the same; all days if there are no more."""
    if count >= len(days):
        return list(days)
    return [days[at * len(days) // count] for at in range(count)]


@dataclass(slots=True)
class Score:
    """The score of an extractor.

    Args:
        name: the extractor's own name, with its version.
        types: counts by type, for the types that the gold has.
        confidence: counts of candidates by confidence.
        unjudged: candidates of types that the gold does not have.
        days: days that were read.
        failed: days without a usable answer; their items count as not found.
        fallback: days that the rules read because no model could.
        ungrounded: candidates dropped, by the extractor or by us, because the log does not support them.
        paid: the calls of models, their tokens, and what they cost.
        seconds: how long it took.
        failures: why days failed, each sentence once.
    """

    name: str
    types: dict[ItemType, Tally] = field(default_factory=dict)
    confidence: dict[Confidence, Tally] = field(default_factory=dict)
    unjudged: int = 0
    days: int = 0
    failed: int = 0
    fallback: int = 0
    ungrounded: int = 0
    paid: Paid = field(default_factory=Paid)
    seconds: float = 0.0
    failures: list[str] = field(default_factory=list)

    @property
    def all(self) -> Tally:
        """All types together."""
        return sum(self.types.values(), Tally())

    def to_json(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {
            "name": self.name,
            "all": self.all.to_json(),
            "types": {str(kind): tally.to_json() for kind, tally in self.types.items()},
            "confidence": {
                str(level): {"kept": one.kept, "right": one.right} for level, one in self.confidence.items()
            },
            **{name: getattr(self, name) for name in _COUNTED},
            **paid_json(self.paid),
            "seconds": round(self.seconds, 3),
        }


def evaluate(days: Sequence[GoldDay], extractor: Extractor, done: Callable[[int], None]) -> Score:
    """Let an extractor read every day, and score what it found.

    Args:
        days: the days to read, with their items.
        extractor: the extractor.
        done: called with the number of days read so far.

    Raises:
        ModelFailed: the first days, or as many in a row later, all failed, so a score of the rest would mislead.
    """
    judged = {kind: Tally() for kind in ItemType if any(one.type is kind for day in days for one in day.gold)}
    score = Score(extractor.name, judged, {level: Tally() for level in (*Confidence,)[:3]})
    begun, in_a_row = time.perf_counter(), 0
    for number, day in enumerate(days, 1):
        try:
            answer = extractor.extract(ExtractionRequest(day.day, day.entries)) if day.entries else None
        except ModelFailed as fault:
            in_a_row += 1
            if in_a_row == min(_PATIENCE, len(days)):
                raise
            score.failed += 1
            score.failures += [fault.sentence] if fault.sentence not in score.failures else []
            score.paid.add(fault.tally or Paid())
            _count(score, day, ())
        else:
            in_a_row = 0
            grounded = [one for one in answer.candidates if is_grounded(one)] if answer else []
            _count(score, day, grounded)
            if answer:
                score.ungrounded += len(answer.candidates) - len(grounded) + answer.dropped
                score.fallback += answer.fallback
                score.paid.add(answer.tally)
        score.days += 1
        done(number)
    score.seconds = time.perf_counter() - begun
    return score


def paid_json(paid: Paid) -> dict[str, Any]:
    """Return the cost of calls for JSON; `usd` is null if a model's price is unknown."""
    usage, is_known = paid.usage, all(one.usd is not None for one in paid.spent)
    tokens = {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
    return {"calls": paid.calls, **tokens, "usd": paid.usd if is_known else None}


def _count(score: Score, day: GoldDay, candidates: Sequence[Candidate]) -> None:
    """Add a day's figures."""
    judged = [one for one in candidates if one.type in score.types]
    score.unjudged += len(candidates) - len(judged)
    found = _match(day.gold, judged)
    wanted = {at for at, gold in enumerate(day.gold) if not gold.procedural}
    neutral = {which for at, which in found.items() if at not in wanted}
    right = {which for at, which in found.items() if at in wanted}
    for kind in score.types:
        mine = {which for which, one in enumerate(judged) if one.type is kind} - neutral
        asked = {at for at in wanted if day.gold[at].type is kind}
        score.types[kind] += Tally(len(asked), len(asked & found.keys()), len(mine), len(mine & right))
    levels = Counter(one.confidence for which, one in enumerate(judged) if which not in neutral)
    for level, kept in levels.items():
        hit = sum(judged[which].confidence is level for which in right)
        score.confidence[level] = score.confidence.get(level, Tally()) + Tally(kept=kept, right=hit)


def _match(gold: Sequence[Gold], candidates: Sequence[Candidate]) -> dict[int, int]:
    """Return which candidate finds which gold item of a day, by their positions; see the module's docstring."""
    bags = [Counter(words(one.text)) for one in candidates]
    pairs: list[tuple[bool, float, int, int]] = []
    for at, item in enumerate(gold):
        bag = Counter(words(item.text))
        for which, one in enumerate(candidates):
            if one.type is not item.type:
                continue
            there = not item.lines.isdisjoint(range(one.start_line, one.places[0].end_line + 1))
            common = overlap(bag, bags[which])
            if common >= (_OVERLAP_ON_ITS_LINES if there else _OVERLAP):
                pairs.append((not there, -common, at, which))
    found: dict[int, int] = {}
    used: set[int] = set()
    for _, _, at, which in sorted(pairs):
        if at not in found and which not in used:
            found[at] = which
            used.add(which)
    return found
