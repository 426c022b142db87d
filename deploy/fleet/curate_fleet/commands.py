"""`curate-fleet`: many memories, curated every night by many workers."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from curate_fleet import __version__
from curate_fleet.database import create_tables, dsn_of, embedded_folder, opened, start_postgres, stop_postgres
from curate_fleet.memories import add, change, listed, status
from curate_fleet.say import UsageFault, clean, count, dollars, say, say_table, warn
from curate_fleet.settings import fleet_file, load_fleet_settings
from curate_fleet.sweep import sweep
from curate_fleet.worker import work

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from procrastinate import App

    from curate_fleet.database import Pool
    from curate_fleet.settings import FleetSettings

    Command = Callable[..., Any]
    Work = Callable[[Pool, App, FleetSettings], Awaitable[Any]]


_WATCH_SECONDS = 2.0
_REMOTES = click.argument("remotes", metavar="[REMOTE]...", nargs=-1)
_TENANT = click.option("--tenant", metavar="T", default="", help="All memories of this tenant.")
_ALL = click.option("--all", "everything", is_flag=True, help="All memories of the fleet.")


def _json(text: str = "Print one JSON object.") -> Callable[[Command], Command]:
    return click.option("--json", "as_json", is_flag=True, help=text)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="curate-fleet")
def curate_fleet() -> None:
    """Curate many memories every night: add them, start workers, watch how far they are.

    fleet.toml beside your config.toml holds caps, rates and where each tenant's keys are; README.md shows it.
    """


def main() -> None:
    """Run the command line."""
    curate_fleet.main(prog_name="curate-fleet")


def _run(work: Work, connections: int = 2) -> Any:  # noqa: ANN401  whatever the work returns

    settings = load_fleet_settings(os.environ)
    dsn = dsn_of(settings, os.environ)

    async def run() -> Any:  # noqa: ANN401  as above
        async with opened(dsn, connections) as (pool, app):
            return await work(pool, app, settings)

    return asyncio.run(run())


@curate_fleet.command("init")
@click.argument("dsn", required=False)
@click.option("--stop", is_flag=True, help="Stop the embedded PostgreSQL.")
def fleet_init(*, dsn: str | None, stop: bool) -> None:
    """Set up the database.

    The tables of an older version are brought up to date. Without DSN, fleet.toml names the database; else an embedded
    PostgreSQL is started, for trying it on one machine.
    """
    folder = embedded_folder(os.environ)
    if stop:
        say("The embedded PostgreSQL is stopped." if stop_postgres(folder) else "It was not running.")
        return
    known = load_fleet_settings(os.environ).dsn
    applied = asyncio.run(create_tables(dsn or known or start_postgres(folder)))
    say(f"The tables are {'created' if applied else 'up to date'}.")
    if not (dsn or known):
        say(f"PostgreSQL runs in {folder}. `curate-fleet init --stop` stops it; the next command starts it again.")
    elif dsn and dsn != known:
        say(f'Now put the address into {fleet_file(os.environ)}, on each machine: dsn = "…"')


@curate_fleet.command("add")
@_REMOTES
@click.option("--tenant", metavar="T", default="default", help="Whose they are: a table [tenants.T] in fleet.toml.")
@click.option("--from", "listing", type=click.File(), metavar="FILE", help="Also those in FILE, one a line (-: stdin).")
@click.option("--timezone", metavar="ZONE", default="UTC", help="The zone of their nights (default: UTC).")
@click.option("--hours", metavar="H-H", default="", help="The hours in which they are curated, such as 22-6.")
def fleet_add(*, remotes: tuple[str, ...], tenant: str, listing: Any, timezone: str, hours: str) -> None:  # noqa: ANN401
    """Add memories, or change known ones. A REMOTE is an address or a path."""
    lines = [line.strip() for line in listing] if listing else []
    named = [*remotes, *(line for line in lines if line and not line.startswith("#"))]
    if not named:
        raise UsageFault("No memory was named.", "Name remotes, or a file with --from.")
    whole = _whole(named)
    new = _run(lambda pool, _app, _settings: add(pool, whole, tenant, timezone, hours))
    say(f"{count(new, 'memory', 'memories')} added, {len(set(whole)) - new} changed.")


@curate_fleet.command("list")
@_REMOTES
@_TENANT
@_json("Print one JSON array.")
def fleet_list(*, remotes: tuple[str, ...], tenant: str, as_json: bool) -> None:
    """List the memories, and how the last night of each ended."""
    _tell_rows(remotes, tenant, as_json=as_json)


@curate_fleet.command("dead")
@_json("Print one JSON array.")
def fleet_dead(*, as_json: bool) -> None:
    """List the memories that failed three times in a row, and why."""
    if _tell_rows((), "", "dead", as_json=as_json) and not as_json:
        say("`curate-fleet retry REMOTE` lets one be curated again.")


def _whole(remotes: Iterable[str]) -> list[str]:
    return [os.path.abspath(one) if os.path.exists(one) else one for one in remotes]  # noqa: PTH100, PTH110  URLs, too


def _tell_rows(remotes: tuple[str, ...], tenant: str, state: str = "", *, as_json: bool) -> int:
    """Show the chosen memories, and return how many they are."""
    rows = _run(lambda pool, _app, _settings: listed(pool, _whole(remotes), tenant, state))
    if as_json:
        say(
            json.dumps(
                [{key: value if key == "report" else _plain(value) for key, value in row.items()} for row in rows]
            )
        )
        return len(rows)
    shown = [
        (
            row["remote"], row["tenant"], f"{row['timezone']} {row['hours']}".strip(),
            "paused" if row["paused"] else row["state"], str(row["night"] or ""),
            str(row["unreachable"] or row["report"].get("error") or ""),
        )
        for row in rows
    ]  # fmt: skip
    if shown:
        say_table(("Remote", "Tenant", "Hours", "State", "Night", "Why"), shown)
    else:
        say(f"There is no {state} memory." if state else "There is no such memory.")
    return len(rows)


def _plain(value: object) -> object:
    return value if isinstance(value, str | int | bool | None) else str(value)


def _changing(verb: str, text: str, done: str) -> None:
    @curate_fleet.command(verb, help=text)
    @_REMOTES
    @_TENANT
    @_ALL
    def fleet_change(*, remotes: tuple[str, ...], tenant: str, everything: bool) -> None:

        if not (remotes or tenant or everything):
            raise UsageFault("No memory was named.", "Name remotes, or --tenant, or --all.")
        changed = _run(lambda pool, _app, _settings: change(pool, verb, _whole(remotes), tenant))
        say(f"{count(changed, 'memory', 'memories')} {done}.")


_changing("remove", "Take memories out of the fleet; their remotes stay as they are.", "removed")
_changing("pause", "Curate these memories no more, until they are resumed.", "paused")
_changing("resume", "Curate paused memories again.", "resumed")
_changing("retry", "Let dead, half-read and waiting memories be tried again.", "to retry")


@curate_fleet.command("sweep")
@_json()
def fleet_sweep(*, as_json: bool) -> None:
    """Queue the memories that have something new. Workers do it, too."""
    found = _run(sweep)
    if as_json:
        say(json.dumps(asdict(found)))
    else:
        unreachable = f", {found.unreachable:,} not reached" if found.unreachable else ""
        say(f"{count(found.looked, 'memory is', 'memories are')} due, {found.new:,} queued{unreachable}.")


@curate_fleet.command("worker")
@click.option("--slots", type=click.IntRange(1, 256), default=os.cpu_count() or 1, help="How many nights at once.")
def fleet_worker(*, slots: int) -> None:
    """Curate what is queued, until SIGTERM.

    Then nothing new is begun, and what runs comes to its end. A second signal ends what runs, and others take it over.
    """
    handler = logging.StreamHandler()
    handler.setFormatter(_Sentence())
    logging.basicConfig(level=logging.WARNING, handlers=[handler])

    def tell(line: str) -> None:
        say(line)

    _run(lambda pool, app, settings: work(pool, app, settings, slots, tell), slots + 4)


class _Sentence(logging.Formatter):
    """Libraries' warnings without tracebacks, which may hold what a job was given."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the message alone."""
        return f"{record.name}: {clean(' '.join(record.getMessage().split()))}"


