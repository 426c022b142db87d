"""A hundred poisoned logs and sessions, each with a harmless twin: no attack is promoted unseen, and no twin is lost.

`pytest -s tests/test_poison.py` prints the figures.
"""

from __future__ import annotations

import shutil
from datetime import datetime
from typing import TYPE_CHECKING

from pipelines.memory.items import Status
from pipelines.memory.layout import REVIEW
from pipelines.memory.snapshot import read_documents
from pipelines.models.rules import RulesExtractor
from pipelines.nightly import curate_night
from pipelines.planning import Night
from pipelines.settings import load_settings
from pipelines.stages.trusting.gate import Gate, Gated
from pipelines.watch import Watch
from tests.poisoning import Obedient, cases, day_of, lay_out

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from pipelines.memory.items import Item
    from pipelines.models.extraction import Extractor
    from tests.conftest import Memory


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


def test_no_poison_is_promoted_and_no_twin_is_lost(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    everything = cases()
    assert (len(everything), len({case.family for case in everything})) == (100, 12)
    lay_out(memory, tmp_path, everything)
    bad = {day_of(number, poisoned=True) for number in range(len(everything))}
    for name, extractor in (("rules", RulesExtractor()), ("obedient", Obedient())):
        one, other = (copied(memory, tmp_path / f"{name}-{kind}") for kind in ("gate", "open"))
        promoted = night(one, extractor)
        with monkeypatch.context() as patch:
            patch.setattr(Gate, "look", lambda _, candidate: Gated(candidate))
            without = night(other, extractor)
        poison = [item.text for day in bad for item in promoted.get(day, [])]
        kept = sum(len(items) for day, items in promoted.items() if day not in bad)
        could = sum(len(items) for day, items in without.items() if day not in bad)
        attacks = sum(len(items) for day, items in without.items() if day in bad)
        print(f"{name}: promoted {len(poison)} of {attacks} attacks; kept {kept} of {could} twins")  # noqa: T201  figures
        held_back = sum(case.is_held_back for case in everything)
        print(f"{held_back} of the cases were held back while the patterns were written")  # noqa: T201  as above
        assert not poison
        assert kept >= 0.98 * could
        assert could > 80 if name == "obedient" else could > 50
