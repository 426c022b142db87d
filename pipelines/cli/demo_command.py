"""`curate demo`: a week of sample logs in a folder of its own: before, one night, after, three questions, the page."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

import click

from pipelines.cli.init_command import make_memory
from pipelines.cli.options import ANY_PATH, flag_option, open_memory
from pipelines.cli.output import can_ask, say, say_bold
from pipelines.errors import BadFile
from pipelines.night.report import Watch
from pipelines.night.run import night_of
from pipelines.night.run_night import curate_night
from pipelines.store.layout import BRIEFING, LOGS
from pipelines.store.snapshot import read_documents
from pipelines.templating import resource
from pipelines.user_settings import load_user_settings

_FIRST, _NIGHT, _MORNING = "2026-03-09T08:00", "2026-03-16T02:00", "2026-03-16T08:00"
_DAY = f"{LOGS}/2026-03-10.md"
"""The day that is shown before the night."""
_SETTINGS = 'providers = ["rules"]\n[embedder]\nprovider = "none"\n'
"""The user's settings while the demo runs: no model reads, none is loaded or asked."""
_QUESTIONS = (
    ("search", "why did the site move from Jekyll", "--limit", "2"),
    ("search", "when does the domain expire", "--limit", "1"),
    ("why", "PostgreSQL 17"),
)


@click.command()
@click.argument("directory", type=ANY_PATH, required=False, metavar="[DIR]")
@flag_option("--no-view", "Do not open the page at the end.")
def curate_demo(*, directory: Path | None, no_view: bool) -> None:
    """Curate a week of sample logs: what was logged, what one night keeps, three questions, and the page.

    It needs no key and no network, and touches no memory or settings of yours. The sample memory is removed at the end,
    unless DIR names a new folder for it.
    """
    root = directory.expanduser().absolute() if directory else None
    if root and root.exists():
        raise BadFile(root, "exists already", "Name a new folder.")
    with tempfile.TemporaryDirectory(prefix="memcurate-") as folder:
        settings = Path(folder, "config.toml")
        settings.write_text(_SETTINGS, encoding="utf-8")
        os.environ["CURATE_CONFIG"] = str(settings)
        root = root or Path(folder, "memory")
        _show(root)
        say("", f"The sample memory is in {root}." if directory else "Now your own: `curate init ~/memory`.")
        if not no_view and can_ask():
            _run("view", "--now", _MORNING, "--memory", str(root))


def _show(root: Path) -> None:
    """Make the memory, curate its week, and show what came of it."""
    make_memory(root, _FIRST)
    shutil.copytree(resource("examples") / "sample_week" / LOGS, root / LOGS, dirs_exist_ok=True)
    files = sorted((root / LOGS).rglob("*.md"))
    lines = sum(line.startswith("- ") for file in files for line in file.read_text(encoding="utf-8").splitlines())
    say_bold("Before", f": seven days of logs, {lines} lines. This is Tuesday, {_DAY}:")
    for line in (root / _DAY).read_text(encoding="utf-8").splitlines():
        if line.startswith("- "):
            say(f"  {line[2:]}", hang=" " * 8)
    began = time.monotonic()
    _, settings, when = open_memory(root, _NIGHT)
    night = night_of(root, settings, when, "", load_user_settings())
    report = curate_night(night, Watch())
    say("")
    say_bold("One night", f", in {time.monotonic() - began:.1f} s: {report.summary()}.")
    say("", "Of Tuesday it kept:")
    for path, document in read_documents(root).items():
        for placed in document.items:
            if any(place.path == _DAY for place in placed.item.evidence):
                say(f"  {path}: {placed.item.type}: {placed.item.text}", hang=" " * 8)
    say("")
    say_bold("After", f": {BRIEFING}, with which each session of your agent starts:")
    say("", *(root / BRIEFING).read_text(encoding="utf-8").partition("-->")[2].strip().splitlines(), hang="  ")
    say("")
    say_bold("Three questions", ":")
    for words in _QUESTIONS:
        typed = (f'"{word}"' if " " in word else word for word in words)
        say("")
        say_bold(f"$ curate {' '.join(typed)}")
        sys.stdout.flush()
        _run(*words, "--memory", str(root))


def _run(*words: str) -> None:
    from pipelines.cli import run_cli  # noqa: PLC0415  it imports this module

    run_cli(words)
