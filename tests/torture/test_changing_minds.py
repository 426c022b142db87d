"""Many nights of corrections, reversals and repeats: one belief of each thing stands, and it is the last one said."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import pytest

from pipelines.store.item import Status
from pipelines.store.snapshot import read_documents
from tests.torture.living import days

if TYPE_CHECKING:
    from pipelines.store.item import Item
    from tests.conftest import Memory

THINGS: Final = "cache queue parser mailer export backup ledger gateway printer sensor turbine harbour".split()
PROJECTS: Final = ("Kestrel", "Orchard", "Lantern")
_SAID: Final = {
    "limit": "The {thing} limit is {value} requests.",
    "sync": "The {thing} sync is at {value}.",
    "host": "The {thing} runs on {value}.",
}


_AS_FIRST: Final = 0.7
"""How often something is said in the words in which it was said first."""


@dataclass
class Topic:
    """One thing that is believed, and how often that was corrected."""

    thing: str
    kind: str
    project: str
    values: list[str] = field(default_factory=list)
    corrections: int = 0

    def say(self, chance: random.Random) -> str:
        """Return a line of a log that says something of it."""
        label = "Fact"
        if self.values and (what := chance.choice(("correct", "revert", "repeat"))) != "repeat":
            older = [value for value in self.values if value != self.values[-1]]
            again = what == "revert" and older
            self.values.append(chance.choice(older) if again else self.value(chance))
            self.corrections += 1
            label = "Correction"
        elif not self.values:
            self.values.append(self.value(chance))
        said = _SAID[self.kind].format(thing=self.thing, value=self.values[-1])
        return f"{label}: {said if chance.random() < _AS_FIRST else said.replace(' is ', ' is now ')}"

    def value(self, chance: random.Random) -> str:
        """Return a value that it did not have yet."""
        while True:
            number = chance.randint(100, 999)
            made = {"limit": str(number), "sync": f"{8 + number % 10}:{number % 60:02}", "host": f"Node{number}"}[
                self.kind
            ]
            if made not in self.values:
                return made


def live(memory: Memory, seed: int, count: int) -> dict[str, int]:
    chance = random.Random(seed)
    topics = [
        Topic(thing, kind, PROJECTS[at % 3]) for at, (thing, kind) in enumerate(zip(THINGS, [*_SAID] * 4, strict=True))
    ]
    for day in days(count):
        lines = [f"# {day}", ""]
        for topic in chance.sample(topics, chance.randint(0, 3)):
            head = f"project: {topic.project}"
            lines += ["", head, "", f"- {topic.say(chance)}", "## Later"]
        memory.write(f"Logs/{day}.md", "\n".join(lines) + "\n")
        memory.curate("run", "--now", f"{day}T23:40")
        assert_one_belief_each(topics, all_items(memory), day)
    assert_nothing_old_is_told(memory, topics)
    assert json.loads(memory.curate("check", "--json")) == []
    assert "Nothing new" in memory.curate("run", "--now", f"{days(count)[-1]}T23:50")
    return {"nights": count, "corrections": sum(topic.corrections for topic in topics)}


def all_items(memory: Memory) -> list[Item]:
    return [p.item for document in read_documents(memory.root).values() for p in document.items]


def assert_one_belief_each(topics: list[Topic], items: list[Item], day: str) -> None:
    by_id = {item.id: item for item in items}
    assert len(by_id) == len(items), day
    assert not [item.text for item in items if item.status is Status.WAITING], day
    for topic in topics:
        mine = [item for item in items if f"the {topic.thing} " in item.text.lower()]
        active = [item for item in mine if item.active]
        assert len(active) == bool(topic.values), (day, [item.text for item in active])
        assert all(topic.values[-1] in item.text for item in active), (day, topic, active)
        assert max((depth(item, by_id) for item in mine), default=0) <= topic.corrections, (day, topic)


def depth(item: Item, by_id: dict[str, Item]) -> int:
    seen: set[str] = set()
    while item.superseded_by:
        assert item.id not in seen, "a chain leads back into itself"
        seen.add(item.id)
        item = by_id[item.superseded_by]
    return len(seen)


def assert_nothing_old_is_told(memory: Memory, topics: list[Topic]) -> None:
    items = all_items(memory)
    holds = {item.text for item in items if item.active}
    old = {item.text for item in items if item.status is Status.SUPERSEDED} - holds
    assert old
    briefing = memory.read("MEMORY.md")
    assert not [text for text in old if text in briefing]
    for topic in topics:
        hits = json.loads(memory.curate("search", f"the {topic.thing} {topic.kind}", "--json"))["results"]
        told = [hit["text"] for hit in hits if not hit["path"].startswith(("Logs/", "Episodes/"))]
        assert not [text for text in told if text.partition(": ")[2] in old], topic


@pytest.mark.torture
def test_twenty_five_nights(memory: Memory) -> None:
    assert live(memory, seed=11, count=25)["corrections"]


@pytest.mark.torture
@pytest.mark.parametrize("seed", [1, 2])
def test_a_year_of_changing_minds(memory: Memory, seed: int) -> None:
    print(json.dumps(live(memory, seed, 365)))
