"""`curate export`, the items for other programs, and `curate import`, which reads what that wrote."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipelines.cli.options import with_memory, with_root
from pipelines.cli.output import put_out, say, warn, write_out
from pipelines.errors import BadFile, UsageFault
from pipelines.night.import_items import MAX_LINE, import_items, read_export
from pipelines.queries.item_graph import graphml, json_lines
from pipelines.store.bundle import write_bundle
from pipelines.store.transcripts.reader import read_lines

if TYPE_CHECKING:
    from pipelines.cli.options import OpenMemory
    from pipelines.night.import_items import Export


@click.command()
@click.option(
    "--jsonl", metavar="FILE", help="Write JSON lines, which `curate import` reads back; - is standard output."
)
@click.option("--graphml", "xml", metavar="FILE", help="Write GraphML: items as nodes, links as edges; - as above.")
@click.option(
    "--bundle", metavar="FILE", help="Write the whole memory, which `curate init --from` restores; - as above."
)
@with_root
def curate_export(*, jsonl: str | None, xml: str | None, bundle: str | None, root: Path) -> None:
    """Write all items, whatever their status, with their evidence and links, for other programs.

    With --bundle, write the memory itself: its history in git, and all files as they stand, transcripts too. It is read
    by whoever has the file.
    """
    if [jsonl, xml, bundle].count(None) != 2:  # noqa: PLR2004  all but the one
        raise UsageFault("Nobody said what to write.", "Name one of --jsonl FILE, --graphml FILE and --bundle FILE.")
    if bundle is not None:
        _write_bundle(root, bundle)
    elif jsonl is not None:
        write_out(jsonl, json_lines(root))
    elif xml is not None:
        write_out(xml, graphml(root))


def _write_bundle(root: Path, name: str) -> None:
    target = Path(name).expanduser().absolute()
    if name != "-" and (target.exists() or root.resolve() in target.resolve().parents):
        why = "is there already" if target.exists() else "would be part of the memory"
        raise BadFile(target, why, "Name another file, outside of the memory.")
    with put_out(name) as out:
        files = write_bundle(root, out)
    shown = "standard output" if name == "-" else str(target)
    warn(f"Wrote {files:,} files and their history to {shown}. `curate init DIR --from FILE` restores them.")


@click.command()
@click.argument("file", metavar="FILE.jsonl", type=click.Path(path_type=Path, allow_dash=True))
@click.option(
    "--replace", is_flag=True, help="Where an id stands already and says something else, take the file's words."
)
@with_memory
def curate_import(*, file: Path, replace: bool, opened: OpenMemory) -> None:
    """Read items from the JSONL of `curate export`, or from standard input where FILE is `-`.

    Each goes where it stood, with its id, evidence and links; documents that are missing are made. What is there
    already is passed over. All of it is imported, in one commit, or nothing.
    """
    done = import_items(*opened, _read(file), replace=replace)
    if not (done.added or done.replaced or done.made):
        say(f"Nothing to import: {done.skipped} {'item is' if done.skipped == 1 else 'items are'} there already.")
        return
    parts = [f"{len(done.added)} {'item' if len(done.added) == 1 else 'items'} imported"]
    parts += [f"{len(done.replaced)} replaced"] if done.replaced else []
    parts += [f"{done.skipped} there already"] if done.skipped else []
    parts += [f"{len(done.made)} {'document' if len(done.made) == 1 else 'documents'} made"] if done.made else []
    say(f"{', '.join(parts)}.")


def _read(file: Path) -> Export:
    if str(file) == "-":
        return read_export("Standard input", read_lines(sys.stdin.buffer, MAX_LINE))
    try:
        with file.open("rb") as lines:
            return read_export(str(file), read_lines(lines, MAX_LINE))
    except OSError as error:
        raise BadFile(file, f"cannot be read: {(error.strerror or str(error)).lower()}", "Name another file.") from None
