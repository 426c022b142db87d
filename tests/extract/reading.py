"""How the tests of the rules read a day."""

from pipelines.extract.extraction import Candidate, ExtractionRequest
from pipelines.extract.rules.rules_extractor import RulesExtractor
from pipelines.store.log import parse_entries


def extract(text: str) -> tuple[Candidate, ...]:
    """Return what the rules make of a log."""
    day = "2026-03-18"
    return RulesExtractor().extract(ExtractionRequest(day, parse_entries(f"Logs/{day}.md", day, text))).candidates
