"""Two machines share a memory for sixty nights, one of them a week without a network, and come to the same bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.night.sync.machines import check_same, live, shared

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Memory


@pytest.mark.torture
def test_sixty_nights(memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other, remote = shared(memory, tmp_path, monkeypatch)
    live((one, other), remote, 60, range(20, 27))
    check_same((one, other), remote)
