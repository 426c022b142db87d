"""How verbs speak: plain lines, JSON for scripts, tables and colour only on a terminal."""

from __future__ import annotations

import json
import math
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence


def say(line: str = "") -> None:
    """Print a line for a person."""
    print(line)  # noqa: T201  the command's own voice


def say_json(value: Any) -> None:  # noqa: ANN401  whatever JSON can hold
    """Print a value as JSON: indented on a terminal, on one line elsewhere."""
    print(json.dumps(value, ensure_ascii=False, indent=1 if sys.stdout.isatty() else None))  # noqa: T201


def on_terminal() -> bool:
    """Whether a person looks at standard output."""
    return sys.stdout.isatty()


def dollars(usd: float) -> str:
    """Return an amount of money: to the cent from a dollar on, with two figures that tell something below."""
    return f"${usd:,.2f}" if usd >= 1 or not usd else f"${usd:.{1 - math.floor(math.log10(usd))}f}"


def say_table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows under titles: a table on a terminal, tab-separated lines elsewhere."""
    if not on_terminal():
        for row in rows:
            say("\t".join(row))
        return
    from rich.console import Console  # noqa: PLC0415  50 ms that a script need not pay
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(box=None, header_style="bold", pad_edge=False)
    for title in titles:
        table.add_column(title, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    Console().print(table)
