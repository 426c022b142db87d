"""The options that verbs share, and the memory, settings and moment that they name."""

from __future__ import annotations

import contextlib
import functools
import re
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pipelines.clock import day_of, moment, span_of
from pipelines.errors import UsageFault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pipelines.settings import Settings

    Command = Callable[..., Any]
    Option = Callable[[Command], Command]

Words = tuple[str, ...]
"""An argument that may be several words, or stand several times."""
OpenMemory = tuple[Path, "Settings", datetime]
"""A memory, its settings, and the moment at which a command acts."""

ANY_PATH = click.Path(path_type=Path)
"""A path, there or not."""

memory_option = click.option(
    "--memory",
    type=ANY_PATH,
    metavar="DIR",
    is_eager=True,  # the words for days are read in the memory's zone
    help="The memory to use (default: CURATE_MEMORY, or the nearest folder upward with a curate.toml).",
)
"""`--memory DIR`, passed on as `memory: Path | None`."""

now_option = click.option("--now", metavar="ISO-TIME", is_eager=True, help="Act as of another moment (for tests).")
"""`--now ISO-TIME`, passed on as `now: str | None`."""

_TEXT = "\0"  # no argument of a command line can hold it
_SENTENCE = re.compile(r"-(?:(?!-|h?$|\d+$)|(?![a-z-]*=)\S*\s)")
"""What begins with a dash and is neither `--name` nor `--name=value`, `-h`, `-` or a number."""


class TextCommand(click.Command):
    """A command that takes sentences, which may begin with a dash: "- [ ] buy milk", "-5 degrees in the hall".

    Of such a sentence click would read each letter as an option of its own, and an h as --help.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments; a sentence that begins with a dash is text."""
        rest = super().parse_args(ctx, [f"{_TEXT}{one}" if _SENTENCE.match(one) else one for one in args])
        for name, value in ctx.params.items():
            if isinstance(value, tuple):
                ctx.params[name] = tuple(one.removeprefix(_TEXT) for one in value)
            elif isinstance(value, str):
                ctx.params[name] = value.removeprefix(_TEXT)
        return rest


def choice_of(names: Iterable[str]) -> click.Choice[str]:
    """Return the type of an option that takes one of some names, in any case."""
    return click.Choice([*map(str, names)], case_sensitive=False)


def flag_option(name: str, text: str, passed: str | None = None) -> Option:
    """Return a flag with its help; passed on as a bool, under its own name or another."""
    return click.option(name, *filter(None, [passed]), is_flag=True, help=text)


def json_option(text: str = "Print one JSON object.") -> Option:
    """Return the option `--json` with its help; passed on as `as_json: bool`."""
    return flag_option("--json", text, "as_json")


class Day(click.ParamType[str]):
    """A day as people say it: `2026-03-01`, `yesterday`, `Monday`, `"3 days ago"`, of `"last week"` the first."""

    name = "day"
    of_several = 0

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:  # noqa: ANN401  click
        """Return the day as YYYY-MM-DD."""
        with contextlib.suppress(ValueError):
            return date.fromisoformat(value).isoformat()
        try:
            given = ctx.params if ctx else {}
            memory, now = given.get("memory"), given.get("now")  # one that was not given has a mark of click's own here
            _, settings, when = open_memory(
                memory if isinstance(memory, Path) else None, now if isinstance(now, str) else None
            )
            return span_of(value or "(empty)", day_of(when, settings))[self.of_several]
        except UsageFault as fault:
            self.fail(str(fault), param, ctx)


class LastDay(Day):
    """The same, of words that mean several days the last."""

    of_several = -1


def day_option(name: str, text: str, kind: type[Day] = Day) -> Option:
    """Return an option that takes a day, as `kind` reads it, with its help; passed on as `str | None`."""
    return click.option(name, type=kind(), metavar="DAY", help=text)


def as_of_option(command: Command) -> Command:
    """Give a verb `--as-of DAY`; passed on as `as_of: str | None`."""
    return day_option("--as-of", "Only what held on this day, even if it was superseded since.", LastDay)(command)


def project_option(text: str) -> Option:
    """Return the option `--project NAME` with its help; passed on as `project: str`."""
    return click.option("--project", metavar="NAME", default="", help=text)


def with_root(command: Command) -> Command:
    """Give a verb `--memory DIR`; passed on as `root: Path`, the memory to use."""

    @functools.wraps(command)
    def rooted(*, memory: Path | None, **given: Any) -> Any:  # noqa: ANN401  what options give, and the verb returns
        return command(root=root_of(memory), **given)

    return memory_option(rooted)


def with_memory(command: Command) -> Command:
    """Give a verb `--memory DIR --now ISO-TIME`; passed on as `opened: OpenMemory`, which `open_memory` returns."""

    @functools.wraps(command)
    def opening(*, memory: Path | None, now: str | None, **given: Any) -> Any:  # noqa: ANN401  as above
        return command(opened=open_memory(memory, now), **given)

    return memory_option(now_option(opening))


def named_memory(memory: Path | None) -> Path | None:
    """Return the memory that the command line names, after the verb or before it, or None.

    Without a name, `find_memory` tries CURATE_MEMORY and then the working directory and the folders above it.
    """
    before: Path | None = click.get_current_context().find_root().params.get("memory")
    return memory or before


def root_of(memory: Path | None) -> Path:
    """Return the memory that a command uses.

    Raises:
        NoMemory: the named folder has no curate.toml, or none was named and none was found.
    """
    from pipelines.store.user_layout import find_memory  # noqa: PLC0415  help needs no memory

    return find_memory(named_memory(memory))


def open_memory(memory: Path | None, now: str | None) -> OpenMemory:
    """Return the memory that a command uses, its settings, and the moment at which the command acts.

    Args:
        memory: the value of `--memory` after the verb, or None.
        now: the value of `--now`, or None for the real clock.

    Raises:
        NoMemory: the named folder has no curate.toml, or none was named and none was found.
        BadSettings: curate.toml has faults.
        UsageFault: `now` is not an ISO time.
    """
    from pipelines.settings import load_settings  # noqa: PLC0415  as above
    from pipelines.store.user_layout import find_memory  # noqa: PLC0415  as above

    root = find_memory(named_memory(memory))
    settings = load_settings(root)
    return root, settings, moment(now, settings)
