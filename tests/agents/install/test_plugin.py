"""The Claude Code plugin in deploy/claude-code: whole, true to the command line, and clear about what is missing."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pipelines import __version__
from pipelines.agents.targets import AGENTS
from pipelines.cli import run_cli
from pipelines.mcp import TOOLS
from tests.conftest import Memory

PLUGIN = Path(__file__).parents[3] / "deploy/claude-code"
SKILLS = ("recall", "recap", "remember", "review")


def read(name: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((PLUGIN / name).read_text())
    return data


def run(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the plugin's script as Claude Code does; `PATH` leads to no `curate` unless it is given."""
    env = {"PATH": "/usr/bin:/bin", "HOME": str(Path.home()), **environment}
    command = ["/bin/sh", str(PLUGIN / "scripts/curate.sh"), *words]
    return subprocess.run(command, env=env, input="", capture_output=True, text=True, check=False, cwd=Path.home())


def test_the_manifests_name_what_is_there() -> None:
    manifest, market = read(".claude-plugin/plugin.json"), read(".claude-plugin/marketplace.json")
    assert (manifest["name"], manifest["version"]) == ("memcurate", __version__)
    assert manifest["userConfig"]["memory"]["type"] == "directory"
    [offered] = market["plugins"]
    assert (offered["name"], offered["source"]) == ("memcurate", "./")
    assert offered["description"] == manifest["description"]


def test_its_hooks_are_those_of_the_installer() -> None:
    hooks = read("hooks/hooks.json")["hooks"]
    script = 'sh "${CLAUDE_PLUGIN_ROOT}/scripts/curate.sh"'
    assert hooks == {
        event: [
            {
                **({"matcher": matcher} if matcher else {}),
                "hooks": [{"type": "command", "command": f"{script} {' '.join(verb)}", **more}],
            }
        ]
        for event, verb, matcher, more in AGENTS["claude-code"].hooks
    }
    [server] = read(".mcp.json")["mcpServers"].values()
    assert [server["command"], *server["args"]] == ["sh", "${CLAUDE_PLUGIN_ROOT}/scripts/curate.sh", "mcp"]
    assert server["env"] == {"CLAUDE_PLUGIN_OPTION_MEMORY": "${user_config.memory}"}, "a server gets no settings else"


@pytest.mark.parametrize("name", SKILLS)
def test_skills_name_tools_and_verbs_that_exist(name: str) -> None:
    text = (PLUGIN / "skills" / name / "SKILL.md").read_text()
    head, body = re.fullmatch(r"---\n(.*?)\n---\n(.*)", text, re.DOTALL).groups()  # type: ignore[union-attr]
    fields = dict(line.split(": ", 1) for line in head.splitlines())
    assert fields["name"] == name
    assert 40 < len(fields["description"]) < 1024
    assert len(body.splitlines()) < 30
    assert set(re.findall(r"memory_\w+", body)) <= {str(tool["name"]) for tool in TOOLS}
    for verb in set(re.findall(r"`curate (\w+)", body)):
        assert run_cli([verb, "--help"]) == 0


def test_its_script_finds_the_memory_in_the_settings_first(memory: Memory, tmp_path: Path) -> None:
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    other = memory.aside(tmp_path / "it's another")
    run_cli(["init", str(other.root)])
    (other.root / "SOUL.md").write_text("I am the other one.\n")
    kept = tmp_path / "environment"
    done = run(
        "context", "--format", "claude-code",
        PATH=path, CURATE_MEMORY=str(memory.root), CLAUDE_PLUGIN_OPTION_MEMORY=str(other.root),
        CLAUDE_ENV_FILE=str(kept),
    )  # fmt: skip
    assert "I am the other one." in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
    asked = ["/bin/sh", "-c", f". '{kept}'; echo \"$CURATE_MEMORY\""]
    assert subprocess.run(asked, capture_output=True, text=True, check=True).stdout == f"{other.root}\n"
    done = run("context", "--format", "claude-code", PATH=path, CURATE_MEMORY=str(memory.root))
    assert "Who you are" in done.stdout
    assert "I am the other one." not in done.stdout


def test_without_curate_the_person_and_the_agent_learn_what_to_do() -> None:
    done = run("context", "--format", "claude-code")
    said = json.loads(done.stdout)
    assert "uv tool install memcurate" in said["systemMessage"]
    assert said["systemMessage"] in said["hookSpecificOutput"]["additionalContext"]
    assert (done.returncode, done.stderr) == (0, "")
    done = run("capture", "--hook")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), "the start said it"
    done = run("mcp")
    assert (done.returncode, done.stdout) == (127, "")
    assert "pipx install memcurate" in done.stderr


def test_plugin_and_installation_do_not_both_run(memory: Memory, capsys: pytest.CaptureFixture[str]) -> None:
    settings = Path.home() / ".claude/settings.json"
    settings.parent.mkdir()
    text = '{"enabledPlugins": {"memcurate@memcurate": true, "other@memcurate": true}}'
    settings.write_text(text)
    said = memory.curate("install", "claude-code", exits=2)
    assert "claude plugin uninstall memcurate@memcurate" in said
    assert settings.read_text() == text
    capsys.readouterr()
    assert "plugin memcurate@memcurate" in memory.curate("install")
    settings.write_text(text.replace("true", "false", 1))
    memory.curate("install", "claude-code")
