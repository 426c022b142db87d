"""`curate init --adopt --in-place`: in a repository that is there or in none, shown and agreed to, or refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pipelines.cli import run_cli
from tests.agents.adopt.places import vault
from tests.agents.adopt.samples import fingerprint, obsidian

if TYPE_CHECKING:
    from pathlib import Path

    from tests.agents.adopt.places import Place


def test_a_repository_that_is_there_keeps_its_history_its_staged_changes_and_its_hooks(place: Place) -> None:
    vault(place.root)
    mine = place.mine
    for words in (
        ("init", "-q", "-b", "trunk"),
        ("config", "user.name", "Mara"),
        ("config", "user.email", "mara@example.org"),
        ("add", "Ideas/Map.md"),
        ("commit", "-qm", "The map"),
    ):
        mine.git(*words)
    head = mine.git("rev-parse", "HEAD")
    mine.write("Ideas/Map.md", "# Map\n\nstaged\n")
    mine.git("add", "Ideas/Map.md")
    staged = mine.git("diff", "--cached")
    hook = place.root / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\ntouch ran\nexit 1\n")
    hook.chmod(0o755)
    assert "there" in place.adopt("--yes")
    place.memory.curate("run", "--now", "2026-03-01T02:00")
    assert mine.git("rev-list", "--max-parents=0", "HEAD") == head
    assert mine.git("symbolic-ref", "HEAD").strip() == "refs/heads/trunk"
    assert mine.git("diff", "--cached") == staged
    assert hook.read_text().startswith("#!/bin/sh\ntouch ran")
    assert not (place.root / "ran").exists()
    assert not (place.root / ".gitignore").exists()
    held = set(mine.git("ls-tree", "-r", "--name-only", "HEAD").split())
    assert "Curated/State/progress.jsonl" in held
    assert {path for path in held if not path.startswith("Curated/")} == {"Ideas/Map.md"}
    assert not any(path.startswith(("Curated/.curate", "Curated/Sessions")) for path in held)
    assert ".curate" not in mine.git("status", "--short", "-uall")


def test_a_folder_inside_a_repository_is_adopted_with_its_place_in_it(place: Place) -> None:
    vault(place.root / "notes")
    (place.root / "other.md").write_text("- Fact: not of this memory\n")
    outer = place.mine
    outer.git("init", "-q")
    inner = place.below("notes")
    inner.adopt("--yes")
    inner.memory.curate("run", "--now", "2026-03-01T02:00")
    assert "Everything is accounted for" in inner.memory.curate("check")
    held = outer.git("ls-tree", "-r", "--name-only", "HEAD").split()
    assert "notes/Curated/State/progress.jsonl" in held
    assert all(path.startswith("notes/Curated/") for path in held)
    assert "Nothing is missing" in inner.init()
    assert not (inner.memory.root / ".git").exists()


def test_a_repository_that_ignores_the_settings_is_refused_before_anything_is_written(place: Place) -> None:
    vault(place.root)
    place.mine.git("init", "-q")
    (place.root / ".gitignore").write_text("*\n")
    before = fingerprint(place.root)
    assert "ignores" in place.adopt("--yes", exits=2)
    assert fingerprint(place.root) == before


def test_a_repository_that_filters_notes_is_refused_before_anything_is_written(place: Place) -> None:
    vault(place.root)
    place.mine.git("init", "-q")
    (place.root / ".gitattributes").write_text("*.md filter=git-crypt\n")
    before = fingerprint(place.root)
    assert "filters" in place.adopt("--yes", exits=2)
    assert fingerprint(place.root) == before


def test_it_is_shown_first_and_nothing_is_written_without_consent(place: Place) -> None:
    before = fingerprint(vault(place.root))
    told = place.adopt()
    assert "Nothing was written" in told
    assert ["Daily/????-??-??.md", "2"] in [line.split()[:2] for line in told.splitlines()]
    assert "Your notes are never changed" in told
    assert "Nothing was written" in place.adopt("--print")
    told_json: dict[str, Any] = json.loads(place.adopt("--json"))
    assert told_json["written"] is None
    assert told_json["logs"] == ["Daily/2026-02-03.md", "Daily/2026-02-04.md"]
    assert told_json["notes"] == ["Ideas/Map.md", "Logs/2026-02-05.md", "MEMORY.md", "Projects/Spring concert.md"]
    assert fingerprint(place.root) == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--home", "Ideas"), "already exists"),
        (("--home", "../out"), "the name of a folder"),
        (("--home", ".obsidian"), "the name of a folder"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_written(place: Place, arguments: tuple[str, ...], said: str) -> None:
    before = fingerprint(vault(place.root))
    assert said in place.adopt("--yes", *arguments, exits=2)
    assert fingerprint(place.root) == before


def test_daily_notes_in_words_of_a_language_are_refused_in_place(place: Place) -> None:
    before = fingerprint(obsidian(place.root))
    assert "Copy it without --in-place" in place.adopt("--yes", exits=2)
    assert fingerprint(place.root) == before


@pytest.mark.parametrize(
    "arguments",
    [
        ("init", "--in-place"),
        ("init", "new", "--adopt", "old", "--in-place"),
        ("init", "--adopt", "old", "--in-place", "--yes", "--print"),
    ],
)
def test_options_that_make_no_sense_together_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_cli(list(arguments)) == 2
    assert list(tmp_path.iterdir()) == []


def test_twice_is_refused(place: Place) -> None:
    vault(place.root)
    place.adopt("--yes")
    assert "is already a memory" in place.adopt("--yes", exits=2)
