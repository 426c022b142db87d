"""`curate recap` tells what happened, in order, of the days and the project that are meant."""

import pytest

from pipelines import Memory as Opened
from pipelines.clock import span_of
from pipelines.errors import UsageFault
from pipelines.mcp import memory_recap
from tests.conftest import Memory

TODAY = "2026-03-18"  # a Wednesday


@pytest.mark.parametrize(
    ("when", "span"),
    [
        ("", ("2026-03-12", TODAY)), ("today", (TODAY, TODAY)), ("Yesterday", ("2026-03-17", "2026-03-17")),
        ("this week", ("2026-03-16", TODAY)), ("last  week", ("2026-03-09", "2026-03-15")),
        ("this month", ("2026-03-01", TODAY)), ("last month", ("2026-02-01", "2026-02-28")),
        ("2026-02-03", ("2026-02-03", "2026-02-03")), ("2024-02", ("2024-02-01", "2024-02-29")),
        ("2025-12", ("2025-12-01", "2025-12-31")),
    ],
)  # fmt: skip
def test_words_mean_days(when: str, span: tuple[str, str]) -> None:
    assert span_of(when, TODAY) == span


@pytest.mark.parametrize("when", ["soon", "2026-13", "2026-02-30", "12", "2026", "week", "--"])
def test_what_means_no_days_is_named(when: str) -> None:
    with pytest.raises(UsageFault, match="is not a day"):
        span_of(when, TODAY)


@pytest.fixture
def told(memory: Memory) -> Memory:
    """Return a memory that was told of two days and two projects."""
    memory.write("Logs/2026-03-16.md", "- [project: Alpha] Decision: Use brass.\n- [project: Beta] Risk: Rust.\n")
    memory.day("2026-03-17", "- [project: Alpha] Todo: Order brass\n- 09:00 had coffee\n")
    return memory


def test_a_full_day_tells_its_decisions_first_and_nothing_that_it_corrected_itself(told: Memory) -> None:
    kinds = ("Rule: Always oil it", "Todo: Oil it", "Risk: It may rust", "Question: Who oils it", "Decision: We oil it")
    lines = [f"- {one} {name}.\n" for one in kinds for name in ("at once", "by hand", "on Sundays")]
    fix = "- Fact: The server has 40 GB.\n- Correction: the server has 80 GB, not 40\n"
    told.day("2026-03-18", f"project: Alpha\n\n{fix}{''.join(lines)}")
    said = told.curate("recap", "2026-03-18")
    assert "Decided: We oil it at once; We oil it by hand; We oil it on Sundays." in said
    assert said.endswith("\n  And 6 more.\n"), "the risks and the questions"
    assert "40 GB" not in said


def test_a_project_is_told_of_alone(told: Memory) -> None:
    found = told.json("recap", "2026-03", "--project", "alpha")
    assert [(one["day"], one["path"]) for one in found] == [
        ("2026-03-16", "Episodes/2026-03.md"), ("2026-03-17", "Episodes/2026-03.md"),
    ]  # fmt: skip
    assert [one["text"] for day in found for one in day["sentences"]] == ["Decided: Use brass.", "To do: Order brass."]
    held = {one["id"] for one in told.json("items")}
    assert {ident for day in found for one in day["sentences"] for ident in one["items"]} < held
    assert "no page called Gamma" in told.curate("recap", "--project", "Gamma", exits=2)


def test_what_a_person_changed_is_told(told: Memory) -> None:
    path = "Episodes/2026-03.md"
    told.write(path, told.read(path).replace("Decided: Use brass.", "We chose brass at last."))
    assert "We chose brass at last." in told.curate("recap", "2026-03-16")


def test_days_without_an_episode_say_so(told: Memory) -> None:
    assert "There is no episode for 2026-03-01 to 2026-03-15." not in told.curate("recap", "2026-03")
    assert told.curate("recap", "2026-01").startswith("There is no episode for 2026-01-01 to 2026-01-31. A run")
    assert "is not a day" in told.curate("recap", "soon", exits=2)
    assert told.curate("recap", "2026-01", "--json") == "[]\n"


def test_the_command_python_and_an_agent_are_told_the_same(told: Memory) -> None:
    printed = [day["day"] for day in told.json("recap", "2026-03")]
    assert [one.day for one in Opened(told.root).recap("2026-03")] == printed
    said = memory_recap(Opened(told.root), "2026-03").splitlines()
    assert said == ["2026-03-16: Decided: Use brass. At risk: Rust.",
                    "2026-03-17: To do: Order brass."]  # fmt: skip
    assert "memory_search" in memory_recap(Opened(told.root), "2020-01")


def test_what_changed_comes_first_and_an_answer_stands_with_its_question(memory: Memory) -> None:
    asked = "- Question: Who pays for the paint?\n"
    memory.day("2026-03-10", f"project: Alpha\n\n- Decision: The gate is red.\n- Fact: Rent is 90 EUR.\n{asked}")
    memory.write(
        "Logs/2026-03-11.md",
        "project: Alpha\n\n- Decision: We hire Ada.\n- Answered: Who pays for the paint? The club.\n"
        "- Correction: Rent is 95 EUR, not 90 EUR.\n",
    )
    memory.curate("correct", "The gate is red", "The gate is blue.", "--now", "2026-03-11T09:00")
    memory.night("2026-03-12T02:00")
    (day,) = memory.json("recap", "2026-03-11")
    assert [one["text"] for one in day["sentences"]] == [
        "Changed: The gate is blue (before: The gate is red); Rent is 95 EUR (before: Rent is 90 EUR).",
        "Decided: We hire Ada.",
        "Answered: Who pays for the paint? → The club.",
    ]
    assert day["sentences"] == memory.json("recap", "2026-03-11", "--project", "Alpha")[0]["sentences"]
