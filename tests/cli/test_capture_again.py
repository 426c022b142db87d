"""`curate capture` of sessions that go on: what they repeat is logged once, and each turn stands on its day."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_capture import FIRST, LATER, NOW, SECOND, said, transcript
from tests.conftest import Memory


def logs(memory: Memory) -> str:
    """Return all logs."""
    return "".join(path.read_text() for path in sorted((memory.root / "Logs").glob("*.md")))


def spoken(role: str, text: str, time: str = "") -> dict[str, Any]:
    """Return a turn as Codex writes it: of today with its time, of 2025 without."""
    kind = "input_text" if role == "user" else "output_text"
    told = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
    return {"timestamp": time, "type": "response_item", "payload": told} if time else told


HEADER = {"id": "c1", "timestamp": "2025-09-10T18:58:38.331Z", "instructions": None}
STATE = {"record_type": "state"}


@pytest.mark.parametrize(
    ("opening", "name", "day"),
    [
        ([HEADER, STATE], "rollout-2025-05-07T17-24-21-c1.jsonl", "2025-09-10"),
        ([STATE], "rollout-2025-05-07T17-24-21-c1.jsonl", "2025-05-07"),
        ([STATE], "rollout-c1.jsonl", "2026-03-16"),
        ([{**HEADER, "timestamp": "2096-01-01T00:00:00Z"}], "rollout-c1.jsonl", "2026-03-16"),
    ],
)
def test_turns_without_a_time_are_of_the_day_on_which_the_session_began(
    memory: Memory, tmp_path: Path, opening: list[dict[str, Any]], name: str, day: str
) -> None:
    source = transcript(tmp_path / name, *opening, spoken("user", "Use SQLite."), spoken("assistant", "I will."))
    os.utime(source, (1773655200, 1773655200))  # 2026-03-16: a copy, a clone or a backup is younger than what was said
    memory.curate("capture", str(source), *NOW)
    assert [path.name for path in (memory.root / "Logs").glob("*.md")] == [f"{day}.md"]
    assert logs(memory).count("**") == 4


ONE, TWO, THREE = ({**turn, "uuid": f"u{n}"} for n, turn in enumerate((FIRST, SECOND, LATER), 1))


def forked(*records: dict[str, Any]) -> list[dict[str, Any]]:
    """Return records as a fork has them."""
    return [{**record, "sessionId": "forked-77"} for record in records]


def test_what_was_deleted_from_a_log_does_not_come_back_with_a_fork(memory: Memory, tmp_path: Path) -> None:
    memory.curate("capture", str(transcript(tmp_path / "a.jsonl", ONE, TWO)), *NOW)
    memory.write("Logs/2026-03-17.md", "# 2026-03-17\n")
    memory.curate("capture", str(transcript(tmp_path / "b.jsonl", *forked(ONE, TWO, THREE))), *NOW)
    assert "Never push on Friday." in memory.read("Logs/2026-03-18.md")
    assert memory.read("Logs/2026-03-17.md") == "# 2026-03-17\n"


def test_a_fork_that_begins_with_the_same_line_is_another_session(memory: Memory, tmp_path: Path) -> None:
    snapshot = {"type": "file-history-snapshot", "messageId": "m1"}
    first = transcript(tmp_path / "a.jsonl", snapshot, ONE)
    memory.curate("capture", str(first), *NOW)
    more = [said("user", f"And {n}?", f"2026-03-18T08:0{n}:00Z", uuid=f"m{n}") for n in range(4)]
    memory.curate("capture", str(transcript(tmp_path / "b.jsonl", snapshot, *forked(ONE, THREE, *more))), *NOW)
    memory.curate("capture", str(transcript(first, snapshot, ONE, TWO)), *NOW)
    text = logs(memory)
    assert [text.count(words) for words in ("Which database?", "Postgres 16", "Never push")] == [1, 1, 1]


def test_a_turn_that_a_compaction_writes_anew_is_logged_once(memory: Memory, tmp_path: Path) -> None:
    later = {**ONE, "timestamp": "2026-03-18T09:00:00Z"}
    memory.curate("capture", str(transcript(tmp_path / "a.jsonl", ONE, TWO, later, THREE)), *NOW)
    assert logs(memory).count("Which database?") == 1


def rollout(place: Path, ident: str, clock: str, *turns: tuple[str, str]) -> Path:
    """Write a session of Codex whose turns have no ids, a second apart."""
    meta = {
        "timestamp": f"{clock}:00Z",
        "type": "session_meta",
        "payload": {"id": ident, "cwd": "/home/ada/src/harbor"},
    }
    said_then = [spoken(role, text, f"{clock}:{n:02}Z") for n, (role, text) in enumerate(turns)]
    return transcript(place / f"{ident}.jsonl", meta, *said_then)


ASKED = (("user", "Which database?"), ("assistant", "Postgres 16."))


def test_a_fork_with_new_times_and_no_ids_is_logged_once(memory: Memory, tmp_path: Path) -> None:
    first = rollout(tmp_path, "one", "2026-03-16T10:00", *ASKED)
    fork = rollout(tmp_path, "two", "2026-03-17T10:00", *ASKED, ("user", "And the cache?"))
    again = rollout(tmp_path, "three", "2026-03-18T10:00", *ASKED, ("user", "And the cache?"), ("user", "And mail?"))
    memory.curate("capture", *map(str, (first, fork, again)), *NOW)
    text = logs(memory)
    assert [text.count(words) for words in ("Which database?", "Postgres 16.", "the cache?", "mail?")] == [1, 1, 1, 1]


def test_a_fork_of_a_session_that_begins_with_an_approved_plan_is_logged_once(memory: Memory, tmp_path: Path) -> None:
    kept = Path.home() / ".codex/attachments/273c3974/approved-plan.md"
    kept.parent.mkdir(parents=True)
    kept.write_text("# Move sessions to Redis\n")
    turns = ("user", f"Read the approved plan at {kept} and implement it."), ASKED[1]
    memory.curate("capture", str(rollout(tmp_path, "one", "2026-03-16T10:00", *turns)), *NOW)
    memory.curate("capture", str(rollout(tmp_path, "two", "2026-03-17T10:00", *turns, ("user", "And mail?"))), *NOW)
    assert [logs(memory).count(words) for words in ("Move sessions", "Postgres 16.", "mail?")] == [1, 1, 1]


def test_a_session_that_begins_with_the_same_words_is_no_fork(memory: Memory, tmp_path: Path) -> None:
    first = rollout(tmp_path, "one", "2026-03-16T10:00", ("user", "Go on."), ("assistant", "Tests pass."))
    other = rollout(tmp_path, "two", "2026-03-17T10:00", ("user", "Go on."), ("assistant", "Two tests fail."))
    claude = [said("user", "Go on.", f"2026-03-1{n}T11:00:00Z", f"c{n}", uuid=f"u{n}") for n in (6, 7)]
    apart = [transcript(tmp_path / f"c{n}.jsonl", one, said("assistant", "Yes.", one["timestamp"], one["sessionId"]))
             for n, one in enumerate(claude)]  # fmt: skip
    memory.curate("capture", *map(str, (first, other, *apart)), *NOW)
    assert logs(memory).count("Go on.") == 4


def test_state_says_little_of_a_session(memory: Memory, tmp_path: Path) -> None:
    memory.curate("capture", str(transcript(tmp_path / "a.jsonl", *[ONE, TWO, THREE] * 50)), *NOW)
    (row,) = map(json.loads, memory.read("State/sessions.jsonl").splitlines())
    assert len(json.dumps(row)) < 300
    assert str(tmp_path) not in json.dumps(row)
