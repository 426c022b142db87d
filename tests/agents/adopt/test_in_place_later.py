"""A memory whose notes lie in place, later on: its logs, its secrets, and what reads it again."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from pipelines import Memory as Embedded
from pipelines.errors import UsageFault
from tests.agents.adopt.places import Place, changed, theirs, vault
from tests.agents.adopt.samples import claude_code, lay, openclaw
from tests.planting import Planter
from tests.view.browsing import Browser

SECRET = f"ghp_{Planter(7).of('abcdef0123', 36)}"


# ---------------------------------------------------------------- logs


def test_several_notes_of_a_day_are_all_read_and_shown(place: Place) -> None:
    openclaw(place.root)
    place.adopt("--yes")
    memory = place.memory
    memory.night("2026-03-01T02:00")
    found = {one["text"]: one["evidence"][0]["path"] for one in memory.json("items")}
    assert found["frost on the 9th may kill the buds"] == "../memory/2026-02-02-frost.md"
    context = memory.curate("context", "--now", "2026-02-03T12:00")
    assert "order 60 stakes" in context
    assert "frost on the 9th" in context
    lay(
        place.root, {"memory/2026-02-02-frost.md": "- Risk: frost on the 9th may kill the buds\n- Fact: It was mild.\n"}
    )
    memory.night("2026-03-02T02:00")
    assert "It was mild." in memory.curate("items")
    memory.curate("run", "--again", "2026-02-02", "--now", "2026-03-03T02:00")
    assert memory.curate("items").count("It was mild.") == 1
    assert "no log for 2026-02-20" in memory.curate("run", "--again", "2026-02-20", exits=2)


@pytest.mark.parametrize(("beside", "more"), [("", ""), ("-noon", "*")])
def test_days_in_folders_are_read_where_they_are(place: Place, beside: str, more: str) -> None:
    lay(place.root, {"J/2026/02/01.md": "- Fact: one\n", f"J/2026/02/02{beside}.md": "- Fact: two\n", "x.md": "x\n"})
    assert f"J/????/??/??{more}.md " in place.adopt("--as", "obsidian", "--yes")
    place.memory.night("2026-03-01T02:00")
    assert "two" in place.memory.curate("items")


def test_a_dated_note_beside_the_daily_folder_is_no_day_in_place(place: Place) -> None:
    notes = {f"In{number}/2026-02-03_Mill.md": "- Decision: We saw oak.\n" for number in range(201)}
    lay(vault(place.root), notes)
    place.adopt("--yes")
    lay(place.root, {"In1/2026-02-05_Ash.md": "---\nurl: https://example.org\n---\n- Decision: Everybody saws ash.\n"})
    place.memory.night("2026-03-01T02:00")
    assert not {"We saw oak.", "Everybody saws ash."} & {one["text"] for one in place.memory.json("items")}
    assert "saws ash" in place.memory.curate("search", "ash")


def test_a_secret_in_a_note_stays_there_and_goes_nowhere_else(place: Place) -> None:
    vault(place.root)
    lay(place.root, {"Daily/2026-02-06.md": f"- Decision: Deploy with {SECRET}.\n- Fact: <private>x</private>\n"})
    before = theirs(place.root)
    place.adopt("--yes")
    memory = place.memory
    for night in ("2026-03-01T02:00", "2026-03-02T02:00"):
        memory.night(night)
    assert changed(place.root, before) == []
    assert SECRET not in memory.git("log", "--all", "-p")
    assert SECRET not in memory.curate("items") + memory.curate("search", "Deploy") + memory.curate("search", SECRET)
    assert SECRET not in memory.curate("context", "--now", "2026-02-06T12:00")
    assert memory.curate("items").count("Deploy with") == 1
    assert SECRET not in "".join(map(str, memory.files().values()))


# ---------------------------------------------------------------- read again


def test_programs_and_agents_read_notes_and_write_none(place: Place) -> None:
    vault(place.root)
    place.adopt("--yes")
    memory = place.memory
    memory.night("2026-03-01T02:00")
    embedded = Embedded(memory.root)
    assert embedded.read("../Daily/2026-02-03.md:3").text == "- Decision: The choir sings Tallis in May."
    assert embedded.read("2026-02-03").path == "../Daily/2026-02-03.md"
    assert embedded.read("map").path == "../Ideas/Map.md"
    assert embedded.read("general").path == "Areas/general.md"
    assert embedded.search("lighthouse").hits[0].path == "../Ideas/Map.md"
    assert embedded.search("Tallis", sources=["log"]).hits[0].kind == "log"
    assert {held.path for held in embedded.items()} == {"Areas/general.md", "Projects/spring-concert.md"}
    assert embedded.log("Ben called").path.startswith("Logs/")
    for name in ("../Templates/Day.md", "../.obsidian/daily-notes.json", "../../x.md", "../curate-notes.toml",
                 "../Curated/MEMORY.md", "../x/../../y.md", "curate.toml", ".git/config"):  # fmt: skip
        with pytest.raises(UsageFault):
            embedded.read(name)


def test_every_session_sees_what_the_person_wrote_for_it(place: Place) -> None:
    lay(place.root, {"SOUL.md": "# Soul\n\nPim.\n", "USER.md": "# User\n\nOdile.\n"})
    vault(place.root)
    place.adopt("--yes", "--as", "obsidian")
    memory = place.memory
    for name in ("USER.md", "MEMORY.md"):  # the template's have nothing to show
        memory.write(name, f"{memory.read(name)}\nOf the night.\n")
    first = memory.curate("context", "--now", "2026-02-04T12:00")
    assert first.index("(../SOUL.md)") < first.index("(../USER.md)") < first.index("(USER.md)")
    assert first.index("(../MEMORY.md)") < first.index("(MEMORY.md)")
    assert "book the mill" in first
    assert "Tallis" in first
    lay(place.root, {"USER.md": "# User\n\nMara.\n"})
    assert "Mara." in memory.curate("context", "--now", "2026-02-04T12:00")


@pytest.mark.parametrize(
    ("make", "words", "trust"),
    [
        (openclaw, "Odile keeps 400 apple trees", "self"),
        (claude_code, "merges stop", "self"),
        (vault, "a plain line", "owner"),
    ],
)
def test_prose_that_an_agent_wrote_is_the_agents(
    place: Place, make: Callable[[Path], Path], words: str, trust: str
) -> None:
    make(place.root)
    place.adopt("--yes")
    hit = place.memory.json("search", words)["results"][0]
    assert (hit["trust"], hit["types"]) == (trust, [])


def test_the_page_and_why_lead_to_the_lines_of_a_note(place: Place) -> None:
    vault(place.root)
    place.adopt("--yes")
    memory = place.memory
    memory.night("2026-03-01T02:00")
    (item,) = (one for one in memory.json("items") if "Tallis" in one["text"])
    assert "\n  ../Daily/2026-02-03.md:3\n" in memory.curate("why", item["id"])
    browser = Browser(memory).enter()
    links = re.findall(r'href="(/file/[^"#]+)', browser.get(f"/item/{item['id']}") + browser.get("/items?q=lighthouse"))
    assert {link.partition("?")[0] for link in links} == {"/file/..%2FDaily/2026-02-03.md", "/file/..%2FIdeas/Map.md"}
    assert all("Tallis" in page or "lighthouse" in page for page in map(browser.get, links))


def test_forgetting_names_the_notes_that_hold_the_words_and_leaves_them(place: Place) -> None:
    vault(place.root)
    lay(place.root, {"Ideas.md": "# Ideas\n\nThe choir sings Tallis in May.\n"})
    before = theirs(place.root)
    place.adopt("--yes")
    memory = place.memory
    memory.night("2026-03-01T02:00")
    (item,) = (one for one in memory.json("items") if "Tallis" in one["text"])
    told = memory.curate("forget", item["id"], "--yes", "--now", "2026-03-01T09:00")
    for held in ("../Daily/2026-02-03.md:3", "../Ideas.md:3"):
        assert f"Note: {held} still has its words; memcurate does not change that file.\n" in told
    memory.curate("run", "--again", "2026-02-03", "--now", "2026-03-02T02:00")
    assert "Tallis" not in memory.curate("items")
    assert changed(place.root, before) == []
