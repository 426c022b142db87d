"""Edits while a run is under way: whatever a second writer does, and whenever, no edit is lost."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from pipelines.cli import run_cli
from pipelines.store import atomic_replace as place
from pipelines.store import git, journal, snapshot
from pipelines.store.snapshot import read_documents
from tests.conftest import Memory
from tests.torture.living import Owner, log_of

if TYPE_CHECKING:
    from collections.abc import Callable

# The calls between which a second writer may come: reading, staging, checking, replacing, committing.
_SEAMS = (
    (snapshot, "read_bytes"),
    (journal, "read_bytes"),
    (journal, "write_synced"),
    (journal, "_write_manifest"),
    (journal, "put"),
    (place, "write_synced"),
    (journal, "settle"),
    (journal, "sync_folder"),
    (git.Git, "run"),
)


def interrupted_by(patch: pytest.MonkeyPatch, seam: int, call: int, edit: Callable[[], object]) -> None:
    """Let `edit` happen just before the `call`-th call of one seam, once."""
    home, name = _SEAMS[seam]
    real = getattr(home, name)
    count = 0

    def step(*arguments: object, **more: object) -> object:
        nonlocal count
        count += 1
        if count == call:
            edit()
        return real(*arguments, **more)

    patch.setattr(home, name, step)


def one_story(memory: Memory, seed: int, seam: int, call: int) -> None:
    chance = random.Random(seed)
    owner = Owner(memory.root, chance)
    for number in range(3):
        day = f"2026-03-1{number}"
        memory.write(f"Logs/{day}.md", log_of(day, chance))
        memory.curate("run", "--now", f"{day}T23:40")
    memory.write("Logs/2026-03-13.md", log_of("2026-03-13", chance))
    noted = f"- 09:00 appended meanwhile {seed}\n"

    came: list[bool] = []

    def second_writer() -> None:
        came.append(True)
        for _ in range(2):
            owner.edit("2026-03-13")
        with (memory.root / "Logs/2026-03-13.md").open("a") as log:
            log.write(noted)

    with pytest.MonkeyPatch.context() as patch:
        interrupted_by(patch, seam, call, second_writer)
        memory.curate("run", "--now", "2026-03-13T23:40")
    for now in ("2026-03-14T02:00", "2026-03-15T02:00"):
        memory.curate("run", "--now", now)
    texts = [p.item.text for document in read_documents(memory.root).values() for p in document.items if p.item.active]
    everything = b"\n".join(memory.files().values()).decode()
    assert [words for words in owner.words if words not in everything and words not in owner.deleted] == []
    assert owner.deleted & set(texts) == set()
    assert not came or noted in memory.read("Logs/2026-03-13.md")
    assert json.loads(memory.curate("check", "--json")) == []
    assert memory.git("status", "--porcelain") == ""
    assert not (memory.root / ".curate" / "pending").exists()


def fresh(tmp: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]) -> Memory:
    root = tmp.mktemp("story") / "memory"
    assert run_cli(["init", str(root), "--now", "2026-03-01T12:00"]) == 0
    return Memory(root, capsys)


STORY = {"seed": st.integers(0, 10**6), "seam": st.integers(0, len(_SEAMS) - 1), "call": st.integers(1, 25)}
PHASES = [Phase.explicit, Phase.generate]  # a story takes a second, so a failing one is shown as it is
FIXTURES = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


@settings(max_examples=5, deadline=None, suppress_health_check=FIXTURES, phases=PHASES, derandomize=True)
@given(**STORY)
def test_no_edit_is_lost(
    tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str], seed: int, seam: int, call: int
) -> None:
    one_story(fresh(tmp_path_factory, capsys), seed, seam, call)


@pytest.mark.torture
@settings(max_examples=200, deadline=None, suppress_health_check=FIXTURES, phases=PHASES)
@given(**STORY)
def test_no_edit_is_lost_in_many_stories(
    tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str], seed: int, seam: int, call: int
) -> None:
    one_story(fresh(tmp_path_factory, capsys), seed, seam, call)
