"""Run a session in a terminal of 80 columns and draw it as `docs/pictures/terminal.svg`. `make demo` calls this.

The commands are real, and so is their output: a fresh memory, the logs of `examples/sample_week`, one night, two
questions. Only the clock is set, so that the picture changes when the program does and not when the day does.
"""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import subprocess
import sys
import tempfile
import termios
from pathlib import Path

from rich.console import Console
from rich.text import Text

HERE = Path(__file__).resolve().parent
PICTURE = HERE.parent / "docs" / "pictures" / "terminal.svg"
COLUMNS = 80
BEFORE, NIGHT = "2026-03-09T08:00", "2026-03-16T02:00"
SESSION: tuple[tuple[list[str], list[str]], ...] = (
    (["tail", "-n", "7", "memory/Logs/2026-03-10.md"], []),
    (["curate", "run"], ["--now", NIGHT]),
    (["curate", "search", "summary for the committee", "--limit", "1"], []),
    (["curate", "why", "summary of the move"], []),
)


def main() -> None:
    """Run the session and draw it."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    with tempfile.TemporaryDirectory() as folder:
        with_logs(Path(folder))
        for number, (words, clock) in enumerate(SESSION):
            console.print(Text("\n" * (number > 0)) + Text("$ ", "bold green") + Text(typed(words), "bold"))
            if output := printed([*words, *clock], Path(folder)):
                console.print(Text.from_ansi(output))
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(console.export_svg(title="memcurate", unique_id="memcurate"), encoding="utf-8")
    print(f"The picture is {PICTURE}.")


def with_logs(folder: Path) -> None:
    """Make a memory in a folder, with the logs of the sample week."""
    printed(["curate", "init", "memory", "--now", BEFORE], folder)
    shutil.copytree(HERE / "sample_week" / "Logs", folder / "memory" / "Logs", dirs_exist_ok=True)


def printed(words: list[str], folder: Path) -> str:
    """Run a command as if at a terminal, and return what it prints, colours included; progress bars are left out."""
    ours, theirs = os.openpty()
    termios.tcsetwinsize(theirs, (50, COLUMNS))
    environment = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(folder), "TZ": "UTC",
        "TERM": "xterm-256color", "LANG": "C.UTF-8", "CURATE_CONFIG": os.devnull,
        "CURATE_MEMORY": str(folder / "memory"),
    }  # fmt: skip
    with subprocess.Popen(
        words, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.PIPE
    ) as process:
        os.close(theirs)
        output = b""
        with contextlib.suppress(OSError):  # the end of a terminal is an error on Linux
            while block := os.read(ours, 65536):
                output += block
        output += process.stderr.read() if process.stderr else b""
    os.close(ours)
    text = output.decode().replace("\r\n", "\n").replace(f"{folder}/", "").rstrip()
    if process.returncode:
        sys.exit(f"{typed(words)} failed:\n{text}")
    return text


def typed(words: list[str]) -> str:
    """Return a command as a person types it."""
    return " ".join(f'"{word}"' if " " in word else word for word in words)


if __name__ == "__main__":
    main()
