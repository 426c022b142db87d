"""A night with the local embedder: what carries no label is filed, and recorded as the head's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pipelines.models.embedders import choose
from pipelines.models.embedders.choose import choose_local

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pytest
    from numpy.typing import NDArray

    from tests.conftest import Memory

VOTES = "> **Anna:** +1\n\n> **Bob:** +1\n\n"
LOG = "".join(
    f"> **Proposed resolution: Close gate #{gate} for good**\n\n{VOTES}**Bob:** Close gate #{gate} for good\n\n"
    for gate in range(2, 7)
)


class Still:
    name, dimension = "local:all-MiniLM-L6-v2@int8", 384

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.zeros((len(texts), self.dimension), np.float32)

    def embed_query(self, _: str) -> NDArray[np.float32]:
        return np.zeros(self.dimension, np.float32)


def night(memory: Memory) -> None:
    memory.write("Logs/2026-03-18.md", LOG)
    memory.curate("run", "--now", "2026-03-19T02:00")


def test_a_night_uses_the_head_where_the_local_model_is(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choose, "choose_local", lambda _: Still())
    night(memory)
    filed = [line for line in memory.read("Areas/general.md").splitlines() if "by=rules-head@1" in line]
    assert len(filed) == 4  # the fifth is the cue phrases' own find
    assert all("Decision: Close gate" in line and "confidence=high" not in line for line in filed)


def test_without_the_local_model_the_night_is_as_it_was(memory: Memory) -> None:
    night(memory)
    filed = memory.read("Areas/general.md")
    assert "by=rules@1" in filed
    assert "rules-head" not in filed


def test_there_is_no_local_model_until_it_is_fetched(tmp_path: Path) -> None:
    assert choose_local({"XDG_CACHE_HOME": str(tmp_path)}) is None
