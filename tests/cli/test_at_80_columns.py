"""What verbs print on a terminal of 80 columns: it fits, no word is broken, and days are written as people say them."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from datetime import date, timedelta
from pathlib import Path

import pytest
from rich.cells import cell_len

from pipelines.cli import VERBS, run_cli
from pipelines.cli.output import wrapped
from pipelines.clock import day_words, span_of
from tests.conftest import Memory, Once

CURATE = Path(sys.executable).with_name("curate")
LOG = """# 2026-03-18

- 09:00 [project: Harbour office] Decision: The port authority's gateway answers within 300 ms, because ships queue.
- 09:05 [project: Harbour office] Fact: Die Hafenverwaltungsgebührenordnung gilt seit April, auch für kleine Boote.
- 09:10 [project: Harbour office] Fact: 予約システムは毎晩二時に停止します。再起動は知らせてください。
- 09:15 Risk: The certificate of the harbour gateway expires on 30 April and nobody owns its renewal.
- 09:20 - [ ] Todo: write to Birgitta about the list of harbour fees and the ones that we waive for the school ferries
"""
LONG = re.compile(r"Hafenverwaltungsgebührenordnung|certificate|gateway|Birgitta|authority's|announcement")


def on_a_terminal(memory: Memory, *arguments: str, columns: int = 80) -> tuple[int, str]:
    """Run a verb as a person would, and return its exit code and what the terminal was sent, without colours."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    if not (child := os.fork()):
        for number in (1, 2):
            os.dup2(theirs, number)
        sys.stdin, sys.stdout, sys.stderr = open(os.devnull), open(1, "w"), open(2, "w")  # noqa: SIM115, PTH123
        os.environ.update(TERM="xterm")
        os.environ.pop("COLUMNS", None)
        os._exit(run_cli([*arguments, "--memory", str(memory.root)]))
    os.close(theirs)
    said = b""
    try:
        while data := os.read(ours, 1 << 16):
            said += data
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return code, re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", said.decode()).replace("\r\n", "\n")


def two_nights(memory: Memory) -> None:
    memory.day("2026-03-18", LOG)
    memory.day("2026-03-19", "- [project: Harbour office] Fact: The announcement board is run by a timer.\n")


@pytest.fixture
def lived(once: Once) -> Memory:
    """Return a memory after two nights, with a superseded item and an entry that waits."""
    return once(two_nights)


def test_verbs_fit(lived: Memory) -> None:
    ident = lived.curate("items").split()[0]
    more = {
        "why": [ident], "history": [ident], "search": ["gateway", "harbour"],
        "recap": ["2026-03"], "capture": ["--from", "codex"],
        "log": ["a line that is rather long, for it tells of " + "Birgitta " * 12],
    }  # fmt: skip
    whole = {word for word in re.findall(r"[a-zA-Zü']+", LOG) if len(word) > 6}
    torn = {word[: len(word) - cut] for word in whole for cut in range(1, 4)} - whole
    for verb in "items runs review why history search recap graph capture status doctor secrets log".split():
        code, said = on_a_terminal(lived, verb, *more.get(verb, []))
        assert code in {0, 1, 2}, said
        assert "\t" not in said
        assert [line for line in said.splitlines() if cell_len(line) > 80] == []
        if verb in {
            "items",
            "search",
            "recap",
            "log",
        }:  # those words are in what it prints, and would be torn at an edge
            assert LONG.search(said)
        assert [line for line in said.splitlines() if line.split()[-1:] and line.split()[-1] in torn] == []


