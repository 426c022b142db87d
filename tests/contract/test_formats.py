"""A memory of each format opens for ever; one of a later format is left alone."""

import shutil
from pathlib import Path

import pytest

from tests.conftest import Memory
from tests.contract.story import asked, shares


@pytest.mark.parametrize("command", ["run", "items", "context", "add fact Cold."])
def test_a_memory_of_a_later_format_is_left_alone(told: Memory, command: str) -> None:
    told.write("State/format", "2\n")
    before = told.files()
    said = told.curate(*command.split(), exits=1)
    assert "This memory has format 2, and this version of memcurate reads format 1." in said
    assert told.files() == before


def test_a_machine_with_an_older_version_does_not_join_a_later_format(told: Memory, tmp_path: Path) -> None:
    there = shares(told, tmp_path)
    there.write("State/format", "2\n")
    there.git("commit", "-qam", "Upgrade")
    there.git("push", "-q")
    assert "has format 2" in told.curate("sync", "--now", "2026-03-12T02:00", exits=1)
    assert told.read("State/format") == "1\n"


def test_a_memory_of_format_1_opens(memory: Memory) -> None:
    shutil.copytree(Path(__file__).parents[1] / "data/format-1", memory.root, dirs_exist_ok=True)
    found = {one["text"]: one for one in asked(memory, "items")}
    assert {text: (one["type"], one["status"], one["trust"]) for text, one in found.items()} == {
        "Sell half of the tickets in the app.": ("Fact", "live", "self"),
        "Who pays for the gateway?": ("Fact", "live", "self"),
        "Fares are stored in öre, as integers.": ("Decision", "live", "owner"),
        "The depot closes at 18:00.": ("Fact", "live", "self"),
        "The harbour is closed in May.": ("Fact", "live", "external"),
        "Send Odile a price for a second gateway": ("Todo", "open", "self"),
        "Ferrywake goes live on 11 May.": ("Decision", "superseded", "self"),
        "Ferrywake goes live on 18 May.": ("Decision", "live", "self"),
    }
    assert found["Ferrywake goes live on 11 May."]["superseded_by"] == found["Ferrywake goes live on 18 May."]["id"]
    assert found["Send Odile a price for a second gateway"]["due"] == "2026-05-12"
    assert found["The depot closes at 18:00."]["evidence"][0]["path"] == "Logs/2026-04-03.md"
    before = memory.read("Projects/ferrywake.md")
    memory.night("2026-04-14T02:00")
    assert memory.read("Projects/ferrywake.md") == before
