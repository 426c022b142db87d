"""Only the memory's own texts are indexed, nothing outside is read, and what is skipped has a reason."""

import os
import subprocess
from pathlib import Path

from pipelines.search.indexed_files import MAX_BYTES, scan
from pipelines.search.read_files import read_file


def write(root: Path, path: str, text: str = "text\n") -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, encoding="utf-8")


def test_logs_and_documents_are_indexed_and_nothing_else(root: Path) -> None:
    wanted = [
        *("Archives/a/old.md", "Areas/b.TXT", "Episodes/2026-01.md", "Logs/2026-01-01.md", "MEMORY.md"),
        *("Projects/p.md", "Resources/r.txt", "Sessions/2026-01-01/s.jsonl", "Sessions/t.JSONL"),
        *("note.md", "Journal/2026/May.md", "Notes/n.txt", "drafts/kept/k.md", "State.md"),
    ]
    left_out = [
        *(
            "SOUL.md",
            "AGENTS.md",
            "Logs/partial/2026-01-01.md",
            "State/s.md",
            "Sessions/s.md",
            "drafts/no.md",
            "drafts/out/a.md",
        ),
        *("build/b.md", "deep/build/b.md", "top.md", "drafts/State/data.json", "script.py"),
        *(".curate/x.md", ".git/x.md", "Areas/.hidden.md", "Areas/.obsidian/x.md", "Areas/image.svg"),
        *("Areas/s.jsonl", "Projects/i.WebP"),
        *("Logs/x.pdf", "md", "Areas/md"),
    ]
    against = ["Review.md", "State/tombstones.jsonl"]  # only what they say against lines of logs
    for path in (*wanted, *against, "USER.md", *left_out):
        write(root, path)
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    write(root, ".gitignore", "# ours\nSessions/\nbuild/\n/top.md\n*.tmp.md\n")
    write(root, "drafts/.gitignore", "*.md\n!k.md\nout\n")
    found, skipped = scan(root)
    assert list(found) == sorted([*wanted, *against, "USER.md"])
    assert not [one for path in against if (one := read_file(root, path, "")) is None or one.units]
    assert skipped == ()


def test_no_link_is_followed(root: Path, tmp_path: Path) -> None:
    write(tmp_path, "outside/secret.md")
    write(root, "Areas/real.md")
    (root / "Areas/link.md").symlink_to(tmp_path / "outside/secret.md")
    (root / "Areas/folder.md").symlink_to(tmp_path / "outside")
    (root / "Areas/folder").symlink_to(tmp_path / "outside")
    (root / "Areas/note").symlink_to(tmp_path / "outside/secret.md")
    (root / "Areas/loop").symlink_to("loop")
    (root / "Areas/.hidden").symlink_to(tmp_path / "outside")
    (root / "Projects").symlink_to(tmp_path / "outside")
    (root / "Sessions").mkdir()
    (root / "Sessions/claude").symlink_to(tmp_path / "outside")
    found, skipped = scan(root)
    assert list(found) == ["Areas/real.md"]
    linked = ["Areas/folder", "Areas/folder.md", "Areas/link.md", "Projects", "Sessions/claude"]
    assert [one.path for one in skipped] == linked
    assert {one.reason for one in skipped} == {"is a symbolic link, which is never followed"}


def test_odd_files_are_skipped_with_a_reason(root: Path) -> None:
    write(root, "Logs/2026-01-01.md")
    os.mkfifo(root / "Logs/pipe.md")
    with (root / "Logs/huge.md").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    (root / os.fsdecode(b"Logs/caf\xe9.md")).write_text("x", encoding="utf-8")
    found, skipped = scan(root)
    assert list(found) == ["Logs/2026-01-01.md"]
    assert [(one.path, one.reason) for one in skipped] == [
        ("Logs/caf\\udce9.md", "has a name that is not UTF-8"),
        ("Logs/huge.md", "is larger than 64 MB"),
        ("Logs/pipe.md", "is not a regular file"),
    ]


def test_what_is_no_text_has_a_reason_and_what_vanished_has_nothing(root: Path) -> None:
    for path, data in {"a.md": b"caf\xe9", "b.md": b"a\0b\n", "c.md": b"\xef\xbb\xbfok\n"}.items():
        (root / path).write_bytes(data)
    sources = {path: read_file(root, path, "") for path in ("a.md", "b.md", "c.md", "gone.md")}
    assert {path: source and source.reason for path, source in sources.items()} == {
        "a.md": "is not UTF-8 (byte 3)",
        "b.md": "",
        "c.md": "",
        "gone.md": None,
    }
    assert sources["c.md"] is not None
    assert [unit.text for unit in sources["c.md"].units] == ["ok"]
