"""The run lock: one writer, who says who it is; and the log's lines, whole or not there."""

import errno
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from pipelines.errors import LockHeld, NotWritable
from pipelines.store.append_log import append_line
from pipelines.store.lock import run_lock
from tests.conftest import Memory


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


@pytest.mark.parametrize("verb", ["run", "status", "search x", "log hi"])
def test_a_private_folder_of_another_user_is_an_expected_error(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    """The tests may run as root, whom no rights keep out; so the disk refuses as it does everybody else."""
    memory.night("2026-03-11T02:00")
    private = str(memory.root / ".curate")

    def refusing(real: Callable[..., object]) -> Callable[..., object]:
        def asked(path: object, *arguments: object, **more: object) -> object:
            if str(path) == ".curate" or str(path).startswith(f"{private}/"):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
            return real(path, *arguments, **more)

        return asked

    for name in ("open", "stat", "listdir", "scandir"):
        monkeypatch.setattr(os, name, refusing(getattr(os, name)))
    said = memory.curate(*verb.split(), exits=1)
    assert "chown" in said
    assert "Traceback" not in said
