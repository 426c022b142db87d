"""A real PostgreSQL out of the wheel, once a process, and a database of its own for each test."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from pipelines.fleet.database import create_tables, start_postgres, stop_postgres
from tests.fleet.driving import Fleet, ending

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def postgres() -> Iterator[tuple[Path, str]]:
    """Run a server in a folder that PostgreSQL's own user may enter; give the folder and the DSN."""
    above = Path(tempfile.mkdtemp(prefix="fleet-"))
    above.chmod(0o755)
    try:
        dsn = start_postgres(above / "pg")
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET fsync = off")  # what a test writes need outlive no power cut
            connection.execute("SELECT pg_reload_conf()")
        yield above / "pg", dsn
    finally:
        stop_postgres(above / "pg", how="immediate")
        shutil.rmtree(above)


@pytest.fixture
def dsn(postgres: tuple[Path, str]) -> str:
    """Return the address of a new database with the fleet's tables."""
    folder, server = postgres
    name = f"fleet_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    made = f"postgresql://postgres@/{name}?host={folder}"
    assert asyncio.run(create_tables(made))
    return made


@pytest.fixture
def fleet(dsn: str, _new: Path, tmp_path: Path) -> Iterator[Fleet]:
    """Return a fleet without memories."""
    with ending(Fleet(tmp_path, dsn, _new)) as made:
        yield made