@curate_fleet.command("status")
@click.option("--watch", is_flag=True, help="Print it again every two seconds, until Ctrl-C.")
@_json()
def fleet_status(*, watch: bool, as_json: bool) -> None:
    """Show how far the night is; exit with 1 if a memory is dead.

    Beside that, it shows what the last 20 hours cost, and what failed and why.
    """
    logging.getLogger("psycopg.pool").setLevel(logging.ERROR)  # of a server that goes away, the last word is enough

    async def show(pool: Pool, _app: App, _settings: FleetSettings) -> bool:
        while True:
            told = await status(pool)
            if watch and not as_json:
                click.clear()
            say(json.dumps(told)) if as_json else _tell_status(told)
            if not watch:
                return bool(told["states"].get("dead"))
            await asyncio.sleep(_WATCH_SECONDS)

    if _run(show):
        click.get_current_context().exit(1)


def _tell_status(told: dict[str, Any]) -> None:
    states, left = told["states"], told["seconds_left"]
    if not states:
        say("The fleet has no memory. `curate-fleet add REMOTE` adds one.")
        return
    counts = ", ".join(f"{number:,} {state}" for state, number in states.items())
    say(f"Night {told['night'] or '(none yet)'}: {counts}.")
    spent = told["spent"]
    say(f"Spent in 20 hours, with what is reserved: {dollars(spent['usd'])}, {spent['tokens']:,} tokens.")
    if left is None:
        say("None has come to its end in the last 15 minutes." + ("" if "running" in states else " Does a worker run?"))
    elif left:
        say(f"{told['per_hour']:,} an hour; done in about {max(round(left / 60), 1)} min.")
    rows = [
        (tenant, *(str(one.get(state, "")) for state in states), dollars(one["usd"]), f"{one['tokens']:,}")
        for tenant, one in told["tenants"].items()
    ]
    say_table(("Tenant", *map(str.capitalize, states), "Cost", "Tokens"), rows)
    for bucket, used in told["last_minute"].items():
        say(f"Last minute, {bucket}: {count(used['requests'], 'request')}, {used['tokens']:,} tokens.")
    for row in told["failing"]:
        warn(f"{row['remote']} ({row['tenant']}, {row['state']}): {row['why']}")
