"""The sweep: what agents keep is captured by the next run, sync or session, whatever hooks did."""

import io
import json
import os
import sqlite3
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import zstandard

from tests.cli.test_capture import FIRST, SECOND, said, transcript
from tests.conftest import Memory
from tests.night.sync.machines import shared

RUN = ("run", "--now", "2026-03-19T02:00")
MORNING = ("--now", "2026-03-19T08:00")
DAY = "Logs/2026-03-17.md"


@pytest.fixture
def home() -> Path:
    """Return the home folder of the test's own."""
    return Path(os.environ["HOME"])


@pytest.fixture
def claude(memory: Memory, home: Path) -> Path:
    """Connect Claude Code to the memory, and return where it keeps a project's sessions."""
    memory.curate("install", "claude-code")
    return made(home / ".claude/projects/-home-ada-src-harbor")


def made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder


def codex(text: str, role: str = "user") -> dict[str, Any]:
    kind = "input_text" if role == "user" else "output_text"
    payload = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
    return {"type": "response_item", "timestamp": "2026-03-17T09:00:00Z", "payload": payload}


def completed(text: str, kind: str = "UserMessage", part: str = "text") -> dict[str, Any]:
    """Return an event with a message, as Codex 0.147 and later write it."""
    item = {"type": kind, "id": "i", "content": [{"type": part, "text": text}]}
    return {
        "type": "event_msg", "timestamp": "2026-03-17T09:00:00Z", "payload": {"type": "item_completed", "item": item},
    }  # fmt: skip


def claw(text: str, ident: str = "m1", role: str = "user") -> dict[str, Any]:
    message = {"role": role, "content": [{"type": "text", "text": text}]}
    return {"type": "message", "id": ident, "timestamp": "2026-03-17T09:00:00Z", "message": message}


def opens(session: str) -> dict[str, Any]:
    return {"type": "session", "version": 3, "id": session, "timestamp": "2026-03-17T08:59:00Z", "cwd": "/srv/claw"}


META = {"type": "session_meta", "payload": {"id": "c0de", "cwd": "/home/ada/src/harbor", "timestamp": "2026-03-17"}}


def log_of(memory: Memory) -> str:
    return memory.read(DAY) if (memory.root / DAY).exists() else ""


def words_of(memory: Memory) -> list[str]:
    """Return the turns in the day's log, without clock, project and pointer."""
    lines = [line.partition(" <!--")[0] for line in log_of(memory).splitlines() if line.startswith("- ")]
    return [line.partition("**")[2].replace("**", "") for line in lines]


def sessions_in_status(memory: Memory) -> list[dict[str, Any]]:
    told = memory.json("status", *MORNING)["sessions"]
    assert isinstance(told, list)
    return told


def test_a_hook_that_named_no_file_loses_nothing(memory: Memory, claude: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = transcript(claude / "a.jsonl", FIRST)
    event = {"hook_event_name": "SessionEnd", "transcript_path": f"{claude}--worktrees-x/{source.name}"}
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json.dumps(event).encode())))
    assert "No such file" in memory.curate("capture", "--hook")
    memory.curate("capture", "--sweep")
    assert words_of(memory) == ["user: Which database?"]


def test_a_sync_sends_what_no_hook_captured(memory: Memory, claude: Path) -> None:
    _, other, _ = shared(memory)
    transcript(claude / "a.jsonl", FIRST)
    memory.curate("sync", *MORNING)
    other.curate("sync", *MORNING)
    assert words_of(other) == words_of(memory) == ["user: Which database?"]


def aged(source: Path, days: int) -> None:
    os.utime(source, (time.time() - days * 86400,) * 2)


def test_an_installation_leaves_old_sessions_alone_until_they_go_on(memory: Memory, home: Path) -> None:
    claude = made(home / ".claude/projects/x")
    old, recent = transcript(claude / "old.jsonl", FIRST), transcript(claude / "recent.jsonl", SECOND)
    aged(old, 3)
    aged(recent, 1)
    memory.curate("install", "claude-code")
    for _ in range(2):
        memory.curate("capture", "--sweep")
        assert words_of(memory) == ["assistant: Decision: Orders use Postgres 16."]
    os.utime(old)
    memory.curate("capture", "--sweep")
    assert "user: Which database?" in words_of(memory)


def test_a_session_that_is_new_here_is_captured_whatever_its_time_says(memory: Memory, claude: Path) -> None:
    aged(transcript(claude / "copied.jsonl", FIRST), 30)
    memory.curate("capture", "--sweep")
    assert words_of(memory) == ["user: Which database?"]


