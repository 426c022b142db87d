"""`curate index`: update the search index."""

from __future__ import annotations

import math
import os
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import click

from pipelines.cli.options import json_option, with_root
from pipelines.cli.output import count, say, say_json_line, skipped_lines, warn
from pipelines.cli.progress_line import watch_for_people
from pipelines.errors import EXPECTED, FINE
from pipelines.text import escape_terminal_line

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.extract.llm.images import DescribeReport
    from pipelines.search.build import IndexReport


@click.command("index")
@click.option("--full", is_flag=True, help="Rebuild it from the files.")
@click.option(
    "--describe-images",
    "describing",
    is_flag=True,
    help="First let a vision model from your settings describe images without a description.",
)
@json_option("Print the report as one JSON object.")
@with_root
def curate_index(*, full: bool, describing: bool, as_json: bool, root: Path) -> int:
    """Update the search index from the files.

    It covers the logs, session transcripts (Sessions/**/*.jsonl), and in Projects, Areas, Resources and Archives all
    Markdown, text and PDF files, as well as images (png, jpg, gif, webp) with a description. The description of
    photo.png is in photo.png.meta.json: {"description": "...", "title": "...", "date": "2026-03-18", "by": "..."}.
    Write it yourself, or use --describe-images, which sends each such image to the model's provider once.

    The index is derived from the files and safe to delete. This names each file that cannot be indexed, with the
    reason, and tries it again when it changes.
    """
    from pipelines.search.build import rebuild_index, update_index  # noqa: PLC0415  the verb's work, not its help
    from pipelines.search.embed import embed  # noqa: PLC0415  as above
    from pipelines.search.indexed_files import unread  # noqa: PLC0415  as above

    images = _describe(root) if describing else None
    with watch_for_people() as watch:
        with watch.stage("index"):
            report = rebuild_index(root) if full else update_index(root)
        with watch.stage("embed"):
            vectors, notes = embed(root, math.inf, watch.advance)
    report = replace(report, partial=unread(root)[1])
    if as_json:
        done = asdict(report) | ({"vectors": vectors} if vectors else {})
        say_json_line(done | ({"images": images.to_json()} if images else {}))
    else:
        _tell_report(report)
        if vectors:
            say(f"Vectors: {vectors['embedded']:,} new, {vectors['missing']:,} missing, by {vectors['embedder']}")
    warn(*notes)
    return EXPECTED if images and (images.counts["failed"] or images.left) else FINE


def _describe(root: Path) -> DescribeReport:
    """Let a model describe the images without a description; print each on standard error when it is done.

    Raises:
        LockHeld: another run is working on the memory; no model was asked.
        NoVision: the user's settings name no vision model.
    """
    from pipelines.extract.llm.images import choose_describer, describe_images  # noqa: PLC0415  as above
    from pipelines.store.lock import run_lock  # noqa: PLC0415  only where images are described
    from pipelines.user_settings import load_user_settings  # noqa: PLC0415  as above

    describer = choose_describer(load_user_settings(os.environ))
    with run_lock(root, "the description of images"):
        report = describe_images(root, describer, lambda one: warn(f"  {escape_terminal_line(one.path)} {one.told}."))
    counts = ", ".join(f"{report.counts[kind]:,} {kind}" for kind in ("described", "skipped", "failed"))
    left = f", {report.left:,} skipped after repeated failures" if report.left else ""
    warn(f"Images: {counts}{left}, by {report.by}")
    return report


def _tell_report(report: IndexReport) -> None:
    counts = (
        count(report.files, "file"),
        f"{report.added:,} new" if report.added else "",
        f"{report.changed:,} changed",
        f"{report.removed:,} removed" if report.removed else "",
        count(report.units, "unit"),
        f"{len(report.skipped):,} skipped",
    )
    say(f"Index: {', '.join(filter(None, counts))} in {report.seconds:.1f} s")
    files = asdict(report)
    say(*(f"  {line}" for key in ("skipped", "partial") for line in skipped_lines(files[key])))
