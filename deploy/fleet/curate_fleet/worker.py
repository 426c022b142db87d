"""A worker: it takes the jobs of nights, runs each as a child, and records how it ended.

It drains at SIGTERM: it takes nothing new and waits for its children; a second signal ends them, too, and their jobs go
to others. If it is killed, other workers see that it shows no sign of life, and take over its jobs.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import signal
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import psycopg
from procrastinate import App, RetryStrategy, exceptions

from curate_fleet.child import Bank, Ran, folder_of, homes, run_child
from curate_fleet.database import NIGHT, QUEUE, patiently, why_not
from curate_fleet.memories import FAILURES, TRIES, NightOutcome, begin, finish
from curate_fleet.say import FleetFault
from curate_fleet.spending import Lease, SpendingRequest, reserve, settle
from curate_fleet.sweep import defer, sweep, take_over

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from curate_fleet.database import Pool
    from curate_fleet.settings import FleetSettings


_LONGEST = 1800.0
_LOOK = 5.0
FINE, PERSON, LATER = 0, 1, 75
"""Exit codes of `curate run REMOTE`: curated, or it needs a person, or it may pass by itself."""
_MACHINES = frozenset({"BadSettings", "NotWritable", "NotYours"})
"""Errors in its report that are not the memory's own: a tenant's settings, and this machine's disk."""
_TENANTS = frozenset({"unauthorised"})
"""Failures of models in its report that are the tenant's matter."""


