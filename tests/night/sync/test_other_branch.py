"""A clone, and what it does not show at once: a memory on another branch, or pages that git leaves out of the disk."""

from pathlib import Path

import pytest

from pipelines.cli import run_cli
from tests.conftest import Memory
from tests.making import git
from tests.night.sync.machines import check_same, shared


def init(memory: Memory, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    code = run_cli(["init", str(memory.root), "--now", "2025-01-01T12:00"])
    return code, " ".join(capsys.readouterr().err.split())


def test_a_clone_of_a_memory_on_another_branch_begins_no_second_one(
    memory: Memory, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other, remote = shared(memory)
    git(remote, "symbolic-ref", "HEAD", "refs/heads/master")
    clone = other.aside(tmp_path / "clone")
    git(tmp_path, "clone", "--quiet", str(remote), str(clone.root))
    code, told = init(clone, capsys)
    assert code == 1
    assert "The memory of this repository is on its branch origin/main; the branch here is master" in told
    assert clone.files() == {}
    assert f"`git -C {clone.root} switch main && curate init {clone.root}`" in told
    git(clone.root, "switch", "--quiet", "main")
    assert init(clone, capsys)[0] == 0
    clone.night("2025-01-02T23:00")
    one.night("2025-01-02T23:10")
    check_same((one, clone), remote)


@pytest.mark.parametrize("leaves_out", ["sparse", "nothing checked out"])
def test_init_in_a_clone_takes_no_page_for_missing_that_git_leaves_out(
    memory: Memory, leaves_out: str, capsys: pytest.CaptureFixture[str]
) -> None:
    memory.write("USER.md", memory.read("USER.md") + "\nIda sails.\n")
    _, other, remote = shared(memory)
    if leaves_out == "sparse":
        git(other.root, "sparse-checkout", "set", "--no-cone", "/*", "!/MEMORY.md", "!/USER.md")
    else:
        clone = other.root.with_name("clone")
        git(clone.parent, "clone", "--quiet", "--no-checkout", str(remote), str(clone))
        other = other.aside(clone)
    assert init(other, capsys)[0] == 0
    assert "Ida sails." in git(other.root, "show", "HEAD:USER.md")
