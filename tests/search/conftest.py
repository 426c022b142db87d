from pathlib import Path

import pytest

from pipelines.search import embed


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An empty memory."""
    root = tmp_path / "memory"
    root.mkdir()
    (root / "curate.toml").write_text("", encoding="utf-8")
    return root


@pytest.fixture(autouse=True)
def short_texts_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts of a few words are embedded like long ones here, so that tests can be read."""
    monkeypatch.setattr(embed, "FEWEST_WORDS", 1)
