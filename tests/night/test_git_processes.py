"""How many gits a night starts: each costs milliseconds, and ten of them more than the night itself."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from tests.conftest import Memory


def test_twelve_gits_for_a_night_that_commits_and_four_for_an_idle_one(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.curate("run", "--now", "2026-03-18T02:00")
    shim, told = tmp_path / "bin" / "git", tmp_path / "told"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\necho "$*" >> {told}\nexec {shutil.which("git")} "$@"\n')
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", f"{shim.parent}{os.pathsep}{os.environ['PATH']}")
    asked_for_its_version = 2  # by GitPython, when it is imported: here it was before
    for night, most in (("2026-03-19", 12), ("2026-03-20", 4)):
        if most == 12:
            memory.write("Logs/2026-03-18.md", "- Decision: Use Terraform, not Pulumi.\n")
        memory.curate("run", "--now", f"{night}T02:00")
        calls = [line for line in told.read_text().splitlines() if not line.startswith("version")]
        told.write_text("")
        assert 0 < len(calls) <= most - asked_for_its_version, calls
    assert "Terraform" in memory.read("Areas/general.md")
