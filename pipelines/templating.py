"""The files that travel with the package: prompts, the memory template, and its own text templates."""

from __future__ import annotations

from pathlib import Path

from pipelines.errors import BadFile

_PACKAGE = Path(__file__).resolve().parent


def resource(name: str, package: Path = _PACKAGE) -> Path:
    """Return the folder `name` (`prompts`, `memory_template`) of this installation.

    In a wheel it lies inside the package; in a checkout at the top, where people look for it. A folder of that name
    beside an installed package belongs to somebody else, so the top counts only where it is the project's own.

    Raises:
        BadFile: the installation lacks it.
    """
    packed, checkout = package / "_data" / name, package.parent / name
    if packed.is_dir():
        return packed
    if (package.parent / "pyproject.toml").is_file() and checkout.is_dir():
        return checkout
    raise BadFile(packed, "is missing from this installation", "Install memcurate anew.")


def render(name: str, **values: object) -> str:
    """Return the template `pipelines/templates/NAME.j2` with these values; a missing one is an error, never blank.

    Nothing is escaped: that would write entities into the Markdown that people read.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415  56 ms that an idle run saves

    environment = Environment(
        loader=PackageLoader("pipelines", "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701  see above
    )
    return environment.get_template(f"{name}.j2").render(values)
