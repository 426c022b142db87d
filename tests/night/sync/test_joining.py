"""The join of two trees: what it makes of each kind of file, the same on either machine."""

from pathlib import Path

from pipelines.night.sync import with_edits_recorded
from pipelines.store.document import Document
from pipelines.store.git import Git
from pipelines.store.merge import merge_trees
from tests.conftest import Memory
from tests.making import git, split_rows
from tests.night.sync.machines import append_log, shared

PAGE = "# Kestrel\n\n## Facts\n\n"
ONE = (
    "- Fact: The cache keeps 40 entries. <!-- k0000000001 since=2025-01-02 trust=self confidence=high by=rules@1 -->\n"
)


def joined(before: str, ours: str, theirs: str) -> Document:
    """Return a page joined, after a look that the sides make no difference."""
    trees = []
    for text, rows in map(split_rows, (before, ours, theirs)):
        ledger = "".join(f"{row}\n" for row in rows.values())
        trees.append({"Projects/kestrel.md": text.encode(), "State/items/2025-01.jsonl": ledger.encode()})
    there = merge_trees(trees[0], trees[2], trees[1]).pages["Projects/kestrel.md"]
    here = merge_trees(*trees).pages["Projects/kestrel.md"]
    assert here == there
    return here


def test_an_item_that_was_taken_out_does_not_come_back_with_a_confirmation() -> None:
    seen = ONE.replace("trust=self", "confirmed=2025-02-01 trust=self")
    assert "k0000000001" not in joined(PAGE + ONE, PAGE, PAGE + seen).text


def test_what_cannot_be_read_in_another_machine_s_commit_is_not_taken_for_deleted(memory: Memory) -> None:
    memory.day("2026-03-10", "project: Kestrel\n\n- Fact: the cache keeps 40 entries\n")
    base = memory.git("rev-parse", "HEAD").strip()
    (memory.root / "Projects/kestrel.md").write_bytes(b"\xff")
    memory.git("commit", "-qam", "Mine")
    files = {path: data for path, data in memory.files().items() if path != "curate.toml"}
    head = memory.git("rev-parse", "HEAD").strip()
    found = with_edits_recorded(Git(memory.root), base, head, files, files, "2026-03-12")
    assert found == files


def test_a_join_is_what_the_next_edits_are_seen_against(memory: Memory, tmp_path: Path) -> None:
    one, other, remote = shared(memory)
    append_log(one, "2025-01-02", "- Fact: the cache keeps 40 entries\n")
    append_log(other, "2025-01-02", "- Fact: the queue has 3 readers\n")
    remote.rename(tmp_path / "away.git")
    one.night("2025-01-02T23:00")
    (tmp_path / "away.git").rename(remote)
    other.night("2025-01-02T23:00")
    one.night("2025-01-02T23:30")
    join_commit = git(one.root, "log", "--format=%H", "--grep=^Joins: ").strip()
    assert len(git(one.root, "log", "-1", "--format=%P", join_commit).split()) == 2
    ledger = "".join(file.read_text() for file in one.root.glob("State/items/*"))
    assert '"trust": "self"' in ledger
    assert '"trust": "owner"' not in ledger
    git(one.root, "reset", "--quiet", "--hard", join_commit)
    assert Git(one.root).last_run() == join_commit


def test_what_either_machine_said_of_an_item_stands_and_what_one_took_back_goes() -> None:
    def said(*pairs: str) -> str:
        return PAGE + ONE.replace(" -->", "".join(f" meta.{pair}" for pair in pairs) + " -->")

    told = joined(said("a=1", "b=1", "c=1"), said("a=2", "c=1"), said("a=1", "b=1", "d=1"))
    assert [placed.item.metadata for placed in told.items] == [{"a": "2", "d": "1"}]
    assert [placed.item.metadata for placed in joined(said("b=1"), said("b=1"), said()).items] == [{}]
