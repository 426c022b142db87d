"""Stand-ins for the programs of the system that an installation asks: `crontab` and `systemctl`, as files on PATH."""

import os
import shutil
from pathlib import Path

import pytest

CRONTAB = """\
#!/bin/sh
table="{table}"
case "$1" in
-l) if [ -f "$table" ]; then cat "$table"; else echo "no crontab for you" >&2; exit 1; fi ;;
-r) rm "$table" ;;
-) cat >"$table.new" && mv "$table.new" "$table" ;;
*) exit 2 ;;
esac
"""
SYSTEMCTL = """\
#!/bin/sh
echo "$*" >>"{told}"
"""


class System:
    """A folder of programs that comes first on PATH."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.table, self.told = folder, folder / "table", folder / "told"
        folder.mkdir()
        # Nothing of the machine itself is asked; git and a shell are what remains.
        for name in ("git", "sh", "cat", "mv", "rm", "env"):
            (folder / name).symlink_to(shutil.which(name) or name)
        monkeypatch.setenv("PATH", str(folder))

    def program(self, name: str, text: str) -> None:
        file = self.folder / name
        file.write_text(text.replace("{table}", str(self.table)).replace("{told}", str(self.told)))
        file.chmod(0o755)

    def cron(self, table: bytes | None = None) -> None:
        self.program("crontab", CRONTAB)
        if table is not None:
            self.table.write_bytes(table)

    def commands(self) -> list[str]:
        return self.told.read_text().splitlines() if self.told.exists() else []


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> System:
    return System(tmp_path / "programs", monkeypatch)


def cron_command(line: str) -> str:
    """Return what cron hands to the shell: the rest of a line, cut at a bare `%`, as cron's own source reads it."""
    out, escaped = "", False
    for char in line.split(" ", 5)[5]:
        if escaped and char != "%":
            out += "\\"
        elif not escaped and char == "%":
            return out
        escaped = char == "\\"
        out += "" if escaped else char
    return out + ("\\" if escaped else "")


def environment(home: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(home), "XDG_RUNTIME_DIR": str(home), "LC_ALL": "C"}
