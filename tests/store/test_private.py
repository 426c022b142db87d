"""What a person marks as private: it goes, its lines stay, and nothing else of the text is touched."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.store.secrets.redact import log_without_private, record_without_private, without_private


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("nothing here, not even private", "nothing here, not even private"),
        ("a <private>b</private> c", "a [private] c"),
        ("a <private>b", "a [private]"),
        ("a < Private >b</PRIVATE> c", "a [private] c"),
        ("<private>a</private> b <private>c</private>", "[private] b [private]"),
        ("<private>a <private>b</private> c</private> d", "[private] d"),
        ("a </private> b", "a </private> b"),
        ("a <private>b\n  c\nd</private> e", "a [private]\n  [private]\n[private] e"),
    ],
)
def test_a_turn(text: str, shown: str) -> None:
    assert without_private(text) == shown


@pytest.mark.parametrize(
    ("log", "shown"),
    [
        ("- 09:00 a <private>b\n  c\n- 10:00 d\n", "- 09:00 a [private]\n  [private]\n- 10:00 d\n"),
        ("- 09:00 a\n<private>\n- 10:00 b\n- 11:00 c\n</private>\n- 12:00 d\n",
         "- 09:00 a\n[private]\n[private]\n[private]\n[private]\n- 12:00 d\n"),
        ("# <private>x\n\n- 09:00 a\n", "# [private]\n\n- 09:00 a\n"),
        ("- a <private>\n\n- b\n\n- c <private>d</private>\n", "- a [private]\n\n- b\n\n- c [private]\n"),
    ],
)  # fmt: skip
def test_a_log_whose_unclosed_part_ends_with_its_entry(log: str, shown: str) -> None:
    assert log_without_private(log) == shown


PIECES = st.sampled_from(["<private>", "</private>", "\n", "- 09:00 x", "  more", "word", "\n\n", "# h"])


@given(st.lists(PIECES, max_size=12).map("".join))
def test_lines_keep_their_places_and_twice_is_the_same_as_once(text: str) -> None:
    for clean in (without_private, log_without_private):
        once = clean(text)
        assert once.count("\n") == text.count("\n")
        assert clean(once) == once


def record(content: object, **more: object) -> bytes:
    return json.dumps({"type": "user", "message": {"role": "user", "content": content}, **more}).encode() + b"\n"


def test_a_record_stays_json_and_what_a_turn_leaves_open_reaches_to_its_end() -> None:
    assert record_without_private(record("public static, rivate")) == record("public static, rivate")
    clean = json.loads(record_without_private(record("a <private>b</private> c", uuid="u1")))
    assert clean["message"]["content"] == "a [private] c"
    blocks = [{"type": "text", "text": "a <private>b"}, {"type": "text", "text": "c"}, "d </private> e"]
    clean = json.loads(record_without_private(record(blocks, uuid="u1", timestamp="t")))
    first, second, third = clean["message"]["content"]
    assert (first["text"], second["text"], third) == ("a [private]", "[private]", "[private] e")
    assert (clean["uuid"], clean["timestamp"], first["type"]) == ("u1", "t", "text")
    hidden = b'{"text":"x <\\u0070rivate> y"}\n'
    assert json.loads(record_without_private(hidden)) == {"text": "x [private]"}
    escaped = b'{"a":"x \\u003cprivate\\u003e y \\u003c/private\\u003e z"}\n'
    assert json.loads(record_without_private(escaped)) == {"a": "x [private] z"}


def test_a_record_that_is_no_json_is_left_out_where_it_may_hold_something_private() -> None:
    assert record_without_private(b'{"a": "<private> b\n') == b'{"type":"left-out","bytes":19}\n'


def test_a_thousand_marks_take_no_time() -> None:
    began = time.process_time()
    log_without_private("- a <private>\n" * 20_000)
    without_private("<private>" * 50_000)
    assert time.process_time() - began < 5.0
