"""A night of a fleet: twelve memories, two workers, a provider, one of the workers killed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml  # type: ignore[import-untyped]
from curate_fleet.commands import curate_fleet

from fleet_tests.driving import DAY, PERSON, git, key_of
from fleet_tests.provider import providing

if TYPE_CHECKING:
    from fleet_tests.driving import Fleet

TENANTS = ("acme", "bolt", "carp")


def test_every_memory_is_curated_once_though_a_worker_is_killed(fleet: Fleet) -> None:
    with providing({key_of(tenant): tenant for tenant in TENANTS}) as provider:
        fleet.write_settings(
            provider,
            "[rates.openai]\nrequests = 500\n[caps]\nmax_tokens = 1_000_000",
            acme="",
            bolt="",
            carp="max_tokens = 9000",
        )
        counts = {"acme": 1, "bolt": 1, "carp": 4}
        remotes = {tenant: [fleet.memory(tenant, number) for number in range(counts[tenant])] for tenant in TENANTS}
        for tenant, some in remotes.items():
            assert (
                fleet.curate("add", *some, "--tenant", tenant)
                == f"{counts[tenant]} {'memory' if counts[tenant] == 1 else 'memories'} added, 0 changed.\n"
            )
        assert fleet.curate("sweep") == "6 memories are due, 6 queued.\n"
        assert fleet.curate("sweep") == "0 memories are due, 0 queued.\n"
        provider.gate.clear()  # so that the one that is killed is amid a call that was granted
        victim = fleet.start_worker()
        fleet.wait_for(lambda: fleet.query("SELECT 1 FROM fleet_calls"))
        os.kill(victim.pid, signal.SIGKILL)
        victim.wait()
        provider.gate.set()
        fleet.start_worker()
        fleet.wait_until_idle()
        fleet.drain()
        assert "gave no sign of life" in fleet.said()
        for tenant in ("acme", "bolt"):
            for number, remote in enumerate(remotes[tenant]):
                fleet.check_curated_once(remote, f"the cache of {tenant} keeps {number} entries")
        assert fleet.states()["pending"] == 4 - len(
            fleet.query("SELECT 1 FROM fleet_memories WHERE tenant = 'carp' AND state = 'done'")
        )
        assert provider.tokens("carp") <= 9000, "the cap of a tenant"
        rows = fleet.query("SELECT tenant, sum(tokens)::bigint AS tokens FROM fleet_spending GROUP BY tenant")
        spent = {row["tenant"]: row for row in rows}
        assert spent["carp"]["tokens"] <= 9000
        assert provider.tokens() <= spent[""]["tokens"] == sum(spent[tenant]["tokens"] for tenant in TENANTS)
        for call in provider.calls:
            others = [tenant for tenant in TENANTS if f"the cache of {tenant}" in call.text]
            assert others in ([], [call.tenant]), "a tenant's words went out with another one's key"
        assert "carp" in fleet.curate("status")
        assert fleet.query("SELECT 1 FROM fleet_memories WHERE state = 'dead'") == []
        fleet.check_nothing_left()
        fleet.check_no_key_was_kept(*TENANTS)


@pytest.mark.torture
def test_a_memory_that_fails_three_times_is_dead_and_holds_up_nobody(fleet: Fleet) -> None:
    fleet.write_settings(None, acme="")
    good, bad = fleet.memory("acme", 1), fleet.memory("acme", 2)
    host = fleet.folder / "hosts/acme-2"
    git(host, "rm", "--quiet", "--cached", "curate.toml")
    git(host, *PERSON, "commit", "--quiet", "-m", "No memory")
    git(host, "push", "--quiet", bad, "HEAD:main")
    fleet.curate("add", good, bad, "--tenant", "acme", "--timezone", "Europe/Berlin")
    fleet.curate("sweep")
    fleet.start_worker()
    fleet.wait_until_idle()
    assert fleet.states() == {"done": 1, "dead": 1}
    assert "is not a memory" in fleet.curate("dead")
    assert "is not a memory" in fleet.curate("status", exits=1)
    assert fleet.curate("sweep") == "0 memories are due, 0 queued.\n"
    assert fleet.query("SELECT failures, tries FROM fleet_memories WHERE state = 'dead'") == [
        {"failures": 3, "tries": 3}
    ]
    git(host, "add", "curate.toml")
    git(host, *PERSON, "commit", "--quiet", "-m", "A memory again")
    git(host, "push", "--quiet", bad, "HEAD:main")
    assert fleet.curate("retry", bad) == "1 memory to retry.\n"
    assert fleet.curate("sweep") == "1 memory is due, 1 queued.\n"
    fleet.wait_until_idle()
    fleet.drain()
    fleet.check_curated_once(bad, "the cache of acme keeps 2 entries")
    assert fleet.curate("dead") == "There is no dead memory.\n"
    fleet.check_nothing_left()


@pytest.mark.torture
def test_a_push_that_is_refused_is_tried_again_and_kills_no_memory(fleet: Fleet) -> None:
    fleet.write_settings(None, acme="")
    remote = fleet.memory("acme")
    hook = Path(remote) / "hooks/pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho no >&2\nexit 1\n")
    hook.chmod(0o755)
    fleet.curate("add", remote, "--tenant", "acme")
    fleet.curate("sweep")
    fleet.start_worker()
    fleet.wait_for(lambda: fleet.query("SELECT 1 FROM fleet_memories WHERE tries > 2"))
    assert "pre-receive hook declined" in fleet.curate("list", "--json")
    hook.unlink()
    fleet.wait_until_idle()
    fleet.drain()
    fleet.check_curated_once(remote, "the cache of acme keeps 0 entries")
    fleet.check_nothing_left()


@pytest.mark.torture
@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="reads the environment of a process in /proc")
def test_a_child_has_its_own_tenants_key_and_an_environment_made_from_nothing(fleet: Fleet) -> None:
    fleet.write_settings(None, acme="", bolt="")
    script = fleet.folder / "see"
    for tenant in ("acme", "bolt"):
        see = fleet.folder / f"see-{tenant}"
        script = fleet.folder / f"script-{tenant}"
        script.write_text(f"#!/bin/sh\ncat /proc/$PPID/environ >{see}\necho '{{}}'\n")
        script.chmod(0o755)
        (fleet.folder / "tenants" / tenant / "config.toml").write_text(f'providers = ["exec:{script}"]\n')
        fleet.curate("add", fleet.memory(tenant), "--tenant", tenant)
    fleet.curate("sweep")
    fleet.start_worker()
    fleet.wait_until_idle()
    fleet.drain()
    homes = set()
    for tenant in ("acme", "bolt"):
        rows = (fleet.folder / f"see-{tenant}").read_text().strip("\0").split("\0")
        seen = dict(row.split("=", 1) for row in rows)
        assert seen.pop("MODEL_KEY") == key_of(tenant)
        assert seen.pop("PWD", None) in {None, seen["HOME"]}
        assert set(seen) == {"PATH", "HOME", "TMPDIR", "LC_ALL", "CURATE_GUARD"}
        homes.add(seen["HOME"])
        assert not Path(seen["HOME"]).exists()
    assert len(homes) == 2
    fleet.check_nothing_left()


@pytest.mark.torture
def test_a_child_is_ended_at_its_limits(fleet: Fleet) -> None:
    slow = fleet.folder / "slow"
    slow.write_text("#!/bin/sh\nexec sleep 600\n")
    slow.chmod(0o755)
    fleet.write_settings(None, "[child]\nminutes = 0.05", acme="")
    (fleet.folder / "tenants/acme/config.toml").write_text(f'providers = ["exec:{slow}"]\n')
    remote = fleet.memory("acme")
    fleet.curate("add", remote, "--tenant", "acme")
    before = git(Path(remote), "rev-parse", "main")
    fleet.curate("sweep")
    fleet.start_worker()
    fleet.wait_until_idle()
    fleet.drain()
    assert "was ended after 0.05 minutes" in fleet.curate("dead")
    assert git(Path(remote), "rev-parse", "main") == before
    fleet.check_nothing_left()


@pytest.mark.torture
def test_a_worker_without_room_pauses_and_leaves_the_nights_to_others(fleet: Fleet) -> None:
    fleet.write_settings(None, f"free_mb = {10**9}", acme="")
    remote = fleet.memory("acme")
    fleet.curate("add", remote, "--tenant", "acme")
    fleet.curate("sweep")
    fleet.start_worker()
    fleet.wait_for(lambda: "Paused: " in fleet.said())
    assert f"{fleet.nights} has less than 1,000,000,000 MB free." in fleet.said()
    fleet.write_settings(None, acme="")
    fleet.start_worker()
    fleet.wait_until_idle()
    fleet.drain()
    fleet.check_curated_once(remote, "the cache of acme keeps 0 entries")
    fleet.check_nothing_left()


@pytest.mark.torture
def test_what_waits_for_another_try_can_be_tried_now(fleet: Fleet) -> None:
    fleet.write_settings(None, "retry_seconds = 3600", acme="")
    remote = fleet.memory("acme")
    fleet.curate("add", remote, "--tenant", "acme")
    fleet.curate("sweep")
    away = Path(remote).rename(fleet.folder / "away")
    fleet.start_worker()
    fleet.wait_for(
        lambda: fleet.states() == {"waiting": 1} and fleet.query("SELECT 1 FROM fleet_memories WHERE tries > 0")
    )
    away.rename(remote)
    assert fleet.curate("retry", remote) == "1 memory to retry.\n"
    fleet.wait_until_idle()
    fleet.drain()
    fleet.check_curated_once(remote, "the cache of acme keeps 0 entries")
    fleet.check_nothing_left()


@pytest.mark.torture
def test_settings_and_keys_that_are_amiss_are_told_and_no_memory_dies_of_them(fleet: Fleet) -> None:
    fleet.write_settings(None, **dict.fromkeys(TENANTS, ""))
    remotes = {tenant: fleet.memory(tenant) for tenant in TENANTS}
    for tenant, remote in remotes.items():
        fleet.curate("add", remote, "--tenant", tenant)
    fleet.curate("sweep")
    folder = fleet.folder / "tenants"
    (folder / "acme/config.toml").write_text('providers = ["anthropic"]\n')
    (folder / "bolt/config.toml").write_text("odd = 1\n")
    (folder / "carp.env").write_text("no line of keys")
    fleet.start_worker()
    fleet.wait_for(lambda: fleet.query("SELECT 1 FROM fleet_memories HAVING min(tries) > 2"))
    told = fleet.curate("list", "--json")
    for why in ("ANTHROPIC_API_KEY", f"{folder}/bolt/config.toml has a fault: odd", "line 1 is not NAME=VALUE"):
        assert why in told
    fleet.write_settings(None, **dict.fromkeys(TENANTS, ""))
    fleet.wait_until_idle()
    fleet.drain()
    for tenant, remote in remotes.items():
        fleet.check_curated_once(remote, f"the cache of {tenant} keeps 0 entries")
    fleet.check_nothing_left()


@pytest.mark.torture
def test_a_second_signal_ends_what_runs_and_another_worker_takes_it(fleet: Fleet) -> None:
    with providing({key_of("acme"): "acme"}) as provider:
        fleet.write_settings(provider, acme="")
        remote = fleet.memory("acme")
        fleet.curate("add", remote, "--tenant", "acme")
        fleet.curate("sweep")
        provider.gate.clear()
        first = fleet.start_worker()
        fleet.wait_for(lambda: fleet.query("SELECT 1 FROM fleet_calls"))
        first.terminate()
        fleet.wait_for(lambda: "Draining: 1 at work." in fleet.said())
        first.terminate()
        assert first.wait(60) == 0
        assert fleet.states() == {"waiting": 1}
        provider.gate.set()
        fleet.start_worker()
        fleet.wait_until_idle()
        fleet.drain()
        fleet.check_curated_once(remote, "the cache of acme keeps 0 entries")
        fleet.check_nothing_left()


@pytest.mark.torture
def test_workers_sweep_by_themselves_and_what_is_paused_stays_as_it_is(fleet: Fleet) -> None:
    fleet.write_settings(None, 'sweep = "* * * * * */2"', acme="")  # croniter's sixth field: seconds
    remote, paused = fleet.memory("acme", 1), fleet.memory("acme", 2)
    fleet.curate("add", remote, paused, "--tenant", "acme")
    fleet.curate("pause", paused)
    fleet.start_worker()
    fleet.wait_for(lambda: fleet.states() == {"done": 1, "new": 1})
    fleet.drain()
    fleet.check_curated_once(remote, "the cache of acme keeps 1 entries")
    fleet.check_nothing_left()


@pytest.mark.torture
def test_a_memory_without_a_job_gets_one(fleet: Fleet) -> None:
    fleet.write_settings(None, acme="")
    remote = fleet.memory("acme")
    fleet.curate("add", remote, "--tenant", "acme")
    fleet.curate("sweep")
    assert fleet.query("DELETE FROM procrastinate_jobs WHERE lock IS NOT NULL RETURNING 1")
    fleet.query("UPDATE fleet_memories SET state = 'running' RETURNING 1")
    fleet.start_worker()
    fleet.wait_until_idle()
    fleet.drain()
    fleet.check_curated_once(remote, "the cache of acme keeps 0 entries")
    fleet.check_nothing_left()


@pytest.mark.torture
def test_a_worker_killed_between_its_word_and_the_end_of_its_job_holds_up_nobody(fleet: Fleet) -> None:
    """The job of the next try waits beside the one that it left, and both have the memory's lock."""
    fleet.write_settings(None, acme="")
    remotes = [fleet.memory("acme", number) for number in range(2)]
    fleet.curate("add", *remotes, "--tenant", "acme")
    fleet.curate("sweep")
    columns = "queue_name, task_name, lock, queueing_lock, args"
    fleet.query("UPDATE procrastinate_jobs SET status = 'doing' WHERE lock IS NOT NULL RETURNING 1")
    fleet.query(f"INSERT INTO procrastinate_jobs ({columns}) SELECT {columns} FROM procrastinate_jobs RETURNING 1")  # noqa: S608
    fleet.start_worker()
    fleet.wait_until_idle()
    fleet.drain()
    for number, remote in enumerate(remotes):
        fleet.check_curated_once(remote, f"the cache of acme keeps {number} entries")
    fleet.check_nothing_left()


