"""A remote that holds a memory on another branch: a clone begins no second one, which would never meet the first."""

from pathlib import Path

import pytest

from pipelines.cli import run_cli
from tests.conftest import Memory
from tests.making import git
from tests.night.sync.machines import check_same, shared


@pytest.fixture
def pair(memory: Memory, tmp_path: Path) -> tuple[Memory, Memory, Path]:
    """Return a memory on main, an empty clone of its remote, and the remote, whose HEAD is no branch of it."""
    one, other, remote = shared(memory)
    git(remote, "symbolic-ref", "HEAD", "refs/heads/master")
    clone = other.aside(tmp_path / "clone")
    git(tmp_path, "clone", "--quiet", str(remote), str(clone.root))
    return one, clone, remote


def init(memory: Memory, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    code = run_cli(["init", str(memory.root), "--now", "2025-01-01T12:00"])
    return code, " ".join(capsys.readouterr().err.split())


def test_a_clone_of_a_memory_on_another_branch_begins_no_second_one(
    pair: tuple[Memory, Memory, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    one, clone, remote = pair
    code, told = init(clone, capsys)
    assert code == 1
    assert "another memory, on its branch origin/main; the branch here is master" in told
    assert clone.files() == {}
    assert f"`git -C {clone.root} switch main && curate init {clone.root}`" in told
    git(clone.root, "switch", "--quiet", "main")
    assert init(clone, capsys)[0] == 0
    clone.night("2025-01-02T23:00")
    one.night("2025-01-02T23:10")
    check_same((one, clone), remote)


def test_other_branches_of_the_same_history_and_of_no_memory_are_fine(
    pair: tuple[Memory, Memory, Path], tmp_path: Path
) -> None:
    one, _, remote = pair
    git(remote, "branch", "backup", "main")
    pages = tmp_path / "pages"
    git(tmp_path, "init", "--quiet", "--initial-branch=gh-pages", str(pages))
    (pages / "index.html").write_text("<p>Hello</p>")
    git(pages, "add", "-A")
    git(pages, "commit", "--quiet", "-m", "Pages")
    git(pages, "push", "--quiet", str(remote), "gh-pages")
    one.write("Areas/sea.md", "# Sea\n")
    assert one.curate("sync") == "Pushed: origin.\n"
    git(one.root, "switch", "--quiet", "-c", "work")
    one.write("Areas/sky.md", "# Sky\n")
    assert one.curate("sync") == "Pushed: origin.\n"


def test_an_empty_remote_is_fine(memory: Memory, tmp_path: Path) -> None:
    one, _, _ = shared(memory)
    git(tmp_path, "init", "--quiet", "--bare", "--initial-branch=master", "empty.git")
    git(one.root, "remote", "set-url", "origin", str(tmp_path / "empty.git"))
    assert one.curate("sync") == "Pushed: origin.\n"
    assert "empty.git" not in one.curate("sync")
