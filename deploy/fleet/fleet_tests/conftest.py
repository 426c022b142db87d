"""A real PostgreSQL out of the wheel, once a process, and a database of its own for each test."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest
from curate_fleet.database import create_tables, start_postgres, stop_postgres

from fleet_tests.driving import Fleet, ending
from pipelines.cli import run_cli

if TYPE_CHECKING:
    from collections.abc import Iterator


def _cut_off(patch: pytest.MonkeyPatch, home: Path) -> None:
    for key in list(os.environ):
        if key.endswith("_API_KEY") or key.startswith(("CURATE_", "GIT_", "XDG_")):
            patch.delenv(key)
    own = {"HOME": str(home), "TZ": "UTC", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    for key, value in own.items():
        patch.setenv(key, value)


@pytest.fixture(autouse=True)
def _alone(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take away what the machine's user has set, and the wait for the disk."""
    _cut_off(monkeypatch, tmp_path_factory.mktemp("home"))
    monkeypatch.setattr(os, "fsync", os.fstat)


@pytest.fixture(scope="session")
def new(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a memory once a process, to be copied."""
    root = tmp_path_factory.mktemp("new") / "memory"
    with pytest.MonkeyPatch.context() as patch:
        _cut_off(patch, tmp_path_factory.mktemp("home"))
        assert run_cli(["init", str(root), "--now", "2026-03-01T12:00"]) == 0
    return root


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
def fleet(dsn: str, new: Path, tmp_path: Path) -> Iterator[Fleet]:
    """Return a fleet without memories."""
    with ending(Fleet(tmp_path, dsn, new)) as made:
        yield made
