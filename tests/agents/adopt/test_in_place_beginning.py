"""`curate init --adopt --in-place`: in a repository that is there or in none, shown and agreed to, or refused."""

import json
from pathlib import Path

import pytest

from pipelines.cli import run_cli
from tests.agents.adopt.places import Place, vault
from tests.agents.adopt.samples import fingerprint, lay, obsidian, openclaw


def test_a_repository_around_the_notes_stays_as_it_is(place: Place) -> None:
    vault(place.root / "notes")
    mine, inner = place.mine, place.below("notes")
    mine.git("init", "-q", "-b", "trunk")
    mine.write("notes/Ideas/Map.md", "# Map\n\nstaged\n")
    mine.git("add", "notes/Ideas/Map.md")
    staged, around = mine.git("diff", "--cached"), mine.git("status", "--short", "-uall")
    inner.adopt("--yes")
    inner.memory.night("2026-03-01T02:00")
    assert mine.git("diff", "--cached") == staged
    assert mine.git("status", "--short", "-uall") == f"{around}?? notes/curate-notes.toml\n"
    mine.git("add", "-A")
    assert "Curated" not in mine.git("ls-files")
    assert "Everything is accounted for" in inner.memory.curate("check")
    held = inner.memory.git("ls-files").split()
    assert "State/progress.jsonl" in held
    assert not [path for path in held if path.startswith((".curate", "Sessions", ".."))]
    assert "Nothing is missing" in inner.init()


def test_it_is_shown_first_and_nothing_is_written_without_consent(place: Place) -> None:
    before = fingerprint(vault(place.root))
    told = place.adopt()
    assert "Nothing was written" in told
    assert ["Daily/????-??-??.md", "2"] in [line.split()[:2] for line in told.splitlines()]
    assert "Your notes are never changed" in told
    assert "Nothing was written" in place.adopt("--print")
    assert fingerprint(place.root) == before


def test_a_folder_of_that_name_is_left_alone(place: Place) -> None:
    before = fingerprint(lay(vault(place.root), {"Curated/mine.md": "mine"}))
    assert "already exists" in place.adopt("--yes", exits=2)
    assert fingerprint(place.root) == before


@pytest.mark.parametrize("form", ["DD.MM.YYYY", "YYYY/MM-MMMM/YYYY-MM-DD-dddd"])
def test_daily_notes_are_read_by_the_days_in_their_names(place: Place, form: str) -> None:
    name = {"D": "18.03.2026", "Y": "2026/03-March/2026-03-18-Wednesday"}[form[0]]
    settings = json.dumps({"folder": "Days", "format": form})
    lay(place.root, {".obsidian/daily-notes.json": settings, f"Days/{name}.md": "- Decision: Sing Tallis.\n"})
    place.adopt("--yes")
    place.memory.night("2026-03-19T02:00")
    assert f"../Days/{name}.md:1" in place.memory.curate("why", "Sing Tallis")


def test_a_workspace_with_many_packages_is_read_and_with_too_many_is_refused(place: Place) -> None:
    openclaw(place.root)
    lay(place.root, {"app/package.json": "{}", **{f"app/p{number}/package.json": "{}" for number in range(201)}})
    assert "Nothing was written" in place.adopt("--print")
    lay(place.root, {f"lib{number}/package.json": "{}" for number in range(200)})
    assert "Copy it without --in-place" in place.adopt("--yes", exits=2)


def test_daily_notes_in_words_of_a_language_are_refused_in_place(place: Place) -> None:
    lay(
        obsidian(place.root),
        {".obsidian/daily-notes.json": json.dumps({"folder": "Journal", "format": "MMMM D, YYYY"})},
    )
    before = fingerprint(place.root)
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
