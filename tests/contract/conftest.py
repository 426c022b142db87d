"""A memory that has one night behind it: made once a process, and copied for each scenario."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from pipelines.cli import run_cli
from tests.conftest import Memory, _cut_off
from tests.contract.story import DAY, LINES, after

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def _curated(_new: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("curated") / "memory"
    shutil.copytree(_new, root, symlinks=True)
    (root / f"Logs/{DAY}.md").write_text("project: Alpha\n\n" + "".join(f"- {line}\n" for line in LINES))
    with pytest.MonkeyPatch.context() as patch:
        _cut_off(patch, tmp_path_factory.mktemp("home"))
        assert run_cli(["run", "--now", after(DAY), "--memory", str(root)]) == 0
    return root


@pytest.fixture
def told(_curated: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Memory:
    """Return a memory that has one night behind it."""
    root = tmp_path / "memory"
    shutil.copytree(_curated, root, symlinks=True)
    return Memory(root, capsys)
