"""`curate install` and `uninstall`: what they write into the settings of agents, and what they leave alone."""

import json
import os
import shlex
import stat
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipelines.agents import settings_files as install_files
from tests.conftest import Memory, curate

THEIRS = {
    "model": "opus",
    "hooks": {
        "SessionStart": [{"matcher": "startup", "hooks": [{"type": "command", "command": "echo hello"}]}],
        "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "./check.sh", "timeout": 5}]}],
    },
    "unknown": {"n": 1.50, "ü": None},
}


@pytest.fixture
def home() -> Path:
    return Path.home()


@pytest.fixture
def uninstall(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    def run(*arguments: str, exits: int = 0) -> str:
        return curate(capsys, "uninstall", *arguments, exits=exits)

    return run


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def commands(settings: Path, event: str) -> list[str]:
    groups = json.loads(settings.read_text())["hooks"].get(event, [])
    return [entry["command"] for group in groups for entry in group["hooks"]]


def test_claude_code_gets_hooks_and_tools_and_loses_them_to_the_byte(
    memory: Memory, home: Path, uninstall: Callable[..., str]
) -> None:
    text = json.dumps(THEIRS, indent=2, ensure_ascii=False) + "\n"
    settings = write(home / ".claude/settings.json", text)
    servers = write(
        home / ".claude.json",
        '{\n  "numStartups": 7,\n  "projects": {\n    "/x": {\n      "mcpServers": {}\n    }\n  }\n}',
    )
    before = settings.read_bytes(), servers.read_bytes()
    told = memory.curate("install", "claude-code")
    assert f"Changed {settings}." in told
    assert "restart the ones that are running" in told

    written = json.loads(settings.read_text())
    assert list(written) == list(THEIRS)
    assert written["hooks"]["PreToolUse"] == THEIRS["hooks"]["PreToolUse"]  # type: ignore[index]
    theirs, ours = written["hooks"]["SessionStart"]
    assert theirs == THEIRS["hooks"]["SessionStart"][0]  # type: ignore[index]
    assert ours["matcher"] == "startup|clear|compact"
    curate = str(Path(sys.executable).with_name("curate"))
    root = str(memory.root)
    assert shlex.split(ours["hooks"][0]["command"]) == [
        curate, "context", "--format", "claude-code", "--memory", root,
    ]  # fmt: skip
    for event in ("PreCompact", "SessionEnd"):
        assert [shlex.split(line) for line in commands(settings, event)] == [
            [curate, "capture", "--hook", "--memory", root]
        ]
        assert written["hooks"][event][0]["hooks"][0]["timeout"] == 60
    assert json.loads(servers.read_text())["mcpServers"] == {
        "memcurate": {"type": "stdio", "command": curate, "args": ["mcp", "--memory", root]}
    }

    after = settings.read_bytes(), servers.read_bytes()
    assert "Nothing to do" in memory.curate("install", "claude-code")
    assert (settings.read_bytes(), servers.read_bytes()) == after
    told = uninstall("claude-code")
    assert f"Changed {settings}." in told
    assert (settings.read_bytes(), servers.read_bytes()) == before
    assert "Nothing to do" in uninstall("claude-code")


def test_what_it_installed_works(memory: Memory, home: Path, tmp_path: Path) -> None:
    memory.curate("install", "claude-code")
    [line] = commands(home / ".claude/settings.json", "SessionStart")
    hook = json.dumps({"session_id": "1", "cwd": str(tmp_path), "hook_event_name": "SessionStart", "source": "startup"})
    done = subprocess.run(["/bin/sh", "-c", line], input=hook, capture_output=True, text=True, check=True, cwd="/")
    assert "Who you are" in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
    server = json.loads((home / ".claude.json").read_text())["mcpServers"]["memcurate"]
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    hello = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": client}) + "\n"
    command = [server["command"], *server["args"]]
    done = subprocess.run(command, input=hello, capture_output=True, text=True, check=True, cwd="/")
    assert json.loads(done.stdout)["result"]["serverInfo"]["name"] == "memcurate"


def test_without_settings_they_are_made_and_removed_again(
    memory: Memory, home: Path, uninstall: Callable[..., str]
) -> None:
    for target, made in (
        ("claude-code", (".claude/settings.json", ".claude.json")),
        ("codex", (".codex/hooks.json", ".codex/config.toml")),
        ("openclaw", (".openclaw/openclaw.json",)),
        ("cursor", (".cursor/hooks.json", ".cursor/mcp.json")),
        ("gemini", (".gemini/settings.json",)),
        ("vscode", ("config/Code/User/mcp.json",)),
        ("claude-desktop", ("config/Claude/claude_desktop_config.json",)),
    ):
        assert "Created" in memory.curate("install", target)
        assert all((home / path).is_file() for path in made)
        assert all(stat.S_IMODE((home / path).stat().st_mode) == 0o600 for path in made)
        assert "Removed" in uninstall(target)
        assert not any((home / path).exists() for path in made)
    assert [path for path in home.rglob("*") if path.is_file()] == []


@pytest.mark.usefixtures("home")
def test_a_login_reads_if_that_is_said_and_is_not_mentioned_if_it_is_refused(memory: Memory) -> None:
    assert "curate models" in memory.curate("install", "claude-code")
    assert "curate models" not in memory.curate("install", "codex", "--no-read-with-login")
    assert "not for cursor" in memory.curate("install", "cursor", "--read-with-login", exits=2)


def test_a_memory_that_moved_and_what_a_person_changed(
    memory: Memory, home: Path, tmp_path: Path, uninstall: Callable[..., str]
) -> None:
    memory.curate("install", "claude-code")
    settings = home / ".claude/settings.json"
    text = settings.read_text().replace("context --format", "context --budget 2000 --format").replace('": 10', '": 30')
    settings.write_text(text.replace("startup|clear|compact", "startup"))
    servers = home / ".claude.json"
    told = json.loads(servers.read_text())
    told["mcpServers"]["memcurate"]["env"] = {"A": "1"}
    servers.write_text(json.dumps(told))
    moved = tmp_path / "moved here"
    memory.root.rename(moved)
    memory.root = moved
    memory.curate("install", "claude-code")
    [line] = commands(settings, "SessionStart")
    assert shlex.split(line)[1:] == [
        "context", "--budget", "2000", "--format", "claude-code", "--memory", str(moved),
    ]  # fmt: skip
    [group] = json.loads(settings.read_text())["hooks"]["SessionStart"]
    assert (group["matcher"], group["hooks"][0]["timeout"]) == ("startup", 30)
    server = json.loads(servers.read_text())["mcpServers"]["memcurate"]
    assert (server["args"][-1], server["env"]) == (str(moved), {"A": "1"})
    uninstall("claude-code")
    assert not settings.exists()


def test_what_is_twice_there_is_once_there_afterwards_and_a_shared_group_stays(
    memory: Memory, home: Path, uninstall: Callable[..., str]
) -> None:
    ours = {"type": "command", "command": "/old/curate capture --hook --memory /old", "timeout": 3}
    mine = {"type": "command", "command": "curate context --memory /x | tee log"}
    settings = write(
        home / ".claude/settings.json",
        json.dumps({"hooks": {"SessionEnd": [{"hooks": [mine, ours]}, {"hooks": [ours, "odd"]}, "odd", {"hooks": 7}]}}),
    )
    memory.curate("install", "claude-code")
    groups = json.loads(settings.read_text())["hooks"]["SessionEnd"]
    assert groups[0]["hooks"][0] == mine
    assert groups[0]["hooks"][1]["command"].endswith(str(memory.root))
    assert groups[1:] == [{"hooks": ["odd"]}, "odd", {"hooks": 7}]
    uninstall("claude-code")
    assert json.loads(settings.read_text()) == {
        "hooks": {"SessionEnd": [{"hooks": [mine]}, {"hooks": ["odd"]}, "odd", {"hooks": 7}]}
    }


@pytest.mark.parametrize(
    "text",
    ['{"hooks": ', '{"a": 1,}', "[]", '{"hooks": []}', '{"hooks": {"SessionStart": {}}}', "\udcff", "7", "[" * 3000],
)
def test_settings_that_are_broken_are_named_and_nothing_is_written(memory: Memory, home: Path, text: str) -> None:
    settings = write(home / ".claude/settings.json", "")
    settings.write_bytes(text.encode(errors="surrogateescape"))
    told = memory.curate("install", "claude-code", exits=1)
    assert str(settings) in told
    assert "Nothing was written" in told
    assert settings.read_bytes() == text.encode(errors="surrogateescape")
    assert not (home / ".claude.json").exists()


def test_a_link_stays_a_link(memory: Memory, home: Path, tmp_path: Path, uninstall: Callable[..., str]) -> None:
    real = write(tmp_path / "dotfiles/claude.json", '{\n    "model": "opus"\n}\n')
    real.chmod(0o640)
    link = home / ".claude/settings.json"
    link.parent.mkdir()
    link.symlink_to(os.path.relpath(real, link.parent))
    told = memory.curate("install", "claude-code")
    assert f"{link} (a link to {real})" in told
    assert link.is_symlink()
    assert '\n    "hooks": {\n        "SessionStart"' in real.read_text()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    uninstall("claude-code")
    assert real.read_text() == '{\n    "model": "opus"\n}\n'
    real.unlink()
    memory.curate("install", "claude-code")
    uninstall("claude-code")
    assert (link.is_symlink(), real.exists()) == (True, False)


def test_a_link_to_nothing_and_what_is_no_file(memory: Memory, home: Path, tmp_path: Path) -> None:
    link = home / ".claude/settings.json"
    link.parent.mkdir()
    link.symlink_to(tmp_path / "gone/away.json")
    assert "is a link to" in memory.curate("install", "claude-code", exits=1)
    link.unlink()
    link.symlink_to(tmp_path / "new.json")
    memory.curate("install", "claude-code")
    assert (tmp_path / "new.json").is_file()
    link.unlink()
    link.symlink_to(link)
    assert "cannot be read" in memory.curate("install", "claude-code", exits=1)
    link.unlink()
    os.mkfifo(link)
    assert "not a regular file" in memory.curate("install", "claude-code", exits=1)
    link.unlink()
    link.mkdir()
    assert str(link) in memory.curate("install", "claude-code", exits=1)


def test_a_disk_that_refuses_leaves_the_file(memory: Memory, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = write(home / ".claude/settings.json", "{}\n")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert "cannot be written" in memory.curate("install", "claude-code", exits=1)
    assert settings.read_text() == "{}\n"
    assert [path.name for path in settings.parent.iterdir()] == ["settings.json"]


def test_what_another_program_writes_meanwhile_is_kept(
    memory: Memory, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = write(home / ".claude/settings.json", "{}\n")
    reads = []
    real = install_files.read_text

    def quick(path: Path) -> tuple[Path, str | None]:
        reads.append(path)
        if len(reads) == 2:
            settings.write_text('{"theirs": 1}\n')
        return real(path)

    monkeypatch.setattr(install_files, "read_text", quick)
    memory.curate("install", "claude-code")
    assert list(json.loads(settings.read_text())) == ["theirs", "hooks"]


def test_codex_keeps_its_comments(memory: Memory, home: Path, uninstall: Callable[..., str]) -> None:
    text = '# mine\nmodel = "gpt-5"   # the good one\n\n[mcp_servers.docs]\ncommand = "docs"\n'
    settings = write(home / ".codex/config.toml", text)
    told = memory.curate("install", "codex")
    assert "/hooks" in told
    data: dict[str, Any] = tomllib.loads(settings.read_text())
    assert data["mcp_servers"]["memcurate"]["args"] == ["mcp", "--memory", str(memory.root)]
    hooks = json.loads((home / ".codex/hooks.json").read_text())["hooks"]
    assert sorted(hooks) == ["PreCompact", "SessionEnd", "SessionStart"]
    assert hooks["SessionEnd"][0]["hooks"][0]["timeout"] == 3
    assert "Nothing to do" in memory.curate("install", "codex")
    uninstall("codex")
    assert settings.read_text() == text
    settings.write_text('[mcp_servers.memcurate]\ncommand = "other"\n')
    assert "another MCP server" in memory.curate("install", "codex", exits=1)
    assert "Nothing to do" in uninstall("codex")
    settings.write_text("model = \n")
    assert "is not valid TOML" in memory.curate("install", "codex", exits=1)
    assert not (home / ".codex/hooks.json").exists()


def test_openclaw_gets_a_server_and_a_block_in_its_workspace(
    memory: Memory, home: Path, uninstall: Callable[..., str]
) -> None:
    text = '{\n  "agents": {\n    "defaults": {\n      "workspace": "~/claw"\n    }\n  }\n}\n'
    settings = write(home / ".openclaw/openclaw.json", text)
    agents = write(home / "claw/AGENTS.md", "# Claw\n\nBe kind.\n")
    memory.curate("install", "openclaw")
    assert '"servers": {\n      "memcurate": {' in settings.read_text()
    assert f"context --memory {memory.root}" in agents.read_text()
    assert "Nothing to do" in memory.curate("install", "openclaw")
    uninstall("openclaw")
    assert settings.read_text() == text
    assert agents.read_text() == "# Claw\n\nBe kind.\n"
    settings.write_text("{\n  // mine\n  agents: {},\n}\n")
    assert "has comments, which an edit would lose" in memory.curate("install", "openclaw", exits=1)
    settings.write_text("{ nonsense\n")
    assert "is not valid JSON" in memory.curate("install", "openclaw", exits=1)


@pytest.mark.parametrize("text", ["", "# Mine\n", "# Mine", "# Mine\r\n\r\nx\r\n", "\n\n"])
def test_agents_get_a_block_that_is_merged_in_place(
    memory: Memory, tmp_path: Path, uninstall: Callable[..., str], text: str
) -> None:
    file = write(tmp_path / "project/AGENTS.md", text)
    memory.curate("install", "--agents-md", str(file))
    told = file.read_bytes().decode()
    assert told.startswith(text)
    for verb in ("context", "search", "log"):
        assert f"curate {verb}" in told
    file.write_bytes((told + "\nAfter.\n").encode())
    assert "Nothing to do" in memory.curate("install", "agents", "--agents-md", str(file))
    moved = memory.root.rename(tmp_path / "moved")
    memory.root = moved
    memory.curate("install", "agents", "--agents-md", str(file))
    assert file.read_bytes().decode() == told.replace(str(tmp_path / "memory"), str(moved)) + "\nAfter.\n"
    file.write_bytes(told.encode())
    uninstall("agents", "--agents-md", str(file))
    assert (file.read_bytes().decode() if file.exists() else "") == text


def test_the_block_of_a_project_and_marks_that_are_broken(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, uninstall: Callable[..., str]
) -> None:
    monkeypatch.chdir(tmp_path)
    memory.curate("install", "agents")
    file = tmp_path / "AGENTS.md"
    assert stat.S_IMODE(file.stat().st_mode) == 0o644
    uninstall("agents")
    assert not file.exists()
    file.write_text("<!-- memcurate:begin -->\nopen\n")
    assert "exactly one" in memory.curate("install", "agents", exits=1)
    assert "exactly one" in uninstall("agents", exits=1)
    assert file.read_text() == "<!-- memcurate:begin -->\nopen\n"
    assert "a memory's own file" in memory.curate(
        "install", "agents", "--agents-md", str(memory.root / "AGENTS.md"), exits=2
    )


def test_mistakes_are_named(memory: Memory, tmp_path: Path, uninstall: Callable[..., str]) -> None:
    told = memory.curate("install")
    assert "claude-code" in told
    assert "openclaw" in told
    memory.curate("install", "vim", exits=2)
    memory.curate("install", "codex", "--agents-md", str(tmp_path / "x.md"), exits=2)
    assert "There is no memory" in run_and_say(["install", "codex", "--memory", str(tmp_path / "none")])
    uninstall("nothing", exits=2)


def run_and_say(arguments: list[str]) -> str:
    command = [sys.executable, "-m", "pipelines.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False).stderr
