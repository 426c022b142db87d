"""Which memories a fleet has, whose they are, when they may be curated, and how far the night is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo

from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from curate_fleet.say import UsageFault
from curate_fleet.spending import LATELY, Lease, lapse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from curate_fleet.database import Connection, Pool

Row = dict[str, Any]
FAILURES: Final = 3
"""After so many failures in a row, a memory waits for a person."""
TRIES: Final = 12
"""So often a memory is tried in one night, when the failures are not its own."""
_TENANT = re.compile(r"\w[\w-]{0,63}")
_PASSWORD = re.compile(r"https?://[^/\s]*@|://[^/@\s]*:[^/@\s]*@")
# What `curate run REMOTE` fetches from; it refuses what could run a program, and so does `add`.
_ADDRESS = re.compile(r"(?:https?|ssh|file)://[^\s-]\S*|/\S*|(?:[\w.-]+@)?\w[\w.-]*:(?!:|//)[^\s-]\S*")
_HOURS = re.compile(r"([01]?\d|2[0-3])-([01]?\d|2[0-4])")


@dataclass(frozen=True, slots=True)
class NightOutcome:
    """How one run of a memory ended.

    Args:
        state: what becomes of the memory: `done`, `pending` until the next night, `dead`, or `waiting` for another run.
        report: the reduced report of the run, or the error; it holds no word of the memory.
        head: the branch at the remote, if the run was the memory's own.
        is_failure: whether it counts as a failure of the memory.
    """

    state: str
    report: Mapping[str, object]
    head: str = ""
    is_failure: bool = False


def night_at(now: datetime, timezone: str, hours: str) -> date | None:
    """Return the night that a moment belongs to, in a memory's own time; None outside its hours.

    Args:
        now: the moment, with a zone.
        timezone: the memory's zone.
        hours: `22-6`, or empty for any time; hours after midnight belong to the day on which the night began.
    """
    local = now.astimezone(ZoneInfo(timezone))
    found = _HOURS.fullmatch(hours)
    if not found:
        return local.date()
    first, last = map(int, found.groups())
    if first < last:
        return local.date() if first <= local.hour < last else None
    if local.hour >= first:
        return local.date()
    return local.date() - timedelta(days=1) if local.hour < last else None


async def add(pool: Pool, remotes: Sequence[str], tenant: str, timezone: str, hours: str) -> int:
    """Add memories, or give known ones another tenant, zone and hours; return how many are new.

    Raises:
        UsageFault: an address, the tenant, the hours or the zone are none.
    """
    if any(map(_PASSWORD.search, remotes)):
        raise UsageFault(
            "An address holds a password or token, which would be kept in the database.",
            "Leave it out, and let a git credential helper give it: README.md.",
        )
    if odd := next((one for one in remotes if not _ADDRESS.fullmatch(one)), ""):
        raise UsageFault(
            f"The address “{odd}” is not supported.", "Use https://, ssh://, user@host:path or an absolute path."
        )
    if not _TENANT.fullmatch(tenant):
        raise UsageFault(f"“{tenant}” is no name of a tenant.", "Use letters, digits, - and _.")
    if hours and not _HOURS.fullmatch(hours):
        raise UsageFault(f"“{hours}” are not hours.", "Write them like 22-6.")
    try:
        ZoneInfo(timezone)
    except (ValueError, KeyError, OSError):
        raise UsageFault(f"There is no time zone “{timezone}”.", "Write it like Europe/Berlin.") from None
    rows = [(remote, tenant, timezone, hours) for remote in dict.fromkeys(remotes)]
    async with pool.connection() as connection, connection.cursor() as cursor:
        await cursor.execute("SELECT count(*) FROM fleet_memories")
        before = await cursor.fetchone() or (0,)
        await cursor.executemany(
            "INSERT INTO fleet_memories (remote, tenant, timezone, hours) VALUES (%s, %s, %s, %s) ON CONFLICT (remote)"
            " DO UPDATE SET tenant = excluded.tenant, timezone = excluded.timezone, hours = excluded.hours",
            rows,
        )
        await cursor.execute("SELECT count(*) FROM fleet_memories")
        after = await cursor.fetchone() or before
        return int(after[0] - before[0])


async def listed(pool: Pool, remotes: Sequence[str] = (), tenant: str = "", state: str = "") -> list[Row]:
    """Return the rows of some memories, by remote; without a restriction, of all."""
    async with pool.connection() as connection, connection.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(
            f"SELECT * FROM fleet_memories WHERE {_CHOSEN} AND (%(state)s = '' OR state = %(state)s)"  # noqa: S608
            " ORDER BY remote",
            {"remotes": list(remotes), "tenant": tenant, "state": state},
        )
        return await cursor.fetchall()


_CHOSEN = (
    "(cardinality(%(remotes)s::text[]) = 0 OR remote = ANY(%(remotes)s)) AND (%(tenant)s = '' OR tenant = %(tenant)s)"
)
_CHANGES = {
    "remove": f"DELETE FROM fleet_memories WHERE {_CHOSEN}",  # noqa: S608  of constants
    "pause": f"UPDATE fleet_memories SET paused = true WHERE {_CHOSEN}",  # noqa: S608
    "resume": f"UPDATE fleet_memories SET paused = false WHERE {_CHOSEN}",  # noqa: S608
    "retry": (
        f"UPDATE fleet_memories SET state = 'pending', night = NULL, failures = 0 WHERE {_CHOSEN}"  # noqa: S608
        " AND state IN ('dead', 'pending')"
    ),
}


_SOONER = f"UPDATE fleet_memories SET tries = 0, failures = 0 WHERE {_CHOSEN} AND state = 'waiting' RETURNING remote"  # noqa: S608


async def change(pool: Pool, verb: str, remotes: Sequence[str], tenant: str) -> int:
    """Remove, pause, resume or retry some memories; return how many."""
    chosen = {"remotes": list(remotes), "tenant": tenant}
    async with pool.connection() as connection, connection.transaction():
        cursor = await connection.execute(_CHANGES[verb], chosen)
        changed = cursor.rowcount
        if verb == "retry":  # what waits has a job already, which becomes due
            cursor = await connection.execute(_SOONER, chosen)
            waiting = [row[0] for row in await cursor.fetchall()]
            changed += len(waiting)
            await connection.execute(
                "UPDATE procrastinate_jobs SET scheduled_at = NULL WHERE status = 'todo' AND lock = ANY(%s)", [waiting]
            )
        return changed


async def begin(pool: Pool, remote: str, lease: UUID) -> Lease | None:
    """Give a run the lease of a memory, and end that of an earlier run; None if it is not to be curated now."""
    async with pool.connection() as connection, connection.transaction():
        cursor = await connection.execute(
            "SELECT tenant, night, lease, paused, state, tries FROM fleet_memories WHERE remote = %s FOR UPDATE",
            [remote],
        )
        row = await cursor.fetchone()
        if not row or row[4] not in {"waiting", "running"}:
            return None  # removed; or curated by a run whose worker died before it could say so to the queue
        tenant, night, old, is_paused, _, tries = row
        await lapse(connection, [old])
        if is_paused:
            await connection.execute(
                "UPDATE fleet_memories SET state = 'pending', night = NULL, lease = NULL WHERE remote = %s", [remote]
            )
            return None
        if tries > TRIES:  # no run of it came to its end
            error = {"error": f"its worker was killed at work, or the run could not be recorded, {tries} times"}
            await connection.execute(
                "UPDATE fleet_memories SET state = 'dead', report = %s WHERE remote = %s", [Jsonb(error), remote]
            )
            return None
        await connection.execute(
            "UPDATE fleet_memories SET state = 'running', lease = %s, tries = tries + 1, started_at = clock_timestamp()"
            " WHERE remote = %s",
            [lease, remote],
        )
        return Lease(remote, tenant, night, lease)


async def finish(connection: Connection, lease: Lease, outcome: NightOutcome, failures: int) -> bool:
    """Record how a run ended, in the caller's transaction; False if another run has its lease."""
    cursor = await connection.execute(
        "UPDATE fleet_memories SET state = %s, report = %s, head = coalesce(nullif(%s, ''), head), lease = NULL,"
        " failures = %s, finished_at = clock_timestamp() WHERE remote = %s AND lease = %s",
        [outcome.state, Jsonb(dict(outcome.report)), outcome.head, failures, lease.remote, lease.id],
    )
    if cursor.rowcount:
        await lapse(connection, [lease.id])
    return bool(cursor.rowcount)


