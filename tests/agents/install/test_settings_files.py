"""Settings of others, edited: what is put in comes out again, and all else stays."""

from __future__ import annotations

import json
import tomllib
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.agents.install_plan import Program
from pipelines.agents.settings_files import CannotEdit, add_server, edit_json, edit_toml, remove_server

PROGRAM = Program(("/opt/my tools/curate",), Path("/home/ü/my memory"))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=9,
)
with_server = partial(add_server, path=("mcp", "servers"), program=PROGRAM)
without_server = partial(remove_server, path=("mcp", "servers"))


@given(
    st.dictionaries(st.text(max_size=5).filter(lambda key: key != "mcp"), VALUES, min_size=1, max_size=4),
    st.sampled_from([None, 2, 4, "\t"]),
    st.sampled_from(["", "\n"]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_json_as_programs_write_it_comes_back_to_the_byte(
    value: dict[str, Any], indent: Any, end: str, newline: str
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=False).replace("\n", newline) + end
    added = edit_json(text, with_server)
    assert list(json.loads(added)) == [*value, "mcp"]
    assert edit_json(added, with_server) == added
    assert edit_json(added, without_server) == text
    assert edit_json(text, without_server) == text


@pytest.mark.parametrize(
    "text",
    ["", "# mine\n", 'model = "x" # why\n', '[mcp.servers.a]\ncommand = "b"\n\n[z]\nq = 1\n', "[mcp]\n# none yet\n",
     'mcp.servers.a.command = "x"\n', "a = 1\r\n[b] # here\r\nc = 2\r\n", 'mcp = {servers = {a = {command = "x"}}}\n',
     'text = """\n[mcp.servers.memcurate]\n"""\n'],
)  # fmt: skip
def test_toml_keeps_its_comments_and_form(text: str) -> None:
    added = edit_toml(text, with_server)
    assert tomllib.loads(added)["mcp"]["servers"]["memcurate"]["args"][0] == "mcp"
    for line in text.splitlines():
        assert line in added or "servers = {" in line
    assert edit_toml(added, with_server) == added
    assert tomllib.loads(edit_toml(added, without_server)) == tomllib.loads(text) or text.startswith("[mcp]\n#")
    assert edit_toml(text, without_server) == text


def test_what_a_person_added_to_our_entry_stays() -> None:
    theirs = (
        '{"mcp":{"servers":{"memcurate":{"env":{"A":"b"},"command":"/old/curate","args":["mcp","--memory","/m"]}}}}'
    )
    entry = json.loads(edit_json(theirs, with_server))["mcp"]["servers"]["memcurate"]
    assert entry["env"] == {"A": "b"}
    assert entry["command"] == "/opt/my tools/curate"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "is not valid JSON (line 1,"),
        ("[]", "does not hold a JSON object"),
        ('{"a": NaN}', "is not valid JSON"),
        ('{\n  // mine\n  "a": 1\n}', "has comments"),
        ('{"mcp": []}', "`mcp` is not a table"),
        ('{"mcp": {"servers": {"memcurate": {"command": "other"}}}}', "another MCP server called memcurate"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_what_cannot_be_edited_is_refused_with_the_reason(text: str, why: str) -> None:
    with pytest.raises(CannotEdit) as fault:
        edit_json(text, with_server)
    assert why in fault.value.why


@pytest.mark.parametrize(("text", "why"), [("[a", "is not valid TOML"), ("mcp = 1", "`mcp` is not a table")])
def test_toml_that_cannot_be_edited_is_refused_with_the_reason(text: str, why: str) -> None:
    with pytest.raises(CannotEdit) as fault:
        edit_toml(text, with_server)
    assert why in fault.value.why
