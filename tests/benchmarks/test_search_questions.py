"""`python -m benchmarks.search_questions`: a search is scored by words, by meaning and by both."""

import json
from pathlib import Path

import pytest

from benchmarks.search_questions import main
from pipelines.search import embed as meaning
from tests.conftest import Memory
from tests.search.bag import Bag

BOAT = '{"query": "boat", "evidence": [["Logs/2026-02-05.md", 1]]}'


@pytest.fixture(name="filled")
def with_logs(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> Memory:
    bag = Bag()
    monkeypatch.setattr(meaning, "chosen_embedder", lambda: (bag, "a bag"))
    monkeypatch.setattr(meaning, "FEWEST_WORDS", 1)
    memory.write("Logs/2026-02-01.md", "- we bought a vessel\n- Decision: paint it blue\n")
    memory.write("Logs/2026-02-05.md", "- the boat sank\n")
    memory.curate("index")
    return memory


def questions(tmp_path: Path, *lines: str) -> str:
    (tmp_path / "questions.jsonl").write_text("\n".join(lines), "utf-8")
    return str(tmp_path / "questions.jsonl")


def test_words_and_both_are_scored(filled: Memory, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = questions(
        tmp_path,
        '{"query": "boat", "evidence": [["Logs/2026-02-01.md", 1], ["Logs/2026-02-05.md", 1]]}',
        "",
        '{"query": "blue paint", "evidence": [["Logs/2026-02-01.md", 2]], "category": "x"}',
    )
    capsys.readouterr()
    main([file, "--memory", str(filled.root), "--json"])
    modes = json.loads(capsys.readouterr().out)["modes"]
    assert {mode: (one["recall@500w"], one["day@5"]) for mode, one in modes.items()} == {
        "keyword": (0.75, 0.75),
        "hybrid": (1.0, 1.0),
    }
    assert modes["hybrid"]["mrr"] == 1.0


def test_evidence_that_no_search_can_find_is_told(
    filled: Memory, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    filled.write("Areas/a.md", "- ~~Fact: boats are odd.~~\n- boats\n")
    places = '["Logs/2026-02-05.md", 1], ["Logs/2026-02-05.md", 9], ["./Logs/2026-02-05.md", 1], ["Areas/a.md", 2]'
    main([questions(tmp_path, f'{{"query": "boat", "evidence": [{places}]}}'), "--memory", str(filled.root)])
    said = capsys.readouterr().err
    assert "The index has nothing at 2 of the 4 places given as evidence (the first is ./Logs/2026-02" in said


@pytest.mark.parametrize("line", ["", f'{BOAT}\n{{"query": " ", "evidence": [["Logs/2026-02-05.md", 1]]}}'])
def test_a_line_that_is_no_question_is_named(tmp_path: Path, line: str) -> None:
    with pytest.raises(SystemExit, match="question"):
        main([questions(tmp_path, line)])
