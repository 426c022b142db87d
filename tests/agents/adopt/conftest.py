"""What tests of adopting share."""

from pathlib import Path

import pytest

from tests.agents.adopt.places import Place


@pytest.fixture
def place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Place:
    return Place(tmp_path / "notes", capsys)
