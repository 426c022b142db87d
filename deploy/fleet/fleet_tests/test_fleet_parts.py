"""The parts of a fleet: its settings and keys, its nights and hours, what a child's end means."""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
from datetime import date, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import psycopg
import pytest
from curate_fleet import child, commands, database
from curate_fleet.child import Ran, homes
from curate_fleet.database import QUEUE, NoFleet, create_tables, opened, start_postgres, stop_postgres
from curate_fleet.memories import NightOutcome, night_at
from curate_fleet.say import FleetFault
from curate_fleet.settings import BadSettings, ChildLimits, FleetSettings, KeysMissing, fleet_file, load_fleet_settings
from curate_fleet.sweep import take_over
from curate_fleet.worker import Worker, outcome_of
from hypothesis import given
from hypothesis import strategies as st
from procrastinate.jobs import Status

from pipelines.cli import run_cli

if TYPE_CHECKING:
    from pathlib import Path

    from fleet_tests.driving import Fleet

HOURS = st.tuples(st.integers(0, 23), st.integers(0, 23)).filter(lambda pair: pair[0] != pair[1])


# ---------------------------------------------------------------- settings and keys


def written(folder: Path, text: str) -> dict[str, str]:
    (folder / "fleet.toml").write_text(text)
    return {"CURATE_FLEET": str(folder / "fleet.toml")}


def test_all_faults_of_the_settings_are_told_at_once(tmp_path: Path) -> None:
    environ = written(tmp_path, "[caps]\nmax_usd = -1\n[rates.openai]\ncalls = 3\n[child]\nminutes = 0\n[odd]\n")
    with pytest.raises(BadSettings) as fault:
        load_fleet_settings(environ)
    told = str(fault.value)
    assert all(key in told for key in ("caps.max_usd", "rates.openai.calls", "child.minutes", "odd"))


def test_a_machine_without_settings_has_the_defaults_and_one_tenant(tmp_path: Path) -> None:
    settings = load_fleet_settings({"HOME": str(tmp_path)})
    assert fleet_file({"HOME": str(tmp_path)}) == tmp_path / ".config/memcurate/fleet.toml"
    assert settings.keys_of("default") == {}
    with pytest.raises(BadSettings, match="it does not exist"):
        load_fleet_settings({"CURATE_FLEET": str(tmp_path / "none.toml")})
    with pytest.raises(KeysMissing, match=r"fleet.toml has no table \[tenants.acme\]"):
        settings.keys_of("acme")


def test_the_program_is_the_one_beside_or_the_one_that_is_named() -> None:
    assert FleetSettings().program().endswith("/curate")
    with pytest.raises(FleetFault, match="The program /nowhere/curate was not found"):
        FleetSettings(curate="/nowhere/curate").program()


def test_keys_come_from_a_file_and_a_command(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("# acme\n\nexport MODEL_KEY='one two'\nOTHER=3\n")
    text = f'[tenants.acme]\nkeys = "{tmp_path}/keys"\nkeys_command = "echo THIRD=4"\n'
    settings = load_fleet_settings(written(tmp_path, text))
    assert settings.keys_of("acme") == {"MODEL_KEY": "one two", "OTHER": "3", "THIRD": "4"}


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ('keys = "{folder}/none"', "no such file"),
        ("keys_command = \"sh -c 'echo SECRET-WORD; exit 3'\"", "CalledProcessError in its file or command"),
        ('keys_command = "echo HOME=/SECRET-WORD"', "line 2 is not NAME=VALUE, or sets one of CURATE_GUARD"),
        ('keys_command = "echo SECRET-WORD"', "line 2 is not NAME=VALUE"),
    ],
)
def test_keys_that_cannot_be_read_are_named_and_not_shown(tmp_path: Path, table: str, why: str) -> None:
    settings = load_fleet_settings(written(tmp_path, f"[tenants.acme]\n{table.format(folder=tmp_path)}\n"))
    with pytest.raises(KeysMissing) as fault:
        settings.keys_of("acme")
    assert why in str(fault.value)
    assert "SECRET-WORD" not in str(fault.value)


# ---------------------------------------------------------------- nights and hours


