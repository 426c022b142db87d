"""Money and rates that all workers share: before each call a reservation, after it what the call really cost.

A reservation is one short transaction. It takes the most that a call may cost from the caps, for the fleet and for the
tenant, and the most it may need from the bucket of its provider and key. What is never settled, because a worker died,
counts in full: the call may have been made. So neither a cap nor a rate is exceeded, whoever is killed.

Caps hold in any 20 hours: no night spends one twice, wherever midnight is, and the next night finds it whole. Costs are
counted by the hour.

A bucket holds what the provider accepts in a minute. What a call used flows back one minute after the call ended: in
no minute, wherever it begins, are there more requests or tokens than that.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from curate_fleet.settings import FleetCaps, Rates

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date
    from uuid import UUID

    from curate_fleet.database import Connection, Pool


_MICRO = 1_000_000
_SOON = 0.2
_LATEST = 5.0


@dataclass(frozen=True, slots=True)
class Lease:
    """The right of one run to curate a memory for a night, and to spend money on it, until another run has it.

    Args:
        remote: the memory.
        tenant: whose it is.
        night: the night that it is curated for.
        id: the run.
    """

    remote: str
    tenant: str
    night: date
    id: UUID


@dataclass(frozen=True, slots=True)
class SpendingRequest:
    """What a child asks for before a call: the most that the call may need.

    Args:
        id: the call.
        bucket: the provider, and a hash of the key.
        tokens: sent and received.
        usd: their price, or None if it is unknown.
    """

    id: UUID
    bucket: str
    tokens: int
    usd: float | None


@dataclass(frozen=True, slots=True)
class Grant:
    """The answer: granted, or to be asked again after some seconds, or refused for a reason."""

    seconds: float = 0.0
    why: str = ""


GRANTED: Final = Grant()
LOCK: Final = 0x6D656D64
"""The number of the advisory lock under which caps are looked at."""
LATELY: Final = "hour > now() - interval '21 hours'"
"""Which rows of `fleet_spending` count for caps and are shown as spent: those that reach into the last 20 hours."""


async def reserve(
    pool: Pool, lease: Lease, asked: SpendingRequest, rates: Rates | None, fleet: FleetCaps, tenant: FleetCaps
) -> Grant:
    """Reserve a call, or say why not. Asking twice for one call reserves it once.

    Args:
        pool: the database.
        lease: the run.
        asked: the call.
        rates: what its provider accepts, or None.
        fleet: the caps of the fleet.
        tenant: the caps of the tenant.
    """
    if asked.usd is None and (fleet.max_usd is not None or tenant.max_usd is not None):
        return Grant(why="was skipped: its price is not known, but the fleet has a cap in dollars")
    micros = math.ceil((asked.usd or 0.0) * _MICRO)
    # The order of locks is the same everywhere: memory, call, bucket, spending.
    async with pool.connection() as connection, connection.transaction():
        held = await connection.execute(
            "SELECT 1 FROM fleet_memories WHERE remote = %s AND lease = %s FOR UPDATE", [lease.remote, lease.id]
        )
        if not await held.fetchone():
            return Grant(why="was skipped: another run has taken over this memory")
        known = await connection.execute("SELECT 1 FROM fleet_calls WHERE id = %s", [asked.id])
        if await known.fetchone():
            return GRANTED  # the answer was lost with the connection
        if seconds := await _wait(connection, asked, rates or Rates()):
            return Grant(seconds)
        if verdict := await _over(connection, lease, asked.tokens, micros, (fleet, tenant)):
            return verdict
        hour = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
        await _book(connection, hour, lease.tenant, [asked.tokens, micros, asked.tokens, micros])
        await connection.execute(
            "INSERT INTO fleet_calls VALUES (%s, %s, %s, %s, %s, %s, %s, clock_timestamp())",
            [asked.id, hour, lease.tenant, lease.id, asked.bucket, asked.tokens, micros],
        )
    return GRANTED


async def _wait(connection: Connection, asked: SpendingRequest, rates: Rates) -> float:
    """Return how many seconds the bucket has no room for the call; 0 if it has. Locks the bucket."""
    cursor = await connection.execute(
        "INSERT INTO fleet_buckets (name) VALUES (%s) ON CONFLICT (name) DO UPDATE SET name = excluded.name"
        " RETURNING greatest(0, extract(epoch FROM blocked_until - clock_timestamp()))",
        [asked.bucket],
    )
    row = await cursor.fetchone()
    if row and row[0]:
        return min(float(row[0]) + _SOON, _LATEST)
    if rates == Rates():
        return 0.0
    # A call counts from its grant until a minute after its end, so whichever moment of it the provider goes by.
    cursor = await connection.execute(
        "SELECT count(*), coalesce(sum(tokens), 0),"
        " extract(epoch FROM min(settled_at) + interval '1 minute' - clock_timestamp())"
        " FROM fleet_calls WHERE bucket = %s"
        " AND (settled_at IS NULL OR settled_at > clock_timestamp() - interval '1 minute')",
        [asked.bucket],
    )
    requests, tokens, next_out = await cursor.fetchone() or (0, 0, None)
    fits = rates.requests is None or requests < rates.requests
    if rates.tokens is not None and requests:  # a call that is larger than the bucket goes alone
        fits = fits and tokens + asked.tokens <= rates.tokens
    return 0.0 if fits else min(max(float(next_out or 0.0), _SOON), _LATEST)


async def _over(
    connection: Connection, lease: Lease, tokens: int, micros: int, caps: Sequence[FleetCaps]
) -> Grant | None:
    """Return the verdict if a call does not fit the caps, else None. Where there are any, reservations take turns."""
    owners = (("", "the fleet"), (lease.tenant, f"the tenant {lease.tenant}"))
    if any(cap.max_usd is not None or cap.max_tokens is not None for cap in caps):
        await connection.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
    for (owner, whose), cap in zip(owners, caps, strict=True):
        if cap.max_usd is None and cap.max_tokens is None:
            continue
        cursor = await connection.execute(
            "SELECT coalesce(sum(tokens), 0)::bigint, coalesce(sum(micros), 0)::bigint,"  # noqa: S608  of a constant
            " coalesce(sum(held_tokens), 0)::bigint, coalesce(sum(held_micros), 0)::bigint FROM fleet_spending"
            f" WHERE {LATELY} AND tenant = %s",
            [owner],
        )
        spent, cost, held, dear = await cursor.fetchone() or (0, 0, 0, 0)
        for name, most, used, reserved, needed, unit in (
            ("max_tokens", cap.max_tokens, spent, held, tokens, 1),
            ("max_usd", cap.max_usd, cost, dear, micros, _MICRO),
        ):
            if most is None or used + needed <= most * unit:
                continue
            if used - reserved + needed <= most * unit:
                return Grant(_SOON)
            why = f"{used / unit:,.12g} of {name} = {most:,.12g} of {whose} are spent, and a call may need"
            return Grant(why=f"was skipped: {why} {needed / unit:,.12g}")
    return None


async def settle(pool: Pool, call: UUID, tokens: int, usd: float, slow_seconds: float | None = None) -> None:
    """Replace a reservation by what the call cost, once; after a 429, make all calls with this key wait.

    Args:
        pool: the database.
        call: the call; one that was never granted, or is settled, changes nothing.
        tokens: what it used.
        usd: what that cost.
        slow_seconds: how long the provider asks to wait, or None.
    """
    async with pool.connection() as connection, connection.transaction():
        # If a crash of the server loses it, the reservation remains, which is too much and never too little.
        await connection.execute("SET LOCAL synchronous_commit = off")
        cursor = await connection.execute(
            "SELECT hour, tenant, bucket, tokens, micros FROM fleet_calls"
            " WHERE id = %s AND settled_at IS NULL FOR UPDATE",
            [call],
        )
        row = await cursor.fetchone()
        if not row:
            return
        hour, tenant, bucket, worst, dearest = row
        micros = math.ceil(usd * _MICRO)
        if slow_seconds is not None:
            await connection.execute(
                "UPDATE fleet_buckets SET blocked_until ="
                " greatest(blocked_until, clock_timestamp() + make_interval(secs => %s)) WHERE name = %s",
                [slow_seconds, bucket],
            )
        await _book(connection, hour, tenant, [tokens - worst, micros - dearest, -worst, -dearest])
        await connection.execute(
            "UPDATE fleet_calls SET tokens = %s, micros = %s, settled_at = clock_timestamp() WHERE id = %s",
            [tokens, micros, call],
        )


async def lapse(connection: Connection, leases: Sequence[UUID | None]) -> None:
    """End the reservations of leases: calls that were never settled count as the most that they may have cost."""
    cursor = await connection.execute(
        "UPDATE fleet_calls SET settled_at = clock_timestamp() WHERE lease = ANY(%s) AND settled_at IS NULL"
        " RETURNING hour, tenant, tokens, micros",
        [list(leases)],
    )
    for hour, tenant, tokens, micros in await cursor.fetchall():
        await _book(connection, hour, tenant, [0, 0, -tokens, -micros])


async def _book(connection: Connection, hour: datetime, tenant: str, changes: Sequence[int]) -> None:
    """Change what an hour has cost: tokens and money spent, tokens and money held. The fleet's row comes first."""
    for whose in ("", tenant):
        await connection.execute(
            "INSERT INTO fleet_spending AS known (hour, tenant, tokens, micros, held_tokens, held_micros)"
            " VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT (hour, tenant) DO UPDATE SET"
            " tokens = known.tokens + excluded.tokens, micros = known.micros + excluded.micros,"
            " held_tokens = known.held_tokens + excluded.held_tokens,"
            " held_micros = known.held_micros + excluded.held_micros",
            [hour, whose, *changes],
        )
