"""`curate index`: bring the search index up to date, or build it anew."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import click

from pipelines.commands.options import memory_option, memory_root
from pipelines.commands.passed_over import passed_over

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.index.build import IndexReport


@click.command("index")
@click.option("--full", is_flag=True, help="Build it anew from the files, aside, and swap it in whole.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON object.")
@memory_option
def command(*, full: bool, as_json: bool, memory: Path | None) -> None:
    """Bring the search index up to date with the files.

    The index is derived from the files, and safe to delete at any time. A file that cannot be indexed is named with
    its reason, and tried again when it changes.
    """
    from pipelines.index.build import rebuild_index, update_index  # noqa: PLC0415  the verb's work, not its help
    from pipelines.stages.meaning import embed  # noqa: PLC0415  as above

    root = memory_root(memory)
    report = rebuild_index(root) if full else update_index(root)
    vectors, notes = embed(root, math.inf)
    if as_json:
        done = report.to_json() | ({"vectors": vectors} if vectors else {})
        click.echo(json.dumps(done, ensure_ascii=False).encode())
    else:
        click.echo(_told(report))
        if vectors:
            click.echo(
                f"Vectors: {vectors['embedded']:,} new, {vectors['missing']:,} missing, by {vectors['embedder']}"
            )
    for note in notes:
        click.echo(note, err=True)


def _told(report: IndexReport) -> str:
    counts = [f"{report.files:,} files"]
    if report.added:
        counts.append(f"{report.added:,} new")
    counts.append(f"{report.changed:,} changed")
    if report.removed:
        counts.append(f"{report.removed:,} removed")
    counts += [f"{report.units:,} units", f"{len(report.skipped):,} skipped"]
    told = report.to_json()
    lines = [*passed_over(told["skipped"]), *passed_over(told["partial"])]
    return "\n  ".join((f"Index: {', '.join(counts)} in {report.seconds:.1f} s", *lines))
