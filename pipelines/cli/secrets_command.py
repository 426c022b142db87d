"""`curate secrets`: which values are known to be secret, and taking one back."""

from __future__ import annotations

import sys
from collections import Counter
from getpass import getpass
from typing import TYPE_CHECKING

import click

from pipelines.cli.options import with_root
from pipelines.cli.output import say, say_table
from pipelines.errors import UsageFault
from pipelines.store.secrets import load_redactor

if TYPE_CHECKING:
    from pathlib import Path


@click.group(invoke_without_command=True)
@with_root
@click.pass_context
def curate_secrets(context: click.Context, root: Path) -> None:
    """List the values that are known to be secret: their tags and the rules that found them, and never a value.

    What was found once is redacted wherever it occurs from then on. `curate secrets allow` takes one back.
    """
    if context.invoked_subcommand:
        return
    known = load_redactor(root).known
    rows = Counter((digest[:4], rule) for digest, rule in known.rules.items()) if known else Counter[tuple[str, str]]()
    if not rows:
        say("No value is known to be secret.")
        return
    say_table(("tag", "rule", "values"), [(tag, rule, str(count)) for (tag, rule), count in sorted(rows.items())])
    say(f"{sum(rows.values()):,} known. `curate secrets allow TAG` takes one back.")


@curate_secrets.command("allow")
@click.argument("tag", default="")
@with_root
def allow(tag: str, root: Path) -> None:
    """Say that a value is no secret: by its TAG, or, without one, as read from standard input, which is not shown."""
    given = tag or (getpass("Value: ") if sys.stdin.isatty() else sys.stdin.readline()).strip()
    known = load_redactor(root).known
    if known is None or not known.allow(given):
        why = "No known value has that tag." if tag else "That value is too short to be one."
        raise UsageFault(why, "`curate secrets` lists the tags.")
    say("That is no secret from now on. What was redacted already stays redacted.")
