"""Measure a fleet on this machine, and simulate a large one from what was measured.

usage, in deploy/fleet:
python -m fleet_tests.benchmark [nights|sweep|cpu|bank|simulate]... [--memories N] [--remotes N] [--rounds N]

Without a name, all are done. `nights`: memories an hour for one, two and four workers of one slot each, in rounds, with
the processor time of a memory beside it, which a busy machine does not change. `sweep`: so many local remotes, of which
94 of 100 have nothing new. `cpu`: the processor time of `curate run REMOTE` in a warm clone and in none. `bank`: calls
reserved and settled in a second. `simulate`: 10,000 and 100,000 memories on 20 workers under 2 million tokens a minute.
PostgreSQL comes out of the wheel. The provider is local and answers at once.
"""

from __future__ import annotations

import argparse
import asyncio
import heapq
import os
import resource
import shutil
import statistics
import subprocess
import tempfile
import time
import uuid
from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
from curate_fleet.database import create_tables, opened, start_postgres, stop_postgres
from curate_fleet.memories import add, begin
from curate_fleet.settings import FleetCaps, Rates, load_fleet_settings
from curate_fleet.spending import SpendingRequest, reserve, settle
from curate_fleet.sweep import sweep

from fleet_tests.driving import Fleet, ending, git, key_of
from fleet_tests.provider import providing
from pipelines.cli import run_cli

if TYPE_CHECKING:
    from collections.abc import Iterator

SHARE_NEW = 0.06
WORST_BYTES_A_TOKEN = 2
"""With how few bytes a token a night reserves."""
WORKERS = (1, 2, 4)


# ---------------------------------------------------------------- what is measured


@contextmanager
def fleet_in(server: str, folder: Path) -> Iterator[Fleet]:
    """Give a fleet in a new folder, with a database of its own."""
    name = f"fleet_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    dsn = server.replace("/postgres?", f"/{name}?")
    asyncio.run(create_tables(dsn))
    inside = folder / name
    inside.mkdir()
    new = folder / "new"
    if not new.exists():
        run_cli(["init", str(new)])
    with ending(Fleet(inside, dsn, new)) as fleet:
        yield fleet