@dataclass(slots=True)
class Worker:
    """What the jobs of one worker share.

    Args:
        pool: the database.
        app: the queue.
        settings: the operator's settings.
        workdir: the folder of clones.
        home: the folder of this worker's homes.
        say: tells the operator a line; it holds no key and no word of a memory.
        running: the jobs at work.
    """

    pool: Pool
    app: App
    settings: FleetSettings
    workdir: Path
    home: Path
    say: Callable[[str], None]
    running: set[asyncio.Task[Any]] = field(default_factory=set)

    def has_room(self) -> bool:
        """Whether the disk of the clones has room for nights; what fails for want of it is no fault of a memory."""
        return shutil.disk_usage(self.workdir).free >= self.settings.free_mb * 1024 * 1024

    async def curate(self, remote: str) -> None:
        """Do the job of one night, if it is still to be done."""
        lease = await patiently(lambda: begin(self.pool, remote, uuid4()))
        if lease is None:
            return
        task = asyncio.create_task(self._outcome(lease))
        self.running.add(task)
        try:
            outcome = await task
        except asyncio.CancelledError:
            if not task.cancelled():
                raise
            outcome = NightOutcome("waiting", {"error": "its worker was stopped"})
        except Exception as fault:  # noqa: BLE001  a memory on which a worker stumbles must not hold it up
            outcome = NightOutcome("waiting", {"error": f"{type(fault).__name__} in the worker"}, is_failure=True)
            outcome = self.excused(outcome)
        finally:
            self.running.discard(task)
        state = await patiently(lambda: self._record(lease, outcome))
        why = outcome.report.get("error")
        self.say(f"{remote}: {state or 'taken over meanwhile'}{f': {why}' if why else ''}")

    async def _record(self, lease: Lease, outcome: NightOutcome) -> str:
        """Record how a run ended, and defer the next one, in one transaction; return what becomes of the memory.

        It is nothing if another run has the lease, whose word counts.
        """
        async with self.pool.connection() as connection, connection.transaction():
            cursor = await connection.execute(
                "SELECT failures, tries FROM fleet_memories WHERE remote = %s FOR UPDATE", [lease.remote]
            )
            failures, tries = await cursor.fetchone() or (0, 0)
            failures += outcome.is_failure
            if outcome.state != "waiting":
                failures = 0
            elif failures >= FAILURES:
                outcome = replace(outcome, state="dead")
            elif tries >= TRIES:
                outcome, failures = replace(outcome, state="pending"), 0
            if not await finish(connection, lease, outcome, failures):
                return ""
            if outcome.state == "waiting":
                pause = self.settings.retry_seconds * 2.0 ** min(max(tries, 1) - 1, 20)
                await defer(self.app, connection, lease.remote, min(pause, _LONGEST))
            return outcome.state

    async def _outcome(self, lease: Lease) -> NightOutcome:
        try:
            program = self.settings.program()
            config, keys = await asyncio.to_thread(self._belongings, lease.tenant)
        except FleetFault as fault:
            return NightOutcome("waiting", {"error": " ".join(str(fault).split())})
        bank = Bank(
            lambda asked: self._reserve(lease, asked),
            lambda call, tokens, usd, slow: patiently(lambda: settle(self.pool, call, tokens, usd, slow)),
        )
        ran = await run_child(
            program, lease.remote, folder_of(lease.remote, self.workdir), self.home, config, keys,
            self.settings.child, bank,
        )  # fmt: skip
        return self.excused(outcome_of(ran))

    def excused(self, outcome: NightOutcome) -> NightOutcome:
        """Return how a run ended; if there is no room now, its failure is not the memory's."""
        if outcome.is_failure and not self.has_room():
            report = {**outcome.report, "error": f"its worker had no room; {outcome.report.get('error', '')}"}
            return replace(outcome, is_failure=False, report=report)
        return outcome

    def _belongings(self, tenant: str) -> tuple[Path, dict[str, str]]:
        """Return the folder of a tenant's settings, and their keys.

        Raises:
            KeysMissing: the keys cannot be read.
        """
        named, keys = self.settings.tenant(tenant).config, self.settings.keys_of(tenant)
        config = (named or self.workdir / "tenants" / tenant).expanduser()
        config.mkdir(mode=0o700, parents=True, exist_ok=True)
        return config, keys

    async def _reserve(self, lease: Lease, asked: SpendingRequest) -> str:
        """Wait until a call is granted; return why it is not, or an empty string."""
        rates = self.settings.rates.get(asked.bucket.partition(":")[0])
        tenant = self.settings.tenant(lease.tenant)
        while True:
            verdict = await patiently(lambda: reserve(self.pool, lease, asked, rates, self.settings.caps, tenant))
            if verdict.why or not verdict.seconds:
                return verdict.why
            await asyncio.sleep(verdict.seconds)

    async def take_over(self) -> None:
        """Again and again, put the jobs of workers without a sign of life back into the queue."""
        while True:
            with contextlib.suppress(psycopg.Error, exceptions.ConnectorException):
                for remote in await take_over(self.pool, self.app, self.settings.stalled_seconds):
                    self.say(f"Took over {remote}: its worker gave no sign of life.")
            await asyncio.sleep(self.settings.stalled_seconds / 3)


def outcome_of(ran: Ran) -> NightOutcome:
    """Return what a child's end means for its memory: what is not its own fault does not count as its failure."""
    told = ran.report
    model = told.get("model") or {}
    fault = told.get("error") or {}
    error = ran.why or " ".join(fault.get("sentence", "").split())
    report = {
        "run": told.get("run"),
        "cost": {key: model.get(key) for key in ("usd", "calls", "input_tokens", "output_tokens")},
        "entries": told.get("entries"),
        "pending_days": told.get("pending_days"),
        "exit_code": ran.code,
    }
    if not error and told.get("after") and ran.code in {FINE, PERSON, LATER}:
        is_whole = told.get("night") == told["after"]
        refused = ran.refused or model.get("over_budget") or ""
        why = str(refused or model.get("failure") or "")
        if ran.code == FINE or is_whole or refused:
            return NightOutcome(
                "done" if is_whole else "pending", {**report, **({"error": why} if why else {})}, told["after"]
            )
        is_own = ran.code != LATER and not _TENANTS & set((model.get("failing") or {}).values())
        return NightOutcome("waiting", {**report, "error": why}, told["after"], is_failure=is_own)
    error = error or (f"was killed by signal {-ran.code}" if ran.code < 0 else f"ended with exit code {ran.code}")
    is_own = bool(ran.why) or (ran.code != LATER and fault.get("kind") not in _MACHINES)
    return NightOutcome("waiting", {**report, "error": error, "tail": ran.tail}, is_failure=is_own)


