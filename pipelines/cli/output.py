"""How verbs print: wrapped lines, tables and colour on a terminal; plain lines and JSON elsewhere.

Everything that a verb prints goes through here, so that no name or text of a memory can send codes to the terminal.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import shutil
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from pipelines.clock import day_words
from pipelines.text import count, escape_terminal, escape_terminal_json, escape_terminal_line

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from pipelines.night.report import RunReport, Watch
    from pipelines.user_settings import UserSettings


_GAP = "  "
_NARROWEST = 20
"""A table whose last column has no room for so many cells is printed as lines."""
_BELOW = "    "
_OPENS, _CLOSES = "\0", "\1"  # which no file that is read as text holds


def say(*lines: str, hang: str = "") -> None:
    """Print lines for a person; on a terminal they wrap between words, and `hang` indents what is carried over."""
    for line in lines:
        text = escape_terminal(line)
        print(_fitted(text, hang) if on_terminal() else text)  # noqa: T201  the command's own voice


def say_verbatim(text: str) -> None:
    """Print what must stay as it is, such as a diff or a command to paste: no line is wrapped."""
    print(escape_terminal(text))  # noqa: T201  as above


def say_fields(fields: Iterable[tuple[str, str]]) -> None:
    """Print labelled facts, one below the other."""
    for label, text in fields:
        say(f"{label:<9} {text}", hang=" " * 10)


def warn(*lines: str, wrap: bool = True) -> None:
    """Print lines for a person on standard error, apart from what a program reads as the answer."""
    for line in lines:
        text = escape_terminal(line)
        print(_fitted(text) if wrap and sys.stderr.isatty() else text, file=sys.stderr)  # noqa: T201  as above


def say_bold(heading: str, more: str = "") -> None:
    """Print a line that begins with a heading, which is bold on a terminal."""
    say_marked(f"{_OPENS}{heading}{_CLOSES}{more}", _OPENS, _CLOSES)


def say_marked(line: str, opens: str, closes: str) -> None:
    """Print a line in which the text between two marks is bold on a terminal; the marks are not shown."""
    coloured = on_terminal() and "NO_COLOR" not in os.environ
    opening, closing = (click.style("", bold=True, reset=False), click.style("", reset=True)) if coloured else ("", "")
    line = _fitted(line, "" if line[:1].isspace() else _BELOW) if on_terminal() else line
    parts = (closing.join(map(escape_terminal, part.split(closes))) for part in line.split(opens))
    print(opening.join(parts))  # noqa: T201  as above


def _fitted(text: str, hang: str = "") -> str:
    """Return a text with its lines wrapped to the terminal."""
    if len(text) * 2 <= (width := shutil.get_terminal_size().columns):  # even where each character takes two cells
        return text
    return "\n".join(one for line in text.split("\n") for one in wrapped(line, width, hang))


def wrapped(line: str, width: int, hang: str) -> list[str]:
    """Return a line as several of at most `width` cells, each but the first indented like it, or by `hang`.

    A word is never broken unless it is in a script that has no blanks; one that is too long stands alone.
    """
    from rich.cells import cell_len, chop_cells  # noqa: PLC0415  a script does not wrap

    blanks = line[: len(line) - len(line.lstrip())]
    hang, found = hang or blanks, [blanks]
    for text, gap in re.findall(r"(\S+)(\s*)", line):
        if found[-1].strip() and cell_len(found[-1]) + cell_len(text) > width:
            found.append(hang)
        if cell_len(text) > max(len(text), width - len(found[-1])):
            first, *rest = chop_cells(text, width - len(hang))
            found[-1] += first
            found += [hang + one for one in rest]
        else:
            found[-1] += text
        found[-1] += gap
    return [one.rstrip() for one in found]


def say_json(value: Any) -> None:  # noqa: ANN401  whatever JSON can hold
    """Print a value as JSON in UTF-8: indented on a terminal, on one line elsewhere."""
    click.echo(escape_terminal_json(value, 1 if on_terminal() else None).encode())


def say_table(titles: Sequence[str], rows: Iterable[Sequence[str]], *, by: int | None = None) -> None:
    """Print rows as a table.

    On a terminal it has titles, the last column wraps, and a column in which nothing stands is left out. Elsewhere each
    row is one line without titles: nothing is cut, two blanks or more part the cells, and `-` stands for an empty one.

    Args:
        titles: the titles of the columns.
        rows: the cells of each row; the last column is the one for long texts.
        by: the column whose value heads the rows below it on a terminal, in place of being repeated in each.
    """
    cells = [[escape_terminal_line(cell) for cell in row] for row in rows]
    if not on_terminal():
        say(*_aligned([[cell or "-" for cell in row] for row in cells])[1])
        return
    used = [n for n in range(len(titles)) if n != by and any(row[n] not in {"", "-"} for row in cells)]
    table = [[row[n] for n in used] for row in ([*titles], *cells)]
    margin = "" if by is None else _GAP
    indent, lines = _aligned(table)
    hang = margin + " " * indent
    if shutil.get_terminal_size().columns - len(hang) < min(_NARROWEST, max(len(row[-1]) for row in table)):
        hang, lines = margin + _BELOW, [_GAP.join(filter(None, row)) for row in table]
    above = ""
    for number, line in enumerate(lines):
        if number and by is not None and (head := cells[number - 1][by]) != above:
            say_bold(above := head)
        if number:
            say(margin + line, hang=hang)
        else:
            say_bold(margin + line)


def _aligned(rows: Sequence[Sequence[str]]) -> tuple[int, list[str]]:
    """Return where the last column begins, and each row as a line."""
    from rich.cells import cell_len  # noqa: PLC0415  few verbs print tables

    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    padded = ((cell + " " * (wide - cell_len(cell)) for cell, wide in zip(row, widths, strict=True)) for row in rows)
    return sum(widths[:-1]) + len(_GAP) * (len(widths) - 1), [_GAP.join(row).rstrip() for row in padded]


def day_shown(day: str) -> str:
    """Return a day as people say it, on a terminal; elsewhere, and where it is none, as it is."""
    return day_words(day, datetime.now().astimezone().date()) if on_terminal() else day


def days_shown(days: Collection[str]) -> str:
    """Return how many days there are, from which to which; of a single one only which."""
    first, last = day_shown(min(days)), day_shown(max(days))
    return first if len(days) == 1 else f"{len(days):,} days from {first} to {last}"


def moment_shown(when: str) -> str:
    """Return a moment (ISO 8601) as people say it, on a terminal; elsewhere, and where it is none, as it is."""
    return " ".join(filter(None, (day_shown(when[:10]), when[11:16]))) if on_terminal() else when


def on_terminal() -> bool:
    """Whether a person looks at standard output."""
    return sys.stdout.isatty()


def can_ask() -> bool:
    """Whether there is a terminal to ask on."""
    return on_terminal() and sys.stdin.isatty()


def dollars(usd: float) -> str:
    """Return an amount of money: to the cent from a dollar on, with two figures that tell something below."""
    return f"${usd:,.2f}" if usd >= 1 or not usd else f"${usd:.{1 - math.floor(math.log10(usd))}f}"


@contextlib.contextmanager
def put_out(name: str) -> Iterator[BinaryIO]:
    """Give what takes the bytes of a new file that nobody else can read; it is gone again if one cannot be written.

    For `-` it is standard output.

    Raises:
        NotWritable: the disk refused.
    """
    from pipelines.store.files import writing  # noqa: PLC0415  few verbs write files outside the memory

    if name == "-":
        yield sys.stdout.buffer
        return
    target = Path(name).expanduser()
    with writing(target):
        target.touch(mode=0o600, exist_ok=False)
        try:
            with target.open("wb") as file:
                yield file
        except BaseException:
            target.unlink()
            raise


@contextlib.contextmanager
def watch_for_people() -> Iterator[Watch]:
    """Give a watch that draws a bar if standard error is a terminal, and is silent elsewhere."""
    if not sys.stderr.isatty():
        from pipelines.night.report import Watch  # noqa: PLC0415  most verbs have nothing to watch

        yield Watch()
        return
    from pipelines.cli.progress_line import Bar  # noqa: PLC0415  as above

    bar = Bar()
    with bar.progress:
        yield bar


def say_report(report: RunReport, user: UserSettings) -> None:
    """Print the run: one line, what needs a person, and details on a terminal."""
    commit = f" (commit {report.commit[:10]})" if report.commit else ""
    say(f"{report.summary()}{commit}.")
    say(*(f"Note: {warning}" for warning in report.warnings))
    stays = count(report.entries["pending"], "entry stays", "entries stay")
    if report.failure:  # on standard error, which cron mails
        warn(f"{report.failure} {stays} pending for the next run.")
    if report.over_budget:
        say(f"{report.over_budget} {stays} pending; the next run reads the oldest first.")
    if usd := report.tally.usd:
        say(f"The model calls cost {dollars(usd)}.")
    if left := report.index.get("vectors", {}).get("missing"):  # time was up, or Ctrl-C was pressed
        texts = count(left, "text is", "texts are")
        say(f"{texts} found by words alone so far. The next runs go on; `curate index` does it now.")
    if on_terminal() and report.added:
        say(*(f"  {path}: {count} added" for path, count in sorted(report.items["by_document"].items())))
    left = report.entries["left"]
    if left and report.extractor.startswith("rules"):  # a model leaves out on purpose
        lines = count(left, "line was", "lines were")
        say(f"{lines} not understood; `curate runs {report.run} --skipped` lists {'it' if left == 1 else 'them'}.")
    if left and not user.chosen and not user.keys:  # nobody chose to have no model
        say("No model reads the logs. `curate models` shows who can.")
