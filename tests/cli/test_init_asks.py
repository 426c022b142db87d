"""What `curate init` asks once, what a flag or Enter means, and that nothing is chosen silently."""

import io
import json
import os
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from pipelines.cli import init_command, run_cli
from pipelines.queries import readers
from tests.agents.install.outside import SYSTEMCTL, System, system
from tests.fake_agents import claude_says, lay

__all__ = ["system"]


@pytest.fixture(autouse=True)
def home(system: System) -> Path:
    system.program("systemctl", SYSTEMCTL)
    lay(system.folder, "claude", claude_says())
    (Path.home() / ".claude").mkdir()
    return Path.home()


def asked(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], root: Path, *answers: str) -> str:
    monkeypatch.setattr(init_command, "can_ask", lambda: True)
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{one}\n" for one in answers)))
    assert run_cli(["init", str(root)]) == 0
    return capsys.readouterr().out


def told_by(verb: str, root: Path, capsys: pytest.CaptureFixture[str]) -> str:
    assert run_cli([verb, "--memory", str(root)]) == 0
    return capsys.readouterr().out


def config() -> str:
    file = Path(os.environ["XDG_CONFIG_HOME"], "memcurate", "config.toml")
    return file.read_text() if file.exists() else ""


def timer() -> Path:
    return Path(os.environ["XDG_CONFIG_HOME"], "systemd/user/memcurate.timer")


def test_enter_takes_what_is_here_and_says_what_goes_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], home: Path
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "g")
    told = asked(monkeypatch, capsys, tmp_path / "m", "", "", "")
    assert "[x] claude-code" in told
    assert "[ ] codex" in told
    assert "1  claude-code  with your login of Claude Code: log text then goes to Anthropic and counts" in told
    assert "2  gemini       with your key: log text goes to Google, about $0.58 a month" in told
    assert str(tmp_path / "m") in (home / ".claude.json").read_text()
    assert 'providers = ["claude-code"]' in config()
    assert "OnCalendar=*-*-* 02:00:00" in timer().read_text()


def test_no_is_an_answer_to_each_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], home: Path
) -> None:
    asked(monkeypatch, capsys, tmp_path / "m", "none", "2", "never")
    assert not (home / ".claude.json").exists()
    assert 'providers = ["rules"]' in config()
    assert not timer().exists()
    assert "Which agents" not in asked(monkeypatch, capsys, tmp_path / "m"), "it asks once"


def test_a_slip_is_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], home: Path
) -> None:
    asked(monkeypatch, capsys, tmp_path / "m", "claude", "claude-code", "9", "2", "25:99", "03:30")
    assert (home / ".claude.json").exists()
    assert "OnCalendar=*-*-* 03:30:00" in timer().read_text()


def test_a_memory_of_another_machine_is_asked_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_cli(["init", str(tmp_path / "m")]) == 0
    assert "Which agents" in asked(monkeypatch, capsys, tmp_path / "m", "none", "2", "never")
    assert "Which agents" not in asked(monkeypatch, capsys, tmp_path / "m")


def test_a_local_server_that_answers_is_offered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], server: int
) -> None:
    monkeypatch.setattr(readers, "_PORTS", (server,))
    told = asked(monkeypatch, capsys, tmp_path / "m", "none", "2", "never")
    assert f"openai       qwen3:8b at http://localhost:{server}/v1: nothing leaves this machine" in told
    assert f'base_url = "http://localhost:{server}/v1"\nmodel = "qwen3:8b"' in config()


@pytest.fixture
def server() -> Iterator[int]:
    class Models(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps({"data": [{"id": "qwen3:8b"}]}).encode())

        def log_message(self, *_: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Models) as served:
        threading.Thread(target=served.serve_forever, daemon=True).start()
        yield served.server_port
        served.shutdown()


def test_a_script_says_it_with_flags_and_nothing_is_chosen_for_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], home: Path
) -> None:
    assert run_cli(["init", str(tmp_path / "a")]) == 0
    told = capsys.readouterr().out
    assert "No agent is connected and no night is scheduled: `curate init --yes" in told
    assert "Who reads the logs is your choice" in told
    assert (config(), timer().exists(), (home / ".claude.json").exists()) == ("", False, False)
    assert run_cli(["init", str(tmp_path / "b"), "--yes"]) == 0
    assert timer().exists()
    assert (home / ".claude.json").exists()
    assert config() == "", "a yes sends no text anywhere"
    assert run_cli(["init", str(tmp_path / "b"), "--reader", "claude-code", "--nights", "03:30"]) == 0
    assert 'providers = ["claude-code"]' in config()
    assert "02:00:00" not in timer().read_text()


@pytest.mark.parametrize("wrong", [("--agents", "clippy"), ("--nights", "25:99"), ("--reader", "claude")])
def test_a_wrong_option_stops_it_before_anything_is_made(tmp_path: Path, home: Path, wrong: tuple[str, str]) -> None:
    assert run_cli(["init", str(tmp_path / "a"), "--agents", "claude-code", *wrong]) == 2
    assert not (tmp_path / "a").exists()
    assert not (home / ".claude.json").exists()


def test_the_home_folder_itself_is_never_made_a_memory(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], home: Path
) -> None:
    monkeypatch.chdir(home)
    assert run_cli(["init"]) == 2
    assert "`curate init ~/memory`" in capsys.readouterr().err
    assert not (home / ".git").exists()


def test_settings_that_are_not_there_stop_it_before_anything_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CURATE_CONFIG", str(tmp_path / "none.toml"))
    assert run_cli(["init", str(tmp_path / "a"), "--reader", "rules"]) == 1
    assert "CURATE_CONFIG names this file" in capsys.readouterr().err
    assert not (tmp_path / "a").exists()


def test_where_no_scheduler_answers_it_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], system: System
) -> None:
    system.program("systemctl", "#!/bin/sh\necho 'Failed to connect to bus' >&2\nexit 1\n")
    assert run_cli(["init", str(tmp_path / "m"), "--nights", "02:00"]) == 0
    assert "Neither systemd nor cron answers here." in capsys.readouterr().err
    assert run_cli(["install", "systemd", "--memory", str(tmp_path / "m")]) == 1
    told = capsys.readouterr().err
    assert "Your systemd does not answer here: Failed to connect to bus. Log in as yourself" in told
    assert not timer().exists()
    assert "`curate schedule` runs the nights" in told_by("status", tmp_path / "m", capsys)
    system.cron()
    assert "Schedule  No run is scheduled. Run `curate install cron`." in told_by("status", tmp_path / "m", capsys)
    assert run_cli(["init", str(tmp_path / "m"), "--nights", "02:00"]) == 0
    assert "curate" in system.table.read_text()
