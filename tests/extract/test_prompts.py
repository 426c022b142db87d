"""The prompts: strict front matter, strict variables, data that stays data."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from pipelines import templating as resources
from pipelines.errors import BadFile
from pipelines.extract.extraction import DocumentChoice, ExtractionRequest
from pipelines.extract.llm.call import load_prompt
from pipelines.extract.llm.reply_schema import candidates_of, operations_of, read_reply, reply_schema
from pipelines.store.item import Item, ItemType
from pipelines.store.log import Entry

if TYPE_CHECKING:
    from pathlib import Path

FRONT = "---\nid: t\nversion: 3\nschema: extraction\n---\n"
BLOCKS = "{% block system %}S{% endblock %}{% block user %}{{ x }} & <b>{% endblock %}"
VALUES = {
    "day": "2026-03-12",
    "documents": [],
    "items": [],
    "log": "1| {{ day }} {% raw %}",
    "nonce": "c0de",
    "faulty": [],
}


def write(folder: Path, text: str) -> Path:
    (folder / "t.md.j2").write_text(text, encoding="utf-8")
    return folder


def test_a_prompt_has_an_id_a_version_and_two_blocks(tmp_path: Path) -> None:
    prompt = load_prompt("t", write(tmp_path, FRONT + BLOCKS))
    assert prompt.tag == "t/3"
    rendered = prompt.call({"x": "<&> {{ y }}"}, {})
    assert (rendered.system, rendered.user) == ("S\n", "<&> {{ y }} & <b>\n")


def test_the_extraction_prompt_says_what_it_must() -> None:
    prompt = load_prompt("extract")
    rendered = prompt.call(VALUES, {})
    assert prompt.tag == "extract/7"
    for name in ("Decision", "Fact", "Rule", "Todo", "Risk"):
        assert f"\n- {name}: " in rendered.system
    for name in (
        "evidence",
        "text",
        "document",
        "new_project",
        "section",
        "from",
        "due",
        "closed",
        "confidence",
        "links",
    ):
        assert f"\n- {name}: " in rendered.system
    for name in ("close", "confirm", "update", "retract", "question"):
        assert f"\n- {name}: " in rendered.system
    assert "What the user says of themselves" in rendered.system
    assert "BEGIN LOG c0de\n1| {{ day }} {% raw %}\nEND LOG c0de\n" in rendered.user
    assert "2026-03-12" not in rendered.system
    assert rendered.user.endswith("Return the items and the operations of this day.\n")
    again = prompt.call({**VALUES, "faulty": ['{"item": {}}']}, {})
    assert again.system == rendered.system
    assert again.user.startswith(rendered.user.removesuffix("Return the items and the operations of this day.\n"))
    assert '\n{"item": {}}\n' in again.user


def test_the_example_of_the_extraction_prompt_is_one_that_code_accepts() -> None:
    """The day, the item that is shown, and the reply are read from the prompt itself, as a model reads them."""
    system = load_prompt("extract").call(VALUES, {}).system
    example = system.partition("## Example\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^(\d+)\| (.*)$", example, re.MULTILINE)
    entries = tuple(Entry("Logs/2026-04-09.md", int(at), int(at), words, day="2026-04-09") for at, words in rows)
    documents = (DocumentChoice("orders", "Orders", "project", "Projects/orders"),)
    request = ExtractionRequest("2026-04-09", entries, documents)
    shown = {"k55b01aa07c": Item(ItemType.TODO, "Call Anders about the DPA.", "k55b01aa07c")}
    assert all(ident in example and item.text in example for ident, item in shown.items())
    replies = example[example.index('{"items"') :].split("\n\n")
    reply = read_reply(replies[0])
    assert reply
    [item], wrong = candidates_of(reply["items"], request, "", shown)
    [operation], faulty = operations_of(reply["operations"], request, "", shown)
    assert (wrong, faulty) == ((), ())
    assert (item.document, operation.kind, operation.how) == ("Projects/orders", "close", "done")
    keys = {name: set(part["properties"]) for name, part in reply_schema()["$defs"].items()}
    assert [set(one) for one in json.loads(replies[0])["items"]] == [keys["ReplyItem"]]
    assert [set(one) for one in json.loads(replies[0])["operations"]] == [keys["ReplyOperation"]]
    assert read_reply(replies[1]) == {"items": [], "operations": []}, "an idle day"


@pytest.mark.parametrize("missing", sorted(VALUES.keys() - {"nonce"}))
def test_a_missing_value_is_named(missing: str) -> None:
    values = {key: value for key, value in VALUES.items() if key != missing}
    with pytest.raises(BadFile, match=f"'{missing}' is undefined"):
        load_prompt("extract").call(values, {})


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("no front matter", ["has no front matter"]),
        ("---\nid: t\n---\n", ["the key 'version' is missing", "the key 'schema' is missing"]),
        (FRONT.replace("id: t", "id: t\nmodel: m") + BLOCKS, ["the key 'model' is unknown"]),
        (FRONT.replace("id: t", "id: t\nid: t") + BLOCKS, ["twice"]),
        (FRONT.replace("id: t", "id: u").replace("3", "0"), ["id is 'u'", "version is '0'"]),
        (FRONT.replace("extraction", "poem"), ["schema is 'poem'"]),
    ],
)
def test_all_faults_of_a_front_matter_are_named(tmp_path: Path, text: str, faults: list[str]) -> None:
    with pytest.raises(BadFile) as caught:
        load_prompt("t", write(tmp_path, text))
    for fault in faults:
        assert fault in str(caught.value)


@pytest.mark.parametrize(
    ("body", "why"),
    [("{% block system %}{% endblock %}", "no block 'user'"), ("{% block", "cannot be filled in")],
)
def test_a_broken_template_is_a_sentence(tmp_path: Path, body: str, why: str) -> None:
    with pytest.raises(BadFile, match=why):
        load_prompt("t", write(tmp_path, FRONT + body)).call({"x": 1}, {})


def test_a_prompt_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="cannot be read"):
        load_prompt("t", tmp_path)


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
