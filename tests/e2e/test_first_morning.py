"""An evening and a morning with the real programs: a session, its end, the night that reads it, the next session."""

import json
import os
import re
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pipelines.cli import run_cli
from pipelines.store.item import ItemType, Trust
from pipelines.store.snapshot import read_documents
from tests.conftest import Memory
from tests.e2e.agent_wire import AgentWire, Request, Said
from tests.e2e.terminal import Terminal, terminal

pytestmark = pytest.mark.e2e

RULE = "From now on always run the linter before a commit."
QUESTION = "Which linter should the project use?"
OPTIONS = [{"label": "Ruff", "description": "fast"}, {"label": "Flake8", "description": "old"}]
ASKS = {"questions": [{"question": QUESTION, "header": "Linter", "multiSelect": False, "options": OPTIONS}]}
PLAN = "Here it is.\n<proposed_plan>\n# Move sessions to Redis\n\n1. Add a client\n</proposed_plan>"
TOOLS = {f"mcp__memcurate__memory_{name}" for name in ("search", "context", "log", "why", "close", "correct")}


def a_project(path: Path) -> Path:
    """Make a repository in which Claude Code has nothing left to ask about itself."""
    subprocess.run(["git", "init", "-q", str(path)], check=True)
    state = Path.home() / ".claude.json"
    known = json.loads(state.read_text()) if state.exists() else {}
    known |= {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "projects": {str(path): {"hasTrustDialogAccepted": True}},
    }
    state.write_text(json.dumps(known))
    return path


def of_the_night(request: Request) -> Said:
    """Answer what a night asks: the decision and the rule are found in the log, and every claim is supported."""
    schema = next(tool["input_schema"] for tool in request.body["tools"])
    empty = dict.fromkeys(("document", "new_page", "section", "name", "from", "due", "on", "closed"), "")
    items, log = [], json.dumps(request.body["messages"], ensure_ascii=False)
    for kind, quote, text in (
        ("Decision", f"{QUESTION} → Ruff", "The project uses the linter Ruff."),
        ("Rule", RULE, "Always run the linter before a commit."),
    ):
        if found := re.search(rf"(\d+)\| (?:(?!\\n).)*{re.escape(quote)}", log):
            lines = [[int(found[1]), int(found[1])]]
            told = {"type": kind, "text": text, "lines": lines, "confidence": "high", "replaces": [], "links": []}
            items.append({**empty, **told})
    claims = re.findall(r'"claim": ?(\d+)', request.words.replace('\\"', '"'))
    verdicts = [{"claim": int(one), "verdict": "supported", "reason": "it says so"} for one in claims]
    replies = {"items": items, "verdicts": verdicts}
    return Said(tool="StructuredOutput", arguments={key: replies.get(key, []) for key in schema["properties"]})


def of_the_session(request: Request) -> Said:
    """Ask the question, and agree to everything else."""
    asked = "AskUserQuestion" in request.tools and "answered" not in request.words and "Set up linting" in request.words
    return Said(tool="AskUserQuestion", arguments=ASKS) if asked else Said("Understood, it is settled.")


