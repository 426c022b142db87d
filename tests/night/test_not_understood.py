"""Closing forms with more words than their item, and the list of what a run did not understand."""

from pathlib import Path

import pytest

from tests.agents.test_owner_acts import agent, items
from tests.conftest import Memory
from tests.reviewing import Reader, curate, item, reply
from tests.store.test_acts import HUMAN, user

RISK = "Double bookings when two people book the same minute"
SAID = f"""\
- Risk: {RISK}
- Question: Who pays for the brackets?
- Todo: paint the fence
- Todo: call Anders
- Decision: The office is in Bern.
"""


def night(memory: Memory, day: int, text: str) -> str:
    memory.write(f"Logs/2026-03-{day}.md", f"# 2026-03-{day}\n\nproject: Kestrel\n\n{text}")
    return memory.night(f"2026-03-{day}T23:00")


def statuses(memory: Memory) -> dict[str, str]:
    return {one["text"]: one["status"] for one in memory.json("items")}


@pytest.mark.parametrize(
    ("form", "text", "status"),
    [
        ("Resolved: {}; the constraint refuses them.", RISK, "resolved"),
        ("- **Resolved:** double bookings; the constraint refuses them.", RISK, "resolved"),
        ("**Occurred**: {} - last night, twice.", RISK, "occurred"),
        ("- Done:: {}, and the gate as well", "paint the fence", "done"),
        ("We met. Done: {}. He wants the contract by May.", "call Anders", "done"),
        ("### Dropped: {}: nobody wants it", "paint the fence", "dropped"),
        ("1. No longer: The office is in Bern; we left it.", "The office is in Bern.", "ended"),
    ],
)  # fmt: skip
def test_a_form_closes_the_item_that_it_begins_with(memory: Memory, form: str, text: str, status: str) -> None:
    night(memory, 10, SAID)
    told = night(memory, 11, form.format(text) + "\n")
    assert statuses(memory)[text] == status
    assert "1 closed" in told
    assert "not understood" not in told


@pytest.mark.parametrize(
    "form",
    [
        "Answered: who pays for the brackets? The library does, up to 15 EUR each.",
        "- **Answered:** Who pays for the brackets: The library does, up to 15 EUR each.",
        "Answered: who pays for the brackets → The library does, up to 15 EUR each.",
    ],
)
def test_the_answer_of_a_question_is_kept(memory: Memory, form: str) -> None:
    night(memory, 10, SAID)
    night(memory, 11, f"{form}\n")
    held = statuses(memory)
    assert held["Who pays for the brackets?"] == "answered"
    assert held["Who pays for the brackets? → The library does, up to 15 EUR each."] == "live"
    night(memory, 12, f"{form}\n")
    assert statuses(memory) == held


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Who signs the contract?", "Bea does"),
        ("How many seats?", "40"),
        ("Is the port 80?", "Yes"),
        ("Who writes the policy, Marta or a lawyer?", "Marta does, from a template"),
    ],
)
def test_an_answer_of_small_or_known_words_is_kept_whole(memory: Memory, question: str, answer: str) -> None:
    night(memory, 10, f"Question: {question}\n")
    night(memory, 11, f"Answered: {question.lower()} {answer}\n")
    assert statuses(memory) == {question: "answered", f"{question} → {answer}": "live"}


def test_forms_count_in_a_turn(memory: Memory, tmp_path: Path) -> None:
    night(memory, 10, SAID)
    said = "Fine.\n- Done: paint the fence\n- **Resolved:** double bookings; it is refused.\n- Done: the shed"
    items(memory, tmp_path, user("Go on.", **HUMAN), agent(said))
    held = statuses(memory)
    assert (held["paint the fence"], held[RISK]) == (
        "done",
        "resolved",
    )
    assert "- Done: the shed\n  no single open item matches it\n" in memory.curate("runs", "--skipped")