def test_the_examples_of_other_schedulers_curate_each_memory_once(fleet: Fleet) -> None:
    text = (Path(__file__).parents[3] / "docs/fleet.md").read_text()
    listing = fleet.folder / "remotes.txt"
    environ = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    remotes = [fleet.memory("acme", number) for number in range(2)]
    script = re.search(r"```\n(curate run --due.+?)```", text, re.DOTALL)
    job = (Path(__file__).parents[2] / "kubernetes.yaml").read_text()
    assert script
    listing.write_text("".join(f"{remote}\n" for remote in remotes[:1]))
    said = [
        subprocess.run(["bash", "-c", script[1]], check=True, env=environ, cwd=fleet.folder, capture_output=True).stdout
        for _ in range(2)
    ]
    assert said[0].count(b"Pushed") == 1
    assert b"Pushed" not in said[1]
    listing.write_text("".join(f"{remote}\n" for remote in remotes[1:]))
    spec = yaml.safe_load(job)["spec"]["jobTemplate"]["spec"]
    assert spec["podFailurePolicy"]["rules"][0]["onExitCodes"]["values"] == [1]
    words = spec["template"]["spec"]["containers"][0]["args"]
    words = [re.sub("/etc/memories|(?<= )/tmp", str(fleet.folder), word) for word in words]
    subprocess.run(["sh", "-c", *words], check=True, env={**environ, "JOB_COMPLETION_INDEX": "0"})
    for number, remote in enumerate(remotes):
        fleet.check_curated_once(remote, f"the cache of acme keeps {number} entries")


