"""Forty real obligations through a month of days: none is quiet, and each stands in the start of a session."""

from datetime import date, timedelta
from typing import Any

import pytest

from tests.conftest import Memory, Once
from tests.reviewing import Reader, curate, items, labelled, log, reply

FIRST = date(2026, 3, 2)
WORK = [FIRST + timedelta(days=number) for number in range(26) if (FIRST + timedelta(days=number)).weekday() < 5]
PEOPLE = ("Mara", "Odile", "Anders", "Joana", "Pavel", "Ines", "Tariq", "Ludo", "Signe", "Bea")
KINDS = {
    "ahead": "Send {} the price of the second gateway.",
    "past": "Return the signed lease to {}.",
    "holiday": "Order the winter tyres for {}.",
    "waits": "Pay {} the deposit for the berth.",
}
WAITED_FOR = "Have the harbour master stamp {}'s papers."


def obligations(kind: str) -> list[str]:
    return [KINDS[kind].format(name) for name in PEOPLE]


def reader(kind: str) -> Reader:
    """Return a model that dates what a kind says, links what waits, and says what is mentioned again."""
    due = {"ahead": "2026-06-30", "past": "2026-03-10"}.get(kind, "")

    def read(day: dict[str, Any]) -> dict[str, Any]:
        shown = {row["text"]: row["id"] for row in [*day["open"], *day["near"]]}
        new: list[dict[str, Any]] = []
        for one in labelled(day):
            if one["text"] in shown:
                continue
            waits = kind == "waits" and one["text"] in obligations("waits")
            links = [{"kind": "next", "id": f"n{len(new) - 1}"}] if waits else []
            new.append(one | {"due": due, "links": links})
        return reply(*new, seen=[shown[one["text"]] for one in labelled(day) if one["text"] in shown])

    return Reader(read)


def live(memory: Memory, kind: str) -> date:
    """Let a memory live through a month in which the obligations of a kind are named once; return the day after it."""
    model = reader(kind)
    days = [*WORK[:5], WORK[4] + timedelta(days=40)] if kind == "holiday" else WORK
    for number, day in enumerate(days):
        said = ["we talked about the weather"]
        pairs = zip(PEOPLE, obligations(kind), strict=True)
        waited = [f"Todo: {WAITED_FOR.format(name)}" for name in PEOPLE]
        if number == 0:
            said = [f"Todo: {text}" for text in obligations(kind)]
            if kind == "waits":
                said = [f"Todo: {text}" for name, paid in pairs for text in (WAITED_FOR.format(name), paid)]
        elif kind == "waits" and number % 5 == 0:
            said = waited
        log(memory, *said, day=day.isoformat())
    curate(memory, model, f"{days[-1] + timedelta(days=1)}T02:00+00:00")
    return days[-1] + timedelta(days=1)


def waits(memory: Memory) -> None:
    live(memory, "waits")


@pytest.mark.parametrize("kind", KINDS)
def test_an_obligation_is_never_hidden(memory: Memory, once: Once, kind: str) -> None:
    if kind == "waits":
        once(waits)
    morning = WORK[-1] + timedelta(days=1) if kind == "waits" else live(memory, kind)
    held = items(memory)
    context = " ".join(memory.curate("context", "--now", f"{morning}T08:00").split())
    assert [text for text in obligations(kind) if held[text].quiet or text not in context] == []
    assert all(held[text].active for text in obligations(kind))


def test_what_waits_on_nothing_any_more_is_quiet_in_the_end(once: Once) -> None:
    """What an item waits on keeps it in sight only while that is mentioned."""
    memory = once(waits)
    last = WORK[-1]
    for number in range(1, 10):
        day = last + timedelta(days=number)
        log(memory, "we talked about the weather", day=day.isoformat())
    curate(memory, Reader(lambda _: reply()), f"{day + timedelta(days=1)}T02:00+00:00")
    assert {items(memory)[text].quiet != "" for text in obligations("waits")} == {True}
