"""The way into `curate`: the startup context is answered at once, every other verb by the command line proper."""

from __future__ import annotations

import gc
import os
import sys

_ALLOCATIONS = 20_000
"""How many new objects there are between two looks for garbage. By default they are 700; starting a command makes some
100,000, of which none is garbage, and a tenth of a search went into looking."""


def main() -> None:
    """Run the command line and end the process with its exit code."""
    gc.set_threshold(_ALLOCATIONS)
    if sys.argv[1:2] == ["context"]:
        from pipelines.queries.startup.fast import answer

        try:
            code = answer(sys.argv[2:])
        except BrokenPipeError:
            code = 0
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # nobody reads on: a closed pipe is no failure
        if code is not None:
            sys.exit(code)
    from pipelines.cli import main as command_line

    command_line()
