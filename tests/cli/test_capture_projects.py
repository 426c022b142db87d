"""`curate capture` in work trees and clones: one repository is one project, wherever it stands."""

import shutil
from pathlib import Path

import pytest

from tests.cli.test_capture import NOW, said, transcript
from tests.conftest import Memory
from tests.making import git


@pytest.fixture
def harbor(tmp_path: Path) -> Path:
    """Return a repository with one commit and no remote."""
    top = tmp_path / "harbor"
    (top / "api").mkdir(parents=True)
    git(top, "init", "-q", ".")
    git(top, "commit", "-q", "--allow-empty", "-m", "Begin")
    return top


def project_in(memory: Memory, folder: Path | str, tmp_path: Path) -> str:
    """Return the project of a session that worked in a folder, as the log has it."""
    number = len(list((memory.root / "Sessions").rglob("*.jsonl")))
    record = said("user", f"Ask {number}.", "2026-03-17T21:30:00Z", f"s{number}", cwd=str(folder))
    memory.curate("capture", str(transcript(tmp_path / f"s{number}.jsonl", record)), *NOW)
    (line,) = [one for one in memory.read("Logs/2026-03-17.md").splitlines() if f"Ask {number}." in one]
    return line.partition("[project: ")[2].partition("]")[0]


def test_work_trees_clones_and_subfolders_are_one_project(memory: Memory, harbor: Path, tmp_path: Path) -> None:
    git(harbor, "worktree", "add", "-q", str(tmp_path / "fix-123"))
    git(tmp_path, "clone", "-q", str(harbor), "trial")
    folders = (harbor, harbor / "api", tmp_path / "fix-123", tmp_path / "trial/api")
    assert {project_in(memory, folder, tmp_path) for folder in folders} == {"harbor"}


def test_clones_of_one_remote_are_one_project_under_the_name_that_it_has(
    memory: Memory, harbor: Path, tmp_path: Path
) -> None:
    memory.write("Projects/harbor.md", "# Harbor\n")
    git(harbor, "remote", "add", "origin", "git@git.example.org:ada/hafen.git")
    assert project_in(memory, harbor, tmp_path) == "harbor"
    other = tmp_path / "elsewhere"
    other.mkdir()
    git(other, "init", "-q", ".")
    git(other, "remote", "add", "origin", "https://ada:secret@git.example.org/ada/hafen")
    assert project_in(memory, other, tmp_path) == "harbor"
    state = memory.read("State/sessions.jsonl")
    assert "ada/hafen" in state
    assert "secret" not in state
    assert str(tmp_path) not in state


def test_a_second_machine_gives_a_remote_the_same_name(memory: Memory, harbor: Path, tmp_path: Path) -> None:
    memory.write("Projects/harbor.md", "# Harbor\n")
    git(harbor, "remote", "add", "origin", "git@git.example.org:ada/hafen.git")
    project_in(memory, harbor, tmp_path)
    shutil.rmtree(harbor)
    (memory.root / "Projects/harbor.md").unlink()
    meta = {
        "timestamp": "2026-03-17T22:00:00Z", "type": "session_meta",
        "payload": {"id": "x", "cwd": "/gone/copy", "git": {"repository_url": "https://git.example.org/ada/hafen.git"}},
    }  # fmt: skip
    turn = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Which queue?"}]}
    record = {"timestamp": "2026-03-17T22:00:01Z", "type": "response_item", "payload": turn}
    memory.curate("capture", str(transcript(tmp_path / "x.jsonl", meta, record)), *NOW)
    assert "[project: harbor] **user:** Which queue?" in memory.read("Logs/2026-03-17.md")


@pytest.mark.parametrize(
    "folder", ["/home/ada/src/harbor/.claude/worktrees/fix", "/home/ada/src/harbor/.worktrees/fix/api", "/x/harbor"]
)
def test_a_folder_that_is_gone_is_told_by_its_path(memory: Memory, tmp_path: Path, folder: str) -> None:
    assert project_in(memory, folder, tmp_path) == "harbor"


def test_a_session_that_begins_in_no_project_takes_that_of_each_folder_to_which_it_moves(
    memory: Memory, tmp_path: Path
) -> None:
    """https://github.com/thedotmack/claude-mem/issues/2663."""
    for name in ("kiln", "glaze"):
        (tmp_path / f"code/{name}/.git").mkdir(parents=True)
        (tmp_path / f"code/{name}/.git/HEAD").touch()
    turns = [
        said("user", f"Ask {n}.", f"2026-03-17T21:3{n}:00Z", cwd=str(tmp_path / folder), uuid=f"u{n}")
        for n, folder in enumerate(("code", "code/kiln", "code/glaze"))
    ]
    memory.curate("capture", str(transcript(tmp_path / "s.jsonl", *turns)), *NOW)
    lines = [one for one in memory.read("Logs/2026-03-17.md").splitlines() if "Ask" in one]
    assert ["project: kiln" in lines[1], "project: glaze" in lines[2], "project" in lines[0]] == [True, True, False]


def test_a_hostile_repository_starts_nothing(memory: Memory, harbor: Path, tmp_path: Path) -> None:
    mark = tmp_path / "started"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {mark}\n")
    program.chmod(0o755)
    for key in ("core.fsmonitor", "core.sshCommand", "core.pager", "core.askPass", "alias.rev-list", "gpg.program"):
        git(harbor, "config", key, f"!{program}" if key.startswith("alias") else str(program))
    git(harbor, "config", "extensions.partialClone", "origin")
    git(harbor, "remote", "add", "origin", f"ext::{program}")
    (harbor / ".git/refs/heads").joinpath("main").write_text("1" * 40 + "\n")
    (harbor / ".git/HEAD").write_text("ref: refs/heads/main\n")
    for name in ("post-checkout", "reference-transaction", "post-index-change"):
        shutil.copy(program, harbor / ".git/hooks" / name)
    assert project_in(memory, harbor, tmp_path)
    assert not mark.exists()


def test_a_session_in_a_work_tree_begins_with_the_project(
    memory: Memory, harbor: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.write("Projects/harbor.md", "# Harbor\n\n## Decisions\n\n- Decision: Orders use Postgres 16.\n")
    git(harbor, "worktree", "add", "-q", str(tmp_path / "fix-123"))
    monkeypatch.chdir(tmp_path / "fix-123")
    assert "Orders use Postgres 16." in memory.curate("context")
