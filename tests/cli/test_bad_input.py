"""Bad input: each kind gets one clear sentence and its exit code, and nothing is lost or half written."""

import os
import resource
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from pipelines.cli import run_cli
from tests.conftest import Memory
from tests.forking import forked

NOW = ("--now", "2026-03-19T02:00")
GOOD = "- Decision: Use SQLite\n"


def test_a_log_in_utf16_waits_and_zeros_in_one_in_utf8_cost_nothing(memory: Memory) -> None:
    for day, encoding in ((16, "utf-16"), (17, "utf-16-le"), (18, "utf-16-be")):
        (memory.root / f"Logs/2026-03-{day}.md").write_bytes(GOOD.encode(encoding))
    (memory.root / "Logs/2026-03-19.md").write_bytes(bytes(64) + b"\n- Decision: Use \0Redis\n")
    told = memory.night("2026-03-19T23:00", exits=1)
    assert "Logs/2026-03-16.md is not UTF-8 at byte 0; its entries stay pending." in told
    assert told.count("is UTF-16, not UTF-8; its entries stay pending.") == 2
    assert [one["text"] for one in memory.json("items")] == ["Use Redis"]


def test_what_powershell_appended_in_utf16_is_read_with_the_rest(memory: Memory) -> None:
    glued = "- Decision: Two is PowerShell.\r\n".encode("utf-16-le")
    path = memory.root / "Logs/2026-03-18.md"
    path.write_bytes(b"# 2026-03-18\n\n- Decision: One is before.\n" + glued + b"- Decision: Three.\n")
    memory.curate("run", *NOW)
    texts = [one["text"] for one in memory.json("items")]
    assert texts == ["One is before.", "Two is PowerShell.", "Three."]
    assert b"\0" not in path.read_bytes()
    memory.curate("check")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_log_that_cannot_be_read_is_named(memory: Memory) -> None:
    memory.write("Logs/2026-03-17.md", GOOD)
    memory.write("Logs/2026-03-18.md", GOOD).chmod(0)
    assert "Logs/2026-03-18.md cannot be read" in memory.curate("run", *NOW, exits=1)


def test_empty_and_oddly_named_logs(memory: Memory) -> None:
    memory.write("Logs/2026-03-17.md", "")
    memory.write("Logs/notes.md", GOOD)
    memory.write("Logs/2026-02-30.md", GOOD)
    memory.write("Logs/2026-03-18.MD", GOOD)
    told = memory.curate("run", *NOW)
    for name in ("notes.md", "2026-02-30.md", "2026-03-18.MD"):
        assert f"Logs/{name} is not named after a day" in told
    assert memory.json("items") == []


def test_a_line_of_a_megabyte_costs_itself_alone(memory: Memory) -> None:
    huge = f"- 09:00 Decision: {'nothing of note ' * 65_000}\n"
    memory.write("Logs/2026-03-18.md", f"- 08:59 Rule: never push on Fridays\n{huge}{GOOD}")
    memory.curate("run", *NOW)
    found = [item["text"] for item in memory.json("items")]
    assert {"never push on Fridays", "Use SQLite"} <= set(found)
    assert all(len(text) < 2000 for text in found)
    assert memory.read("Logs/2026-03-18.md").count(huge) == 1


@pytest.mark.parametrize(
    "text", ["", "no headings at all", "# M", "\n\n\n", "---\ntitle: never closed\n\nmine\n", "```\nopen fence\n"]
)
def test_a_briefing_of_any_shape_keeps_its_bytes_and_takes_items(memory: Memory, text: str) -> None:
    memory.write("MEMORY.md", text)
    memory.write("Logs/2026-03-18.md", "- Rule: never push on Fridays\n")
    memory.curate("run", *NOW)
    assert memory.read("MEMORY.md").startswith(text.rstrip("\n"))
    [item] = memory.json("items")
    assert item["text"] == "never push on Fridays"


def test_broken_front_matter_is_named_and_the_document_still_used(memory: Memory) -> None:
    broken = "---\ntitle: Alpha\nthis is no yaml\n---\n# Alpha\n"
    memory.write("Projects/alpha.md", broken)
    memory.write("Logs/2026-03-18.md", "project: Alpha\n\n- Decision: Use SQLite\n")
    told = memory.curate("run", *NOW)
    assert "Projects/alpha.md line 3" in told
    assert memory.read("Projects/alpha.md").startswith(broken)
    assert "Use SQLite" in memory.read("Projects/alpha.md")


