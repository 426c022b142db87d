"""What can be told of the index at a glance: whether it is there, sound, of this version, and follows the files."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from pipelines.search.build import update_index
from pipelines.search.embed import embed_index
from pipelines.search.index_facts import VectorFacts, first_day, index_facts
from pipelines.search.schema import INDEX, VERSION
from tests.search.bag import Bag

if TYPE_CHECKING:
    from pathlib import Path


def write(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, encoding="utf-8")


@pytest.fixture(name="root")
def filled(root: Path) -> Path:
    write(root, "Logs/2026-01-02.md", "- apples\n- pears\n")
    gone = "- ~~Fact: c~~ <!-- k1c02d9e441 since=2026-01-01 -->\n"
    write(root, "Areas/a.md", f"- Fact: b <!-- k7f3a9c2b10 since=2026-01-01 -->\n{gone}")
    (root / "Areas/b.md").write_bytes(b"\xff")
    update_index(root)
    return root


def test_an_index_that_follows_and_one_that_does_not(root: Path) -> None:
    facts = index_facts(root)
    assert (facts.state, facts.sentence, facts.files, facts.units, facts.behind) == ("current", "", 2, 4, 0)
    assert facts.vectors is None
    write(root, "Logs/2026-01-02.md", "- apples\n")
    write(root, "Logs/2026-01-03.md", "- plums\n")
    (root / "Areas/a.md").unlink()
    facts = index_facts(root)
    assert (facts.state, facts.behind) == ("behind", 3)
    assert facts.sentence.startswith("3 files changed since")


def test_vectors_present_and_missing(root: Path) -> None:
    bag = Bag()
    embed_index(root, bag)
    assert index_facts(root).vectors == VectorFacts(bag.name, 64, 3, 0)
    write(root, "Logs/2026-01-03.md", "- poison\n- plums\n")
    update_index(root)
    assert index_facts(root).vectors == VectorFacts(bag.name, 64, 3, 2)
    assert embed_index(root, bag).missing == 1
    (root / "Logs/2026-01-02.md").unlink()
    update_index(root)
    assert index_facts(root).vectors == VectorFacts(bag.name, 64, 2, 1)


def test_vectors_that_are_gone_are_missing(root: Path) -> None:
    embed_index(root, Bag())
    for vectors in (root / ".curate").glob("vectors-*"):
        vectors.unlink()
    assert index_facts(root).vectors == VectorFacts("test:bag", 64, 0, 3)


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


def test_the_first_day(root: Path) -> None:
    assert first_day(root) == "2026-01-01"


def test_it_is_told_without_heavy_imports(root: Path) -> None:
    embed_index(root, Bag())
    code = (
        "import sys; from pathlib import Path; from pipelines.search.index_facts import index_facts;"
        " assert index_facts(Path(sys.argv[1])).vectors.present == 3;"
        " assert not {'rich', 'pydantic', 'numpy', 'git'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code, root], check=True)
