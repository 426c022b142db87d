"""No space, and errors of the disk: at every call, once or for good. One clear sentence, nothing torn, and no bug."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import pytest

from tests.torture.conftest import Prepared
from tests.torture.figures import Series
from tests.torture.small import curated, faults_of, files_of, torn_files
from tests.torture.strace import (
    git_points,
    injected,
    injected_from_the_start,
    injected_in_git,
    needs_strace,
    python_points,
)

pytestmark = needs_strace
PARTS: Final = 6
# What a full or a broken disk says to which call. A full one refuses what needs room, and then goes on refusing it.
ONCE: Final = {
    "ENOSPC": (
        "write",
        "pwrite64",
        "fsync",
        "fdatasync",
        "rename",
        "renameat",
        "renameat2",
        "mkdir",
        "mkdirat",
        "link",
        "linkat",
    ),
    "EIO": (
        "write",
        "fsync",
        "rename",
        "renameat",
        "renameat2",
        "unlink",
        "unlinkat",
        "rmdir",
        "ftruncate",
        "chmod",
        "fchmod",
    ),
}
FOR_GOOD: Final = {
    "ENOSPC": ("write", "pwrite64", "rename", "renameat", "renameat2", "mkdir", "mkdirat", "link", "linkat"),
    "EIO": ("fsync", "fdatasync"),
}


class Fault(NamedTuple):
    """What fails: in which git (0: in the run itself), which call, at which count (`3+`: from the third on), how."""

    git: int
    call: str
    when: str
    error: str


def faults(points: Sequence[tuple[int, str, int]]) -> list[Fault]:
    """Return every fault of each point."""
    found = []
    for kinds, more in ((ONCE, ""), (FOR_GOOD, "+")):
        for error, calls in kinds.items():
            found += [Fault(number, call, f"{nth}{more}", error) for number, call, nth in points if call in calls]
    return found


def fail_at(prepared: Prepared, some: Sequence[Fault], series: Series) -> None:
    for fault in some:
        root = prepared.copy()
        what = f"error={fault.error}"
        if fault.git:
            ended = injected_in_git(root, fault.git, fault.call, f"{what}:when={fault.when}")
        elif fault.call == "write":  # standard output is among what is written, and the interpreter flushes it last
            ended = injected_from_the_start(root, fault.call, what, fault.when)
        else:
            ended = injected(root, fault.call, what, fault.when)
        series.tried += 1
        if not ended.fired:
            continue
        wrong = []
        if ended.code == 0 and files_of(root) != prepared.account.files:
            wrong.append(f"exit code 0, and the night is not done: {ended.said}")
        if ended.code not in {0, 1}:
            wrong.append(f"exit code {ended.code}: {ended.said}")
        if ended.code == 1 and not _is_clear(ended.said) and not _is_mute(fault):
            wrong.append(f"no clear sentence: {ended.said}")
        torn = torn_files(root, prepared.before, prepared.account.files)
        code, said = curated(root)
        if code:
            wrong.append(f"the next run ended with {code}: {said}")
        wrong += [f"{path} was torn" for path in torn] + faults_of(root, prepared.account)
        series.point(str(fault), wrong, lost=bool(torn))
    series.close()


def _is_clear(said: str) -> bool:
    """Whether something was said, and it is no traceback and no report of a bug."""
    return bool(said.strip()) and not any(word in said for word in ("Traceback", "This is a bug", "Exception"))


def _is_mute(fault: Fault) -> bool:
    """Whether standard error itself was among what could not be written."""
    return not fault.git and fault.call == "write" and fault.when.endswith("+")


@pytest.mark.torture
@pytest.mark.parametrize("part", range(PARTS))
def test_faults_in_the_run(prepared: Prepared, part: int) -> None:
    counts = python_points(prepared.copy())
    points = [(0, call, nth) for call, count in counts.items() for nth in range(1, count + 1)]
    fail_at(prepared, faults(points)[part::PARTS], Series("disk full or broken, in the run"))


@pytest.mark.torture
@pytest.mark.parametrize("part", range(PARTS))
def test_faults_in_git(prepared: Prepared, part: int) -> None:
    fail_at(
        prepared,
        faults(git_points(prepared.copy(), on_disk=True))[part::PARTS],
        Series("disk full or broken, in a git"),
    )


@pytest.mark.torture
def test_some_faults(prepared: Prepared) -> None:
    some = [
        Fault(0, "write", "6", "ENOSPC"),
        Fault(0, "write", "4+", "ENOSPC"),
        Fault(0, "fsync", "20", "EIO"),
        Fault(0, "rename", "4", "EIO"),
        Fault(0, "mkdir", "1", "ENOSPC"),
    ]
    some += [fault for fault in faults(git_points(prepared.copy(), on_disk=True)) if fault.call in {"write", "rename"}][
        20::80
    ]
    fail_at(prepared, some, Series("disk full or broken (short cut)"))
