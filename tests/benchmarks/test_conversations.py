"""A public benchmark as downloaded becomes logs and questions, and what is no benchmark is said plainly."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.conversations import read_conversations
from pipelines.errors import BadFile


def sample() -> dict[str, Any]:
    """Return a conversation of two sessions on two days in the shape of LoCoMo."""
    return {
        "sample_id": "conv-7",
        "conversation": {
            "speaker_a": "Ada",
            "speaker_b": "Ben",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ada", "dia_id": "D1:1", "text": "I  adopted\na tortoise."},
                {"speaker": "Ben", "dia_id": "D1:2", "text": "Lovely!", "blip_caption": "a garden"},
            ],
            "session_2_date_time": "9:05 am on 12 June, 2023",
            "session_2": [{"speaker": "Ben", "dia_id": "D2:1", "text": "The ferry was late again."}],
            "session_3_date_time": "9:05 am on 13 June, 2023",
        },
        "qa": [
            {"question": "Which animal does Ada keep?", "answer": "a tortoise", "evidence": ["D1:1"], "category": 4},
            {"question": "What was late?", "answer": "the ferry", "evidence": ["D2:1", "D9:9"], "category": 1},
            {"question": "What does Ben keep?", "evidence": ["D1:1"], "category": 5},
            {"question": "Nobody knows?", "evidence": [], "category": 3},
        ],
    }


def test_locomo_as_downloaded_becomes_a_log_a_day_and_questions(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/locomo10.json").write_text(json.dumps([sample()]))
    (found,) = read_conversations(tmp_path)
    assert found.name == "conv-7"
    assert found.logs == {
        "Logs/2023-05-08.md": "# 2023-05-08\n\n## 13:56 session 1\n\n- **Ada:** I adopted a tortoise.\n"
        "- **Ben:** Lovely! [shares a picture: a garden]\n",
        "Logs/2023-06-12.md": "# 2023-06-12\n\n## 09:05 session 2\n\n- **Ben:** The ferry was late again.\n",
    }
    assert [(one.query, sorted(one.evidence)) for one in found.questions] == [
        ("Which animal does Ada keep?", [("Logs/2023-05-08.md", 5)]),
        ("What was late?", [("Logs/2023-06-12.md", 5)]),
    ]


def test_folders_of_logs_and_questions_are_read_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "one/Logs").mkdir(parents=True)
    (tmp_path / "one/Logs/2023-05-08.md").write_text("- Ada keeps a tortoise.\n")
    (tmp_path / "one/queries.jsonl").write_text('{"query": "Which?", "evidence": [["Logs/2023-05-08.md", 1]]}\n')
    (found,) = read_conversations(tmp_path)
    assert found.name == "one"
    assert sorted(found.questions[0].evidence) == [("Logs/2023-05-08.md", 1)]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[]", "holds no conversation"),
        ("{", "cannot be read"),
        ('[{"conversation": {"session_1": [{}], "session_1_date_time": "at noon"}, "qa": []}]', "is no LoCoMo"),
    ],
)
def test_what_is_no_benchmark_is_said(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(BadFile, match=why):
        read_conversations(tmp_path / "a.json")


def test_the_table_is_printed_without_an_embedder(tmp_path: Path) -> None:
    (tmp_path / "locomo10.json").write_text(json.dumps([sample()]))
    command = [sys.executable, "-m", "benchmarks.search_quality", str(tmp_path), "--json"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    told = json.loads(done.stdout)
    rows = {row["ranking"]: row for row in told["rankings"]}
    assert told["questions"] == 2
    assert rows["words"]["@500w"] == 1.0
    assert "both" not in rows
