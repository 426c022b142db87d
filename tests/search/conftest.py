from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An empty memory."""
    root = tmp_path / "memory"
    root.mkdir()
    (root / "curate.toml").write_text("", encoding="utf-8")
    return root
