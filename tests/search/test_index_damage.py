"""Bytes that a disk changed: noticed and made anew, or harmless. The many seeds are in the torture tests."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from pipelines.errors import IndexUnusable
from pipelines.search.build import update_index
from pipelines.search.embed import embed_index
from pipelines.search.query import SearchRequest, search
from pipelines.search.schema import INDEX
from tests.search.bag import Bag
from tests.search.flips import answers, answers_as_searched, bring, files, fill, flip

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.search.hits import Hit


@pytest.fixture(name="source", scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("damage") / "memory"
    root.mkdir()
    fill(root)
    return root


@pytest.fixture(name="right", scope="module")
def sound_answers(source: Path) -> list[list[Hit]]:
    return answers(source)


@pytest.fixture(name="root")
def copied(source: Path, tmp_path: Path) -> Path:
    return shutil.copytree(source, tmp_path / "memory")


@pytest.mark.parametrize("seed", range(3))
def test_a_hundred_bytes_of_the_index_are_noticed(root: Path, right: list[list[Hit]], seed: int) -> None:
    before = (root / INDEX).stat().st_ino
    flip(root / INDEX, seed, 100)
    bring(root)
    assert (root / INDEX).stat().st_ino != before
    assert answers(root) == right


def test_a_search_alone_notices_a_hundred_bytes(root: Path, right: list[list[Hit]]) -> None:
    flip(root / INDEX, 7, 100)
    assert answers_as_searched(root) == right


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("which", ["rows", "keys", "bits", "places"])
def test_a_hundred_bytes_of_the_vectors_are_noticed(root: Path, right: list[list[Hit]], which: str, seed: int) -> None:
    flip(files(root)[which], seed, 100)
    bring(root)
    assert answers(root) == right


def change(root: Path, statement: str) -> None:
    """Change rows as no writer of the index would, and behind the back of its full-text tables."""
    with closing(sqlite3.connect(root / INDEX)) as index:
        for (name,) in index.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            index.execute(f"DROP TRIGGER {name}")
        index.execute(statement)
        index.commit()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE units SET date = '2026-01-09' WHERE date = '2026-01-03'",
        "UPDATE units SET start_line = start_line + 1 WHERE id = 7",
        "UPDATE units SET hidden = 0 WHERE hidden",
        "UPDATE units SET text = upper(text) WHERE id = 7",
        "UPDATE units SET key = randomblob(16) WHERE id = 7",
        "UPDATE files SET path = 'Logs/2026-01-09.md' WHERE id = 2",
        "UPDATE passages SET file = 1 WHERE file = 2",
        "UPDATE marks SET last_unit = 3",
        "DELETE FROM marks",
    ],
)
def test_what_sqlite_does_not_notice_is_noticed(
    root: Path, right: list[list[Hit]], statement: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The triggers are gone, too, which is noticed by itself; here the rows have to tell.
    monkeypatch.setattr(
        "pipelines.search.damage.schema_sum",
        lambda index: index.execute("SELECT ifnull((SELECT tables FROM marks), 0)").fetchone()[0],
    )
    before = (root / INDEX).stat().st_ino
    change(root, statement)
    bring(root)
    assert (root / INDEX).stat().st_ino != before
    assert answers(root) == right


def test_tables_that_are_not_as_they_were_made_are_noticed(root: Path) -> None:
    before = (root / INDEX).stat().st_ino
    change(root, "SELECT 1")
    update_index(root)
    assert (root / INDEX).stat().st_ino != before


def test_no_hit_is_shown_that_is_not_as_it_was_written(root: Path) -> None:
    change(root, "UPDATE units SET text = replace(text, 'boat', 'tank')")
    with pytest.raises(IndexUnusable, match="damaged"):
        search(root, "boat", 5)


@pytest.mark.parametrize("explain", [False, True])
def test_a_unit_of_a_file_that_is_not_there_is_damage(root: Path, *, explain: bool) -> None:
    change(root, "UPDATE units SET file = 9999 WHERE text LIKE '%boat%'")
    with pytest.raises(IndexUnusable, match="damaged"):
        search(root, "boat", 5, (), SearchRequest(explain=explain))


def test_a_model_whose_file_is_gone_for_good_says_so_and_words_go_on(root: Path) -> None:
    keys = files(root)["keys"]
    keys.unlink()
    keys.mkdir()
    with pytest.raises(OSError, match="directory"):
        embed_index(root, Bag())
    update_index(root)
    assert search(root, "boat", 5)
