"""The context stays under its budget, whatever the memory holds, and cuts at entries."""

import tempfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.queries.startup.context import ContextRequest, assemble
from pipelines.queries.startup.kept import LEAST_BUDGET
from pipelines.queries.startup.page import as_text
from pipelines.queries.startup.read import document_entries, fitting, tokens
from pipelines.store.document import Document
from tests.making import plant

NOW = datetime(2024, 10, 4, 12, tzinfo=UTC)
OPEN = (
    "- [ ] Todo: Call Anders about the data processing agreement. <!-- k0123456789 since=2024-01-01 due=2024-05-01 -->"
)
LINES = st.one_of(
    st.sampled_from(["", "# A", "## History", "## B", "---", "```", "<!--", "-->", "- [ ] Todo: x", "~~~", OPEN]),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r"), max_size=200),
    st.builds("- {}".format, st.text("abc de,.", max_size=120)),
)
TEXTS = st.lists(LINES, max_size=60).map("\n".join)


@given(texts=st.lists(TEXTS, min_size=6, max_size=6), budget=st.integers(LEAST_BUDGET, 3000))
def test_the_whole_is_under_the_budget(texts: list[str], budget: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        paths = ["SOUL.md", "USER.md", "MEMORY.md", "Projects/alpha.md", "Logs/2024-10-03.md", "Logs/2024-10-04.md"]
        for path, text in zip(paths, texts, strict=True):
            (root / path).parent.mkdir(exist_ok=True)
            (root / path).write_bytes(text.encode())
        parts = assemble(ContextRequest.at(root, NOW, budget=budget, project="alpha"))
        assert tokens(as_text(parts)) <= budget


@given(st.lists(LINES, max_size=40), st.integers(0, 400))
def test_entries_that_fit_are_kept_whole_and_in_order(lines: list[str], room: int) -> None:
    entries = document_entries(Document("Areas/a.md", "\n".join(lines)), with_open=True, ranks={})
    kept, cut = fitting(entries, room)
    assert [entry for entry in entries if entry in kept] == kept
    assert sum(entry.size for entry in kept) <= room or kept == []
    assert cut == sum(not entry.heading for entry in entries) - sum(not entry.heading for entry in kept)


@pytest.mark.parametrize(
    ("text", "most", "least"),
    [
        ("The import is blocked since Wednesday because the harbour's test server refuses the key.", 16, 16),
        ("Die Übersetzung steht bei Kapitel 45 und geht Ende der Woche mit dem nächsten weiter.", 21, 18),
        ("翻訳は365章のうち45章まで進みましたが、費用が高すぎるため、週末まで止めています。", 44, 32),
        ("- [2025-12-31](Logs/2025-12-31.md): 2 facts", 22, 22),
    ],
)
def test_tokens_are_about_what_tokenizers_count(text: str, most: int, least: int) -> None:
    """The counts are those of two vocabularies, of 100,000 and 200,000 entries."""
    assert least * 0.95 <= tokens(text) <= most * 1.35


def test_of_a_full_project_page_something_of_each_kind_is_kept(tmp_path: Path) -> None:
    facts = "".join(
        f"- Fact: shelf {number} is full of old boxes <!-- kbbbbbbb{number:03} since=2024-10-01 -->\n"
        for number in range(99)
    )
    kept = {
        "Goals": "Fact: Sell it.",
        "Contacts": "Fact: Ida Berg.",
        "Rules": "Rule: No rust.",
        "How to": "Fact: Sand.",
    }
    old = "".join(
        f"## {title}\n\n- {text} <!-- kaaaaaaaaa{number} since=2024-01-01 section={section} -->\n\n"
        for number, (title, text) in enumerate(kept.items())
        for section in [title.lower().replace(" ", "")]
    )
    (tmp_path / "Projects").mkdir()
    plant(tmp_path, "Projects/alpha.md", f"# Alpha\n\n## Facts\n\n{facts}\n{old}")
    told = as_text(assemble(ContextRequest.at(tmp_path, NOW, budget=600, project="alpha")))
    assert "entries were cut" in told
    assert all(f"- {text}" in told for text in kept.values())
