"""What the names of files say: their day, whether globs include them, and which notes a memory reads."""

import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest

from pipelines.agents.adopt_source import dated
from pipelines.errors import BadFile, BadSettings, BrokenChangeSet
from pipelines.search.indexed_files import scan
from pipelines.store.change_set import Change
from pipelines.store.files import list_files, log_notes
from pipelines.store.git import Author, Git
from pipelines.store.journal import apply_changes
from pipelines.store.layout import NOTES, day_of_log, is_matched
from pipelines.store.user_layout import find_memory, inside, layout_of


@pytest.mark.parametrize(
    ("path", "day"),
    [
        ("Logs/2026-02-03.md", "2026-02-03"), ("Logs/2026-02-31.md", ""), ("Logs/2026-02-03-x.md", ""),
        ("../memory/2026-02-03-frost.md", "2026-02-03"), ("../J/2026/02/03.md", "2026-02-03"),
        ("../J/2026/02/2026-02-03.md", "2026-02-03"), ("../Day 20260203.md", "2026-02-03"), ("../2026-02-31.md", ""),
        ("../03.02.2026.md", "2026-02-03"), ("../02.13.2026.md", ""), ("../2025/2026-02-03 Tuesday.md", "2026-02-03"),
        ("../x.md", ""),
    ],
)  # fmt: skip
def test_the_day_of_a_log_is_in_its_name(path: str, day: str) -> None:
    assert day_of_log(path) == day


def test_globs() -> None:
    assert is_matched("a/b/c.md", ["**/*.md"])
    assert is_matched("c.md", ["**/*.md"])
    assert not is_matched("a/b.md", ["*.md"])
    assert not is_matched("Templates/x.md", ["**", "!Templates/**"])
    assert is_matched("Templates/keep.md", ["**", "!Templates/**", "Templates/keep.md"])
    assert is_matched("day 7.md", ["day [0-9].md"])
    assert not is_matched("t.md", ["[!t].md"])
    bracketed = "Days [work]/2026-03-18.md"
    assert is_matched(bracketed, [f"{dated(bracketed)[1]}.md"])


def notes(folder: Path, says: str) -> Path:
    """Lay down notes around a memory, and what their file says; return the memory."""
    (folder / "Curated").mkdir()
    (folder / "Curated/curate.toml").touch()
    (folder / "plan.md").write_text("mine\n")
    (folder / "curate-notes.toml").write_text(says)
    return folder / "Curated"


@pytest.mark.parametrize(
    "odd",
    ["", 'memory = "../out"', 'memory = ".git"', 'memory = "a/b"', "memory = 3",
     'memory = "Curated"\nnotes = "**"', 'memory = "Curated"\nlogs = [3]', 'memory = "Curated"\ncolour = "red"',
     f'memory = "Curated"\nnotes = {["x"] * 201}',
     'memory = "Curated"\ntrust = "mine"'],
)  # fmt: skip
def test_faults_of_what_is_said_of_notes_are_named(tmp_path: Path, odd: str) -> None:
    with pytest.raises(BadSettings, match=r"curate-notes.toml"):
        layout_of(notes(tmp_path, f"{odd}\n"))


def test_only_the_notes_that_are_meant_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    memory = notes(tmp_path / "vault", 'memory = "Curated"\nnotes = ["**"]\n')
    (tmp_path / "outside.md").touch()
    (tmp_path / "vault/link").symlink_to(tmp_path)
    assert find_memory(tmp_path / "vault") == memory
    assert inside(memory, "../plan.md").read_text() == "mine\n"
    for path in ("../../outside.md", "../x/../../outside.md", "../.git/config", "../link/outside.md",
                 "../Curated/MEMORY.md", "Projects/../../../outside.md"):  # fmt: skip
        with pytest.raises(BadFile):
            inside(memory, path)


def test_folders_that_no_glob_reaches_are_not_walked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = notes(tmp_path, 'memory = "Curated"\nlogs = ["memory/**"]\nnotes = ["*.md", "!src/**"]\n')
    for folder in ("memory/deep", "src/node_modules"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "2026-03-18.md").touch()
    walked: list[str] = []
    real = os.scandir

    def scandir(path: Path) -> object:
        walked.append(os.path.relpath(path, memory))
        return real(path)

    with monkeypatch.context() as patched:
        patched.setattr(os, "scandir", scandir)
        assert (
            list_files(memory, NOTES, ".md", globs=layout_of(memory).logs)
            == log_notes(memory)
            == ["../memory/deep/2026-03-18.md"]
        )
        assert set(walked) == {"..", "../memory", "../memory/deep"}
        assert "../plan.md" in scan(memory)[0]
    assert set(walked) == {"..", "../memory", "../memory/deep", "."}


def test_a_memory_cannot_say_itself_that_it_reads_what_is_around_it(tmp_path: Path) -> None:
    memory = notes(tmp_path, 'memory = "Other"\nnotes = ["**"]\n')
    (memory / "curate-notes.toml").write_text('memory = "Curated"\nnotes = ["**"]\n')
    with pytest.raises(BadFile):
        inside(memory, "../plan.md")


def test_a_change_of_a_note_is_refused_whoever_decided_on_it(tmp_path: Path, at: Callable[[str], datetime]) -> None:
    memory = notes(tmp_path, 'memory = "Curated"\nnotes = ["**"]\n')
    git = Git(memory)
    git.init()
    author = Author("Night", "night@example.org", at("2026-03-01T02:00+00:00"))
    with pytest.raises(BrokenChangeSet):
        apply_changes(git, [Change("../plan.md", b"mine\n", b"theirs\n")], "A run\n", author)
    assert (tmp_path / "plan.md").read_text() == "mine\n"
    assert not (memory / ".curate" / "pending").exists()
