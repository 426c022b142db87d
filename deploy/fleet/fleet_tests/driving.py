"""A fleet in a folder: bare remotes, tenants with keys, and workers as processes of their own."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
from click.testing import CliRunner
from curate_fleet.commands import curate_fleet
from psycopg.rows import dict_row

from pipelines.cli import run_cli

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fleet_tests.provider import Provider

PERSON = ("-c", "user.name=A", "-c", "user.email=a@b")
DAY = "2025-01-02"
STALLED = 3


def git(folder: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout


def key_of(tenant: str) -> str:
    return f"key-of-{tenant}-0123456789abcdef"


@dataclass
class Fleet:
    """A fleet, its operator's command line, and its workers.

    Args:
        folder: everything is below it.
        dsn: its database, with tables.
        new: a fresh memory, to be copied.
        workers: those that were started.
    """

    folder: Path
    dsn: str
    new: Path
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def __post_init__(self) -> None:
        for name in ("remotes", "hosts", "tenants"):
            (self.folder / name).mkdir()

    @property
    def nights(self) -> Path:
        return self.folder / "nights"

    def write_settings(self, provider: Provider | None, more: str = "", **tenants: str) -> None:
        """Write fleet.toml, and each tenant's settings and keys; a tenant's value is more of its own table."""
        lines = [f'dsn = "{self.dsn}"', f'workdir = "{self.nights}"', f"stalled_seconds = {STALLED}"]
        lines += [*([] if "retry_seconds" in more else ["retry_seconds = 0.5"]), more]
        for tenant, text in tenants.items():
            config, keys = self.folder / "tenants" / tenant, self.folder / "tenants" / f"{tenant}.env"
            config.mkdir(exist_ok=True)
            settings = config / "config.toml"
            keys.write_text(f"MODEL_KEY={key_of(tenant)}\n")
            if provider:
                settings.write_text(
                    f'providers = ["openai"]\n[openai]\nmodel = "m"\nbase_url = "{provider.url}"\n'
                    'api_key_env = "MODEL_KEY"\nmax_tokens = 256\n'
                )
            else:
                settings.write_text('providers = ["rules"]\n')
            lines.append(f'[tenants.{tenant}]\nconfig = "{config}"\nkeys = "{keys}"\n{text}')
        (self.folder / "fleet.toml").write_text("\n".join(lines))

    def memory(self, tenant: str, number: int = 0) -> str:
        """Make a memory with something to read on a bare remote, and return its address."""
        name = f"{tenant}-{number}"
        host, remote = self.folder / "hosts" / name, self.folder / "remotes" / f"{name}.git"
        shutil.copytree(self.new, host, symlinks=True)
        self.log(host, DAY, f"the cache of {tenant} keeps {number} entries")
        git(self.folder, "clone", "--quiet", "--bare", str(host), str(remote))
        return str(remote)

    def log(self, host: Path, day: str, fact: str) -> None:
        path = host / f"Logs/{day}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"project: Kestrel\n\n- Fact: {fact}\n")
        git(host, "add", "-A")
        git(host, *PERSON, "commit", "--quiet", "-m", "Logs")

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "CURATE_FLEET": str(self.folder / "fleet.toml"), "OTHERS_SECRET": "seen-by-nobody"}

    def curate(self, *words: str, exits: int = 0) -> str:
        """Run `curate-fleet WORDS` as the operator does, and return what it printed on both streams."""
        told = CliRunner().invoke(curate_fleet, words, env={"CURATE_FLEET": self.environment["CURATE_FLEET"]})
        assert told.exit_code == exits, (told.output, told.exception)
        return told.output

    def start_worker(self, slots: int = 2) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "curate_fleet", "worker", "--slots", str(slots)]
        with (self.folder / f"worker-{len(self.workers)}.txt").open("wb") as out:
            worker = subprocess.Popen(command, env=self.environment, stdout=out, stderr=out, start_new_session=True)
        self.workers.append(worker)
        return worker

    def said(self) -> str:
        return "".join(path.read_text() for path in sorted(self.folder.glob("worker-*.txt")))

    def drain(self) -> None:
        """End all workers as an operator does; each finishes what it has begun."""
        for worker in self.workers:
            if worker.poll() is None:
                worker.terminate()
        for worker in self.workers:
            assert worker.wait(120) in {0, -signal.SIGKILL}, self.said()

    def query(self, query: str) -> list[dict[str, Any]]:
        with psycopg.connect(self.dsn, autocommit=True, row_factory=dict_row) as connection:
            return connection.execute(query.encode()).fetchall()

    def states(self) -> dict[str, int]:
        rows = self.query("SELECT state, count(*) AS count FROM fleet_memories GROUP BY state")
        return {row["state"]: row["count"] for row in rows}

    def wait_for(self, what: Callable[[], object], seconds: float = 120) -> None:
        """Wait until something is so."""
        end = time.monotonic() + seconds
        while not what():
            assert time.monotonic() < end, f"{self.states()}\n{self.said()}"
            time.sleep(0.1)

    def wait_until_idle(self, seconds: float = 120) -> None:
        self.wait_for(lambda: not {"new", "waiting", "running"} & set(self.states()), seconds)

    def children(self) -> list[int]:
        """Return the processes whose command line or folder names this fleet, without the workers."""
        own = {worker.pid for worker in self.workers}
        listed = subprocess.run(["ps", "-A", "-ww", "-o", "pid=,command="], capture_output=True, check=True, text=True)
        rows = (line.split(maxsplit=1) for line in listed.stdout.splitlines())
        return [int(row[0]) for row in rows if str(self.folder) in row[1] and int(row[0]) not in own]

    def check_nothing_left(self) -> None:
        """Check that no process, home, reservation, lock or job remains."""
        self.wait_for(lambda: not self.children(), 30)
        assert [path.name for path in (self.nights / "homes").iterdir()] == ["lock"]
        assert self.query("SELECT * FROM fleet_calls WHERE settled_at IS NULL") == []
        assert self.query("SELECT * FROM fleet_spending WHERE held_tokens <> 0 OR held_micros <> 0") == []
        assert (
            self.query("SELECT * FROM procrastinate_jobs WHERE status IN ('todo', 'doing') AND lock <> 'sweep'") == []
        )
        for clone in self.nights.glob("*/*/.git"):
            assert list(clone.glob("*.lock")) == []

    def check_no_key_was_kept(self, *tenants: str) -> None:
        """Check that no tenant's key is in the database, in what workers said, or in a clone."""
        tables = self.query("SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'")
        assert {"name": "procrastinate_jobs"} in tables
        kept = str([self.query(f"SELECT * FROM {row['name']}") for row in tables]) + self.said()  # noqa: S608
        assert not [tenant for tenant in tenants if key_of(tenant) in kept]
        found = subprocess.run(["grep", "-rlF", "key-of-", str(self.nights)], check=False, capture_output=True)
        assert (found.returncode, found.stdout) == (1, b"")

    def check_curated_once(self, remote: str, fact: str) -> None:
        """Check that a memory has its item once, from one run, and that nothing is left to read."""
        path = Path(remote)
        refs = dict(
            line.split()[::-1] for line in git(path, "for-each-ref", "--format=%(objectname) %(refname)").splitlines()
        )
        assert refs["refs/heads/main"] == refs["refs/curate/night"], remote
        runs = re.findall(r"^Run-Id: ", git(path, "log", "--format=%B", f"--since={DAY}", "main"), re.MULTILINE)
        assert len(runs) == 1, (remote, runs)
        fresh = self.folder / "seen" / path.stem
        git(self.folder, "clone", "--quiet", remote, str(fresh))
        out = io.BytesIO()  # JSON is printed as bytes
        with redirect_stdout(io.TextIOWrapper(out, write_through=True)):
            assert run_cli(["items", "--json", "--memory", str(fresh)]) == 0
            items = json.loads(out.getvalue())
        assert [item["text"] for item in items] == [fact], remote
        git(path, "fsck", "--strict")


@contextmanager
def ending(fleet: Fleet) -> Iterator[Fleet]:
    """Give a fleet, and end what is left of it."""
    try:
        yield fleet
    finally:
        for worker in fleet.workers:
            if worker.poll() is None:
                worker.kill()
                worker.wait()
