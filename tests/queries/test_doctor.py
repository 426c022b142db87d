"""`curate doctor`: what each check finds, and the one next thing to do."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from pipelines.queries.health import CHECKS
from tests.agents.install.outside import SYSTEMCTL, System, system
from tests.conftest import Memory

__all__ = ["system"]
pytestmark = pytest.mark.usefixtures("system")
NOW = "2026-03-20T12:00"


def doctor(memory: Memory, *more: str, exits: int = 0) -> tuple[dict[str, tuple[str, str]], dict[str, Any] | None]:
    told = memory.json("doctor", "--now", NOW, *more, exits=exits)
    found = {one["check"]: (one["state"], f"{one['says']} {one['to_do']}") for one in told["findings"]}
    return found, told["next"]


def test_a_whole_set_up_has_nothing_wrong(memory: Memory, system: System) -> None:
    system.cron()
    memory.curate("install", "cron")
    memory.curate("install", "agents", "--agents-md", str(Path.home() / "AGENTS.md"))
    memory.git("config", "user.name", "Ada")
    memory.git("config", "user.email", "ada@example.org")
    found, _ = doctor(memory)
    assert {state for state, _ in found.values()} <= {"ok", "look"}
    assert found["schedule"] == ("ok", "The next run is 2026-03-21 02:00+00:00, by cron. ")
    said = memory.curate("doctor", "--now", NOW)
    assert said.split()[:3] == ["repository", "ok", "git"]
    assert said.splitlines()[-1].startswith(("Next (", "There is nothing to do."))


def test_an_agent_that_feeds_another_memory_is_not_called_connected(memory: Memory, tmp_path: Path) -> None:
    other = memory.aside(tmp_path / "other")
    shutil.copytree(memory.root, other.root)
    memory.curate("install", "claude-code")
    assert doctor(memory)[0]["agents"] == ("ok", "Connected: claude-code. ")
    state, says = doctor(other)[0]["agents"]
    assert state == "look"
    assert "No agent feeds this memory. No sessions come from claude-code" in says


def test_the_most_basic_fault_is_the_next_thing(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    found, first = doctor(memory)
    assert first
    assert (first["check"], found["schedule"][0]) == ("repository", "look")
    memory.write("Logs/2026-03-10.md", "- Decision: Use SQLite.\n")
    found, first = doctor(memory, exits=1)
    assert first
    assert first["check"] == "nights"
    memory.write("curate.toml", 'timezone = "Europe/Atlantis"\ncaps = 7\n')
    found, first = doctor(memory, exits=1)
    assert "not a known time zone" in found["settings"][1]
    assert "caps: it should be one table" in found["settings"][1]
    assert sum("Europe/Atlantis" in says or "time zone" in says for _, says in found.values()) == 1
    assert first
    assert first["check"] == "settings"
    monkeypatch.setenv("PATH", "/nowhere")
    found, first = doctor(memory, exits=1)
    assert first
    assert (first["check"], first["to_do"]) == ("repository", "Install git 2.30 or newer.")


def test_marks_of_a_conflict_are_the_next_thing_before_a_run_has_met_them(memory: Memory) -> None:
    memory.write("Logs/2026-03-19.md", "- Decision: Use SQLite.\n")
    memory.night("2026-03-20T02:00")
    page = memory.root / "Areas/general.md"
    page.write_text(f"{page.read_text()}<<<<<<< HEAD\n- a\n=======\n- b\n>>>>>>> other\n")
    says = "Areas/general.md has marks of a conflict at line "
    _, first = doctor(memory, exits=1)
    assert first
    assert (first["check"], "delete the marks" in first["to_do"]) == ("nights", True)
    told = memory.curate("status", "--now", NOW, exits=1)
    assert told.startswith(says)
    assert told.count(says) == 1


def test_keys_are_told_and_never_shown(memory: Memory, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-0123456789abcdef")
    said = memory.curate("doctor", "--json", "--now", NOW)
    assert "ANTHROPIC_API_KEY" in said
    assert "0123456789abcdef" not in said
    monkeypatch.setenv("CURATE_CONFIG", str(tmp_path / "config.toml"))
    for more, told in (("odd = 1\n", "odd: there is no such key"), ("", "GEMINI_API_KEY")):
        (tmp_path / "config.toml").write_text(f'providers = ["gemini"]\n{more}')
        found, _ = doctor(memory, exits=1)
        assert found["providers"][0] == "wrong"
        assert told in found["providers"][1]


def test_a_timer_that_is_not_in_force_is_wrong_and_two_schedulers_are_worth_a_look(
    memory: Memory, system: System
) -> None:
    system.program("systemctl", SYSTEMCTL)
    memory.curate("install", "systemd")
    found, _ = doctor(memory, exits=1)
    assert found["schedule"] == (
        "wrong",
        "memcurate.timer is installed but not active. Run `systemctl --user enable --now memcurate.timer`.",
    )
    wants = Path.home() / "config/systemd/user/timers.target.wants"
    wants.mkdir()
    (wants / "memcurate.timer").symlink_to("../memcurate.timer")
    assert doctor(memory)[0]["schedule"][0] == "ok"
    system.program("systemctl", "#!/bin/sh\nexit 1\n")
    assert "your systemd does not answer here" in doctor(memory)[0]["schedule"][1]
    system.program("systemctl", SYSTEMCTL)


def test_models_are_asked_only_when_told(memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config.toml").write_text('providers = ["exec:no-such-program"]\n')
    monkeypatch.setenv("CURATE_CONFIG", str(tmp_path / "config.toml"))
    assert "models" not in doctor(memory)[0]
    found, _ = doctor(memory, "--probe", exits=1)
    assert "names a program that was not found (no-such-program)" in found["models"][1]


def test_a_check_that_breaks_hides_no_other(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CHECKS, "schedule", lambda _: 1 / 0)
    found, _ = doctor(memory, exits=1)
    assert found["schedule"][1].startswith("This check failed: ZeroDivisionError.")
    assert found["settings"][0] == "ok"


def test_without_a_home_the_rest_is_still_said(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOME")
    found, _ = doctor(memory)
    assert "HOME is not set" in found["agents"][1]
    assert found["schedule"][0] == "look"


def test_looking_changes_nothing(memory: Memory) -> None:
    before, head = memory.files(), memory.git("rev-parse", "HEAD")
    doctor(memory, "--probe")
    assert (memory.files(), memory.git("rev-parse", "HEAD")) == (before, head)
    assert memory.git("status", "--porcelain") == ""


def test_a_commit_is_tried_and_leaves_nothing(memory: Memory, tmp_path: Path) -> None:
    started = tmp_path / "started"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {started}\n")
    program.chmod(0o755)
    for hook in ("reference-transaction", "pre-commit", "post-commit"):
        (memory.root / ".git" / "hooks").mkdir(exist_ok=True)
        shutil.copy(program, memory.root / ".git" / "hooks" / hook)
    for key in ("gpg.program", "core.fsmonitor", "core.sshCommand", "filter.x.clean", "core.alternateRefsCommand"):
        memory.git("config", key, str(program))
    memory.git("config", "commit.gpgSign", "true")
    before = {path for path in (memory.root / ".git").rglob("*") if path.is_file()}
    found, _ = doctor(memory)
    assert found["repository"][1].startswith("git can commit")
    assert {path for path in (memory.root / ".git").rglob("*") if path.is_file()} == before
    memory.curate("check")
    assert not started.exists()
