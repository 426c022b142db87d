"""`curate eval extract`: its figures are right, its faults all named, and any provider can be measured."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from pipelines.cli import run_cli
from pipelines.errors import ModelFailed
from pipelines.extract import choose_models as choose
from pipelines.extract.extraction import Candidate, Extraction, Place
from pipelines.extract.rules import RulesExtractor
from pipelines.store.item import Confidence, ItemType
from pipelines.usage import Spent, Tally, Usage

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.extract.extraction import ExtractionRequest
    from pipelines.user_settings import UserSettings

LOGS = {
    "2026-01-05": "# Monday\n\n- Decision: Close the north gate.\n- The minutes of last week are approved\n- ran ls\n",
    "2026-01-06": "- TODO: ask Carl for the key\n- the yard floods when it rains\n",
    "2026-01-07": "- nothing today\n",
}
GOLD = [
    {"date": "2026-01-05", "type": "Decision", "text": "Close the north gate.", "procedural": False},
    {"date": "2026-01-05", "type": "Decision", "text": "close the NORTH gate"},
    {"date": "2026-01-05", "type": "Decision", "text": "The minutes of last week are approved", "procedural": True},
    {"date": "2026-01-06", "type": "Todo", "text": "ask Carl for the key"},
    {"date": "2026-01-06", "type": "Decision", "text": "the yard floods when it rains", "lines": [2, 2]},
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return three days with their gold."""
    (tmp_path / "Logs").mkdir()
    for day, text in LOGS.items():
        (tmp_path / "Logs" / f"{day}.md").write_text(text)
    (tmp_path / "gold.jsonl").write_text("".join(json.dumps(one) + "\n" for one in GOLD))
    return tmp_path


class Scripted:
    """An extractor that says what it is told to, by day: (type, line, text, quote)."""

    name = "anthropic:claude-haiku-5-5@extract/1"

    def __init__(self, said: dict[str, list[tuple[str, int, str, str]]], failing: frozenset[str] = frozenset()) -> None:
        self.said, self.failing = said, failing
        self.days: list[str] = []
        self.spent = (Spent("anthropic:claude-haiku-5-5", 1, Usage(1_000_000, 100_000), 0.15),)

    def extract(self, request: ExtractionRequest) -> Extraction:
        self.days.append(request.day)
        if request.day in self.failing:
            fault = ModelFailed("Claude", "is overloaded (status 529)")
            fault.tally = Tally([*self.spent])
            raise fault
        found = []
        for kind, line, text, quote in self.said.get(request.day, ()):
            entry = next(one for one in request.entries if one.start_line <= line <= one.end_line)
            level = Confidence.MEDIUM
            found.append(Candidate(ItemType(kind), text, (Place(entry, line, line, quote),), level, "told", self.name))
        return Extraction(tuple(found), tally=Tally([*self.spent]))


def measure(capsys: pytest.CaptureFixture[str], *arguments: object, exits: int = 0) -> str:
    capsys.readouterr()
    code = run_cli(["eval", "extract", *map(str, arguments)])
    told = capsys.readouterr()
    assert code == exits, told.out + told.err
    return told.out + told.err


def chosen(monkeypatch: pytest.MonkeyPatch, extractor: Scripted) -> None:
    def choose_extractor(_: UserSettings) -> Scripted:
        return extractor

    monkeypatch.setattr(choose, "choose_extractor", choose_extractor)


def score(capsys: pytest.CaptureFixture[str], *arguments: object, exits: int = 0) -> dict[str, Any]:
    told = json.loads(measure(capsys, *arguments, "--json", exits=exits))
    (only,) = told["providers"].values()
    return dict(only)


