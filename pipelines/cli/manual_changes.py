"""What the verbs by hand share: one change made and committed, an item or a document found by its name, a question."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from pipelines.cli.options import memory_root
from pipelines.cli.output import on_terminal, say
from pipelines.clock import moment
from pipelines.errors import UsageFault
from pipelines.night.manual import by_hand
from pipelines.settings import load_settings
from pipelines.store.layout import NOTES, REVIEW, Kind
from pipelines.store.template import named_documents, named_item
from pipelines.store.user_layout import told
from pipelines.text import escape_terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pipelines.night.manual import Deed, Held
    from pipelines.store.document import Document


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
    click.confirm(escape_terminal(question), abort=True)
