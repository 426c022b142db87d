"""Options that several verbs share: which memory, and at what moment."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from pipelines.errors import NoMemory, UsageFault
from pipelines.store.layout import SETTINGS, find_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Command = Callable[..., Any]


def memory_option(command: Command) -> Command:
    """Give a verb `--memory DIR`, passed on as `memory: Path | None`."""
    return click.option(
        "--memory",
        type=click.Path(path_type=Path),
        metavar="DIR",
        help="The memory to work on (else CURATE_MEMORY, else the nearest folder upward with curate.toml).",
    )(command)


def now_option(command: Command) -> Command:
    """Give a verb `--now ISO-TIME`, passed on as `now: str | None`."""
    return click.option("--now", metavar="ISO-TIME", help="Act as of another moment (for replays and tests).")(command)


# A text may begin with a dash ("- [ ] buy milk"): what is no option of the verb is its text, checked by `words`.
TEXT_SETTINGS: Final = {"ignore_unknown_options": True}


def words(text: Sequence[str]) -> str:
    """Return the words of a text argument as one text.

    Raises:
        UsageFault: one of them looks like an option that the verb does not have.
    """
    odd = next((word for word in text if re.fullmatch(r"--[a-z][a-z-]*(=.*)?", word)), None)
    if odd:
        raise UsageFault(f"There is no option {odd}.", "Put -- before a text that begins with dashes.")
    return " ".join(text)


def memory_root(memory: Path | None) -> Path:
    """Return the memory that the command line, the environment or the working directory names, in this order.

    Args:
        memory: what `--memory` after the verb said, or None.

    Raises:
        NoMemory: what was named holds no curate.toml, or nothing was named and none is found upward.
    """
    context = click.get_current_context(silent=True)
    before = context.find_root().params.get("memory") if context else None
    named = memory or before or os.environ.get("CURATE_MEMORY")
    if not named:
        return find_memory(Path.cwd())
    root = Path(named).expanduser().absolute()
    if not (root / SETTINGS).is_file():
        raise NoMemory(root)
    return root
