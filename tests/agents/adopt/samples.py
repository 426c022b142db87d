"""Small memories of other programs, made by code, in our own words."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 16


def lay(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files below a folder."""
    for path, told in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(told.encode() if isinstance(told, str) else told)
    return root


def fingerprint(root: Path) -> dict[str, tuple[str, int, int]]:
    """Return the hash, the size and the modification time of everything below a folder."""
    found = {}
    for file in sorted(root.rglob("*")):
        stat = file.lstat()
        plain = file.is_file() and not file.is_symlink()
        digest = hashlib.sha256(file.read_bytes()).hexdigest() if plain else ""
        found[str(file.relative_to(root))] = (digest, stat.st_size, stat.st_mtime_ns)
    return found


def openclaw(root: Path) -> Path:
    """Return a workspace of OpenClaw."""
    return lay(
        root,
        {
            "SOUL.md": "# Soul\n\nYou are Pim, a calm helper on a tree nursery.\n",
            "USER.md": "# User\n\n- Name: Odile\n- Lives in: Ghent\n",
            "AGENTS.md": "# Rules of the house\n\nRead MEMORY.md first.\n",
            "IDENTITY.md": "# Identity\n\nName: Pim\n",
            "MEMORY.md": "# Memory\n\nOdile keeps 400 apple trees.\n",
            "memory/2026-02-01.md": "# 2026-02-01\n\n- Decision: We graft the Reinette on M9 stock, as it stays low.\n",
            "memory/2026-02-02.md": "## Morning\n\n- Todo: order 60 stakes from the sawmill\n",
            "memory/2026-02-02-frost.md": "---\nmood: cold\n---\n- Risk: frost on the 9th may kill the buds\n",
            "memory/projects/greenhouse.md": "# Greenhouse\n\n- Fact: The greenhouse has 12 benches.\n",
            "memory/suppliers.md": "# Suppliers\n\nThe sawmill in Lokeren delivers on Thursdays.\n",
            "avatar.png": PNG,
            "skills/prune/SKILL.md": "# How to prune\n",
            ".openclaw/state.json": "{}",
        },
    )


def claude_code(root: Path) -> Path:
    """Return the folder that Claude Code keeps for a project."""
    return lay(
        root,
        {
            "0b7c.jsonl": '{"type":"user"}\n',
            "memory/MEMORY.md": "- [Tests hit the database](feedback_tests.md): no mocks\n",
            "memory/CLAUDE.md": "Use pnpm.\n",
            "memory/feedback_tests.md": (
                "---\nname: Tests hit the database\ndescription: no mocks\ntype: feedback\n---\n"
                "Integration tests use the real quayside database.\n"
            ),
            "memory/project_freeze.md": "---\nname: Freeze\ntype: project\n---\nMerges stop on 2026-03-05.\n",
        },
    )


def obsidian(root: Path) -> Path:
    """Return a vault whose daily notes stand in folders of months."""
    daily = {"folder": "Journal", "format": "YYYY/MM-MMMM/YYYY-MM-DD dddd"}
    return lay(
        root,
        {
            ".obsidian/daily-notes.json": json.dumps(daily),
            ".obsidian/templates.json": json.dumps({"folder": "Templates"}),
            "Journal/2026/02-February/2026-02-03 Tuesday.md": (
                "---\ntags:\n  - day\n---\n- Decision: The choir sings Tallis in May, see [[Spring concert]].\n"
            ),
            "Journal/ideas.md": "# Ideas\n\nA concert in the mill.\n",
            "Templates/Day.md": "- Todo: {{title}}\n",
            "1 Projects/Spring concert.md": "# Spring concert\n\nIn the [[Old chapel]].\n",
            "02 - Areas/Choir/Voices.md": "# Voices\n\nSix altos.\n",
            "Archive/Autumn concert.md": "# Autumn concert\n",
            "Old chapel.md": "---\naliases: [chapel]\n---\nIt seats 120. ![[plan.png]]\n",
            "files/plan.png": PNG,
            "files/contract.pdf": b"%PDF-1.4\n%%EOF\n",
            "files/rehearsal.mp3": b"ID3",
            "Board.canvas": "{}",
        },
    )


def basic_memory(root: Path) -> Path:
    """Return a folder of basic-memory."""
    note = "---\ntitle: {0}\ntype: note\npermalink: {1}\ntags:\n- bees\n---\n\n# {0}\n\n## Observations\n{2}\n"
    return lay(
        root,
        {
            "bees/Hive stand.md": note.format(
                "Hive stand", "bees/hive-stand", "- [decision] Oak, not pine #wood\n- located_in [[South meadow]]"
            ),
            "bees/South meadow.md": note.format("South meadow", "bees/south-meadow", "- [fact] It floods in March"),
            "2026-02-04.md": "- Fact: The queen of hive 3 is marked blue.\n",
        },
    )
