"""`curate eval review`: its figures are right, and its faults are all named."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pipelines.cli import run_cli
from pipelines.queries.pairs import Pair, Relation, score_pairs

if TYPE_CHECKING:
    from pathlib import Path

ROWS = [
    {"old": "Use Redis.", "new": "use redis", "label": "duplicate"},
    {"old": "The office is in Bern.", "new": "The office has moved to Zurich.", "label": "supersede", "type": "Fact"},
    {"old": "The office is in Bern.", "new": "The yard floods when it rains.", "label": "contradict"},
    {"old": "Pay rent.", "new": "pay rent!", "label": "distinct", "why": "number"},
]


def told(capsys: pytest.CaptureFixture[str], *arguments: str, exits: int = 0) -> str:
    capsys.readouterr()
    code = run_cli(["eval", "review", *arguments])
    said = capsys.readouterr()
    assert code == exits, said.err
    return said.out + said.err


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    return path


def test_the_figures(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found: dict[str, Any] = json.loads(told(capsys, str(file), "--json"))["all"]
    assert (found["pairs"], found["merged_wrongly"], found["merged_wrongly_guarded"]) == (4, 1, 1)
    assert found["verdicts"]["duplicate"] == {"precision": 0.5, "recall": 1.0, "f1": 0.6667}
    assert found["verdicts"]["distinct"] == {"precision": 0.0, "recall": 0.0, "f1": 0.0}
    assert found["macro_f1"] == round((2 / 3 + 0 + 0 + 0) / 4, 4)
    assert "all        4  0.167" in told(capsys, str(file))


def test_a_third_is_held_back_and_never_shown(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pairs = [Pair(f"The {at} gate is red.", "Pay rent.", Relation.DUPLICATE) for at in range(300)]
    assert 70 < sum(pair.held_back for pair in pairs) < 130
    file.write_text("".join(json.dumps({"old": p.old, "new": p.new, "label": "duplicate"}) + "\n" for p in pairs))
    said = told(capsys, str(file), "--wrong")
    assert not [pair.old for pair in pairs if pair.held_back and f": {pair.old} |" in said]
    assert len(score_pairs(pairs).wrong) == 300


def test_all_faults_are_named_at_once(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text('{"old": "a"\n{"old": "a", "label": "distinct"}\n{"old": "a", "new": "b", "label": "maybe"}\n')
    said = told(capsys, str(file), exits=1)
    assert [f"line {n}:" in said for n in (1, 2, 3)] == [True] * 3
    assert "Traceback" not in said


@pytest.mark.parametrize("data", [b"", b"\xff\xfe"])
def test_a_file_that_holds_no_pair(file: Path, capsys: pytest.CaptureFixture[str], data: bytes) -> None:
    file.write_bytes(data)
    assert "pairs.jsonl" in told(capsys, str(file), exits=1)
    assert "pairs.jsonl" in told(capsys, str(file.with_name("pairs.jsonl.none")), exits=1)
