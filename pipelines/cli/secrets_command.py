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
from pipelines.store.secrets.redact import known_values

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@click.argument("action", type=click.Choice(("list", "allow")), default="list")
@click.argument("tag", default="")
@with_root
def curate_secrets(action: str, tag: str, root: Path) -> None:
    """List the tags of the values that are known to be secret, and the rules that found them; never a value.

    What was found once is redacted wherever it occurs from then on. `curate secrets allow TAG` says that it is no
    secret; without a TAG the value is asked for and not shown, or read from standard input.
    """
    known = known_values(root)
    if action == "allow":
        given = tag or (getpass("Value: ") if sys.stdin.isatty() else sys.stdin.readline()).strip()
        if not known.allow(given):
            why = "No known value has that tag." if tag else "That is too short to be a value."
            raise UsageFault(why, "`curate secrets` lists the tags.")
        say("That is no secret from now on. What was redacted already stays redacted.")
    elif known.rules:
        rows = Counter((digest[:4], rule) for digest, rule in known.rules.items())
        say_table(("tag", "rule", "values"), [(tag, rule, str(count)) for (tag, rule), count in sorted(rows.items())])
        say(f"{len(known.rules):,} known. `curate secrets allow TAG` takes one back.")
    else:
        say("No value is known to be secret.")
