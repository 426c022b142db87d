"""A folder of logs with known outcomes: `Logs/`, and `gold.json`, what the memory should hold in the end.

`examples/month/README.md` describes the format. All faults are reported at once.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Annotated, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from pipelines.errors import BadFile, CurateError, faults_of
from pipelines.store.files import read_text
from pipelines.store.item import ACTIVE, OUTCOMES, Confidence, ItemType, Status
from pipelines.store.layout import LOGS, PARTIAL, day_of_log, log_path
from pipelines.store.spoken_lines import LONGEST_TEXT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


GOLD: Final = "gold.json"
_SHAPE = "Name a folder with Logs/ and a gold.json, like examples/month."
_MOST_FAULTS = 50
_ANYHOW = frozenset({Status.SUPERSEDED, Status.NEVER_HELD})
"""What may become of a belief of any type."""
_OUTCOME = {
    "supersede": Status.SUPERSEDED,
    "update": Status.SUPERSEDED,
    "retract": Status.NEVER_HELD,
}


def _is_day(text: str) -> str:
    if not day_of_log(log_path(text)):
        raise ValueError("it should be a day, YYYY-MM-DD")
    return text


Day = Annotated[str, AfterValidator(_is_day)]
Words = Annotated[str, Field(min_length=1)]


class BadGold(CurateError):
    """Raised when a gold file has faults; the sentence names up to fifty of them."""

    def __init__(self, path: Path, faults: Sequence[str]) -> None:
        rest = len(faults) - _MOST_FAULTS
        shown = [*faults[:_MOST_FAULTS], *([f"and {rest:,} more"] if rest > 0 else [])]
        told = "".join(f"\n- {fault}" for fault in shown)
        super().__init__(f"{path} is not sound ({len(faults):,}):{told}", "\nFix the file and run again.")


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Quote(_Part):
    """A verbatim quote from a day's log."""

    day: Day
    quote: Words


class GoldBelief(_Part):
    """A belief that the logs state, and its status in the end; see `examples/month/README.md`."""

    key: Words
    type: ItemType
    text: Words
    document: Words
    quotes: Annotated[tuple[Quote, ...], Field(min_length=1)]
    since: Day
    status: Status
    section: Literal["", "goals", "contacts", "questions", "howto"] = ""
    name: str = ""
    due: Day | Literal[""] = ""
    closed: Literal["", "done", "dropped", "resolved", "occurred", "answered"] = ""
    confidence: Confidence = Confidence.HIGH
    because: tuple[Words, ...] = ()

    @property
    def active(self) -> bool:
        """Whether it is believed at the end."""
        return self.status in ACTIVE

    @property
    def begins_as(self) -> Status:
        """Its status if no event changes it."""
        return Status(self.closed) if self.closed else Status.OPEN if self.type is ItemType.TODO else Status.LIVE

    def may_become(self, status: Status) -> bool:
        """Whether a belief of this type can have the status: only questions are answered, only todos are done."""
        if status is Status.ANSWERED:
            return self.section == "questions"
        return status in _ANYHOW or status is self.begins_as or status in OUTCOMES[self.type]


class Event(_Part):
    """What a line does to existing beliefs: `of` are their keys, `belief` is the key of their successor."""

    day: Day
    quote: Words
    operation: Literal["supersede", "update", "close", "retract", "confirm", "question"]
    of: Annotated[tuple[Words, ...], Field(min_length=1)]
    belief: str = ""
    how: Literal["", "done", "dropped", "resolved", "occurred", "answered", "ended"] = ""
    text: str = ""

    @property
    def outcome(self) -> Status | None:
        """The new status of its beliefs, or None if they stay."""
        return Status(self.how) if self.operation == "close" and self.how else _OUTCOME.get(self.operation)


class Gold(_Part):
    """The contents of `gold.json`."""

    beliefs: Annotated[tuple[GoldBelief, ...], Field(min_length=1)]
    events: tuple[Event, ...] = ()
    arrives: dict[str, Day] = Field(default_factory=dict)


class Month(_Part):
    """Logs with known outcomes.

    Args:
        gold: the beliefs and events.
        logs: path → text of each log and partial log.
    """

    gold: Gold
    logs: dict[str, str]

    def arrivals(self) -> dict[str, list[str]]:
        """Return day → the paths of the logs that arrive on it, in order of days."""
        days: dict[str, list[str]] = {}
        for path in sorted(self.logs):
            days.setdefault(self.gold.arrives.get(path, _day_of(path)), []).append(path)
        return dict(sorted(days.items()))

    @property
    def beliefs(self) -> dict[str, GoldBelief]:
        """The beliefs by key."""
        return {one.key: one for one in self.gold.beliefs}

    def targets(self, operation: str) -> Iterator[tuple[str, Event]]:
        """Yield the key of each belief that an event with this operation names, with the event."""
        for event in self.gold.events:
            if event.operation == operation:
                yield from ((key, event) for key in event.of)


