"""Turns and pages as units: who spoke and when, of which day, whose word, and cut like prose."""

from datetime import UTC, datetime
from typing import Any

from pipelines.search.chunks import PIECE_BYTES
from pipelines.search.read_files import turn_units
from pipelines.store.days import Days
from pipelines.store.evidence import Act
from pipelines.store.transcripts.records import Role, Turn

LATE = datetime(2026, 3, 18, 23, 30, tzinfo=UTC)
PATH = "Sessions/2026-03-17/s.jsonl"


def turn(text: str, role: Role = Role.USER, **more: Any) -> Turn:
    fields: dict[str, Any] = {"line": 4, "role": role, "text": text, "time": LATE, "cwd": "/home/me/harbour"}
    fields["act"] = Act.TYPED if role is Role.USER else Act.NONE
    return Turn(**fields | more)


def test_a_turn_knows_who_spoke_when_and_where() -> None:
    (unit,) = turn_units(PATH, [turn("Use SQLite. #cache")], Days("Asia/Tokyo"))
    assert (unit.start_line, unit.end_line, unit.text) == (4, 4, "user 08:30: Use SQLite. #cache")
    assert (unit.date, unit.project, unit.trust, unit.tags) == ("2026-03-19", "harbour", "owner", ("cache",))
    (early,) = turn_units(PATH, [turn("x")], Days("Asia/Tokyo", "09:00"))
    assert early.date == "2026-03-18"


def test_whose_word_a_turn_is() -> None:
    turns = [
        turn("a"),
        turn("p", act=Act.NONE),
        turn("b", Role.ASSISTANT),
        turn("c", subagent=True),
        turn("d", Role.ASSISTANT, subagent=True),
    ]
    told = [(unit.text, unit.trust) for unit in turn_units(PATH, turns, Days())]
    assert told == [
        ("user 23:30: a", "owner"),
        ("program 23:30: p", "self"),
        ("assistant 23:30: b", "self"),
        ("task 23:30: c", "self"),
        ("subagent 23:30: d", "self"),
    ]


def test_a_long_turn_is_cut_and_nothing_of_it_is_lost() -> None:
    code = "```python\n" + "x = 1\n" * 500 + "```"
    tail = "The harbour is deep. " * 200
    texts = [unit.text for unit in turn_units(PATH, [turn(f"# Plan\n\nFirst.\n\n{code}\n\n{tail}")], Days())]
    assert all(text.startswith("user 23:30: ") and len(text) <= PIECE_BYTES + 50 for text in texts)
    said = [text.removeprefix("user 23:30: ") for text in texts]
    assert " ".join(said).split() == f"# Plan First. {code} {tail}".split()
