"""The files under deploy/: systemd accepts them, they fire at 02:00, and every line has its reason beside it."""

import os
import plistlib
import re
import shutil
import subprocess
from pathlib import Path

import pytest

DEPLOY = Path(__file__).parents[2] / "deploy"
UNITS = ("memcurate.service", "memcurate-failed.service", "memcurate.timer")
ANALYZE = shutil.which("systemd-analyze")
needs_systemd = pytest.mark.skipif(ANALYZE is None, reason="this machine has no systemd-analyze")


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """Lay the units and a `curate` into a home directory of their own; systemd itself is not touched."""
    units = tmp_path / ".config" / "systemd" / "user"
    units.mkdir(parents=True)
    for name in UNITS:
        shutil.copy(DEPLOY / name, units)
    command = tmp_path / ".local" / "bin" / "curate"
    command.parent.mkdir(parents=True)
    command.write_text("#!/bin/sh\n")
    command.chmod(0o755)
    return tmp_path


def analyze(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environ = {"PATH": os.environ["PATH"], "HOME": str(home), "XDG_RUNTIME_DIR": str(home), "LC_ALL": "C"}
    return subprocess.run(
        [ANALYZE or "", *arguments], capture_output=True, text=True, check=False, env=environ, cwd=home
    )


@needs_systemd
def test_systemd_finds_no_fault_in_the_units(installed: Path) -> None:
    paths = [str(installed / ".config" / "systemd" / "user" / name) for name in UNITS]
    done = analyze(installed, "--user", "--man=no", "verify", *paths)
    assert (done.returncode, done.stderr) == (0, "")


@needs_systemd
def test_systemd_would_find_one(installed: Path) -> None:
    path = installed / ".config" / "systemd" / "user" / "memcurate.timer"
    path.write_text(path.read_text().replace("Persistent=true", "Persistant=true\nOnCalendar=25:00"))
    assert "Persistant" in analyze(installed, "--user", "--man=no", "verify", str(path)).stderr


@needs_systemd
def test_the_timer_fires_at_two(installed: Path) -> None:
    found = re.search(r"^OnCalendar=(.+)$", (DEPLOY / "memcurate.timer").read_text(), re.MULTILINE)
    assert found
    done = analyze(installed, "calendar", "--base-time=2026-03-15 12:00:00", found[1])
    assert "2026-03-16 02:00:00" in done.stdout


def test_the_timer_makes_up_for_a_missed_night_and_names_the_service_by_its_own_name() -> None:
    timer = settings_of("memcurate.timer")
    assert "Persistent=true" in timer
    assert not [line for line in timer if line.startswith("Unit=")]
    assert "WantedBy=timers.target" in timer


def test_a_failed_night_is_told() -> None:
    assert "OnFailure=memcurate-failed.service" in settings_of("memcurate.service")
    assert "SuccessExitStatus=75" in settings_of("memcurate.service")


def test_cron_fires_at_two_and_sets_nothing_for_other_lines() -> None:
    [line] = settings_of("crontab")
    assert line.startswith("0 2 * * * ")
    assert len(line) < 990


def test_launchd_can_read_its_list() -> None:
    told = plistlib.loads((DEPLOY / "memcurate.plist").read_bytes())
    assert (told["Label"], told["StartCalendarInterval"]) == ("memcurate", {"Hour": 2, "Minute": 0})


@pytest.mark.parametrize("name", UNITS)
def test_a_unit_is_a_unit_and_no_essay(name: str) -> None:
    lines = [line for line in (DEPLOY / name).read_text().splitlines() if line]
    assert sum(line.startswith("#") for line in lines) * 3 <= len(lines)


def settings_of(name: str) -> list[str]:
    return [line for line in (DEPLOY / name).read_text().splitlines() if line and not line.startswith(("#", "["))]
