"""Curate a month with known outcomes, and score what the memory believes at its end.

usage: python -m benchmarks.month DIR [--provider NAME] [--nights one-by-one|5|1] [--verbose] [--json]

DIR holds Logs/ and gold.json, as in examples/month, whose README describes them. The month is read night by night, in
five runs, and in one run, each time into a temporary memory; the results should agree. Your own memory is not used. A
model is called, and paid, for every day; limit that with --nights.

An item matches a gold belief if their texts are equal except for case and punctuation, or if it rests on a line that
the gold quotes, has the belief's type and shares a fifth of its words (two fifths if the type differs). Each is matched
once, the most alike first.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchmarks.month_gold import overlap, read_month, same_key, words
from benchmarks.month_pages import Row, Stands, page_rows, row_of, written_rows
from pipelines.cli.output import say, say_json, say_table, watch_for_people
from pipelines.clock import moment
from pipelines.errors import CurateError
from pipelines.night.report import Watch
from pipelines.night.run import night_of
from pipelines.night.run_night import curate_night
from pipelines.settings import load_settings
from pipelines.store.evidence import Quotes
from pipelines.store.git import Git
from pipelines.store.item import CLOSED, STRUCK, Item, Status
from pipelines.store.layout import GENERAL, REVIEW, day_of_log
from pipelines.store.snapshot import read_documents
from pipelines.store.template import lay_down
from pipelines.text import count, fold
from pipelines.usage import Tally, Usage
from pipelines.user_settings import load_user_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from benchmarks.month_gold import Event, GoldBelief, Month
    from pipelines.night.run import Night
    from pipelines.settings import Settings

    MakeNight = Callable[[Path, Settings, datetime], Night]


ONE_BY_ONE: Final = "one-by-one"
WAYS: Final = {ONE_BY_ONE: "night by night", "5": "five runs", "1": "one run"}
"""How a month may be read: by name, what people call it."""
_HOUR = "23:30"
_SURVIVES = 0.6
_ON_ITS_LINES = 0.2
_OF_ANOTHER_TYPE = 0.4
_TAKEN_OUT = STRUCK | {Status.DONE}
_CLOSINGS = {
    "done": "finished Todos done",
    "dropped": "dropped Todos dropped",
    "resolved": "Risks resolved",
    "occurred": "Risks occurred",
    "answered": "questions answered",
    "ended": "ended without a successor",
    "never-held": "mistakes retracted",
}


@dataclass(slots=True)
class Lived:
    """The result of reading a month in one way.

    Args:
        rows: the scoreboard.
        runs: the number of runs.
        paid: the calls of models, their tokens, and what they cost.
        failures: why days stayed unread, each sentence once.
        warnings: what the nights noted, such as items that were dropped, each sentence once.
    """

    rows: tuple[Row, ...] = ()
    runs: int = 0
    paid: Tally = field(default_factory=Tally)
    failures: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {
            "rows": {row.key: {"count": row.count, "of": row.of, "wrong": [*row.wrong]} for row in self.rows},
            "runs": self.runs,
            **paid_json(self.paid),
            "failures": self.failures,
            "warnings": self.warnings,
        }


def live(month: Month, way: str, root: Path, make_night: MakeNight, advance: Callable[[int, int], None]) -> Lived:
    """Create a memory, let the logs arrive, run the nights, and return the result.

    Args:
        month: the logs and their known outcomes.
        way: one of `WAYS`.
        root: a folder to create for the memory.
        make_night: returns the night at a moment.
        advance: called with the number of finished runs, and of all runs.

    Raises:
        CurateError: a night failed.
    """
    runs = runs_of(month, way)
    _lay_down(root)
    settings, lived = load_settings(root), Lived(runs=len(runs))
    for number, (day, paths) in enumerate(runs, 1):
        for path in paths:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(month.logs[path], "utf-8", newline="")
        report = curate_night(make_night(root, settings, moment(f"{day}T{_HOUR}", settings)), Watch())
        lived.paid.add(report.tally)
        told = [report.failure, report.over_budget, *(report.warnings if report.pending else ())]
        lived.failures += [one for one in dict.fromkeys(told) if one and one not in lived.failures]
        lived.warnings += [one for one in dict.fromkeys(report.warnings) if one not in lived.warnings]
        advance(number, len(runs))
    lived.rows = compare(month, root)
    return lived


def runs_of(month: Month, way: str) -> list[tuple[str, list[str]]]:
    """Return the runs of a way: the day of each, and the logs that arrive since the run before."""
    days = [*month.arrivals().items()]
    wanted = len(days) if way == ONE_BY_ONE else min(int(way), len(days))
    runs = []
    for number in range(wanted):
        part = days[number * len(days) // wanted : (number + 1) * len(days) // wanted]
        runs.append((part[-1][0], [path for _, paths in part for path in paths]))
    return runs


def _lay_down(root: Path) -> None:
    lay_down(root, "UTC")
    Git(root).init()


# ------------------------------------------------------------------------------- the memory compared with the gold


def compare(month: Month, root: Path) -> tuple[Row, ...]:
    """Return the scoreboard of a memory: its documents compared with the gold."""
    quotes, documents = Quotes(root), read_documents(root)
    there = [
        Stands(placed.item, document, tuple(_lines_of(placed.item, quotes)))
        for path, document in sorted(documents.items())
        if path != REVIEW
        for placed in document.items
    ]
    pairs = _pairs(month.gold.beliefs, there)
    found: dict[str, Stands] = {}
    used: set[int] = set()
    for _, key, at in pairs:
        if key not in found and at not in used:
            found[key] = there[at]
            used.add(at)
    again = {at: key for _, key, at in reversed(pairs) if at not in used}
    rest = [at for at, one in enumerate(there) if at not in used and one.item.active]
    faults = _faults(month, found, [(there[at], again.get(at)) for at in rest])
    return (*_outcomes(month, found), *page_rows(month, documents, found), *faults, *written_rows(Git(root), documents))


def _lines_of(item: Item, quotes: Quotes) -> Iterator[tuple[str, str]]:
    for one in item.evidence:
        text, day = quotes.found(one).quote, day_of_log(one.path)
        if text and day:
            yield from ((day, fold(line)) for line in [text, *text.split("\n")] if line.strip())


def _pairs(beliefs: Iterable[GoldBelief], there: Sequence[Stands]) -> list[tuple[tuple[float, ...], str, int]]:
    """Return which items may be which beliefs, the surest first; see the module's docstring."""
    bags = [Counter(words(one.item.text)) for one in there]
    keys = [same_key(one.item.text) for one in there]
    pairs = []
    for belief in beliefs:
        bag, key = Counter(words(belief.text)), same_key(belief.text)
        for at, one in enumerate(there):
            common, typed = overlap(bag, bags[at]), one.item.type is belief.type
            same = key == keys[at]
            if same or (common >= (_ON_ITS_LINES if typed else _OF_ANOTHER_TYPE) and one.rests_on(belief)):
                rank = (not same, -common, not one.is_in(belief.document), one.item.status is not belief.status)
                pairs.append(((*map(float, rank), float(at)), belief.key, at))
    return sorted(pairs)


