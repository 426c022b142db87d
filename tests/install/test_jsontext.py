"""JSON that people own: what is put in can be taken out to the byte, and nothing else moves."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.install.jsontext import Broken, append, check_strict, drop, load, put

KEYS = st.text(st.sampled_from('abc "\\/{}[],:ü\n'), max_size=4)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | KEYS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=4)
INDENTS = st.sampled_from([None, 2, 4, "\t"])
ENDS = st.sampled_from(["", "\n", "\n\n"])
OURS = {"hooks": [{"type": "command", "command": "x"}]}


@given(OBJECTS, INDENTS, ENDS, st.sampled_from(["\n", "\r\n"]))
def test_what_is_added_is_taken_out_to_the_byte(value: dict[str, Any], indent: Any, end: str, newline: str) -> None:
    value.pop("hooks", None)
    text = (json.dumps(value, indent=indent) + end).replace("\n", newline)
    added = append(text, ("hooks", "SessionStart"), OURS)
    assert json.loads(added) == {**value, "hooks": {"SessionStart": [OURS]}}
    assert "\n" not in text or added.count("\n") == added.count(newline)
    assert drop(added, ("hooks", "SessionStart", 0)) == text
    twice = append(added, ("hooks", "SessionStart"), {"other": 1})
    assert json.loads(twice)["hooks"]["SessionStart"] == [OURS, {"other": 1}]
    assert drop(twice, ("hooks", "SessionStart", 1)) == added
    assert json.loads(drop(twice, ("hooks", "SessionStart", 0)))["hooks"]["SessionStart"] == [{"other": 1}]


@given(OBJECTS, INDENTS, KEYS, VALUES)
def test_a_value_is_put_and_the_rest_stays(before: dict[str, Any], indent: Any, key: str, value: Any) -> None:
    text = json.dumps(before, indent=indent, ensure_ascii=False)
    after = put(text, (key,), value)
    assert json.loads(after) == {**before, key: value}
    assert list(json.loads(after)) == list({**before, key: value})
    assert put(after, (key,), value) == after
    assert load(after) == json.loads(after)


@given(st.text(st.sampled_from("{}[]\",:ab1 \n/*\\'-"), max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        expected = json.loads(text)
    except ValueError:
        expected = None
    try:
        value = load(text)
    except Broken:
        assert expected is None
        return
    assert expected is None or value == expected


USUAL = """{
  // what the agent may do
  "agents": { defaults: { workspace: '~/w', },  },
  /* numbers of all kinds */
  n: [ .5, +1, 0x1F, 1., Infinity, -1e9, ], // and a comment
  "mcp": {
    "servers": {
      "other": { "command": "x" }, // theirs
    },
  },
}
"""


def test_comments_and_trailing_commas_stay() -> None:
    assert load(USUAL)["agents"]["defaults"]["workspace"] == "~/w"
    added = put(USUAL, ("mcp", "servers", "ours"), {"command": "y"})
    assert load(added)["mcp"]["servers"] == {"other": {"command": "x"}, "ours": {"command": "y"}}
    assert '"other": { "command": "x" }, // theirs\n      "ours": {\n        "command": "y"\n      },\n    },' in added
    assert drop(added, ("mcp", "servers", "ours")) == USUAL
    top = put(USUAL, ("last",), 1)
    assert top.endswith('  },\n  "last": 1,\n}\n')
    assert drop(top, ("last",)) == USUAL


@pytest.mark.parametrize(
    "text",
    [
        '{\n  "a": 1 // why\n}\n', "{ // only this\n}\n", "{}", "{}\n", '{"a":1}', '{"a": 1}', '\ufeff{\n  "a": 1\n}',
        '{\n\t"a": {\n\t\t"b": 2\n\t}\n}', '{\n  "a": 1,\n\n  // at the end\n}\n', '{\n "a": {"b": [1, 2]}\n}',
    ],
)  # fmt: skip
def test_each_form_comes_back(text: str) -> None:
    added = put(text, ("x", "y"), {"z": [1, {"w": None}]})
    assert load(added)["x"] == {"y": {"z": [1, {"w": None}]}}
    assert drop(added, ("x", "y")) == text


def test_what_people_added_around_ours_stays() -> None:
    text = '{\n  "a": 1,\n  "ours": {\n    "x": 1\n  },\n  // mine\n  "b": 2\n}\n'
    assert drop(text, ("ours",)) == '{\n  "a": 1,\n  // mine\n  "b": 2\n}\n'
    assert drop('{"ours": 1, "b": 2}', ("ours",)) == '{"b": 2}'
    assert drop('{"o": { /* mine */ "ours": 1 }}', ("o", "ours")) == '{"o": { /* mine */\n}}'
    assert drop(text, ("nothing", "there")) == text
    assert drop("[1]", (3,)) == "[1]"


def test_the_last_of_two_keys_counts_as_for_every_reader() -> None:
    text = '{"a": {"x": 1}, "a": {"y": 2}}'
    assert json.loads(put(text, ("a", "z"), 3))["a"] == {"y": 2, "z": 3}


@pytest.mark.parametrize(
    "text", ["", "{", '{"a": }', '{"a" 1}', '{"a": 1 "b": 2}', "nonsense here", '{"a": 1}}', '"open', "[" * 5000, "{,}"]
)
def test_what_is_no_json_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(Broken):
        load(text)
    with pytest.raises(Broken):
        check_strict(text)


def test_what_has_another_shape_is_refused() -> None:
    with pytest.raises(Broken, match="`hooks` is no object"):
        put('{"hooks": []}', ("hooks", "x"), 1)
    with pytest.raises(Broken, match=r"`hooks\.x` is no list"):
        append('{"hooks": {"x": {}}}', ("hooks", "x"), 1)
    with pytest.raises(Broken, match="its content is no object"):
        put("[]", ("x",), 1)
    with pytest.raises(Broken, match="line 2, column 8"):
        check_strict('{\n  "a": nope\n}')
