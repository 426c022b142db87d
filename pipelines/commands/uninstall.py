"""`curate uninstall`: take back what `curate install` wrote."""

from __future__ import annotations

from pathlib import Path

import click

from pipelines.agents.install_plan import this_program
from pipelines.commands.installing import asked_for, carry_out_or_show, target_options


@click.command()
@target_options
def command(*, target: str, folder: Path | None, agents_md: Path | None, only_print: bool) -> None:
    """Take back what `curate install TARGET` wrote, for whichever memory; all else stays.

    The memory itself is not touched.
    """
    program = this_program(Path())
    carry_out_or_show(target, asked_for(program, (folder, agents_md)), adding=False, only_print=only_print)
