"""Quiet: what is open and was not mentioned for a while comes last, and a person is asked about it once a week."""

from datetime import date, timedelta
from typing import Any

import pytest

from pipelines.store.item import Status, Trust
from tests.agents.adopt.conftest import place
from tests.agents.adopt.places import Place
from tests.agents.adopt.samples import lay
from tests.conftest import Memory
from tests.reviewing import Reader, curate, item, items, labelled, log, reply

__all__ = ["place"]
INVOICE, PAINT = "Send Mara the invoice.", "Paint the shop."
MONDAY = "2026-03-09"


def after(days: int) -> str:
    return (date.fromisoformat(MONDAY) + timedelta(days=days)).isoformat()


def listing(**more: Any) -> Reader:
    """Return a model to which the Todos of a day are a list of what is open; `more` is said of each new one."""

    def read(day: dict[str, Any]) -> dict[str, Any]:
        shown = {row["text"]: row["id"] for row in day["open"]}
        todos = [one for one in labelled(day) if one["type"] == "Todo"]
        lists = [{"lines": [todos[0]["lines"][0], todos[-1]["lines"][0]]}] if todos else []
        new = [one | more for one in labelled(day) if one["text"] not in shown]
        return reply(*new, seen=[shown[one["text"]] for one in todos if one["text"] in shown], open_lists=lists)

    return Reader(read)


def night(memory: Memory, days: int, *lines: str, model: Reader | None = None) -> Reader:
    """Live through a day, so many after Monday, and its night; return the model."""
    log(memory, *(lines or ("we talked",)), day=after(days))
    reader = model or listing()
    curate(memory, reader, f"{after(days + 1)}T02:00+00:00")
    return reader


def todos(*texts: str) -> list[str]:
    return [f"Todo: {text}" for text in texts]


def quiet(memory: Memory) -> list[str]:
    return sorted(text for text, one in items(memory).items() if one.quiet)


def test_what_a_later_list_leaves_out_is_quiet_and_comes_last(memory: Memory) -> None:
    night(memory, 0, *todos(INVOICE, PAINT))
    assert quiet(memory) == []
    night(memory, 1, *todos(PAINT))
    assert (quiet(memory), items(memory)[INVOICE].status) == ([INVOICE], Status.OPEN)
    shown = night(memory, 2).shown[0]["open"]
    assert [row["text"] for row in shown] == [PAINT, INVOICE]
    night(memory, 3, *todos(INVOICE, PAINT))
    assert quiet(memory) == [], "somebody mentioned it"


def test_a_person_is_asked_once_a_week_about_all_that_became_quiet(memory: Memory) -> None:
    night(memory, 0, *todos(INVOICE, PAINT, "Order chairs."))
    night(memory, 1, *todos(PAINT, "Order chairs."))
    assert f"## quiet: {INVOICE}" in memory.read("Review.md")
    night(memory, 2, *todos(PAINT))
    assert quiet(memory) == ["Order chairs.", INVOICE]
    assert memory.read("Review.md").count("## quiet:") == 1
    asked = memory.read("Review.md").partition("## quiet:")[2]
    assert INVOICE in asked
    assert "Order chairs." not in asked
    night(memory, 9, *todos(PAINT))
    assert memory.read("Review.md").count("## quiet:") == 1, "the first one is unanswered"
    text = memory.read("Review.md")
    memory.write("Review.md", text.replace("- [ ] drop:", "- [x] drop:"))
    night(memory, 10, *todos(PAINT))
    assert {text: one.status for text, one in items(memory).items()} == {
        INVOICE: Status.DROPPED, PAINT: Status.OPEN, "Order chairs.": Status.OPEN,
    }  # fmt: skip
    asked = memory.read("Review.md").partition("## quiet:")[2]
    assert "Order chairs." in asked
    assert INVOICE not in asked


def test_a_question_asks_about_what_is_not_over_and_goes_with_the_last_of_it(memory: Memory) -> None:
    night(memory, 0, *todos(INVOICE, PAINT, "Order chairs."))
    night(memory, 1, *todos(PAINT))
    assert "## quiet: Send Mara the invoice, and 1 more" in memory.read("Review.md")
    memory.curate("done", INVOICE, "--now", f"{after(2)}T12:00+00:00")
    night(memory, 2, *todos(PAINT))
    assert "## quiet: Order chairs." in memory.read("Review.md")
    assert INVOICE not in memory.read("Review.md")
    memory.curate("done", "Order chairs.", "--now", f"{after(3)}T12:00+00:00")
    night(memory, 3, *todos(PAINT))
    assert "## quiet:" not in memory.read("Review.md")


