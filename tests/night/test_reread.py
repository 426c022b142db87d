"""A day that only the rules could read is read again by a model, and nothing of it is doubled."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING

import pytest

from pipelines.extract.llm.call import Call
from pipelines.extract.llm.fallback import Chain
from pipelines.extract.llm.model_extractor import ModelExtractor
from pipelines.extract.llm.replies import Replies
from pipelines.extract.llm.verifier import ModelVerifier
from pipelines.extract.rules import RulesExtractor
from pipelines.night.report import Watch
from pipelines.night.run import Night
from pipelines.night.run_night import curate_night
from pipelines.settings import load_settings
from pipelines.store.snapshot import read_documents
from pipelines.usage import FailureKind as Kind
from tests.extract.fakes import Scripted, Still

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.extract.llm.call import Model
    from pipelines.night.report import RunReport
    from pipelines.store.item import Item
    from tests.conftest import Memory

DAY = "2026-03-11"
LOG = (
    "# {day}\n\nproject: Harbour\n\n- Decision: use Terraform, not Pulumi.\n"
    "- 10:00 Anna carried the gateway over to the east pier.\n"
)
CALL = Call("extract", "extract", 2, "s", "u", {})
FOUND = ["use Terraform, not Pulumi."]
BOTH = ["Anna carried the gateway of Harbour over to the east pier.", *FOUND]


def reply(call: Call) -> str:
    if call.task == "verify":
        told = [{"claim": one["claim"], "verdict": "supported"} for one in call.input["claims"]]
        return json.dumps({"verdicts": told})
    decision = {"type": "Decision", "text": "Harbour uses Terraform, not Pulumi.", "lines": [[5, 5]]}
    fact = {"type": "Fact", "text": BOTH[0], "lines": [[6, 6]]}
    return json.dumps({"items": [decision, fact]})


def good() -> Scripted:
    return Scripted("a:1", answers=reply)


def down() -> Scripted:
    return Scripted("a:1", [Kind.DOWN])


def night(memory: Memory, model: Model | None, day: int, again: str = "") -> RunReport:
    when = datetime.fromisoformat(f"2026-03-{day}T02:00+00:00")
    rules = RulesExtractor()
    replies = Replies(memory.root)
    settings = load_settings(memory.root)
    if model is None:
        return curate_night(Night(memory.root, settings, rules, when, again), Watch())
    chain = Chain([model], replies, Still().retry)
    reader, verifier = ModelExtractor(chain, rules), ModelVerifier(chain)
    return curate_night(Night(memory.root, settings, reader, when, again, rereads=True, verifier=verifier), Watch())


def items(memory: Memory) -> list[Item]:
    found = [placed.item for document in read_documents(memory.root).values() for placed in document.items]
    return sorted(found, key=lambda one: one.text)


def texts(memory: Memory) -> list[str]:
    return [one.text for one in items(memory)]


def marks(memory: Memory) -> list[str]:
    rows = [json.loads(row) for row in memory.read("State/progress.jsonl").splitlines()]
    return [row["night"] for row in rows if "by_rules" in row]


@pytest.fixture
def by_rules(memory: Memory) -> Memory:
    """Return a memory whose one day the rules read, since the model was down."""
    memory.write(f"Logs/{DAY}.md", LOG.format(day=DAY))
    report = night(memory, down(), 12)
    assert (report.fallback, report.exit_code, texts(memory), marks(memory)) == ((DAY,), 0, FOUND, ["2026-03-12"])
    return memory


def test_a_model_adds_what_the_rules_missed_and_doubles_nothing(by_rules: Memory) -> None:
    [before] = items(by_rules)
    report = night(by_rules, good(), 13)
    assert (report.reread, report.entries["read"], report.items["confirmed"], texts(by_rules)) == ((DAY,), 0, 0, BOTH)
    assert items(by_rules)[1] == before, "what the rules found stands as it was"
    assert items(by_rules)[0].by == "a:1@extract/13"
    assert marks(by_rules) == []
    model = good()
    assert (night(by_rules, model, 14).commit, model.calls) == (None, [])


def test_a_second_night_without_a_model_changes_nothing(by_rules: Memory) -> None:
    files = by_rules.files()
    report = night(by_rules, down(), 13)
    assert (report.commit, report.fallback, report.reread) == (None, (DAY,), ())
    assert by_rules.files() == files
    assert texts(by_rules) == FOUND


def test_what_a_person_took_out_or_reworded_stays_so(by_rules: Memory) -> None:
    home = "Projects/harbour.md"
    text = by_rules.read(home)
    line = next(line for line in text.splitlines() if "use Terraform" in line)
    by_rules.write(home, text.replace(line + "\n", ""))
    night(by_rules, good(), 13)
    assert texts(by_rules) == BOTH[:1]


@pytest.mark.parametrize("first", ["rules", "model"])
def test_again_keeps_old_items_where_they_agree(memory: Memory, first: str) -> None:
    memory.write(f"Logs/{DAY}.md", LOG.format(day=DAY))
    night(memory, good() if first == "model" else None, 12)
    before = items(memory)
    other = good()
    other.answers = lambda call: reply(call).replace("Harbour uses Terraform", "Terraform is used for Harbour")
    report = night(memory, other, 13, again=DAY)
    assert (report.items["confirmed"], len(items(memory))) == (0, 2)
    assert [one for one in items(memory) if one in before] == before
    assert memory.curate("check", "--now", "2026-03-13T03:00")


def test_a_cap_leaves_the_mark(by_rules: Memory) -> None:
    report = night(by_rules, Scripted("a:1", [Kind.OVER_BUDGET]), 13)
    assert (report.exit_code, report.reread, bool(report.over_budget), marks(by_rules)) == (
        0, (), True, ["2026-03-12"],
    )  # fmt: skip
    assert night(by_rules, good(), 14).reread == (DAY,)


def test_from_the_command_line(memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.write(f"Logs/{DAY}.md", LOG.format(day=DAY))
    program, config = tmp_path / "model.sh", tmp_path / "config.toml"
    config.write_text(f'providers = ["exec:sh {program}", "rules"]\n')
    monkeypatch.setenv("CURATE_CONFIG", str(config))
    program.write_text("exit 1\n")
    first = json.loads(memory.curate("run", "--json", "--now", "2026-03-12T02:00"))
    assert (first["model"]["fallback_days"], marks(memory)) == ([DAY], ["2026-03-12"])
    reply_file = tmp_path / "reply.json"
    reply_file.write_text(reply(CALL))
    program.write_text(f"if grep -q 'id.: .extract'; then cat {reply_file}; else echo '{{}}'; fi\n")
    second = json.loads(memory.curate("run", "--json", "--now", "2026-03-13T02:00"))
    assert (second["model"]["reread_days"], second["verdicts"]) == ([DAY], {"add": 1})
    assert texts(memory) == BOTH
