"""Any agent that reads AGENTS.md: a block that tells it how to use the memory by its command line."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.errors import UsageFault
from pipelines.install.block import with_block, without_block
from pipelines.install.plan import Edit, Plan
from pipelines.store.layout import SETTINGS

if TYPE_CHECKING:
    from pipelines.install.plan import Asked


def plan_agents(asked: Asked, *, adding: bool) -> Plan:
    """Return what to do to tell the agents of a project of the memory, or to take that back.

    Raises:
        UsageFault: the file would be the memory's own AGENTS.md, which needs no block.
    """
    file = asked.agents_md or (asked.folder or Path.cwd()) / "AGENTS.md"
    if adding and (file.parent / SETTINGS).exists():
        raise UsageFault(
            f"{file} is a memory's own, and tells its agent how to use it already.",
            "Go to the project where your agent works, or name a file with --agents-md FILE.",
        )
    return Plan((Edit(file, partial(with_block, program=asked.program) if adding else without_block),))
