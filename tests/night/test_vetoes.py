"""What a person removed stays out, however its articles, case, spacing and punctuation vary; nothing else does."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.conftest import Memory
from tests.reviewing import ALPHA, Reader, curate, hold, item, log, reply

OTTER = "An otter lives in the mill."
AGAIN = (
    "The otter lives in the mill",
    "otter lives in mill",
    "an  OTTER lives in the mill!",
    "“An otter” lives (in the mill)",
    "**The** otter lives in a mill",
)
OTHERS = ("The otter lives in the dam", "No otter lives in the mill", "2 otters live in the mill")


def told(memory: Memory, *arguments: str) -> Any:
    return memory.json(*arguments)


def live(memory: Memory) -> list[str]:
    return [one["text"] for one in told(memory, "items") if one["status"] in {"live", "open"}]


def learn(memory: Memory, day: int, *texts: str, label: str = "Fact") -> None:
    memory.write(f"Logs/2026-03-{day}.md", "project: Alpha\n\n" + "".join(f"- {label}: {text}\n" for text in texts))
    memory.night(f"2026-03-{day + 1}T02:00")


def by_hand(memory: Memory, _: str) -> None:
    lines = memory.read(ALPHA).splitlines(keepends=True)
    memory.write(ALPHA, "".join(line for line in lines if "otter" not in line))


def reworded(memory: Memory, _: str) -> None:
    memory.write(ALPHA, memory.read(ALPHA).replace(f"Fact: {OTTER}", "Fact: A beaver lives in the mill."))


def verb(*words: str) -> Callable[[Memory, str], None]:
    def remove(memory: Memory, ident: str) -> None:
        memory.curate(words[0], ident, *words[1:], "--now", "2026-03-12T09:00")

    return remove


def undone(memory: Memory, _: str) -> None:
    memory.curate("undo", "--now", "2026-03-12T09:00")


@pytest.mark.parametrize("remove", [by_hand, reworded, undone, verb("forget", "--yes"), verb("end")])
def test_a_removed_item_returns_in_no_variant(memory: Memory, remove: Callable[[Memory, str], None]) -> None:
    learn(memory, 11, OTTER)
    remove(memory, told(memory, "items")[0]["id"])
    learn(memory, 12, *AGAIN)
    assert [text for text in live(memory) if "otter" in text.casefold()] == []
    learn(memory, 13, *OTHERS)
    assert [text for text in OTHERS if text not in live(memory)] == []


@pytest.mark.parametrize(
    ("removed", "again", "other"),
    [
        ("O relatório sai à segunda", "Um relatório sai à segunda.", "O relatório sai à terça"),
        ("L'ufficio chiude il lunedì", "Un ufficio chiude lunedì", "L'ufficio chiude martedì"),
        ("Send an e-mail at 9 a.m.", "Send the email at 9 am", "Send an e-mail at 9 p.m."),
        ("The rate is 1.5", "Rate is 1.5", "The rate is 15"),
    ],
)
def test_the_languages_and_what_is_no_variant(memory: Memory, removed: str, again: str, other: str) -> None:
    learn(memory, 11, removed, "The kettle leaks")
    memory.curate("forget", next(one["id"] for one in told(memory, "items") if one["text"] == removed), "--yes")
    learn(memory, 12, again, other)
    assert sorted(live(memory)) == sorted(["The kettle leaks", other])


def test_a_model_brings_nothing_back(memory: Memory) -> None:
    hold(memory, f"Fact: {OTTER}", "Fact: The beaver lives in the mill.")
    memory.night("2026-03-11T02:00")
    by_hand(memory, "")
    beaver = next(one["id"] for one in told(memory, "items") if "beaver" in one["text"])

    def reads(day: dict[str, Any]) -> dict[str, Any]:
        found = [item("Decision", entry["text"].removeprefix("- "), entry) for entry in day["entries"]]
        other = [item("Fact", "The otter lives in the mill.", entry, replaces=[beaver]) for entry in day["entries"]]
        return reply(*found, *other)

    log(memory, "The otter lives in the mill", "Now the otter lives in the mill")
    curate(memory, Reader(reads))
    assert [one["text"] for one in told(memory, "items") if one["text"].startswith("The otter")] == []