def sidechain(role: str, text: str, minute: int, agent: str = "a1", **more: Any) -> dict[str, Any]:
    return said(role, text, f"2026-03-17T21:{minute}:00Z", isSidechain=True, agentId=agent, **more)


def test_what_a_person_said_to_a_subagent_is_theirs_and_its_task_is_not(memory: Memory, claude: Path) -> None:
    human = {"kind": "human"}
    turns = [
        sidechain("user", "Rule: Do the task.", 40),
        sidechain("assistant", "On it.", 41),
        sidechain("user", "Leave the lock file.", 42, origin=human),
        sidechain("assistant", "I leave it.", 43),
        sidechain("user", "Rule: From the coordinator.", 44, origin={"kind": "coordinator"}),
        sidechain("assistant", "Done.", 45),
    ]
    transcript(claude / "a.jsonl", FIRST)
    transcript(made(claude / "a/subagents") / "agent-a1.jsonl", *turns)
    transcript(claude / "a/subagents/agent-acompact-2.jsonl", *turns)
    memory.curate("capture", "--sweep")
    expected = ["user: Which database?", "user: Leave the lock file.", "assistant: I leave it."]
    assert words_of(memory) == expected
    memory.curate("capture", "--from", "claude-code")
    assert words_of(memory) == expected


def test_a_side_question_is_read_and_the_session_above_it_is_not_read_twice(memory: Memory, claude: Path) -> None:
    aside = "aside_question-1a"
    reminder = "<system-reminder>This is a side question from the user. Never push.</system-reminder>\n\n"
    transcript(claude / "a.jsonl", FIRST, SECOND)
    transcript(
        made(claude / "a/subagents") / f"agent-{aside}.jsonl",
        sidechain("user", "Which database?", 30, aside, origin={"kind": "human"}),
        sidechain("assistant", "Decision: Orders use Postgres 16.", 31, aside),
        sidechain("user", f"{reminder}Is Redis in use?", 50, aside),
        sidechain("assistant", "It is.", 51, aside),
    )
    memory.curate("capture", "--sweep")
    expected = ["user: Which database?", "assistant: Decision: Orders use Postgres 16."]
    assert words_of(memory) == [*expected, "user: Is Redis in use?", "assistant: It is."]


def test_archived_sessions_of_codex_count_once(memory: Memory, home: Path) -> None:
    memory.curate("install", "codex")
    live, archive = made(home / ".codex/sessions/2026/03/17"), made(home / ".codex/archived_sessions")
    source = transcript(live / "rollout-a.jsonl", META, codex("Use tabs."))
    memory.curate("capture", "--sweep")
    source.rename(archive / source.name)
    transcript(archive / "rollout-b.jsonl", META | {"payload": {"id": "b"}}, codex("Use Redis."))
    memory.curate("capture", "--sweep")
    assert words_of(memory) == ["user: Use tabs.", "user: Use Redis."]


def test_messages_that_stand_in_events_of_codex_alone_are_read_once(memory: Memory, tmp_path: Path) -> None:
    both = [
        codex("First?"), completed("First?"),
        completed("One, [cited].", "AgentMessage", "Text"), codex("One.", "assistant"),
    ]  # fmt: skip
    alone = [completed("Second?"), completed("Two.", "AgentMessage", "Text"), codex("Two.", "assistant")]
    again = [completed("Third?"), codex("Third?"), {"type": "event_msg", "payload": {"item": {"type": "Plan"}}}]
    memory.curate("capture", str(transcript(tmp_path / "r.jsonl", META, *both, *alone, *again)), "--now", "2026-03-18")
    assert words_of(memory) == ["user: First?", "assistant: One.", "user: Second?", "assistant: Two.", "user: Third?"]


def test_a_compressed_session_is_read(memory: Memory, home: Path, tmp_path: Path) -> None:
    memory.curate("install", "codex")
    source = transcript(tmp_path / "a.jsonl", META, codex("Use tabs."))
    packed = made(home / ".codex/sessions/2026/03/17") / "rollout-a.jsonl.zst"
    packed.write_bytes(zstandard.ZstdCompressor().compress(source.read_bytes()))
    memory.curate("capture", "--sweep")
    memory.curate("capture", str(source))
    assert words_of(memory) == ["user: Use tabs."]


