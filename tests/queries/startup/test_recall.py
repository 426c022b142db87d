"""`curate recall`: what bears on a prompt is put before it, and nothing where nothing does."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from pipelines.queries.startup.read import tokens
from pipelines.queries.startup.recall import BUDGET, EVERYDAY, HEAD, recall
from pipelines.search.build import rebuild_index
from pipelines.search.chunk_context import STOP_WORDS

if TYPE_CHECKING:
    from tests.conftest import Memory

EVERYDAY_PROMPTS = """\
can you explain what this regex does?
write a python function that reverses a linked list
why is my docker build so slow?
fix the failing test in test_utils.py
what's the difference between a mutex and a semaphore
please refactor this function, it's too long
yes, go ahead
commit this with a good message
how do I center a div
convert this json to yaml
summarize this article in three bullet points
make the button blue and a bit bigger
translate "good morning" into Spanish
ok now run it again
what does error ECONNREFUSED mean?
add type hints to everything in this file
write a haiku about autumn
rename the variable to something clearer
can you check my grammar in this email?
give me five ideas for a birthday party for a six year old
how do I undo my last git commit without losing changes?
the page is blank in Safari, any idea why?
what time is it in Tokyo when it's noon in Berlin
continue
generate a README for this repo
that didn't work, same error
explain big O notation like I'm five
remove all the console.log statements
what's a good recipe for banana bread
add a unit test for the edge case where the list is empty
looks good, thanks
is it better to use tabs or spaces?
show me the last 20 lines of the file
why does my code print None at the end
draft a polite reply declining the meeting
how many planets are in the solar system
sort these names alphabetically
increase the timeout to 30 seconds and try again
what are the pros and cons of renting versus buying
start the dev server and tell me the url""".split("\n")
"""Written before `curate recall` was, and never changed to suit it."""

PAGE = """\
# Ferry

## Rules

- Rule: Never restart the ticket gateway of the ferry by hand. <!-- k00000000a1 since=2026-03-01 trust=owner -->

## Facts

- Fact: The ticket gateway allows 100 requests per minute. <!-- k00000000a2 since=2026-03-01 trust=self -->
- Fact: The ticket gateway ships from Oslo to Bergen. <!-- k00000000a3 since=2026-03-01 trust=external -->
- Fact: The ticket gateway was bought in Turku. <!-- k00000000a4 since=2026-03-01 trust=owner doubted=2026-03-04 -->
- ~~Fact: The ticket gateway allows 50 requests per minute.~~ <!-- k00000000a5 since=2026-02-01 until=2026-03-01 -->
- [x] Todo: Rename the ticket gateway. <!-- k00000000a6 since=2026-03-01 trust=owner -->
- Decision: Wages are paid in kroner. <!-- k00000000a7 since=2026-03-01 trust=owner -->
"""
ASKED = "the ticket gateway times out, shall I restart it?"


@pytest.fixture
def ferry(memory: Memory) -> Memory:
    memory.write("Projects/ferry.md", PAGE)
    memory.write("Logs/2026-03-02.md", "\n".join(f"- {n:02}:00 carried {n} cars and a horse" for n in range(24)))
    rebuild_index(memory.root)
    return memory


def hooked(memory: Memory, said: str, probe: str = "") -> subprocess.CompletedProcess[str]:
    """Run the hook as a process of its own, with what it has on standard input."""
    code = f"import sys\nfrom pipelines.start import main\ntry:\n    main()\nfinally:\n    {probe or 'pass'}"
    command = [sys.executable, "-c", code, "recall", "--hook", "--memory", str(memory.root)]
    return subprocess.run(command, input=said, capture_output=True, text=True, check=False)


def event(prompt: str, **more: str) -> str:
    return json.dumps({"hook_event_name": "UserPromptSubmit", "session_id": "s-1", "prompt": prompt, **more})


def test_what_bears_on_a_prompt_is_shown_rules_first_and_nothing_that_is_not_believed(ferry: Memory) -> None:
    done = hooked(ferry, event(ASKED))
    assert (done.returncode, done.stderr) == (0, "")
    answer = json.loads(done.stdout)["hookSpecificOutput"]
    assert answer["hookEventName"] == "UserPromptSubmit"
    head, rule, *facts = answer["additionalContext"].split("\n")
    assert head == HEAD
    assert rule == ("- k00000000a1 Rule: Never restart the ticket gateway of the ferry by hand. (Projects/ferry.md)")
    assert facts == ["- k00000000a2 Fact: The ticket gateway allows 100 requests per minute. (Projects/ferry.md)"]


def test_an_item_that_was_struck_or_doubted_since_the_index_was_built_is_not_shown(ferry: Memory) -> None:
    struck = PAGE.replace("- Rule: Never", "- ~~Rule: Never").replace("by hand. <", "by hand.~~ <")
    ferry.write("Projects/ferry.md", struck.replace("trust=self", "trust=self doubted=2026-03-05"))
    assert hooked(ferry, event(ASKED)).stdout == ""


@pytest.mark.parametrize("prompt", EVERYDAY_PROMPTS)
def test_an_everyday_prompt_gets_nothing(ferry: Memory, prompt: str) -> None:
    assert recall(str(ferry.root), prompt) == []


def test_it_keeps_its_budget_and_the_project_of_the_working_directory_comes_first(memory: Memory) -> None:
    line = "- Fact: Crane number {0} of the {1} harbour lifts {0} tons of herring. <!-- k{2}{0:09} trust=owner -->"
    for project, digit in (("east", "a"), ("west", "b")):
        lines = [line.format(number, project, digit) for number in range(100, 160)]
        memory.write(f"Projects/{project}.md", "\n".join(["# Harbour", "", *lines, ""]))
    memory.write("Logs/2026-03-02.md", "\n".join(f"- fed {number} horses" for number in range(900)))
    rebuild_index(memory.root)
    for project in ("east", "west"):
        found = recall(str(memory.root), "how do harbour cranes lift herring?", f"/w/{project}")
        assert found
        assert tokens("\n".join([HEAD, *found])) <= BUDGET
        assert {text.rpartition("(")[2] for text in found} == {f"Projects/{project}.md)"}


def test_neither_numpy_nor_click_nor_the_settings_are_imported(ferry: Memory) -> None:
    loaded = set(hooked(ferry, event(ASKED), "sys.stderr.write(' '.join(sys.modules))").stderr.split())
    assert "_sqlite3" in loaded
    assert loaded.isdisjoint({"numpy", "click", "pydantic"})


def test_everyday_words_are_those_that_search_passes_over_too() -> None:
    assert STOP_WORDS <= EVERYDAY


def test_a_person_can_ask_too(ferry: Memory) -> None:
    assert ferry.curate("recall", ASKED).startswith("- k00000000a1 Rule: Never restart")
    assert ferry.curate("recall", "center", "a", "div") == ""
