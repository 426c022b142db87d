"""Git: commits by plumbing, nothing of the person's is touched, nothing of the repository's is run."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pipelines.errors import GitFault, NotARepository
from pipelines.store.edits import commit_edits, uncommitted
from pipelines.store.git import Author, Git

WHEN = datetime(2026, 3, 18, 2, tzinfo=UTC)
AUTHOR = Author("Night", "night@example.org", WHEN)


@pytest.fixture
def git(bare_memory: Path) -> Git:
    made = Git(bare_memory)
    made.init()
    commit_edits(made, "first\n", AUTHOR)
    return made


def commit_file(git: Git, path: str, text: str) -> str | None:
    file = git.root / path
    file.write_text(text)
    return git.commit({path: ("100644", text.encode())}, "change\n\nRun-Id: 1\n", AUTHOR)


def test_what_a_person_has_staged_stays_staged(git: Git) -> None:
    (git.root / "NOTES.txt").write_text("staged")
    (git.root / "SOUL.md").write_text("staged soul")
    git.run("add", "NOTES.txt", "SOUL.md")
    before = git.run("diff", "--cached")
    commit_file(git, "MEMORY.md", "new")
    assert git.run("diff", "--cached") == before
    assert git.run("status", "--porcelain") == b"A  NOTES.txt\nM  SOUL.md\n"


@pytest.mark.parametrize("step", ["update-ref", "read-tree"])
def test_an_index_that_lags_behind_is_moved_along_by_the_next_start(
    git: Git, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    (git.root / "NOTES.txt").write_text("staged")
    git.run("add", "NOTES.txt")
    real = git._call

    def killed(*arguments: str, data: bytes = b"") -> object:
        if arguments[0] == step:
            raise KeyboardInterrupt
        return real(*arguments, data=data)

    with monkeypatch.context() as patch:
        patch.setattr(git, "_call", killed)
        with pytest.raises(KeyboardInterrupt):
            commit_file(git, "MEMORY.md", "new")
    git.settle()
    assert git.run("status", "--porcelain", "MEMORY.md") == (b"" if step == "read-tree" else b" M MEMORY.md\n")
    assert git.run("status", "--porcelain", "NOTES.txt") == b"A  NOTES.txt\n"
    assert commit_file(git, "MEMORY.md", "newer")
    assert git.run("status", "--porcelain") == b"A  NOTES.txt\n"
    assert not (git.root / ".curate" / "index-base").exists()


def test_a_git_that_was_killed_is_no_answer(git: Git, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shim = tmp_path / "bin" / "git"
    shim.parent.mkdir()
    shim.write_text("#!/bin/sh\nkill -9 $$\n")
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", f"{shim.parent}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(GitFault, match="git cat-file was ended by SIGKILL"):
        Git(git.root).head()


def test_nothing_of_the_repository_runs(git: Git, tmp_path: Path) -> None:
    fired = tmp_path / "fired"
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {fired}\ncat\n")
    trap.chmod(0o755)
    for hook in ("pre-commit", "commit-msg", "post-commit", "reference-transaction", "post-index-change"):
        (git.root / ".git" / "hooks").mkdir(exist_ok=True)
        (git.root / ".git" / "hooks" / hook).symlink_to(trap)
    for key in ("core.fsmonitor", "filter.x.clean", "filter.x.smudge", "core.editor", "core.pager", "gpg.program"):
        git.run("config", key, str(trap))
    git.run("config", "commit.gpgSign", "true")
    (git.root / ".gitattributes").write_text("*.md filter=x\n")
    (git.root / "Areas" / "a.md").write_text("a")
    commit_edits(git, "edits\n", AUTHOR)
    commit_file(git, "MEMORY.md", "new")
    assert not fired.exists()
    assert git.show("HEAD", "Areas/a.md") == b"a"


def test_a_foreign_git_environment_is_not_passed_on(git: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere/index")
    assert git.head()


def test_states_in_which_a_commit_would_be_wrong(git: Git, tmp_path: Path) -> None:
    with pytest.raises(NotARepository):
        Git(tmp_path).check()
    git.run("checkout", "--detach", "--quiet")
    with pytest.raises(GitFault, match="no branch"):
        git.check()


def test_a_folder_whose_name_holds_a_line_end_and_that_a_repository_contains(tmp_path: Path) -> None:
    Git(tmp_path).init()
    inner = Git(tmp_path / "a\nb")
    inner.root.mkdir()
    with pytest.raises(NotARepository):
        inner.check()
    inner.init()
    inner.check()
    assert inner.repository.git_dir == inner.root / ".git"


def test_edits_are_found_without_filters_and_ignored_files_left_out(git: Git) -> None:
    (git.root / ".gitattributes").write_text("* text=auto\n")
    (git.root / "Areas" / "crlf.md").write_bytes(b"a\r\nb\r\n")
    (git.root / "Areas" / "ignored.md").write_text("x")
    (git.root / ".gitignore").write_text("ignored.md\n")
    (git.root / "SOUL.md").unlink()
    (git.root / "Areas" / "link.md").symlink_to("/etc/passwd")
    assert uncommitted(git) == [".gitattributes", ".gitignore", "Areas/crlf.md", "SOUL.md"]
    commit_edits(git, "edits\n", AUTHOR)
    assert uncommitted(git) == []
    assert git.show("HEAD", "Areas/crlf.md") == b"a\r\nb\r\n"


def test_the_environment_holds_no_key(git: Git, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    told = tmp_path / "environment"
    shim = tmp_path / "bin" / "git"
    shim.parent.mkdir()
    shim.write_text(f"#!/bin/sh\nenv > {told}\n")
    shim.chmod(0o755)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "canary")
    monkeypatch.setenv("PATH", f"{shim.parent}{os.pathsep}{os.environ['PATH']}")
    Git(git.root).head()
    assert "PATH=" in told.read_text()
    assert "canary" not in told.read_text()


def test_many_packs_become_few_and_lose_nothing(git: Git) -> None:
    made = [commit_file(git, "MEMORY.md", f"day {day}\n" * 100) for day in range(20)]
    (git.root / "loose.txt").write_text("of the person's")
    git.run("add", "loose.txt")
    packs = git.repository.common_dir / "objects" / "pack"
    assert len(list(packs.glob("*.pack"))) == 21
    git.pack()
    assert len(list(packs.glob("*.pack"))) == 1
    git.run("fsck", "--strict")
    assert git.run("cat-file", "blob", ":loose.txt") == b"of the person's"
    assert [Git(git.root).show(str(commit), "MEMORY.md") for commit in made] == [
        b"day %d\n" % day * 100 for day in range(20)
    ]
    before = sorted(packs.iterdir())
    git.pack()
    assert sorted(packs.iterdir()) == before


def test_folders_in_folders_without_end_are_read(bare_memory: Path) -> None:
    (git := Git(bare_memory)).init()
    deep = "f/" * 1_400 + "end.md"
    commit = git.store_commit([], {deep: ("100644", b"x")}, "change\n", AUTHOR)
    assert list(git.tree(commit)) == [deep]
