"""The sweep: which memories have something new, as `curate run --due` tells; each gets one job a night."""

from __future__ import annotations

import asyncio
import json
import os
import random
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Final

from curate_fleet.database import LOCK, NIGHT, QUEUE, patiently
from curate_fleet.memories import Row, listed, night_at
from curate_fleet.say import FleetFault, clean
from curate_fleet.spending import lapse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from procrastinate import App

    from curate_fleet.database import Pool
    from curate_fleet.settings import FleetSettings


AT_ONCE: Final = 8
"""How many tenants are asked about at once."""
_BATCH = 500


@dataclass(frozen=True, slots=True)
class Heads:
    """What a remote points to: its branch, and the commit of the last whole night."""

    head: str
    night: str


@dataclass(frozen=True, slots=True)
class Swept:
    """What a sweep found.

    Args:
        looked: how many remotes were asked.
        new: how many got a job.
        unreachable: how many did not answer.
    """

    looked: int
    new: int
    unreachable: int


async def sweep(pool: Pool, app: App, settings: FleetSettings, now: datetime | None = None) -> Swept:
    """Ask the remotes that are due what they point to, and defer a job for each that has something new.

    A memory is due in its hours, once a night, unless it is paused or dead. Sweeps at the same time defer one job.

    Args:
        pool: the database.
        app: the queue.
        settings: where the tenants' keys are; git reaches the remotes with them.
        now: the moment, or None for this one.
    """
    moment = now or datetime.now(UTC)
    due: list[tuple[Row, date]] = []
    for row in await listed(pool):
        night = night_at(moment, row["timezone"], row["hours"])
        is_free = not row["paused"] and row["state"] in {"new", "done", "pending"}
        if night and is_free and (row["night"] is None or row["night"] < night):
            due.append((row, night))
    random.shuffle(due)  # tenants take turns: while some wait for the rate of one key, others work with theirs
    found = await asyncio.to_thread(_heads, [row for row, _ in due], settings)
    new = 0
    for start in range(0, len(due), _BATCH):
        part = [(*one, heads) for one, heads in zip(due, found, strict=True)][start : start + _BATCH]
        new += await patiently(partial(_defer, pool, app, part))
    return Swept(len(due), new, sum(isinstance(heads, str) for heads in found))


def _heads(rows: Sequence[Row], settings: FleetSettings) -> list[Heads | str]:
    """Return what each remote points to, or why it does not answer."""
    by_tenant: dict[str, list[Row]] = {}
    for row in rows:
        by_tenant.setdefault(row["tenant"], []).append(row)
    with ThreadPoolExecutor(AT_ONCE) as threads:
        told = threads.map(lambda tenant: _asked(by_tenant[tenant], tenant, settings), by_tenant)
        found = {
            row["remote"]: heads
            for some, answers in zip(by_tenant.values(), told, strict=True)
            for row, heads in zip(some, answers, strict=True)
        }
    return [found[row["remote"]] for row in rows]


def _asked(rows: Sequence[Row], tenant: str, settings: FleetSettings) -> list[Heads | str]:
    """Ask `curate run --due` about the memories of a tenant, with their keys, by which git reaches the remotes."""
    try:
        words = [settings.program(), "run", "--due", "--json"]
        environ = {**settings.keys_of(tenant), "PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8"}
        listing = "".join(f"{row['remote']}\n" for row in rows)
        done = subprocess.run(words, check=False, capture_output=True, input=listing.encode(), env=environ)
        told = json.loads(done.stdout)
        if len(told) != len(rows):
            raise ValueError  # noqa: TRY301  as if it were no JSON
    except (FleetFault, OSError) as fault:
        return [str(fault)] * len(rows)
    except ValueError:
        return [f"`curate run --due` ended with {done.returncode}"] * len(rows)
    return [
        clean(one["error"]["sentence"]) if "error" in one else Heads(one["head"], one["night"] or "") for one in told
    ]


async def _defer(pool: Pool, app: App, part: Sequence[tuple[Row, date, Heads | str]]) -> int:
    """Record what some remotes point to, and defer the jobs, in one transaction; return how many."""
    new = 0
    async with pool.connection() as connection, connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
        for row, night, heads in part:
            remote, trouble = row["remote"], heads if isinstance(heads, str) else ""
            if trouble != row["unreachable"]:
                await connection.execute(
                    "UPDATE fleet_memories SET unreachable = %s WHERE remote = %s", [trouble, remote]
                )
            if isinstance(heads, str) or (row["state"] == "done" and heads.head == row["head"]):
                continue
            if heads.head == heads.night:  # nothing to read, whoever curated it
                await connection.execute(
                    "UPDATE fleet_memories SET state = 'done', head = %s, failures = 0 WHERE remote = %s"
                    " AND state = %s AND night IS NOT DISTINCT FROM %s",
                    [heads.head, remote, row["state"], row["night"]],
                )
                continue
            cursor = await connection.execute(
                "UPDATE fleet_memories SET state = 'waiting', night = %s, tries = 0 WHERE remote = %s"
                " AND state = %s AND night IS NOT DISTINCT FROM %s AND NOT paused",
                [night, remote, row["state"], row["night"]],
            )
            if cursor.rowcount:
                await defer(app, connection, remote)
                new += 1
    return new


async def take_over(pool: Pool, app: App, stalled: float) -> list[str]:
    """Defer again the jobs of workers without a sign of life, and return their memories.

    Each gets a new job: if the worker comes back late, what it ends is gone and nobody else's. What it reserved lapses
    now: runs that wait for it may hold every slot, so that the memory itself would never be begun again.

    Args:
        pool: the database.
        app: the queue.
        stalled: after so many seconds without a sign of life, a worker counts as dead.
    """
    async with pool.connection() as connection, connection.transaction():
        await connection.execute(
            "DELETE FROM procrastinate_jobs WHERE queue_name = %s AND status = 'doing' AND (worker_id IS NULL OR"
            " worker_id IN (SELECT id FROM procrastinate_workers"
            " WHERE last_heartbeat < now() - make_interval(secs => %s)))",
            [QUEUE, stalled],
        )
        cursor = await connection.execute(
            "UPDATE fleet_memories SET state = 'waiting' WHERE state IN ('waiting', 'running') AND NOT EXISTS"
            " (SELECT FROM procrastinate_jobs WHERE lock = remote AND status IN ('todo', 'doing'))"
            " RETURNING remote, lease"
        )
        lost = {str(remote): lease for remote, lease in await cursor.fetchall()}
        await lapse(connection, list(lost.values()))
        for remote in lost:
            await defer(app, connection, remote)
        return list(lost)


async def defer(app: App, connection: object, remote: str, seconds: float = 0.0) -> None:
    """Defer a memory's job in the transaction of a connection."""
    configured = app.configure_task(
        NIGHT, queue=QUEUE, lock=remote, queueing_lock=remote, connection=connection,
        schedule_at=datetime.now(UTC) + timedelta(seconds=seconds) if seconds else None,
    )  # fmt: skip
    await configured.defer_async(remote=remote)
