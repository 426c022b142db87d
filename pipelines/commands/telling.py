"""How the verbs that answer for beliefs show items, quotes and chains of links to a person."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pipelines.commands.output import say, say_bold
from pipelines.queries.item_graph import Mark
from pipelines.store.evidence import without_pointer
from pipelines.store.secrets import veil
from pipelines.text import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pipelines.queries.item_graph import Holding, Step
    from pipelines.store.item import Item

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
    return plain(veil(text))


def item_line(item: Item) -> str:
    """Return an item as one line: its id, label and sentence, and its status where that is not the usual one."""
    status = "" if item.active else f" [{item.status}]"
    return f"{item.id[:SHORT] or '(no id)'} {item.type}: {safe(item.text)}{status}"


def say_quote(text: str, indent: str = "    ") -> None:
    """Print words of another, each line marked as such."""
    for line in safe(text).split("\n"):
        say(f"{indent}| {without_pointer(line).rstrip()}")


def say_steps(steps: Iterable[Step], known: Mapping[str, Holding]) -> None:
    """Print a walk along links as an indented tree; what was shown above is named and not shown again."""
    for step in steps:
        told = item_line(known[step.id].item) if step.id in known else step.id[:SHORT]
        say(f"{'  ' * min(step.depth, _DEEPEST)}{step.relation} {told}{_MARKS[step.mark] if step.mark else ''}")


_DEEPEST: Final = 20
