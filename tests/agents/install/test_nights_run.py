"""What is installed, started as cron and launchd start it: a good night says nothing, a bad one is told."""

import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pipelines import errors
from pipelines.agents import timers as systemd
from pipelines.agents.install_plan import InstallRequest, Program
from pipelines.store.lock import run_lock
from tests.agents.install.outside import System, system
from tests.conftest import Memory

__all__ = ["system"]
SAYS = '#!/bin/sh\nprintf "%s\\n" "$@" >>"{told}"\n'


@pytest.fixture
def asked(memory: Memory, system: System, monkeypatch: pytest.MonkeyPatch) -> InstallRequest:
    """Have nights begin through a program whose PATH leads to the stand-ins, and keys in the file for them."""
    monkeypatch.setattr("pipelines.agents.timers.search_path", lambda: str(system.folder))
    for name in ("nice", "printenv"):
        (system.folder / name).symlink_to(f"/usr/bin/{name}")
    system.program("notify-send", SAYS)
    system.cron()
    keys = Path.home() / "config/memcurate/environment"
    keys.parent.mkdir(parents=True)
    keys.write_text(f"CURATE_CONFIG={keys.parent}/config.toml\n")
    (keys.parent / "config.toml").write_text("")
    memory.write("Logs/2026-03-18.md", "- Decision: Use SQLite for the cache.\n")
    return InstallRequest(Program((sys.executable, "-m", "pipelines.cli"), memory.root), Path.home())


def start(words: list[str], **more: str) -> tuple[int, str]:
    known = {"HOME": os.environ["HOME"], "XDG_CONFIG_HOME": os.environ["XDG_CONFIG_HOME"], "PATH": os.environ["PATH"]}
    known |= {"PYTHONPATH": str(Path(__file__).parents[3]), "TZ": "UTC", "DISPLAY": ":9"} | more
    done = subprocess.run(words, env=known, capture_output=True, text=True, check=False, timeout=120)
    return done.returncode, done.stdout + done.stderr


def test_the_units_do_a_night_and_tell_of_a_bad_one(memory: Memory, system: System, asked: InstallRequest) -> None:
    units = systemd.units(asked)

    def begin(name: str) -> tuple[int, str]:
        """Start what a unit starts, as systemd reads it: no shell, quotes undone, variables from the file it names."""
        [line] = re.findall(r"^ExecStart=:(.+)$", units[name], re.MULTILINE)
        [file] = re.findall(r"^EnvironmentFile=-(.+)$", units["memcurate.service"], re.MULTILINE)
        known = dict(row.split("=", 1) for row in Path(file).read_text().splitlines())
        return start(shlex.split(line.replace("%%", "%")), **known, PATH=str(system.folder) + ":/usr/bin:/bin")

    code, said = begin("memcurate.service")
    assert code == 0, said
    assert "Use SQLite" in memory.curate("items")
    with run_lock(memory.root, "the test"):
        code, said = begin("memcurate.service")
    assert f"SuccessExitStatus={code}\n" in units["memcurate.service"], "another run at work is no failure"
    (Path.home() / "config/memcurate/config.toml").write_text('providers = ["exec:false"]\n')
    memory.write("Logs/2026-03-19.md", "- Decision: Invoices go out on Mondays.\n")
    assert begin("memcurate.service")[0] == 1
    assert "OnFailure=memcurate-failed.service\n" in units["memcurate.service"]
    code, said = begin("memcurate-failed.service")
    assert f"SuccessExitStatus={code}\n" in units["memcurate-failed.service"], said
    assert f"The nights of the memory in {memory.root} need you" in "\n".join(system.commands())


def test_the_page_for_operators_names_every_exit_code() -> None:
    page = (Path(__file__).parents[3] / "docs/operations.md").read_text()
    told = set(map(int, re.findall(r"\*\*(\d+)\*\*", page.partition("## Exit codes")[2].partition("\n## ")[0])))
    codes = (errors.FINE, errors.EXPECTED, errors.USAGE, errors.BUG, errors.TRY_LATER, errors.INTERRUPTED)
    assert told == {*codes, errors.Ended(signal.SIGHUP).exit_code, errors.Ended(signal.SIGTERM).exit_code}
