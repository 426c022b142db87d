"""Claude Code and Codex as readers: what they are told, what is made of what they print, and how they fail."""

import json
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pipelines.errors import ModelFailed
from pipelines.extract.choose_models import model_of, probe
from pipelines.extract.llm.call import Call, ModelAnswer
from pipelines.provider_settings import ProviderSettings
from pipelines.usage import FailureKind as Kind
from pipelines.usage import Usage, price_of
from pipelines.user_settings import load_user_settings
from tests.fake_agents import NOT_LOGGED_IN, NOTHING_SPENT, claude_says, codex_says, lay

SCHEMA = {"type": "object", "properties": {"items": {"type": "array"}}, "required": ["items"]}
GARBLE = "x8Kq2vR9mW4tZ7pL3nB6yH1cJ5dF0gSaQeTu"
CALL = Call("extract", "extract", 4, "the system part\n", "the day “ü”\n" * 9000, SCHEMA)


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "programs"
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return folder


def ask(provider: str, seconds: float = 20, **changes: Any) -> ModelAnswer:
    return model_of(provider, ProviderSettings(changes.pop("model", "haiku"), timeout_seconds=seconds, **changes)).ask(
        CALL
    )


def failure(provider: str, seconds: float = 20) -> ModelFailed:
    with pytest.raises(ModelFailed) as caught:
        ask(provider, seconds)
    assert caught.value.provider == provider
    return caught.value


def after(words: list[str], flag: str) -> str:
    return words[words.index(flag) + 1]