@pytest.mark.parametrize(
    ("now", "zone", "hours", "night"),
    [
        ("2026-03-20T23:30+00:00", "UTC", "", "2026-03-20"),
        ("2026-03-20T23:30+00:00", "Europe/Berlin", "", "2026-03-21"),
        ("2026-03-20T21:00+00:00", "Europe/Berlin", "22-6", "2026-03-20"),
        ("2026-03-21T04:59+00:00", "Europe/Berlin", "22-6", "2026-03-20"),
        ("2026-03-21T05:00+00:00", "Europe/Berlin", "22-6", None),
        ("2026-03-20T02:00+00:00", "UTC", "2-6", "2026-03-20"),
        ("2026-03-20T06:00+00:00", "UTC", "2-6", None),
        ("2026-03-20T23:59+00:00", "UTC", "22-24", "2026-03-20"),
    ],
)
def test_a_night_begins_in_the_memorys_own_time(now: str, zone: str, hours: str, night: str | None) -> None:
    assert night_at(datetime.fromisoformat(now), zone, hours) == (date.fromisoformat(night) if night else None)


@given(HOURS, st.datetimes(datetime(2026, 1, 1), datetime(2027, 1, 1)), st.sampled_from(["UTC", "Asia/Kolkata"]))  # noqa: DTZ001
def test_all_hours_of_one_night_have_one_date(hours: tuple[int, int], at: datetime, zone: str) -> None:
    begin = at.replace(tzinfo=ZoneInfo(zone), hour=hours[0], minute=0, second=0, microsecond=0)
    length = (hours[1] - hours[0]) % 24
    found = {night_at(begin + timedelta(hours=hour), zone, f"{hours[0]}-{hours[1]}") for hour in range(length)}
    assert found == {begin.date()}
    assert night_at(begin + timedelta(hours=length), zone, f"{hours[0]}-{hours[1]}") is None


# ---------------------------------------------------------------- what a child's end means


def ran(code: int, told: dict[str, Any] | None = None, **more: str) -> tuple[str, bool]:
    """Return the state that follows from a child's end, and whether it counts as the memory's failure."""
    outcome = outcome_of(Ran(code, report=told or {}, **more))  # type: ignore[arg-type]
    return outcome.state, outcome.is_failure


def test_what_is_not_the_memorys_fault_does_not_count_as_its_failure() -> None:
    whole, part = {"after": "a", "night": "a"}, {"after": "b", "night": "a"}
    down = {"failure": "openai is down", "failing": {"openai": "down"}}
    assert ran(0, whole) == ("done", False)
    assert ran(0, part) == ("pending", False), "logs came meanwhile"
    assert ran(0, {**part, "model": {"over_budget": "x"}}) == ("pending", False)
    assert ran(1, part, refused="max_usd is used up") == ("pending", False)
    assert ran(75, {**part, "model": down}) == ("waiting", False)
    assert ran(1, {**part, "model": {"failure": "refused", "failing": {"openai": "refused"}}}) == ("waiting", True)
    assert ran(1, {**part, "model": {"failure": "x", "failing": {"openai": "unauthorised"}}}) == ("waiting", False)
    assert ran(75, {"error": {"sentence": "Another run ended first."}}) == ("waiting", False)
    assert ran(75, {"error": {"kind": "NotPushed", "sentence": "x"}}) == ("waiting", False)
    assert ran(1, {"error": {"sentence": "The remote is no memory."}}) == ("waiting", True)
    for kind in ("BadSettings", "NotWritable", "NotYours"):
        assert ran(1, {"error": {"kind": kind, "sentence": "x"}}) == ("waiting", False)
        assert ran(1, {"error": {"kind": kind, "sentence": "x"}}, why="was ended") == ("waiting", True)
    assert ran(-9) == ran(3) == ran(0, why="was ended after 3 minutes") == ("waiting", True)


def test_what_fails_on_a_full_disk_is_not_the_memorys_fault(tmp_path: Path) -> None:
    failed = NightOutcome("waiting", {"error": "ended with exit code 120"}, is_failure=True)
    nothing: Any = None
    worker = partial(Worker, nothing, nothing, workdir=tmp_path, home=tmp_path, say=print)
    full = worker(settings=FleetSettings(free_mb=10**9)).excused(failed)
    assert (full.is_failure, full.report["error"]) == (False, "its worker had no room; ended with exit code 120")
    assert worker(settings=FleetSettings(free_mb=0)).excused(failed) == failed


# ---------------------------------------------------------------- the database and the folders


def test_tables_are_created_once_and_a_database_without_them_is_named(postgres: tuple[Path, str], dsn: str) -> None:
    assert asyncio.run(create_tables(dsn)) == []

    async def use(address: str) -> None:
        async with opened(address):
            pass

    asyncio.run(use(dsn))
    empty = postgres[1].replace("/postgres?", "/template1?")
    for address, why in ((empty, "it has no tables"), ("postgresql:///x?host=/nowhere", "/nowhere")):
        with pytest.raises(NoFleet, match=why):
            asyncio.run(use(address))


