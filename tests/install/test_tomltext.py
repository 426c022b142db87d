"""TOML that people own: one table in and out, every other byte as it was."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.install.jsontext import Broken
from pipelines.install.tomltext import with_table, without_table

PATH = ("mcp_servers", "memcurate")
TABLE: dict[str, str | list[str]] = {"command": "/opt/curate", "args": ["mcp", "--memory", '/home/ü/"m"']}

USUAL = """\
# my settings
model = "gpt-5"  # the good one

[mcp_servers.docs]
command = "docs"
env = { A = "1" }

[projects."/home/me"]
trust_level = "trusted"
text = '''
[mcp_servers.memcurate]
'''
"""


@pytest.mark.parametrize(
    "text",
    ["", "a = 1\n", "a = 1", "\n", USUAL, USUAL.replace("\n", "\r\n"), USUAL + "\n\n# the end\n", "# only this\n"],
)
def test_a_table_is_added_and_taken_out_to_the_byte(text: str) -> None:
    added = with_table(text, PATH, TABLE)
    data = tomllib.loads(added.replace("\r\n", "\n"))
    assert data["mcp_servers"]["memcurate"] == TABLE
    assert added.startswith(text)
    assert with_table(added, PATH, TABLE) == added
    assert without_table(added, PATH) == text
    assert without_table(text, PATH) == text


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=30))
def test_any_value_reads_back(value: str) -> None:
    table: dict[str, str | list[str]] = {"command": value, "args": [value, "x"]}
    added = with_table(USUAL, PATH, table)
    assert tomllib.loads(added)["mcp_servers"]["memcurate"] == table
    again = with_table(added, PATH, TABLE)
    assert tomllib.loads(again)["mcp_servers"]["memcurate"] == TABLE
    assert without_table(again, PATH) == USUAL


def test_a_table_is_renewed_where_it_stands_with_what_was_added_to_it() -> None:
    text = (
        "[ mcp_servers . memcurate ] # ours\n"
        "args = [\n  'mcp', # one\n  'old',\n]\n"
        'command = "old" # where\n'
        "startup_timeout_sec = 20\n\n"
        "[mcp_servers.memcurate.env]\nA = '1'\n\n"
        "# theirs\n[other]\nx = 1\n"
    )
    renewed = with_table(text, PATH, TABLE)
    data = tomllib.loads(renewed)
    assert data["mcp_servers"]["memcurate"] == {**TABLE, "startup_timeout_sec": 20, "env": {"A": "1"}}
    assert 'command = "/opt/curate" # where\n' in renewed
    assert without_table(renewed, PATH).lstrip("\n") == "# theirs\n[other]\nx = 1\n"
    lacking = with_table("[mcp_servers.memcurate]\nenabled = true\n", PATH, TABLE)
    assert tomllib.loads(lacking)["mcp_servers"]["memcurate"] == {**TABLE, "enabled": True}


def test_what_came_behind_it_stays() -> None:
    added = with_table("a = 1\n", PATH, TABLE) + "\n# theirs\n[b]\nc = 2\n"
    assert without_table(added, PATH) == "a = 1\n\n# theirs\n[b]\nc = 2\n"


@pytest.mark.parametrize(
    "text",
    [
        'mcp_servers = { docs = { command = "x" } }\n',
        "mcp_servers.memcurate.command = 'x'\n",
        "[mcp_servers]\nmemcurate = 7\n",
    ],
)
def test_what_cannot_be_changed_by_lines_is_left_to_its_owner(text: str) -> None:
    with pytest.raises(Broken):
        with_table(text, PATH, TABLE)


def test_what_is_held_inline_is_not_taken_out() -> None:
    with pytest.raises(Broken, match="take it out by hand"):
        without_table("mcp_servers = { memcurate = { command = 'x' } }\n", PATH)


@pytest.mark.parametrize("text", ["a = ", "[a\n", "\x00"])
def test_what_is_no_toml_is_refused(text: str) -> None:
    with pytest.raises(Broken, match="is no TOML"):
        with_table(text, PATH, TABLE)
    with pytest.raises(Broken, match="is no TOML"):
        without_table(text, PATH)
