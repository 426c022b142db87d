"""Measure what a session waits for: `curate context`, `log` and `mcp` as whole processes, on a memory of five years.

usage: python -m benchmarks.startup [--years N] [--times N] [--units N]... [--beside COMMAND]...

So is `curate search`, on memories of so many units (10,000 and 100,000) as benchmarks/speed.py makes them: by words
alone, and by words and meaning where the local model is here. `curate capture --sweep` finds nothing new, without an
agent and beside 2,000 old sessions of Claude Code.

The memory has a log a day, two projects and documents as runs leave them; lines are logged in a memory beside it.
`curate mcp` is measured from its start until it has listed its tools and its client has gone. Each command is started
in turn, so that a machine that is busier at one moment than at another tells no difference; COMMAND is any other
program's, measured in the same way (a peer's command that a session start runs, for one). Printed is a table: processor
time as the median of all starts, its ratio to `python -c pass` of the same interpreter, and the time on the wall.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import date, timedelta
from pathlib import Path

from benchmarks import speed
from benchmarks.speed import Made
from pipelines.cli import run_cli
from pipelines.search.build import rebuild_index
from pipelines.search.embed import embed_index

BARE = "python -c pass"
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "benchmark", "version": "1"}}
ASKED = [
    {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HELLO},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
]
"""What a client of the Model Context Protocol says before it knows the tools."""


TEXT = "Decision: the cache lives in SQLite, for it needs no server"
LONG = "moved the check to tests/test_night_with_models.py"
SESSIONS, OLD = 2_000, 1_700_000_000
WORD = "the token budget is: too small for weekly_summary_episodes"


def make_memory(root: Path, years: float) -> None:
    """Lay down a memory with a log for each day up to today, and curate it once."""
    chance = random.Random(3)
    run_cli(["init", str(root)])
    things = "cache queue parser login export report mailer backup search index deploy schema".split()
    for number in range(int(365 * years)):
        day = date.today() - timedelta(days=number)  # noqa: DTZ011  whichever day the machine has
        lines = [f"- {hour:02d}:15 worked on the {chance.choice(things)}" for hour in range(8, 18)]
        lines += [
            f"- Decision: [project: {chance.choice(('Kestrel', 'Ledger'))}] the {chance.choice(things)} is {number}"
        ]
        (root / f"Logs/{day}.md").write_text(f"# {day}\n\n" + "\n".join(lines) + "\n")
    run_cli(["run", "--memory", str(root)])


def cost(command: list[str], folder: Path) -> tuple[float, float]:
    """Return the processor time and the time on the wall of one start, in milliseconds; a server is asked for tools."""
    said = "".join(json.dumps(one) + "\n" for one in ASKED).encode() if "mcp" in command else b""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, cwd=folder, check=False, input=said, capture_output=True)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime), 1000 * wall


def searches(folder: Path, curate: str, units: int) -> dict[str, list[str]]:
    """Make a memory of so many units, and return the commands that search it cold."""
    root, embedder, told = folder / str(units), Made(384), {}
    speed.make_memory(root, units)
    rebuild_index(root)
    words = ["search", "w00120 w00345 w02222", "--memory"]
    if embedder.is_local:
        embed_index(root, embedder)
        told[f"curate search, words and meaning, {units:,} units"] = [curate, *words, str(root)]
    aside = folder / f"{units}-words"
    shutil.copytree(root, aside)
    (aside / ".curate/vectors.json").unlink(missing_ok=True)
    run_cli([*words, str(aside)])  # a copy's files have other times: the index notes them once
    return told | {f"curate search, words alone, {units:,} units": [curate, *words, str(aside)]}


def sweeps(folder: Path, curate: str) -> dict[str, list[str]]:
    """Make a home without an agent and one with many old sessions, and return the commands that sweep them."""
    told = {}
    for name, count in (("no agent", 0), (f"{SESSIONS:,} old sessions", SESSIONS)):
        home, root = folder / f"home-{count}", folder / f"swept-{count}"
        run = ["env", f"HOME={home}", f"XDG_CONFIG_HOME={home}/.config", curate]
        home.mkdir()
        subprocess.run([*run, "init", str(root)], check=True, capture_output=True)
        for number in range(count):
            path = home / f".claude/projects/-home-ada-src-p{number % 40}/{number:08d}.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text('{"type": "user", "message": {"role": "user", "content": "Hello"}}\n' * 20)
            os.utime(path, (OLD, OLD))
        if count:
            install = ["install", "claude-code", "--memory", str(root)]
            subprocess.run([*run, *install], check=True, capture_output=True)
        told[f"curate capture --sweep, {name}"] = [*run, "capture", "--sweep", "--memory", str(root)]
    return told


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--years", type=float, default=5.0)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--units", action="append", default=[], type=int, metavar="N")
    parser.add_argument("--beside", action="append", default=[], metavar="COMMAND")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root, aside = Path(folder, "memory"), Path(folder, "aside")
        with open(os.devnull, "w") as nowhere:  # noqa: PTH123  what the set-up says is not asked for
            sys.stdout, told = nowhere, sys.stdout
            make_memory(root, asked.years)
            run_cli(["init", str(aside)])
            curate, asking = str(Path(sys.executable).with_name("curate")), dict[str, list[str]]()
            for units in asked.units or [10_000, 100_000]:
                asking |= searches(Path(folder), curate, units)
            asking |= sweeps(Path(folder), curate)
            sys.stdout = told
        here = ["--memory", str(root)]
        there = ["--memory", str(aside)]
        commands = {
            BARE: [sys.executable, "-c", "pass"],
            "curate context": [curate, "context", *here],
            "curate --memory DIR context": [curate, *here, "context"],
            "curate context --format claude-code": [curate, "context", *here, "--format", "claude-code"],
            "curate mcp, until its tools are listed": [curate, "mcp", *here],
            "curate log TEXT": [curate, "log", TEXT, *there],
            "curate --memory DIR log TEXT": [curate, *there, "log", TEXT],
            "curate log TEXT, with a long name": [curate, "log", LONG, *there],
            "curate log TEXT, with a secret's word": [curate, "log", WORD, *there],
        }
        commands |= asking
        commands |= {one: shlex.split(one) for one in asked.beside}
        times: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
        for number in range(asked.times + 3):
            for name, command in commands.items():
                one = cost(command, root)
                times[name] += [one] if number >= 3 else []  # noqa: PLR2004  the first ones warm the disk's cache up
    bare = statistics.median(cpu for cpu, _ in times[BARE])
    print(f"| command | processor ms | × {BARE} | wall ms |\n|---|---:|---:|---:|")
    for name, spent in times.items():
        cpu, wall = statistics.median(cpu for cpu, _ in spent), statistics.median(wall for _, wall in spent)
        print(f"| {name} | {cpu:.1f} | {cpu / bare:.2f} | {wall:.1f} |")


if __name__ == "__main__":
    main()
