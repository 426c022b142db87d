"""The files shipped with the package: prompts, the memory template, and text templates."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.errors import BadFile

if TYPE_CHECKING:
    from jinja2 import Template

_PACKAGE = Path(__file__).resolve().parent


def resource(name: str, package: Path = _PACKAGE) -> Path:
    """Return the folder `name` (`prompts`, `memory_template`) of this installation.

    A wheel keeps it inside the package, a checkout at its top. The folder beside the package counts only in the
    project's own checkout: next to an installed package it could be anybody's.
        BadFile: the installation lacks it.
    """
    packed, checkout = package / "_data" / name, package.parent / name
    if packed.is_dir():
        return packed
    if (package.parent / "pyproject.toml").is_file() and checkout.is_dir():
        return checkout
    raise BadFile(packed, "is missing from this installation", "Reinstall memcurate.")


@cache
def template(name: str) -> Template:
    """Return `pipelines/templates/NAME.j2`, to render; a missing value raises an error.

    Nothing is escaped: that would write entities into the Markdown that people read.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415  56 ms that an idle run saves

    return Environment(
        loader=PackageLoader("pipelines", "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701  see above
    ).get_template(f"{name}.j2")
