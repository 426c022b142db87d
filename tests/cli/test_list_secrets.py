"""`curate secrets`: files and history are looked through, nothing is changed."""

import re
import shutil
import subprocess

import pytest

from tests.conftest import Memory
from tests.planting import Planter

ONE, OTHER = Planter(1).password(), Planter(2).password()


def committed(memory: Memory, path: str, text: str) -> None:
    memory.write(path, text)
    memory.git("add", "-A")
    memory.git("commit", "--quiet", "-m", "by hand")


def test_a_clean_memory_is_told_to_be_clean(memory: Memory) -> None:
    said = memory.curate("secrets", "--history")
    assert said == "No secret was found in the files or in any version that git holds.\n"


def test_each_secret_is_named_by_file_line_and_tag_and_never_shown(memory: Memory) -> None:
    memory.write("Projects/p.md", f"# P\n\npassword: {ONE}\nPGPASSWORD={OTHER}\n")
    memory.write("Sessions/2026-03-18/s.jsonl", f'{{"a": "x"}}\n{{"b": "password: {ONE} <!-- allow-secret -->"}}\n')
    memory.write("Resources/ok.md", f"password: {ONE} <!-- allow-secret -->\n")
    before = memory.files()
    said = memory.curate("secrets", exits=1)
    first, second, third = said.splitlines()[:3]
    assert re.fullmatch(r"Projects/p\.md:3: password \([0-9a-f]{4}\)", first)
    assert second.startswith("Projects/p.md:4: password (")
    assert third.startswith("Sessions/2026-03-18/s.jsonl:2: password (")
    assert first[-5:] == third[-5:] != second[-5:]
    assert ONE not in said
    assert "Revoke each secret" in said
    assert "`curate secrets --history` also searches git's history" in said
    assert memory.files() == before
    rows = memory.json("secrets", exits=1)
    assert [(row["path"], row["line"]) for row in rows][:1] == [("Projects/p.md", 3)]


def test_versions_that_are_gone_from_the_files_are_found_in_history(memory: Memory) -> None:
    committed(memory, "Projects/p.md", f"# P\n\npassword: {ONE}\n")
    committed(memory, "Projects/p.md", "# P\n\nnothing\n")
    memory.git("checkout", "--quiet", "-b", "aside")
    committed(memory, "Areas/a.md", f"password: {OTHER}\n")
    memory.git("checkout", "--quiet", "main")
    assert "No secret" in memory.curate("secrets")
    head = memory.git("rev-parse", "HEAD")
    said = memory.curate("secrets", "--history", exits=1)
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
    said = memory.curate("secrets", "--history", exits=1)
    script = "\n".join(line.strip() for line in said.splitlines() if line.startswith("  "))
    subprocess.run(["sh", "-euc", script], check=True, capture_output=True)
    assert "No secret" in memory.curate("secrets", "--history")
    assert memory.read("Projects/p.md") == "# P\n\nnothing\n"