async def status(pool: Pool) -> dict[str, Any]:
    """Return how far the latest night is: states, reasons, and the cost of 20 hours, per tenant and in all."""
    async with pool.connection() as connection, connection.cursor(row_factory=dict_row) as cursor:

        async def rows(query: str) -> list[Row]:
            await cursor.execute(query.encode())
            return await cursor.fetchall()

        states = await rows(
            "SELECT tenant, CASE WHEN paused THEN 'paused' ELSE state END AS state, count(*) AS count"
            " FROM fleet_memories GROUP BY 1, 2 ORDER BY 1, 2"
        )
        spent = await rows(
            "SELECT tenant, sum(tokens)::bigint AS tokens, sum(micros) / 1e6 AS usd FROM fleet_spending"  # noqa: S608  constant
            f" WHERE {LATELY} GROUP BY tenant ORDER BY tenant"
        )
        minute = await rows(
            "SELECT bucket, count(*) AS requests, sum(tokens) AS tokens FROM fleet_calls"
            " WHERE settled_at IS NULL OR settled_at > now() - interval '1 minute' GROUP BY 1 ORDER BY 1"
        )
        pace = await rows(
            "SELECT count(*) AS finished, extract(epoch FROM now() - min(started_at)) AS seconds,"
            " (SELECT max(night) FROM fleet_memories) AS night FROM fleet_memories"
            " WHERE finished_at > now() - interval '15 minutes' AND state IN ('done', 'pending', 'dead')"
        )
        failed = await rows(
            "SELECT remote, tenant, state, failures, coalesce(nullif(unreachable, ''), report->>'error') AS why FROM"
            " fleet_memories WHERE unreachable <> '' OR state IN ('dead', 'pending', 'waiting') AND report ? 'error'"
            " ORDER BY state, remote LIMIT 20"
        )
    counts: dict[str, int] = {}
    for row in states:
        counts[row["state"]] = counts.get(row["state"], 0) + row["count"]
    left = counts.get("waiting", 0) + counts.get("running", 0)
    finished, seconds = pace[0]["finished"], float(pace[0]["seconds"] or 0)
    return {
        "night": str(pace[0]["night"]) if pace[0]["night"] else None,
        "states": counts,
        "tenants": _by_tenant(states, spent),
        "spent": next((_cost(row) for row in spent if not row["tenant"]), {"tokens": 0, "usd": 0.0}),
        "last_minute": {row["bucket"]: {"requests": row["requests"], "tokens": int(row["tokens"])} for row in minute},
        "per_hour": round(finished * 3600 / seconds) if seconds else 0,
        "seconds_left": round(left * seconds / finished) if finished and left else (None if left else 0),
        "failing": failed,
    }


def _by_tenant(states: Sequence[Row], spent: Sequence[Row]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for row in states:
        found.setdefault(row["tenant"], {"tokens": 0, "usd": 0.0})[row["state"]] = row["count"]
    for row in spent:
        if row["tenant"] in found:
            found[row["tenant"]] |= _cost(row)
    return found


def _cost(row: Row) -> dict[str, Any]:
    return {"tokens": row["tokens"], "usd": float(row["usd"])}
