"""`curate init --adopt --in-place`: notes are a memory where they lie, and not one byte of a person's is rewritten."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pytest

from tests.agents.adopt.places import TURNS, changed, links_in, theirs, vault
from tests.agents.adopt.samples import basic_memory, claude_code, openclaw

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.agents.adopt.places import Place

STATUS = ["status", "--now", "2026-03-02T03:00"]


_KINDS = [
    pytest.param(openclaw, "stakes", "memory/2026-02-02.md", id="openclaw"),
    pytest.param(claude_code, "quayside", "feedback_tests.md", id="claude-code", marks=pytest.mark.torture),
    pytest.param(vault, "lighthouse", "Ideas/Map.md", id="obsidian"),
    pytest.param(basic_memory, "meadow", "bees/South meadow.md", id="basic-memory", marks=pytest.mark.torture),
]


@pytest.mark.parametrize(("make", "word", "found_in"), _KINDS)
def test_a_persons_files_are_byte_for_byte_the_same_whatever_is_done(
    place: Place, tmp_path: Path, make: Callable[[Path], Path], word: str, found_in: str
) -> None:
    before = theirs(make(place.root))
    assert "is now a memory" in place.adopt("--yes")
    memory = place.memory
    for night in (1, 2, 3):
        memory.curate("log", f"Decision: Gate {night} is painted green.", "--now", f"2026-03-0{night}T10:00")
        memory.curate("run", "--now", f"2026-03-0{night + 1}T02:00")
    assert "Nothing new" in memory.curate("run", "--now", "2026-03-04T03:00")
    memory.curate("add", "fact", "The", "gate", "is", "of", "oak.", "--now", "2026-03-04T08:00")
    (tmp_path / "session.jsonl").write_text(TURNS)
    memory.curate("capture", str(tmp_path / "session.jsonl"), "--now", "2026-03-04T10:00")
    memory.curate("run", "--now", "2026-03-05T02:00")
    assert "undone" in memory.curate("undo", "--now", "2026-03-05T03:00")
    assert found_in in memory.curate("search", word)
    assert "Everything is accounted for" in memory.curate("check")
    assert "Gate 3" in memory.curate("context", "--now", "2026-03-03T12:00")
    assert changed(place.root, before) == []
    assert memory.git("diff", "--stat", "--", ":!Curated") == ""


@pytest.mark.parametrize(("make", "word", "found_in"), _KINDS)
def test_people_are_shown_the_names_on_the_disk(
    place: Place, make: Callable[[Path], Path], word: str, found_in: str
) -> None:
    del word, found_in
    make(place.root)
    place.adopt("--yes")
    memory = place.memory
    memory.curate("log", "Decision: The gate is painted green.", "--now", "2026-03-01T10:00")
    said = memory.curate("run", "--now", "2026-03-02T02:00", "--dry-run") + memory.curate(
        "run", "--now", "2026-03-02T02:00", "--json"
    )
    said += "".join(memory.curate(*words) for words in (["items"], ["runs"], ["search", "gate"], STATUS))
    items = json.loads(memory.curate("items", "--json"))
    paths = {one["path"] for item in items for one in item["evidence"]} | {item["document"] for item in items}
    assert all((memory.root / path).is_file() for path in paths)
    assert all(evidence["quote"] for item in items for evidence in item["evidence"])
    assert '"Areas/general.md"' not in said
    assert " Areas/" not in said
    assert "Notes/" not in said.replace(" from=Notes/", "")  # a diff shows comments, whose evidence is canonical
    for link in links_in(memory.read("Curated/MEMORY.md")):
        assert (memory.root / "Curated" / unquote(link)).is_file()


# ---------------------------------------------------------------- what is opted in


def test_only_the_lines_that_are_meant_get_marks(place: Place) -> None:
    before = theirs(vault(place.root))
    page, briefing = "Projects/Spring concert.md", "MEMORY.md"
    was = {path: (place.root / path).read_bytes() for path in (page, briefing)}
    place.adopt("--yes", "--opt-in", "Projects/*.md", "--opt-in", "MEMORY.md")
    memory = place.memory
    memory.write("Daily/2026-02-04.md", "- Fact: a heading\n")
    memory.curate("run", "--now", "2026-03-01T02:00")
    assert changed(place.root, before) == ["Daily/2026-02-04.md", "MEMORY.md", "Projects/Spring concert.md"]
    now = memory.read(page)
    lines = was[page].decode().splitlines()
    assert [line.partition(" ^k")[0] for line in now.splitlines()] == lines
    assert [line for line in now.splitlines() if "^k" in line] == [now.splitlines()[6]]
    assert memory.read(briefing).startswith("# Memory\n\n- Fact: The choir has 40 voices. ^k")
    assert not (place.root / "Curated" / "MEMORY.md").exists()


def test_an_item_is_filed_into_an_opted_in_page_and_a_session_of_that_project_reads_it(place: Place) -> None:
    vault(place.root)
    place.adopt("--yes", "--opt-in", "Projects/*.md")
    memory = place.memory
    memory.curate("run", "--now", "2026-03-01T02:00")
    page = memory.read("Projects/Spring concert.md")
    assert page.startswith("---\ntitle: Spring concert\nmood: bright\n---\n# Spring concert\n")
    assert "Todo: book the mill for the rehearsal ^k" in page
    assert "=== The project (Projects/Spring concert.md) ===" in memory.curate("context", "--project", "spring concert")
    memory.curate("undo", "--now", "2026-03-01T03:00")
    assert "book the mill" not in memory.read("Projects/Spring concert.md")
    assert "Everything is accounted for" in memory.curate("check")
