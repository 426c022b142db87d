"""Transcripts: the turns of every format, what is passed over and where, and nothing in a file that makes it fail."""

import io
import json
import time
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.store.evidence import Act
from pipelines.store.transcripts.reader import Transcript
from pipelines.store.transcripts.records import Role, Turn

AT = "2026-03-18T09:14:00.000Z"
MOMENT = datetime(2026, 3, 18, 9, 14, tzinfo=UTC)


def lines(*records: object) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def read(data: bytes, zone: Any = UTC) -> tuple[list[Turn], Transcript]:
    transcript = Transcript(io.BytesIO(data), zone)
    return list(transcript), transcript


def said(data: bytes) -> list[tuple[int, str, str]]:
    return [(turn.line, turn.role.value, turn.text) for turn in read(data)[0]]


def claude(kind: str, content: object, **more: object) -> dict[str, Any]:
    base = {"type": kind, "sessionId": "s1", "uuid": "u1", "cwd": "/home/me/harbour", "timestamp": AT}
    return {**base, "message": {"role": kind, "content": content}, **more}


def codex(role: str, kind: str, text: str) -> dict[str, Any]:
    message = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
    return {"timestamp": AT, "type": "response_item", "payload": message}


# ---------------------------------------------------------------- the formats


def test_claude_code() -> None:
    thought = {"type": "thinking", "thinking": "the user says", "signature": "s"}
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "user secrets"}]}
    data = lines(
        {"type": "summary", "summary": "the user wants", "leafUuid": "x"},
        claude("user", "Use SQLite."),
        claude("assistant", [thought]),
        claude("assistant", [thought, {"type": "text", "text": "I will."}, call]),
        claude("assistant", [call | {"id": "t2"}]),
        claude("user", [result], toolUseResult={"stdout": "x"}),
        claude(
            "user",
            [
                result | {"tool_use_id": "t2"},
                {"type": "text", "text": "Not like that."},
                {"type": "image", "source": {}},
            ],
        ),
        claude("user", "Caveat: a note of the program", isMeta=True),
        claude("user", "What was said so far", isCompactSummary=True),
        claude("user", "This session is being continued from a previous conversation that ran out of context."),
        claude("user", "[Request interrupted by user for tool use]"),
        claude("assistant", "API Error: 500", isApiErrorMessage=True),
        {"type": "system", "subtype": "user", "content": "user", "timestamp": AT},
        {"type": "file-history-snapshot", "snapshot": {}},
        claude("user", "Look into it.", isSidechain=True),
    )
    turns, transcript = read(data)
    assert [(turn.line, turn.role.value, turn.text) for turn in turns] == [
        (2, "user", "Use SQLite."),
        (4, "assistant", "I will."),
        (7, "user", "Not like that."),
        (15, "user", "Look into it."),
    ]
    assert turns[0] == Turn(
        2, Role.USER, "Use SQLite.", MOMENT, "s1", "u1", "claude-code", "/home/me/harbour", act=Act.TYPED
    )
    assert [turn.subagent for turn in turns] == [False, False, False, True]
    assert not transcript.unread


def test_what_the_program_puts_into_a_users_turn_is_not_the_users() -> None:
    reminder = "<system-reminder>\nNever say user.\n</system-reminder>"
    data = lines(
        claude("user", f"{reminder}\nUse SQLite.\n{reminder}"),
        claude("user", "<command-message>review</command-message>\n<command-name>/review</command-name>"),
        claude("user", "<command-name>/review</command-name>\n<command-args>the parser</command-args>"),
        claude("user", "<local-command-stdout>a user</local-command-stdout>"),
        claude("user", "What does <system-reminder> mean? It is never closed."),
        claude("assistant", "It reads <system-reminder>x</system-reminder> so."),
    )
    assert [text for _, _, text in said(data)] == [
        "Use SQLite.",
        "the parser",
        "What does <system-reminder> mean? It is never closed.",
        "It reads <system-reminder>x</system-reminder> so.",
    ]