def test_a_migration_of_procrastinate_that_is_new_is_applied(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        rows = connection.execute(
            "DELETE FROM fleet_migrations WHERE name LIKE '03.04.00_50%' RETURNING name"
        ).fetchall()
    assert asyncio.run(create_tables(dsn)) == [row[0] for row in rows]


def test_tables_of_an_older_version_are_brought_up_to_date_with_what_is_in_them(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        for table in ("fleet_spending", "fleet_calls"):
            connection.execute(f"ALTER TABLE {table} ALTER COLUMN hour TYPE date".encode())
            connection.execute(f"ALTER TABLE {table} RENAME COLUMN hour TO night".encode())
        connection.execute("DELETE FROM fleet_migrations WHERE name = 'fleet_tables_2'")
        connection.execute("INSERT INTO fleet_spending (night, tenant, tokens) VALUES (current_date, '', 7)")
        assert asyncio.run(create_tables(dsn)) == ["fleet_tables_2"]
        assert connection.execute("SELECT tokens, hour = current_date FROM fleet_spending").fetchall() == [(7, True)]
    assert asyncio.run(create_tables(dsn)) == []


def test_a_worker_that_comes_back_late_ends_nobody_elses_job(fleet: Fleet) -> None:
    fleet.write_settings(None)
    fleet.curate("add", fleet.memory("default"))
    fleet.curate("sweep")

    async def run() -> None:
        async with opened(fleet.dsn) as (pool, app):
            queue = app.job_manager
            late = await queue.fetch_job([QUEUE], await queue.register_worker())
            assert late
            assert await take_over(pool, app, 60) == []
            assert await take_over(pool, app, 0) == [late.lock]
            for _ in range(2):
                await queue.finish_job(late, Status.SUCCEEDED, delete_job=True)
                await queue.retry_job(late)
            other = await queue.fetch_job([QUEUE], await queue.register_worker())
            assert other
            assert (other.lock, other.id == late.id) == (late.lock, False)

    asyncio.run(run())


def test_an_embedded_server_is_started_once_and_again_after_a_crash(postgres: tuple[Path, str]) -> None:
    folder, address = postgres
    assert start_postgres(folder) == address
    assert stop_postgres(folder, how="immediate")
    assert not stop_postgres(folder)
    assert start_postgres(folder) == address
    with psycopg.connect(address) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_init_sets_up_the_embedded_server_and_the_next_command_finds_it(
    postgres: tuple[Path, str], fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (commands, database):
        monkeypatch.setattr(module, "embedded_folder", lambda _: postgres[0])
    fleet.write_settings(None)
    path = fleet.folder / "fleet.toml"
    path.write_text("\n".join(line for line in path.read_text().splitlines() if not line.startswith("dsn")))
    assert "The tables are created.\nPostgreSQL runs in" in fleet.curate("init")
    assert "The tables are up to date." in fleet.curate("init")
    assert fleet.curate("init", "--stop") == "The embedded PostgreSQL is stopped.\n"
    assert fleet.curate("init", "--stop") == "It was not running.\n"
    assert "The fleet has no memory." in fleet.curate("status")
    assert "Now put the address into" in fleet.curate("init", fleet.dsn)


def test_a_child_may_have_so_much_memory_and_write_files_so_large() -> None:
    asked = "import resource as r; print(r.getrlimit(r.RLIMIT_DATA)[0] >> 20, r.getrlimit(r.RLIMIT_FSIZE)[0] >> 20)"
    words = ["/bin/sh", "-c", child.CONFINE, "sh", str(512 * 1024), str(16 * 2048), sys.executable, "-c", asked]
    told = subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()
    assert told == ["512", "16"]


def test_a_child_that_fills_the_disk_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "_LOOK", 0.01)
    with (tmp_path / "large").open("wb") as file:
        file.truncate(17 << 20)

    async def run() -> str:
        process = await asyncio.create_subprocess_exec("sleep", "60", start_new_session=True)
        try:
            return await child.watch(process, ChildLimits(disk_mb=16), Ran(), (tmp_path,))
        finally:
            process.kill()
            await process.wait()

    assert asyncio.run(run()) == "was ended because it had more than 16 MB on the disk"


def test_homes_of_workers_that_were_killed_are_deleted_and_those_of_others_stay(tmp_path: Path) -> None:
    left = tmp_path / "homes/dead"
    left.mkdir(parents=True)
    (left / "lock").touch()
    with homes(tmp_path) as one, homes(tmp_path) as other:
        assert one.is_dir()
        assert other.is_dir()
        assert not left.exists()
    assert [path.name for path in (tmp_path / "homes").iterdir()] == ["lock"]


# ---------------------------------------------------------------- the operator's verbs


def test_memories_are_added_listed_paused_and_removed(fleet: Fleet) -> None:
    fleet.write_settings(None, acme="")
    listing = fleet.folder / "list"
    listing.write_text("# two\n/r/b.git\n\ngit@host:me/c.git\n")
    assert fleet.curate("add", "/r/a.git", "--from", str(listing), "--tenant", "acme", "--hours", "22-6")
    assert fleet.curate("add", "/r/a.git", "--tenant", "acme") == "0 memories added, 1 changed.\n"
    told = fleet.curate("list")
    assert "/r/b.git           acme  UTC 22-6  new" in told
    assert "/r/a.git           acme  UTC       new" in told
    assert fleet.curate("pause", "/r/a.git") == "1 memory paused.\n"
    assert json.loads(fleet.curate("list", "/r/a.git", "--json"))[0]["paused"]
    assert fleet.curate("list", "/r/none.git") == "There is no such memory.\n"
    assert "No memory was named" in fleet.curate("remove", exits=2)
    assert fleet.curate("resume", "--tenant", "acme") == "3 memories resumed.\n"
    assert fleet.curate("remove", "--all") == "3 memories removed.\n"
    assert "The fleet has no memory." in fleet.curate("status")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("https://me:word@host/m.git",), "An address holds a password or token"),
        (("https://ghp_0123456789@host/m.git",), "An address holds a password or token"),
        (("ext::sh -c true",), "is not supported"),
        (("/r/a.git", "--hours", "25-3"), "are not hours"),
        (("/r/a.git", "--timezone", "Mars/Base"), "There is no time zone"),
        ((), "No memory was named"),
    ],
)
def test_what_cannot_be_added_is_named(fleet: Fleet, words: tuple[str, ...], why: str) -> None:
    fleet.write_settings(None)
    assert why in fleet.curate("add", *words, exits=2)
    assert "ghp_" not in str(fleet.query("SELECT * FROM fleet_memories"))


