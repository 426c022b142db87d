"""The night as a whole: what is read, kept, left alone and reported, with real files and real git."""

from datetime import datetime

from pipelines.extract.rules.rules_extractor import RulesExtractor
from pipelines.night.report import RunReport, Watch
from pipelines.night.run import Night
from pipelines.night.run_night import curate_night
from pipelines.settings import load_settings
from pipelines.store.snapshot import read_documents
from tests.conftest import Memory


def night(memory: Memory, now: str = "2026-03-20T02:00+00:00", extractor: object = None) -> RunReport:
    chosen = extractor or RulesExtractor()
    settings = load_settings(memory.root)
    moment = datetime.fromisoformat(now)
    return curate_night(Night(memory.root, settings, chosen, moment), Watch())  # type: ignore[arg-type]  # test doubles


def texts(memory: Memory) -> set[str]:
    return {placed.item.text for document in read_documents(memory.root).values() for placed in document.items}


def test_what_the_template_has_and_the_memory_lacks_is_added(memory: Memory) -> None:
    for path in ("USER.md", "MEMORY.md", "Review.md"):
        (memory.root / path).unlink()
    memory.write("Logs/2026-03-18.md", "- Rule: never push on Fridays\n")
    night(memory)
    assert "never push on Fridays" in memory.read("MEMORY.md")
    assert memory.read("Review.md").startswith("# Review")
