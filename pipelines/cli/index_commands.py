"""`curate index`: update the search index."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import click

from pipelines.cli.options import flag_option, json_option, with_root
from pipelines.cli.output import count, say, say_json, skipped_lines, warn, watch_for_people
from pipelines.errors import FINE, INTERRUPTED

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.search.build import IndexReport


@click.command("index")
@flag_option("--full", "Rebuild it from the files.")
@json_option("Print the report as one JSON object.")
@with_root
def curate_index(*, full: bool, as_json: bool, root: Path) -> int:
    """Update the search index from the files.

    It covers the logs, session transcripts (Sessions/**/*.jsonl), and in Projects, Areas, Resources and Archives all
    Markdown, text and PDF files.

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
        done = report.to_json() | ({"vectors": vectors} if vectors else {})
        say_json(done)
    else:
        _tell_report(report)
        if vectors:
            say(f"Vectors: {vectors['embedded']:,} new, {vectors['missing']:,} missing, by {vectors['embedder']}")
    warn(*notes)
    return INTERRUPTED if vectors.get("interrupted") else FINE


def _tell_report(report: IndexReport) -> None:
    counts = (
        count(report.files, "file"),
        f"{report.added:,} new" if report.added else "",
        f"{report.changed:,} changed",
        f"{report.removed:,} removed" if report.removed else "",
        count(report.units, "unit"),
        f"{len(report.skipped):,} not read in full" if report.skipped else "",
    )
    say(f"Index: {', '.join(filter(None, counts))} in {report.seconds:.1f} s")
    say(*(f"  {line}" for line in skipped_lines(report.to_json()["skipped"])))
