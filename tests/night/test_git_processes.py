"""How many gits a night starts: each costs milliseconds, and ten of them more than the night itself."""

import gc
import os
import shutil
from pathlib import Path

import pytest

from tests.conftest import Memory


def test_eight_gits_for_a_night_that_commits_and_one_for_an_idle_one(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.night("2026-03-18T02:00")
    shim, told = tmp_path / "bin" / "git", tmp_path / "told"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\necho "$*" >> {told}\nexec {shutil.which("git")} "$@"\n')
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", f"{shim.parent}{os.pathsep}{os.environ['PATH']}")
    for night, most in (("2026-03-19", 8), ("2026-03-20", 1)):
        if most == 8:
            memory.write("Logs/2026-03-18.md", "- Decision: Use Terraform, not Pulumi.\n")
        memory.night(f"{night}T02:00")
        calls = told.read_text().splitlines()
        told.write_text("")
        assert 0 < len(calls) <= most, calls
    assert "Terraform" in memory.read("Areas/general.md")


def test_a_process_that_does_night_after_night_keeps_no_git(memory: Memory) -> None:
    open_files = []
    gc.collect()
    gc.disable()  # nothing may wait for a collection to be closed
    try:
        for day in range(18, 22):
            memory.write(f"Logs/2026-03-{day}.md", f"- Decision: Use version {day} of Terraform.\n")
            memory.night(f"2026-03-{day + 1}T02:00")
            open_files.append(len([*Path("/dev/fd").iterdir()]))
    finally:
        gc.enable()
    assert open_files[-1] == open_files[0]
