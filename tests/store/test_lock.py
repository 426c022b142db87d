"""The run lock: one writer, who says who it is; and the log's lines, whole or not there."""

from __future__ import annotations

import errno
import os
import re
from typing import TYPE_CHECKING

import pytest

from pipelines.errors import LockHeld, NotWritable
from pipelines.store.append_log import append_line
from pipelines.store.lock import run_lock

if TYPE_CHECKING:
    from pathlib import Path


def test_the_second_is_told_which_process_holds_it_and_since_when(tmp_path: Path) -> None:
    told = rf"process {os.getpid()} since \d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d, a run"
    with run_lock(tmp_path, "a run"), pytest.raises(LockHeld, match=told), run_lock(tmp_path, "another"):
        pass
    with run_lock(tmp_path, "a third"):
        pass


@pytest.mark.parametrize("text", ["", "process 999999999 since noon, a run that was killed"])
def test_a_holder_that_has_not_written_yet_is_not_taken_for_a_dead_one(tmp_path: Path, text: str) -> None:
    with run_lock(tmp_path, "a run"):
        (tmp_path / ".curate" / "lock").write_text(text)
        with pytest.raises(LockHeld, match=re.escape("a run that has just begun")), run_lock(tmp_path, "another"):
            pass


@pytest.mark.parametrize("broken", ["write", "fsync"])
def test_a_line_that_the_disk_did_not_take_is_cut_off_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    append_line(tmp_path, "2026-03-18", "- 09:00 one")
    before = (tmp_path / "Logs/2026-03-18.md").read_bytes()
    real = os.write
    calls = iter(range(9))

    def fail(descriptor: int, data: bytes = b"") -> int:
        if broken == "write" and next(calls) == 0:
            return real(descriptor, data[:3])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, broken, fail)
    with pytest.raises(NotWritable, match="no space left on device"):
        append_line(tmp_path, "2026-03-18", "- 10:00 two")
    assert (tmp_path / "Logs/2026-03-18.md").read_bytes() == before
