"""The page, the verbs, the MCP tools and the API answer the same questions alike."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import TYPE_CHECKING, Any

import pytest

from pipelines import Memory as Api
from tests.mcp.test_mcp_server import said, talk
from tests.view.browsing import Browser

if TYPE_CHECKING:
    from mcp.client.client import Client

    from tests.conftest import Memory, Once

LOG = """project: Kestrel

- Decision: The hinge of the gate is made of brass.
- Fact: The gate weighs 40 kg.
- Todo: Oil the hinge of the gate.
- Risk: The gate may rust in winter.
"""
QUESTIONS = (
    "what is the hinge made of",
    "weight of the gate",
    "what may rust",
    "what is there to oil",
    "no such thing xyz",
)


def two_nights(memory: Memory) -> None:
    memory.day("2026-03-16", LOG)
    memory.day("2026-03-17", "project: Kestrel\n\n- Correction: The gate weighs 45 kg, not 40 kg.\n")


@pytest.fixture
def told(once: Once) -> Memory:
    return once(two_nights)


def words(page: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())


def hits_of(page: str) -> list[tuple[str, str]]:
    """Return the text and place of each hit that a page of results shows, in order."""
    page = re.sub("</?(?:mark|span|s)>", "", page)
    rows = re.findall(r'<a class="item[^>]*>(.*?)</a>\s*<small><a [^>]*>([^<]+)</a>', page, re.DOTALL)
    return [(words(text), unescape(place)) for text, place in rows]


def test_a_search_is_answered_alike(told: Memory) -> None:
    by_verb = {one: told.json("search", one, "--limit", "10") for one in QUESTIONS}
    verb = {
        one: [(words(hit["text"]), f"{hit['path']}:{hit['start_line']}") for hit in by_verb[one]["results"]]
        for one in QUESTIONS
    }
    api = {
        one: [(words(hit.text), f"{hit.path}:{hit.start_line}") for hit in Api(told.root).search(one, limit=10)]
        for one in QUESTIONS
    }
    browser = Browser(told).enter()
    page = {one: hits_of(browser.get(f"/items?q={one.replace(' ', '+')}")) for one in QUESTIONS}
    tool: dict[str, list[str]] = {}

    async def story(client: Client) -> None:
        for one in QUESTIONS:
            answer = await said(client, "memory_search", query=one, limit=10)
            tool[one] = re.findall(r"^(\S+\.md:\d+)(?:-\d+)? \| ", answer, re.MULTILINE)

    talk(told.root, story)
    assert verb == api == page
    assert {one: [place for _, place in verb[one]] for one in QUESTIONS} == tool
    assert not verb[QUESTIONS[-1]]
    assert all(verb[one] for one in QUESTIONS[:-1])


def test_why_an_item_is_believed_is_answered_alike(told: Memory) -> None:
    listed: list[dict[str, Any]] = told.json("items")
    browser, tool = Browser(told).enter(), dict[str, str]()

    async def story(client: Client) -> None:
        for one in listed:
            tool[one["id"]] = await said(client, "memory_why", item=one["id"])

    talk(told.root, story)
    assert len(listed) == 5
    for one in listed:
        verb, api = told.json("why", one["id"]), Api(told.root).why(one["id"]).to_json()
        assert json.loads(json.dumps(api)) == verb
        drawn = browser.get(f"/item/{one['id']}")
        page = words(drawn)
        for answer in (page, words(tool[one["id"]])):
            assert verb["text"] in answer
            for place in verb["evidence"]:
                assert f"{place['path']}:{place['start_line']}" in answer
                assert words(place["quote"]) in answer
        steps = [step["text"] for step in (*verb["superseded"], *verb["successors"])]
        assert all(step in words(tool[one["id"]]) and f'title="{step}"' in drawn for step in steps)


def test_what_is_held_is_listed_alike(told: Memory) -> None:
    verb = [one["text"] for one in told.json("items", "--document", "kestrel")]
    api = [held.item.text for held in Api(told.root).items(document="kestrel")]
    page = words(Browser(told).enter().get("/document/Projects/kestrel"))
    assert verb == api
    assert all(text in page for text in verb)
    week = [one["sentences"] for one in told.json("recap", "2026-03")]
    assert [[s["text"] for s in day] for day in week] == [
        [s.text for s in one.sentences] for one in Api(told.root).recap("2026-03")
    ]
    pages = words(Browser(told).enter().get("/document/Episodes/2026-03"))
    assert all(sentence["text"] in pages for day in week for sentence in day)
