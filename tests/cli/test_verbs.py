"""The verbs as a person types them: what they print, what they exit with, what they leave behind."""

import io
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pipelines import __version__
from pipelines.cli import VERBS, run_cli
from pipelines.store.git import Git
from tests.conftest import Memory
from tests.making import plant


def test_help_shows_twelve_verbs_names_the_others_and_hides_what_agents_call(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run_cli(["--help"]) == 0
    told = capsys.readouterr().out
    shown = re.findall(r"(?m)^  (\w+) {2,}\S", told.partition("Verbs:")[2].partition("More:")[0])
    assert shown == "demo init install run status log search add done correct review view".split()
    named = set(re.findall(r"\w+", told.partition("More:")[2]))
    assert VERBS.keys() - named - set(shown) == {"capture", "context", "mcp"}
    for verb in VERBS:
        assert run_cli([verb, "--help"]) == 0
        assert "Usage: curate" in capsys.readouterr().out


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_cli(["--version"]) == 0
    assert __version__ in capsys.readouterr().out


def test_init_lays_down_everything_and_adds_only_what_is_missing(memory: Memory) -> None:
    for path in ("SOUL.md", "USER.md", "AGENTS.md", "MEMORY.md", "Review.md", "curate.toml", ".gitignore"):
        assert (memory.root / path).is_file()
    for folder in ("Projects", "Areas", "Resources", "Archives", "Logs", "Sessions", "State", ".git"):
        assert (memory.root / folder).is_dir()
    told = memory.read("AGENTS.md")
    assert "Search first" in told
    assert "nothing that answers the question, say that you do not know" in " ".join(told.split())
    assert "Write down first what must last" in told
    for label in ("Goal:", "Question:", "How to deploy:", "Contact: Bea Lind"):
        assert f"`{label}" in told
    memory.write("SOUL.md", "mine")
    (memory.root / "USER.md").unlink()
    assert run_cli(["init", str(memory.root)]) == 0
    assert memory.read("SOUL.md") == "mine"
    assert (memory.root / "USER.md").is_file()
    files = memory.files()
    assert run_cli(["init", str(memory.root)]) == 0
    assert memory.files() == files


def test_init_in_a_folder_that_holds_files_keeps_them(tmp_path: Path) -> None:
    plant(tmp_path, "MEMORY.md", "mine, without headings")
    assert run_cli(["init", str(tmp_path)]) == 0
    assert (tmp_path / "MEMORY.md").read_text() == "mine, without headings"


def test_init_elsewhere_says_how_to_use_the_memory_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_cli(["init", "a b"]) == 0
    assert f"export CURATE_MEMORY='{tmp_path / 'a b'}'\n" in capsys.readouterr().out
    assert Git(tmp_path / "a b").run("log", "--format=%s").strip() == b"Create the memory"
    (tmp_path / "own").mkdir()
    monkeypatch.chdir(tmp_path / "own")
    assert run_cli(["init"]) == 0
    assert "CURATE_MEMORY" not in capsys.readouterr().out


def test_a_group_without_a_verb_prints_its_help_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_cli(["project"]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("Usage: curate project [OPTIONS]")
    assert captured.out == ""


def test_text_may_begin_with_a_dash_whatever_letters_it_has(memory: Memory) -> None:
    now = ("--now", "2026-03-18T09:05")
    memory.curate("log", "- Fact: The gateway has port 80", *now)
    memory.curate("log", "-5 degrees in the hall", *now)
    memory.curate("log", "* [ ] heat it", "--project", "House", *now)
    assert memory.read("Logs/2026-03-18.md").splitlines()[2:] == [
        "- 09:05 Fact: The gateway has port 80",
        "- 09:05 -5 degrees in the hall",
        "- 09:05 [project: House] [ ] heat it",
    ]
    memory.curate("add", "Todo", "- call her", *now)
    assert "call her" in memory.curate("search", "- call her")


def test_log_reads_standard_input(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("über\nzwei Zeilen\n".encode())))
    memory.curate("log", "-", "--now", "2026-03-18T09:05")
    assert "- 09:05 über zwei Zeilen\n" in memory.read("Logs/2026-03-18.md")


def test_lines_with_a_label_each_are_entries_each(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    said = b"We met.\n- **Decision:** Oak\n  it is\n\nTodo: Ask Mara\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(said)))
    memory.curate("log", "-", "--project", "Shop", "--now", "2026-03-18T09:05")
    assert memory.read("Logs/2026-03-18.md").splitlines()[2:] == [
        "- 09:05 [project: Shop] We met.",
        "- 09:05 [project: Shop] **Decision:** Oak it is",
        "- 09:05 [project: Shop] Todo: Ask Mara",
    ]


@pytest.mark.parametrize("verb", [("log",), ("add", "fact")])
def test_a_new_project_is_begun_and_said_and_hinted_at_if_nearly_another(memory: Memory, verb: tuple[str, ...]) -> None:
    memory.write("Projects/tidewater.md", "---\naliases: [Old Sluice]\n---\n# Tidewater Mill\n")
    for named in ("Tidewater", "tidewater mill", "Old Sluice", "Tidewatr", "Blue Kiln"):
        said = memory.curate(*verb, f"The gate of {named} is open", "--project", named)
        assert said.count("Did you mean tidewater?") == (named == "Tidewatr")
        assert said.count(f"{named} is a new project.") == (named in {"Tidewatr", "Blue Kiln"})
    memory.curate("log", "Fact: it is brick", "--project", "Blue Kiln")
    memory.curate("run")
    assert "title: Blue Kiln\n" in memory.read("Projects/blue-kiln.md")
    assert "There is no document Areas/kiln" in memory.curate("add", "fact", "x", "--document", "Areas/kiln", exits=2)


def test_a_path_means_the_page_that_is_there_and_begins_no_project(memory: Memory) -> None:
    memory.write("Projects/tidewater.md", "# Tidewater Mill\n")
    for named in ("Projects/tidewater", "projects/Tidewater.md", "tidewater.md"):
        assert "[project: tidewater] x" in memory.curate("log", "x", "--project", named)
    said = memory.curate("log", "x", "--project", "Projects/tidewatr", exits=2)
    assert "There is no document Projects/tidewatr. Did you mean Projects/tidewater?" in said
    memory.curate("run")
    assert [path for path in memory.files() if path.startswith("Projects/")] == ["Projects/tidewater.md"]


def test_a_sentence_is_no_essay(memory: Memory) -> None:
    assert "at most 1,200 characters" in memory.curate("add", "fact", "so " * 600, exits=2)
    assert "has 100,000" in memory.curate("add", "fact", "x" * 100_000, exits=2)
    ident = memory.curate("add", "fact", "x" * 1_200).split()[1]
    assert "at most" in memory.curate("correct", ident, "x" * 1_201, exits=2)


def test_log_mends_a_last_line_without_an_end(memory: Memory) -> None:
    memory.write("Logs/2026-03-18.md", "- an agent wrote this")
    memory.curate("log", "and this", "--now", "2026-03-18T09:05")
    assert memory.read("Logs/2026-03-18.md") == "- an agent wrote this\n- 09:05 and this\n"


def test_the_night_before_the_end_of_the_day_belongs_to_the_day_before(memory: Memory) -> None:
    memory.write("curate.toml", 'timezone = "Europe/Zurich"\nday_end = "04:00"\n')
    memory.curate("log", "late", "--now", "2026-03-19T01:30")
    memory.curate("log", "utc", "--now", "2026-03-19T03:30+00:00")
    assert "- 01:30 late" in memory.read("Logs/2026-03-18.md")
    assert "- 04:30 utc" in memory.read("Logs/2026-03-19.md")


@pytest.mark.parametrize("count", [5, pytest.param(50, marks=pytest.mark.torture)])
def test_processes_at_once_write_whole_lines(memory: Memory, count: int) -> None:
    curate = Path(sys.executable).with_name("curate")
    base = [str(curate), "log", "--memory", str(memory.root), "--now", "2026-03-18T09:05"]

    def one(number: int) -> int:
        return subprocess.run([*base, f"line {number} {'x' * 200}"], check=False, env={**os.environ}).returncode

    with ThreadPoolExecutor(count) as pool:
        assert set(pool.map(one, range(count))) == {0}
    lines = memory.read("Logs/2026-03-18.md").splitlines()
    assert lines[:2] == ["# 2026-03-18", ""]
    assert sorted(lines[2:]) == sorted(f"- 09:05 line {n} {'x' * 200}" for n in range(count))


def test_run_prints_one_line_for_cron_and_json_for_scripts(memory: Memory) -> None:
    memory.write("Logs/2026-03-18.md", "- Decision: Use SQLite\n- [ ] Todo: buy milk\n")
    report = memory.json("run", "--now", "2026-03-19T02:00")
    assert report["commit"] == memory.git("rev-parse", "HEAD").strip()
    assert report["entries"] == {"read": 2, "pending": 0, "left": 0}
    assert report["model"]["calls"] == 0
    told = memory.night("2026-03-19T02:00")
    assert told == "Nothing new as of 2026-03-19.\n"


def test_items_are_listed_with_their_evidence_and_filtered(memory: Memory) -> None:
    memory.day("2026-03-18", "# Day\n\n- 09:00 Decision: Use SQLite\n- Todo: buy milk\n")
    memory.day("2026-03-19", "- [x] buy milk\n")
    items = memory.json("items")
    by_type = {item["type"]: item for item in items}
    assert by_type["Decision"]["evidence"] == [
        {"path": "Logs/2026-03-18.md", "start_line": 3, "end_line": 3, "quote": "- 09:00 Decision: Use SQLite"}
    ]
    assert by_type["Todo"]["status"] == "done"
    assert [item["text"] for item in memory.json("items", "--status", "done")] == ["buy milk"]
    assert [item["text"] for item in memory.json("items", "--type", "decision")] == ["Use SQLite"]
    assert len(memory.json("items", "--document", "general")) == 2
    memory.curate("items", "--document", "nowhere", exits=2)


def test_evidence_never_leads_out_of_the_memory(memory: Memory) -> None:
    memory.write("../secret.md", "top secret\n")
    line = "- Fact: x <!-- k1111111111 since=2026-01-01 from=../secret.md#L1~2bb80d53 -->\n"
    memory.write("Areas/a.md", line)
    [item] = memory.json("items")
    assert item["evidence"][0]["quote"] is None


@pytest.mark.parametrize("order", [["--memory", "{}", "items"], ["items", "--memory", "{}"]])
def test_the_memory_is_named_before_or_after_the_verb(memory: Memory, order: list[str]) -> None:
    assert run_cli([word.format(memory.root) for word in order]) == 0


def test_the_memory_is_named_by_the_environment_or_the_folder(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(memory.root / "Areas")
    assert run_cli(["items"]) == 0
    monkeypatch.chdir("/")
    assert run_cli(["items"]) == 2
    monkeypatch.setenv("CURATE_MEMORY", str(memory.root))
    assert run_cli(["items"]) == 0


def test_an_unknown_verb_and_a_bad_time_are_usage_faults(memory: Memory) -> None:
    assert run_cli(["frobnicate"]) == 2
    assert "is not an ISO 8601 time" in memory.night("yesterday", exits=2)
    assert "nothing to log" in memory.curate("log", "  ", exits=2)


def test_a_bug_prints_a_report_without_the_memorys_text(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("pipelines.cli.items_commands.read_documents", broken)
    told = memory.curate("items", exits=3)
    assert "ZeroDivisionError" in told
    assert "paste" in told
    assert str(memory.root) not in told.split("```")[0]


def test_an_interrupt_exits_130(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("pipelines.cli.items_commands.read_documents", interrupted)
    memory.curate("items", exits=130)


@pytest.mark.parametrize(
    ("label", "value", "goes"),
    [
        ("password:", "FourGluedWords", True),
        ("the **Passwort:**", "ApfelBirneKirsche", True),
        ("password:", "resetPasswordForm", False),
        ("onePasswordHandlers:", "GatewayRequestHandlers = {", False),
        ("password:", "TextEditingController()", False),
    ],
)
def test_words_that_are_glued_together_are_a_password_where_a_label_says_so(
    memory: Memory, label: str, value: str, *, goes: bool
) -> None:
    assert (value not in memory.curate("log", f"Fact: {label} {value}")) is goes
