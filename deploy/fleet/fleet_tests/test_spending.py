"""Caps and rates hold whatever asks at once, dies, or comes back late."""

from __future__ import annotations

import asyncio
import uuid
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from curate_fleet.database import opened
from curate_fleet.memories import add, begin, status
from curate_fleet.settings import FleetCaps, Rates
from curate_fleet.spending import GRANTED, SpendingRequest, reserve, settle
from curate_fleet.sweep import take_over

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from curate_fleet.database import Pool
    from curate_fleet.spending import Grant, Lease

NIGHT = date(2026, 3, 20)
FREE = FleetCaps()


class Bank:
    """A database, and the runs of memories that ask it."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool

    async def lease(self, remote: str = "/a", tenant: str = "acme") -> Lease:
        """Begin a run; an earlier one of the same memory has lost its lease."""
        await add(self.pool, [remote], tenant, "UTC", "")
        await self.run("UPDATE fleet_memories SET state = 'waiting', night = %s WHERE remote = %s", NIGHT, remote)
        lease = await begin(self.pool, remote, uuid.uuid4())
        assert lease
        return lease

    async def ask(  # noqa: PLR0913  a call has as many sides
        self,
        lease: Lease,
        tokens: int = 100,
        usd: float | None = 0.01,
        *,
        fleet: FleetCaps = FREE,
        tenant: FleetCaps = FREE,
        rates: Rates | None = None,
        bucket: str = "openai:1",
        call: uuid.UUID | None = None,
    ) -> tuple[uuid.UUID, Grant]:
        call = call or uuid.uuid4()
        return call, await reserve(self.pool, lease, SpendingRequest(call, bucket, tokens, usd), rates, fleet, tenant)

    async def run(self, query: str, *values: object) -> Any:
        async with self.pool.connection() as connection:
            cursor = await connection.execute(query.encode(), values)
            return await cursor.fetchall() if cursor.description else None

    async def spent(self, tenant: str = "") -> tuple[int, int, int, int]:
        rows = await self.run(
            "SELECT sum(tokens)::bigint, sum(micros)::bigint, sum(held_tokens)::bigint, sum(held_micros)::bigint"
            " FROM fleet_spending WHERE tenant = %s",
            tenant,
        )
        found: tuple[int, int, int, int] = rows[0]
        return found

    async def a_minute_passes(self) -> None:
        await self.run("UPDATE fleet_calls SET settled_at = settled_at - interval '1 minute'")
        await self.run("UPDATE fleet_buckets SET blocked_until = blocked_until - interval '1 minute'")


def banking(dsn: str, work: Callable[[Bank], Awaitable[None]]) -> None:
    async def run() -> None:
        async with opened(dsn, 12) as (pool, _):
            await work(Bank(pool))

    asyncio.run(run())


def test_a_reservation_is_settled_by_what_the_call_cost(dsn: str) -> None:
    async def work(bank: Bank) -> None:
        call, verdict = await bank.ask(await bank.lease())
        assert verdict == GRANTED
        assert await bank.spent() == await bank.spent("acme") == (100, 10_000, 100, 10_000)
        for _ in range(2):  # the answer to the first may be lost
            await settle(bank.pool, call, 40, 0.004)
            assert await bank.spent() == await bank.spent("acme") == (40, 4_000, 0, 0)

    banking(dsn, work)


def test_a_question_that_is_repeated_reserves_once(dsn: str) -> None:
    async def work(bank: Bank) -> None:
        lease = await bank.lease()
        call, _ = await bank.ask(lease)
        assert (await bank.ask(lease, call=call))[1] == GRANTED
        assert (await bank.spent())[0] == 100

    banking(dsn, work)


def test_a_cap_waits_for_what_others_hold_and_refuses_beyond_what_is_spent(dsn: str) -> None:
    async def work(bank: Bank) -> None:
        lease, cap = await bank.lease(), FleetCaps(max_tokens=250)
        first, _ = await bank.ask(lease, fleet=cap)
        await bank.ask(lease, fleet=cap)
        assert (await bank.ask(lease, fleet=cap))[1].seconds > 0, "those who hold may need less"
        await settle(bank.pool, first, 40, 0.0)
        assert (await bank.ask(lease, fleet=cap))[1] == GRANTED
        assert (await bank.ask(lease, 240, fleet=cap))[1].why == (
            "was skipped: 240 of max_tokens = 250 of the fleet are spent, and a call may need 240"
        )
        dear = FleetCaps(max_usd=0.03)
        assert (
            "0.02 of max_usd = 0.03 of the tenant acme are spent, and a call may need 0.04"
            in (await bank.ask(lease, 1, 0.04, tenant=dear))[1].why
        )
        assert "price is not known" in (await bank.ask(lease, 1, None, fleet=dear))[1].why

    banking(dsn, work)


def test_many_who_ask_at_once_do_not_exceed_a_cap(dsn: str) -> None:
    async def work(bank: Bank) -> None:
        leases = [await bank.lease(f"/{number}", f"t{number % 3}") for number in range(30)]
        cap = FleetCaps(max_tokens=1_000, max_usd=10.0)
        told = await asyncio.gather(*(bank.ask(lease, fleet=cap, bucket=f"openai:{lease.remote}") for lease in leases))
        assert [verdict for _, verdict in told].count(GRANTED) == 10
        assert (await bank.spent())[0] == 1_000

    banking(dsn, work)


def test_what_a_dead_run_had_reserved_counts_in_full_and_its_worker_spends_no_more(dsn: str) -> None:
    async def work(bank: Bank) -> None:
        old = await bank.lease()
        call, _ = await bank.ask(old)
        new = await bank.lease()
        assert await bank.spent() == (100, 10_000, 0, 0)
        assert "another run has taken over" in (await bank.ask(old))[1].why
        await settle(bank.pool, call, 0, 0.0)
        assert (await bank.spent())[0] == 100, "it comes back late, and the call may have been answered"
        assert (await bank.ask(new))[1] == GRANTED

    banking(dsn, work)


def test_nobody_waits_for_what_a_dead_run_holds_until_its_memory_is_begun_again(dsn: str) -> None:
    async def run() -> None:
        async with opened(dsn, 4) as (pool, app):
            bank, cap = Bank(pool), FleetCaps(max_tokens=150)
            await bank.ask(await bank.lease("/dead"))
            other = await bank.lease("/other")
            assert (await bank.ask(other, fleet=cap))[1].seconds > 0
            assert "/dead" in await take_over(pool, app, 60)
            assert (await bank.ask(other, fleet=cap))[1].why.startswith("was skipped: 100 of max_tokens = 150")

    asyncio.run(run())


def test_no_minute_has_more_requests_or_tokens_than_the_provider_accepts(dsn: str) -> None:
    async def work(bank: Bank) -> None:
        lease, rates = await bank.lease(), Rates(requests=3, tokens=1_000)
        calls = []
        for _ in range(3):
            call, verdict = await bank.ask(lease, rates=rates)
            assert verdict == GRANTED
            calls.append(call)
        assert (await bank.ask(lease, rates=rates))[1].seconds > 0
        assert (await bank.ask(lease, rates=rates, bucket="openai:2"))[1] == GRANTED, "each key has its own bucket"
        await settle(bank.pool, calls[0], 10, 0.0)
        await bank.a_minute_passes()
        call, verdict = await bank.ask(lease, 700, rates=rates)
        assert verdict == GRANTED, "the two that are not settled may still need 200"
        assert (await bank.ask(lease, 101, rates=rates))[1].seconds > 0
        for one in (*calls, call):
            await settle(bank.pool, one, 300, 0.0)
        assert (await bank.ask(lease, 101, rates=Rates(tokens=1_000)))[1].seconds > 0
        await bank.a_minute_passes()
        assert (await bank.ask(lease, 5_000, rates=rates))[1] == GRANTED, "too large for any minute, it goes alone"

    banking(dsn, work)


def test_a_429_slows_all_who_use_the_key(dsn: str) -> None:
    async def work(bank: Bank) -> None:
        one, other = await bank.lease("/a"), await bank.lease("/b", "bolt")
        call, _ = await bank.ask(one)
        await settle(bank.pool, call, 0, 0.0, 30.0)
        assert (await bank.ask(other))[1].seconds > 0
        assert (await bank.ask(other, bucket="openai:2"))[1] == GRANTED
        await bank.a_minute_passes()
        assert (await bank.ask(other))[1] == GRANTED

    banking(dsn, work)


@pytest.mark.parametrize(("zone", "hours"), [("UTC", ""), ("Asia/Kolkata", "22-6")])
def test_a_cap_holds_whatever_night_it_is_called_and_the_next_night_finds_it_whole(
    dsn: str, zone: str, hours: str
) -> None:
    async def work(bank: Bank) -> None:
        cap = FleetCaps(max_tokens=250)
        await bank.ask(await bank.lease(), 200, tenant=cap)
        await add(bank.pool, ["/b"], "acme", zone, hours)
        await bank.run("UPDATE fleet_memories SET state = 'waiting', night = %s", NIGHT + timedelta(days=1))
        later = await begin(bank.pool, "/b", uuid.uuid4())
        assert later
        await bank.run("UPDATE fleet_memories SET state = 'waiting', lease = NULL WHERE remote = '/a'")
        for passed, fits in ((0, False), (19, False), (2, True)):
            await bank.run("UPDATE fleet_spending SET hour = hour - make_interval(hours => %s)", passed)
            _, verdict = await bank.ask(later, 200, tenant=cap)
            assert (verdict == GRANTED) == fits, (passed, verdict)
        told = await status(bank.pool)
        assert (told["spent"]["tokens"], told["tenants"]["acme"]["tokens"]) == (200, 200)

    banking(dsn, work)
