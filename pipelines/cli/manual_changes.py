"""What the verbs that change a memory share: looking up names, asking for consent, and showing a diff."""

from __future__ import annotations

import difflib
import os
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from pipelines.cli.output import can_ask, warn
from pipelines.errors import UsageFault
from pipelines.night.own_items import named_items
from pipelines.store.layout import LOGS, STATE, Kind
from pipelines.store.secrets.redact import format_found, load_redactor, log_without_private, without_private
from pipelines.store.spoken_lines import LONGEST_TEXT
from pipelines.store.template import named_documents
from pipelines.text import escape_terminal, fold

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pipelines.store.change_set import Change
    from pipelines.store.document import Documents


def item_named(documents: Documents, name: str) -> str:
    """Return the id of the one item that a person named, by the start of its id or by a few words.

    Args:
        documents: every document by path.
        name: what was typed.

    Raises:
        UnknownItem: no id begins so, or more than one.
        UsageFault: words match no item, or more than one; the message offers the nearest.
    """
    return named_items(documents, [name], (lambda _: True, "item"))[0]


def document_named(documents: Documents, name: str, *closed: Kind) -> str:
    """Return the path of the one document that a name means, of none of the closed kinds.

    Raises:
        UsageFault: there is none, or more than one.
    """
    found = named_documents(documents, name)
    fit = [path for path in found if documents[path].kind not in closed]
    if len(fit) == 1:
        return fit[0]
    raise UsageFault(f"{name} means {' and '.join(found)}.", "Name one by its path; archives take no new items.")


def project_named(documents: Documents, name: str) -> str:
    """Return the path of the one project that a name means.

    Raises:
        UsageFault: there is none, or more than one.
    """
    return document_named({path: one for path, one in documents.items() if one.kind is Kind.PROJECT}, name)


def redacted_text(root: Path, text: str, verb: str) -> str:
    """Return what a person wrote as one line, without its private parts; redact its secrets and warn about them.

    Raises:
        UsageFault: it is too long for an item.
    """
    if len(text) > LONGEST_TEXT:
        what = f"The sentence has {len(text):,} characters; an item has at most {LONGEST_TEXT:,} characters."
        raise UsageFault(what, "Say it shorter, and keep the rest in a note.")
    clean = load_redactor(root).redact(fold(without_private(text)))
    if clean.found:
        warn(f"curate {verb}: {format_found(clean.found)} redacted before it was written.")
    return clean.text


def confirm(question: str, *, yes: bool) -> None:
    """Ask the user, unless they gave --yes.

    Raises:
        UsageFault: there is no terminal to ask on.
        Abort: they said no.
    """
    if yes:
        return
    if not can_ask():
        raise UsageFault(
            "Nothing was done: this needs your consent, and there is no terminal to ask on.", "Give --yes."
        )
    click.confirm(escape_terminal(question), abort=True)


def diff_of(root: Path, changes: Iterable[Change]) -> str:
    """Return a change set as one unified diff, without the machine's State; a missing file is `/dev/null`.

    Secrets are never shown: where a run redacts one, both sides of the diff show a mark, with different tags.

    Args:
        root: the memory.
        changes: the change set.
    """
    lines, key = list[str](), os.urandom(32)
    veil = replace(load_redactor(root), key=lambda: key)
    for change in changes:
        path = change.path
        if path.startswith(f"{STATE}/"):
            continue
        text = (change.before or b"").decode(errors="replace")
        before = veil.redact(log_without_private(text) if path.startswith(f"{LOGS}/") else text).text
        after = (change.after or b"").decode(errors="replace")
        old = "/dev/null" if change.before is None else f"a/{path}"
        new = "/dev/null" if change.after is None else f"b/{path}"
        lines += difflib.unified_diff(before.splitlines(keepends=True), after.splitlines(keepends=True), old, new)
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)