def measure_nights(server: str, folder: Path, memories: int, rounds: int) -> None:
    """Print memories an hour, and what they took, for each number of workers: the best of all rounds.

    What else a machine does only makes a round slower.
    """
    rates: dict[int, list[float]] = {count: [] for count in WORKERS}
    cpus: dict[int, list[float]] = {count: [] for count in WORKERS}
    for _ in range(rounds):
        for count in WORKERS:
            with fleet_in(server, folder) as fleet, providing({key_of("acme"): "acme"}) as provider:
                fleet.write_settings(provider, acme="")
                fleet.curate("add", *(fleet.memory("acme", number) for number in range(memories)), "--tenant", "acme")
                fleet.curate("sweep")
                before = _cpu()
                for _ in range(count):
                    fleet.start_worker(1)
                fleet.wait_until_idle(3600)
                fleet.drain()
                seconds = fleet.query(
                    "SELECT extract(epoch FROM max(finished_at) - min(started_at)) AS s FROM fleet_memories"
                )[0]["s"]
                rates[count].append(memories * 3600 / float(seconds))
                cpus[count].append((_cpu() - before) / memories)
    print(f"\n{memories} memories, {rounds} rounds, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    print("| workers | memories an hour | of the ideal | processor time a memory | of one worker's |")
    print("|---|---|---|---|---|")
    for count in WORKERS:
        ideal = max(rates[1]) * min(count, os.cpu_count() or 1)
        rate, cpu = max(rates[count]), min(cpus[count])
        print(f"| {count} | {rate:,.0f} | {rate / ideal:.2f} | {cpu:.2f} s | {min(cpus[1]) / cpu:.2f} |")


def _cpu() -> float:
    """Return the processor time of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure_sweep(server: str, folder: Path, remotes: int) -> None:
    """Print how long a sweep of many local remotes takes."""
    with fleet_in(server, folder) as fleet:
        fleet.write_settings(None, default="")
        first = Path(fleet.memory("default"))
        head = git(first, "rev-parse", "main").strip()
        new = int(remotes * SHARE_NEW)
        named = []
        for number in range(remotes):
            place = fleet.folder / "many" / f"{number}.git"
            (place / "refs").mkdir(parents=True)
            (place / "objects/info").mkdir(parents=True)
            (place / "HEAD").write_text("ref: refs/heads/main\n")
            (place / "objects/info/alternates").write_text(f"{first}/objects\n")
            refs = (
                f"{head} refs/heads/main\n" if number < new else f"{head} refs/curate/night\n{head} refs/heads/main\n"
            )
            (place / "packed-refs").write_text(f"# pack-refs with: peeled fully-peeled sorted \n{refs}")
            named.append(str(place))
        settings = load_fleet_settings({"CURATE_FLEET": str(fleet.folder / "fleet.toml")})

        async def run() -> None:
            async with opened(fleet.dsn) as (pool, app):
                await add(pool, named, "default", "UTC", "")
                began, before = time.monotonic(), _cpu()
                print("\n", await sweep(pool, app, settings), sep="")
                seconds, used = time.monotonic() - began, _cpu() - before
                print(f"{remotes:,} remotes swept in {seconds:.0f} s ({used:.0f} s of git on the processor)")
                began = time.monotonic()
                print(await sweep(pool, app, settings))
                print(f"swept again in {time.monotonic() - began:.1f} s")

        asyncio.run(run())


def measure_cpu(server: str, folder: Path, rounds: int) -> None:
    """Print the processor time of a night in a new clone, in a warm one, and of one with nothing new."""
    cold, warm, idle = [], [], []
    with fleet_in(server, folder) as fleet, providing({key_of("acme"): "acme"}) as provider:
        fleet.write_settings(provider, acme="")
        environ = {
            **os.environ,
            "CURATE_CONFIG": str(fleet.folder / "tenants/acme/config.toml"),
            "MODEL_KEY": key_of("acme"),
        }

        def night(remote: str) -> float:
            before = _cpu()
            words = ["curate", "run", remote, "--workdir", str(fleet.nights)]
            subprocess.run(words, env=environ, check=True, capture_output=True)
            return _cpu() - before

        for number in range(rounds):
            remote = fleet.memory("acme", number)
            cold.append(night(remote))
            idle.append(night(remote))
            host = fleet.folder / f"hosts/acme-{number}"
            git(host, "pull", "--quiet", remote, "main")
            fleet.log(host, "2025-01-03", "backups are kept for ninety days")
            git(host, "push", "--quiet", remote, "HEAD:main")
            warm.append(night(remote))
    print(
        f"\na night from no clone {statistics.median(cold):.2f} s, from a warm one {statistics.median(warm):.2f} s,"
        f" with nothing new {statistics.median(idle):.2f} s of processor time (median of {rounds})"
    )


def measure_bank(server: str, folder: Path, seconds: float = 10.0) -> None:
    """Print how many calls are reserved and settled in a second, 40 children at once."""
    rates = Rates(requests=10**6, tokens=10**9)

    async def run(dsn: str) -> int:
        async with opened(dsn, 44) as (pool, _):
            await add(pool, [f"/{number}" for number in range(40)], "acme", "UTC", "")
            async with pool.connection() as connection:
                await connection.execute("UPDATE fleet_memories SET state = 'waiting', night = %s", [date.today()])  # noqa: DTZ011
            end = time.monotonic() + seconds

            async def child(number: int) -> int:
                lease, count = await begin(pool, f"/{number}", uuid.uuid4()), 0
                while lease and time.monotonic() < end:
                    call = uuid.uuid4()
                    caps = FleetCaps(max_usd=10.0**6)
                    await reserve(pool, lease, SpendingRequest(call, "openai:1", 5_000, 0.01), rates, caps, caps)
                    await settle(pool, call, 3_000, 0.005)
                    count += 1
                return count

            return sum(await asyncio.gather(*map(child, range(40))))

    with fleet_in(server, folder) as fleet:
        print(f"\n{asyncio.run(run(fleet.dsn)) / seconds:,.0f} calls reserved and settled in a second, 40 at once")


# ---------------------------------------------------------------- what is simulated


@dataclass(frozen=True)
class Assumed:
    """What a simulation takes for granted.

    Args:
        workers: machines.
        cores: of each.
        slots: nights at once on each.
        cpu: seconds of processor time of a night.
        calls: calls of a model a night, one after the other.
        sent: tokens sent in a call.
        received: tokens received.
        seconds: how long a call takes.
        usd: what a night costs.
        rate: tokens a minute.
        most: the longest answer allowed, which a reservation counts.
    """

    workers: int = 20
    cores: int = 2
    slots: int = 8
    cpu: float = 1.8
    calls: int = 4
    sent: int = 2_489
    received: int = 362
    seconds: float = 6.0
    usd: float = 0.0017
    rate: int = 2_000_000
    most: int = 8_192


class Simulated:
    """Memories that are curated one after the other, as fast as cores, slots and the rate allow."""

    def __init__(self, memories: int, assumed: Assumed) -> None:
        self.assumed, self.left, self.now, self.full = assumed, memories, 0.0, 0.0
        self.worst = assumed.sent * 4 // WORST_BYTES_A_TOKEN + assumed.most
        self.counted = 0
        self.cores = [0.0] * (assumed.workers * assumed.cores)
        self.events: list[tuple[float, int, str, int]] = []  # when, which, what, how many calls are left
        self.waiting: deque[int] = deque()
        self.number = self.running = 0

    def push(self, seconds: float, what: str, calls: int = 0) -> None:
        """Let something happen after some seconds."""
        self.number += 1
        heapq.heappush(self.events, (self.now + seconds, self.number, what, calls))

    def begin(self) -> None:
        """Begin the next memory, once a core is free."""
        if self.left:
            self.left -= 1
            self.running += 1
            end = max(heapq.heappop(self.cores), self.now) + self.assumed.cpu
            heapq.heappush(self.cores, end)
            self.push(end - self.now, "ask", self.assumed.calls)

    def answered(self, calls: int) -> None:
        """Settle a call, which flows back after a minute, and make the night's next one, or begin another night."""
        used = self.assumed.sent + self.assumed.received
        self.counted += used - self.worst
        self.push(60.0, "flows back", used)
        if calls > 1:
            self.push(0.0, "ask", calls - 1)
        else:
            self.running -= 1
            self.begin()

    def run(self) -> tuple[float, float]:
        """Return how many minutes all take, and the share of the time in which calls waited for the rate."""
        for _ in range(self.assumed.workers * self.assumed.slots):
            self.begin()
        while self.running:
            at, _, what, value = heapq.heappop(self.events)
            self.full += (at - self.now) if self.waiting else 0.0
            self.now = at
            if what == "ask":
                self.waiting.append(value)
            elif what == "answered":
                self.answered(value)
            else:
                self.counted -= value
            while self.waiting and self.counted + self.worst <= self.assumed.rate:
                self.counted += self.worst
                self.push(self.assumed.seconds, "answered", self.waiting.popleft())
        return self.now / 60.0, self.full / self.now


def print_simulation() -> None:
    """Print when fleets of two sizes are done, for all and for a few of them new."""
    assumed = Assumed()
    print(f"\n{assumed}")
    print("| memories | with something new | done after | rate full | cost |\n|---|---|---|---|---|")
    for memories in (10_000, 100_000):
        for new in (int(memories * SHARE_NEW), memories):
            minutes, full = Simulated(new, assumed).run()
            print(f"| {memories:,} | {new:,} | {minutes:.0f} min | {full:.0%} | ${new * assumed.usd:,.2f} |")


def main() -> None:
    """Print what was asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", choices=["nights", "sweep", "cpu", "bank", "simulate", []])
    parser.add_argument("--memories", type=int, default=24)
    parser.add_argument("--remotes", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    names = asked.names or ["nights", "sweep", "cpu", "bank", "simulate"]
    if names == ["simulate"]:
        print_simulation()
        return
    os.environ.update(GIT_CONFIG_GLOBAL=os.devnull, GIT_CONFIG_NOSYSTEM="1")
    above = Path(tempfile.mkdtemp(prefix="fleet-"))
    above.chmod(0o755)
    try:
        server = start_postgres(above / "pg")
        if "nights" in names:
            measure_nights(server, above, asked.memories, asked.rounds)
        if "sweep" in names:
            measure_sweep(server, above, asked.remotes)
        if "cpu" in names:
            measure_cpu(server, above, asked.rounds)
        if "bank" in names:
            measure_bank(server, above)
    finally:
        stop_postgres(above / "pg", how="immediate")
        shutil.rmtree(above)
    if "simulate" in names:
        print_simulation()


if __name__ == "__main__":
    main()
