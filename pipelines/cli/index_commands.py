"""`curate index`, which brings the search index up to date."""

from __future__ import annotations

import math
import os
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import click

from pipelines.cli.options import json_option, with_root
from pipelines.cli.output import say, say_json_line, skipped_lines, warn
from pipelines.cli.progress_line import watch_for_people
from pipelines.errors import EXPECTED, FINE
from pipelines.text import escape_terminal_line

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.extract.llm.images import DescribeReport
    from pipelines.search.build import IndexReport


@click.command("index")
@click.option("--full", is_flag=True, help="Build it anew from the files, aside, and swap it in whole.")
@click.option(
    "--describe-images",
    "describing",
    is_flag=True,
    help="First let a model that can see describe the images that have no description (see the user's settings).",
)
@json_option("Print the report as one JSON object.")
@with_root
def curate_index(*, full: bool, describing: bool, as_json: bool, root: Path) -> int:
    """Bring the search index up to date with the files.

    What is indexed: the logs; session transcripts (Sessions/**/*.jsonl: what users and agents said); and in Projects,
    Areas, Resources and Archives Markdown, text, PDF files, and images (png, jpg, gif, webp) that have a description
    beside them: photo.png.meta.json with {"description": "...", "title": "...", "date": "2026-03-18", "by": "..."},
    written by you or with --describe-images, which sends each such image to the model's provider, once.

    The index is derived from the files, and safe to delete at any time. A file that cannot be indexed is named with
    its reason, and tried again when it changes.
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
    """Let a model describe what has no description; each image is told on standard error when it is done.

    Raises:
        LockHeld: another run works on the memory; nothing was asked.
        NoVision: the user's settings name nobody who can see.
    """
    from pipelines.extract.llm.images import choose_describer, describe_images  # noqa: PLC0415  as above
    from pipelines.store.lock import run_lock  # noqa: PLC0415  only where images are described
    from pipelines.user_settings import load_user_settings  # noqa: PLC0415  as above

    describer = choose_describer(load_user_settings(os.environ))
    with run_lock(root, "the description of images"):
        report = describe_images(root, describer, lambda one: warn(f"  {escape_terminal_line(one.path)} {one.told}."))
    counts = ", ".join(f"{report.counts[kind]:,} {kind}" for kind in ("described", "skipped", "failed"))
    left = f", {report.left:,} not asked about after so many failures alike" if report.left else ""
    warn(f"Images: {counts}{left}, by {report.by}")
    return report


def _tell_report(report: IndexReport) -> None:
    counts = (
        f"{report.files:,} files",
        f"{report.added:,} new" if report.added else "",
        f"{report.changed:,} changed",
        f"{report.removed:,} removed" if report.removed else "",
        f"{report.units:,} units",
        f"{len(report.skipped):,} skipped",
    )
    say(f"Index: {', '.join(filter(None, counts))} in {report.seconds:.1f} s")
    files = asdict(report)
    say(*(f"  {line}" for key in ("skipped", "partial") for line in skipped_lines(files[key])))
