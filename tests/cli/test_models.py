"""`curate models`: who reads and why, the question where two keys are set, and what `curate models use` writes."""

import os
import tomllib
from pathlib import Path

import pytest

from pipelines.extract.llm import logged_in
from tests.conftest import Memory, curate
from tests.contract.story import answering
from tests.fake_agents import claude_says, codex_says, lay


@pytest.fixture
def config() -> Path:
    return Path(os.environ["XDG_CONFIG_HOME"], "memcurate", "config.toml")


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", f"{tmp_path / 'programs'}{os.pathsep}{os.environ['PATH']}")
    return tmp_path / "programs"


@pytest.fixture
def two_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a")
    monkeypatch.setenv("GEMINI_API_KEY", "g")


def test_without_a_key_the_rules_read_and_it_says_what_else_is_here(
    capsys: pytest.CaptureFixture[str], programs: Path
) -> None:
    lay(programs, "claude", claude_says())
    lay(programs, "codex", codex_says(), logged_out=1)
    said = curate(capsys, "models")
    assert "Reader    rules: no model reads, because there is no key and your settings name no reader." in said
    assert "Also here claude-code: with your login of Claude Code: log text then goes to Anthropic" in said
    assert "Codex" not in said, "nobody is logged in there"
    needs = "anthropic and gemini need a key, openai a key or a server on this machine, claude-code and codex a login"
    assert f"Others    {needs}" in said


def test_use_names_the_days_that_no_model_has_read(
    memory: Memory, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CURATE_MEMORY", str(memory.root))
    for day in ("09", "10"):
        memory.write(f"Logs/2026-03-{day}.md", "- We went with brass for the hinge.\n")
    memory.curate("run", "--provider", "rules", "--now", "2026-03-11T02:00")
    assert "`curate run --again 2026-03-10`" not in curate(capsys, "models", "use", "rules")
    told = "Only rules have read 2026-03-09, 2026-03-10. `curate run --again 2026-03-10` reads"
    assert told in curate(capsys, "models", "use", "exec:echo")
    memory.curate("run", "--provider", answering(tmp_path, {}), "--again", "2026-03-10", "--now", "2026-03-11T03:00")
    assert "Only rules have read 2026-03-09." in curate(capsys, "models", "use", "exec:echo")


def test_use_writes_who_reads_and_keeps_what_else_stands_there(
    capsys: pytest.CaptureFixture[str], programs: Path, config: Path
) -> None:
    claude = lay(programs, "claude", claude_says())
    lay(programs, "codex", codex_says(), logged_out=1)
    config.parent.mkdir(parents=True)
    config.write_text("# my own\n[limits]  # a cap\nmax_tokens = 9000\n")
    assert "Rules stand alone" in curate(capsys, "models", "use", "codex", "rules", exits=2)
    said = curate(capsys, "models", "use", "claude-code", "codex")
    assert "From now on claude-code, then codex read the logs" in said
    assert "Note: log text then goes to Anthropic and counts towards that login." in said
    assert "Note: codex is not logged in here" in said
    text = config.read_text()
    assert text.startswith("# my own\n")
    assert "# a cap" in text
    written = tomllib.loads(text)
    assert written["providers"] == ["claude-code", "codex"]
    assert (written["limits"], written["claude-code"]) == ({"max_tokens": 9000}, {"program": str(claude.path)})
    assert f"Reader    claude-code, then codex: your settings name them ({config})." in curate(capsys, "models")
    curate(capsys, "models", "use", "rules")
    assert tomllib.loads(config.read_text())["providers"] == ["rules"]


def test_use_refuses_what_cannot_read(
    capsys: pytest.CaptureFixture[str], config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logged_in, "found_program", lambda *_: None)  # whoever tests may have one
    known = "anthropic, gemini, openai, claude-code, codex, rules, or exec: and a command"
    assert f"The provider claude cannot be used: it is none of {known}." in curate(
        capsys, "models", "use", "claude", exits=2
    )
    assert "its key is missing" in curate(capsys, "models", "use", "gemini", exits=2)
    assert "but `claude` is not installed" in curate(capsys, "models", "use", "claude-code", exits=2)
    assert not config.exists()


@pytest.mark.usefixtures("two_keys")
def test_with_two_keys_the_first_alone_reads_until_somebody_says_who(
    capsys: pytest.CaptureFixture[str], config: Path
) -> None:
    said = curate(capsys, "models")
    assert "Reader    anthropic: its key is in the environment; gemini has a key too, but is not used." in said
    assert "Also here gemini: with your key: log text goes to Google, about $0.58 a month" in said
    assert not config.exists(), "nobody was asked"
