"""The prompts: strict front matter, strict variables, data that stays data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pipelines import templating as resources
from pipelines.errors import BadFile
from pipelines.extract.llm.call import load_prompt

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
    assert prompt.tag == "extract/3"
    assert "2 to 5 items, an idle one none" in rendered.system
    for name in ("Decision", "Fact", "Rule", "Todo", "Risk"):
        _, _, after = rendered.system.partition(f"- {name}: ")
        assert after.split("\n- ")[0].count("  Yes: ") == after.split("\n\n")[0].split("\n- ")[0].count("  No: ") == 1
    assert "BEGIN LOG c0de\n1| {{ day }} {% raw %}\nEND LOG c0de\n" in rendered.user
    assert "2026-03-12" not in rendered.system
    assert rendered.user.endswith("Return the items of this day.\n")
    again = prompt.call({**VALUES, "faulty": ['{"item": {}}']}, {})
    assert again.system == rendered.system
    assert again.user.startswith(rendered.user.removesuffix("Return the items of this day.\n"))
    assert '\n{"item": {}}\n' in again.user


@pytest.mark.parametrize("missing", sorted(VALUES))
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
