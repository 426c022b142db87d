"""Folders in folders without end are named."""

import os

from tests.conftest import Memory

NIGHT = ("run", "--now", "2026-03-19T02:00")


def test_folders_without_end_are_named(memory: Memory) -> None:
    above = os.open(memory.root / "Projects", os.O_RDONLY)
    for _ in range(20):
        os.mkdir("a" * 250, dir_fd=above)
        inner = os.open("a" * 250, os.O_RDONLY, dir_fd=above)
        os.close(above)
        above = inner
    os.close(above)
    said = memory.curate(*NIGHT, exits=1)
    assert "cannot be listed: File name too long" in said
    assert "bug" not in said
    assert "cannot be listed: file name too long" in memory.curate("index")
