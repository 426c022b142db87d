"""A folder of notes that is adopted where it lies, and what of it is a person's."""

import json
from pathlib import Path

import pytest

from pipelines.cli import run_cli
from tests.agents.adopt.samples import PNG, fingerprint, lay
from tests.conftest import Memory, curate

TURNS = (
    '{"role": "user", "content": "Decision: The gate is painted white.", "timestamp": "2026-03-04T09:00:00+00:00"}\n'
    '{"role": "assistant", "content": "Noted.", "timestamp": "2026-03-04T09:01:00+00:00"}\n'
)


def vault(root: Path) -> Path:
    """Return a vault with a person's own PARA folders, pictures, and all that a memory has under other names."""
    return lay(
        root,
        {
            ".obsidian/daily-notes.json": json.dumps({"folder": "Daily"}),
            ".obsidian/templates.json": json.dumps({"folder": "Templates"}),
            "Templates/Day.md": "- Todo: {{title}}\n",
            "Daily/2026-02-03.md": "# Tuesday\r\n\r\n- Decision: The choir sings Tallis in May.\r\n",
            "Daily/2026-02-04.md": "- Todo: [project: Spring concert] book the mill for the rehearsal",
            "Projects/Spring concert.md": (
                "---\ntitle: Spring concert\nmood: bright\n---\n# Spring concert\n\n- Fact: The mill seats 80 people.\n"
                "- a plain line\n"
            ),
            "Ideas/Map.md": "# Map\n\n- Fact: A purple lighthouse stands there.\n",
            "Notes/2026-02-05 Meeting with Odile.md": (
                '---\ncreated: 2026-02-05\npeople:\n  - "[[Odile]]"\n---\n![[mill.png]]\n\n- Fact: No day. ^k1234567\n'
            ),
            "Attachments/mill.png": PNG,
            "Templates/Bases/Meetings.base": "views:\n  - type: table\n",
            "MEMORY.md": "# Memory\n\n- Fact: The choir has 40 voices.\n",
            "Logs/2026-02-05.md": "a log of something else\n",
        },
    )


class Place:
    """A folder that is adopted where it lies."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.root, self._capsys = root, capsys

    def adopt(self, *arguments: str, exits: int = 0) -> str:
        words = ("init", "--adopt", str(self.root), "--in-place", "--now", "2026-02-28T12:00", *arguments)
        return curate(self._capsys, *words, exits=exits)

    @property
    def mine(self) -> Memory:
        return Memory(self.root, self._capsys)

    def below(self, folder: str) -> "Place":
        return Place(self.root / folder, self._capsys)

    def init(self) -> str:
        self._capsys.readouterr()
        assert run_cli(["init", str(self.root)]) == 0
        return self._capsys.readouterr().out

    @property
    def memory(self) -> Memory:
        inner = self.root / "memory/Curated"  # of Claude Code, the notes are in a folder
        return Memory(inner if inner.exists() else self.root / "Curated", self._capsys)


def theirs(root: Path) -> dict[str, tuple[str, int, int]]:
    """Return the fingerprints of a person's files: folders change when something new comes into them."""
    return {path: told for path, told in fingerprint(root).items() if not (root / path).is_dir()}


def changed(root: Path, before: dict[str, tuple[str, int, int]]) -> list[str]:
    """Return which of a person's files are not as they were, in any byte or time."""
    now = theirs(root)
    return [path for path, told in before.items() if now.get(path) != told]


def links_in(text: str) -> list[str]:
    """Return where the links of a text lead."""
    return [part.partition(")")[0] for part in text.split("](")[1:]]
