"""A night that is killed while it writes: python -m tests.agents.adopt.dying ROOT NOW STEP."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING, Any

from pipelines.cli import run_cli
from pipelines.store import journal
from pipelines.store.git import Git

if TYPE_CHECKING:
    from collections.abc import Callable


def main() -> None:
    """Run a night, and die at the how-manyeth of the steps by which it writes."""
    root, now, step = sys.argv[1:]
    left = [int(step)]

    def dying(call: Callable[..., Any]) -> Callable[..., Any]:
        def called(*arguments: Any, **named: Any) -> Any:
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*arguments, **named)

        return called

    for place, name in ((journal, "_write_manifest"), (journal, "put"), (Git, "commit"), (journal, "_drop")):
        setattr(place, name, dying(getattr(place, name)))
    sys.exit(run_cli(["run", "--memory", root, "--now", now]))


if __name__ == "__main__":
    main()
