"""Killed anywhere: at every call that changes something, in the run and in every git it starts; then one plain run."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

import pytest

from tests.torture.conftest import Prepared
from tests.torture.figures import Series
from tests.torture.small import Account, copied, curated, faults_of, files_of, torn_files
from tests.torture.strace import Ended, git_points, injected, injected_in_git, needs_strace, python_points

pytestmark = needs_strace
KILL = "signal=SIGKILL"
PARTS = 6
NOTED = b"- 23:00 noted between the kill and the next night\n"
# States in which a run was killed, for the series over the run that recovers: by which call of the run's own process,
# the how-manyeth. Both come after the manifest, so there is something to recover.
STATES = {"half replaced": ("rename", 5), "replaced, not committed": ("rename", 7)}


class Tried(Protocol):
    """As much of a prepared memory as killing needs."""

    folder: Path
    before: dict[str, bytes]
    account: Account


class Point(NamedTuple):
    """Where to kill: in which git (0: in the run itself), at which call, the how-manyeth, and who goes with it."""

    git: int
    call: str
    nth: int
    take_python: bool = False

    def kill(self, root: Path) -> Ended:
        """Run on a memory until the kill."""
        if self.git:
            what = f"{KILL}:when={self.nth}"
            return injected_in_git(root, self.git, self.call, what, take_python=self.take_python)
        return injected(root, self.call, KILL, str(self.nth))


def own_points(root: Path) -> list[Point]:
    """Return every point of the run's own process, and of each kind one more, which proves that those were all."""
    return [Point(0, call, n) for call, count in python_points(root).items() for n in range(1, count + 2)]


def points_in_git(root: Path) -> list[Point]:
    """Return every point of every git; where it changes something, once with the run killed in the same moment."""
    told = git_points(root)
    changing = {number for number, call, _ in told if call != "write"}
    alone = [Point(number, call, nth) for number, call, nth in told]
    return [*alone, *(point._replace(take_python=True) for point in alone if point.git in changing)]


def kill_at(prepared: Tried, source: Path, points: Sequence[Point], series: Series) -> None:
    for point in points:
        root = copied(source, prepared.folder / "point")
        ended = point.kill(root)
        series.tried += 1
        if not ended.fired:
            assert ended.code == 0, f"{point} did not fire, and the run failed: {ended.said}"
            continue
        # It may end well: a git that was killed at its last write had done all that the run asked of it.
        faults = [] if ended.killed or ended.code in {0, 1} else [f"the run ended with {ended.code}: {ended.said}"]
        torn = torn_files(root, prepared.before, prepared.account.files)
        code, said = curated(root)
        if code:
            faults.append(f"the next run ended with {code}: {said}")
        found = faults_of(root, prepared.account)
        series.point(str(point), faults + [f"{path} was torn" for path in torn] + found, lost=bool(torn))
    series.close()


@pytest.mark.torture
@pytest.mark.parametrize("part", range(PARTS))
def test_killed_in_the_run(prepared: Prepared, part: int) -> None:
    points = own_points(prepared.copy())[part::PARTS]
    kill_at(prepared, prepared.source, points, Series("killed in the run"))


@pytest.mark.torture
@pytest.mark.parametrize("part", range(PARTS))
def test_killed_in_git(prepared: Prepared, part: int) -> None:
    points = points_in_git(prepared.copy())[part::PARTS]
    kill_at(prepared, prepared.source, points, Series("killed in a git of the run"))


@pytest.mark.torture
def test_killed_in_the_first_gits(prepared: Prepared) -> None:
    series = Series("killed in a git of the run")
    for number in range(1, 5):
        root = prepared.copy()
        ended = injected_in_git(root, number, "write", f"{KILL}:when=1", from_the_start=True)
        series.tried += 1
        if ended.fired:
            wrong = [] if ended.code == 1 else [f"the run ended with {ended.code}: {ended.said}"]
            code, said = curated(root)
            wrong += [f"the next run ended with {code}: {said}"] if code else []
            series.point(f"git {number}", wrong + faults_of(root, prepared.account))
    series.close()


def half_done(prepared: Prepared, state: str) -> Path:
    """Return a memory whose run was killed in a state."""
    root = copied(prepared.source, prepared.folder / "half")
    call, count = STATES[state]
    assert injected(root, call, KILL, str(count)).killed
    assert (root / ".curate" / "pending" / "manifest.json").exists()
    return root


@pytest.mark.torture
@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("part", range(PARTS))
def test_killed_while_recovering(prepared: Prepared, state: str, part: int) -> None:
    source = half_done(prepared, state)
    points = own_points(copied(source, prepared.folder / "point"))[part::PARTS]
    kill_at(prepared, source, points, Series("killed in the run that recovers"))


@pytest.mark.torture
@pytest.mark.parametrize("part", range(PARTS))
def test_killed_in_git_while_recovering(prepared: Prepared, part: int) -> None:
    source = half_done(prepared, "half replaced")
    points = points_in_git(copied(source, prepared.folder / "point"))[part::PARTS]
    kill_at(prepared, source, points, Series("killed in a git of the run that recovers"))


def test_killed_at_some_points_of_the_run_and_of_git(prepared: Prepared) -> None:
    some = [Point(0, "rename", 4), Point(0, "link", 3), Point(0, "fsync", 20), Point(0, "unlink", 9)]
    some += points_in_git(prepared.copy())[40::90]
    kill_at(prepared, prepared.source, some, Series("killed (short cut)"))


def test_killed_at_some_points_while_recovering(prepared: Prepared) -> None:
    some = [Point(0, "rename", 1), Point(0, "rename", 3), Point(0, "unlink", 5), Point(0, "fsync", 12)]
    kill_at(prepared, half_done(prepared, "half replaced"), some, Series("killed while recovering (short cut)"))


@pytest.mark.parametrize("state", STATES)
def test_what_is_written_between_the_kill_and_the_next_night_stands(prepared: Prepared, state: str) -> None:
    root = half_done(prepared, state)
    written = ("Logs/2026-03-19.md", "Logs/partial/2026-03-19-phone.md", "Projects/alpha.md", "MEMORY.md")
    for path in written:
        with (root / path).open("ab") as file:
            file.write(NOTED)
    assert curated(root) == (0, "")
    assert sum(data.count(NOTED) for data in files_of(root).values()) == len(written)
