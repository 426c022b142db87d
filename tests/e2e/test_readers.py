"""The real Claude Code and Codex as readers: what the model is sent, what comes back, and that nothing is captured."""

import json
import re
import socket
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from pipelines.cli import run_cli
from pipelines.errors import ModelFailed
from pipelines.extract.choose_models import model_of, probe
from pipelines.extract.llm.call import Call
from pipelines.extract.llm.provider import ProviderModel
from pipelines.store.snapshot import read_documents
from pipelines.usage import FailureKind as Kind
from pipelines.usage import Usage
from pipelines.user_settings import load_user_settings
from tests.conftest import Memory
from tests.e2e.agent_wire import AgentWire, Request, Said

pytestmark = pytest.mark.e2e

ITEMS = {"type": "array", "maxItems": 9, "items": {"type": "string", "maxLength": 90}}
SCHEMA = {"type": "object", "properties": {"items": ITEMS}, "required": ["items"], "additionalProperties": False}
CALL = Call("extract", "extract", 4, "THE SYSTEM PART\n", "THE DAY “ü”\n" * 3000, SCHEMA)
REPLY = {"items": ["ü"]}


def model(name: str) -> ProviderModel:
    return model_of(name, load_user_settings().models[name])


def not_told(request: Request) -> bool:
    """Whether no path of this machine but that of an empty folder, and not its name, is in a request."""
    sent = re.sub(r"/tmp/memcurate-\w+", "", json.dumps([request.body, dict(request.headers)]))  # noqa: S108
    return not any(word in sent for word in (str(Path.home()), tempfile.gettempdir() + "/", socket.gethostname()))


def answers(request: Request) -> Said:
    if "StructuredOutput" in request.tools:
        return Said(tool="StructuredOutput", arguments=REPLY)
    return Said(json.dumps(REPLY))


@pytest.mark.usefixtures("claude")
def test_claude_code_sends_the_text_once_with_no_tool_but_the_reply(wire: AgentWire) -> None:
    wire.by_request = answers
    answer = model("claude-code").ask(CALL)
    assert json.loads(answer.text) == REPLY
    assert answer.usage == Usage(1112, 9, 1000, 100, answer.usage.usd)
    assert answer.usage.usd > 0
    (request,) = wire.requests
    assert request.tools == ["StructuredOutput"]
    assert "haiku" in request.body["model"]
    assert request.body["max_tokens"] == 8192
    assert request.words.count("THE DAY") == 3000
    assert "THE SYSTEM PART" in request.words
    assert not_told(request)
    sent = len(json.dumps(request.body)) - len(json.dumps([CALL.user, CALL.system, SCHEMA]))
    assert sent < 4 * 1000, "what is set aside for it"


@pytest.mark.usefixtures("codex")
def test_codex_sends_the_text_once_and_answers_by_the_schema(wire: AgentWire) -> None:
    wire.by_request = answers
    answer = model("codex").ask(CALL)
    assert (json.loads(answer.text), answer.usage) == (REPLY, Usage(1112, 9, 1000))
    (request,) = wire.requests
    assert request.words.count("THE DAY") == 3000
    assert "THE SYSTEM PART" in request.words
    assert not_told(request)
    assert request.body["text"]["format"]["schema"]["required"] == ["items"]
    assert "environment_context" not in request.words, "no path and no shell of this machine"
    tools = json.dumps(request.body["input"])
    assert "### `exec_command`" not in tools
    sent = len(json.dumps(request.body)) - len(json.dumps([CALL.user, CALL.system, SCHEMA]))
    assert sent < 4 * 4000, "what is set aside for it"


@pytest.mark.parametrize("name", ["claude-code", "codex"])
@pytest.mark.parametrize(
    ("status", "kind"), [(401, Kind.UNAUTHORISED), (429, Kind.RATE_LIMITED), (400, Kind.BAD_REQUEST)]
)
def test_how_they_tell_a_refusal(
    wire: AgentWire, request: pytest.FixtureRequest, name: str, status: int, kind: Kind
) -> None:
    request.getfixturevalue(name.removesuffix("-code"))
    wire.by_request = lambda _: Said("THE WORDS of an error", status=status, kind="some_error")
    with pytest.raises(ModelFailed) as caught:
        model(name).ask(CALL)
    assert caught.value.kind is kind
    assert "THE WORDS" not in caught.value.why


def test_who_is_not_logged_in_is_told_so(
    wire: AgentWire, monkeypatch: pytest.MonkeyPatch, codex: Path, claude: Path
) -> None:
    assert (codex.exists(), claude.exists()) == (True, True)
    settings = Path.home() / "settings.toml"
    settings.write_text('providers = ["claude-code", "codex"]')
    monkeypatch.setenv("CURATE_CONFIG", str(settings))
    user = load_user_settings()
    assert [why for _, why in probe(user)] == ["", ""]
    monkeypatch.delenv("ANTHROPIC_AUTH_TOKEN")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a key is no login")
    (Path.home() / ".codex/auth.json").unlink()
    assert [why.partition(",")[0] for _, why in probe(user)] == ["is not logged in here", "is not logged in here"]
    with pytest.raises(ModelFailed) as caught:
        model("claude-code").ask(CALL)
    assert caught.value.kind is Kind.UNAUTHORISED
    assert not wire.requests