def plain() -> Reader:
    """Return a model that finds labelled lines, and no lists."""
    return Reader(lambda day: reply(*labelled(day)))


@pytest.mark.parametrize("holiday", [False, True])
def test_seven_days_of_work_without_a_mention_make_it_quiet_and_a_holiday_does_not(
    memory: Memory,
    holiday: bool,  # noqa: FBT001  a case
) -> None:
    night(memory, 0, *todos(INVOICE), model=plain())
    for days in range(1, 7):
        night(memory, days, model=plain())
    assert quiet(memory) == []
    if holiday:
        curate(memory, plain(), f"{after(40)}T02:00+00:00")
        assert quiet(memory) == []
    night(memory, 41 if holiday else 7, model=plain())
    assert quiet(memory) == [INVOICE]


def test_an_appointment_whose_day_is_over_is_told_for_a_week_and_then_is_quiet(memory: Memory) -> None:
    demo = "Give Odile the demo."
    on = Reader(lambda day: reply(*(item("Todo", demo, one, on=after(2)) for one in day["entries"])))
    night(memory, 0, demo, model=on)
    for days in (1, 2, 8):
        night(memory, days, model=plain())
        assert quiet(memory) == []
    night(memory, 10, model=plain())
    assert quiet(memory) == [demo]


def boxes(*texts: str, under: str = "## Pending (from yesterday)") -> str:
    return "\n".join(
        ["# Monday", "", under, "", *(f"- [ ] {text}" for text in texts), "", "## Notes", "", "We talked."]
    )


def without_model(memory: Memory, *nights: str) -> None:
    for day, text in enumerate(nights):
        memory.write(f"Logs/{after(day)}.md", text + "\n")
        memory.curate("run", "--provider", "rules", "--now", f"{after(day + 1)}T02:00+00:00")


def test_boxes_that_are_copied_from_day_to_day_say_what_is_left_out(memory: Memory) -> None:
    kept = ("Order chairs.", "Call the mill.", "Pay the rent.")
    without_model(memory, boxes(INVOICE, *kept), boxes(*kept, PAINT), boxes(*kept, "Paint the shop and the door."))
    assert quiet(memory) == sorted([INVOICE, PAINT])


def test_boxes_that_are_new_each_day_leave_the_old_ones_open(memory: Memory) -> None:
    without_model(
        memory,
        boxes(INVOICE, PAINT, "Order chairs.", under="## Tasks"),
        boxes("Call the mill.", "Pay the rent.", "Order chairs.", under="## Tasks"),
        boxes("Wash the van.", under="## Tasks"),
    )
    assert quiet(memory) == []


def test_a_list_goes_on_with_the_one_that_it_copies_whatever_its_heading(memory: Memory) -> None:
    kept = ("Order chairs.", "Call the mill.", "Pay the rent.")
    evening = boxes(INVOICE, *kept, under="## Left for tomorrow")
    without_model(memory, evening, boxes(*kept) + "\n\n## Reading\n\n- [ ] Read the manual.", boxes(*kept))
    assert quiet(memory) == [INVOICE]


BACKLOG = tuple(f"{verb} the {thing}." for verb in ("Order", "Mend", "Paint") for thing in "door roof van sign".split())


def test_a_few_tasks_of_a_backlog_under_another_heading_leave_the_others_open(memory: Memory) -> None:
    today = boxes(*BACKLOG[:3], under="## Today")
    without_model(memory, boxes(*BACKLOG, under="## Backlog"), today, boxes(*BACKLOG[:3], PAINT, under="## Today"))
    assert quiet(memory) == []
    log(memory, boxes(*BACKLOG[:8], under="## Next"), day=after(3))
    memory.curate("run", "--provider", "rules", "--now", f"{after(4)}T02:00+00:00")
    assert quiet(memory) == sorted([*BACKLOG[8:], PAINT])