def test_what_claude_was_told_in_the_evening_is_known_in_the_morning(
    memory: Memory, wire: AgentWire, claude: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IS_SANDBOX", "1")  # who tests as root is asked whether they mean it
    memory.curate("install", "claude-code")
    assert run_cli(["models", "use", "claude-code"]) == 0
    project = a_project(tmp_path / "kestrel")
    wire.by_request = of_the_session
    with terminal([str(claude)], project) as session:
        session.wait_for("Claude Code v")
        session.settle()
        session.enter("Set up linting, and ask me which linter.")
        session.wait_for("Enter to select")
        session.settle()
        session.press("\r")
        session.wait_for("it is settled.")
        session.enter(RULE)
        session.wait_for("it is settled.")
        session.enter("/exit")
        session.wait_for_end()
    wire.by_request = of_the_night
    memory.night("2099-01-02T02:00")
    held = {p.item.text: p.item for document in read_documents(memory.root).values() for p in document.items}
    assert {text: (item.type, item.trust, item.by.partition("@")[0]) for text, item in held.items()} == {
        "The project uses the linter Ruff.": (ItemType.DECISION, Trust.OWNER, "claude-code:haiku"),
        "Always run the linter before a commit.": (ItemType.RULE, Trust.OWNER, "claude-code:haiku"),
    }
    wire.by_request, wire.requests = None, []
    subprocess.run([str(claude), "-p", "Hello"], check=True, capture_output=True, cwd=project, timeout=120)
    first = next(request for request in wire.requests if "Hello" in request.words)
    assert all(map(first.offers, TOOLS))
    assert all(text in first.words for text in held)


def test_a_session_that_was_killed_is_in_the_log_after_the_next_run(
    memory: Memory, wire: AgentWire, claude: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IS_SANDBOX", "1")
    memory.curate("install", "claude-code")
    project = a_project(tmp_path / "kestrel")
    command = Path.home() / ".claude/commands/fix.md"
    command.parent.mkdir()
    command.write_text("---\ndescription: mends\n---\nMend this: $ARGUMENTS\n")
    wire.by_request = of_the_session
    with terminal([str(claude)], project) as session:
        session.wait_for("Claude Code v")
        session.settle()
        session.enter("/fix the kiln door")
        session.wait_for("it is settled.")
        session.settle()
        session.enter(RULE)
        session.wait_for("it is settled.")
        session.enter("Thanks.")  # what was said before is on the disk by its answer
        session.wait_for("it is settled.")
        os.killpg(session.pid, signal.SIGKILL)  # no hook runs
    memory.night("2099-01-02T02:00")
    assert [path.read_text().count(f"**user:** {RULE}") for path in memory.root.glob("Logs/*.md")] == [1]
    assert "**user:** the kiln door <!--" in next(memory.root.glob("Logs/*.md")).read_text()
    [held] = memory.json("items")
    assert (held["type"], held["text"], held["trust"]) == ("Rule", RULE, "owner")


@contextmanager
def a_codex_session(memory: Memory, codex: Path, project: Path) -> Iterator[Terminal]:
    """Install memcurate, and start Codex in a project, its hooks trusted."""
    memory.curate("install", "codex")
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    settings = Path.home() / ".codex/config.toml"
    settings.write_text(f'{settings.read_text()}\n[projects."{project}"]\ntrust_level = "trusted"\n')
    with terminal([str(codex)], project) as session:
        session.wait_for("Trust all and continue")
        session.settle()
        session.press("2")
        session.wait_for("› 2. Trust all and continue")
        session.press("\r")
        session.wait_for("Ask Codex to do anything")
        yield session


def test_what_codex_was_told_in_the_evening_is_known_in_the_morning(
    memory: Memory, wire: AgentWire, codex: Path, tmp_path: Path
) -> None:
    project = tmp_path / "kestrel"
    wire.by_request = lambda request: (
        Said(PLAN) if "Plan the move." in request.words and "Add a client" not in request.words else None
    )
    with a_codex_session(memory, codex, project) as session:
        session.enter(RULE)
        session.wait_for("Done.")
        session.settle()
        session.press("/plan\r")
        session.settle()
        session.enter("Plan the move.")
        session.wait_for("Implement this plan?")
        session.settle()
        session.press("\r")
        session.wait_for("Done.")
        session.settle()
        session.enter("/quit")
        session.wait_for_end()
    memory.night("2099-01-02T02:00")
    held = [p.item for document in read_documents(memory.root).values() for p in document.items]
    assert {(item.type, item.text, item.trust, item.by.partition("@")[0]) for item in held} == {
        (ItemType.RULE, RULE, Trust.OWNER, "rules"),
        (ItemType.DECISION, "Move sessions to Redis", Trust.OWNER, "rules"),
    }
    wire.by_request, wire.requests = None, []
    subprocess.run([str(codex), "exec", "Hello"], check=True, capture_output=True, cwd=project, timeout=120)
    first = next(request for request in wire.requests if "Hello" in request.words)
    assert all(item.text in first.words for item in held)
    assert "mcp__memcurate: This is a memory that outlives sessions" in first.words  # it looks for single tools later


def test_what_codex_was_told_and_then_not_is_no_rule(
    memory: Memory, wire: AgentWire, codex: Path, tmp_path: Path
) -> None:
    with a_codex_session(memory, codex, tmp_path / "kestrel") as session:
        for words in ("Hello.", "From now on always use Perl."):
            session.enter(words)
            session.wait_for("Done.")
            session.settle()
        for key in ("\x1b", "\x1b", "\r", "\x15"):  # back to the last prompt, which is erased
            session.press(key)
            session.settle()
        session.enter(RULE)
        session.wait_for("Done.")
        session.settle()
        session.enter("/quit")
        session.wait_for_end()
    assert wire.requests
    memory.night("2099-01-02T02:00")
    assert [item["text"] for item in memory.json("items")] == [RULE]


def test_what_codex_was_told_before_it_was_killed_is_known_in_the_morning(
    memory: Memory, wire: AgentWire, codex: Path, tmp_path: Path
) -> None:
    asked, killed = threading.Event(), threading.Event()

    def never(request: Request) -> None:
        if RULE in request.words:
            asked.set()
            killed.wait(120)

    wire.by_request = never
    with a_codex_session(memory, codex, tmp_path / "kestrel") as session:
        session.enter(RULE)
        assert asked.wait(60)
        os.killpg(session.pid, signal.SIGKILL)  # its model has not answered, and no hook runs
        killed.set()
    memory.night("2099-01-02T02:00")
    assert [path.read_text().count(f"**user:** {RULE}") for path in memory.root.glob("Logs/*.md")] == [1]
    [held] = memory.json("items")
    assert (held["type"], held["text"], held["trust"]) == ("Rule", RULE, "owner")


def test_what_openclaw_was_told_before_it_was_killed_is_known_in_the_morning(
    memory: Memory, wire: AgentWire, openclaw: Path
) -> None:
    turn = [str(openclaw), "agent", "--local", "--agent", "main", "--session-id"]
    subprocess.run([*turn, "first", "-m", "Hello"], check=True, capture_output=True, timeout=240)
    memory.curate("install", "openclaw")
    asked, killed = threading.Event(), threading.Event()

    def never(_: Request) -> None:
        asked.set()
        killed.wait(120)

    wire.by_request = never
    with subprocess.Popen([*turn, "second", "-m", RULE], start_new_session=True, stderr=subprocess.DEVNULL) as session:
        assert asked.wait(240)
        os.killpg(session.pid, signal.SIGKILL)
    killed.set()
    memory.night("2099-01-02T02:00")
    assert [path.read_text().count(f"**user:** {RULE}") for path in memory.root.glob("Logs/*.md")] == [1]
    [held] = memory.json("items")
    assert (held["type"], held["text"], held["trust"]) == ("Rule", RULE, "owner")
    logs = Said(tool="tool_call", arguments={"id": "memcurate__memory_log", "args": {"text": "Fact: The kiln is hot."}})
    wire.by_request = lambda request: None if "tool_result" in request.words else logs
    subprocess.run([*turn, "third", "-m", "Hello again"], check=True, capture_output=True, timeout=240)
    assert "curate context --memory" in wire.requests[-1].words, "AGENTS.md tells it where its memory is"
    [log] = [path.read_text() for path in memory.root.glob("Logs/*.md") if "kiln" in path.read_text()]
    assert "Fact: The kiln is hot." in log
