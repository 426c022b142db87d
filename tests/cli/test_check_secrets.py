"""`curate check --secrets`: files and history are looked through, others' scanners are asked, nothing is changed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from pipelines.store.secrets.scan import ask_scanner, installed_scanner
from tests.planting import Planter

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Memory

ONE, OTHER = Planter(1).password(), Planter(2).password()


def committed(memory: Memory, path: str, text: str) -> None:
    memory.write(path, text)
    memory.git("add", "-A")
    memory.git("-c", "user.name=M", "-c", "user.email=m@example.org", "commit", "--quiet", "-m", "by hand")


def test_a_clean_memory_is_told_to_be_clean(memory: Memory) -> None:
    said = memory.curate("check", "--secrets", "--history")
    assert said == "No secret was found in the files or in any version that git holds.\n"
    assert "--history needs --secrets" in memory.curate("check", "--history", exits=2)


def test_each_secret_is_named_by_file_line_and_tag_and_never_shown(memory: Memory) -> None:
    memory.write("Projects/p.md", f"# P\n\npassword: {ONE}\nPGPASSWORD={OTHER}\n")
    memory.write("Sessions/2026-03-18/s.jsonl", f'{{"a": "x"}}\n{{"b": "password: {ONE} <!-- allow-secret -->"}}\n')
    memory.write("Resources/ok.md", f"password: {ONE} <!-- allow-secret -->\n")
    before = memory.files()
    said = memory.curate("check", "--secrets", exits=1)
    first, second, third = said.splitlines()[:3]
    assert re.fullmatch(r"Projects/p\.md:3: password \([0-9a-f]{4}\)", first)
    assert second.startswith("Projects/p.md:4: password (")
    assert third.startswith("Sessions/2026-03-18/s.jsonl:2: password (")
    assert first[-5:] == third[-5:] != second[-5:]
    assert ONE not in said
    assert "Revoke each secret" in said
    assert "`curate check --secrets --history` also searches git's history" in said
    assert memory.files() == before
    rows = json.loads(memory.curate("check", "--secrets", "--json", exits=1))
    assert [(row["path"], row["line"]) for row in rows][:1] == [("Projects/p.md", 3)]


def test_versions_that_are_gone_from_the_files_are_found_in_history(memory: Memory) -> None:
    committed(memory, "Projects/p.md", f"# P\n\npassword: {ONE}\n")
    committed(memory, "Projects/p.md", "# P\n\nnothing\n")
    memory.git("checkout", "--quiet", "-b", "aside")
    committed(memory, "Areas/a.md", f"password: {OTHER}\n")
    memory.git("checkout", "--quiet", "main")
    assert "No secret" in memory.curate("check", "--secrets")
    head = memory.git("rev-parse", "HEAD")
    said = memory.curate("check", "--secrets", "--history", exits=1)
    assert ONE not in said
    assert OTHER not in said
    assert re.search(r"Projects/p\.md:3 in commit [0-9a-f]{10}: password", said)
    assert re.search(r"Areas/a\.md:1 in commit [0-9a-f]{10}: password", said)
    assert memory.git("rev-parse", "HEAD") == head
    blobs = [memory.git("rev-parse", place).strip() for place in ("HEAD~1:Projects/p.md", "aside:Areas/a.md")]
    (printed,) = [line for line in said.splitlines() if line.startswith("  printf")]
    assert set(re.findall(r"\b[0-9a-f]{40}\b", printed)) == set(blobs)
    assert f"git -C {memory.root} filter-repo --force --strip-blobs-with-ids" in said


@pytest.mark.skipif(shutil.which("git-filter-repo") is None, reason="git-filter-repo is not installed")
def test_the_commands_that_are_told_do_purge(memory: Memory) -> None:
    committed(memory, "Projects/p.md", f"# P\n\npassword: {ONE}\n")
    committed(memory, "Projects/p.md", "# P\n\nnothing\n")
    said = memory.curate("check", "--secrets", "--history", exits=1)
    script = "\n".join(line.strip() for line in said.splitlines() if line.startswith("  "))
    subprocess.run(["sh", "-euc", script], check=True, capture_output=True)
    assert "No secret" in memory.curate("check", "--secrets", "--history")
    assert memory.read("Projects/p.md") == "# P\n\nnothing\n"


def scanner(folder: Path, body: str) -> Path:
    """Put a program called gitleaks into a folder, and return the folder."""
    folder.mkdir(exist_ok=True)
    program = folder / "gitleaks"
    program.write_text(f"#!{sys.executable}\nimport json, os, sys, time\n{body}\n")
    program.chmod(0o755)
    return folder


REPORTING = """
args = sys.argv[1:]
told = {"args": args, "env": dict(os.environ)}
root = args[1]
open(os.environ["PATH"].split(os.pathsep)[0] + "/told.json", "w").write(json.dumps(told))
rows = [
    {"File": root + "/Projects/p.md", "StartLine": 2, "RuleID": "odd-key"},
    {"File": root + "/Projects/p.md", "StartLine": 3, "RuleID": "odd-key"},
    {"File": root + "/.curate/x", "StartLine": 1, "RuleID": "odd-key"},
    {"File": "/etc/passwd", "StartLine": 1, "RuleID": "odd-key"},
]
open(args[args.index("--report-path") + 1], "w").write(json.dumps(rows))
"""


def test_an_installed_scanner_is_asked_as_well(memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.write("Projects/p.md", "# P\nan odd one\nanother, marked <!-- allow-secret -->\n")
    folder = scanner(tmp_path / "bin", REPORTING)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("GITLEAKS_CONFIG", "/of/somebody/else")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret-of-mine")
    said = memory.curate("check", "--secrets", exits=1)
    assert said.splitlines()[0] == "Projects/p.md:2: gitleaks:odd-key"
    assert "passwd" not in said
    assert said.count("odd-key") == 1
    told = json.loads((folder / "told.json").read_text())
    assert set(told["env"]) <= {"PATH", "HOME", "LC_ALL", "LC_CTYPE", "PWD"}
    assert told["args"][:2] == ["dir", str(memory.root)]
    assert {"--config", "--gitleaks-ignore-path", "--ignore-gitleaks-allow", "--redact=100"} <= set(told["args"])


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("sys.exit(3)", "failed with exit code 3"),
        ("time.sleep(60)", "was stopped after"),
        ("open(sys.argv[sys.argv.index('--report-path') + 1], 'w').write('[{')", "is not readable"),
        ("open(sys.argv[sys.argv.index('--report-path') + 1], 'w').write('[7]')", "is not readable"),
        ("pass", "is not readable"),
    ],
)
def test_a_scanner_that_fails_is_named_and_stops_nothing(memory: Memory, tmp_path: Path, body: str, why: str) -> None:
    folder = scanner(tmp_path / "bin", body)
    leaks, fault = ask_scanner(str(folder / "gitleaks"), memory.root, seconds=1.0)
    assert leaks == []
    assert why in fault


def test_a_program_that_lies_in_the_memory_is_never_run(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    scanner(memory.root / "Resources", "open('ran', 'w')")
    monkeypatch.chdir(memory.root / "Resources")
    for path in (str(memory.root / "Resources"), ".", "", f"relative{os.pathsep}."):
        assert installed_scanner(memory.root, {"PATH": path}) == ""
