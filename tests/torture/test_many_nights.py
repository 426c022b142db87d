"""Many nights: kills, hand edits and repeats, and at the end everything is accounted for."""

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pipelines.store.item import Status
from pipelines.store.snapshot import read_documents
from tests.conftest import Memory
from tests.torture.living import Owner, days, log_of, said_in

SMALL_CAPS = "timezone = 'UTC'\n[caps]\nbriefing = 2048\nuser = 1024\ndocument = 8192\n"


def killed_run(root: Path, now: str, chance: random.Random) -> None:
    """Start a run and kill its whole process group after a random time; it may have ended before."""
    command = [sys.executable, "-m", "pipelines.cli", "run", "--memory", str(root), "--now", now]
    run = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True, env={**os.environ}
    )
    try:
        run.wait(chance.uniform(0.05, 0.7))
    except subprocess.TimeoutExpired:
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()


def live(memory: Memory, seed: int, count: int) -> dict[str, object]:
    """Live through `count` nights, checking every one, and return the figures."""
    chance = random.Random(seed)
    owner = Owner(memory.root, chance)
    memory.write("curate.toml", SMALL_CAPS)
    edits: dict[str, int] = {}
    kills = 0
    for day in days(count):
        memory.write(f"Logs/{day}.md", log := log_of(day, chance))
        if chance.random() < 1 / 3:
            kind = owner.edit(day)
            edits[kind] = edits.get(kind, 0) + 1
        if chance.random() < 1 / 5:
            killed_run(memory.root, f"{day}T23:30", chance)
            kills += 1
        memory.night(f"{day}T23:40")
        items = [placed.item for document in read_documents(memory.root).values() for placed in document.items]
        texts = {item.text for item in items}
        shown = {(str(item.type), item.text) for item in items if item.status is not Status.ARCHIVED}
        assert not {one for one in said_in(log) if one[1] not in owner.deleted} - shown, day
        assert (memory.root / "MEMORY.md").stat().st_size <= 2048, day
        assert not owner.deleted & texts, day
        sizes = {
            str(path): path.stat().st_size
            for folder in ("Projects", "Areas")
            for path in (memory.root / folder).glob("*.md")
        }
        by_hand = 200 * len(owner.words)
        assert all(size <= 8192 + by_hand for size in sizes.values()), (day, sizes)
    everything = b"\n".join(memory.files().values()).decode(errors="replace")
    missing = [words for words in owner.words if words not in everything and words not in owner.deleted]
    assert missing == []
    assert memory.json("check") == []
    assert "Nothing new" in memory.night(f"{days(count)[-1]}T23:50")
    memory.git("fsck", "--strict")
    return {"nights": count, "kills": kills, "edits": edits}


@pytest.mark.torture
@pytest.mark.parametrize("seed", [1, 2])
def test_a_year_of_nights(memory: Memory, seed: int) -> None:
    print(json.dumps(live(memory, seed, 365)))
