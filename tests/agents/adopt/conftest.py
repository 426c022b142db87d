"""What tests of adopting share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.agents.adopt.places import Place

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Place:
    return Place(tmp_path / "notes", capsys)
