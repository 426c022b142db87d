"""`curate search`: search the memory; `curate index`: update the index."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click

from pipelines.cli.options import (
    TextCommand,
    Words,
    as_of_option,
    choice_of,
    day_option,
    flag_option,
    json_option,
    project_option,
    with_root,
)
from pipelines.cli.output import day_shown, say, say_json, say_marked, warn, watch_for_people
from pipelines.errors import FINE, INTERRUPTED
from pipelines.search.filters import SOURCES, Filters
from pipelines.search.hits import CLOSE, LITTLE, OPEN, Found, Hit, snippets
from pipelines.store.item import ItemType, Trust
from pipelines.text import count, escape_terminal_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


# A person reads the first few; a program that asked for JSON takes as many as its own budget of words has room for.
SHOWN, GIVEN, MOST = 10, 100, 1000
_NAMED = 20


@click.command("search", cls=TextCommand)
@click.argument("query", nargs=-1, required=True)
@click.option(
    "--limit",
    type=click.IntRange(1, MOST),
    metavar="N",
    help=f"Show at most N hits, up to {MOST} [default: {SHOWN}; {GIVEN} with --json].",
)
@click.option(
    "--type", "types", type=choice_of(ItemType), multiple=True, help="Only items of this type; may be repeated."
)
@project_option("Only what belongs to this project.")
@day_option("--since", "Only what is from this day or later.")
@day_option("--before", "Only what is from before this day.")
@as_of_option
@click.option("--trust", "trusts", type=choice_of(Trust), multiple=True, help="Only what has this trust.")
@click.option("--source", "sources", type=choice_of(SOURCES), multiple=True, help="Only what is in this kind of file.")
@flag_option("--overruled", "Also find lines that were rejected or await review.")
@json_option("Print one JSON object: the query, its results, and notes on their limits.")
@with_root
def curate_search(
    query: Words,
    *,
    limit: int | None,
    project: str,
    overruled: bool,
    as_json: bool,
    root: Path,
    **narrowed: Any,  # noqa: ANN401  the values of `Filters` by their names
) -> None:
    """Search the memory for QUERY: plain words, a name, an id, #tag, project:NAME, type:TYPE or KEY=VALUE.

    `--as-of DAY` answers as of that day: with items that held then, log lines up to then, and documents last
    updated by then.

    A hit on an item stands for the log lines that it rests on. Overruled lines come last, struck through, with the
    reason. DAY can be 2026-04-09, "9 Apr", yesterday, Monday, "3 days ago" or "last week".
    """
    from pipelines.queries.search_settings import searched  # noqa: PLC0415  the verb's work, not its help
    from pipelines.search.query import SearchRequest  # noqa: PLC0415  as above

    filters = Filters(project=project.strip(), **{name: value for name, value in narrowed.items() if value})
    asked, how = " ".join(query), SearchRequest(filters=filters, overruled=overruled)
    hits, notes, found = searched(root, asked, limit or (GIVEN if as_json else SHOWN), how)
    warn(*notes)
    if as_json:
        results = [hit.to_json() for hit in hits]
        say_json({"query": asked, "found": found, "results": results, "notes": list(notes)})
    for line in () if as_json else _hit_lines(asked, hits, found):
        say_marked(line, OPEN, CLOSE)


def _hit_lines(query: str, hits: Sequence[Hit], found: Found) -> Iterator[str]:
    """Yield the lines that show the hits, with the words of the question between `OPEN` and `CLOSE`."""
    if found == "little":
        yield LITTLE
    for hit, snippet in zip(hits, snippets(query, [hit.text for hit in hits]), strict=True):
        days = " until ".join(day_shown(day) for day in (hit.date, hit.until) if day)
        yield "  ".join(filter(None, (f"{escape_terminal_line(hit.path)}:{hit.lines}", days, hit.quality)))
        if hit.where:
            yield f"    {escape_terminal_line(hit.where)}"
        yield f"    ~~{snippet}~~" if hit.overruled else f"    {snippet}"
        if hit.overruled:
            yield f"    {escape_terminal_line(str(hit.overruled))}"
        for one in hit.over_since:
            yield f"    since then: {escape_terminal_line(str(one))}"
        places = [f"{line.path}:{line.lines}" for line in hit.evidence]
        if places and places != [hit.source]:
            yield f"    evidence: {escape_terminal_line(', '.join(places))}"
    if found == "nothing":
        yield "Nothing was found."


@click.command("index")
@flag_option("--full", "Rebuild it from the files.")
@json_option("Print the report as one JSON object.")
@with_root
def curate_index(*, full: bool, as_json: bool, root: Path) -> int:
    """Update the search index from the files.

    It covers the logs, session transcripts (Sessions/**/*.jsonl), and all other Markdown and text files.

    The index is derived from the files and safe to delete. This names each file that cannot be indexed, with the
    reason, and tries it again when it changes.
    """
    from pipelines.search.build import rebuild_index, update_index  # noqa: PLC0415  the verb's work, not its help
    from pipelines.search.embed import embed  # noqa: PLC0415  as above

    with watch_for_people() as watch:
        with watch.stage("index"):
            report = rebuild_index(root) if full else update_index(root)
        with watch.stage("embed"):
            vectors, notes = embed(root, math.inf, watch.advance)
    if as_json:
        say_json(report.to_json() | ({"vectors": vectors} if vectors else {}))
    else:
        counts = (
            count(report.files, "file"),
            f"{report.added:,} new" if report.added else "",
            f"{report.changed:,} changed",
            f"{report.removed:,} removed" if report.removed else "",
            count(report.units, "unit"),
            f"{len(report.skipped):,} not read in full" if report.skipped else "",
        )
        say(f"Index: {', '.join(filter(None, counts))} in {report.seconds:.1f} s")
        for one in report.skipped[:_NAMED]:
            say(f"  {escape_terminal_line(one.path)} {one.reason}.")
        if left := len(report.skipped[_NAMED:]):
            say(f"  and {count(left, 'file')} more; --json lists all.")
        if vectors:
            say(f"Vectors: {vectors['embedded']:,} new, {vectors['missing']:,} missing, by {vectors['embedder']}")
    warn(*notes)
    return INTERRUPTED if vectors.get("interrupted") else FINE
