"""Generated journals of several projects: after each night, what its lines said is what the memory holds."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from pipelines.store.item import Status
from pipelines.store.snapshot import read_documents
from tests.torture.living import PROJECTS, days

if TYPE_CHECKING:
    from tests.conftest import Memory

_PEOPLE = "Ada Bo Cy Dee Eli Fay Gus Hal".split()
_THINGS = "invoice archive budget contract report sensor permit voucher".split()
_VALUES = (
    "The {} listens on port {}", "The {} allows {} requests per minute", "The {} review is in room {}",
    "The {} keeps backups for {} days",
)  # fmt: skip
_OVER = {"Done": Status.DONE, "Dropped": Status.DROPPED}


@dataclass
class Journal:
    """Writes days of labelled lines and closing forms, and knows what is true after them.

    Args:
        chance: what decides, from a fixed seed.
        todos: project and text → its status.
        values: project, sentence and thing → its value now.
        said: each sentence with a value that was ever true: none becomes true twice.
        today: what the day has spoken of: it says one thing of each.
    """

    chance: random.Random
    todos: dict[tuple[str, str], Status] = field(default_factory=dict)
    values: dict[tuple[str, str, str], int] = field(default_factory=dict)
    said: set[tuple[str, str]] = field(default_factory=set)
    today: set[tuple[str, ...]] = field(default_factory=set)

    def day(self) -> tuple[str, dict[tuple[str, str], Status]]:
        """Return the text of a day, and project and sentence → the status that it leads to."""
        lines, expected = [], dict[tuple[str, str], Status]()
        self.today.clear()
        for project in self.chance.sample(PROJECTS, 2):
            lines.append(f"\nproject: {project}\n")
            for _ in range(3):  # a day may end three items of a page without a question
                line, after = self._todo(project) if self.chance.random() < 1 / 2 else self._value(project)
                lines.append(f"- {line}")
                expected |= after
        return "\n".join(lines) + "\n", expected

    def _todo(self, project: str) -> tuple[str, dict[tuple[str, str], Status]]:
        text = f"Send {self.chance.choice(_PEOPLE)} the {self.chance.choice(_THINGS)} {self.chance.randint(1, 99)}"
        own = [one for place, one in self.todos if place == project]
        text = self.chance.choice(own) if own and self.chance.random() < 2 / 3 else text
        if (project, text) in self.today:
            return "Nothing new.", {}
        self.today.add((project, text))
        word = self.chance.choice(list(_OVER)) if self.todos.get((project, text)) is Status.OPEN else "Todo"
        self.todos[project, text] = status = _OVER.get(word, Status.OPEN)
        return f"{word}: {text}", {(project, text): status}

    def _value(self, project: str) -> tuple[str, dict[tuple[str, str], Status]]:
        thing, form, new = self.chance.choice(_THINGS), self.chance.choice(_VALUES), self.chance.randint(100, 1800)
        key, text = (project, form, thing), form.format(thing, new)
        old = self.values.get(key)
        if (project, text) in self.said or key in self.today:
            return "Nothing new.", {}
        self.today.add(key)
        if old is None:
            line, after = f"Fact: {text}", {}
        elif self.chance.random() < 1 / 3:
            return f"Fact: {form.format(thing, old)}", {(project, form.format(thing, old)): Status.LIVE}
        else:
            line, after = f"Correction: {text}, not {old}", {(project, form.format(thing, old)): Status.SUPERSEDED}
        self.values[key] = new
        self.said.add((project, text))
        return line, after | {(project, text): Status.LIVE}


def live_through(memory: Memory, seed: int, count: int) -> None:
    """Compare the memory with its journal after each of so many nights."""
    journal = Journal(random.Random(seed))
    for day in days(count):
        text, expected = journal.day()
        memory.write(f"Logs/{day}.md", f"# {day}\n{text}")
        memory.curate("run", "--now", f"{day}T23:40")
        held: dict[tuple[str, str], set[Status]] = {}
        for project in PROJECTS:
            page = read_documents(memory.root).get(f"Projects/{project.lower()}.md")
            for placed in page.items if page else ():
                held.setdefault((project, placed.item.text), set()).add(placed.item.status)
        active = {Status.OPEN, Status.LIVE}
        for one, status in expected.items():
            assert status in held[one], (day, one, text)
            assert (status in active) is bool(held[one] & active), (day, one, text)
    assert json.loads(memory.curate("check", "--json")) == []


def test_what_a_journal_says_is_what_is_held(memory: Memory) -> None:
    live_through(memory, 3, 25)


@pytest.mark.torture
@pytest.mark.parametrize("seed", range(4))
def test_what_a_long_journal_says_is_what_is_held(memory: Memory, seed: int) -> None:
    live_through(memory, seed, 120)
