"""Curate the sample week in a fresh memory and show what came of it. `make run` calls this.

The memory is made anew in `sample-memory/` each time; the commands shown are the ones that anybody would type.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
MEMORY = HERE.parent / "sample-memory"
CURATE = Path(sys.executable).with_name("curate")
NIGHT_AFTER = "2026-03-16T02:00"


def main() -> None:
    """Lay down a memory, copy the week's logs into it, run one night, and show the outcome."""
    shutil.rmtree(MEMORY, ignore_errors=True)
    curate("init", str(MEMORY), "--now", "2026-03-09T08:00")
    shutil.copytree(HERE / "sample_week" / "Logs", MEMORY / "Logs", dirs_exist_ok=True)
    print(f"\n(copied seven days of logs into {MEMORY.name}/Logs)")
    curate("run", "--now", NIGHT_AFTER)
    curate("items")
    show("cat", f"{MEMORY.name}/MEMORY.md")
    show("git", "-C", MEMORY.name, "log", "-1", "--stat", "--format=%h %s%n%n%b")
    curate("search", "why did the site move from Jekyll")
    print(f"\nThe memory is in {MEMORY}; open it, edit it, and run `curate run` again.")


def curate(*arguments: str) -> None:
    """Show and run one curate command on the sample memory, without a key and without the user's settings."""
    print(f"\n$ curate {' '.join(quoted(word) for word in arguments)}".replace(str(MEMORY), MEMORY.name), flush=True)
    environment = {key: value for key, value in os.environ.items() if not key.endswith("_API_KEY")}
    environment |= {"CURATE_CONFIG": os.devnull, "CURATE_MEMORY": str(MEMORY)}
    subprocess.run([CURATE, *arguments], check=True, env=environment)


def show(*command: str) -> None:
    """Show and run one other command."""
    print(f"\n$ {' '.join(command)}", flush=True)
    subprocess.run(command, check=True, cwd=MEMORY.parent)


def quoted(word: str) -> str:
    """Return a word as a shell would need it."""
    return f'"{word}"' if " " in word else word


if __name__ == "__main__":
    main()
