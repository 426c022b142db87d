"""`curate eval`: measure what search finds, and what an extractor does, on data of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipelines.commands.eval_extract import command as extract_command
from pipelines.commands.eval_review import command as review_command
from pipelines.commands.options import memory_option, memory_root
from pipelines.commands.output import say, say_json, say_table, warn
from pipelines.text import plain_line

if TYPE_CHECKING:
    from pipelines.search.evaluate_search import Measures


@click.group("eval")
def command() -> None:
    """Measure search, extraction and the review on questions, logs and pairs whose answers you know."""


command.add_command(extract_command)
command.add_command(review_command)


@command.command("search")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print it as one JSON object.")
@memory_option
def search_command(file: Path, *, as_json: bool, memory: Path | None) -> None:
    """Score the index against FILE, one question a line: {"query": "...", "evidence": [["Logs/2026-01-02.md", 7]]}.

    Words, meaning and both are scored side by side: how much of the evidence stands inside the first 500, 1000 and 2000
    words of what was found, and how many of its files among the first 5 and 10; the reciprocal rank of the first hit
    that is evidence; and how long an answer takes, the embedder's part left out.
    """
    from pipelines.queries.search_settings import asker  # noqa: PLC0415  the verb's work, not its help
    from pipelines.search.build import freshen  # noqa: PLC0415  as above
    from pipelines.search.evaluate_search import measure, out_of_reach, read_questions  # noqa: PLC0415  as above
    from pipelines.search.filters import Filters  # noqa: PLC0415  as above

    root = memory_root(memory)
    questions = read_questions(file)
    fresh = freshen(root)
    who = asker(root, Filters(), mode="hybrid")
    asked = [who.ask(question.query) for question in questions]
    for note in (*fresh.notes, *who.notes):
        warn(note)
    _tell_lost(out_of_reach(root, questions), {place for question in questions for place in question.evidence})
    found = measure(root, questions, asked, fresh.stale)
    if as_json:
        say_json({"questions": len(questions), "modes": {mode: one.to_json() for mode, one in found.items()}})
        return
    _table(found)
    say(f"{len(questions):,} questions")


def _tell_lost(lost: list[tuple[str, int]], places: set[tuple[str, int]]) -> None:
    """Say that some evidence can only count as not found: its path may be misspelt, or its lines have moved."""
    if lost:
        path, line = lost[0]
        warn(
            f"Nothing that a search shows stands at {len(lost):,} of the {len(places):,} places given as evidence"
            f" (the first: {plain_line(path)}:{line}); they count as not found."
        )


def _table(found: dict[str, Measures]) -> None:
    titles = ["mode", "@500w", "@1000w", "@2000w", "day@5", "day@10", "MRR", "median ms", "p95 ms"]
    rows = [
        [mode, *(f"{value:.3f}" for value in (*one.recall, *one.days, one.mrr)), f"{one.median:.1f}", f"{one.p95:.1f}"]
        for mode, one in found.items()
    ]
    say_table(titles, rows)
