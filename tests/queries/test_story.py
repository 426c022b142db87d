"""The example in docs/memory.md is what the commands print: lived through once, and compared line by line."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from pipelines.cli import run_cli
from tests.conftest import Memory

DOCS = Path(__file__).parents[2] / "docs" / "memory.md"
SAID = (
    ("user", "Where do the readings go?", "14:02:00"),
    ("assistant", "Decision: Readings go into InfluxDB, because they are time series.", "14:03:10"),
)
LATER = "# 2026-02-20\n\n- 11:15 [project: kestrel] Fact: The reports read whole years of readings at once.\n"
COMMIT = re.compile(r"(?<=commit )[0-9a-f]{10}|(?<=T020000-)[0-9a-f]{6}")
"""A commit's id follows from every byte of the memory, those of `curate init` included; so does the end of a run's."""
COLUMNS = re.compile(r"(?<=\S)(?:\t| {2,})")
"""Tables have tabs for programs, and columns on a terminal."""
PROJECT = "Projects/kestrel.md"
OLD, NEW, WHY = "k2c6f2f8c85", "k0a1adb04ff", "kc0b7a47093"


def shown() -> list[tuple[str, list[str]]]:
    """Return the commands of the example with the lines that they print."""
    example = DOCS.read_text(encoding="utf-8").partition("### An example")[2].partition("\n### ")[0]
    found: list[tuple[str, list[str]]] = []
    for block in re.findall(r"```\n(.*?)```", example, re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            elif line:
                found[-1][1].append(line)
    return found


@pytest.fixture(name="lived")
def mara(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Memory:
    """Return a memory that the agent chose a database in, and in which Mara corrected it by hand."""
    root = tmp_path / "memory"
    assert run_cli(["init", str(root), "--now", "2026-02-01T12:00"]) == 0
    memory = Memory(root, capsys)
    memory.git("config", "user.name", "Mara Voss")
    memory.git("config", "user.email", "mara@example.org")
    records = [
        {
            "type": role, "sessionId": "5d1e88c4-10", "timestamp": f"2026-02-09T{time}Z", "cwd": "/home/mara/kestrel",
            "message": {"role": role, "content": text},
        }
        for role, text, time in SAID
    ]  # fmt: skip
    (tmp_path / "session.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in records))
    memory.curate("capture", str(tmp_path / "session.jsonl"), "--now", "2026-02-09T20:00")
    memory.curate("run", "--now", "2026-02-10T02:00")
    memory.write("Logs/2026-02-20.md", LATER)
    memory.curate("run", "--now", "2026-02-21T02:00")
    new_text = "Readings go into PostgreSQL 17, one table a year."
    memory.curate("add", "Decision", new_text, "--document", "kestrel", "--now", "2026-03-02T18:00")
    text = memory.read(PROJECT)
    old = next(line for line in text.splitlines() if OLD in line)
    struck = old.replace("- Decision", "- ~~Decision").replace(" <!--", "~~ <!--")
    struck = struck.replace("since=2026-02-09", f"since=2026-02-09 until=2026-03-02 superseded-by={NEW}")
    new = next(line for line in text.splitlines() if NEW in line)
    linked = new.replace(" -->", f" because={WHY} supersedes={OLD} -->")
    memory.write(PROJECT, text.replace(old, struck).replace(new, linked))
    memory.curate("run", "--now", "2026-03-03T02:00")
    return memory


def plain(line: str) -> str:
    return COLUMNS.sub("  ", COMMIT.sub("#", line))


def test_the_example_is_what_the_commands_print(lived: Memory) -> None:
    example = shown()
    assert len(example) == 3
    for command, lines in example:
        printed = [plain(line) for line in lived.curate(*shlex.split(command)[1:]).splitlines() if line]
        assert printed == [plain(line) for line in lines], command
