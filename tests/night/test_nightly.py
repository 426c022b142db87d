"""The night as a whole: what is read, kept, left alone and reported, with real files and real git."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from pipelines.extract.extraction import Extraction
from pipelines.extract.rules import RulesExtractor
from pipelines.night.report import Watch
from pipelines.night.run import Night
from pipelines.night.run_night import curate_night
from pipelines.settings import load_settings
from pipelines.store.snapshot import read_documents

if TYPE_CHECKING:
    from pipelines.extract.extraction import Candidate, ExtractionRequest, Place
    from pipelines.night.report import RunReport
    from tests.conftest import Memory


def night(memory: Memory, now: str = "2026-03-20T02:00+00:00", extractor: object = None) -> RunReport:
    chosen = extractor or RulesExtractor()
    settings = load_settings(memory.root)
    moment = datetime.fromisoformat(now)
    return curate_night(Night(memory.root, settings, chosen, moment), Watch())  # type: ignore[arg-type]  # test doubles


def texts(memory: Memory) -> set[str]:
    return {placed.item.text for document in read_documents(memory.root).values() for placed in document.items}


def _invented(one: Candidate) -> Place:
    return replace(one.places[0], quote="never said")


def test_an_item_without_its_quote_is_dropped_and_counted(memory: Memory) -> None:
    class Inventing(RulesExtractor):
        def extract(self, request: ExtractionRequest) -> Extraction:
            found = super().extract(request).candidates
            return Extraction((*found, *(replace(one, text="Invented", places=(_invented(one),)) for one in found)))

    memory.write("Logs/2026-03-18.md", "- Decision: real\n")
    report = night(memory, extractor=Inventing())
    assert (report.ungrounded, report.added) == (1, 1)
    assert texts(memory) == {"real"}


def test_what_the_owner_staged_is_staged_still(memory: Memory) -> None:
    (memory.root / "other.txt").write_text("mine")
    memory.git("add", "other.txt")
    memory.write("Logs/2026-03-18.md", "- Decision: x y z\n")
    night(memory)
    assert memory.git("status", "--porcelain") == "A  other.txt\n"


def test_what_is_written_during_a_run_is_merged_with_its_changes(memory: Memory) -> None:
    memory.write("Logs/2026-03-18.md", "- Decision: first\n- Todo: second\n")

    class Editing(RulesExtractor):
        def extract(self, request: ExtractionRequest) -> Extraction:
            memory.write("MEMORY.md", "# Memory\n\nMy own words, written during the run.\n")
            memory.write("Areas/general.md", "# General\n\nMine.\n")
            return super().extract(request)

    report = night(memory, extractor=Editing())
    assert "Areas/general.md changed during the run; both changes were merged." in report.warnings
    assert "My own words, written during the run." in memory.read("MEMORY.md")
    assert "Mine." in memory.read("Areas/general.md")
    assert texts(memory) == {"first", "second"}
    assert "Mine." not in memory.git("show", report.commit or "")


def test_what_the_template_has_and_the_memory_lacks_is_added(memory: Memory) -> None:
    for path in ("USER.md", "MEMORY.md", "Review.md"):
        (memory.root / path).unlink()
    memory.write("Logs/2026-03-18.md", "- Rule: never push on Fridays\n")
    night(memory)
    assert "never push on Fridays" in memory.read("MEMORY.md")
    assert memory.read("Review.md").startswith("# Review")
