"""The copy: a whole memory is made beside, put under git, and only then moved to its place."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
from typing import IO, TYPE_CHECKING, Final

from pipelines.agents.adopt_plan import joined, without
from pipelines.agents.adopt_source import note_text
from pipelines.errors import BadFile, UsageFault
from pipelines.store.edits import commit_edits
from pipelines.store.files import open_regular, writing
from pipelines.store.git import Author, Git
from pipelines.store.layout import SETTINGS
from pipelines.store.lock import run_lock
from pipelines.store.template import lay_down
from pipelines.templating import resource

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from pathlib import Path

    from pipelines.agents.adopt_plan import Piece, Plan
    from pipelines.agents.adopt_source import LeftOut
    from pipelines.settings import Settings


_STAGE: Final = ".adopting"


def check_places(source: Path, target: Path) -> None:
    """See that a source can be copied to a target without one standing in the other.

    Raises:
        UsageFault: they overlap, or the target holds something.
        BadFile: the target is no folder.
        NotWritable: the target cannot even be listed.
    """
    old, new = source.resolve(), target.resolve()
    if old == new:
        raise UsageFault(
            f"{target} is the folder that is to be adopted.", "It is copied, never changed: name a new folder."
        )
    if old in new.parents or new in old.parents:
        raise UsageFault(f"{target} and {source} stand in each other.", "Name a folder elsewhere.")
    if not os.path.lexists(target):
        return
    if not target.is_dir():
        raise BadFile(target, "is no folder", "Name a folder, or one to be made.")
    with writing(target):
        there = [entry.name for entry in target.iterdir()]
    if there == [_STAGE]:
        raise UsageFault(f"{target / _STAGE} is left of an adoption that was broken off.", "Remove it, and adopt anew.")
    if there:
        raise UsageFault(f"{target} is not empty.", "Name a new folder: adopting never mixes two memories.")


def carry_out(plan: Plan, source: Path, target: Path, settings: Settings, now: datetime) -> Plan:
    """Copy what a plan says, lay down what a memory needs besides, and commit it. The source is only read.

    What stands in `target` is a whole memory or nothing.

    Args:
        plan: the plan.
        source: the folder that is adopted.
        target: the new memory.
        settings: those it begins with: the zone that its curate.toml names, and who commits where git knows nobody.
        now: the moment of its first commit.

    Returns:
        The plan as it was carried out: what could not be read any more is left out.

    Raises:
        UsageFault, BadFile: as `check_places`.
        NotWritable: the disk refused; nothing is left.
        GitFault: git refused; nothing is left.
    """
    check_places(source, target)
    with _stage_in(target) as stage:
        lost = [left for piece in plan.pieces for left in _put(source, stage, piece)]
        done = without(plan, lost)
        lay_down(stage, resource("memory_template"), settings.timezone)
        git = Git(stage)
        git.init()
        git.check()
        with run_lock(stage, "curate init"):
            author = Author(*settings.author, now)
            commit_edits(stage, git, f"Adopt {plan.kind.called}: {len(done.pieces):,} files\n", author)
        with writing(target):
            os.sync()
            # The settings are what makes a folder a memory: they come last.
            for entry in sorted(stage.iterdir(), key=lambda one: one.name == SETTINGS):
                entry.rename(target / entry.name)
    return done


@contextlib.contextmanager
def _stage_in(target: Path) -> Iterator[Path]:
    """Give a folder inside the target, on the same disk; it goes at the end, and with it a target that was made."""
    made = not os.path.lexists(target)
    stage = target / _STAGE
    with writing(target):
        stage.mkdir(parents=True)
    try:
        yield stage
    finally:
        shutil.rmtree(stage, ignore_errors=True)
        if made:
            with contextlib.suppress(OSError):
                target.rmdir()  # succeeds only where nothing came into it


def _put(source: Path, stage: Path, piece: Piece) -> list[LeftOut]:
    """Write one file of the new memory, and return which of its sources could not be read."""
    lost: list[LeftOut] = []
    place = stage / piece.target
    with writing(piece.target):
        place.parent.mkdir(parents=True, exist_ok=True)
    if piece.target.lower().endswith((".md", ".txt")):
        notes = []
        for path in piece.sources:
            try:
                notes.append((path, note_text(source, path)))
            except BadFile as fault:
                lost.append((path, fault.why))
        if notes:
            _write(place, io.BytesIO(joined(place.stem, notes)), source / notes[0][0])
        return lost
    [path] = piece.sources
    try:
        reading = open_regular(source, path)
    except BadFile as fault:
        return [(path, fault.why)]
    if reading is None:
        return [(path, "vanished while it was read")]
    with reading:
        _write(place, reading, source / path)
    return lost


def _write(place: Path, data: IO[bytes], like: Path) -> None:
    """Write a file, and take from it what others may not do with the original."""
    with writing(place), place.open("xb") as file:
        shutil.copyfileobj(data, file)
        mode = os.fstat(file.fileno()).st_mode & (like.stat().st_mode | 0o600) & 0o666
        os.fchmod(file.fileno(), mode)
