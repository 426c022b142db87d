"""Another scanner of secrets, gitleaks or betterleaks, where one is installed: it looks through the files as well."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pipelines.store.layout import PRIVATE, SESSIONS
from pipelines.store.lock import private_folder
from pipelines.store.secrets.find import ALLOWED
from pipelines.store.secrets.redact import Found
from pipelines.store.template import is_tracked
from pipelines.store.user_layout import names_of

if TYPE_CHECKING:
    from collections.abc import Mapping


PROGRAMS: Final = ("betterleaks", "gitleaks")
SECONDS: Final = 300.0
_LARGEST: Final = 64 << 20


def installed_scanner(root: Path, environ: Mapping[str, str]) -> str:
    """Return the path of an installed scanner, or an empty string. One that lies in the memory itself is never run."""
    folders = [folder for folder in environ.get("PATH", "").split(os.pathsep) if Path(folder).is_absolute()]
    for name in PROGRAMS:
        found = shutil.which(name, path=os.pathsep.join(folders)) if folders else None
        if found and root.resolve() not in Path(found).resolve().parents:
            return found
    return ""


def ask_scanner(program: str, root: Path, seconds: float = SECONDS) -> tuple[list[Found], str]:
    """Return what another scanner finds in the memory's files, and why it found nothing where it failed, or "".

    It is told to use its own rules: what the memory holds of settings, ignore lists and marks for it does not count. It
    gets nothing of the environment but PATH, and has so much time and no more.

    Args:
        program: its path.
        root: the memory.
        seconds: the time that it has.
    """
    with tempfile.TemporaryDirectory(dir=private_folder(root)) as folder:
        place = Path(folder)
        (place / "own.toml").write_text("[extend]\nuseDefault = true\n")
        report = place / "report.json"
        command = [
            program, "dir", str(root), "--config", str(place / "own.toml"), "--gitleaks-ignore-path", folder,
            "--ignore-gitleaks-allow", "--report-format", "json", "--report-path", str(report), "--redact=100",
            "--exit-code", "0", "--no-banner", "--log-level", "error",
        ]  # fmt: skip
        environment = {"PATH": os.environ.get("PATH", os.defpath), "HOME": folder, "LC_ALL": "C.UTF-8"}
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return [], f"{program} was stopped after {seconds:.0f} seconds."
        except OSError as fault:
            return [], f"{program} cannot be started: {fault.strerror}."
        if done.returncode:
            return [], f"{program} failed with exit code {done.returncode}."
        return _found(root, report, Path(program).name)


def _found(root: Path, report: Path, name: str) -> tuple[list[Found], str]:
    try:
        if report.stat().st_size > _LARGEST:
            return [], f"{name} wrote a report that is too long to be read."
        rows: Any = json.loads(report.read_bytes() or b"[]")
        found = [leak for row in rows or () if (leak := _leak(root, row, name))]
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return [], f"{name} wrote no report that can be read."
    return [leak for leak in found if not _is_marked(root, leak)], ""


def _leak(root: Path, row: Mapping[str, Any], name: str) -> Found | None:
    """Return what a row of the report names, if that is a file of the memory's own."""
    path = os.path.relpath(Path(root, str(row["File"])), root).replace(os.sep, "/")
    names = names_of(root)
    own = path if names is None else names.canonical(path) or ""
    if path.startswith(f"{PRIVATE}/") or not (own.startswith(f"{SESSIONS}/") or is_tracked(root, own)):
        return None
    return Found(f"{name}:{str(row['RuleID'])[:80]}", "", int(row["StartLine"]), path)


def _is_marked(root: Path, leak: Found) -> bool:
    try:
        lines = (root / leak.path).read_bytes().split(b"\n")
    except OSError:
        return False
    return leak.line <= len(lines) and ALLOWED in lines[leak.line - 1]
