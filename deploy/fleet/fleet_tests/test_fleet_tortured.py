"""A fleet under torture: many memories, workers killed and stopped, a poor provider, a database that restarts.

`FLEET_MEMORIES` chooses how many memories there are; the kills follow from it.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from functools import partial
from typing import TYPE_CHECKING

import pytest
from curate_fleet.database import start_postgres, stop_postgres

from fleet_tests.driving import key_of
from fleet_tests.provider import providing

if TYPE_CHECKING:
    from pathlib import Path

    from fleet_tests.driving import Fleet

pytestmark = pytest.mark.torture
MEMORIES = int(os.environ.get("FLEET_MEMORIES", "300"))
KILLS = max(MEMORIES // 10, 2)
WORKERS = 4
STOPS = max(MEMORIES // 50, 1)
RESTARTS = 2
TENANTS = ("acme", "bolt", "carp", "dime")
REQUESTS, TOKENS = 45, 75_000
"""What the provider accepts in a minute for one key: a little less than four workers would send."""
CAP = MEMORIES * 80
"""How many tokens `dime`, who has every twenty-fifth memory, may spend: about half of what they need."""


def plan(chance: random.Random) -> list[tuple[int, str]]:
    """Return what happens once how many memories have come to their end."""
    whats = ["kill"] * KILLS + ["stop"] * STOPS + ["restart"] * RESTARTS
    return sorted((chance.randrange(MEMORIES * 9 // 10), what) for what in whats)


def test_a_tortured_fleet_curates_each_memory_once(fleet: Fleet, postgres: tuple[Path, str]) -> None:
    chance = random.Random(26)
    with providing({key_of(tenant): tenant for tenant in TENANTS}) as provider:
        provider.seconds, provider.failing = 0.3, {429: 0.05, 500: 0.03}
        rates = f"[rates.openai]\nrequests = {REQUESTS}\ntokens = {TOKENS}\n[caps]\nmax_tokens = 100_000_000"
        fleet.write_settings(
            provider, rates, acme="", bolt="", carp="max_tokens = 50_000_000", dime=f"max_tokens = {CAP}"
        )
        owners = ["dime" if number % 25 == 0 else TENANTS[number % 3] for number in range(MEMORIES)]
        remotes = {fleet.memory(tenant, number): tenant for number, tenant in enumerate(owners)}
        for tenant in TENANTS:
            fleet.curate("add", *(remote for remote, whose in remotes.items() if whose == tenant), "--tenant", tenant)
        fleet.curate("sweep")
        began = time.monotonic()
        alive = [fleet.start_worker(1) for _ in range(WORKERS)]
        for turn, what in plan(chance):
            fleet.wait_for(partial(has_ended, fleet, turn), 3600)
            victim = chance.choice(alive)
            if what == "restart":
                stop_postgres(postgres[0], how="fast")
                start_postgres(postgres[0])
            elif what == "stop":
                victim.send_signal(signal.SIGSTOP)  # it shows no sign of life, and comes back when others have its job
                time.sleep(5)
                victim.send_signal(signal.SIGCONT)
            else:
                os.kill(victim.pid, signal.SIGKILL)
                victim.wait()
                alive[alive.index(victim)] = fleet.start_worker(1)
        fleet.wait_until_idle(3600)
        fleet.drain()
        left = fleet.query("SELECT tenant, state FROM fleet_memories WHERE state <> 'done'")
        assert {(row["tenant"], row["state"]) for row in left} == {("dime", "pending")}, fleet.curate("status")
        assert provider.tokens("dime") <= accounted(fleet, "dime") <= CAP
        fleet.write_settings(provider, rates, **dict.fromkeys(TENANTS, ""))
        fleet.curate("retry", "--tenant", "dime")
        assert f"{len(left)} queued" in fleet.curate("sweep")
        fleet.start_worker(2)
        fleet.wait_until_idle(3600)
        fleet.drain()
        assert fleet.states() == {"done": MEMORIES}, fleet.curate("status")
        for number, (remote, tenant) in enumerate(remotes.items()):
            fleet.check_curated_once(remote, f"the cache of {tenant} keeps {number} entries")
        minutes = [provider.busiest_minute(tenant) for tenant in TENANTS]
        requests, tokens = max(one[0] for one in minutes), max(one[1] for one in minutes)
        print(
            f"\n{MEMORIES} memories, {KILLS} kills, {STOPS} stops, {RESTARTS} restarts: {len(provider.calls)} calls,"
            f" {sum(call.status != 200 for call in provider.calls)} refused; busiest minute of a key {requests} of"
            f" {REQUESTS} requests, {tokens:,} of {TOKENS:,} tokens; {len(left)} memories waited for a higher cap;"
            f" {provider.tokens():,} tokens used, {accounted(fleet):,} accounted for;"
            f" {(time.monotonic() - began) / 60:.0f} min"
        )
        assert requests <= REQUESTS
        assert tokens <= TOKENS
        assert provider.tokens() <= accounted(fleet)
        for call in provider.calls:
            whose = [tenant for tenant in TENANTS if f"the cache of {tenant}" in call.text]
            assert whose in ([], [call.tenant])
        said = fleet.said()
        assert "gave no sign of life" in said
        assert not [word for word in ("Traceback", "never retrieved", "Error") if word in said]
        fleet.check_nothing_left()
        fleet.check_no_key_was_kept(*TENANTS)


def accounted(fleet: Fleet, tenant: str = "") -> int:
    rows = fleet.query(f"SELECT tokens FROM fleet_spending WHERE tenant = '{tenant}'")  # noqa: S608  of constants
    return sum(int(row["tokens"]) for row in rows)


def has_ended(fleet: Fleet, count: int) -> bool:
    states = fleet.states()
    return sum(states.get(state, 0) for state in ("done", "pending", "dead")) >= count


def test_the_same_memories_by_xargs_and_the_fence_alone(fleet: Fleet) -> None:
    """Each remote is given to two of eight at once, and one of the two publishes."""
    fleet.write_settings(None, acme="")
    remotes = [fleet.memory("acme", number) for number in range(MEMORIES)]
    listing = fleet.folder / "remotes.txt"
    listing.write_text("".join(f"{remote}\n{remote}\n" for remote in remotes))
    night = f'{sys.executable} -m pipelines.cli night "$0" --workdir {fleet.nights}/$$ --json >/dev/null'
    codes = fleet.folder / "codes"
    script = f"{night}; echo $? >>{codes}"
    settings = fleet.folder / "tenants/acme/config.toml"
    words = ["xargs", "-P", "8", "-n", "1", "sh", "-c", script]
    with listing.open() as file:
        subprocess.run(words, stdin=file, check=True, env={**os.environ, "CURATE_CONFIG": str(settings)})
    told = codes.read_text().split()
    print(f"\n{len(told)} runs of {MEMORIES} memories: {json.dumps({code: told.count(code) for code in set(told)})}")
    assert set(told) <= {"0", "75"}
    for number, remote in enumerate(remotes):
        fleet.check_curated_once(remote, f"the cache of acme keeps {number} entries")