def test_each_help_fits(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for verb in VERBS:
        assert run_cli([verb, "--help"]) == 0
        assert [line for line in capsys.readouterr().out.splitlines() if len(line) > 80] == []


def test_a_pipe_gets_one_whole_row_a_line_with_days_to_compare(lived: Memory) -> None:
    rows = lived.curate("items").splitlines()
    assert len(rows) == len(LOG.split("\n- ")[1:]) + 1
    assert all(re.fullmatch(r"k[0-9a-f]{7} +\w+ +\w+ +2026-03-1[89] +\S+\.md +\S.*", row) for row in rows)
    assert any("within 300 ms, because ships queue" in row for row in rows)
    assert not any("\t" in row for row in rows)


@pytest.mark.parametrize("hang", ["", "    "])
def test_wrapping_loses_nothing(hang: str) -> None:
    for text in (LOG.replace("\n", " "), "  indented " * 20, "", "   ", "x" * 200, "予約" * 90):
        lines = wrapped(text, 40, hang)
        assert "".join("".join(lines).split()) == "".join(text.split())
        assert all(cell_len(line) <= 40 or " " not in line.strip() for line in lines)


TODAY = date(2026, 3, 18)  # a Wednesday


def test_days_are_said_as_people_say_them_and_read_back() -> None:
    said = {ago: day_words(str(TODAY - timedelta(days=ago)), TODAY) for ago in (-1, 0, 1, 2, 6, 7, 77, 78)}
    assert said == {
        -1: "tomorrow", 0: "today", 1: "yesterday", 2: "16 Mar", 6: "12 Mar", 7: "11 Mar",
        77: "31 Dec 2025", 78: "30 Dec 2025",
    }  # fmt: skip
    for ago in range(-1, 800):
        day = str(TODAY - timedelta(days=ago))
        assert span_of(day_words(day, TODAY), str(TODAY)) == (day, day)
    assert day_words("", TODAY) == ""


@pytest.mark.parametrize(
    ("words", "day"),
    [
        ("3 days ago", "2026-03-15"), ("a week ago", "2026-03-11"), ("2 weeks ago", "2026-03-04"),
        ("Monday", "2026-03-16"), ("wednesday", "2026-03-18"), ("last Wednesday", "2026-03-11"),
        ("9 april", "2025-04-09"), ("Mar 2", "2026-03-02"), ("29 Feb 2024", "2024-02-29"),
    ],
)  # fmt: skip
def test_more_words_for_days(words: str, day: str) -> None:
    assert span_of(words, str(TODAY)) == (day, day)


def test_words_for_days_are_read_in_the_memorys_own_day(memory: Memory) -> None:
    memory.write("curate.toml", 'timezone = "Pacific/Kiritimati"\nday_end = "04:00"\n')
    memory.write("Logs/2026-03-18.md", "- Decision: Use brass\n")
    memory.night("2026-03-20T05:00")
    assert "Nothing new as of 2026-03-20" in memory.night("2026-03-20T06:00")
    again = memory.curate("run", "--again", "yesterday", "--dry-run", "--now", "2026-03-20T02:00")  # still the 19th
    assert "There is no log" not in again
    assert "no log for 2026-03-19" in memory.curate("run", "--again", "yesterday", "--now", "2026-03-20T05:00", exits=2)


def test_the_last_day_of_a_week_counts_as_of_it(memory: Memory) -> None:
    memory.day("2026-03-18", "- Decision: Use brass\n")
    assert "Use brass" in memory.curate("items", "--as-of", "2026-03")
    assert "Use brass" not in memory.curate("items", "--as-of", "2026-02")
    assert "“sooon” is not a day. Write 2026-04-09" in memory.curate("items", "--as-of", "sooon", exits=2)


def test_mistakes_are_met_with_the_nearest_names(lived: Memory) -> None:
    ident = lived.curate("items").split()[0]
    run = lived.curate("runs").split()[0]
    assert "Did you mean status?" in lived.curate("sttus", exits=2)
    assert "Did you mean" not in lived.curate("qqqq", exits=2)
    assert f"Did you mean {ident}?" in lived.curate("why", f"{ident[:6]}x{ident[7:]}", exits=1)
    assert "Did you mean harbour-office?" in lived.curate("items", "--document", "harbor-office", exits=2)
    assert "Did you mean harbour-office?" in lived.curate("project", "close", "harbouroffice", exits=2)
    assert f"Did you mean {run}?" in lived.curate("runs", f"{run[:-1]}x", exits=1)


def test_log_says_what_it_wrote_and_where(memory: Memory) -> None:
    for words, line in ((["had", "an idea"], "had an idea"), (["odd  [x]"], "odd [x]")):  # at once, and at leisure
        told = subprocess.run(
            [str(CURATE), "log", *words, "--memory", str(memory.root)], check=True, capture_output=True, text=True
        )
        [log] = (memory.root / "Logs").glob("*.md")
        assert re.fullmatch(rf"Logs/{log.name}: - \d\d:\d\d {re.escape(line)}\n", told.stdout)
        assert told.stdout.partition(": ")[2] in log.read_text()


def test_a_line_is_logged_once_where_nobody_can_be_told(memory: Memory) -> None:
    command = f"'{CURATE}' log once --memory '{memory.root}' >&-"
    subprocess.run(["/bin/sh", "-c", command], check=False, capture_output=True)
    [log] = (memory.root / "Logs").glob("*.md")
    assert log.read_text().count("once") == 1


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("curate stat", {"status"}), ("curate items --docu", {"--document"}),
        ("curate project re", {"rename"}),
    ],
)  # fmt: skip
def test_a_shell_completes(lived: Memory, typed: str, offered: set[str]) -> None:
    assert completed(lived, typed) == offered


def completed(memory: Memory, typed: str) -> set[str]:
    more = {"COMP_WORDS": typed, "COMP_CWORD": str(len(typed.split()) - 1), "_CURATE_COMPLETE": "bash_complete"}
    environment = os.environ | more | {"CURATE_MEMORY": str(memory.root)}
    told = subprocess.run([str(CURATE)], check=True, capture_output=True, text=True, env=environment).stdout
    return {line.partition(",")[2] for line in told.split()}
