"""The prompts: strict front matter, strict variables, data that stays data."""

import json
import re
from pathlib import Path

import pytest

from pipelines import templating as resources
from pipelines.errors import BadFile
from pipelines.extract.extraction import DocumentChoice, ExtractionRequest
from pipelines.extract.grounding import Shown
from pipelines.extract.llm.call import load_prompt
from pipelines.extract.llm.reply_json import schema_of
from pipelines.extract.llm.reply_schema import Asked, ExtractionReply, extraction_of, read_reply
from pipelines.store.item import Item, ItemType
from pipelines.store.log import Entry

VALUES = {
    "day": "2026-03-12",
    "weekday": "Thu",
    "calendar": ["Fri 2026-03-13"],
    "documents": [],
    "open": [],
    "near": [],
    "log": "1| {{ day }} {% raw %}",
}


def test_the_example_of_the_extraction_prompt_is_one_that_code_accepts_whole() -> None:
    """The day, the items that are shown, and the reply are read from the prompt itself, as a model reads them."""
    example = load_prompt("extract").call(VALUES, {}).system.partition("## Example\n")[2]
    rows = re.findall(r"^(\d+)\| (.*)$", example, re.MULTILINE)
    entries = tuple(Entry("Logs/2026-04-09.md", int(at), int(at), words, day="2026-04-09") for at, words in rows)
    request = ExtractionRequest(
        "2026-04-09", entries, (DocumentChoice("harborlight", "Harborlight", "project", "Projects/harborlight"),)
    )
    told = re.findall(r"^(k\d) (\w+) \S+ since (\S+): (.*)$", example, re.MULTILINE)
    shown = {ident: Item(ItemType(kind), text, ident, since=since) for ident, kind, since, text in told}
    reply = read_reply(example[example.index('{"items"') :])
    assert reply
    own = {f"n{at}": f"n{at}" for at in range(len(reply["items"]))}
    seen = Shown.of([example.partition('{"items"')[0]])
    found, faulty = extraction_of(reply, Asked(request, "", shown, seen, own))
    assert (faulty, len(found.candidates), len(found.operations), len(found.episode)) == ((), 3, 2, 1)
    assert (found.candidates[0].replaces, found.candidates[0].since) == (("k2",), "2026-05-01")
    keys = {name: set(part["properties"]) for name, part in schema_of(ExtractionReply)["$defs"].items()}
    given = json.loads(example[example.index('{"items"') : example.index("\n\nLog and items")])
    assert all(set(one) <= keys["ReplyItem"] for one in given["items"])
    assert all(set(one) <= keys["ReplyOperation"] for one in given["operations"])


@pytest.mark.parametrize("name", ["extract", "brief", "verify"])
def test_each_prompt_has_its_front_matter(name: str) -> None:
    assert load_prompt(name).tag.startswith(f"{name}/")


def test_resources_are_found_in_a_wheel_and_in_a_checkout_and_nowhere_else(tmp_path: Path) -> None:
    package = tmp_path / "site" / "pipelines"
    package.mkdir(parents=True)
    stranger = package.parent / "prompts"
    stranger.mkdir()
    with pytest.raises(BadFile, match="missing from this installation"):
        resources.resource("prompts", package)
    (package.parent / "pyproject.toml").touch()
    assert resources.resource("prompts", package) == stranger
    packed = package / "_data" / "prompts"
    packed.mkdir(parents=True)
    assert resources.resource("prompts", package) == packed
    assert (resources.resource("prompts") / "extract.md.j2").is_file()
