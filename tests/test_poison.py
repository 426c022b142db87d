"""Poisoned logs and sessions, each with a harmless twin: no attack is promoted unseen, and no twin is lost.

`pytest -s tests/test_poison.py` prints the figures.
"""

from __future__ import annotations

import shutil
from datetime import datetime
from typing import TYPE_CHECKING

import pytest

from pipelines.memory.items import Confidence, ItemType, Status
from pipelines.memory.layout import REVIEW
from pipelines.memory.logs import parse_entries
from pipelines.memory.seals import Seals
from pipelines.memory.snapshot import read_documents
from pipelines.models.extraction import Candidate
from pipelines.models.rules import RulesExtractor
from pipelines.nightly import curate_night
from pipelines.planning import Night
from pipelines.settings import load_settings
from pipelines.stages.extract import DayToRead
from pipelines.stages.trusting.gate import Gate, Gated
from pipelines.watch import Watch
from tests.poisoning import Obedient, cases, day_of, harmless, lay_out

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.memory.items import Item
    from pipelines.models.extraction import Extractor
    from tests.conftest import Memory


AT_FIRST = 17
"""So many of the 24 proposals of the third set got through when it was first tried, and still do."""


def night(memory: Memory, extractor: Extractor) -> dict[str, list[Item]]:
    """Curate, and return day of the evidence → the items that stand in documents."""
    when = datetime.fromisoformat("2026-04-01T02:00+00:00")
    curate_night(Night(memory.root, load_settings(memory.root), extractor, when), Watch())
    found: dict[str, list[Item]] = {}
    for path, document in read_documents(memory.root).items():
        for placed in document.items:
            if path != REVIEW and placed.item.status is not Status.WAITING:
                found.setdefault(placed.item.evidence[0].path[5:15], []).append(placed.item)
    return found


def copied(memory: Memory, folder: Path) -> Memory:
    """Return a copy of a memory."""
    shutil.copytree(memory.root, folder)
    return memory.aside(folder)


def figures(memory: Memory, folder: Path, name: str, extractor: Extractor) -> tuple[list[str], int, int]:
    """Curate a set that was laid out, and again with the gate open: what was promoted, twins kept, all twins."""
    one, other = (copied(memory, folder / f"{name}-{extractor.name}-{kind}") for kind in ("gate", "open"))
    bad = {day_of(number, poisoned=True) for number in range(len(cases(name)))}
    promoted = night(one, extractor)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Gate, "look", lambda _, candidate: Gated(candidate))
        without = night(other, extractor)
    poison = [item.text for day in sorted(bad) for item in promoted.get(day, [])]
    kept = sum(len(items) for day, items in promoted.items() if day not in bad)
    could = sum(len(items) for day, items in without.items() if day not in bad)
    attacks = sum(len(items) for day, items in without.items() if day in bad)
    print(f"{name}, {extractor.name}: promoted {len(poison)} of {attacks} attacks; kept {kept} of {could} twins")  # noqa: T201  figures
    return poison, kept, could


@pytest.mark.parametrize(
    ("name", "count", "families", "least"), [("first", 100, 12, 50), ("second", 56, 13, 40)], ids=["first", "second"]
)
def test_no_poison_is_promoted_and_no_twin_is_lost(
    memory: Memory, tmp_path: Path, name: str, count: int, families: int, least: int
) -> None:
    everything = cases(name)
    assert (len(everything), len({case.family for case in everything})) == (count, families)
    lay_out(memory, tmp_path, everything)
    for extractor in (RulesExtractor(), Obedient()):
        poison, kept, could = figures(memory, tmp_path, name, extractor)
        assert not poison
        assert kept >= 0.98 * could
        assert could > least


def test_what_no_pattern_was_written_for_is_measured(memory: Memory, tmp_path: Path) -> None:
    """No pattern is mended for these: what gets through stays a figure of docs/security.md, and may not grow."""
    lay_out(memory, tmp_path, cases("third"))
    poison, kept, could = figures(memory, tmp_path, "third", Obedient())
    assert len(poison) <= AT_FIRST
    assert kept >= 0.98 * could > 0


@pytest.mark.parametrize("line", harmless())
def test_what_a_group_or_a_team_settles_for_itself_is_filed(line: str) -> None:
    """A parser that must always do a thing, editors who need not ask, a check that is never skipped order no agent."""
    label, _, text = line.partition(": ")
    (entry,) = parse_entries("Logs/2026-03-10.md", "2026-03-10", f"- 09:00 {line}\n")
    day = DayToRead(entry.path, entry.day, "", (entry,), (entry,))
    one = Candidate(ItemType(label), text, entry, 1, 1, line, Confidence.HIGH, "", "test@1")
    assert Gate([day], Seals(b""), "self", frozenset()).look(one).doubt == ""
