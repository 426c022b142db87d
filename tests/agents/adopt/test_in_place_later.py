"""A memory whose notes lie in place, later on: its logs, its secrets, and what reads it again."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from pipelines import Memory as Embedded
from pipelines.errors import UsageFault
from tests.agents.adopt.places import changed, theirs, vault
from tests.agents.adopt.samples import lay, openclaw
from tests.planting import Planter

if TYPE_CHECKING:
    from tests.agents.adopt.places import Place

SECRET = f"ghp_{Planter(7).of('abcdefghij', 36)}"


# ---------------------------------------------------------------- logs


def test_several_notes_of_a_day_are_all_read_and_shown(place: Place) -> None:
    openclaw(place.root)
    place.adopt("--yes")
    memory = place.memory
    memory.curate("run", "--now", "2026-03-01T02:00")
    found = {one["text"]: one["evidence"][0]["path"] for one in json.loads(memory.curate("items", "--json"))}
    assert found["frost on the 9th may kill the buds"] == "memory/2026-02-02-frost.md"
    context = memory.curate("context", "--now", "2026-02-03T12:00")
    assert "order 60 stakes" in context
    assert "frost on the 9th" in context
    memory.write("memory/2026-02-02-frost.md", "- Risk: frost on the 9th may kill the buds\n- Fact: It was mild.\n")
    memory.curate("run", "--now", "2026-03-02T02:00")
    assert "It was mild." in memory.curate("items")
    memory.curate("run", "--again", "2026-02-02", "--now", "2026-03-03T02:00")
    assert memory.curate("items").count("It was mild.") == 1
    assert "no log for 2026-02-20" in memory.curate("run", "--again", "2026-02-20", exits=2)


@pytest.mark.parametrize(("beside", "pattern"), [("", ""), ("-noon", "*"), ("-digest", "")])
def test_days_in_folders_are_read_where_they_are(place: Place, beside: str, pattern: str) -> None:
    lay(place.root, {"J/2026/02/01.md": "- Fact: one\n", f"J/2026/02/02{beside}.md": "- Fact: two\n", "x.md": "x\n"})
    layout = json.loads(place.adopt("--as", "obsidian", "--yes", "--json"))["layout"]
    assert layout["logs"] == f"J/{{YYYY}}/{{MM}}/{{DD}}{pattern}.md"
    place.memory.curate("run", "--now", "2026-03-01T02:00")
    assert ("two" in place.memory.curate("items")) is (beside != "-digest")


def test_a_secret_in_a_persons_note_stays_there_and_goes_nowhere_else(place: Place) -> None:
    vault(place.root)
    note = lay(
        place.root, {"Daily/2026-02-06.md": f"- Decision: Deploy with {SECRET}.\n- Fact: <private>x</private>\n"}
    )
    before = theirs(note)
    assert "Did not commit Daily/2026-02-06.md" in place.adopt("--yes")
    memory = place.memory
    for night in ("2026-03-01T02:00", "2026-03-02T02:00"):
        told = memory.curate("run", "--now", night, exits=1)
        assert "Daily/2026-02-06.md contains 1 secret" in told
        assert "Daily/2026-02-06.md holds text marked as private" in told
    assert changed(place.root, before) == []
    assert SECRET not in memory.git("log", "--all", "-p")
    assert SECRET not in memory.curate("items") + memory.curate("search", "Deploy") + memory.curate("search", SECRET)
    assert SECRET not in memory.curate("context", "--now", "2026-02-06T12:00")
    assert memory.curate("items").count("Deploy with") == 1
    assert "Daily/2026-02-06.md:1" in memory.curate("check", "--secrets", exits=1)


# ---------------------------------------------------------------- read again


def test_programs_and_agents_read_and_write_by_the_names_on_the_disk(place: Place) -> None:
    vault(place.root)
    place.adopt("--yes")
    memory = place.memory
    memory.curate("run", "--now", "2026-03-01T02:00")
    embedded = Embedded(place.root)
    assert embedded.read("Daily/2026-02-03.md:3").text == "- Decision: The choir sings Tallis in May."
    assert embedded.read("Logs/2026-02-03.md#L3~2be4638d").path == "Daily/2026-02-03.md"
    assert embedded.read("2026-02-03").path == "Daily/2026-02-03.md"
    assert embedded.read("map").path == "Ideas/Map.md"
    assert embedded.read("general").path == "Curated/Areas/general.md"
    assert embedded.search("lighthouse").hits[0].path == "Ideas/Map.md"
    assert embedded.search("Tallis", sources=["log"]).hits[0].kind == "log"
    assert {held.path for held in embedded.items()} == {
        "Curated/Areas/general.md",
        "Curated/Projects/spring-concert.md",
    }
    written = embedded.log("Ben called")
    assert written.path.startswith("Daily/")
    assert (place.root / written.path).read_text().split("\n")[written.line - 1] == written.text
    for name in ("Templates/Day.md", ".obsidian/daily-notes.json", "../x.md", "curate.toml", ".git/config"):
        with pytest.raises(UsageFault):
            embedded.read(name)


def test_the_context_is_answered_from_the_cache_and_says_what_the_settings_say(place: Place) -> None:
    lay(place.root, {"SOUL.md": "# Soul\n\nPim.\n", "USER.md": "# User\n\nOdile.\n"})
    vault(place.root)
    place.adopt("--yes", "--as", "obsidian")
    memory = place.memory
    for name in ("USER.md", "MEMORY.md"):  # the template's have nothing to show
        memory.write(f"Curated/{name}", f"{memory.read(f'Curated/{name}')}\nOf the night.\n")
    first = memory.curate("context", "--now", "2026-02-04T12:00")
    os.utime(place.root / "curate.toml", (1_700_000_000, 1_700_000_000))
    memory.curate("run", "--now", "2026-03-01T02:00")
    assert first.index("SOUL.md") < first.index("(USER.md)") < first.index("(Curated/USER.md)")
    assert first.index("(MEMORY.md)") < first.index("(Curated/MEMORY.md)")
    assert "book the mill" in first
    assert "(Daily/2026-02-03.md)" in first


def test_a_hand_written_item_that_goes_from_an_opted_in_page_is_retracted(place: Place) -> None:
    vault(place.root)
    place.adopt("--yes", "--opt-in", "Projects/*.md")
    memory = place.memory
    memory.curate("run", "--now", "2026-03-01T02:00")
    page = memory.read("Projects/Spring concert.md")
    kept = [line for line in page.splitlines(keepends=True) if "seats 80" not in line]
    memory.write("Projects/Spring concert.md", "".join(kept))
    memory.curate("run", "--now", "2026-03-02T02:00")
    assert "seats 80" not in memory.curate("items")
    assert memory.read("Projects/Spring concert.md") == "".join(kept)
    assert "Everything is accounted for" in memory.curate("check")


def test_a_file_that_is_opted_in_later_leaves_no_item_behind_unsaid(place: Place) -> None:
    vault(place.root)
    place.adopt("--yes")
    memory = place.memory
    memory.curate("add", "rule", "The", "gate", "is", "of", "oak.", "--now", "2026-03-01T08:00")
    settings = memory.read("curate.toml")
    (place.root / "curate.toml").write_text(settings.replace("opted_in = []", 'opted_in = ["MEMORY.md"]'))
    told = memory.curate("run", "--now", "2026-03-02T02:00", exits=1)
    assert "Curated/MEMORY.md is not read since MEMORY.md is opted in" in told
    item = next(line for line in memory.read("Curated/MEMORY.md").splitlines(keepends=True) if "of oak" in line)
    memory.write("MEMORY.md", memory.read("MEMORY.md") + item)
    (place.root / "Curated/MEMORY.md").unlink()
    memory.curate("run", "--now", "2026-03-03T02:00")
    assert "The gate is of oak." in memory.curate("items")
    assert "Everything is accounted for" in memory.curate("check")


def test_a_document_is_meant_by_its_name_on_the_disk(place: Place) -> None:
    vault(place.root)
    place.adopt("--yes", "--opt-in", "Projects/*.md")
    memory = place.memory
    page = "Projects/Spring concert.md"
    told = memory.curate("add", "fact", "The", "gate", "is", "of", "oak.", "--document", page)
    assert told.endswith(f" in {page}.\n")
    assert "of oak" in memory.curate("items", "--document", page)
    assert "There are: Curated/MEMORY, " in memory.curate("items", "--document", "nothing", exits=2)
    assert "There was nothing to repair" in memory.curate("check", "--fix")
