"""The options that narrow a search down, each checked before anything is searched."""

from __future__ import annotations

import functools
from datetime import date
from typing import TYPE_CHECKING, Any, Final

import click

from pipelines.search.filters import Filters
from pipelines.store.item import ItemType, Trust

if TYPE_CHECKING:
    from collections.abc import Callable

SOURCES: Final = ("log", "session", "document")


class Day(click.ParamType[str]):
    """A day of the calendar, written `YYYY-MM-DD`."""

    name = "day"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:  # noqa: ANN401  click
        """Return the day as it is compared with others."""
        try:
            day = date.fromisoformat(value)
        except ValueError:
            self.fail(f"{value!r} is no day; write it like 2026-03-01.", param, ctx)
        return day.isoformat()


def filter_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a verb `--type --project --since --before --as-of --trust --source`, passed on as `filters: Filters`."""

    @functools.wraps(command)
    def narrowed(*rest: Any, **given: Any) -> Any:  # noqa: ANN401  what all options give, and the verb returns
        filters = Filters(
            types=given.pop("kind"),
            project=given.pop("project").strip(),
            since=given.pop("since") or "",
            before=given.pop("before") or "",
            trusts=given.pop("trust"),
            sources=given.pop("source"),
            as_of=given.pop("as_of") or "",
        )
        return command(*rest, filters=filters, **given)

    types, trusts, sources = (
        click.Choice([str(one) for one in choices], case_sensitive=False) for choices in (ItemType, Trust, SOURCES)
    )
    for option in reversed(
        (
            click.option("--type", "kind", type=types, multiple=True, help="Only items of this type; may be repeated."),
            click.option("--project", default="", metavar="NAME", help="Only what belongs to this project."),
            click.option("--since", type=Day(), metavar="DAY", help="Only what is of this day or later."),
            click.option("--before", type=Day(), metavar="DAY", help="Only what is of an earlier day."),
            click.option(
                "--as-of", type=Day(), metavar="DAY", help="Only what held on this day, superseded since or not."
            ),
            click.option("--trust", type=trusts, multiple=True, help="Whose word."),
            click.option("--source", type=sources, multiple=True, help="Where it stands."),
        )
    ):
        narrowed = option(narrowed)
    return narrowed
