"""What can be told of the index at a glance: whether it is there, sound, of this version, and follows the files."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from pipelines.search.build import update_index
from pipelines.search.index_facts import index_facts
from pipelines.search.schema import INDEX, VERSION
from tests.making import plant


@pytest.fixture(name="root")
def filled(root: Path) -> Path:
    plant(root, "Logs/2026-01-02.md", "- apples\n- pears\n")
    gone = "- ~~Fact: c~~ <!-- k1c02d9e441 since=2026-01-01 -->\n"
    plant(root, "Areas/a.md", f"- Fact: b <!-- k7f3a9c2b10 since=2026-01-01 -->\n{gone}")
    (root / "Areas/b.md").write_bytes(b"\xff")
    update_index(root)
    return root


@pytest.mark.parametrize("state", ["missing", "rubbish", "torn", "older", "newer"])
def test_an_index_that_cannot_be_used(root: Path, state: str) -> None:
    if state == "missing":
        (root / INDEX).unlink()
    elif state == "rubbish":
        (root / INDEX).write_bytes(b"x" * 9000)
    else:
        with closing(sqlite3.connect(root / INDEX)) as index:
            version = {"older": VERSION - 1, "newer": VERSION + 1}.get(state, VERSION)
            index.execute(f"PRAGMA user_version = {version}")
            index.execute("DROP TABLE files")
            index.commit()
    facts = index_facts(root)
    assert facts.state == ("missing" if state == "missing" else "unusable")
    why = {"missing": "There is none yet", "older": "another version", "newer": "another version"}.get(state, "damaged")
    assert why in facts.sentence
    assert facts.sentence.endswith(f"`curate index` {'' if state == 'missing' else 're'}builds it.")
