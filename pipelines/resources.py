"""Where the files that travel with the package are: prompts and the memory template."""

from __future__ import annotations

from pathlib import Path

from pipelines.errors import BadFile

_PACKAGE = Path(__file__).resolve().parent


def resource(name: str) -> Path:
    """Return the folder `name` (`prompts`, `memory_template`) of this installation.

    In a wheel it lies inside the package; in a checkout at the top, where people look for it. A folder of that name
    beside an installed package belongs to somebody else, so the top counts only where it is the project's own.

    Raises:
        BadFile: the installation lacks it.
    """
    return _find(name, _PACKAGE)


def _find(name: str, package: Path) -> Path:
    packed, checkout = package / "_data" / name, package.parent / name
    if packed.is_dir():
        return packed
    if (package.parent / "pyproject.toml").is_file() and checkout.is_dir():
        return checkout
    raise BadFile(packed, "is missing from this installation", "Install memcurate anew.")
