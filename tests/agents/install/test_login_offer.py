"""`curate install claude-code` offers that it reads the logs with its login; it chooses nothing by itself."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pipelines.cli import install_commands, run_cli
from tests.fake_agents import claude_says, lay

if TYPE_CHECKING:
    from tests.conftest import Memory

OFFER = "Claude Code can read the logs at night: log text then goes to Anthropic and counts towards that login."


@pytest.fixture(autouse=True)
def claude(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", f"{tmp_path / 'programs'}{os.pathsep}{os.environ['PATH']}")
    return lay(tmp_path / "programs", "claude", claude_says()).path


@pytest.fixture
def config() -> Path:
    return Path(os.environ["XDG_CONFIG_HOME"], "memcurate", "config.toml")


def test_where_nobody_can_answer_it_says_so_and_writes_nothing(memory: Memory, config: Path) -> None:
    assert f"{OFFER} To allow it: `curate models use claude-code`." in memory.curate("install", "claude-code")
    assert OFFER not in memory.curate("install", "claude-code", "--no-read-with-login")
    assert OFFER not in memory.curate("install", "agents", "--agents-md", str(memory.root.parent / "AGENTS.md"))
    assert not config.exists()


@pytest.mark.parametrize(("answer", "reads"), [("y", True), ("n", False), ("", False)])
def test_a_person_is_asked_and_no_is_the_default(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, config: Path, answer: str, *, reads: bool
) -> None:
    monkeypatch.setattr(install_commands, "can_ask", lambda: True)
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{answer}\n"))
    said = memory.curate("install", "claude-code")
    assert f"{OFFER} Allow it?" in said
    assert config.exists() == reads
    assert ("From now on claude-code reads the logs" in said) == reads


def test_a_flag_is_a_yes_and_uninstalling_takes_back_only_what_it_wrote(
    memory: Memory, config: Path, claude: Path
) -> None:
    config.parent.mkdir(parents=True)
    config.write_text('# mine\n[codex]\nmodel = "x"\n')
    shown = memory.curate("install", "claude-code", "--read-with-login", "--print")
    assert '+providers = ["claude-code"]' in shown
    assert "providers" not in config.read_text()
    memory.curate("install", "claude-code", "--read-with-login")
    written = config.read_text()
    assert f'program = "{claude}"' in written
    assert "# by `curate install claude-code`" in written
    assert OFFER not in memory.curate("install", "claude-code"), "it reads already"
    assert run_cli(["uninstall", "claude-code"]) == 0
    left = config.read_text()
    assert [line for line in left.splitlines() if line] == ["# mine", "[codex]", 'model = "x"']


def test_what_a_person_wrote_or_changed_stays(memory: Memory, config: Path) -> None:
    memory.curate("install", "claude-code", "--read-with-login")
    changed = config.read_text().replace('["claude-code"]', '["claude-code", "rules"]')
    config.write_text(changed)
    assert run_cli(["uninstall", "claude-code"]) == 0
    assert 'providers = ["claude-code", "rules"]' in config.read_text()
    config.unlink()
    assert run_cli(["models", "use", "claude-code"]) == 0
    by_a_person = config.read_text()
    assert run_cli(["uninstall", "claude-code"]) == 0
    assert config.read_text() == by_a_person
    config.write_text('providers = ["rules"]\n')
    said = memory.curate("install", "claude-code", "--read-with-login")
    assert (
        "Your settings already name who reads the logs. To let Claude Code do it: `curate models use claude-code`."
        in said
    )
    assert OFFER not in memory.curate("install", "claude-code"), "somebody was chosen"
    assert config.read_text() == 'providers = ["rules"]\n'


def test_with_a_key_it_is_not_offered_unasked(memory: Memory, monkeypatch: pytest.MonkeyPatch, config: Path) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "g")
    assert OFFER not in memory.curate("install", "claude-code")
    assert not config.exists()