@pytest.mark.parametrize("above", ["## {}\n\n### Todo\n", "# {}\n\n## Todo\n", "### {}\n"])
@pytest.mark.parametrize("told", [(), BACKLOG[6:7]])
def test_a_list_says_nothing_of_another_project_under_a_heading_of_the_same_name(
    memory: Memory, above: str, told: tuple[str, ...]
) -> None:
    def day(atlas: tuple[str, ...], borealis: tuple[str, ...]) -> str:
        parts = [("Atlas", atlas), ("Borealis", borealis)]
        text = "\n\n".join(above.format(name) + boxes(*own).split("\n\n")[2] for name, own in parts if own)
        return text if "Todo" in above else f"## Todo\n\n{text}"

    without_model(memory, day(BACKLOG[:6], BACKLOG[6:]), day(BACKLOG[:5], told))
    assert quiet(memory) == [BACKLOG[5]]


LEADS = ("**Mill** — Ask Odile", "**Rent** — Pay it", "**Chairs (oak)** — Order six", "**Roof** — Mend it")


def reworded(*ends: str) -> list[str]:
    return [f"{one.partition(' — ')[0]} — {end}" for one, end in zip(LEADS, ends, strict=False)]


@pytest.mark.parametrize("mark", [" ", "x"])
def test_a_box_that_is_ticked_or_worded_anew_under_its_lead_is_quiet_in_its_old_words(
    memory: Memory, mark: str
) -> None:
    second = boxes(
        *reworded("Settled with Eva by phone", "The bank knows of it since Monday", "Mara waits for all"), LEADS[3]
    )
    without_model(memory, boxes(*LEADS), second.replace("[ ]", f"[{mark}]"))
    held = items(memory)
    assert "Mill — Ask Odile" in quiet(memory)
    assert held["Mill — Ask Odile"].status is Status.OPEN
    assert not [
        one for one in LEADS[:3] if held[one.replace("*", "")].active and one.replace("*", "") not in quiet(memory)
    ]


def test_leads_of_lists_that_copy_nothing_or_have_them_twice_say_nothing(memory: Memory) -> None:
    new = boxes(*reworded("Ask Odile again today", "Tell the bank", "Wait for Mara", "See it"))
    twice = [f"{one}, later" for one in reworded("Draw a plan", "Ask the bank", "Paint them")]
    without_model(memory, boxes(*LEADS), new, boxes(*reworded("Ride there", "Save", "Sit down"), *twice, LEADS[3]))
    assert quiet(memory) == []


ROOF = "Mend the roof {}[[mend-roof]]"


@pytest.mark.parametrize("mark", [" ", "x"])
def test_a_task_with_its_note_is_quiet_in_what_an_earlier_day_remarked(memory: Memory, mark: str) -> None:
    first = (ROOF.format("(due Friday) "), "Ask Bob for the price [[Bob]]", "Wash the van [[van]]")
    second = (ROOF.format("(shop) (2 days overdue) "), "Send Bob the photos [[Bob]]")
    without_model(memory, boxes(*first), boxes(*second, under="## Overdue").replace("[ ]", f"[{mark}]"))
    assert quiet(memory) == [first[0]]
    assert {items(memory)[text].status for text in first} == {Status.OPEN}


def test_tasks_of_one_note_on_one_day_are_several(memory: Memory) -> None:
    people = ("Interview (Ann) [[hiring]]", "Interview (Ben) [[hiring]]")
    without_model(memory, boxes(*people), boxes(*people), boxes(people[1]).replace("[ ]", "[x]"))
    held = items(memory)
    assert (held[people[0]].status, held[people[1]].status) == (Status.OPEN, Status.DONE)


def test_a_box_of_a_log_rewords_nothing_of_a_persons(memory: Memory) -> None:
    own = "Interview (Ann, 80k) [[hiring]]"
    memory.curate("add", "Todo", own, "--now", f"{MONDAY}T08:00+00:00")
    without_model(memory, boxes("Interview (drop it) [[hiring]]"))
    assert items(memory)[own].trust is Trust.OWNER


def test_in_place_a_copied_list_says_what_is_over(place: Place) -> None:
    lay(place.root, {".obsidian/daily-notes.json": '{"folder": "Daily"}', f"Daily/{MONDAY}.md": boxes(*LEADS)})
    place.adopt("--yes")
    place.memory.curate("run", "--provider", "rules", "--now", f"{after(1)}T02:00+00:00")
    lay(place.root, {f"Daily/{after(1)}.md": boxes(*reworded("Settled with Eva", "Tell the bank"), LEADS[3])})
    place.memory.curate("run", "--provider", "rules", "--now", f"{after(2)}T02:00+00:00")
    assert quiet(place.memory) == ["Chairs (oak) — Order six", "Mill — Ask Odile", "Rent — Pay it"]
