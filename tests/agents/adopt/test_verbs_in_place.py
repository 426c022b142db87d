"""Every verb on notes that lie in place: names are shown as on the disk, and files of a person stay as they are."""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from pipelines import Memory as Embedded
from pipelines import mcp as mcp_tools
from tests.agents.adopt.places import TURNS, Place, changed, theirs, vault
from tests.agents.adopt.samples import lay, openclaw
from tests.view.browsing import Browser

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Memory

SAID = (
    "Decision: [project: Alpha] Use port 8080 for the gate.",
    "Todo: [project: Alpha] Call Ben about the lock.",
    "Fact: [project: Alpha] The gate is made of oak.",
)
LATER = (
    "Decision: [project: Alpha] Do not use port 8080 for the gate.",
    "Done: call Ben about the lock.",
    "> Rule: [project: Alpha] Always paint the gate red.",
)
OLD, NEW = (lines[0].partition("] ")[2] for lines in (SAID, LATER))
_OWN_NAME = re.compile(r"(?<![\w/])(?:Areas|Projects|Archives|Review\.md|USER\.md|Logs/20|Sessions/|State/|Notes/)")


class Grown:
    """A memory after two nights: two items that may conflict, one that is done, one that holds, one that waits."""

    def __init__(self, place: Place, daily: str) -> None:
        self.root, self.daily = place.root, daily
        self.memory: Memory = place.memory
        self.before = theirs(self.root)

    @classmethod
    def lived(cls, place: Place, make: Callable[[Path], Path], daily: str, *adopt: str) -> Grown:
        """Adopt what `make` lays down, and live its two nights."""
        make(place.root)
        place.adopt("--yes", *adopt)
        grown = cls(place, daily)
        grown.write("2026-03-01", SAID)
        grown.memory.curate("run", "--now", "2026-03-02T02:00")
        grown.write("2026-03-02", LATER)
        grown.memory.curate("run", "--now", "2026-03-03T02:00")
        grown.before = theirs(grown.root)
        return grown

    def write(self, day: str, lines: tuple[str, ...]) -> None:
        lay(self.root, {f"{self.daily}/{day}.md": "".join(f"- {line}\n" for line in lines)})

    def json(self, *words: str) -> Any:
        return json.loads(self.memory.curate(*words, "--json"))

    def ident(self, text: str) -> str:
        return str(next(one["id"] for one in self.json("items") if one["text"] == text))

    def curate(self, *words: str, now: str = "2026-03-03T09:00", exits: int = 0) -> str:
        """Run a verb that takes a moment."""
        return self.memory.curate(*words, "--now", now, exits=exits)

    def touched(self) -> list[str]:
        """Return which of the person's own files are not as they were."""
        made = (".git/", ".curate/", "Curated/", "curate.toml")
        return [path for path in changed(self.root, self.before) if not path.startswith(made)]

    def sound(self) -> bool:
        return "Everything is accounted for" in self.memory.curate("check")