def test_what_cannot_be_read_is_named_once_and_stands_in_the_status(
    memory: Memory, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.curate("install", "codex")
    monkeypatch.setitem(sys.modules, "zstandard", None)
    folder = made(home / ".codex/sessions/2026/03/17")
    whole = "".join(json.dumps(one) + "\n" for one in (META, codex("Use tabs.")))
    (folder / "rollout-a.jsonl.zst").write_bytes(zstandard.ZstdCompressor().compress(whole.encode()))
    (folder / "rollout-b.json").write_text("{}")
    transcript(folder / "rollout-c.jsonl", {"type": "later", "content": 1})
    (folder / "rollout-d.jsonl.lock").write_text("")
    told = memory.curate(*RUN)
    assert "rollout-a.jsonl.zst is compressed, and the Python package zstandard is not installed." in told
    assert "rollout-b.json is in a form that is not known." in told
    assert "rollout-c.jsonl has no turn in a known form (line 1 is in another one)." in told
    assert "rollout-" not in memory.curate(*RUN)
    (one,) = sessions_in_status(memory)
    assert [Path(path).name for path in one["passed"]] == ["rollout-a.jsonl.zst", "rollout-b.json", "rollout-c.jsonl"]
    assert "no session captured yet; 3 not captured: " in one["says"]
    assert f"Sessions  codex: {one['says']}" in memory.curate("status", *MORNING)
    found = {check["check"]: check for check in memory.json("doctor", *MORNING)["findings"]}
    assert (found["sessions"]["state"], found["sessions"]["says"]) == ("look", f"codex: {one['says']}.")
    monkeypatch.setitem(sys.modules, "zstandard", zstandard)
    memory.curate(*RUN)
    assert "2 not captured" in sessions_in_status(memory)[0]["says"]


def test_status_says_up_to_when_an_agents_sessions_are_captured(memory: Memory, claude: Path) -> None:
    assert sessions_in_status(memory)[0] == {
        "agent": "claude-code", "swept": None, "passed": {},
        "says": "its sessions were not looked at yet; the next run does",
    }  # fmt: skip
    os.utime(transcript(claude / "a.jsonl", FIRST), (time.time() - 3600,) * 2)
    memory.curate("capture", "--sweep")
    transcript(claude / "b.jsonl", SECOND)
    (one,) = sessions_in_status(memory)
    hour = time.strftime("%Y-%m-%d %H:%M", time.localtime((claude / "a.jsonl").stat().st_mtime))
    assert one["says"] == f"captured up to {hour}; 1 to capture"
    assert time.time() - datetime.fromisoformat(one["swept"]).timestamp() < 600


def test_status_says_how_to_read_what_is_older_than_the_installation(memory: Memory, home: Path) -> None:
    os.utime(transcript(made(home / ".claude/projects/-src-shop") / "a.jsonl", FIRST), (time.time() - 9 * 86_400,) * 2)
    memory.curate("install", "claude-code")
    told = "1 older, which `curate capture --from claude-code` reads"
    assert sessions_in_status(memory)[0]["says"] == f"its sessions were not looked at yet; the next run does; {told}"
    memory.curate("capture", "--sweep")
    assert sessions_in_status(memory)[0]["says"] == f"no session captured yet; {told}"
    memory.curate("capture", "--from", "claude-code")
    assert "older" not in sessions_in_status(memory)[0]["says"]


def test_reset_and_deleted_sessions_of_openclaw_are_captured(memory: Memory, home: Path) -> None:
    memory.curate("install", "openclaw")
    folder = made(home / ".openclaw/agents/main/sessions")
    transcript(folder / "a.jsonl.reset.2026-03-17T10-00-00.000Z", opens("a"), claw("Use tabs."))
    transcript(folder / "b.jsonl.deleted.2026-03-17T10-00-00.000Z", opens("b"), claw("Use Redis."))
    (folder / "sessions.json").write_text("{}")
    transcript(folder / "c.trajectory.jsonl", {"traceSchema": "openclaw-trajectory", "type": "session.started"})
    assert "trajectory" not in memory.curate("capture", "--from", "openclaw")
    assert sorted(words_of(memory)) == ["user: Use Redis.", "user: Use tabs."]
    assert sessions_in_status(memory)[0]["passed"] == {}


def test_the_database_of_openclaw_is_read_and_what_was_moved_into_it_counts_once(
    memory: Memory, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.curate("install", "openclaw")
    transcript(made(home / ".openclaw/agents/main/sessions") / "a.jsonl", opens("a"), claw("Use tabs."))
    memory.curate("capture", "--sweep")
    file = made(home / ".openclaw/agents/main/agent") / "openclaw-agent.sqlite"
    database = sqlite3.connect(file)
    database.execute("CREATE TABLE transcript_events(session_id, seq, event_json, created_at, event_zstd)")

    def put(session: str, seq: int, event: dict[str, Any], *, packed: bool = False) -> None:
        text = json.dumps(event, indent=1)
        zstd = zstandard.ZstdCompressor().compress(text.encode())
        row = (session, seq, None if packed else text, int(time.time() * 1000), zstd if packed else None)
        database.execute("INSERT INTO transcript_events VALUES (?, ?, ?, ?, ?)", row)
        database.commit()

    put("a", 0, opens("a"))
    put("a", 1, claw("Use tabs."))
    put("b", 0, opens("b"))
    put("b", 1, claw("Use Redis.", "m2"), packed=True)
    monkeypatch.setitem(sys.modules, "zstandard", None)
    assert "openclaw-agent.sqlite#b is compressed" in memory.curate("capture", "--sweep")
    monkeypatch.setitem(sys.modules, "zstandard", zstandard)
    memory.curate("capture", "--sweep")
    assert words_of(memory) == ["user: Use tabs.", "user: Use Redis."]
    put("b", 2, claw("And Kafka.", "m3"))
    memory.curate("capture", "--sweep")
    assert words_of(memory)[2:] == ["user: And Kafka."]
    assert sessions_in_status(memory)[0]["passed"] == {}
    database.execute("DROP TABLE transcript_events")
    database.commit()
    database.close()
    assert "is a database in a form that is not known" in memory.curate("capture", "--sweep")
    assert not memory.curate("capture", "--sweep").count("database")


def test_only_the_memory_that_an_agent_points_to_is_swept(memory: Memory, claude: Path, tmp_path: Path) -> None:
    transcript(claude / "a.jsonl", FIRST)
    other = memory.aside(tmp_path / "other")
    subprocess.run(["cp", "-r", str(memory.root), str(other.root)], check=True)
    other.curate("capture", "--sweep")
    assert not words_of(other)
    assert sessions_in_status(other) == []
    settings = claude.parents[1] / "settings.json"
    settings.write_text(settings.read_text().replace("capture --hook", "recap --hook"))  # a person took it out
    memory.curate("capture", "--sweep")
    assert not words_of(memory)


def test_the_plugin_counts_as_an_installation(memory: Memory, home: Path) -> None:
    settings = made(home / ".claude") / "settings.json"
    transcript(made(home / ".claude/projects/x") / "a.jsonl", FIRST)
    enabled = {"enabledPlugins": {"memcurate@market": True}}
    settings.write_text(json.dumps(enabled))
    memory.curate("capture", "--sweep")
    assert not words_of(memory)
    options = {"memcurate@market": {"options": {"memory": str(memory.root)}}}
    settings.write_text(json.dumps(enabled | {"pluginConfigs": options}))
    memory.curate("capture", "--sweep")
    assert words_of(memory) == ["user: Which database?"]


THEIRS = """
def paths(memory):
    assert (memory / "curate.toml").is_file()
    return sorted(memory.parent.glob("*.txt"))


def turns(path):
    yield {"type": "session", "id": f"s-{path.stem}", "cwd": "/home/ada/src/harbor"}
    yield {"role": "user", "content": path.read_text().splitlines()[0], "timestamp": "2026-03-17T09:00:00Z"}
"""


def test_another_program_gives_its_sessions_by_an_entry_point(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "one.txt").write_text("Use tabs.\n")
    (tmp_path / "two.txt").write_text("")
    site = made(tmp_path / "site/their_agent-1.0.dist-info")
    (site / "METADATA").write_text("Metadata-Version: 2.1\nName: their-agent\nVersion: 1.0\n")
    (site / "entry_points.txt").write_text("[memcurate.sessions]\ntheir-agent = their_agent\ngone = no_such_module\n")
    (site.parent / "their_agent.py").write_text(THEIRS)
    monkeypatch.syspath_prepend(site.parent)
    told = memory.curate("capture", "--sweep")
    assert f"{tmp_path / 'two.txt'} cannot be read: IndexError: list index out of range." in told
    assert "no_such_module failed: ModuleNotFoundError: No module named 'no_such_module'." in told
    assert "## Session s-one, their-agent, harbor" in log_of(memory)
    assert words_of(memory) == ["user: Use tabs."]
    assert [one["agent"] for one in sessions_in_status(memory)] == ["their-agent", "gone"]
    assert memory.curate("capture", "--sweep") == ""


def test_the_start_of_a_session_sweeps_without_waiting(memory: Memory, claude: Path) -> None:
    transcript(claude / "a.jsonl", FIRST)
    call = [sys.executable, "-m", "pipelines.cli", "context", "--format", "claude-code", "--memory", str(memory.root)]
    event = json.dumps({"session_id": "s", "hook_event_name": "SessionStart", "cwd": str(memory.root)})
    told = subprocess.run(call, input=event.encode(), check=True, capture_output=True)
    assert json.loads(told.stdout)["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    until = time.monotonic() + 60
    while not words_of(memory) and time.monotonic() < until:
        time.sleep(0.05)
    assert words_of(memory) == ["user: Which database?"]
