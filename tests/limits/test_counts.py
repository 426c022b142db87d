"""Bounds of number: a memory of too many files, or of too much in all, is named; a night over it changes nothing."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from pipelines.agents.adopt_source import read_source
from pipelines.agents.session_places import transcripts_below
from pipelines.errors import BadFile
from pipelines.search.indexed_files import Skipped, scan
from pipelines.store import files
from pipelines.store.files import list_files

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Memory

NIGHT = ("run", "--now", "2026-03-19T02:00")


def fill(folder: Path, count: int, ending: str = ".md") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        (folder / f"{number:04}{ending}").write_text("x\n")


def test_a_folder_of_exactly_the_bound_is_listed_and_one_more_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MOST_FILES", 6)
    fill(tmp_path / "Logs", 3)
    fill(tmp_path / "Logs/old", 3)
    fill(tmp_path / "Logs/other", 9, ".txt")
    assert len(list_files(tmp_path, "Logs", ".md")) == 6
    fill(tmp_path / "Logs/old", 5)
    with pytest.raises(BadFile, match=r"Logs has more than 6 files, which is the limit\. Move unrelated files"):
        list_files(tmp_path, "Logs", ".md")


def test_other_names_and_folders_have_a_bound_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_SEEN", 10)
    fill(tmp_path / "Logs", 9, ".txt")
    assert list_files(tmp_path, "Logs", ".md") == []
    (tmp_path / "Logs/a/b").mkdir(parents=True)
    with pytest.raises(BadFile, match="Logs has more than"):
        list_files(tmp_path, "Logs", ".md")


def test_transcripts_of_an_agent_have_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path / "a", 6, ".jsonl")
    monkeypatch.setattr(files, "MOST_FILES", 6)
    assert len(transcripts_below(tmp_path)) == 6
    fill(tmp_path / "b", 1, ".jsonl")
    with pytest.raises(BadFile, match=r"has more than 6 files, .* Name the transcripts you mean"):
        transcripts_below(tmp_path)


@pytest.mark.parametrize("folder", ["Logs", "Archives/deep/deeper", "State"])
def test_a_night_over_too_many_files_is_refused_and_loses_nothing(
    memory: Memory, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.write("Logs/2026-03-18.md", "- Fact: The printer stands in hall 4\n")
    memory.curate(*NIGHT)
    memory.write("Logs/2026-03-19.md", "- Fact: The scanner stands in hall 5\n")
    fill(memory.root / folder, 30, ".jsonl" if folder == "State" else ".md")
    before, head = memory.files(), memory.git("rev-parse", "HEAD")
    with monkeypatch.context() as patch:
        patch.setattr(files, "MOST_FILES", 20)
        for verb in (("run", "--now", "2026-03-20T02:00"), ("status",), ("add", "fact", "So it is"), ("undo",)):
            said = memory.curate(*verb, exits=1)
            assert f"{folder.partition('/')[0]} has more than 20 files, which is the limit." in said, verb
    assert (memory.files(), memory.git("rev-parse", "HEAD")) == (before, head)


def test_the_index_looks_at_no_more_names_than_the_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path / "Logs", 9, ".svg")
    monkeypatch.setattr(files, "MOST_SEEN", 10)
    assert scan(tmp_path)[1] == ()  # with the folder itself, ten
    fill(tmp_path / "Logs", 30)
    found, skipped = scan(tmp_path)
    assert len(found) <= 10
    assert skipped == (Skipped("Logs", "has more than 10 files, which is the limit; the others are not in the index"),)


def test_a_folder_that_is_adopted_has_the_same_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path / "notes", 5)
    monkeypatch.setattr(files, "MOST_FILES", 5)
    assert len(read_source(tmp_path / "notes").files) == 5
    (tmp_path / "notes/more").mkdir()
    with pytest.raises(BadFile, match="has more than 5 files"):
        read_source(tmp_path / "notes")


def test_folders_without_end_are_named(memory: Memory) -> None:
    above = os.open(memory.root / "Projects", os.O_RDONLY)
    for _ in range(20):
        os.mkdir("a" * 250, dir_fd=above)
        inner = os.open("a" * 250, os.O_RDONLY, dir_fd=above)
        os.close(above)
        above = inner
    os.close(above)
    said = memory.curate(*NIGHT, exits=1)
    assert "cannot be listed: File name too long" in said
    assert "bug" not in said
    assert "cannot be listed: file name too long" in memory.curate("index")
