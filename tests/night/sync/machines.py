"""Two machines that share a memory through one bare remote, each with a person and an agent."""

import json
import os
import random
from pathlib import Path
from typing import Any

from pipelines.store.snapshot import read_documents
from tests.conftest import Memory
from tests.making import git
from tests.torture.living import Owner, days, log_of

CAPS = "timezone = 'UTC'\n[caps]\nbriefing = 2048\nuser = 1024\ndocument = 8192\n"


def shared(memory: Memory) -> tuple[Memory, Memory, Path]:
    """Return two clones of a memory, and the bare repository by which they share it."""
    folder = memory.root.parent
    os.environ["CURATE_CONFIG"] = str(folder / "config.toml")
    share(memory)
    return memory, memory.aside(folder / "other"), folder / "remote.git"


def share(memory: Memory) -> None:
    """Write the user's settings beside a memory, and let another machine clone it there by a bare repository."""
    folder = memory.root.parent
    (folder / "config.toml").write_text('providers = ["rules"]\n[push]\nremote = "origin"\n')
    remote = folder / "remote.git"
    git(folder, "init", "--quiet", "--bare", "--initial-branch=main", str(remote))
    memory.write("curate.toml", CAPS)
    git(memory.root, "remote", "add", "origin", str(remote))
    memory.night("2024-12-31T23:40")
    git(folder, "clone", "--quiet", str(remote), "other")


def append_log(memory: Memory, day: str, text: str) -> None:
    path = memory.root / f"Logs/{day}.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text((path.read_text() if path.exists() else "") + text)


def state(memory: Memory) -> dict[str, Any]:
    told: dict[str, Any] = json.loads((memory.root / ".curate/push.json").read_text())
    return told


def live(pair: tuple[Memory, Memory], remote: Path, count: int, away: range) -> None:
    """Live through nights on both machines; during `away` the second has no network."""
    owners = [Owner(one.root, random.Random(number)) for number, one in enumerate(pair)]
    chances = [random.Random(10 + number) for number in range(2)]
    hidden = remote.with_name("away.git")
    for number, day in enumerate(days(count)):
        for machine, one in enumerate(pair):
            append_log(one, day, log_of(day, chances[machine]))
            if chances[machine].random() < 1 / 3:
                owners[machine].edit(day)
            if is_away := machine == 1 and number in away:
                remote.rename(hidden)
            one.night(f"{day}T23:{10 + 20 * machine}")
            if is_away:
                hidden.rename(remote)
            assert state(one)["state"] == ("failed" if is_away else "pushed"), (day, state(one))
            assert (one.root / "MEMORY.md").stat().st_size <= 2048
    for one in (*pair, *pair):
        one.night(f"{days(count + 1)[-1]}T23:40")


def check_same(pair: tuple[Memory, Memory], remote: Path) -> None:
    one, other = pair
    assert one.files() == other.files()
    assert git(one.root, "rev-parse", "HEAD") == git(other.root, "rev-parse", "HEAD")
    for memory in pair:
        ids = [placed.item.id for document in read_documents(memory.root).values() for placed in document.items]
        assert len(ids) == len(set(ids))
        assert memory.json("check") == []
        git(memory.root, "fsck", "--strict")
        assert git(memory.root, "status", "--porcelain") == ""
    git(remote, "fsck", "--strict")
