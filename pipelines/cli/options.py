"""Options that several verbs share: which memory, and at what moment."""

from __future__ import annotations

import functools
import os
import re
import sys
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from pipelines.cli.output import on_terminal, say
from pipelines.clock import moment
from pipelines.errors import NoMemory, UsageFault
from pipelines.night.manual import by_hand
from pipelines.search.filters import Filters
from pipelines.settings import load_settings
from pipelines.store.item import ItemType, Trust
from pipelines.store.layout import NOTES, REVIEW, SETTINGS, Kind, find_memory
from pipelines.store.template import named_documents, named_item
from pipelines.store.user_layout import told
from pipelines.text import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pipelines.night.manual import Deed, Held
    from pipelines.store.document import Document

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


# ---------------------------------------- what the verbs by hand share
# which memory, at which moment, which item, and how they say what was done.


def do_by_hand(memory: Path | None, now: str | None, verb: str, decide: Callable[[Held], Deed | None]) -> Deed | None:
    """Do one thing by hand in the memory that is meant, and return what was done, None where nothing was to do."""
    root = memory_root(memory)
    settings = load_settings(root)
    deed = by_hand(root, settings, moment(now, settings), verb, decide)
    for note in deed.notes if deed else ():
        say(f"Note: {told(root, note)}")
    return deed


def item_named(documents: Mapping[str, Document], prefix: str) -> str:
    """Return the id of the one item that stands and begins so.

    Raises:
        UnknownItem: there is none, or more than one.
    """
    return named_item(prefix, [p.item.id for document in documents.values() for p in document.items])


def open_document(held: Held, name: str) -> str:
    """Return the path of the one document that a name means, and that takes items.

    Raises:
        UsageFault: there is none, or more than one, or it takes none.
    """
    shown = held.snapshot.shown
    found = named_documents(held.documents, name, shown)
    fit = [path for path in found if held.documents[path].kind not in {Kind.ARCHIVE, Kind.REVIEW}]
    if len(fit) == 1:
        return fit[0]
    raise UsageFault(
        f"{name} means {' and '.join(map(shown, found))}.",
        f"Name one by its path; archives and {shown(REVIEW)} take no items.",
    )


def project_named(documents: Mapping[str, Document], name: str, shown: Callable[[str], str]) -> str:
    """Return the path of the one project that a name means.

    Args:
        documents: every document by path.
        name: what a person calls it.
        shown: what people call the file at a path.

    Raises:
        UsageFault: there is none, or more than one, or it is a file of the person's own.
    """
    projects = {path: one for path, one in documents.items() if one.kind is Kind.PROJECT}
    notes = {path: one for path, one in documents.items() if path.startswith(f"{NOTES}/")}
    found = named_documents({**projects, **notes}, name, shown)
    if len(found) > 1:
        raise UsageFault(f"{name} means {' and '.join(map(shown, found))}.", "Name one by its path.")
    if found[0] in notes:
        raise UsageFault(f"{shown(found[0])} is a file of your own, which no run moves.", "Move or rename it yourself.")
    return found[0]


def confirm(question: str, *, yes: bool) -> None:
    """Ask a person, unless they said yes already.

    Raises:
        UsageFault: nobody is there to be asked.
        Abort: they said no.
    """
    if yes:
        return
    if not (on_terminal() and sys.stdin.isatty()):
        raise UsageFault("Nothing was done: this asks first, and there is no terminal.", "Give --yes.")
    click.confirm(plain(question), abort=True)


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
