"""What a program behind `exec:` gets and gives, over whole nights (docs/models.md): the shapes that are kept stable."""

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.asking import items
from tests.conftest import Memory

PROGRAM = """
import json, pathlib, sys
asked = json.load(sys.stdin)
with open({told!r}, "a") as file:
    file.write(json.dumps(asked) + "\\n")
replies = json.loads(pathlib.Path({replies!r}).read_text())
print(replies.get(asked["task"], "{{}}"))
"""
LOG = """# {day}

## Harborlight
project: Harborlight

- The office opens at 9:30 from now on, Mara says.
- Who pays for the second gateway?
- Decision: Fares are integers.
"""
ITEM = {"id", "type", "text", "status", "document", "since"}


class Program:
    """A program that answers each task with one text, and writes down what it was asked."""

    def __init__(self, folder: Path) -> None:
        self._told, self._replies, file = folder / "told", folder / "replies", folder / "reply.py"
        file.write_text(PROGRAM.format(told=str(self._told), replies=str(self._replies)))
        self.provider = f"exec:{shlex.join([sys.executable, str(file)])}"
        self.answers()

    def answers(self, **replies: object) -> None:
        told = {task: one if isinstance(one, str) else json.dumps(one) for task, one in replies.items()}
        self._replies.write_text(json.dumps(told))

    def asked(self, task: str) -> list[dict[str, Any]]:
        """Return the requests of a task since the last look."""
        rows = [json.loads(line) for line in self._told.read_text().splitlines()] if self._told.exists() else []
        return [row for row in rows if row["task"] == task]


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


def night(memory: Memory, program: Program, day: str, text: str = LOG, exits: int = 0) -> str:
    memory.write(f"Logs/{day}.md", text.format(day=day))
    return memory.curate("run", "--provider", program.provider, "--now", f"{day}T22:00", exits=exits)


def test_each_task_gets_these_keys_and_its_answers_are_carried_out(memory: Memory, program: Program) -> None:
    yes = {"verdicts": [{"claim": at, "verdict": "supported"} for at in range(20)]}
    page = {"new_page": "project: Harborlight"}
    office = {"type": "Fact", "text": "The office opens at 8:00.", "lines": [[6, 6]], **page}
    call = {"type": "Todo", "text": "Call Mara.", "lines": [[6, 7]], "due": "2026-04-20", **page}
    program.answers(extract={"items": [office, call]}, verify=yes)
    night(memory, program, "2026-04-08", LOG.replace("9:30 from now on", "8:00"))
    old, todo = items(memory)["The office opens at 8:00."], items(memory)["Call Mara."]
    assert old["document"] == todo["document"] == "Projects/harborlight.md"

    later = {**office, "text": "The office opens at 9:30.", "replaces": [old["id"]], "document": "harborlight"}
    who = "Who pays for the second gateway?"
    asks = {"type": "Fact", "text": who, "lines": [[7]], "section": "questions"}
    done = {"operation": "close", "ids": [todo["id"]], "how": "done", "lines": [[6, 6]], "reason": "Mara spoke"}
    episode = [{"text": "Mara moved the opening of the office.", "lines": [[6, 6]]}]
    program.answers(
        extract={"items": [later, asks], "operations": [done], "episode": episode},
        verify=yes,
        brief={"now": [{"text": "Mara was called.", "ids": [todo["id"]]}], "states": []},
    )
    night(memory, program, "2026-04-09")
    held = items(memory)
    assert (held[old["text"]]["status"], held[old["text"]]["superseded_by"]) == (
        "superseded", held["The office opens at 9:30."]["id"],
    )  # fmt: skip
    assert (held["Call Mara."]["status"], held[who]["status"]) == ("done", "live")
    assert "Mara moved the opening of the office." in memory.read("Episodes/2026-04.md")
    [_, read], [*_, wrote], [*_, judged] = (program.asked(task) for task in ("extract", "brief", "verify"))
    assert {*read} == {"task", "prompt_id", "prompt_version", "system", "user", "schema", "input"}
    given = read["input"]
    assert [*given] == ["day", "weekday", "calendar", "entries", "documents", "open", "near"]
    assert {*given["entries"][0]} == {"line", "end_line", "text", "headings", "project", "speaker", "trust"}
    assert given["entries"][0]["headings"][-1] == given["entries"][0]["project"] == "Harborlight"
    assert {*given["documents"][0]} == {"id", "title", "kind", "purpose"}
    assert [{*one} for one in given["open"]] == [ITEM | {"due", "on"}]
    assert given["open"][0]["due"] == "2026-04-20"
    assert old["id"] in [one["id"] for one in given["near"] if {*one} == ITEM]
    assert [*wrote["input"]] == ["day", "weekday", "calendar", "now", "pages"]
    assert {*wrote["input"]["now"]} == {"before", "episodes", "items", "waits"}
    [stands] = [one for one in wrote["input"]["pages"] if one["id"] == "harborlight"]
    assert {*stands} == {"id", "title", "kind", "purpose", "before", "items"}
    assert {*stands["items"][0]} == (ITEM - {"document"}) | {"section", "due", "on"}
    claims = judged["input"]["claims"]
    assert all({*one} == {"claim", "kind", "text", "quotes", "context"} for one in claims)
    assert {one["kind"] for one in claims} >= {"item", "replace", "close", "sentence"}
    memory.curate("check")


@pytest.mark.parametrize("reply", ["{}", "```json\n{}\n```"])
def test_an_empty_object_leaves_all_to_code(memory: Memory, program: Program, reply: str) -> None:
    program.answers(extract=reply, verify=reply, brief=reply)
    night(memory, program, "2026-04-09")
    assert items(memory)["Fares are integers."]["status"] == "live"
    memory.curate("check")


@pytest.mark.parametrize("task", ["extract", "verify"])
def test_what_is_no_json_is_asked_for_once_more_and_then_the_day_waits(
    memory: Memory, program: Program, task: str
) -> None:
    fact = {"type": "Fact", "text": "The office opens at 9:30.", "lines": [[6, 6]]}
    yes = {"verdicts": [{"claim": at, "verdict": "supported"} for at in range(9)]}
    right: dict[str, object] = {"extract": {"items": [fact]}, "verify": yes}
    program.answers(**{**right, task: "I would rather not."})
    night(memory, program, "2026-04-09", exits=1)
    assert len(program.asked(task)) == 2
    assert items(memory) == {}
    program.answers(**right)
    memory.curate("run", "--provider", program.provider, "--now", "2026-04-10T02:00")
    assert items(memory)["The office opens at 9:30."]["since"] == "2026-04-09"


def test_what_is_told_and_written_becomes_no_markup(memory: Memory, program: Program) -> None:
    told = ["# Obey", "It was <!-- trust=owner", "It was <img src=https://e.example/a.png> ![x](http://e.example)"]
    program.answers(
        extract={"items": [], "episode": [{"text": text, "lines": [[6, 6]]} for text in told]},
        verify={"verdicts": [{"claim": at, "verdict": "supported"} for at in range(9)]},
    )
    night(memory, program, "2026-04-09")
    page = memory.read("Episodes/2026-04.md")
    assert "It was &lt;img" in page
    assert not [mark for mark in ("# Obey", "trust=owner", "<img", "](http") if mark in page]
