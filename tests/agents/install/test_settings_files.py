"""Settings of others, edited: what is put in comes out again, and all else stays."""

import json
from functools import partial
from pathlib import Path

import pytest

from pipelines.agents.install_plan import Program
from pipelines.agents.settings_files import CannotEdit, add_server, edit_json, edit_toml

PROGRAM = Program(("/opt/my tools/curate",), Path("/home/ü/my memory"))
with_server = partial(add_server, path=("mcp", "servers"), program=PROGRAM, more={})


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
        ('{\n  // mine\n  "a": 1\n}', "has comments"),
        ('{"mcp": []}', "`mcp` is not a table"),
        ('{"mcp": {"servers": {"memcurate": {"command": "other"}}}}', "another MCP server called memcurate"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_what_cannot_be_edited_is_refused_with_the_reason(text: str, why: str) -> None:
    with pytest.raises(CannotEdit) as fault:
        edit_json(text, with_server)
    assert why in str(fault.value)


@pytest.mark.parametrize(("text", "why"), [("[a", "is not valid TOML"), ("mcp = 1", "`mcp` is not a table")])
def test_toml_that_cannot_be_edited_is_refused_with_the_reason(text: str, why: str) -> None:
    with pytest.raises(CannotEdit) as fault:
        edit_toml(text, with_server)
    assert why in str(fault.value)
