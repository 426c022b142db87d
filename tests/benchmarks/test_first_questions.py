"""The context of a session answers what a session asks first, on mornings of a few made-up months."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.first_questions import QUESTIONS, live

if TYPE_CHECKING:
    from pathlib import Path


def test_a_session_knows_what_it_asks_first(tmp_path: Path) -> None:
    found, tokens, briefing = live(tmp_path, 22, 1)
    assert [question for number, question in enumerate(QUESTIONS) if not all(row[number] for row in found)] == []
    assert tokens < 4000
    assert briefing <= 8192
