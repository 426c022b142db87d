"""`curate install cron|systemd|launchd`: what runs every night, written, shown and taken back."""

import os
import plistlib
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from pipelines.agents import timers
from pipelines.agents.install_plan import InstallRequest, Program
from pipelines.agents.timers import fill
from pipelines.cli import run_cli
from tests.agents.install.outside import SYSTEMCTL, System, cron_command, environment, system
from tests.conftest import Memory

__all__ = ["system"]
DEPLOY = Path(__file__).parents[3] / "deploy"
ANALYZE = shutil.which("systemd-analyze")
THEIRS = b'# mine, in latin-1: \xe4\nMAILTO=""\n5 4 * * 0 tar cf /x%y\n'
PRINTED = st.text(st.characters(exclude_categories=["C", "Z"], exclude_characters="/"), min_size=1, max_size=12)
ODD = st.one_of(PRINTED, st.text("a %$\"'\\*?[&<;#:", min_size=1, max_size=12)).filter(
    lambda name: name not in {".", ".."}
)


def uninstall(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    capsys.readouterr()
    code = run_cli(["uninstall", *words])
    said = capsys.readouterr()
    assert code == 0, said.out + said.err
    return said.out


@pytest.mark.parametrize("table", [None, b"", THEIRS, THEIRS.rstrip(b"\n")])
def test_cron_gets_one_line_and_loses_it_to_the_byte(
    memory: Memory, system: System, capsys: pytest.CaptureFixture[str], table: bytes | None
) -> None:
    system.cron(table)
    assert "Changed your crontab." in memory.curate("install", "cron")
    now = system.table.read_bytes()
    assert now.startswith(table or b"")
    assert re.findall(rb"^0 2 \* \* \* set -a;.*", now, re.MULTILINE)
    assert "Nothing to do for cron." in memory.curate("install", "cron")
    memory.curate("install", "cron", "--time", "23:45")
    assert "your crontab, every night at 23:45" in memory.curate("install")
    memory.curate("install", "cron")
    assert b"\n45 23 * * * " in system.table.read_bytes(), "the time that was asked for once stays"
    uninstall(capsys, "cron")
    left = system.table.read_bytes() if system.table.exists() else b""
    assert left == (table or b"").rstrip(b"\n") + (b"\n" if table else b"")


def test_what_is_said_when_a_crontab_fails(memory: Memory, system: System) -> None:
    said = memory.curate("install", "cron", exits=1)
    assert "could not be read: the program `crontab` was not found." in said
    system.program("crontab", "#!/bin/sh\necho 'you are not allowed to use this program' >&2\nexit 1\n")
    assert "you are not allowed to use this program" in memory.curate("install", "cron", exits=1)
    system.program("crontab", '#!/bin/sh\n[ "$1" = -l ] || { echo "errors in crontab file" >&2; exit 1; }\n')
    assert "could not be written: errors in crontab file" in memory.curate("install", "cron", exits=1)
    system.cron(b"# memcurate:begin\n0 1 * * * x\n")
    assert "needs exactly one" in memory.curate("install", "cron", exits=1)
    assert system.table.read_bytes() == b"# memcurate:begin\n0 1 * * * x\n"


def test_the_memorys_zone_is_the_timers(memory: Memory, system: System) -> None:
    system.program("systemctl", SYSTEMCTL)
    system.cron()
    memory.write("curate.toml", 'timezone = "Asia/Kathmandu"\n')
    memory.curate("install", "systemd")
    assert (
        "OnCalendar=*-*-* 02:00:00 Asia/Kathmandu\n" in (Path.home() / "config/systemd/user" / timers.TIMER).read_text()
    )
    assert "at 02:00 Asia/Kathmandu" in memory.curate("install")
    assert "this memory's days begin in Asia/Kathmandu" in memory.curate("install", "cron")
    memory.write("curate.toml", 'timezone = "Europe/Atlantis"\n')
    assert "not a known time zone" in memory.curate("install", "systemd", exits=1)


@pytest.mark.usefixtures("system")
def test_launchd_gets_its_list_and_loses_it(memory: Memory, capsys: pytest.CaptureFixture[str]) -> None:
    said = memory.curate("install", "launchd", "--time", "05:07", exits=1)
    file = Path.home() / "Library/LaunchAgents/memcurate.plist"
    told = plistlib.loads(file.read_bytes())
    assert told["StartCalendarInterval"] == {"Hour": 5, "Minute": 7}
    assert f"launchctl bootstrap gui/{os.getuid()} {file}" in said
    assert "every night at 05:07" in memory.curate("install")
    uninstall(capsys, "launchd")
    assert not file.exists()


@pytest.mark.parametrize("time", ["25:00", "2:00", "02:60", "noon", "02:00:00", "٠٢:٠٠"])
def test_what_is_no_time_is_said(memory: Memory, system: System, time: str) -> None:
    system.cron()
    for target in ("cron", "systemd", "launchd"):
        assert "is not a time of day" in memory.curate("install", target, "--time", time, exits=2)
    assert not list(Path.home().rglob("memcurate*"))


def test_without_a_home_nothing_is_written(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOME")
    for target in ("systemd", "launchd", "cron"):
        assert "HOME is not set" in memory.curate("install", target, exits=2)


def test_options_of_nights_are_not_for_agents(memory: Memory) -> None:
    assert "--time is for cron" in memory.curate("install", "codex", "--time", "02:00", exits=2)


# ---------------------------------------------------------------- what is installed is what stands in deploy/


def asked(root: Path, program: str = "/opt/curate", home: Path = Path("/home/me"), time: str = "") -> InstallRequest:
    return InstallRequest(Program((program,), root), home, time=time)


def test_what_is_installed_is_what_stands_in_deploy(system: System) -> None:
    system.cron()
    for name in ("crontab", "memcurate.service", "memcurate-failed.service", "memcurate.timer", "memcurate.plist"):
        assert fill(name, {}) == (DEPLOY / name).read_text()
    units = timers.units(asked(Path("/home/me/memory")))
    one = {name: text.splitlines() for name, text in units.items()}
    one["memcurate.plist"] = timers.property_list(asked(Path("/home/me/memory"))).splitlines()
    one["crontab"] = timers.block(asked(Path("/home/me/memory")), "02:00").splitlines()
    for name, lines in one.items():
        there = (DEPLOY / name).read_text().splitlines()
        there = there[there.index("# memcurate:begin") :] if name == "crontab" else there
        changed = [new for old, new in zip(there, lines, strict=True) if old != new]
        assert all(re.match(r"(ExecStart|EnvironmentFile)=|0 2 |\s*<string>/", line) for line in changed), changed
        assert not [line for line in changed if line.startswith("#")]


# ---------------------------------------------------------------- odd paths


@given(ODD, ODD)
@example("a b%c", 'it\'s "mine"')
@example("\\%", "%%")
def test_a_shell_under_cron_reads_every_path_as_it_is(folder: str, name: str) -> None:
    root, program = Path(f"/{folder}/{name}"), f"/{name}/curate"
    block = timers.block(asked(root, program, Path(f"/{folder}")), "02:00")
    command = cron_command(block.splitlines()[-2])
    shown = 'nice() { printf "%s\\0" "$@" >&2; }; ' + command.replace(">/dev/null", "")
    done = subprocess.run(["/bin/sh", "-c", shown], capture_output=True, check=True, env={"PATH": "/usr/bin:/bin"})
    assert done.stderr.decode().split("\0")[:4] == [program, "run", "--memory", str(root)]


@pytest.mark.skipif(ANALYZE is None, reason="this machine has no systemd-analyze")
@settings(max_examples=settings().max_examples // 10, suppress_health_check=[HealthCheck.too_slow])
@given(ODD.filter(lambda name: not set(name) & set("\"'\\")))
@example("$HOME ${x} %h")
@example("its; a & b # c")
def test_systemd_itself_finds_the_program_wherever_it_is(name: str) -> None:
    """It says so where a program is not to be found."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / name
        home.mkdir()
        program = home / "curate"
        program.write_text("#!/bin/sh\n")
        for there in (True, False):
            program.chmod(0o755) if there else program.unlink()
            for unit, text in timers.units(asked(home, str(program), home)).items():
                (Path(folder) / unit).write_text(text)
            words = [ANALYZE or "", "--user", "--man=no", "verify", f"{folder}/{timers.SERVICE}"]
            done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment(Path(folder)))
            assert (done.returncode == 0 and not done.stderr) == there, done.stderr


@pytest.mark.parametrize("target", ["cron", "systemd", "launchd"])
def test_what_the_shell_sets_and_nights_do_not_know_is_named(
    memory: Memory, system: System, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    system.cron()
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-of-nobody")
    monkeypatch.setenv("CURATE_CONFIG", "/somewhere/config.toml")
    said = memory.curate("install", target, "--print")
    file = Path.home() / "config/memcurate/environment"
    assert f"Put CURATE_CONFIG, XDG_CONFIG_HOME, ANTHROPIC_API_KEY into {file}, one line NAME=value for each." in said
    assert "key-of-nobody" not in said
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("ANTHROPIC_API_KEY=x\nexport CURATE_CONFIG=y\nXDG_CONFIG_HOME=z\n")
    assert "Nights do not know" not in memory.curate("install", target, "--print")
