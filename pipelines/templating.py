"""The package's own text templates: documents that a run makes, and its commit message."""

from __future__ import annotations


def render(name: str, **values: object) -> str:
    """Return the template `pipelines/templates/NAME.j2` with these values; a missing one is an error, never blank."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415  56 ms that an idle run saves

    environment = Environment(
        loader=PackageLoader("pipelines", "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701  Markdown, not HTML: escaping would write entities into what people read
    )
    return environment.get_template(f"{name}.j2").render(values)


def render_page(name: str, **values: object) -> str:
    """Return the page `pipelines/templates/NAME.j2` with these values, each escaped: what a memory says is no HTML."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415  as above

    environment = Environment(
        loader=PackageLoader("pipelines", "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=True,
    )
    return environment.get_template(f"{name}.j2").render(values)
