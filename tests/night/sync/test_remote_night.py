"""`curate run REMOTE`: one run publishes, a late one is refused, and what was pushed meanwhile is joined."""

import errno
import io
import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pipelines.cli import run_cli
from pipelines.night.sync import clone_name
from pipelines.store.snapshot import read_documents
from pipelines.usage import Price
from tests.conftest import Memory
from tests.extract.wire import KEY, Wire, openai_error, openai_wire
from tests.making import git
from tests.night.sync.machines import CAPS

NIGHT_REF = "refs/curate/night"
NIGHT = "2025-01-02T23:00"
LOG = "project: Kestrel\n\n- Fact: the cache keeps 40 entries\n- Rule: never push on Friday\n"


class Remote:
    """A memory on a bare remote, the clone of its agent's host, and the nights that curate it."""

    def __init__(self, memory: Memory, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.memory, self.folder, self.capsys = memory, folder, capsys
        self.path = folder / "kestrel.git"
        git(folder, "init", "--quiet", "--bare", "--initial-branch=main", str(self.path))
        memory.write("curate.toml", CAPS)
        self.push_log("2025-01-02", LOG)

    def push_log(self, day: str, text: str) -> None:
        """Push a log from the agent's host."""
        self.memory.write(f"Logs/{day}.md", text)
        self.commit_and_push()

    def commit_and_push(self) -> None:
        git(self.memory.root, "add", "-A")
        git(self.memory.root, "commit", "--quiet", "-m", "Logs")
        git(self.memory.root, "push", "--quiet", str(self.path), "HEAD:main")

    def night(self, *options: str, workdir: str = "worker", exits: int = 0) -> dict[str, Any]:
        """Run a night and return what it printed as JSON: one object, and nothing else."""
        self.capsys.readouterr()
        arguments = ("run", str(self.path), "--workdir", str(self.folder / workdir), "--json")
        code = run_cli([*arguments, *(options or ("--now", NIGHT))])
        told = self.capsys.readouterr()
        assert code == exits, told
        assert told.err == ""
        found: dict[str, Any] = json.loads(told.out)
        assert found["exit_code"] == exits
        return found

    def refs(self) -> dict[str, str]:
        rows = (row.split() for row in git(self.path, "for-each-ref", "--format=%(refname) %(objectname)").splitlines())
        return {row[0]: row[1] for row in rows}

    def clone(self, workdir: str = "worker") -> Path:
        return self.folder / workdir / clone_name(str(self.path))

    def items(self) -> list[str]:
        """Return the texts of all items at the remote."""
        fresh = self.folder / f"seen-{len(list(self.folder.iterdir()))}"
        git(self.folder, "clone", "--quiet", str(self.path), str(fresh))
        placed = [placed.item for document in read_documents(fresh).values() for placed in document.items]
        assert len({item.id for item in placed}) == len(placed)
        git(self.path, "fsck", "--strict")
        return sorted(item.text for item in placed)

    def interrupt(self, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
        """Run a command while the next night reads the logs, after it has fetched them."""
        script = self.folder / "interrupt"
        once = shlex.quote(str(self.folder / "interrupted"))
        script.write_text(f"#!/bin/sh\nmkdir {once} 2>/dev/null && {{ {command}\n}}\necho '{{}}'\n")
        script.chmod(0o755)
        config = self.folder / "config.toml"
        config.write_text(f'providers = ["exec:{script}"]\n')
        monkeypatch.setenv("CURATE_CONFIG", str(config))

    def other_night(self) -> str:
        """Return the command of a whole night in another worker."""
        words = [sys.executable, "-m", "pipelines.cli", "run", str(self.path), "--now", "2025-01-02T23:30"]
        words += ["--workdir", str(self.folder / "other")]
        inside = f"PYTHONPATH={Path(__file__).parents[3]} HOME={self.folder} PATH={os.environ['PATH']} TZ=UTC"
        return f"env -i {inside} {shlex.join(words)} >{self.folder}/other.txt 2>&1"


@pytest.fixture
def remote(memory: Memory, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Remote:
    return Remote(memory, tmp_path, capsys)


def test_a_night_is_pushed_with_its_ref_and_the_next_one_finds_nothing_new(remote: Remote) -> None:
    before = remote.refs()["refs/heads/main"]
    told = remote.night()
    refs = remote.refs()
    assert refs["refs/heads/main"] == refs[NIGHT_REF] == told["after"] == told["night"] == told["commit"]
    assert (told["before"], told["pushed"], told["branch"]) == (before, True, "main")
    assert (told["model"]["usd"], told["model"]["calls"]) == (0, 0)
    assert remote.items() == ["never push on Friday", "the cache keeps 40 entries"]
    for workdir in ("worker", "another"):
        again = remote.night(workdir=workdir)
        assert (again["pushed"], again["before"], again["after"]) == (False, refs[NIGHT_REF], refs[NIGHT_REF])
    assert remote.refs() == refs


def test_a_late_run_is_refused_and_the_remote_stays_as_the_first_left_it(
    remote: Remote, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote.interrupt(monkeypatch, remote.other_night())
    told = remote.night(exits=75)
    assert told["error"]["kind"] == "NightOvertaken"
    assert "ended first, so nothing of this one was published" in told["error"]["sentence"]
    refs = remote.refs()
    assert refs[NIGHT_REF] == refs["refs/heads/main"]
    assert git(remote.path, "log", "-1", "--format=%cd", "--date=iso", "main").startswith("2025-01-02 23:30")
    git(remote.memory.root, "pull", "--quiet", str(remote.path), "main")
    remote.push_log("2025-01-03", "project: Kestrel\n\n- Fact: the queue has 3 readers\n")
    assert remote.night("--now", "2025-01-03T23:00")["pushed"]
    assert remote.items() == ["never push on Friday", "the cache keeps 40 entries", "the queue has 3 readers"]


def test_a_run_is_refused_when_another_one_moved_the_ref_alone(remote: Remote, monkeypatch: pytest.MonkeyPatch) -> None:
    remote.interrupt(monkeypatch, f"git -C {remote.path} update-ref {NIGHT_REF} main")
    before = remote.refs()["refs/heads/main"]
    assert remote.night(exits=75)["error"]["kind"] == "NightOvertaken"
    assert remote.refs() == {"refs/heads/main": before, NIGHT_REF: before}


def push_hook(remote: Remote, kind: str, command: str) -> None:
    """Run a command at the remote while a push is received, as if it came from elsewhere."""
    hook = remote.path / "hooks" / kind
    hook.parent.mkdir(exist_ok=True)
    clean = "unset GIT_QUARANTINE_PATH GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES"
    hook.write_text(f"#!/bin/sh\n{clean}\n{command}\n")
    hook.chmod(0o755)


def test_a_push_that_arrived_though_its_answer_was_lost_counts(remote: Remote, monkeypatch: pytest.MonkeyPatch) -> None:
    remote.interrupt(monkeypatch, "true")
    push_hook(remote, "post-receive", "kill -9 $PPID")
    assert remote.night()["pushed"]
    refs = remote.refs()
    assert refs[NIGHT_REF] == refs["refs/heads/main"]


def test_logs_and_edits_that_come_meanwhile_are_joined(remote: Remote, monkeypatch: pytest.MonkeyPatch) -> None:
    remote.night()
    root = remote.memory.root
    git(root, "pull", "--quiet", str(remote.path), "main")
    remote.push_log("2025-01-03", "project: Kestrel\n\n- Fact: the queue has 3 readers\n")
    base = remote.refs()["refs/heads/main"]
    page = remote.memory.read("Projects/kestrel.md").replace("40 entries", "50 entries")
    remote.memory.write("Projects/kestrel.md", page)
    remote.memory.write("Logs/2025-01-04.md", "project: Kestrel\n\n- Fact: Backups are kept for ninety days\n")
    git(root, "add", "-A")
    git(root, "commit", "--quiet", "-m", "Meanwhile")
    remote.interrupt(monkeypatch, f"git -C {root} push --quiet {remote.path} HEAD:main")
    told = remote.night("--now", "2025-01-03T23:00")
    refs = remote.refs()
    assert (told["before"], told["pushed"], told["after"]) == (base, True, refs["refs/heads/main"])
    assert refs[NIGHT_REF] == told["night"] != refs["refs/heads/main"], "a night waits for the joined log"
    assert remote.items() == ["never push on Friday", "the cache keeps 50 entries", "the queue has 3 readers"]
    monkeypatch.delenv("CURATE_CONFIG")
    remote.night("--now", "2025-01-04T23:00", workdir="another")
    refs = remote.refs()
    assert refs[NIGHT_REF] == refs["refs/heads/main"]
    assert "Backups are kept for ninety days" in remote.items()


@pytest.mark.parametrize("hook", ["pre-receive", "post-receive"])
def test_a_run_killed_at_its_push_is_repeated_and_nothing_is_doubled(remote: Remote, hook: str) -> None:
    script = remote.path / "hooks" / hook
    lock = remote.clone() / ".curate/night.lock"
    script.parent.mkdir(exist_ok=True)
    script.write_text(f"#!/bin/sh\nkill -9 $(sed 's/process \\([0-9]*\\) .*/\\1/' {lock})\nexit 1\n")
    script.chmod(0o755)
    words = [sys.executable, "-m", "pipelines.cli", "run", str(remote.path), "--now", NIGHT]
    words += ["--workdir", str(remote.folder / "worker")]
    before = remote.refs()
    assert subprocess.run(words, check=False, capture_output=True).returncode == -signal.SIGKILL
    script.unlink()
    was_pushed = hook == "post-receive"
    assert (remote.refs() != before) == was_pushed
    assert remote.night("--now", "2025-01-02T23:40")["pushed"] != was_pushed
    refs = remote.refs()
    assert refs["refs/heads/main"] == refs[NIGHT_REF]
    assert remote.items() == ["never push on Friday", "the cache keeps 40 entries"]
    assert git(remote.path, "log", "--format=%H", "--grep=^Run-Id: ", "main").count("\n") == 1


def test_a_clone_starts_from_the_remote_whatever_was_left_in_it(remote: Remote) -> None:
    remote.night()
    clone = remote.clone()
    (clone / "MEMORY.md").write_text("# Torn\n")
    (clone / "Logs/2025-01-05.md").write_text("- Fact: nobody wrote this\n")
    (clone / "Areas/odd.md").write_text("- Fact: nobody wrote this either\n")
    git(clone, "commit", "--quiet", "-am", "Left by a killed run")
    told = remote.night("--now", "2025-01-02T23:40")
    assert not told["pushed"]
    assert git(clone, "status", "--porcelain", "--ignored").split() == ["!!", ".curate/"]
    assert git(clone, "rev-parse", "HEAD").strip() == remote.refs()["refs/heads/main"]


def test_what_a_remote_configures_or_holds_runs_nothing(remote: Remote, monkeypatch: pytest.MonkeyPatch) -> None:
    canary, script = remote.folder / "canary", remote.folder / "run"
    script.write_text(f"#!/bin/sh\ntouch {canary}\ncat\n")
    script.chmod(0o755)
    settings = remote.folder / "gitconfig"
    settings.write_text(f'[filter "odd"]\n\tsmudge = {script}\n\tclean = {script}\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    remote.memory.write(".gitattributes", "* filter=odd text eol=crlf\n")
    remote.memory.write(".gitignore", "!.curate\n")
    git(remote.memory.root, "-c", "filter.odd.clean=cat", "add", ".gitattributes", ".gitignore")
    git(remote.memory.root, "commit", "--quiet", "-m", "Odd")
    git(remote.memory.root, "push", "--quiet", str(remote.path), "HEAD:main")
    canary.unlink(missing_ok=True)
    for night in (NIGHT, "2025-01-03T23:00"):
        remote.night("--now", night)
    assert not canary.exists()
    assert b"\r" not in (remote.clone() / "curate.toml").read_bytes()
    assert remote.items() == ["never push on Friday", "the cache keeps 40 entries"]


def test_a_remote_that_brings_its_own_derived_folder_is_refused(remote: Remote) -> None:
    remote.memory.write(".Curate/remote.git/config", "[core]\n\tsshCommand = touch /tmp/x\n")
    git(remote.memory.root, "add", "-f", ".Curate")
    remote.commit_and_push()
    told = remote.night(exits=1)
    assert "has .Curate/ under git" in told["error"]["sentence"]
    assert not (remote.clone() / ".Curate").exists()


@pytest.mark.parametrize(
    ("make", "address", "code", "sentence"),
    [
        ("true", "ext::sh -c true", 1, "The remote's address is not supported. Use https://"),
        ("true", "nowhere.git", 1, "The remote's address is not supported."),
        ("true", "{folder}/nowhere.git", 75, "nowhere.git' does not appear to be a git repository. Check the address"),
        ("git init --quiet --bare {folder}/empty.git", "{folder}/empty.git", 1, "has no commit or no default branch."),
        ("mkdir {folder}/plain", "{folder}/plain", 75, "git ls-remote failed: "),
    ],
)
def test_a_remote_that_is_no_memory_is_named(remote: Remote, make: str, address: str, code: int, sentence: str) -> None:
    subprocess.run(make.format(folder=remote.folder), shell=True, check=True)  # noqa: S602  the test's own words
    remote.path = address.format(folder=remote.folder)  # type: ignore[assignment]
    config = remote.folder / "config.toml"
    config.write_text('providers = ["rules"]\n')
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CURATE_CONFIG", str(config))
        told = remote.night(exits=code)
    assert sentence in told["error"]["sentence"]
    assert "commit" not in told


def test_a_repository_without_a_memory_is_named(remote: Remote) -> None:
    git(remote.memory.root, "rm", "--quiet", "curate.toml")
    remote.commit_and_push()
    assert "is not a memory: it has no curate.toml." in remote.night(exits=1)["error"]["sentence"]


def read_by(wire: Wire, remote: Remote, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a provider with known prices read the logs."""
    config = remote.folder / "config.toml"
    config.write_text(
        f'providers = ["openai"]\n[openai]\nmodel = "priced"\nbase_url = "{wire.url}/v1"\napi_key_env = "MODEL_KEY"\n'
        "[limits]\nmax_usd = 5.0\n"
    )
    monkeypatch.setattr("pipelines.usage.price_table", lambda: (Price("openai:priced", 1.0, 2.0),))
    monkeypatch.setenv("CURATE_CONFIG", str(config))
    monkeypatch.setenv("MODEL_KEY", KEY)


@pytest.mark.parametrize(("status", "code"), [(429, 75), (503, 75), (401, 1)])
def test_a_provider_that_may_answer_later_is_told_from_one_that_needs_a_person(
    remote: Remote, monkeypatch: pytest.MonkeyPatch, status: int, code: int
) -> None:
    monkeypatch.setattr("pipelines.extract.llm.fallback.FIRST_PAUSE", 0.0)
    with openai_wire() as wire:
        read_by(wire, remote, monkeypatch)
        wire.by_request = lambda _: openai_error(status)
        told = remote.night(exits=code)
    assert (told["pushed"], told["entries"]["pending"]) == (False, 2)


def test_a_night_costs_no_more_than_its_caller_allows(remote: Remote, monkeypatch: pytest.MonkeyPatch) -> None:
    with openai_wire() as wire:
        read_by(wire, remote, monkeypatch)
        told = remote.night("--now", NIGHT, "--max-usd", "0.001")
        assert "$0.0000 of max_usd = 0.001 is spent, and one call may cost" in told["model"]["over_budget"]
        assert (told["model"]["calls"], told["pushed"]) == (0, False)
        assert remote.night("--now", NIGHT, "--max-usd", "50")["model"]["calls"]


def test_a_full_disk_passes_and_a_folder_that_may_not_be_written_needs_a_person(
    remote: Remote, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "mkdir", refuse)
        assert remote.night(exits=75)["error"]["kind"] == "NotWritable"
    (remote.folder / "worker").write_text("a file")
    assert remote.night(exits=1)["error"]["kind"] == "NotWritable"


def test_only_remotes_with_news_are_due(
    remote: Remote, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    read, none = remote.folder / "read.git", remote.folder / "none.git"
    git(remote.folder, "clone", "--quiet", "--bare", str(remote.path), str(read))
    git(read, "update-ref", NIGHT_REF, "main")
    head = git(read, "rev-parse", "main").strip()

    def due(*remotes: Path, options: tuple[str, ...] = (), exits: int = 0) -> tuple[str, str]:
        listing = "".join(f"{one}\n" for one in ("# all of them", "", *remotes))
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(listing.encode())))
        capsys.readouterr()
        assert run_cli(["run", "--due", *options]) == exits
        told = capsys.readouterr()
        return told.out, told.err

    assert due(read, remote.path) == (f"{remote.path}\n", "")
    out, err = due(none, remote.path, exits=75)
    assert out == f"{remote.path}\n"
    assert err.startswith(f"{none}: git ls-remote failed:")
    rows = json.loads(due(read, none, remote.path, options=("--json",), exits=75)[0])
    assert rows[0] == {"remote": str(read), "due": False, "head": head, "night": head}
    assert rows[1]["error"]["kind"] == "Unreachable"
    assert rows[2] == {"remote": str(remote.path), "due": True, "head": head, "night": None}
    for words in (["run", "x", "--due"], ["run", str(remote.path), "--due"]):
        assert run_cli(words) == 2
        assert "Name one remote, or give a list to --due." in capsys.readouterr().err


def test_people_read_what_was_pushed(remote: Remote, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["run", str(remote.path), "--now", NIGHT, "--workdir", str(remote.folder / "worker")]
    assert run_cli(arguments) == 0
    assert f" to main of {remote.path}." in capsys.readouterr().out
    assert run_cli(arguments) == 0
    assert capsys.readouterr().out == "Nothing new as of 2025-01-02.\n"
