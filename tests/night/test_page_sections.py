"""What a label of a log names stands in its section of the page, and an answered question is struck through there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Memory

PAGE, FIRST, SECOND = "Projects/kestrel.md", "Logs/2026-03-09.md", "Logs/2026-03-10.md"
ASKED = "Who signs the contract with Sundlink?"


def run(memory: Memory, day: str, *lines: str) -> None:
    memory.write(f"Logs/2026-03-{day}.md", "".join(f"- 09:00 [project: Kestrel] {line}\n" for line in lines))
    memory.curate("run", "--now", f"2026-03-{int(day) + 1}T02:00")


def under(text: str, title: str) -> list[str]:
    """Return the rows of a section, each without its comment."""
    section = re.split(r"^## ", text, flags=re.MULTILINE)
    rows = next((part for part in section if part.startswith(f"{title}\n")), "").split("\n")
    return [row.partition(" <!--")[0] for row in rows if row.startswith("- ")]


@pytest.fixture
def page(memory: Memory) -> str:
    """The page of a project after one night."""
    run(
        memory, "09", f"Open question: {ASKED}", "Question: who pays?", "Goal: 80 % of the tickets sold in the app",
        "Contact: Bea Lind, DPO of Sundlink, bea@sundlink.example; she prefers mail.",
        "How to deploy Kestrel: run make deploy, then restart the worker.",
    )  # fmt: skip
    return memory.read(PAGE)


def test_labels_fill_the_sections_of_a_page(memory: Memory, page: str) -> None:
    assert under(page, "Open questions") == [f"- Fact: {ASKED}", "- Fact: who pays?"]
    assert under(page, "Goals") == ["- Fact: 80 % of the tickets sold in the app"]
    assert under(page, "Contacts") == ["- Fact: Bea Lind, DPO of Sundlink, bea@sundlink.example; she prefers mail."]
    assert under(page, "How to") == ["- Fact: How to deploy Kestrel: run make deploy, then restart the worker."]
    [person] = under(memory.read("MEMORY.md"), "People")
    assert person.startswith("- Bea Lind, DPO of Sundlink, ")


def test_a_contact_that_names_somebody_else_loses_the_old_name(memory: Memory, page: str) -> None:
    assert "name=Bea%20Lind" in page
    memory.curate("correct", "Bea Lind", "Jon Dahl is the DPO of Sundlink.", "--now", "2026-03-11T09:00")
    [person] = under(memory.read("MEMORY.md"), "People")
    assert person == "- Jon Dahl is the DPO of Sundlink. ([Kestrel](Projects/kestrel.md))"


@pytest.mark.parametrize("by", ["words", "id", "box"])
def test_an_answered_question_is_struck_through_where_it_stands(memory: Memory, page: str, by: str) -> None:
    found = re.search(r"Sundlink\? <!-- (k\w{5})", page)
    assert found
    line = {
        "words": "Answered: who signs the contract?",
        "id": f"Answered: {found[1]}",
        "box": f"[x] Question: {ASKED}",
    }
    run(memory, "10", line[by])
    assert under(memory.read(PAGE), "Open questions") == [f"- ~~Fact: {ASKED}~~", "- Fact: who pays?"]


def test_a_question_says_and_denies_nothing(memory: Memory) -> None:
    run(memory, "09", "Question: is the limit 100 requests?", "Question: the office is in Bern?")
    run(
        memory,
        "10",
        "Question: is the limit 200 requests?",
        "Fact: The office is in Bern.",
        "Fact: Is the limit 300 requests",
    )
    text = memory.read(PAGE)
    assert len(under(text, "Open questions")) == 3
    assert "- Fact: The office is in Bern." in under(text, "Facts")
    assert "limit" not in memory.read("Review.md")


def test_what_the_owner_says_of_themselves_names_them_in_later_nights(memory: Memory) -> None:
    memory.write(FIRST, "- Fact: My name is Tove Lind.\n")
    memory.curate("run", "--now", "2026-03-10T02:00")
    memory.write(SECOND, "- Tove prefers answers in English.\n- Anders wants a phone.\n")
    memory.curate("run", "--now", "2026-03-11T02:00")
    told = ["- Fact: My name is Tove Lind.", "- Fact: Tove prefers answers in English."]
    assert under(memory.read("USER.md"), "Facts") == told


def test_a_goal_without_a_project_and_an_address_without_a_name_say_nothing(memory: Memory) -> None:
    memory.write(
        FIRST, "- Goal: one source of truth.\n- Contact: +254 707 892 164\n- Contact: Bea Lind, bea@s.example\n"
    )
    memory.curate("run", "--now", "2026-03-10T02:00")
    assert "one source" not in memory.curate("items")
    assert "+254" not in memory.curate("items")
    assert under(memory.read("Areas/general.md"), "Contacts") == ["- Fact: Bea Lind, bea@s.example"]
    memory.write(SECOND, "- [project: Kestrel] Goal: one source of truth.\n")
    memory.curate("run", "--now", "2026-03-11T02:00")
    assert under(memory.read(PAGE), "Goals") == ["- Fact: one source of truth."]


def test_days_without_news_change_no_byte_of_the_briefing_as_dues_pass(memory: Memory) -> None:
    memory.write("Logs/2026-03-17.md", "- Todo: [project: Alpha] Pay Mara by 20 March\n- Todo: Call Bea by Friday\n")
    memory.curate("run", "--now", "2026-03-18T02:00")
    briefing = memory.read("MEMORY.md")
    assert "- 2026-03-20: Pay Mara by 20 March" in briefing
    for day in (19, 21, 28):
        memory.write(f"Logs/2026-03-{day}.md", "- 10:00 had lunch\n")
        memory.curate("run", "--now", f"2026-03-{day + 1}T02:00")
        assert memory.read("MEMORY.md") == briefing
    assert "overdue" in memory.curate("context", "--now", "2026-03-29T08:00")