def _outcomes(month: Month, found: Mapping[str, Stands]) -> Iterator[Row]:
    """Yield the rows that should be high: each kind of outcome, and what stays."""
    beliefs = month.beliefs
    for operation, title in (("supersede", "changed beliefs superseded"), ("update", "changed in part, updated")):
        wrong = {key: _unlike_change(key, event, beliefs, found) for key, event in month.targets(operation)}
        yield row_of(operation, title, wrong)
    for status, title in _CLOSINGS.items():
        yield row_of(status, title, {k: _unlike(one, found) for k, one in beliefs.items() if one.status == status})
    said = dict.fromkeys(key for key, _ in month.targets("confirm"))
    yield row_of("confirmed", "said again, confirmed", {key: _unconfirmed(beliefs[key], found) for key in said})
    later = {key: one for key, one in beliefs.items() if one.since not in {said.day for said in one.quotes}}
    yield row_of("since", "valid from the day named", {key: _unlike_since(one, found) for key, one in later.items()})
    yield row_of("kept", "still live or open", {k: _unlike(one, found) for k, one in beliefs.items() if one.active})
    yield row_of("filed", "filed in their document", {key: _misfiled(beliefs[key], one) for key, one in found.items()})


def _faults(month: Month, found: Mapping[str, Stands], rest: Sequence[tuple[Stands, str | None]]) -> Iterator[Row]:
    """Yield the rows that should be zero."""
    beliefs = month.beliefs
    struck = [
        f"{one.text} (is {found[key].item.status})"
        for key, one in beliefs.items()
        if one.active and key in found and found[key].item.status in _TAKEN_OUT
    ]
    stale = [
        f"{one.text} (should be {one.status})"
        for key, one in beliefs.items()
        if not one.active and key in found and found[key].item.active
    ]
    missing = [one.text for key, one in beliefs.items() if key not in found]
    doubled = [f"{one.item.text} (again: {beliefs[key].text})" for one, key in rest if key]
    extra = [f"{one.item.text} (in {one.document.title})" for one, key in rest if not key]
    for name, title, wrong in (
        ("struck_wrongly", "struck wrongly", struck),
        ("stale", "still stale", stale),
        ("missing", "missing", missing),
        ("doubled", "doubled", doubled),
        ("extra", "extra, not in the gold", extra),
    ):
        yield Row(name, title, len(wrong), None, tuple(wrong), is_fault=True)


