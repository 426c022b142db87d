"""Calls that make the code compile the patterns which no import compiles: those put together from what is given."""

from pathlib import Path

from pipelines import user_settings
from pipelines.agents import timers
from pipelines.agents import timers as filling
from pipelines.agents.adopt_source import moment_pattern
from pipelines.extract import grounding
from pipelines.extract.claims import needs_verifying
from pipelines.extract.extraction import Place
from pipelines.extract.rules.label_reader import read_labels
from pipelines.night import file_items as filing
from pipelines.review import match_forms as form_targets
from pipelines.search import hits as marks
from pipelines.search.chunk_context import grams
from pipelines.store.document import Document
from pipelines.store.item import Confidence, ItemType
from pipelines.store.log import parse_entries
from pipelines.store.secrets.find import find_secrets
from pipelines.store.secrets.secret_rules import compiled, load_rules
from pipelines.store.session_state import written_by_agents
from pipelines.view import markup as page


def drive() -> None:
    """Call each once, with something that all its branches see."""
    _tables()
    _files()
    grounding.Shown.of(["1,200 at Helm"]).numbers_missing("1.200 and 3")
    [said] = parse_entries("Logs/2026-03-18.md", "2026-03-18", "we run on Helm\n")
    needs_verifying("It runs on Helm.", [Place(said, 1, 1, said.text)])
    catalog = filing.Catalog({"USER.md": Document("USER.md", "# User\n\n- **Name**: Ada Lovelace\n")})
    filing.home_of(ItemType.FACT, "Ada likes tea.", Confidence.HIGH, catalog)
    words = "We met. Correction: 1,000 a day, not 100\n"
    [form] = read_labels(parse_entries("Logs/2026-03-18.md", "2026-03-18", words)).forms
    form_targets.corrected_text(form, "The API allows 100 a day")
    marks._marked("日本語の検索", ["日本語の検索です"])
    page.marked("We met at the harbour.", "harbour")
    grams("使用SQLite")
    written_by_agents(Path("/nowhere"), 0)("- Fact: The gate is blue.")
    user_settings.UserFile.model_validate({"ping": {"url": "https://a.example/x"}})


def _tables() -> None:
    rules = load_rules()
    assert [compiled(rule.pattern) for rule in rules.rules]
    assert find_secrets(b"password = 'x8kQ2vR9mW4tZ7pL'")


def _files() -> None:
    moment_pattern("YYYY-MM-DD")
    moment_pattern("[Daily] dddd Do MMMM YYYY")
    timers._with_block("", "")
    filling.fill("crontab", {"curate": "/bin/curate"})
