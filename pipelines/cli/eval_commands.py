"""`curate eval`: measure search and whole months on your own data."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipelines.cli.options import json_option, with_root
from pipelines.cli.output import count, say, say_json, say_table, warn
from pipelines.cli.progress_line import watch_for_people
from pipelines.text import escape_terminal_line

if TYPE_CHECKING:
    from datetime import datetime

    from pipelines.night.plan import Night
    from pipelines.queries.eval_month import Lived
    from pipelines.settings import Settings
    from pipelines.usage import Tally

_NIGHTS = ("one-by-one", "5", "1")
_json = json_option("Print it as one JSON object.")
_folder = click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
_provider = click.option("--provider", metavar="NAME", default="", help="Who reads, instead of the user's providers.")


@click.group("eval")
def curate_eval() -> None:
    """Measure search and whole months on data whose answers you know."""


@curate_eval.command("search")
@click.argument("file", type=click.Path(path_type=Path))
@_json
@with_root
def curate_eval_search(file: Path, *, as_json: bool, root: Path) -> None:
    """Score search on FILE, one question a line: {"query": "...", "evidence": [["Logs/2026-01-02.md", 7]]}.

    This compares search by words, by meaning and by both: how much of the evidence is in the first 500, 1000 and 2000
    words of the results, and how many of its files are among the first 5 and 10; the reciprocal rank of the first
    correct hit; and the time an answer takes, without the embedder.
    """
    from pipelines.queries.search_settings import search_session  # noqa: PLC0415  the verb's work, not its help
    from pipelines.search.build import freshen  # noqa: PLC0415  as above
    from pipelines.search.evaluate_search import measure, out_of_reach, read_questions  # noqa: PLC0415  as above
    from pipelines.search.query import SearchRequest  # noqa: PLC0415  as above

    questions = read_questions(file)
    fresh = freshen(root)
    who = search_session(root, SearchRequest(flat=True), mode="hybrid")
    asked = [who.ask(question.query) for question in questions]
    warn(*fresh.notes, *who.notes)
    if lost := out_of_reach(root, questions):  # a path may be misspelt, or lines have moved
        path, line = lost[0]
        warn(
            f"The index has nothing at {len(lost):,} of the"
            f" {len({place for question in questions for place in question.evidence}):,} places given as evidence"
            f" (the first is {escape_terminal_line(path)}:{line}); they count as not found."
        )
    found = measure(root, questions, asked, fresh.stale)
    if as_json:
        modes = {mode: {name: round(value, 4) for name, value in one.items()} for mode, one in found.items()}
        say_json({"questions": len(questions), "modes": modes})
        return
    say_table(
        ("mode", "@500w", "@1000w", "@2000w", "day@5", "day@10", "MRR", "median ms", "p95 ms"),
        [
            (mode, *(f"{share:.3f}" for share in shares), f"{median:.1f}", f"{p95:.1f}")
            for mode, (*shares, median, p95) in ((mode, one.values()) for mode, one in found.items())
        ],
    )
    say(count(len(questions), "question"))


def _paid(paid: Tally) -> str:
    from pipelines.queries.eval_month import paid_json  # noqa: PLC0415  as above

    calls, sent, received, usd = paid_json(paid).values()
    cost = "unknown cost (the price table lacks the model)" if usd is None else f"{usd:.4f} USD"
    return f"{count(calls, 'call')}, {sent:,} tokens sent, {received:,} received, {cost}"


@curate_eval.command("month")
@_folder
@_provider
@click.option("--nights", type=click.Choice(_NIGHTS), help="Read the month only in this way.")
@click.option("--verbose", is_flag=True, help="Show what went wrong, line by line.")
@_json
def curate_eval_month(folder: Path, *, provider: str, nights: str | None, verbose: bool, as_json: bool) -> None:
    """Curate DIR, a month of logs with known outcomes, and score what the memory believes at the end.

    DIR holds Logs/ and gold.json, as in examples/month, whose README describes them. The month is read night by night,
    in five runs, and in one run, each time into a temporary memory; the results should agree. Your own memory is not
    used. A model is called, and paid, three times for every day; limit that with --nights.
    """
    from pipelines.cli.run_command import night_of  # noqa: PLC0415  the verb's work, not its help
    from pipelines.queries.eval_month import WAYS, live  # noqa: PLC0415  as above
    from pipelines.queries.month_gold import read_month  # noqa: PLC0415  as above
    from pipelines.user_settings import load_user_settings  # noqa: PLC0415  as above

    user = load_user_settings(os.environ, provider)
    month = read_month(folder)

    def make_night(root: Path, settings: Settings, when: datetime) -> Night:
        return night_of(root, settings, when, "", user)[0]

    lived: dict[str, Lived] = {}
    with tempfile.TemporaryDirectory(prefix="curate-month-") as home, watch_for_people() as watch:
        for way in [nights] if nights else WAYS:
            with watch.stage(WAYS[way]):
                lived[way] = live(month, way, Path(home).resolve() / way, make_night, watch.advance)
    if as_json:
        counts = {"days": len(month.arrivals()), "beliefs": len(month.beliefs), "events": len(month.gold.events)}
        say_json(counts | {"ways": {way: one.to_json() for way, one in lived.items()}})
    else:
        _tell_month({WAYS[way]: one for way, one in lived.items()}, verbose=verbose)


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
