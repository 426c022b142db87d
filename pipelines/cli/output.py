"""How verbs speak: plain lines, JSON for scripts, tables and colour only on a terminal.

Whatever a verb prints is printed here, so that no name and no text of a memory can speak to the terminal itself.
"""

from __future__ import annotations

import difflib
import math
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import click

from pipelines.queries.item_graph import Mark
from pipelines.store.evidence import without_pointer
from pipelines.store.files import writing
from pipelines.store.layout import LOGS
from pipelines.store.secrets import veil
from pipelines.store.secrets.redact import log_without_private
from pipelines.store.user_layout import real_path
from pipelines.text import escape_terminal, escape_terminal_json, escape_terminal_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pipelines.queries.item_graph import Step
    from pipelines.store.change_set import Change
    from pipelines.store.item import Item


def say(line: str = "") -> None:
    """Print a line for a person."""
    print(escape_terminal(line))  # noqa: T201  the command's own voice


def warn(line: str) -> None:
    """Print a line for a person on standard error: what a program that reads the answer must not take for it."""
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
            say("\t".join(map(escape_terminal_line, row)))
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


# ---------------------------------------- how the verbs that answer for beliefs show items
# quotes and chains of links to a person.


SHORT: Final = 11
"""Characters of an id that are shown: the length that nearly all of them have."""
_MARKS: Final = {
    Mark.CYCLE: " (a cycle: it stands above)",
    Mark.AGAIN: " (shown above)",
    Mark.NOWHERE: " (stands nowhere)",
}


def say_heading(text: str) -> None:
    """Print a heading, bold on a terminal."""
    say_bold(text)


def safe(text: str) -> str:
    """Return a text of the memory as it may be printed: without secrets, and without what would steer a terminal."""
    return escape_terminal(veil(text))


def item_line(item: Item) -> str:
    """Return an item as one line: its id, label and sentence, and its status where that is not the usual one."""
    status = "" if item.active else f" [{item.status}]"
    return f"{item.id[:SHORT] or '(no id)'} {item.type}: {safe(item.text)}{status}"


def say_quote(text: str, indent: str = "    ") -> None:
    """Print words of another, each line marked as such."""
    for line in safe(text).split("\n"):
        say(f"{indent}| {without_pointer(line).rstrip()}")


def say_steps(steps: Iterable[Step]) -> None:
    """Print a walk along links as an indented tree; what was shown above is named and not shown again."""
    for step in steps:
        told = item_line(step.holding.item) if step.holding else step.id[:SHORT]
        say(f"{'  ' * min(step.depth, _DEEPEST)}{step.relation} {told}{_MARKS[step.mark] if step.mark else ''}")


_DEEPEST: Final = 20


# ---------------------------------------- how a rehearsal shows what it would write
# a unified diff.


def diff_of(root: Path, changes: Iterable[Change]) -> str:
    """Return a change set as one unified diff; a file that is not there is `/dev/null`.

    What a run redacts is not shown: of a secret that goes, its mark stands on both sides, with another tag on each.

    Args:
        root: the memory.
        changes: the change set.
    """
    lines: list[str] = []
    for change in changes:
        before = _shown(change.path, change.before).splitlines(keepends=True)
        after = (change.after or b"").decode(errors="replace").splitlines(keepends=True)
        path = real_path(root, change.path)
        old = f"a/{path}" if change.before is not None else "/dev/null"
        new = f"b/{path}" if change.after is not None else "/dev/null"
        lines += [
            line if line.endswith("\n") else f"{line}\n" for line in difflib.unified_diff(before, after, old, new)
        ]
    return "".join(lines)


def _shown(path: str, data: bytes | None) -> str:
    text = (data or b"").decode(errors="replace")
    return veil(log_without_private(text) if path.startswith(f"{LOGS}/") else text)


# ---------------------------------------- files that a verb writes for a person outside the memory
# whole or not at all, and readable by nobody else.


def write_out(name: str, texts: Iterable[str]) -> None:
    """Write texts one after the other to a file, or to standard output for `-`.

    Raises:
        NotWritable: the disk refused; what was there before is there still.
    """
    if name == "-":
        _copy(texts, sys.stdout.buffer)
        return
    target = Path(name).expanduser()
    part = target.with_name(f".{target.name}.part")
    try:
        with writing(target):
            part.unlink(missing_ok=True)
            part.touch(mode=0o600, exist_ok=False)
            with part.open("wb") as file:
                _copy(texts, file)
            part.replace(target)
    finally:
        with writing(target):
            part.unlink(missing_ok=True)


def _copy(texts: Iterable[str], file: BinaryIO) -> None:
    file.writelines(text.encode(errors="replace") for text in texts)
    file.flush()


# ---------------------------------------- how verbs tell which files are not in the index
# or only in part: each with its reason, many of one in few lines.


SHOWN: Final = 3
"""So many files with the same reason are named; of more, their number is told."""


def passed_over(files: Iterable[Mapping[str, str]]) -> Iterator[str]:
    """Yield one line a file, and one for all that are left of a reason.

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
