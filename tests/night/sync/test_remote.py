"""The remote: one that hangs is cut off, one that fails is asked again, and what the memory configures is not read."""

import socket
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pipelines.errors import GitFault
from pipelines.store.git import Git
from pipelines.store.git_remote import Refused, Remote, address_of
from tests.conftest import Memory
from tests.making import git
from tests.night.sync.machines import append_log, shared, state

NOW = datetime(2025, 1, 2, tzinfo=UTC)


def test_a_remote_that_hangs_is_cut_off_in_time(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipelines.store.git_remote.SECONDS", 1)
    with socket.create_server(("127.0.0.1", 0)) as server:
        remote = Remote(Git(memory.root), f"http://127.0.0.1:{server.getsockname()[1]}/x.git", "main")
        begun = time.monotonic()
        with pytest.raises(GitFault, match="within 1 seconds"):
            remote.fetch()
        assert time.monotonic() - begun < 30


def test_a_push_is_never_forced(memory: Memory) -> None:
    one, other, remote = shared(memory)
    append_log(other, "2025-01-02", "- Fact: the cache keeps 40 entries\n")
    other.night("2025-01-02T23:00")
    there = git(remote, "rev-parse", "main")
    one.write("Areas/mine.md", "# Mine\n")
    git(one.root, "add", "-A")
    git(one.root, "commit", "--quiet", "-m", "Mine")
    with pytest.raises(Refused):
        Remote(Git(one.root), str(remote), "main").push(git(one.root, "rev-parse", "HEAD").strip())
    assert git(remote, "rev-parse", "main") == there


def test_what_the_memory_configures_runs_nothing(memory: Memory, tmp_path: Path) -> None:
    one, _, remote = shared(memory)
    canary = tmp_path / "canary"
    script = tmp_path / "run"
    script.write_text(f"#!/bin/sh\ntouch {canary}\nexit 1\n")
    script.chmod(0o755)
    (one.root / ".git" / "hooks").mkdir(exist_ok=True)
    (one.root / ".git" / "hooks" / "pre-push").symlink_to(script)
    for key in ("core.sshCommand", "remote.origin.uploadpack", "remote.origin.receivepack", "core.gitProxy"):
        git(one.root, "config", key, str(script))
    git(one.root, "config", "credential.helper", f"!{script}")
    git(one.root, "config", f"url.ext::{script} .insteadOf", str(remote))
    append_log(one, "2025-01-02", "- Fact: the cache keeps 40 entries\n")
    one.night("2025-01-02T23:00")
    assert state(one)["state"] == "pushed"
    assert not canary.exists()


def test_a_configuration_laid_beside_the_memory_runs_nothing(memory: Memory, tmp_path: Path) -> None:
    one, _, remote = shared(memory)
    canary, laid = tmp_path / "canary", one.root / ".curate/remote.git"
    with (laid / "config").open("a") as config:
        config.write(f'[protocol "ext"]\n\tallow = always\n[url "ext::touch {canary} "]\n\tinsteadOf = {remote}\n')
    append_log(one, "2025-01-02", "- Fact: the cache keeps 40 entries\n")
    one.night("2025-01-02T23:00")
    assert state(one)["state"] == "pushed"
    assert not canary.exists()
    laid.rename(tmp_path / "laid")
    laid.symlink_to(tmp_path / "laid")
    append_log(one, "2025-01-03", "- Fact: the cache keeps 50 entries\n")
    one.night("2025-01-03T23:00")
    assert state(one)["state"] == "pushed"
    assert not laid.is_symlink()


@pytest.mark.parametrize("address", ["ext::sh -c true", "fd::3", "--upload-pack=true", "-x:y", "git://host/x"])
def test_an_address_that_could_run_a_program_is_refused(memory: Memory, address: str) -> None:
    memory.git("config", "remote.origin.url", address)
    with pytest.raises(GitFault, match="is not supported"):
        address_of(Git(memory.root), "origin")


@pytest.mark.parametrize(
    "address", ["git@host:me/x.git", "https://host/x.git", "ssh://git@host/x", "/srv/x.git", "host:x"]
)
def test_the_usual_addresses_are_used(memory: Memory, address: str) -> None:
    memory.git("config", "remote.origin.url", address)
    assert address_of(Git(memory.root), "origin") == address


def test_curate_toml_cannot_set_a_remote(memory: Memory) -> None:
    memory.write("curate.toml", memory.read("curate.toml") + '\n[push]\nremote = "evil"\n')
    assert "sets `push`, which a memory cannot" in memory.curate("run")
    assert memory.git("remote").split() == []


def test_what_is_fetched_is_one_pack_whose_folder_is_flushed(memory: Memory) -> None:
    one, other, remote = shared(memory)
    append_log(other, "2025-01-02", "- Fact: the cache keeps 40 entries\n")
    other.night("2025-01-02T23:00")
    before = git(one.root, "count-objects")
    there = Remote(Git(one.root), str(remote), "main").fetch()
    assert git(one.root, "cat-file", "-t", str(there)).strip() == "commit"
    assert git(one.root, "count-objects") == before, "nothing is loose, in a folder that is not flushed"
