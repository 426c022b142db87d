"""The way into `curate`: the startup context is answered at once, every other verb by the command line proper."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line and end the process with its exit code."""
    if sys.argv[1:2] == ["context"]:
        from pipelines.context.quick import answer

        try:
            code = answer(sys.argv[2:])
        except BrokenPipeError:
            code = 0
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # nobody reads on: a closed pipe is no failure
        if code is not None:
            sys.exit(code)
    from pipelines.commands import main as command_line

    command_line()
