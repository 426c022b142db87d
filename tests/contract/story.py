"""How the scenarios of the contract are told: days are logged and curated, pages are edited, and items looked up.

A scenario knows commands, files that a person knows, and JSON. It knows neither how an item is written on its page
nor a function of the product.
"""

import json
import os
import shlex
import sys
from collections.abc import Callable, Iterable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from tests.conftest import Memory

DAY, NEXT, THIRD = "2026-03-10", "2026-03-11", "2026-03-12"
ALPHA = "Projects/alpha.md"
LINES = (
    "Decision: Use SQLite for the cache.", "Fact: The gateway listens on port 8080.", "Rule: Never push on Friday.",
    "Todo: Tell Mara about the gateway", "Risk: The disk may fill.",
)  # fmt: skip
CACHE, PORT, FRIDAY, MARA, DISK = (line.partition(": ")[2] for line in LINES)


def log(memory: Memory, day: str, *lines: str, project: str = "Alpha") -> None:
    """Write the log of a day."""
    head = f"project: {project}\n\n" if project else ""
    memory.write(f"Logs/{day}.md", head + "".join(f"- {line}\n" for line in lines))


def after(day: str, hour: str = "02:00") -> str:
    """Return the night that follows a day."""
    return f"{date.fromisoformat(day) + timedelta(days=1)}T{hour}"


def night(memory: Memory, day: str, *lines: str, project: str = "Alpha", exits: int = 0) -> str:
    """Write the log of a day, curate it in the night that follows, and return what the run said."""
    if lines:
        log(memory, day, *lines, project=project)
    return memory.night(after(day), exits=exits)


def asked(memory: Memory, *arguments: str) -> Any:
    """Return what a command prints as JSON."""
    return memory.json(*arguments)


def items(memory: Memory, *statuses: str) -> dict[str, dict[str, Any]]:
    """Return the items by their text, all or those of some statuses."""
    found = asked(memory, "items")
    return {one["text"]: one for one in found if not statuses or one["status"] in statuses}


def held(memory: Memory) -> set[str]:
    """Return the sentences that the memory holds true or open."""
    return set(items(memory, "live", "open"))


def status(memory: Memory, text: str) -> str:
    """Return the status of the item with a text."""
    told: str = items(memory)[text]["status"]
    return told


def ident(memory: Memory, text: str) -> str:
    """Return the id of the item with a text."""
    told: str = items(memory)[text]["id"]
    return told


def page_of(memory: Memory, text: str) -> str:
    """Return the path of the page on which a text stands."""
    told: str = items(memory)[text]["document"]
    return told


def reline(memory: Memory, text: str, change: Callable[[str], str], page: str = ALPHA) -> None:
    """Change the line of a page in which a text stands, as a person does in an editor."""
    lines = memory.read(page).splitlines(keepends=True)
    (at,) = [number for number, line in enumerate(lines) if text in line]
    lines[at] = change(lines[at])
    memory.write(page, "".join(lines))


def reword(memory: Memory, old: str, new: str, page: str = ALPHA) -> None:
    """Change words on a page."""
    reline(memory, old, lambda line: line.replace(old, new), page)


def waiting(memory: Memory) -> list[dict[str, Any]]:
    """Return what waits for a person."""
    told: list[dict[str, Any]] = asked(memory, "review")
    return told


def found(memory: Memory, *words: str) -> list[dict[str, Any]]:
    """Return the hits of a search, the best first."""
    told: list[dict[str, Any]] = asked(memory, "search", *words)["results"]
    return told


def start(memory: Memory, now: str = "2026-03-11T08:00", *more: str) -> str:
    """Return what a session starts with."""
    return memory.curate("context", "--now", now, *more)


def commits(memory: Memory) -> int:
    """Return how many commits the memory has."""
    return int(memory.git("rev-list", "--count", "HEAD"))


def shares(memory: Memory, folder: Path) -> Memory:
    """Share a memory through a bare remote, and return the clone of another machine."""
    remote = folder / "remote.git"
    memory.git("init", "--quiet", "--bare", "--initial-branch=main", str(remote))
    settings(folder, 'providers = ["rules"]\n[push]\nremote = "origin"\n')
    memory.git("remote", "add", "origin", str(remote))
    memory.curate("sync", "--now", "2026-03-01T13:00")
    other = memory.aside(folder / "other")
    memory.git("clone", "--quiet", str(remote), str(other.root))
    return other


def settings(folder: Path, text: str) -> None:
    """Set the user's own settings."""
    folder.mkdir(exist_ok=True)
    (folder / "config.toml").write_text(text)
    os.environ["CURATE_CONFIG"] = str(folder / "config.toml")


def answering(folder: Path, replies: dict[str, Any], name: str = "answers") -> str:
    """Return a provider that gives each task its reply; each question is kept in `NAME.asked`, one a line."""
    program = folder / f"{name}.py"
    told = {"extract": {}, "brief": {}, "verify": {"verdicts": []}} | replies
    program.write_text(
        "import json, sys\n"
        f"told = json.loads({json.dumps(told)!r})\n"
        "asked = json.load(sys.stdin)\n"
        f"print(json.dumps(asked), file=open({str(folder / name) + '.asked'!r}, 'a'))\n"
        "reply = told[asked['task']]\n"
        "claims = asked['input'].get('claims', [])\n"
        "of = {'pair': told.get('pair', 'both')}\n"
        "said = [{'claim': c['claim'], 'verdict': of.get(c['kind'], reply)} for c in claims]\n"
        "print(json.dumps({'verdicts': said}) if isinstance(reply, str) else json.dumps(reply))\n"
    )
    return f"exec:{sys.executable} {shlex.quote(str(program))}"


def questions(folder: Path, name: str = "answers") -> list[dict[str, Any]]:
    """Return what a provider was asked."""
    return [json.loads(line) for line in (folder / f"{name}.asked").read_text().splitlines()]


def session(path: Path, *turns: tuple[str, str], day: str = DAY, name: str = "5e55") -> Path:
    """Write a transcript of Claude Code of (role, text) turns."""
    records = [
        {
            "type": role, "sessionId": name, "timestamp": f"{day}T09:{number:02}:00Z", "cwd": "/home/ada/src/alpha",
            "message": {"role": role, "content": text},
        }
        for number, (role, text) in enumerate(turns)
    ]  # fmt: skip
    return write_records(path, records)


def write_records(path: Path, records: Iterable[dict[str, Any]]) -> Path:
    """Write records as a transcript."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    return path