def test_claude_code_is_started_alone_and_told_by_standard_input(
    programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"):
        monkeypatch.setenv(name, "x")
    claude = lay(programs, "claude", claude_says())
    answer = ask("claude-code")
    assert answer.text == '{"items": []}'
    assert model_of("claude-code", ProviderSettings("haiku")).name == "claude-code:haiku"
    assert answer.usage == Usage(2224, 18, 2000, 200, 0.00282), "of all requests, not of the last alone"
    (told,) = claude.calls
    words = told["words"]
    assert told["input"] == CALL.user
    assert (after(words, "--system-prompt"), json.loads(after(words, "--json-schema"))) == (CALL.system, SCHEMA)
    assert [after(words, flag) for flag in ("--tools", "--setting-sources", "--model")] == ["", "", "haiku"]
    assert {"-p", "--no-session-persistence", "--strict-mcp-config", "--disable-slash-commands"} <= set(words)
    assert not {"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "ANTHROPIC_API_KEY"} & set(told["environment"])
    assert "CLAUDE_CODE_OAUTH_TOKEN" in told["environment"], "that is a login"
    assert told["environment"]["CLAUDE_CODE_DISABLE_ATTACHMENTS"] == "1", "no file that the text mentions is sent"
    assert Path(told["folder"]).parent == Path("/tmp"), "it tells the model where it runs"  # noqa: S108
    assert (told["files"], Path(told["folder"]).exists()) == ({}, False)


def test_codex_is_started_alone_and_told_by_standard_input(programs: Path) -> None:
    codex = lay(programs, "codex", codex_says())
    answer = ask("codex", model="default")
    assert answer.text == '{"items": []}'
    assert model_of("codex", ProviderSettings("default")).name == "codex:default"
    assert answer.usage == Usage(1112, 9, 1000)
    (told,) = codex.calls
    assert told["input"] == CALL.user
    assert told["files"]["instructions.md"] == CALL.system
    assert json.loads(told["files"]["schema.json"]) == SCHEMA
    assert {"--ephemeral", "--ignore-user-config", "--ignore-rules", "features.hooks=false"} <= set(told["words"])
    assert after(told["words"], "--sandbox") == "read-only"
    assert "--model" not in told["words"]
    assert "skills.config=[]" in told["words"]


def test_codex_does_not_load_the_skills_that_a_log_mentions(programs: Path) -> None:
    codex = lay(programs, "codex", codex_says())
    mentions = replace(CALL, user="- 09:00 $pdf-tools, then [$docs:write](/skills/SKILL.md) for $pdf-tools\n")
    model_of("codex", ProviderSettings("default")).ask(mentions)
    named = 'skills.config=[{name="docs:write",enabled=false},{name="pdf-tools",enabled=false}]'
    assert named in codex.calls[0]["words"]


@pytest.mark.parametrize(
    ("provider", "said", "how", "kind", "why"),
    [
        ("claude-code", NOT_LOGGED_IN, {"status": 1, "logged_out": 1}, Kind.UNAUTHORISED, "is not logged in here"),
        (
            "claude-code",
            claude_says(**NOTHING_SPENT, api_error_status=429, result="API Error: rejected (429) · the day"),
            {"status": 1},
            Kind.RATE_LIMITED,
            "is over its rate limit or quota (status 429)",
        ),
        (
            "claude-code",
            claude_says(**NOTHING_SPENT, result="API Error: Unable to connect to API (ConnectionRefused)"),
            {"status": 1},
            Kind.DOWN,
            "failed: API Error: Unable to connect to API (ConnectionRefused)",
        ),
        (
            "claude-code",
            claude_says(structured_output=None, stop_reason="refusal"),
            {},
            Kind.UNUSABLE,
            "(refusal)",
        ),
        (
            "claude-code",
            claude_says(structured_output=None, stop_reason="max_tokens"),
            {},
            Kind.UNUSABLE,
            "raise claude-code.max_tokens in your settings",
        ),
        (
            "claude-code",
            claude_says(structured_output=None, is_error=True, subtype="error_max_structured_output_retries"),
            {"status": 1},
            Kind.UNUSABLE,
            "",
        ),
        ("claude-code", "Segmentation fault", {"status": 3}, Kind.UNUSABLE, "ended with status 3"),
        (
            "claude-code",
            "",
            {"status": 1, "errors": f"no such flag; ghp_{GARBLE}"},
            Kind.UNUSABLE,
            "no such flag; [",
        ),
        ("codex", codex_says(None, "unexpected status 401 Unauthorized: x"), {}, Kind.UNAUTHORISED, "`codex login`"),
        (
            "codex",
            codex_says(None, "exceeded retry limit, last status: 429 Too Many"),
            {},
            Kind.RATE_LIMITED,
            "(status 429)",
        ),
        (
            "codex",
            codex_says(None, '{"error": {"message": "the day is wrong"}}'),
            {"status": 1},
            Kind.BAD_REQUEST,
            "rejected the request as invalid (status 400)",
        ),
        (
            "codex",
            codex_says(None, f"You have hit your usage limit. ghp_{GARBLE}"),
            {},
            Kind.DOWN,
            "failed: You have hit your usage limit",
        ),
        ("codex", codex_says(None), {}, Kind.UNUSABLE, ""),
    ],
)
def test_how_they_fail(programs: Path, provider: str, said: str, how: dict[str, object], kind: Kind, why: str) -> None:
    lay(programs, {"claude-code": "claude"}.get(provider, provider), said, **how)
    fault = failure(provider)
    assert fault.kind is kind
    assert why in fault.why
    assert "the day" not in fault.why
    assert GARBLE not in fault.why


def test_one_that_is_not_there_or_hangs_is_a_plain_failure(programs: Path) -> None:
    assert failure("claude-code").why == "was not found; set program in the table claude-code of your settings"
    lay(programs, "claude", claude_says(), seconds=60)
    begun = time.monotonic()
    assert failure("claude-code", 1).kind is Kind.TIMED_OUT
    assert time.monotonic() - begun < 50


def test_a_probe_asks_whether_somebody_is_logged_in_and_sends_nothing(
    programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claude = lay(programs, "claude", claude_says(), logged_out=1)
    lay(programs, "codex", codex_says())
    Path(os.environ["HOME"], "c.toml").write_text('providers = ["claude-code", "codex"]')
    monkeypatch.setenv("CURATE_CONFIG", str(Path(os.environ["HOME"], "c.toml")))
    user = load_user_settings()
    (first, why), second = probe(user)
    assert (first, "is not logged in here" in why, second) == ("claude-code", True, ("codex", ""))
    assert not claude.calls


def test_what_the_program_says_it_cost_comes_before_the_table() -> None:
    usage = Usage(1_000_000, 0, usd=0.25)
    table = price_of("claude-code:haiku")
    assert table
    assert (table.cost(usage), table.cost(Usage(1_000_000))) == (0.25, 0.1)
