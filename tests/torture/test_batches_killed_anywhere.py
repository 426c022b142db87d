"""A night with batches that dies at every one of its steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.test_batches_killed import EVERY, die_at_steps

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Memory


@pytest.mark.torture
@pytest.mark.parametrize("first", range(1, EVERY + 1))
@pytest.mark.parametrize("kind", ["anthropic", "gemini"])
def test_at_every_step(memory: Memory, monkeypatch: pytest.MonkeyPatch, kind: str, first: int, tmp_path: Path) -> None:
    die_at_steps(memory, monkeypatch, kind, first, tmp_path)
