"""`curate init --adopt --in-place`: a memory reads the notes around it, and changes not one byte of them."""

import json
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote

import pytest

from pipelines.cli import run_cli
from pipelines.queries.startup.fast import find_root
from tests.agents.adopt.places import TURNS, Place, changed, links_in, theirs, vault
from tests.agents.adopt.samples import basic_memory, claude_code, openclaw

_KINDS = [
    pytest.param(openclaw, "stakes", "../memory/2026-02-02.md", id="openclaw"),
    pytest.param(claude_code, "quayside", "../feedback_tests.md", id="claude-code", marks=pytest.mark.torture),
    pytest.param(vault, "lighthouse", "../Ideas/Map.md", id="obsidian"),
    pytest.param(basic_memory, "meadow", "../bees/South meadow.md", id="basic-memory", marks=pytest.mark.torture),
]


@pytest.mark.parametrize(("make", "word", "found_in"), _KINDS)
def test_a_persons_files_are_byte_for_byte_the_same_whatever_is_done(
    place: Place, tmp_path: Path, make: Callable[[Path], Path], word: str, found_in: str
) -> None:
    before = theirs(make(place.root))
    assert "Created a memory in" in place.adopt("--yes")
    memory = place.memory
    for night in (1, 2, 3):
        memory.curate("log", f"Decision: Gate {night} is painted green.", "--now", f"2026-03-0{night}T10:00")
        memory.night(f"2026-03-0{night + 1}T02:00")
    assert "Nothing new" in memory.night("2026-03-04T03:00")
    memory.curate("add", "fact", "The", "gate", "is", "of", "oak.", "--now", "2026-03-04T08:00")
    (tmp_path / "session.jsonl").write_text(TURNS)
    memory.curate("capture", str(tmp_path / "session.jsonl"), "--now", "2026-03-04T10:00")
    memory.night("2026-03-05T02:00")
    assert "undone" in memory.curate("undo", "--now", "2026-03-05T03:00")
    assert found_in in memory.curate("search", word)
    assert "Everything is accounted for" in memory.curate("check")
    assert "Gate 3" in memory.curate("context", "--now", "2026-03-03T12:00")
    assert changed(place.root, before) == []
    new = {place.root / path for path in theirs(place.root).keys() - before.keys()}
    assert {path for path in new if not path.is_relative_to(memory.root)} == {memory.root.parent / "curate-notes.toml"}


def test_each_path_is_the_real_one(place: Place) -> None:
    vault(place.root)
    place.adopt("--yes")
    memory = place.memory
    memory.curate("log", "Decision: The gate is painted green.", "--now", "2026-03-01T10:00")
    memory.night("2026-03-02T02:00")
    items = memory.json("items")
    paths = {one["path"] for item in items for one in item["evidence"]} | {item["document"] for item in items}
    assert {"../Daily/2026-02-03.md", "../Daily/2026-02-04.md", "Logs/2026-03-01.md", "Areas/general.md"} <= paths
    assert all((memory.root / path).is_file() for path in paths)
    assert all(evidence["quote"] for item in items for evidence in item["evidence"])
    for link in links_in(memory.read("MEMORY.md")):
        assert (memory.root / unquote(link)).is_file()


def test_a_log_that_moved_is_found_and_not_read_again(place: Place) -> None:
    vault(place.root)
    place.adopt("--yes")
    memory = place.memory
    memory.night("2026-03-01T02:00")
    before = memory.curate("items", "--json")
    (place.root / "Daily").rename(place.root / "Journal")
    file = place.root / "curate-notes.toml"
    file.write_text(file.read_text().replace("Daily/", "Journal/"))
    (place.root / "Journal/2026-02-03.md").write_text(
        "# Tuesday\n\nAdded.\n\n- Decision: The choir sings Tallis in May.\n"
    )
    memory.night("2026-03-02T02:00")
    there = before.replace("../Daily/", "../Journal/").replace('_line": 3', '_line": 5')
    assert memory.curate("items", "--json") == there
    (item,) = (one for one in json.loads(before) if "Tallis" in one["text"])
    assert "../Journal/2026-02-03.md:5\n" in memory.curate("why", item["id"])
    assert memory.curate("search", "Tallis").count("../Journal/2026-02-03.md:5") == 1
    assert "Everything is accounted for" in memory.curate("check")


def test_verbs_find_the_memory_from_among_the_notes(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    vault(place.root)
    place.adopt("--yes")
    monkeypatch.chdir(place.root / "Daily")
    assert run_cli(["log", "Fact: The gate is of oak.", "--now", "2026-03-01T10:00"]) == 0
    assert "oak" in (place.root / "Curated/Logs/2026-03-01.md").read_text()
    assert find_root("") == str(place.root / "Curated")
