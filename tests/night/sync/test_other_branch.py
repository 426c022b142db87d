"""A remote that holds a memory on another branch: two machines would never meet, so every command says it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pipelines.cli import run_cli
from tests.night.sync.machines import check_same, git, shared, state

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Memory

OTHER = "The remote origin holds another memory, on its branch main; the branch here is master."


@pytest.fixture
def pair(memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Memory, Memory, Path]:
    """Return a memory on main, an empty clone of its remote, and the remote, whose HEAD is no branch of it."""
    one, other, remote = shared(memory, tmp_path, monkeypatch)
    git(remote, "symbolic-ref", "HEAD", "refs/heads/master")
    clone = other.aside(tmp_path / "clone")
    git(tmp_path, "clone", "--quiet", str(remote), str(clone.root))
    return one, clone, remote


def second_memory(like: Memory, folder: Path, remote: Path) -> Memory:
    """Return a memory that was begun on master, before anybody named its remote."""
    git(folder.parent, "init", "--quiet", "--initial-branch=master", str(folder))
    assert run_cli(["init", str(folder), "--now", "2025-01-01T12:00"]) == 0
    git(folder, "remote", "add", "origin", str(remote))
    return like.aside(folder)


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
    clone.curate("run", "--now", "2025-01-02T23:00")
    one.curate("run", "--now", "2025-01-02T23:10")
    check_same((one, clone), remote)


def test_a_memory_on_another_branch_is_not_pushed_beside_the_first(
    pair: tuple[Memory, Memory, Path], tmp_path: Path
) -> None:
    one, _, remote = pair
    second = second_memory(one, tmp_path / "second", remote)
    assert f"{OTHER} To use that memory: `git -C " in " ".join(second.curate("sync", exits=1).split())
    assert OTHER in " ".join(second.curate("run", "--now", "2025-01-02T23:00", exits=1).split())
    assert state(second)["state"] == "diverged"
    (second.root / ".curate/push.json").unlink()
    assert git(remote, "branch", "--format=%(refname:short)").split() == ["main"]
    git(second.root, "fetch", "--quiet", "origin", "main:main")
    git(second.root, "switch", "--quiet", "main")
    second.curate("sync")
    check_same((one, second), remote)


def test_a_second_memory_that_is_meant_is_pushed_and_stops_nobody(
    pair: tuple[Memory, Memory, Path], tmp_path: Path
) -> None:
    one, _, remote = pair
    second = second_memory(one, tmp_path / "second", remote)
    git(second.root, "config", "memcurate.branch", "master")
    assert second.curate("sync") == "Pushed: origin.\n"
    one.write("Areas/sea.md", "# Sea\n")
    told = " ".join(one.curate("sync", exits=1).split())
    assert "Pushed: origin. The remote origin holds another memory, on its branch master" in told
    assert git(remote, "rev-parse", "main") == git(one.root, "rev-parse", "HEAD")
    git(one.root, "config", "memcurate.branch", "main")
    assert one.curate("sync") == ""


def test_other_branches_of_the_same_history_and_of_no_memory_are_fine(
    pair: tuple[Memory, Memory, Path], tmp_path: Path
) -> None:
    one, _, remote = pair
    git(remote, "branch", "backup", "main")
    pages = tmp_path / "pages"
    git(tmp_path, "init", "--quiet", "--initial-branch=gh-pages", str(pages))
    (pages / "index.html").write_text("<p>Hello</p>")
    git(pages, "add", "-A")
    git(pages, "-c", "user.name=A", "-c", "user.email=a@b", "commit", "--quiet", "-m", "Pages")
    git(pages, "push", "--quiet", str(remote), "gh-pages")
    one.write("Areas/sea.md", "# Sea\n")
    assert one.curate("sync") == "Pushed: origin.\n"
    git(one.root, "switch", "--quiet", "-c", "work")
    one.write("Areas/sky.md", "# Sky\n")
    assert one.curate("sync") == "Pushed: origin.\n"


def test_an_empty_remote_is_fine(memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, _, _ = shared(memory, tmp_path, monkeypatch)
    git(tmp_path, "init", "--quiet", "--bare", "--initial-branch=master", "empty.git")
    git(one.root, "remote", "set-url", "origin", str(tmp_path / "empty.git"))
    assert one.curate("sync") == "Pushed: origin.\n"
    assert "empty.git" not in one.curate("sync")
