"""What git answers: whatever it says beside it, and wherever it ends within it."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pipelines.errors import GitFault
from pipelines.store.git import Git


@pytest.fixture
def instead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Git]:
    """Return how to put a script in the place of git."""

    def put(script: str) -> Git:
        shim = tmp_path / "bin" / "git"
        shim.parent.mkdir()
        shim.write_text(f"#!/bin/sh\n{script}\n")
        shim.chmod(0o755)
        monkeypatch.setenv("PATH", f"{shim.parent}{os.pathsep}{os.environ['PATH']}")
        return Git(tmp_path / "elsewhere")  # what lies in the memory is never run

    (tmp_path / "elsewhere").mkdir()
    Git(tmp_path / "elsewhere").init()
    return put


def test_what_git_says_beside_its_answer_holds_nobody_up(instead: Callable[[str], Git]) -> None:
    git = instead("head -c 3000000 /dev/zero | tr '\\0' 'x' >&2; echo >&2; echo why >&2; echo answer; exit 3")
    code, out, error = git._call("log")
    assert (code, out) == (3, b"answer\n")
    assert error.endswith("why")
    with pytest.raises(GitFault, match="git log failed: why"):
        git.run("log")


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        ("read name; echo 'fatal: why' >&2; exit 128", "git cat-file failed: fatal: why"),
        ("read name; printf '%s' abc; exit 0", "git cat-file failed"),
        ("read name; printf 'abc blob 10\\nabc'; exit 0", "git cat-file failed"),
    ],
)
def test_a_git_that_ends_within_an_answer_has_given_none(
    instead: Callable[[str], Git], script: str, sentence: str
) -> None:
    with pytest.raises(GitFault, match=sentence):
        instead(script).object("HEAD")