def test_the_rules_are_measured_without_any_memory(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = score(capsys, folder)
    assert found["name"] == "rules@1"
    decisions = {"gold": 2, "found": 1, "kept": 1, "right": 1, "precision": 1.0, "recall": 0.5, "f1": 0.6667}
    todos = {"gold": 1, "found": 1, "kept": 1, "right": 1, "precision": 1.0, "recall": 1.0, "f1": 1.0}
    assert found["types"] == {"Decision": decisions, "Todo": todos}
    assert (found["all"]["recall"], found["days"], found["usd"], found["calls"]) == (0.6667, 3, 0.0, 0)
    assert found["confidence"]["high"] == {"kept": 2, "right": 2}
    assert sorted(path.name for path in folder.iterdir()) == ["Logs", "gold.jsonl"]


def test_a_model_is_scored_by_type_grounds_and_cost(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    said = {
        "2026-01-05": [
            ("Decision", 3, "The gate in the north is closed.", "Close the north gate."),  # other words, same line
            ("Decision", 4, "The minutes of last week are approved.", "minutes of last week"),  # neutral
            ("Decision", 5, "The team uses ls.", "ran ls"),  # wrong
            ("Decision", 5, "The team uses cd.", "ran cd"),  # not grounded
            ("Fact", 5, "There is ls.", "ran ls"),  # a type that the gold does not hold
        ],
        "2026-01-06": [
            ("Decision", 1, "ask Carl for the key", "ask Carl"),  # the wrong type
            ("Decision", 2, "When it rains the yard is under water.", "the yard floods when it rains"),
        ],
    }
    chosen(monkeypatch, Scripted(said))
    found = score(capsys, folder)
    decisions, todos = found["types"]["Decision"], found["types"]["Todo"]
    assert (decisions["gold"], decisions["found"], decisions["kept"], decisions["right"]) == (2, 2, 4, 2)
    assert (todos["gold"], todos["found"], todos["kept"], todos["precision"]) == (1, 0, 0, None)
    assert (found["ungrounded"], found["unjudged"]) == (1, 1)
    assert (found["calls"], found["input_tokens"], found["output_tokens"]) == (3, 3_000_000, 300_000)
    assert found["usd"] == pytest.approx(3 * (0.10 + 0.05))


def test_two_are_compared_side_by_side(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    readers = {"rules": RulesExtractor(), "anthropic": Scripted({})}
    monkeypatch.setattr(choose, "choose_extractor", lambda user: readers[user.providers[0]])
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a key")
    told = measure(capsys, folder, "--compare", "rules,anthropic").splitlines()
    assert told[0].split() == ["Decision", "2", "1", "1.000", "0.500", "0.667", "0", "-", "0.000", "0.000"]
    assert told[2].split()[:2] == ["all", "3"]
    assert [line.partition(":")[0] for line in told if "days" in line] == ["rules", "anthropic"]
    assert "0.4500 USD" in told[-1]


def test_the_cost_of_a_model_without_a_price_is_not_made_up(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    extractor = Scripted({})
    extractor.spent = (Spent("openai:some-model-of-mine", 1, Usage(10, 10)),)
    chosen(monkeypatch, extractor)
    assert score(capsys, folder)["usd"] is None
    assert "unknown cost" in measure(capsys, folder)


def test_a_day_that_fails_counts_as_not_found(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen(monkeypatch, Scripted({}, frozenset({"2026-01-06"})))
    found = score(capsys, folder, exits=1)
    assert (found["failed"], found["all"]["gold"], found["calls"]) == (1, 3, 3)
    assert found["usd"] == pytest.approx(3 * (0.10 + 0.05))  # a failed day is paid, too
    assert found["failures"] == ["Claude is overloaded (status 529)."]


def test_when_every_day_fails_there_is_no_figure(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen(monkeypatch, Scripted({}, frozenset(LOGS)))
    told = measure(capsys, folder, exits=1)
    assert "Claude is overloaded" in told
    assert "days" not in told


def test_a_sample_of_days_is_spread_and_always_the_same(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    extractor = Scripted({})
    chosen(monkeypatch, extractor)
    assert score(capsys, folder, "--days", 2)["days"] == 2
    assert extractor.days == ["2026-01-05", "2026-01-06"]
    assert score(capsys, folder, "--days", 9)["days"] == 3


def test_every_fault_of_the_gold_is_named_with_its_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [
        json.dumps(GOLD[0]),
        "no json",
        json.dumps({"date": "2026-13-05", "type": "Decision", "text": "x"}),
        "",
        json.dumps({"date": "2026-01-09", "type": "Idea", "text": " "}),
        json.dumps({"date": "2026-01-05", "type": "Fact", "text": "x", "procedural": "no", "lines": [4, 2]}),
        "[]",
    ]
    (folder / "gold.jsonl").write_text("\n".join(lines))
    told = measure(capsys, folder, exits=1)
    assert "gold.jsonl has 8 faults" in told
    for fault in (
        "line 2: no JSON object",
        'line 3: date is "2026-13-05"; it should be a day, YYYY-MM-DD',
        "line 5: there is no log of 2026-01-09",
        'line 5: type is "Idea"; it should be one of Decision, Fact, Rule, Todo, Risk',
        'line 5: text is " "',
        'line 6: procedural is "no"',
        "line 6: lines is [4, 2]; it should be the first and the last line, from 1",
        "line 7: no JSON object",
    ):
        assert fault in told


@pytest.mark.parametrize(
    ("arguments", "exits", "sentence"),
    [
        (["--provider", "nobody"], 2, "The provider 'nobody' cannot be used"),
        (["--compare", "rules,anthropic"], 2, "The provider anthropic cannot be used"),
        (["--provider", "rules", "--compare", "rules,openai"], 2, "exclude each other"),
    ],
)
def test_who_cannot_read_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], exits: int, sentence: str
) -> None:
    assert sentence in measure(capsys, folder, *arguments, exits=exits)


def test_a_program_can_be_measured(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "says.py"
    item = {
        "type": "Decision", "text": "Close the north gate.", "document": "", "confidence": "high", "reason": "said",
        "evidence": [{"quote": "Close the north gate.", "start_line": 3, "end_line": 3}],
    }  # fmt: skip
    program.write_text(f"import json, sys; asked = json.load(sys.stdin); print(json.dumps({{'items': [{item}]}}))\n")
    found = score(capsys, folder, "--provider", f"exec:{sys.executable} {program}", "--days", 1)
    assert (found["types"]["Decision"]["right"], found["calls"], found["usd"]) == (1, 1, 0.0)


def test_a_folder_without_logs_or_gold_is_refused(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "holds no log" in measure(capsys, tmp_path / "nowhere", exits=1)
    (folder / "gold.jsonl").write_text("\n")
    assert "has a fault:\n  no item" in measure(capsys, folder, exits=1)
    (folder / "gold.jsonl").unlink()
    assert "gold.jsonl cannot be read" in measure(capsys, folder, exits=1)
