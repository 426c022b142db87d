"""Print what whole nights write and what verbs say, so that two versions can be compared byte for byte.

usage: python -m benchmarks.snapshots OUT [--data DIR]

Each scenario lives through its nights by the command line alone, in a fresh memory with fixed moments, and leaves one
file in OUT: all that was printed, then every commit's tree and message, then the bytes of every tracked file. Run it
with both versions, and `diff -r` the two folders. DIR holds folders with Logs/, each curated in one night and again in
nights of thirty days; without it the scenarios are those that need nothing but the sample week.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

CURATE = Path(sys.executable).with_name("curate")
WEEK = Path(__file__).resolve().parent.parent / "examples/sample_week/Logs"
NIGHTLY = 30
# It reads every labelled line as an item, and links and verifies nothing.
MODEL = """
import json, re, sys
told = json.load(sys.stdin)
items = []
for number, line in re.findall(r"^ *(\\d+)[:|] ?(.*)$", told["user"], re.M) if told["task"] == "extract" else []:
    found = re.search(r"(Decision|Fact|Rule|Todo|Risk): (.{8,400})", line)
    if found:
        items.append({"type": found[1], "text": found[2].strip(), "lines": [[int(number), int(number)]]})
print(json.dumps({"items": items} if told["task"] == "extract" else {}))
"""


class Life:
    """One memory and the record of what became of it.

    Args:
        home: a folder of its own: the home directory, with the memory below it.
        config: the user's settings, as TOML.
    """

    def __init__(self, home: Path, config: str = 'providers = ["rules"]\n') -> None:
        self.home, self.root = home, home / "memory"
        self.said: list[str] = []
        home.mkdir(parents=True)
        (home / "config.toml").write_text(config)

    def run(self, *arguments: object, root: Path | None = None) -> str:
        """Run one command of `curate` and record what it printed."""
        memory = root or self.root
        words = [str(word) for word in arguments]
        environment = {key: value for key, value in os.environ.items() if not key.endswith("_API_KEY")}
        environment |= {"HOME": str(self.home), "TZ": "UTC", "LC_ALL": "C.UTF-8", "COLUMNS": "80"}
        environment |= {"CURATE_CONFIG": str(self.home / "config.toml"), "CURATE_MEMORY": str(memory)}
        environment |= {"XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache"))}
        done = subprocess.run(
            [CURATE, *words], env=environment, capture_output=True, text=True, cwd=self.home, check=False
        )
        told = f"$ curate {' '.join(words)}\n{done.stdout}{done.stderr}exit {done.returncode}\n"
        self.said.append(_steady(told.replace(str(self.home), "HOME")))
        return done.stdout

    def record(self, *roots: Path) -> str:
        """Return all that was printed, and what each memory came to: commits and files."""
        parts = list(self.said)
        for root in roots or (self.root,):
            log = _git(root, "log", "--all", "--topo-order", "--format=%T %an %s%n%b")
            parts.append(f"=== commits of {root.name}\n{_steady(log)}")
            for name in _git(root, "ls-files", "-z").split("\0"):
                file = root / name
                if name and file.is_file():
                    parts.append(f"=== {root.name}/{name}\n{file.read_bytes().decode(errors='backslashreplace')}")
        return "\n".join(parts)


def _steady(text: str) -> str:
    """Take out what no two runs share: durations, and the keys of replies, which hang on where the program lies."""
    text = re.sub(r"\b[0-9a-f]{32}\b", "KEY", text)
    text = re.sub(r'("(?:capture|extract|review|promote|prune|reindex|embed|commit|seconds)": )[\d.]+', r"\1T", text)
    return re.sub(r"\b\d+(?:\.\d+)? ?m?s\b", "T", text)


def _git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=root, check=True, capture_output=True)  # noqa: S607  as a person runs it
    return done.stdout.decode(errors="replace")


def _night(day: str, hour: str = "23:30") -> tuple[str, str]:
    return "--now", f"{day}T{hour}"


def _begun(life: Life, logs: Path) -> list[str]:
    """Lay a memory down and return the days of the logs that are to come into it."""
    days = sorted(file.stem for file in logs.glob("*.md"))
    life.run("init", life.root, *_night(days[0], "08:00"))
    return days


def _live(life: Life, logs: Path, *, each: int) -> None:
    days = _begun(life, logs)
    for at in range(0, len(days), each):
        for day in days[at : at + each]:
            shutil.copy(logs / f"{day}.md", life.root / "Logs")
        life.run("run", "--json", *_night(days[min(at + each, len(days)) - 1]))


def _ids(life: Life, root: Path | None = None) -> list[str]:
    return [one["id"] for one in json.loads(life.run("items", "--json", root=root))]


def sample_week(life: Life) -> str:
    """Seven nights, every verb by hand, every question."""
    _live(life, WEEK, each=1)
    ids, day = _ids(life), ("--now", "2026-03-17T09:00")
    life.run("add", "rule", "Never deploy on a Friday.", *day)
    life.run("pin", ids[0], *day)
    life.run("move", ids[1], "saltmarsh", *day)
    (life.root / "Projects" / "lighthouse.md").write_text("# Lighthouse\n")
    life.run("forget", ids[2], "--yes", *day)
    for waits in json.loads(life.run("review", "--json", *day)):
        life.run("review", waits["id"], "--accept", *day)
    life.run("log", "Decision: Use blue paint, not red.", "--project", "Lighthouse", "--now", "2026-03-17T10:00")
    review = life.root / "USER.md"
    review.write_text(review.read_text() + "\n- Fact: The owner drinks tea.\n")
    life.run("run", "--now", "2026-03-18T02:00")
    life.run("run", "--now", "2026-03-18T02:00")
    for ident in _ids(life)[:6]:
        life.run("why", ident)
        life.run("why", ident, "--json")
    for words in ("why did the site move from Jekyll", "deploy", "risk of losing data"):
        life.run("search", words)
        life.run("search", words, "--json")
    for kind in ("text", "json", "claude-code"):
        life.run("context", "--format", kind, "--now", "2026-03-18T09:00")
    for line in ("runs --json", "check --json", "items", "review"):
        life.run(*line.split())
    life.run("status", "--json", "--now", "2026-03-18T09:00")
    return life.record()


def with_a_model(life: Life) -> str:
    """Three nights read by a program, then taken back."""
    program = life.home / "model.py"
    program.write_text(MODEL)
    (life.home / "config.toml").write_text(f'providers = ["exec:{sys.executable} {program}"]\n')
    _live(life, WEEK, each=3)
    runs = [one["run"] for one in json.loads(life.run("runs", "--json"))]
    for run in runs:
        life.run("runs", run)
    life.run("run", "--again", "2026-03-10", "--now", "2026-03-17T03:00")
    for _ in range(2):
        life.run("undo", "--dry-run", "--now", "2026-03-17T09:00")
        life.run("undo", "--now", "2026-03-17T09:00")
    life.run("run", "--now", "2026-03-18T02:00")
    return life.record()


def synced_pair(life: Life) -> str:
    """Two machines that share one remote, and both write on the same days."""
    remote, other = life.home / "remote.git", life.home / "other"
    (life.home / "config.toml").write_text('providers = ["rules"]\n[push]\nremote = "origin"\n')
    days = _begun(life, WEEK)
    _git(life.home, "init", "--quiet", "--bare", "--initial-branch=main", str(remote))
    _git(life.root, "remote", "add", "origin", str(remote))
    life.run("run", *_night(days[0], "09:00"))
    _git(life.home, "clone", "--quiet", str(remote), str(other))
    for number, day in enumerate(days):
        lines = (WEEK / f"{day}.md").read_text().splitlines(keepends=True)
        for machine, root in enumerate((life.root, other)):
            (root / "Logs").mkdir(exist_ok=True)
            log = root / f"Logs/{day}.md"
            log.write_text((log.read_text() if log.exists() else "") + "".join(lines[machine::2]))
            if number % 3 == machine:
                user = root / "USER.md"
                user.write_text(user.read_text() + f"\n- Fact: Machine {machine} was used on {day}.\n")
            life.run("run", *_night(day, f"23:{10 + 20 * machine}"), root=root)
    for root in (life.root, other, life.root):
        life.run("run", "--now", "2026-03-20T02:00", root=root)
    return life.record(life.root, other)


def adopted(life: Life) -> str:
    """A vault that is adopted where it lies, and one that is copied."""
    vault, copy = life.home / "vault", life.home / "copy"
    files = {
        ".obsidian/daily-notes.json": '{"folder": "Daily"}',
        "Projects/Spring concert.md": "# Spring concert\n\n- Fact: The mill seats 80 people.\n- a plain line\n",
        "Ideas/Map.md": "# Map\n\n- Fact: A purple lighthouse stands there. See [[Spring concert]].\n",
        "MEMORY.md": "# Memory\n\n- Fact: The choir has 40 voices.\n",
    }
    for number, file in enumerate(sorted(WEEK.glob("*.md"))):
        files[f"Daily/2026-02-{number + 1:02}.md"] = file.read_text()
    for path, text in files.items():
        (vault / path).parent.mkdir(parents=True, exist_ok=True)
        (vault / path).write_text(text)
    life.run("init", copy, "--adopt", vault, "--yes", "--now", "2026-02-28T12:00")
    life.run("run", "--now", "2026-03-01T02:00", root=copy)
    life.run("init", "--adopt", vault, "--in-place", "--yes", "--now", "2026-02-28T12:00")
    root = next(file.parent for file in sorted(vault.rglob("curate.toml")))
    for night in ("2026-03-01T02:00", "2026-03-02T02:00"):
        life.run("run", "--json", "--now", night, root=root)
        (vault / "Daily/2026-03-01.md").write_text("- Todo: Call Ben about the lock.\n- Fact: Oak was used.\n")
    for ident in _ids(life, root)[:5]:
        life.run("why", ident, root=root)
    life.run("search", "choir", "--json", root=root)
    life.run("context", "--now", "2026-03-02T09:00", root=root)
    life.run("undo", "--now", "2026-03-02T10:00", root=root)
    return life.record(root, copy)


def main() -> None:
    """Write a file a scenario, and print its digest."""
    parser = argparse.ArgumentParser(description="Write what whole nights come to, for a comparison of two versions.")
    parser.add_argument("out", type=Path, metavar="OUT", help="the folder for the files; it is made anew")
    parser.add_argument("--data", type=Path, metavar="DIR", help="a folder of folders with Logs/")
    given = parser.parse_args()
    scenarios: dict[str, Callable[[Life], str]] = {
        one.__name__: one for one in (sample_week, with_a_model, synced_pair, adopted)
    }
    for folder in sorted(given.data.iterdir()) if given.data else ():
        if (folder / "Logs").is_dir():
            scenarios |= {f"{folder.name}-{each}": _of_data(folder / "Logs", each) for each in (NIGHTLY, 100_000)}
    shutil.rmtree(given.out, ignore_errors=True)
    given.out.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as home:
        for name, scenario in scenarios.items():
            told = scenario(Life(Path(home) / name))
            (given.out / f"{name}.txt").write_text(told)
            print(f"{hashlib.sha256(told.encode()).hexdigest()[:16]}  {name}", flush=True)


def _of_data(logs: Path, each: int) -> Callable[[Life], str]:
    def scenario(life: Life) -> str:
        _live(life, logs, each=each)
        return life.record()

    return scenario


if __name__ == "__main__":
    main()
