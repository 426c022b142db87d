"""Nights that did not happen, or came to nothing, are told for what they are wherever the last run is told."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.agents.install.outside import system
from tests.conftest import Memory
from tests.night.test_health import nights
from tests.view.browsing import Browser

__all__ = ["system"]
pytestmark = pytest.mark.usefixtures("system")
LAST, LATER = "2026-03-13T20:00", "2026-03-18T08:00"
"""The only night, and a morning five days later by the calendar: that of the page."""


@pytest.fixture
def late(memory: Memory) -> Memory:
    """Return a memory whose last night was five days ago, with a line by hand since."""
    memory.write("Logs/2026-03-12.md", "project: Kestrel\n\n- Todo: Oil the hinge.\n- Rule: Sweep the yard daily.\n")
    memory.night(LAST)
    page = memory.read("Projects/kestrel.md")
    memory.write("Projects/kestrel.md", f"{page}\n- Fact: The gate weighs 40 kg.\n")
    return memory


def ident(memory: Memory, words: str) -> str:
    rows: list[dict[str, Any]] = memory.json("items")
    return str(next(row["id"] for row in rows if words in row["text"]))


def pinned(memory: Memory) -> None:
    memory.curate("pin", ident(memory, "Oil"), "--now", LATER)


def edited(memory: Memory) -> None:
    memory.curate("add", "Fact", "The yard is paved.", "--now", LATER)
    memory.git("commit", "-qm", "By hand", "--allow-empty")


def undone(memory: Memory) -> None:
    memory.curate("undo", "--now", LATER)
    memory.curate("pin", ident(memory, "gate"), "--now", LATER)


def rebased(memory: Memory) -> None:
    pinned(memory)
    memory.git("rebase", "-q", "--force-rebase", "HEAD~4")


@pytest.mark.parametrize("act", [pinned, edited, undone, rebased])
def test_only_nights_count_as_nights(late: Memory, act: Callable[[Memory], None]) -> None:
    act(late)
    told = late.json("status", "--now", LATER, exits=1)
    assert nights(told) == "No run has ended well since 2026-03-13 20:00+00:00, 5 days ago."
    assert told["last_well"] == "2026-03-13T20:00:00+00:00"
    assert told["last_run"]["here"] is True
    assert "All is well" not in late.curate("status", "--now", LATER, exits=1)
    assert "5 days ago" in late.curate("doctor", "--now", LATER, exits=1)
    assert "Curation is overdue: that was 5 days ago" in late.curate("context", "--now", LATER)
    page = Browser(late).enter().get("/")
    assert "5 days ago" in page
    assert re.search(r"\d changes</a></h2> <small><time[^>]*>13 Mar 20:00<", page)
    assert 'title="2026-03-13 20:00"' in page


def test_what_people_did_is_no_night_on_another_machine_either(late: Memory, tmp_path: Path) -> None:
    pinned(late)
    other = late.aside(tmp_path / "other")
    late.git("clone", "-q", ".", str(other.root))
    told = other.json("status", "--now", LATER)
    assert (told["last_run"]["here"], told["last_well"]) == (False, "2026-03-13T20:00:00+00:00")
    assert "last run 2026-03-13 20:00 on another machine, ended well" in other.curate("context", "--now", LATER)
    listed = other.json("runs")
    assert [one["ended"] for one in listed] == ["by-hand", "by-hand", "well"]
    assert "committed; no report" not in other.curate("runs")


def test_an_undone_night_is_told_as_undone_and_may_only_be_brought_back(memory: Memory) -> None:
    memory.write("Logs/2026-03-17.md", "- Fact: The gate weighs 40 kg.\n")
    night = memory.json("run", "--now", "2026-03-18T02:00")["run"]
    memory.curate("undo", "--now", "2026-03-18T07:00")
    undo = memory.json("runs")[0]["run"]
    now = ("--now", LATER)
    assert f"2026-03-18 02:00, was undone by {undo}" in memory.curate("status", *now)
    assert memory.json("status", *now)["last_run"]["ended"] == "undone"
    browser = Browser(memory).enter()
    page = browser.get("/")
    assert "was undone" in page
    assert {*re.findall(r'name="id" value="([^"]+)">\s*<button name="verb" value="undo"', page)} == {undo}
    assert f'value="{night}"' not in page
    page = browser.post("/do", verb="undo", id=undo, back="/")
    assert "The gate weighs 40 kg." in memory.curate("items")
    assert "The last run ended well" in page


def test_a_night_that_failed_is_told_though_nothing_waited(memory: Memory) -> None:
    memory.night("2026-03-17T02:00")
    merging = memory.write(".git/MERGE_HEAD", memory.git("rev-parse", "HEAD"))
    memory.night("2026-03-18T02:00", exits=1)
    merging.unlink()
    assert "All is well" not in memory.curate("status", "--now", LATER, exits=1)
    assert "The last run failed" in memory.curate("doctor", "--now", LATER, exits=1)
    assert "failed" in memory.curate("context", "--now", LATER)
    assert "The last run failed" in Browser(memory).enter().get("/")
