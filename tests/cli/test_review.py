"""`curate review`: the queue for scripts, for a person at a terminal, and taken back again."""

import os
import pty
import select
import signal
import sys
import time
from pathlib import Path

import pytest

from pipelines.night.answers import choices_of
from pipelines.store.lock import run_lock
from pipelines.store.review_queue import QueueEntry
from tests.asking import ALPHA, NEW, RULE, ask, ask_contradict, ask_quarantine, first_night, items, night
from tests.conftest import Memory, Once

OLD_TEXT, NEW_TEXT = "The port of the gateway is 8080", "The port of the gateway is 9090"


def questions(memory: Memory) -> None:
    ask_contradict(memory, str(first_night(memory)[OLD_TEXT]["id"]))
    ask_quarantine(memory)
    ask(memory, "merge", f"{ALPHA} was changed on two machines", ("done: it is as it should be",))
    night(memory, 13)


@pytest.fixture
def asked(once: Once) -> Memory:
    """Return a memory in which a contradiction, a rule and a page wait."""
    return once(questions)


def curated(memory: Memory) -> dict[str, bytes]:
    """Return what is curated; a file of tombstones that is empty is as good as none."""
    return {
        path: data for path, data in memory.files().items() if not path.startswith(("Logs/", "State/items/")) and data
    }


def test_an_empty_queue_is_one_calm_line(memory: Memory) -> None:
    assert memory.curate("review") == "Nothing waits for you.\n"
    assert memory.json("review") == []


def test_json_tells_why_the_choices_and_the_evidence(asked: Memory) -> None:
    first, rule, page = asked.json("review")
    assert (first["id"], first["kind"], first["why"]) == (NEW, "contradict", "Why it is asked.")
    assert first["against"] == items(asked)[OLD_TEXT]["id"]
    assert first["choices"][0] == {"choice": "keep new", "means": "it is true"}
    assert first["items"][0]["evidence"][0]["quote"] == f"- {NEW_TEXT}"
    assert rule["items"][0]["trust"] == "external"
    assert page["items"] == []
    assert page["id"].startswith("q")


def test_a_script_decides_and_undo_takes_it_back_to_the_byte(asked: Memory) -> None:
    before = curated(asked)
    assert asked.curate("review", NEW[:9], "--accept", "--now", "2026-03-14T10:00") == f"{NEW}: keep new.\n"
    after = items(asked)
    assert (after[NEW_TEXT]["status"], after[OLD_TEXT]["status"]) == ("live", "superseded")
    assert after[NEW_TEXT]["confidence"] == "high"
    assert asked.git("log", "-1", "--format=%s") == f"Review {NEW}: keep new\n"
    assert asked.git("status", "--porcelain") == ""
    decided = curated(asked)
    assert "by hand: Review" in asked.curate("runs", "--limit", "1")
    told = asked.curate("undo", "--now", "2026-03-14T10:01")
    assert "undone: 2 items as before" in told
    assert curated(asked) == before
    undo = asked.curate("runs", "--limit", "1").split()[0]
    asked.curate("undo", undo, "--now", "2026-03-14T10:02")
    assert curated(asked) == decided
    assert night(asked, 15)["commit"] is None
    assert "nothing is broken" in asked.curate("check")


def test_a_no_buries_and_undoing_it_asks_again(asked: Memory) -> None:
    before = curated(asked)
    asked.curate("review", NEW, "--reject", "--now", "2026-03-14T10:00")
    assert NEW_TEXT not in items(asked)
    assert items(asked)[OLD_TEXT]["trust"] == "owner"
    asked.curate("undo", "--now", "2026-03-14T10:01")
    assert curated(asked) == before
    asked.curate("review", NEW, "--choose", "Keep  Both", "--now", "2026-03-14T10:02")
    assert items(asked)[NEW_TEXT]["status"] == "live"


def test_one_of_many_that_are_gone_is_decided_alone(memory: Memory) -> None:
    lines = "".join(f"- Decision: choice number {n} of this project\n" for n in range(6))
    memory.write("Logs/2026-03-10.md", f"project: Alpha\n\n{lines}")
    night(memory, 11)
    page = memory.read(ALPHA).splitlines(keepends=True)
    memory.write(ALPHA, "".join(line for line in page if "choice number" not in line))
    night(memory, 12)
    ident = str(items(memory)["choice number 2 of this project"]["id"])
    memory.curate("review", ident, "--reject", "--now", "2026-03-12T10:00")
    [entry] = memory.json("review")
    assert len(entry["items"]) == 5
    memory.curate("review", entry["id"], "--accept", "--now", "2026-03-12T10:01")
    assert len(items(memory)) == 5
    assert {item["status"] for item in items(memory).values()} == {"live"}


def test_what_cannot_be_meant_is_said_and_changes_nothing(asked: Memory) -> None:
    files, head = asked.files(), asked.git("rev-parse", "HEAD")
    assert "No item has the id kfff. `curate review` lists" in asked.curate("review", "kfff", "--accept", exits=1)
    assert "is not a choice here. Choose one of: keep" in asked.curate("review", RULE, "--choose", "burn", exits=2)
    assert "needs an ID" in asked.curate("review", "--accept", exits=2)
    assert "excludes --accept" in asked.curate("review", RULE, "--accept", "--choose", "drop", exits=2)
    with run_lock(asked.root, "a test"):
        asked.curate("review", RULE, "--accept", exits=75)
    assert (asked.files(), asked.git("rev-parse", "HEAD")) == (files, head)


def test_yes_and_no_mean_a_choice_of_every_kind() -> None:
    for kind in ("gone", "contradict", "quarantine", "doubt"):
        choices = choices_of(QueueEntry(kind, 0, 1, (), ()))
        assert len(choices) > 1


def test_a_person_goes_through_it_key_by_key(asked: Memory) -> None:
    told = typed(asked, "1s1")
    assert "a port" in told
    assert f"Logs/2026-03-12.md:1\n      | - {NEW_TEXT}" in told
    assert OLD_TEXT in told
    assert "[1] keep new: it is true" in told
    assert "1 entry still waits." in told
    assert items(asked)[OLD_TEXT]["status"] == "superseded"
    assert [one["id"] for one in asked.json("review")] == [RULE]


def typed(memory: Memory, keys: str) -> str:
    """Run `curate review` on a terminal of its own, press the keys one by one, and return what it showed."""
    curate = str(Path(sys.executable).with_name("curate"))
    child, terminal = pty.fork()
    if child == 0:
        arguments = [curate, "review", "--memory", str(memory.root), "--now", "2026-03-14T10:00"]
        os.execv(curate, arguments)  # noqa: S606  the command under test, on a terminal of its own
    shown, idle, deadline = b"", 0, time.monotonic() + 60
    while time.monotonic() < deadline:
        asked = shown.count(b"[q] quit")
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                shown += os.read(terminal, 65536)
            except OSError:
                break  # the command has ended
            idle = 0
        elif asked and idle % 5 == 0:  # what is typed before it asks is dropped, on purpose: it is typed again
            os.write(terminal, keys[asked - 1].encode())
            idle += 1
        else:
            idle += 1
    else:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    os.close(terminal)
    assert status == 0, shown.decode()
    return shown.decode().replace("\r\n", "\n")
