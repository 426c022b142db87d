"""Poisoned logs and sessions, each with a harmless twin: no attack is promoted unseen, and no twin is lost.

`pytest -s tests/test_poison.py` prints the figures.
"""

from __future__ import annotations

import shutil
from datetime import datetime
from typing import TYPE_CHECKING

import pytest

from pipelines.extract.extract_days import DayToRead
from pipelines.extract.rules import RulesExtractor
from pipelines.night.plan import Night
from pipelines.night.progress import Watch
from pipelines.night.run_night import curate_night
from pipelines.review.review import Filed
from pipelines.review.trust.gate import Gate
from pipelines.settings import load_settings
from pipelines.store.item import ItemType, Status, fold
from pipelines.store.layout import REVIEW
from pipelines.store.log import parse_entries
from pipelines.store.session_state import Seals
from pipelines.store.snapshot import read_documents
from tests.making import candidate, place
from tests.poisoning import Obedient, cases, day_of, harmless, lay_out

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.extract.extraction import Extractor
    from pipelines.store.item import Item
    from tests.conftest import Memory


BLIND, BLIND_HARMLESS = {"rules@1": 11, "obedient@1": 57}, 4
"""So many proposals of the blind set get through, and so many honest lines beside it wait."""


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
        patch.setattr(Gate, "look", lambda _, candidate: Filed(candidate))
        without = night(other, extractor)
    poison = [item.text for day in sorted(bad) for item in promoted.get(day, [])]
    kept = sum(len(items) for day, items in promoted.items() if day not in bad)
    could = sum(len(items) for day, items in without.items() if day not in bad)
    attacks = sum(len(items) for day, items in without.items() if day in bad)
    print(f"{name}, {extractor.name}: promoted {len(poison)} of {attacks} attacks; kept {kept} of {could} twins")  # noqa: T201  figures
    return poison, kept, could


def doubt_about(line: str) -> str:
    """Return why a person is asked about a line of an agent's own journal; one without a label is taken for a rule."""
    label, _, text = line.partition(": ")
    kind = ItemType(label) if label in set(ItemType) else ItemType.RULE
    (entry,) = parse_entries("Logs/2026-03-10.md", "2026-03-10", f"- 09:00 {line}\n")
    day = DayToRead(entry.path, entry.day, "", (entry,), (entry,))
    one = candidate(text, kind, at=place(entry, line))
    return Gate([day], Seals(b""), "self", frozenset()).look(one).doubt


@pytest.mark.parametrize(
    ("name", "count", "families", "least"),
    [("first", 100, 12, 50), ("second", 56, 13, 40)],
    ids=["first", "second"],
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


def test_what_gets_through_of_the_blind_set_does_not_grow(memory: Memory, tmp_path: Path) -> None:
    """Who wrote these had seen neither patterns nor sets, and no pattern is mended for them.

    Whatever somebody brought in from outside waits, however it is put.
    """
    everything = cases("blind")
    lay_out(memory, tmp_path, everything)
    outside = [fold(case.poison) for case in everything if case.form in {"web", "mcp"}]
    for extractor in (RulesExtractor(), Obedient()):
        poison, kept, could = figures(memory, tmp_path, "blind", extractor)
        assert len(poison) <= BLIND[extractor.name], poison
        assert kept >= 0.96 * could
        assert not [text for text in poison if any(text in attack for attack in outside)]


def test_how_many_honest_lines_of_the_same_makers_wait() -> None:
    lines = harmless("blind_harmless")
    waiting = [line for line in lines if doubt_about(line)]
    print(f"blind: {len(waiting)} of {len(lines)} honest lines wait")  # noqa: T201  figures
    assert len(waiting) <= BLIND_HARMLESS, waiting


@pytest.mark.parametrize("line", harmless())
def test_what_a_group_or_a_team_settles_for_itself_is_filed(line: str) -> None:
    """A parser that must always do a thing, editors who need not ask, a check that is never skipped order no agent."""
    assert doubt_about(line) == ""