def _unlike(belief: GoldBelief, found: Mapping[str, Stands]) -> str:
    """Return how a belief's status differs from what it should be."""
    status = found[belief.key].item.status if belief.key in found else "missing"
    return "" if status == belief.status else f"{belief.text} (is {status}, should be {belief.status})"


def _unlike_change(key: str, event: Event, beliefs: Mapping[str, GoldBelief], found: Mapping[str, Stands]) -> str:
    """Return how a change differs from the gold: the older belief must be superseded, and its successor exist.

    The successor in an update must have most words that both gold beliefs share, which is the part that survives.
    """
    if key not in found or found[key].item.status is not Status.SUPERSEDED:
        return _unlike(beliefs[key], found)
    old, new = beliefs[key], beliefs[event.belief]
    if new.key not in found:
        return f"{old.text} (its place is not taken by: {new.text})"
    shared = set(words(old.text)) & set(words(new.text))
    kept = shared & set(words(found[new.key].item.text))
    if event.operation == "update" and len(kept) < _SURVIVES * len(shared):
        return f"{old.text} (of it, too little is in: {found[new.key].item.text})"
    return ""


def _unconfirmed(belief: GoldBelief, found: Mapping[str, Stands]) -> str:
    item = found[belief.key].item if belief.key in found else None
    return "" if item and (item.confirmed or item.seen > 1) else f"{belief.text} (is not confirmed)"


def _unlike_since(belief: GoldBelief, found: Mapping[str, Stands]) -> str:
    since = found[belief.key].item.since if belief.key in found else "missing"
    return "" if since == belief.since else f"{belief.text} (since {since}, should be {belief.since})"


def _misfiled(belief: GoldBelief, stands: Stands) -> str:
    title = stands.document.title
    # MEMORY.md keeps its history elsewhere.
    is_kept = stands.item.status in CLOSED and stands.document.path == GENERAL and belief.document == "User"
    if is_kept or stands.is_in(belief.document):
        return ""
    return f"{belief.text} (is in {title}, should be in {belief.document})"


def paid_json(paid: Tally) -> dict[str, Any]:
    """Return the cost of calls for JSON; `usd` is null if a model's price is unknown."""
    usage, is_known = sum((one.usage for one in paid.spent), Usage()), all(one.usd is not None for one in paid.spent)
    tokens = {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
    return {"calls": len(paid.spent), **tokens, "usd": paid.usd if is_known else None}


def _paid(paid: Tally) -> str:
    calls, sent, received, usd = paid_json(paid).values()
    cost = "unknown cost (the price table lacks the model)" if usd is None else f"{usd:.4f} USD"
    return f"{count(calls, 'call')}, {sent:,} tokens sent, {received:,} received, {cost}"


def _tell_month(lived: dict[str, Lived], *, verbose: bool) -> None:
    rows = list(zip(*(one.rows for one in lived.values()), strict=True))
    say_table(
        ("", *lived),
        [(f"{row[0].title}{' (want 0)' if row[0].is_fault else ''}", *(one.told for one in row)) for row in rows],
    )
    say()
    for name, one in lived.items():
        say(f"{name}: {_paid(one.paid)}")
        say(*(f"  {failure}" for failure in one.failures))
        if verbose:
            say(*(f"  {row.title}: {wrong}" for row in one.rows for wrong in row.wrong))
            say(*(f"  noted: {warning}" for warning in one.warnings))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the scoreboard."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--provider", metavar="NAME", default="", help="who reads, instead of your settings' providers")
    parser.add_argument("--nights", choices=WAYS, help="read the month only in this way")
    parser.add_argument("--verbose", action="store_true", help="show what went wrong, line by line")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args(arguments)
    lived: dict[str, Lived] = {}
    try:
        user, month = load_user_settings(asked.provider), read_month(asked.folder)

        def make_night(root: Path, settings: Settings, when: datetime) -> Night:
            return night_of(root, settings, when, "", user)

        with tempfile.TemporaryDirectory(prefix="curate-month-") as home, watch_for_people() as watch:
            for way in [asked.nights] if asked.nights else WAYS:
                with watch.stage(WAYS[way]):
                    root = Path(home).resolve() / way
                    lived[way] = live(month, way, root, make_night, watch.advance)
    except CurateError as fault:
        sys.exit(str(fault))
    if asked.json:
        counts = {"days": len(month.arrivals()), "beliefs": len(month.beliefs), "events": len(month.gold.events)}
        say_json(counts | {"ways": {way: one.to_json() for way, one in lived.items()}})
    else:
        _tell_month({WAYS[way]: one for way, one in lived.items()}, verbose=asked.verbose)


if __name__ == "__main__":
    main()