def test_codex() -> None:
    meta = {"id": "c1", "cwd": "/home/me/harbour", "originator": "codex_cli_rs", "instructions": "user"}
    data = lines(
        {"timestamp": AT, "type": "session_meta", "payload": meta},
        codex("developer", "input_text", "the user must"),
        codex("user", "input_text", "<environment_context>\n<cwd>/x</cwd>\n</environment_context>"),
        codex("user", "input_text", "# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\ny\n</INSTRUCTIONS>"),
        codex("user", "input_text", "Use SQLite."),
        {"timestamp": AT, "type": "event_msg", "payload": {"type": "user_message", "message": "Use SQLite."}},
        {"timestamp": AT, "type": "response_item", "payload": {"type": "reasoning", "summary": ["user"]}},
        {"timestamp": AT, "type": "response_item", "payload": {"type": "function_call", "arguments": '{"a": "user"}'}},
        {"timestamp": AT, "type": "response_item", "payload": {"type": "function_call_output", "output": {"user": 1}}},
        codex("assistant", "output_text", "I will."),
        {"timestamp": AT, "type": "compacted", "payload": {"message": "x", "replacement_history": [{"role": "user"}]}},
    )
    turns, transcript = read(data)
    assert said(data) == [(5, "user", "Use SQLite."), (10, "assistant", "I will.")]
    assert turns[0] == Turn(
        5, Role.USER, "Use SQLite.", MOMENT, "c1", "", "codex", "/home/me/harbour", act=Act.TYPED, begun=MOMENT
    )
    assert not transcript.unread
    assert said(lines({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Old."}]})) == [
        (1, "user", "Old.")
    ]


def test_openclaw() -> None:
    def message(role: str, content: object, **more: object) -> dict[str, Any]:
        return {"type": "message", "id": "m1", "parentId": "m0", "timestamp": AT} | {
            "message": {"role": role, "content": content, "timestamp": 1773825240000, **more}
        }

    data = lines(
        {"type": "session", "version": 3, "id": "o1", "timestamp": AT, "cwd": "/home/me/harbour"},
        {"type": "model_change", "id": "x", "modelId": "user"},
        message("user", [{"type": "text", "text": "Use SQLite."}]),
        message("assistant", [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "I will."}]),
        message("assistant", [{"type": "toolCall", "name": "user", "arguments": {}}]),
        message("toolResult", [{"type": "text", "text": "the user"}]),
        {"type": "compaction", "summary": "x", "details": {"role": "user"}},
        {"type": "of-a-later-version", "message": {"role": "user", "content": "no"}},
    )
    turns, transcript = read(data)
    assert said(data) == [(3, "user", "Use SQLite."), (4, "assistant", "I will.")]
    assert turns[1] == Turn(
        4, Role.ASSISTANT, "I will.", MOMENT, "o1", "m1", "openclaw", "/home/me/harbour", begun=MOMENT
    )
    assert transcript.strange == 8


def test_plain_records_in_any_zone_and_without_one() -> None:
    times = ["2026-03-18T09:14:00", "2026-03-18T10:14:00+01:00", 1773825240, 1773825240000]
    times += [None, "1773825240", "soon", 10**400, True, -5, float("nan"), float("inf"), "0001-01-01"]
    data = lines(*({"role": "user", "content": "hi", "timestamp": time} for time in times))
    zone = ZoneInfo("Europe/Zurich")
    found = [turn.time for turn in read(data, zone)[0]]
    assert found[0] == datetime(2026, 3, 18, 9, 14, tzinfo=zone)
    assert found[1:4] == [MOMENT] * 3
    assert found[4:] == [None] * 9


# ---------------------------------------------------------------- what is broken


def test_a_broken_line_costs_no_other_and_is_counted_with_its_place() -> None:
    good = lines({"role": "user", "content": "hi"})
    bad = [b'{"role": "user", "content"\n', b"\x00\xff\x00 user\n", b'["user"]\n', b'"user"\n', b"garbage\n", b"\n"]
    data = b"\xef\xbb\xbf" + good + b"".join(bad) + good + b'{"role": "user", "content": "cut'
    turns, transcript = read(data)
    assert [turn.line for turn in turns] == [1, 8]
    assert transcript.unread == "6 lines are not JSON (the first is line 2)"


def test_zeros_cost_no_record() -> None:
    said = [json.dumps({"role": "user", "content": text}).encode() for text in ("a\0b", "c@d", "e")]
    data = said[0] + b"\n" + b"\0" * 8 + b"\n" + said[1].replace(b"@", b"\0") + b"\n" + b"\0" * 4096 + said[2] + b"\n"
    transcript = Transcript(io.BytesIO(data))
    assert [turn.text for turn in transcript] == ["ab", "cd", "e"]
    assert not transcript.unread


def test_bombs_and_huge_numbers() -> None:
    deep = b'{"role": "user", "content": ' + b"[" * 200_000 + b"]" * 200_000 + b"}\n"
    huge = b'{"role": "user", "content": "hi", "n": ' + b"9" * 5000 + b"}\n"
    turns, transcript = read(deep + b"[" * 100_000 + b"\n" + huge)
    assert [turn.line for turn in turns] == [3]
    assert transcript.unread == "2 lines are not JSON (the first is line 1)"


@pytest.mark.parametrize("bad", [[], {}, 7, None, True, "x", [[]], [{"type": []}], [{"type": "text", "text": 7}]])
def test_fields_of_the_wrong_kind(bad: object) -> None:
    for record in (
        {"type": bad, "role": "user", "content": "a"},
        {"role": bad, "content": "user"},
        {"role": "user", "content": bad, "timestamp": bad},
        {"type": "user", "message": bad},
        claude("user", bad, cwd=bad, sessionId=bad, uuid=bad, isMeta=bad, timestamp=bad),
        {"type": "response_item", "payload": bad, "x": "user"},
        {"type": "response_item", "payload": {"type": bad, "role": bad}, "x": "user"},
        {"type": "session_meta", "payload": bad},
        {"type": "session", "id": bad, "cwd": bad},
    ):
        read(lines(record, {"role": "user", "content": "hi"}))


def test_a_line_of_5_mb_is_read() -> None:
    turns, _ = read(lines({"role": "user", "content": "x" * 5_000_000}))
    assert len(turns[0].text) == 5_000_000


def test_many_openings_that_are_never_closed_take_no_time() -> None:
    began = time.process_time()
    assert len(said(lines(claude("user", "<system-reminder>\n" * 50_000)))) == 1
    assert time.process_time() - began < 1.25


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["user", "assistant", "text", "message"])
    | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "role", "content", "message", "payload", "text", "timestamp"]), inner
        )
    ),
)


@given(JSON)
def test_no_json_makes_it_fail(value: object) -> None:
    for turn in read(lines(value, {"type": "user", "message": value}, {"role": "user", "content": value}))[0]:
        assert turn.text.strip()
        turn.text.encode()