def test_every_command_that_the_readme_shows_exists() -> None:
    text = (Path(__file__).parents[1] / "README.md").read_text()
    shown = re.findall(r"(?:^|`)curate-fleet ([a-z]+)([^`#;\n]*)", text, re.MULTILINE)
    assert len(shown) >= 4
    for verb, rest in shown:
        options = {name for one in curate_fleet.commands[verb].params for name in one.opts}
        assert {word for word in rest.split() if word.startswith("--")} <= options, verb


@pytest.mark.torture
def test_what_comes_later_waits_for_the_next_night(fleet: Fleet) -> None:
    fleet.write_settings(None, acme="")
    remote = fleet.memory("acme")
    fleet.curate("add", remote, "--tenant", "acme")
    fleet.curate("sweep")
    fleet.start_worker()
    fleet.wait_until_idle()
    fleet.drain()
    host = fleet.folder / "hosts/acme-0"
    git(host, "pull", "--quiet", remote, "main")
    fleet.log(host, "2025-01-03", "backups are kept for ninety days")
    git(host, "push", "--quiet", remote, "HEAD:main")
    assert fleet.curate("sweep") == "0 memories are due, 0 queued.\n"
    fleet.query("UPDATE fleet_memories SET night = night - 1 RETURNING 1")
    assert fleet.curate("sweep") == "1 memory is due, 1 queued.\n"
    assert DAY < "2025-01-03"