@pytest.fixture
def place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Place:
    return Place(tmp_path / "notes", capsys)


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return where each of the memories below is kept once it was lived: most tests begin with a copy."""
    return tmp_path_factory.mktemp("once")


def _copied(once: Path, place: Place, make: Callable[[Path], Path], daily: str, *adopt: str) -> Grown:
    kept = once / f"{daily} {len(adopt)}"
    if not kept.exists():
        Grown.lived(place, make, daily, *adopt)
        place.root.rename(kept)
    shutil.copytree(kept, place.root, symlinks=True)
    return Grown(place, daily)


@pytest.fixture(params=["openclaw", "vault"])
def grown(once: Path, place: Place, request: pytest.FixtureRequest) -> Grown:
    make, daily = {"openclaw": (openclaw, "memory"), "vault": (vault, "Daily")}[request.param]
    return _copied(once, place, make, daily)


@pytest.fixture
def opened(once: Path, place: Place) -> Grown:
    return _copied(once, place, vault, "Daily", "--opt-in", "Projects/*.md", "--opt-in", "MEMORY.md")


def test_questions_name_files_as_the_disk_does(grown: Grown) -> None:
    ident, day = grown.ident(OLD), f"{grown.daily}/2026-03-01.md"
    gone = [["why", ident], ["history", ident], ["impact", ident]]
    gone += [
        ["why", ident, "--json"],
        ["history", ident, "--json"],
    ]
    gone += [["review", "--json"], ["runs"], ["status"]]
    # These nights lie long ago, so that the memory is overdue.
    said = {" ".join(words): grown.memory.curate(*words, exits=int(words == ["status"])) for words in gone}
    assert {words: _OWN_NAME.findall(told) for words, told in said.items() if _OWN_NAME.search(told)} == {}
    assert "Curated/Projects/alpha.md:" in said[f"why {ident}"]
    assert f"  {day}:1\n    | - Decision: [project: Alpha] Use port 8080" in said[f"why {ident}"]
    assert "filed by run" in said[f"why {ident}"]
    assert "  Curated/Projects/alpha.md:15, live" in said[f"history {ident}"]
    assert [one["kind"] for one in json.loads(said["review --json"])] == ["quarantine", "pair"]
    told = Embedded(grown.memory.root).why(ident)
    assert told.holding.place.startswith("Curated/Projects/alpha.md:")
    assert "\n  Curated/Projects/alpha.md:" in mcp_tools.Tools(str(grown.memory.root)).memory_why(ident)
    browser = Browser(grown.memory).enter()
    page = browser.get(f"/item/{ident}")
    assert ">Curated/Projects/alpha.md</a>" in page
    for link in re.findall(r'href="(/document/[^"#]+)', page):
        browser.get(link)
    assert grown.touched() == []


def test_why_leads_to_the_session_behind_a_daily_note(grown: Grown, tmp_path: Path) -> None:
    (tmp_path / "session.jsonl").write_text(TURNS)
    grown.curate("capture", str(tmp_path / "session.jsonl"), now="2026-03-04T10:00")
    grown.curate("run", now="2026-03-05T02:00")
    ident = grown.ident("The gate is painted white.")
    told = grown.memory.curate("why", ident)
    (place,) = re.findall(r"said by the user, 2026-03-04T09:00:00\+00:00, in (\S+):1\n", told)
    assert place.startswith("Curated/Sessions/2026-03-04/")
    assert (grown.memory.root / place).is_file()
    told = grown.curate("forget", ident, "--yes", now="2026-03-05T09:00")
    assert f"Note: {place}:1 still has its words" in told
    assert re.search(rf"Note: {grown.daily}/2026-03-04\.md:\d+ still has its words", told)


def test_history_follows_an_item_through_a_persons_page_and_its_folder(opened: Grown) -> None:
    ident = opened.ident("The mill seats 80 people.")
    page = "Projects/Spring concert.md"
    assert f"  {page}:" in opened.memory.curate("history", ident)
    opened.curate("move", ident, "Alpha")
    told = opened.memory.curate("history", ident)
    assert f"moved from {page}" in told
    assert "  Curated/Projects/alpha.md:21, live" in told


def test_forgetting_names_a_persons_files_and_leaves_them(grown: Grown) -> None:
    lay(grown.root, {"Ideas.md": "# Ideas\n\nThe gate is made of oak.\n"})
    grown.before = theirs(grown.root)
    oak = grown.ident("The gate is made of oak.")
    told = grown.curate("forget", oak, "--yes")
    assert f"Forgot {oak} of Curated/Projects/alpha.md.\n" in told
    for held in (f"{grown.daily}/2026-03-01.md:3", "Ideas.md:3"):
        assert f"Note: {held} still has its words; memcurate does not change that file.\n" in told
    assert grown.touched() == []
    grown.curate("run", "--again", "2026-03-01", now="2026-03-04T02:00")
    assert "oak" not in grown.memory.curate("items")
    assert grown.touched() == []
    assert grown.sound()


def test_a_folder_within_a_repository_has_a_history_too(place: Place) -> None:
    vault(place.root / "notes")
    place.mine.git("init", "-q")
    grown = Grown.lived(place.below("notes"), lambda root: root, "Daily", "--opt-in", "Projects/*.md")
    for text, page in (
        ("The mill seats 80 people.", "Projects/Spring concert.md"),
        (SAID[2][23:], "Curated/Projects/alpha.md"),
    ):
        assert f"  {page}:" in grown.memory.curate("history", grown.ident(text))
    assert page in {one["document"] for one in grown.json("items")}


def test_a_rename_leaves_the_links_in_a_persons_page_alone(opened: Grown) -> None:
    page = "Projects/Spring concert.md"
    links = "\nSee [[Alpha]], [it](Projects/alpha.md) and [it](../Curated/Projects/alpha.md).\n"
    opened.memory.write(page, opened.memory.read(page) + links)
    opened.memory.write("MEMORY.md", opened.memory.read("MEMORY.md") + links)
    opened.curate("project", "rename", "Alpha", "Omega")
    assert links in opened.memory.read(page)
    assert links in opened.memory.read("MEMORY.md")
    assert "(Curated/Projects/omega.md)" in opened.memory.read("MEMORY.md")
    said = opened.curate("project", "close", "Spring concert", "--yes", exits=2)
    assert f"{page} is your own file, which memcurate does not move." in said


def test_what_waits_for_a_page_that_was_opted_out_is_filed_elsewhere(opened: Grown) -> None:
    opened.write("2026-03-03", ("> Rule: [project: Spring concert] Always count the seats.",))
    opened.curate("run", now="2026-03-04T02:00")
    waits = opened.ident("Always count the seats.")
    settings = opened.memory.read("curate.toml")
    opened.memory.write("curate.toml", settings.replace('"Projects/*.md", ', "").replace(', "Projects/*.md"', ""))
    before = opened.memory.read("Projects/Spring concert.md")
    opened.curate("review", waits, "--accept", now="2026-03-04T09:00")
    assert "count the seats" in opened.memory.read("Curated/Areas/general.md")
    assert opened.memory.read("Projects/Spring concert.md") == before