def test_a_remote_that_does_not_answer_is_shown_and_nothing_is_queued(fleet: Fleet) -> None:
    fleet.write_settings(None)
    fleet.curate("add", str(fleet.folder / "none.git"))
    told = json.loads(fleet.curate("sweep", "--json"))
    assert told == {"looked": 1, "new": 0, "unreachable": 1}
    told = json.loads(fleet.curate("status", "--json"))
    assert "none.git" in told["failing"][0]["why"]


def test_a_memory_that_was_curated_elsewhere_is_not_queued(fleet: Fleet, capsys: pytest.CaptureFixture[str]) -> None:
    fleet.write_settings(None)
    remote = fleet.memory("default")
    assert run_cli(["run", remote, "--workdir", str(fleet.folder / "elsewhere")]) == 0, capsys.readouterr()
    fleet.curate("add", remote)
    assert fleet.curate("sweep") == "1 memory is due, 0 queued.\n"
    assert fleet.states() == {"done": 1}


@pytest.mark.parametrize(
    ("dsn", "why"),
    [
        ("postgresql://me:SECRET-WORD@127.0.0.1:1/x", "port 1 failed: Connection refused"),
        ("postgres//me:SECRET-WORD@host/x", "its address is not one of PostgreSQL"),
    ],
)
def test_a_database_that_cannot_be_reached_is_told_without_its_password(
    fleet: Fleet, tmp_path: Path, dsn: str, why: str
) -> None:
    written(tmp_path, f'dsn = "{dsn}"')
    for words in (["status"], ["worker"], ["init"], ["init", dsn]):
        told = fleet.curate(*words, exits=1)
        assert why in told
        assert "Correct its address" in told
        assert "SECRET-WORD" not in told


def test_a_remote_is_named_by_a_path_wherever_it_was_added(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    fleet.write_settings(None)
    fleet.memory("default")
    monkeypatch.chdir(fleet.folder / "remotes")
    fleet.curate("add", "default-0.git")
    assert fleet.curate("pause", "default-0.git") == "1 memory paused.\n"
    assert "paused" in fleet.curate("list", "default-0.git")


def test_memories_are_queued_in_no_order_so_that_tenants_take_turns(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet.write_settings(None)
    remotes = [fleet.memory("default", number) for number in range(3)]
    fleet.curate("add", *remotes)
    monkeypatch.setattr(random, "shuffle", list.reverse)
    fleet.curate("sweep")
    queued = fleet.query("SELECT lock FROM procrastinate_jobs WHERE lock IS NOT NULL ORDER BY id")
    assert [row["lock"] for row in queued] == remotes[::-1]