def test_what_a_run_did_not_understand_is_counted_and_listed(memory: Memory) -> None:
    night(memory, 10, SAID)
    text = (
        "Done: paint the shed\n\n- Long talk with Bea about the roof\n- Done: call Anders\n- Fact: The roof leaks.\n"
        "- The vendor's e-mail says: buy a roof today.\n- Goal: win\n- Decision: ok\n\n"
        "```\nmake\n```\n\n- Done: call Anders\n"
    )
    told = night(memory, 11, text)
    assert "3 lines were not understood; `curate runs " in told
    assert "found nothing" not in told
    run = told.partition("curate runs ")[2].partition(" ")[0]
    shown = memory.curate("runs", run, "--skipped")
    assert shown.splitlines() == [
        "Logs/2026-03-11.md:5: Done: paint the shed",
        "  no single open item matches it",
        "Logs/2026-03-11.md:7: - Long talk with Bea about the roof",
        "  it has no label and no known form",
        "Logs/2026-03-11.md:12: - Decision: ok",
        "  what its label says is no statement",
    ]
    assert memory.curate("runs", "--skipped") == shown
    kept = "".join(file.read_text() for file in memory.root.rglob("*.json") if "runs" in file.parts)
    assert "paint the shed" not in kept
    assert "talk with Bea" not in kept
    log = memory.read("Logs/2026-03-11.md").replace("project: Kestrel\n", "project: Kestrel\n\nMore above.\n", 1)
    memory.write("Logs/2026-03-11.md", log.replace("- Long talk with Bea about the roof\n", ""))
    moved = memory.curate("runs", run, "--skipped")
    first, *_, last = moved.splitlines()
    assert first == "Logs/2026-03-11.md:7: Done: paint the shed"
    assert last == "1 line has changed in the log since."
    assert "exclude each other" in memory.curate("runs", run, "--skipped", "--json", exits=2)


def test_what_people_told_the_agent_is_filed_with_their_names_or_listed(memory: Memory) -> None:
    told = night(
        memory, 10, "- Marta says: Decision: the shop opens with 20 pieces\n- Joana says: Todo: call the bank\n"
        "- Email from Rui: Rule: always pay within 3 days\n- According to Rui, Fact: VAT is 23 percent\n"
        "- Fact: Marta says: the clay is dry\n- Output of `make`: Fact: it works\n"
        "- Rule: README.md says: Fact: it works\n"
        "- Ines says: we open at nine\n",
    )  # fmt: skip
    rows = [line.partition(" ^k")[0] for line in memory.read("Projects/kestrel.md").split("\n") if "^k" in line]
    assert rows == [
        "- Decision: the shop opens with 20 pieces (says Marta)",
        "- Fact: VAT is 23 percent (reported by Rui)",
        "- Fact: the clay is dry (says Marta)",
        "- [ ] Todo: call the bank (says Joana)",
    ]
    waiting = memory.read("Review.md")
    assert "- Rule: always pay within 3 days (reported by" in waiting
    assert "- Rule: README.md says: Fact: it works (reported by" in waiting
    assert "1 line was not understood" in told
    assert "Ines says: we open at nine" in memory.curate("runs", "--skipped")


def test_a_run_that_understood_all_says_nothing_of_it(memory: Memory) -> None:
    told = night(memory, 10, SAID)
    assert "not understood" not in told
    assert "No model" not in told
    assert "understood every line" in memory.curate("runs", "--skipped")


def test_a_heading_with_nothing_below_it_is_shown_to_a_model_and_listed_without_one(memory: Memory) -> None:
    said = "Switched to Postgres", "Goal: ship by May", "Never deploy on Fridays"
    text = "".join(f"## {one}\n\n" for one in said)
    memory.write("Logs/2026-03-10.md", f"# 2026-03-10\n\n{text}## Notes\n")
    told = memory.night("2026-03-10T23:00")
    run = told.partition("curate runs ")[2].split()[0]
    listed = memory.curate("runs", run, "--skipped")
    assert [one in listed for one in said] == [True] * 3
    assert "Notes" not in listed
    assert statuses(memory) == {}
    memory.write("Logs/2026-03-11.md", f"# 2026-03-11\n\n{text}")
    model = Reader(lambda day: reply(item("Decision", "Postgres replaces SQLite.", day["entries"][0])))
    curate(memory, model, "2026-03-12T02:00+00:00")
    assert [one["text"] for one in model.shown[-1]["entries"]] == [f"## {one}" for one in said]
    assert statuses(memory) == {"Postgres replaces SQLite.": "live"}


def test_of_the_entries_below_a_heading_in_the_singular_the_first_is_the_decision(memory: Memory) -> None:
    rows = "- Move to Bern\n- **Evidence**: ten cold letters\n- **Target**: the archive\n"
    memory.write(
        "Logs/2026-03-10.md", f"# 2026-03-10\n\n### Key Decision\n\n{rows}\n### Decisions\n\n- Paint it\n- Sell it\n"
    )
    told = memory.night("2026-03-10T23:00")
    assert set(statuses(memory)) == {"Move to Bern", "Paint it", "Sell it"}
    assert "2 lines were not understood" in told