def read_month(folder: Path) -> Month:
    """Return a folder's logs and gold.

    Raises:
        BadGold: `gold.json` has faults; the sentence names all of them.
        BadFile: there are no logs, or a file cannot be read.
    """
    paths = [path for name in (LOGS, PARTIAL) for path in sorted((folder / name).glob("*.md"))]
    logs = {path.relative_to(folder).as_posix(): path for path in paths}
    logs = {path: file for path, file in logs.items() if _day_of(path)}
    if not logs:
        raise BadFile(folder, f"holds no log ({LOGS}/YYYY-MM-DD.md)", _SHAPE)
    path = folder / GOLD
    try:
        raw = json.loads(read_text(path, _SHAPE))
    except (ValueError, RecursionError) as error:
        raise BadFile(path, f"is no JSON ({error})", _SHAPE) from None
    if not isinstance(raw, dict):
        raise BadFile(path, "holds no JSON object", _SHAPE)
    try:
        gold = Gold.model_validate(raw)
    except ValidationError as error:
        raise BadGold(path, faults_of(error)) from None
    month = Month(gold=gold, logs={name: read_text(file, _SHAPE) for name, file in logs.items()})
    if faults := [*_faults_of_beliefs(month), *_faults_of_events(month), *_faults_of_arrivals(month)]:
        raise BadGold(path, faults)
    return month


def _day_of(path: str) -> str:
    return day_of_log(log_path(path.rpartition("/")[2].removesuffix(".md")[:10]))


def _unsaid(month: Month, day: str, quote: str) -> str:
    """Return why a quote is not in the logs of its day, or nothing."""
    texts = [text for path, text in month.logs.items() if _day_of(path) == day]
    if not texts:
        return f"there is no log of {day}"
    return "" if any(quote in text for text in texts) else f"the log of {day} does not hold {quote!r}"


def _faults_of_beliefs(month: Month) -> Iterator[str]:
    beliefs = month.gold.beliefs
    keys = Counter(one.key for one in beliefs)
    yield from (f"beliefs: the key {key!r} stands {count} times" for key, count in keys.items() if count > 1)
    texts = Counter(same_key(one.text) for one in beliefs)
    for one in beliefs:
        if texts[same_key(one.text)] > 1:
            yield f"{one.key}: another belief has the same text"
        for said in one.quotes:
            if why := _unsaid(month, said.day, said.quote):
                yield f"{one.key}: {why}"
        yield from (f"{one.key}: there is no belief {key!r}" for key in one.because if key not in keys)
        if not one.may_become(one.status) or not one.may_become(one.begins_as):
            yield f"{one.key}: a {one.type} cannot be {one.closed or one.status}"


def _faults_of_events(month: Month) -> Iterator[str]:
    beliefs = month.beliefs
    ends = {key: one.begins_as for key, one in beliefs.items()}
    for number, event in enumerate(month.gold.events):
        yield from (f"events[{number}]: {why}" for why in _faults_of_event(event, month))
        if event.outcome:
            ends |= dict.fromkeys(event.of, event.outcome)
    for key, one in beliefs.items():
        if one.status is not ends[key]:
            yield f"{key}: its status is {one.status}, but by its events it is {ends[key]}"


def _faults_of_event(event: Event, month: Month) -> Iterator[str]:
    beliefs = month.beliefs
    if why := _unsaid(month, event.day, event.quote):
        yield why
    if bool(event.how) != (event.operation == "close"):
        yield "`how` belongs to close, and close needs it"
    if (event.operation in {"supersede", "update"}) != (event.belief in beliefs):
        yield "supersede and update name a `belief` that takes the place, and only they do"
    for key in event.of:
        if key not in beliefs:
            yield f"there is no belief {key!r}"
        elif event.outcome and not beliefs[key].may_become(event.outcome):
            yield f"{key} is a {beliefs[key].type} and cannot be {event.outcome}"


def _faults_of_arrivals(month: Month) -> Iterator[str]:
    for path, day in month.gold.arrives.items():
        if path not in month.logs:
            yield f"arrives: there is no {path}"
        elif day < _day_of(path):
            yield f"arrives: {path} comes on {day}, before its day"


_NOT_WORDS = re.compile(r"[^\w#./@%+:-]+")
_EDGES = ".:-/#+%@"


def words(text: str) -> list[str]:
    """Return the words of a text, casefolded; numbers, names and references stay whole."""
    return [word for raw in _NOT_WORDS.split(text[:LONGEST_TEXT].casefold()) if (word := raw.strip(_EDGES))]


def same_key(text: str) -> str:
    """Return a key that is equal for texts that differ only in case, punctuation and Markdown."""
    return " ".join(words(text))


def overlap(first: Counter[str], second: Counter[str]) -> float:
    """Return the F1 score of two bags of words: 0 for no common word, 1 for the same words."""
    common = (first & second).total()
    return 2 * common / (first.total() + second.total()) if common else 0.0