def test_a_document_that_is_not_utf8_is_left_alone(memory: Memory) -> None:
    (memory.root / "MEMORY.md").write_bytes(b"\xff mine")
    (memory.root / "Projects/alpha.md").write_bytes(b"\xfe mine")
    memory.write("Logs/2026-03-18.md", "project: Alpha\n\n- Decision: Use SQLite\n- Rule: never push on Fridays\n")
    told = memory.curate("run", *NOW, exits=1)
    assert "MEMORY.md is not UTF-8 at byte 0; it was left alone." in told
    assert (memory.root / "MEMORY.md").read_bytes() == b"\xff mine"
    assert (memory.root / "Projects/alpha.md").read_bytes() == b"\xfe mine"
    assert len(memory.json("items")) == 2


def test_all_faults_of_the_settings_are_named_at_once(memory: Memory) -> None:
    faulty = 'timezone = "Mars/Olympus"\nday_end = "25:00"\n'
    faulty += "[caps]\nbriefing = 12\n"
    memory.write("curate.toml", faulty)
    told = memory.curate("run", *NOW, exits=1)
    assert "3 faults" in told
    for part in (
        "timezone: not a known",
        "day_end: not a time",
        "caps.briefing: it should",
    ):
        assert part in told
    memory.write("curate.toml", "timezone = \n")
    assert "not TOML" in memory.curate("status", exits=1)


def test_not_a_git_repository(memory: Memory) -> None:
    shutil.rmtree(memory.root / ".git")
    memory.write("Logs/2026-03-18.md", GOOD)
    before = memory.files()
    told = memory.curate("run", *NOW, exits=1)
    assert "is not a git repository. `curate init" in told
    assert memory.files() == before


def test_no_git_at_all(memory: Memory, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "env").symlink_to(shutil.which("env") or "/usr/bin/env")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert "`git` was not found" in memory.curate("run", *NOW, exits=1)


def full_disk(memory: Memory, *arguments: str, limit: int) -> subprocess.CompletedProcess[str]:
    """Run curate under a limit on the size of any file: the kernel then refuses writes as a full disk does."""

    def begin() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return forked(*arguments, "--memory", str(memory.root), first=begin)


def test_a_log_line_that_does_not_fit_is_not_half_written(memory: Memory) -> None:
    memory.write("Logs/2026-03-19.md", "- 01:00 before\n")
    told = full_disk(memory, "log", "x" * 4000, *NOW, limit=1024)
    assert told.returncode == 1, told.stderr
    assert memory.read("Logs/2026-03-19.md") == "- 01:00 before\n"


def test_a_folder_of_the_layout_that_is_a_link_is_not_written_through(memory: Memory, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (memory.root / "Areas").rmdir()
    (memory.root / "Areas").symlink_to(outside)
    memory.write("Logs/2026-03-18.md", GOOD)
    told = memory.curate("run", *NOW, exits=1)
    assert "symbolic link" in told
    assert list(outside.iterdir()) == []


def test_no_memory_where_one_was_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for verb in (
        ["run"],
        ["status"],
        ["items"],
        ["log", "x"],
        ["search", "x"],
        ["index"],
        ["context"],
        ["add", "Fact", "x"],
    ):
        assert run_cli([*verb, "--memory", str(tmp_path)]) == 2
        assert "There is no memory at" in capsys.readouterr().err


def test_init_where_a_file_stands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("x")
    assert run_cli(["init", str(tmp_path / "file")]) == 1
    assert "is not a folder" in capsys.readouterr().err


@pytest.mark.parametrize("verb", [("log",), ("add", "Fact"), ("search",), ("context", "--project")])
def test_an_argument_that_is_not_utf8_is_refused_in_one_sentence(memory: Memory, verb: tuple[str, ...]) -> None:
    before = memory.files()
    told = forked(*verb, os.fsdecode(b"The caf\xe9 opens"), cwd=memory.root)
    assert (told.returncode, told.stdout) == (2, "")
    assert "The argument “The caf\\udce9 opens” is not UTF-8." in told.stderr
    assert memory.files() == before


def test_a_memory_in_a_folder_that_is_not_utf8_is_refused_in_one_sentence(memory: Memory, tmp_path: Path) -> None:
    odd = tmp_path / os.fsdecode(b"caf\xe9")
    shutil.copytree(memory.root, odd)
    for verb in (("log", "hello"), ("run",), ("context",), ("init",)):
        told = forked(*verb, cwd=odd)
        assert told.returncode == 1, told.stderr
        assert "is not UTF-8. Rename the folder." in told.stderr


def test_an_identity_of_git_and_a_name_in_state_that_are_not_utf8_stop_nothing(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "gitconfig"
    config.write_bytes(b"[user]\n\tname = Ren\xe9\n\temail = rene@example.org\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    memory.write("Logs/2026-03-17.md", GOOD)
    memory.curate("run", *NOW)
    assert "Added" in memory.curate("add", "Fact", "The office is in Bern", *NOW)
    assert "Ren\ufffd" in memory.git("log", "-1", "--format=%an")
    (memory.root / "State" / os.fsdecode(b"caf\xe9.jsonl")).write_bytes(b"x")
    memory.curate("check")
