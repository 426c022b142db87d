"""`curate install`: tell an agent of the memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pipelines.commands.installing import carry_out_or_show, target_options
from pipelines.commands.options import memory_option, memory_root
from pipelines.install.program import this_program

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@target_options
@memory_option
def command(*, target: str, folder: Path | None, agents_md: Path | None, only_print: bool, memory: Path | None) -> None:
    """Tell TARGET of the memory: claude-code, codex, openclaw, or agents (any that reads AGENTS.md).

    What else stands in its settings stays as it is, to the byte; installing again renews what was installed, for
    example after the memory was moved. `curate uninstall` takes it back.
    """
    program = this_program(memory_root(memory))
    carry_out_or_show(target, program, (folder, agents_md), adding=True, only_print=only_print)