def test_no_server_is_a_failure_that_may_pass(claude: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert claude.exists()
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    with pytest.raises(ModelFailed) as caught:
        model("claude-code").ask(CALL)
    assert caught.value.kind is Kind.DOWN


def test_a_night_that_claude_reads_is_captured_by_nobody(memory: Memory, wire: AgentWire, claude: Path) -> None:
    """Its sessions start no hook and leave no transcript; the same program, started by a person, does both."""
    memory.curate("install", "claude-code")
    assert run_cli(["models", "use", "claude-code"]) == 0
    noted = memory.root.parent / "hooked"
    settings = Path.home() / ".claude/settings.json"
    hooks = json.loads(settings.read_text())
    for event in ("SessionStart", "UserPromptSubmit", "SessionEnd"):
        entry = {"type": "command", "command": f"echo {event} >> '{noted}'"}
        hooks["hooks"].setdefault(event, []).append({"hooks": [entry]})
    settings.write_text(json.dumps(hooks))
    memory.write("Logs/2026-03-19.md", "# 2026-03-19\n\n- 09:00 The north gate stays closed.\n")
    wire.by_request = night
    memory.night("2026-03-20T02:00")
    [held] = [p.item for document in read_documents(memory.root).values() for p in document.items]
    assert held.by.startswith("claude-code:haiku@extract/")
    assert all(set(request.tools) <= {"StructuredOutput"} for request in wire.requests)
    assert not noted.exists()
    assert not [*Path.home().rglob("*.jsonl"), *(memory.root / "Sessions").rglob("*.jsonl")]
    wire.by_request = None
    subprocess.run([str(claude), "-p", "Hello"], check=True, capture_output=True, cwd=memory.root.parent, timeout=120)
    assert noted.read_text().split() == ["SessionStart", "UserPromptSubmit", "SessionEnd"]
    assert list(Path.home().rglob("*.jsonl"))


def night(request: Request) -> Said:
    """Answer what a night asks: one item is found, in the line's own words, and no brief is written."""
    schema = next(tool["input_schema"] for tool in request.body["tools"])
    empty: dict[str, object] = dict.fromkeys(
        ("document", "new_page", "section", "name", "from", "due", "on", "closed"), ""
    )
    told = {"type": "Fact", "text": "The north gate stays closed.", "lines": [[3, 3]], "confidence": "high"}
    item = {**empty, **told, "replaces": [], "links": []}
    names = ("operations", "seen", "open_lists", "episode", "verdicts", "now", "states")
    replies: dict[str, list[object]] = {"items": [item], **{name: [] for name in names}}
    return Said(tool="StructuredOutput", arguments={key: replies[key] for key in schema["properties"]})


@pytest.mark.usefixtures("claude")
def test_a_file_that_a_log_mentions_is_not_sent(wire: AgentWire, tmp_path: Path) -> None:
    (tmp_path / "kept.txt").write_text("what the file holds")
    wire.by_request = answers
    model("claude-code").ask(replace(CALL, user=f"- 09:00 See @{tmp_path}/kept.txt and @{tmp_path}/\n"))
    assert "what the file holds" not in wire.requests[0].words
    assert wire.requests[0].words.count("kept.txt") == 1


@pytest.mark.usefixtures("codex")
def test_a_skill_that_a_log_mentions_is_not_sent(wire: AgentWire) -> None:
    skill = Path.home() / ".codex/skills/kiln/SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: kiln\ndescription: fires clay\n---\nHeat it slowly.\n")
    wire.by_request = answers
    model("codex").ask(replace(CALL, user="- 09:00 Use $kiln for the cups.\n"))
    assert "Heat it slowly" not in wire.requests[0].words


@pytest.mark.usefixtures("claude")
def test_a_log_that_talks_claude_into_a_tool_moves_nothing(wire: AgentWire, tmp_path: Path) -> None:
    wire.said = [
        Said(tool="Bash", arguments={"command": f"touch {tmp_path / 'made'}", "description": "x"}),
        Said(tool="StructuredOutput", arguments=REPLY),
    ]
    answer = model("claude-code").ask(CALL)
    assert (json.loads(answer.text), len(wire.requests)) == (REPLY, 2)
    assert answer.usage.output_tokens == 18, "both requests are counted"
    assert "No such tool available" in wire.requests[1].words
    assert not (tmp_path / "made").exists()


@pytest.mark.usefixtures("codex")
def test_a_log_that_talks_codex_into_a_tool_moves_nothing(wire: AgentWire, tmp_path: Path) -> None:
    made = tmp_path / "made"
    patch = f"*** Begin Patch\n*** Add File: {made}\n+x\n*** End Patch"
    wire.said = [
        Said(tool="exec", arguments={"input": f"await tools.apply_patch({json.dumps(patch)})"}),
        Said(json.dumps(REPLY)),
    ]
    assert json.loads(model("codex").ask(CALL).text) == REPLY
    assert len(wire.requests) == 2
    assert not made.exists()
