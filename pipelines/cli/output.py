"""How verbs speak: plain lines, JSON for scripts, tables and colour only on a terminal.

Whatever a verb prints is printed here, so that no name and no text of a memory can speak to the terminal itself.
"""

from __future__ import annotations

import contextlib
import math
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import click

from pipelines.text import escape_terminal, escape_terminal_json, escape_terminal_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence


SHOWN: Final = 3
"""So many files with the same reason are named; of more, their number is told."""


def say(*lines: str) -> None:
    """Print lines for a person."""
    for line in lines:
        print(escape_terminal(line))  # noqa: T201  the command's own voice


def warn(*lines: str) -> None:
    """Print lines for a person on standard error: what a program that reads the answer must not take for it."""
    for line in lines:
        print(escape_terminal(line), file=sys.stderr)  # noqa: T201  as above


def say_bold(heading: str, more: str = "") -> None:
    """Print a line that begins with a heading, bold on a terminal."""
    opening, closing = _bold()
    print(f"{opening}{escape_terminal(heading)}{closing}{escape_terminal(more)}")  # noqa: T201  as above


def say_marked(line: str, opens: str, closes: str) -> None:
    """Print a line with what stands between two marks bold on a terminal; the marks are not shown."""
    opening, closing = _bold()
    parts = (closing.join(map(escape_terminal, part.split(closes))) for part in line.split(opens))
    print(opening.join(parts))  # noqa: T201  as above


def _bold() -> tuple[str, str]:
    coloured = on_terminal() and "NO_COLOR" not in os.environ
    return (click.style("", bold=True, reset=False), click.style("", reset=True)) if coloured else ("", "")


def say_json(value: Any) -> None:  # noqa: ANN401  whatever JSON can hold
    """Print a value as JSON: indented on a terminal, on one line elsewhere."""
    print(escape_terminal_json(value, 1 if on_terminal() else None))  # noqa: T201  as above


def say_json_line(value: Any) -> None:  # noqa: ANN401  as above
    """Print a value as one line of JSON in UTF-8, whatever the terminal's own encoding is."""
    click.echo(escape_terminal_json(value).encode())


def answer(result: Any, tell: Callable[[Any], None], *, as_json: bool) -> None:  # noqa: ANN401  what has a `to_json`
    """Print a result: as JSON, made by its own `to_json`, or for a person, as `tell` does it."""
    if as_json:
        say_json(result.to_json())
    else:
        tell(result)


def say_table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print rows under titles: a table on a terminal, tab-separated lines elsewhere."""
    if not on_terminal():
        say(*("\t".join(map(escape_terminal_line, row)) for row in rows))
        return
    from rich.console import Console  # noqa: PLC0415  50 ms that a script need not pay
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(box=None, header_style="bold", pad_edge=False)
    for title in titles:
        table.add_column(title, overflow="fold")
    for row in rows:
        table.add_row(*(Text(escape_terminal_line(cell)) for cell in row))
    Console().print(table)


def on_terminal() -> bool:
    """Whether a person looks at standard output."""
    return sys.stdout.isatty()


def dollars(usd: float) -> str:
    """Return an amount of money: to the cent from a dollar on, with two figures that tell something below."""
    return f"${usd:,.2f}" if usd >= 1 or not usd else f"${usd:.{1 - math.floor(math.log10(usd))}f}"


def skipped_lines(files: Iterable[Mapping[str, str]]) -> Iterator[str]:
    """Yield a line for each file that is not in the index, or only in part; many with one reason share a line.

    Args:
        files: `path` and `reason` of each, as `--json` shows them; the reason ends a sentence that the path begins.
    """
    groups: dict[str, list[str]] = {}
    for one in files:
        groups.setdefault(one["reason"], []).append(one["path"])
    for reason, paths in groups.items():
        named = paths if len(paths) == SHOWN + 1 else paths[:SHOWN]
        yield from (f"{escape_terminal_line(path)} {reason}." for path in named)
        if left := len(paths) - len(named):
            yield f"and {left:,} more, of which each {reason}."


def write_out(name: str, texts: Iterable[str]) -> None:
    """Write texts one after the other to a file that nobody else can read, or to standard output for `-`.

    Raises:
        NotWritable: the disk refused; what was there before is there still.
    """
    with put_out(name) as file:
        file.writelines(text.encode(errors="replace") for text in texts)


@contextlib.contextmanager
def put_out(name: str) -> Iterator[BinaryIO]:
    """Give what takes the bytes of a file that nobody else can read; it has its name once all are written.

    For `-` it is standard output.

    Raises:
        NotWritable: the disk refused; what was there before is there still.
    """
    from pipelines.store.files import writing  # noqa: PLC0415  few verbs write files outside the memory

    if name == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    target = Path(name).expanduser()
    aside = target.with_name(f".{target.name}.part")
    try:
        with writing(target):
            aside.unlink(missing_ok=True)
            aside.touch(mode=0o600, exist_ok=False)
            with aside.open("wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            aside.replace(target)
    finally:
        with writing(target):
            aside.unlink(missing_ok=True)
