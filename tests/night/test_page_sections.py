"""What a label of a log names stands in its section of the page, and an answered question is struck through there."""

import re

import pytest

from tests.conftest import Memory

PAGE, FIRST, SECOND = "Projects/kestrel.md", "Logs/2026-03-09.md", "Logs/2026-03-10.md"
ASKED = "Who signs the contract with Sundlink?"


def run(memory: Memory, day: str, *lines: str) -> None:
    memory.write(f"Logs/2026-03-{day}.md", "".join(f"- 09:00 [project: Kestrel] {line}\n" for line in lines))
    memory.night(f"2026-03-{int(day) + 1}T02:00")


def under(text: str, title: str) -> list[str]:
    """Return the rows of a section, each without its comment."""
    section = re.split(r"^## ", text, flags=re.MULTILINE)
    rows = next((part for part in section if part.startswith(f"{title}\n")), "").split("\n")
    return [row.partition(" ^k")[0] for row in rows if row.startswith("- ")]


@pytest.fixture
def page(memory: Memory) -> str:
    """The page of a project after one night."""
    run(
        memory, "09", f"Open question: {ASKED}", "Question: who pays?", "Goal: 80 % of the tickets sold in the app",
        "Contact: Bea Lind, DPO of Sundlink, bea@sundlink.example; she prefers mail.",
        "How to deploy Kestrel: run make deploy, then restart the worker.",
    )  # fmt: skip
    return memory.read(PAGE)


@pytest.mark.parametrize("by", ["words", "id", "box"])
def test_an_answered_question_is_struck_through_where_it_stands(memory: Memory, page: str, by: str) -> None:
    found = re.search(r"Sundlink\? \^(k\w{5})", page)
    assert found
    line = {
        "words": "Answered: who signs the contract?",
        "id": f"Answered: {found[1]}",
        "box": f"[x] Question: {ASKED}",
    }
    run(memory, "10", line[by])
    assert under(memory.read(PAGE), "Open questions") == [f"- ~~{ASKED}~~", "- who pays?"]


def test_what_the_owner_says_of_themselves_names_them_in_later_nights(memory: Memory) -> None:
    memory.write(FIRST, "- Fact: My name is Tove Lind.\n")
    memory.night("2026-03-10T02:00")
    memory.write(SECOND, "- Tove prefers answers in English.\n- Anders wants a phone.\n")
    memory.night("2026-03-11T02:00")
    told = ["- Fact: My name is Tove Lind.", "- Fact: Tove prefers answers in English."]
    assert under(memory.read("USER.md"), "Facts") == told


def test_a_state_that_is_renewed_adds_no_blank_line(memory: Memory) -> None:
    run(memory, "10", *(f"Fact: the port of service {number} is 80{number}" for number in range(9)))
    for day in range(11, 17):
        run(memory, str(day), f"Decision: release {day} goes out")
        if day == 13:
            text = memory.read(PAGE)
            memory.write(PAGE, text.replace("## State\n\n", "## State\n\nMy own sentence.\n\n"))
    text = memory.read(PAGE)
    assert "My own sentence.\n\nLast decision (2026-03-16)" in text
    assert "\n\n\n" not in text


def test_a_due_day_in_the_words_counts_wherever_a_todo_is_written(memory: Memory) -> None:
    now = ("--now", "2026-03-18T23:00")
    memory.curate("add", "Todo", "File the VAT return by 20 March", *now)
    memory.write("Logs/2026-03-18.md", "- Todo: File the tax return before 2026-03-21\n")
    memory.curate("run", *now)
    page = memory.read("Areas/general.md")
    memory.write("Areas/general.md", f"{page}- [ ] Todo: Pay the bill by 22 March\n- [ ] Todo: Call Bea by tomorrow\n")
    memory.curate("run", *now)
    found = {one["text"]: one["due"] for one in memory.json("items")}
    assert found == {
        "File the VAT return by 20 March": "2026-03-20",
        "File the tax return before 2026-03-21": "2026-03-21",
        "Pay the bill by 22 March": "2026-03-22",
        "Call Bea by tomorrow": None,
    }


def test_a_form_with_the_id_of_a_replaced_item_means_what_took_its_place(memory: Memory) -> None:
    now = ("--now", "2026-03-18T23:00")
    memory.curate("add", "Todo", "Rebase the branch", *now)
    old = memory.json("items")[0]["id"]
    memory.curate("correct", old, "Rebase both branches", *now)
    memory.write("Logs/2026-03-18.md", f"- Done: {old}\n")
    memory.curate("run", *now)
    assert "done: Rebase both branches" in memory.read("Review.md")  # an agent's line about an owner's item
