"""Options that several verbs share: which memory, and at what moment."""

from __future__ import annotations

import functools
import os
import re
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from pipelines.errors import NoMemory, UsageFault
from pipelines.search.filters import Filters
from pipelines.store.item import ItemType, Trust
from pipelines.store.layout import SETTINGS, find_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Command = Callable[..., Any]


def memory_option(command: Command) -> Command:
    """Give a verb `--memory DIR`, passed on as `memory: Path | None`."""
    return click.option(
        "--memory",
        type=click.Path(path_type=Path),
        metavar="DIR",
        help="The memory to work on (else CURATE_MEMORY, else the nearest folder upward with curate.toml).",
    )(command)


def now_option(command: Command) -> Command:
    """Give a verb `--now ISO-TIME`, passed on as `now: str | None`."""
    return click.option("--now", metavar="ISO-TIME", help="Act as of another moment (for replays and tests).")(command)


# A text may begin with a dash ("- [ ] buy milk"): what is no option of the verb is its text, checked by `words`.
TEXT_SETTINGS: Final = {"ignore_unknown_options": True}


def words(text: Sequence[str]) -> str:
    """Return the words of a text argument as one text.

    Raises:
        UsageFault: one of them looks like an option that the verb does not have.
    """
    odd = next((word for word in text if re.fullmatch(r"--[a-z][a-z-]*(=.*)?", word)), None)
    if odd:
        raise UsageFault(f"There is no option {odd}.", "Put -- before a text that begins with dashes.")
    return " ".join(text)


def memory_root(memory: Path | None) -> Path:
    """Return the memory that the command line, the environment or the working directory names, in this order.

    Args:
        memory: what `--memory` after the verb said, or None.

    Raises:
        NoMemory: what was named holds no curate.toml, or nothing was named and none is found upward.
    """
    context = click.get_current_context(silent=True)
    before = context.find_root().params.get("memory") if context else None
    named = memory or before or os.environ.get("CURATE_MEMORY")
    if not named:
        return find_memory(Path.cwd())
    root = Path(named).expanduser().absolute()
    if not (root / SETTINGS).is_file():
        raise NoMemory(root)
    return root


# ---------------------------------------- the options that narrow a search down
# each checked before anything is searched.


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
