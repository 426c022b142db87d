"""Private text and secrets in a log are nowhere below the memory after a run, killed before or not: not in one byte."""

import contextlib
import subprocess
import zlib
from collections.abc import Sequence
from pathlib import Path

import pytest

from pipelines.night import run_night
from pipelines.store import edits
from pipelines.store.git import Git
from tests.conftest import Memory
from tests.torture.small import copied, curated, git, small_memory
from tests.torture.strace import CALLS, git_points, injected, injected_in_git, needs_strace, python_points

KILL = "signal=SIGKILL"
HIDDEN = ("zwetschgenkuchen", "mirabellenbaum", "quittengelee", "q9Zk3LmP0xTr7Vw2", "Bluewhale77!Tango")
"""What must be gone: three private texts and two secrets, none of which occurs elsewhere."""
_LOG = f"""
- 13:00 Fact: The <private>{HIDDEN[0]}</private> is baked at home.
- 13:10 API_TOKEN={HIDDEN[3]} opens the staging gate
- 13:20 a note
  <private>of several lines
  about the {HIDDEN[1]}</private>
- 13:30 Todo: Water the ferns.
"""
_PARTIAL = f"- 11:00 <private>{HIDDEN[2]}\n- 11:10 password: {HIDDEN[4]}\n"


def remains(root: Path) -> list[str]:
    """Return where below a memory one of the hidden words stands: in files, unpacked ones, or in git's objects."""
    words, found = [word.encode() for word in HIDDEN], []
    for file in sorted(root.rglob("*")):
        if file.is_file() and not file.is_symlink():
            data = file.read_bytes()
            with contextlib.suppress(zlib.error):
                data += zlib.decompress(data)  # a loose object of git
            found += [f"{file.relative_to(root)}: {word.decode()}" for word in words if word in data]
    for repository in (root, *(root / ".curate").glob("*.git")):
        listed = subprocess.run(
            ["git", "cat-file", "--batch", "--batch-all-objects"], cwd=repository, check=True, capture_output=True
        ).stdout
        found += [f"an object of {repository.name}: {word.decode()}" for word in words if word in listed]
    return found


def with_hidden(root: Path) -> None:
    """Write what is to go into the logs of a prepared memory, as other programs do."""
    with (root / "Logs" / "2026-03-19.md").open("a") as log:
        log.write(_LOG)
    with (root / "Logs" / "partial" / "2026-03-19-phone.md").open("a") as log:
        log.write(_PARTIAL)
    assert {one.partition(": ")[2] for one in remains(root)} == set(HIDDEN)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a memory with a night behind it, and with hidden words in the logs of the next."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        folder = tmp_path_factory.mktemp("private")
        small_memory(folder / "prepared")
        with_hidden(folder / "prepared")
        return folder / "prepared"


def test_after_a_run_nothing_of_it_is_left(told: Path, tmp_path: Path) -> None:
    root = copied(told, tmp_path / "memory")
    assert curated(root) == (0, "")
    assert remains(root) == []
    assert "Water the ferns" in (root / "Logs/2026-03-19.md").read_text()
    assert "<private>" not in (root / "Logs/2026-03-19.md").read_text()


@pytest.mark.parametrize(
    "verb",
    [
        "sync",
        *(
            pytest.param(verb, marks=pytest.mark.torture)
            for verb in ("add", "index", "context", "search", "run --dry-run", "secrets")
        ),
    ],
)
def test_nor_where_another_command_came_first(
    memory: Memory, told: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    (tmp_path / "config.toml").write_text('[push]\nremote = "origin"\n')
    monkeypatch.setenv("CURATE_CONFIG", str(tmp_path / "config.toml"))
    there = memory.aside(copied(told, tmp_path / "other"))
    more = {"add": ("fact", "The ferns stand in the hall."), "search": ("ferns",), "context": (), "index": ()}
    if verb == "sync":
        remote = tmp_path / "remote.git"
        subprocess.run(["git", "init", "-q", "--bare", str(remote)], check=True)
        git(there.root, "remote", "add", "origin", str(remote))
    words = verb.split()
    there.curate(*words, *more.get(verb, ()), exits=1 if verb.startswith("check") else 0)
    there.night("2026-03-21T02:00")
    assert remains(there.root) == []
    if verb == "sync":
        assert remains(remote) == []


def test_nor_where_it_is_written_in_the_moment_of_a_commit(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.write("Logs/2026-03-19.md", "- 09:00 Fact: The mast is tall.\n")
    real, once = edits.find_edits, iter([_LOG])

    def looked(git: Git) -> edits.Edits:
        found = real(git)
        for more in once:
            with (memory.root / "Logs" / "2026-03-19.md").open("a") as log:
                log.write(more)
        return found

    monkeypatch.setattr(run_night, "find_edits", looked)
    memory.night("2026-03-21T02:00")
    memory.night("2026-03-22T02:00")
    assert remains(memory.root) == []
    assert "Water the ferns" in memory.read("Logs/2026-03-19.md")


def kill_and_run(source: Path, folder: Path, points: Sequence[tuple[int, str, int]]) -> list[str]:
    """Kill a run at each of these points, run once more, and return where something was left."""
    left, fired = [], 0
    for number, call, nth in points:
        root = copied(source, folder / "point")
        if number:
            ended = injected_in_git(root, number, call, f"{KILL}:when={nth}", take_python=True)
        else:
            ended = injected(root, call, KILL, str(nth))
        fired += ended.fired
        assert curated(root) == (0, ""), (number, call, nth)
        left += [f"{call} {nth} of git {number}: {one}" for one in remains(root)]
    assert fired >= len(points) * 3 // 4
    return left


def some(points: Sequence[tuple[int, str, int]], count: int) -> Sequence[tuple[int, str, int]]:
    return points[:: max(1, len(points) // count)]


@needs_strace
def test_nor_after_a_kill_and_the_next_run(told: Path, tmp_path: Path) -> None:
    counts = python_points(copied(told, tmp_path / "count"))
    points = [(0, call, nth) for call in CALLS for nth in range(1, counts.get(call, 0) + 1)]
    assert kill_and_run(told, tmp_path, some(points, 2)) == []


@needs_strace
@pytest.mark.torture
def test_nor_after_a_kill_anywhere(told: Path, tmp_path: Path) -> None:
    counts = python_points(copied(told, tmp_path / "count"))
    points = [(0, call, nth) for call in CALLS for nth in range(1, counts.get(call, 0) + 1)]
    assert kill_and_run(told, tmp_path, [*points, *git_points(copied(told, tmp_path / "count"))]) == []