def add_tasks(app: App, worker: Worker) -> None:
    """Give the queue the tasks that a worker does: a night, and the sweep as its periodic task."""
    # A fault of ours or of the database is tried again; what a child does never raises.
    retry = RetryStrategy(wait=10)

    @app.task(name=NIGHT, queue=QUEUE, retry=retry)
    async def night(remote: str) -> None:
        await worker.curate(remote)

    @app.periodic(cron=worker.settings.sweep)
    @app.task(name="sweep", queue=QUEUE, lock="sweep", queueing_lock="sweep", priority=1)
    async def look(timestamp: int) -> None:  # noqa: ARG001  Procrastinate passes it
        await sweep(worker.pool, app, worker.settings)
        async with worker.pool.connection() as connection:
            await connection.execute("DELETE FROM fleet_calls WHERE settled_at < now() - interval '1 day'")
            await connection.execute("DELETE FROM fleet_spending WHERE hour < now() - interval '400 days'")
        await app.job_manager.delete_old_jobs(nb_hours=24, include_failed=True, include_aborted=True)


async def work(pool: Pool, app: App, settings: FleetSettings, slots: int, say: Callable[[str], None]) -> None:
    """Work until a signal ends it.

    Args:
        pool: the database, with more connections than slots.
        app: the queue.
        settings: the operator's settings.
        slots: how many nights to run at once.
        say: tells the operator a line.
    """
    loop = asyncio.get_running_loop()
    stopping = asyncio.Event()
    workdir = settings.workdir.expanduser().absolute()
    with homes(workdir) as home:
        worker = Worker(pool, app, settings, workdir, home, say)
        say(f"Working, {slots:,} at once.")
        add_tasks(app, worker)

        def stop() -> None:
            if stopping.is_set():
                for job in worker.running:
                    job.cancel()
            else:
                say(f"Draining: {len(worker.running)} at work.")
            stopping.set()

        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop)
        taking_over = asyncio.create_task(worker.take_over())
        try:
            await _serve(worker, slots, stopping)
        finally:
            taking_over.cancel()
            await asyncio.gather(taking_over, return_exceptions=True)


async def _serve(worker: Worker, slots: int, stopping: asyncio.Event) -> None:
    """Run Procrastinate's worker until it is to stop; if the database throws it out, begin again.

    While the disk has no room, nothing is taken, and other workers may have it.
    """
    stalled, is_told = worker.settings.stalled_seconds, False
    while not stopping.is_set():
        if not worker.has_room():
            if not is_told:
                worker.say(f"Paused: {worker.workdir} has less than {worker.settings.free_mb:,} MB free.")
            is_told = True
            await _wait(stopping)
            continue
        if is_told:
            worker.say("There is room again.")
        is_told = False
        serving = asyncio.create_task(
            worker.app.run_worker_async(
                queues=[QUEUE], concurrency=slots,  install_signal_handlers=False,
                listen_notify=False, fetch_job_polling_interval=min(2.0, stalled / 3),
                update_heartbeat_interval=stalled / 6, stalled_worker_timeout=stalled, delete_jobs="successful",
            )
        )  # fmt: skip
        is_over = asyncio.create_task(_over(worker, stopping))
        await asyncio.wait({serving, is_over}, return_when=asyncio.FIRST_COMPLETED)
        is_drained = is_over.done()
        is_over.cancel()
        if is_drained:
            serving.cancel()  # it drains
        try:
            await serving
        except asyncio.CancelledError:
            if not is_drained:
                raise
        except (psycopg.Error, exceptions.ProcrastinateException) as fault:
            worker.say(f"The queue does not answer: {why_not(fault)}. It is asked again.")
            await asyncio.sleep(1)


async def _over(worker: Worker, stopping: asyncio.Event) -> None:
    """Return once the worker is to take nothing more."""
    while not stopping.is_set() and worker.has_room():
        await _wait(stopping)


async def _wait(stopping: asyncio.Event) -> None:
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(stopping.wait(), _LOOK)
