"""Nights that Claude Code reads, nights on which it cannot, and nights that no model reads."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pipelines.extract.llm import logged_in
from tests.conftest import Memory
from tests.extract.programs import exec_reader
from tests.fake_agents import NOT_LOGGED_IN, NOTHING_SPENT, claude_says, lay

NIGHT = ("run", "--now", "2026-03-20T02:00")
LOG = "# 2026-03-19\n\n- 09:00 Decision: Close the north gate.\n- 10:00 we talked about the weather\n"


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", f"{tmp_path / 'programs'}{os.pathsep}{os.environ['PATH']}")
    return tmp_path / "programs"


@pytest.fixture
def log(memory: Memory) -> None:
    memory.write("Logs/2026-03-19.md", LOG)


def settle(text: str) -> None:
    config = Path(os.environ["XDG_CONFIG_HOME"], "memcurate", "config.toml")
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(text)


@pytest.mark.usefixtures("log")
def test_a_night_without_a_model_says_so_once(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logged_in, "found_program", lambda *_: None)  # whoever tests may have one
    said = memory.curate(*NIGHT)
    line = "No model reads the logs. `curate models` shows who can."
    assert "1 line was not understood; `curate runs " in said
    assert said.count(line) == said.count("odel") - said.count("`curate models`") == 1
    assert "odel" not in memory.night("2026-03-20T03:00"), "there was nothing to read"
    assert "No model" not in memory.curate("runs") + memory.curate("status", "--now", "2026-03-20T03:00")


@pytest.mark.usefixtures("log")
def test_claude_code_reads_a_night_and_what_it_cost_is_told(memory: Memory, programs: Path) -> None:
    item = {"type": "Fact", "text": "We talked about the weather.", "lines": [[4, 4]]}
    lay(programs, "claude", claude_says(structured_output={"items": [item], "verdicts": [], "now": []}))
    settle('providers = ["claude-code"]\n[limits]\nmax_usd = 1\n')
    told = memory.json(*NIGHT)
    spent = told["model"]
    assert spent["usd"] == pytest.approx(0.00282 * spent["calls"])
    assert memory.row("We talked about the weather.")["by"].startswith("claude-code:haiku@extract/")
    assert "claude-code:haiku: about" in memory.curate("run", "--estimate", "--now", "2026-03-21T02:00")


@pytest.mark.usefixtures("log")
def test_where_nobody_is_logged_in_the_day_waits_with_one_line(memory: Memory, programs: Path) -> None:
    settle('providers = ["claude-code"]')
    said = memory.curate(*NIGHT, exits=1)
    assert said.count("claude-code was not found") == 1
    lay(programs, "claude", NOT_LOGGED_IN, status=1, logged_out=1)
    said = memory.night("2026-03-20T03:00", exits=1)
    assert said.count("claude-code is not logged in here, or the login has expired; run `claude auth login`") == 1
    assert "2 entries stay pending" in said
    lay(programs, "claude", claude_says())
    memory.night("2026-03-20T04:00")


@pytest.mark.usefixtures("log")
def test_one_that_fails_is_named_though_the_next_one_reads(memory: Memory, programs: Path) -> None:
    settle('providers = ["claude-code", "exec:echo {}"]')
    lay(programs, "claude", claude_says(**NOTHING_SPENT, api_error_status=401), status=1)
    said = memory.curate(*NIGHT)
    assert "claude-code gave no usable answer in this run (unauthorised)." in said
    assert "well, without claude-code, which failed" in memory.curate("runs")


def test_the_doctor_knows_a_program_that_is_not_there(memory: Memory, programs: Path) -> None:
    assert "`curate models` shows what can." in memory.curate("doctor", "--json", "--now", "2026-03-20T03:00")
    settle('providers = ["codex"]')
    said = memory.curate("doctor", "--json", "--now", "2026-03-20T03:00", exits=1)
    assert "codex should read the logs, but `codex` is not installed." in said
    lay(programs, "codex", "")
    assert "codex reads the logs." in memory.curate("doctor", "--json", "--now", "2026-03-20T03:00")


def test_a_run_of_its_own_process_says_nothing_at_its_end(memory: Memory, tmp_path: Path) -> None:
    memory.write("Logs/2026-03-16.md", "- Decision: The gate is red.\n")
    memory.night("2026-03-17T02:00")
    memory.write("Logs/2026-03-17.md", "- Decision: The fence is green.\n")
    reader = exec_reader(tmp_path, {"items": [], "operations": []})
    command = ["run", "--provider", reader, "--now", "2026-03-18T02:00"]
    program = [sys.executable, "-m", "pipelines.cli", "--memory", str(memory.root)]
    done = subprocess.run([*program, *command], capture_output=True, text=True, check=True)
    assert "Traceback" not in done.stderr
