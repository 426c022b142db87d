"""What the operator reads: sentences and tables without keys, and errors that say what to do next."""

from __future__ import annotations

import math
import re
import shutil
import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Sequence


_USER_INFO = re.compile(r"(?<=://)[^/@\s]+@")
_GAP = "  "


class FleetFault(click.ClickException):
    """Raised when a command cannot do what was asked, for a reason that the operator can act on.

    Args:
        sentence: what is wrong, in one sentence with the facts.
        advice: what to do next, one sentence; may be empty.
    """

    def __init__(self, sentence: str, advice: str = "") -> None:
        super().__init__(f"{sentence} {advice}".strip())

    def show(self, file: object = None) -> None:  # noqa: ARG002  click's signature
        """Print it on standard error."""
        warn(f"curate-fleet: {self.message}")


class UsageFault(FleetFault):
    """Raised when the command line makes no sense."""

    exit_code = 2


def clean(text: str) -> str:
    """Return a text without names and passwords in addresses, and without what a terminal would obey."""
    text = _USER_INFO.sub("", text)
    return "".join(one if one.isprintable() or one == "\n" else "�" for one in text)


def say(text: str) -> None:
    """Print a line for the operator."""
    click.echo(clean(text))


def warn(text: str) -> None:
    """Print a line on standard error."""
    click.echo(clean(text), err=True)


def say_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows: on a terminal below their heads, the last column below its row where it does not fit beside it."""
    is_seen = sys.stdout.isatty()
    table = [tuple(map(clean, row)) for row in ((heads, *rows) if is_seen else rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    columns = shutil.get_terminal_size().columns
    for number, (*first, last) in enumerate(table):
        line = _GAP.join(cell.ljust(wide) for cell, wide in zip(first, widths, strict=False))
        if is_seen and number and len(line) + len(_GAP) + len(last) > columns:
            last = click.wrap_text(last, columns, initial_indent="    ", subsequent_indent="    ")  # noqa: PLW2901
            click.echo(f"{line.rstrip()}\n{last}")
        else:
            click.echo(f"{line}{_GAP}{last}".rstrip())


def count(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun: `count(2, "day")` is "2 days"."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def dollars(usd: float) -> str:
    """Return an amount of money: to the cent from a dollar on, with two figures that tell something below."""
    return f"${usd:,.2f}" if usd >= 1 or not usd else f"${usd:.{1 - math.floor(math.log10(usd))}f}"
