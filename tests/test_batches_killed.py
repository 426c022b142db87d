"""A night with batches that dies at any of its steps: nothing is paid twice, nothing is lost, the next night completes.

Here it dies at each fourth step; `make torture` has it die at all of them.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest

from pipelines import nightly
from pipelines.memory.folders import Folder
from pipelines.models.batching import notes
from pipelines.models.batching.notes import Notes
from pipelines.models.providers.anthropic_batches import AnthropicBatches
from pipelines.models.providers.gemini_batches import GeminiBatches
from pipelines.models.replies import Replies
from tests.batch_nights import DAYS, USD, Nights, answer, plans
from tests.models.batch_wire import anthropic_batches, gemini_batches

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Memory

STEPS: list[tuple[Any, str]] = [
    (Notes, "save"),
    (Notes, "drop"),
    (notes, "write_synced"),
    (Folder, "sync"),
    (Replies, "_write"),
    (nightly, "plan_night"),
    (nightly, "apply_changes"),
    (nightly, "reindex"),
    (nightly, "save_report"),
    (nightly, "keep_cache"),
    *((batches, name) for batches in (AnthropicBatches, GeminiBatches) for name in ("_create", "_look", "_find")),
]
EVERY = 8


class Killed(BaseException):
    """What no handler of the code under test expects."""


class Death:
    """Lets a run die just before one of its steps."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.at = self.steps = 0
        for place, name in STEPS:
            monkeypatch.setattr(place, name, self._mortal(getattr(place, name)))
        monkeypatch.setattr(nightly, "save_failure", lambda *_: None)  # who is killed says nothing

    def _mortal(self, step: Callable[..., Any]) -> Callable[..., Any]:
        def taken(*arguments: Any, **named: Any) -> Any:
            self.steps += 1
            if self.steps == self.at:
                raise Killed
            return step(*arguments, **named)

        return taken


def live(nights: Nights, death: Death, at: int) -> int:
    """Live through enough nights for all to be read, dying at one step; return how many steps there were."""
    death.at, death.steps = at, 0
    died = 0
    for hour in range(2, 7):
        try:
            nights.run(f"2026-03-20T{hour:02}:00")
        except Killed:
            died += 1
        except Exception as fault:  # a step in a thread of its own is a failure like any other there
            raise AssertionError(at) from fault
        nights.server.finish()
    assert died <= 1
    return death.steps


def die_at_steps(memory: Memory, monkeypatch: pytest.MonkeyPatch, kind: str, first: int, folder: Path) -> None:
    """Live a life for each of the steps `first`, `first` + 8, …, dying there."""
    death = Death(monkeypatch)
    at = first
    while at <= (steps := _one_life(memory, kind, death, at, folder)):
        at += EVERY
    assert steps > EVERY


@pytest.mark.parametrize("first", [3, pytest.param(7, marks=pytest.mark.torture)])
@pytest.mark.parametrize("kind", ["anthropic", pytest.param("gemini", marks=pytest.mark.torture)])
def test_at_a_quarter_of_the_steps(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, kind: str, first: int, tmp_path: Path
) -> None:
    die_at_steps(memory, monkeypatch, kind, first, tmp_path)


def _one_life(memory: Memory, kind: str, death: Death, at: int, folder: Path) -> int:
    root = shutil.copytree(memory.root, folder / f"life-{at}")
    with (anthropic_batches if kind == "anthropic" else gemini_batches)(answer) as server:
        nights = Nights(memory.aside(root), kind, server)
        nights.log()
        steps = live(nights, death, at)
        assert (at, nights.texts(), nights.notes) == (at, plans(*DAYS), [])
        assert (at, server.paid, server.refused) == (at, dict.fromkeys(DAYS, 1), [])
        assert nights.usd == pytest.approx(3 * USD[kind], abs=2e-6), at
    return steps
