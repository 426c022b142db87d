"""Vectors: nothing is embedded twice, a failing batch stops no other, models are never mixed, damage is mended."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pipelines.search import build as build_module
from pipelines.search import embed as embed_module
from pipelines.search import vectors as vectors_module
from pipelines.search.build import rebuild_index, update_index
from pipelines.search.embed import embed_index
from pipelines.search.matrix import STAMP, read_stamp
from pipelines.search.query import Asked, search
from pipelines.search.vectors import VECTORS
from tests.search.bag import Bag

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray


def write(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, encoding="utf-8")


def found(root: Path, query: str, bag: Bag, limit: int = 20) -> list[str]:
    asked = Asked(vector=bag.embed_query(query), embedder=bag.name)
    return [f"{hit.path}:{hit.start_line}" for hit in search(root, query, limit, (), asked)]


@pytest.fixture(name="bag")
def embedder() -> Bag:
    return Bag()


@pytest.fixture(name="root")
def filled(root: Path, bag: Bag) -> Path:
    write(root, "Logs/2026-01-01.md", "# d\n\n- we bought a vessel\n\n## more\n\n- the weather was cold\n")
    write(root, "Areas/a.md", "---\ntitle: Health\n---\n# Visits\n\nthe physician was glad\n")
    update_index(root)
    embed_index(root, bag)
    return root


def test_other_words_for_the_same_are_found(root: Path, bag: Bag) -> None:
    assert search(root, "boat", 5) == []
    assert found(root, "boat", bag)[0] == "Logs/2026-01-01.md:3"


def test_the_embedded_text_carries_headings_and_date_and_no_marks(bag: Bag, root: Path) -> None:
    assert root.is_dir()
    assert set(bag.asked) == {
        "we bought a vessel (d, 1 January 2026)",
        "the weather was cold (d > more, 1 January 2026)",
        "the physician was glad (Health > Visits)",
    }


def test_nothing_is_embedded_twice(root: Path, bag: Bag) -> None:
    bag.asked.clear()
    (root / "Areas/a.md").rename(root / "Areas/b.md")
    write(root, "Logs/2026-01-01.md", "# d\n\n- ahoy\n\n- we bought a vessel\n\n## more\n\n- the weather was cold\n")
    update_index(root)
    assert found(root, "boat", bag)[0] == "Logs/2026-01-01.md:5"
    assert embed_index(root, bag).embedded == 1
    rebuild_index(root)
    assert embed_index(root, bag).embedded == 0
    assert bag.asked == ["ahoy (d, 1 January 2026)"]
    assert found(root, "doctor", bag)[0] == "Areas/b.md:6"


def test_a_failing_batch_stops_no_other_and_is_tried_again(
    root: Path, bag: Bag, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embed_module, "BATCH", 1)
    write(root, "Areas/b.md", "poison in the cellar\n")
    write(root, "Areas/c.md", "cheerful people\n")
    update_index(root)
    report = embed_index(root, bag)
    assert (report.embedded, report.missing, report.faults) == (1, 1, ("bag was poisoned.",))
    assert found(root, "happy", bag)[:2] == ["Areas/c.md:1", "Areas/a.md:6"]
    assert found(root, "cellar", bag)[0] == "Areas/b.md:1"
    bag.failing = False
    report = embed_index(root, bag)
    assert (report.embedded, report.missing, report.faults) == (1, 0, ())


def test_where_most_units_lack_a_vector_words_answer_whatever_was_in_the_index_before(root: Path, bag: Bag) -> None:
    for change in range(4):
        write(root, "Logs/2026-01-01.md", "".join(f"- a vessel {change} {line}\n" for line in range(4)))
        update_index(root)
        embed_index(root, bag)
    write(root, "Logs/2026-01-01.md", "- a vessel 3 0\n- poison on the boat\n- poison\n- poison in a cup\n")
    update_index(root)
    assert embed_index(root, bag).missing == 3  # of five
    assert found(root, "boat", bag) == ["Logs/2026-01-01.md:2", "Logs/2026-01-01.md:1", "Logs/2026-01-01.md:3"]
    rebuild_index(root)
    assert found(root, "boat", bag) == ["Logs/2026-01-01.md:2", "Logs/2026-01-01.md:1", "Logs/2026-01-01.md:3"]
    write(root, "Areas/b.md", "- a vessel 3 1 of glad people\n\nanother sail\n")
    update_index(root)
    bag.failing = False
    embed_index(root, bag)
    assert "Areas/a.md:6" in found(root, "happy", bag)


def test_what_a_model_gives_is_checked(root: Path) -> None:
    class Broken(Bag):
        def embed_documents(self, texts: object) -> NDArray[np.float32]:
            assert texts
            return np.full((3, self.dimension), np.nan, np.float32)

    report = embed_index(root, Broken("test:broken"))
    assert (report.embedded, report.missing) == (0, 3)
    assert "no use" in report.faults[0]


def test_vectors_of_two_models_are_never_compared(root: Path, bag: Bag) -> None:
    other = Bag("test:other", 32)
    assert found(root, "boat", other) == []
    embed_index(root, other)
    assert found(root, "boat", other)[0] == "Logs/2026-01-01.md:3"
    assert found(root, "boat", bag) == []
    assert embed_index(root, bag).embedded == 0
    assert found(root, "boat", bag)[0] == "Logs/2026-01-01.md:3"


def test_a_model_that_fails_whole_leaves_the_old_vectors_in_use(root: Path, bag: Bag) -> None:
    write(root, "Areas/b.md", "poison\n")
    update_index(root)
    assert embed_index(root, Bag("test:other")).missing == 4
    assert found(root, "boat", bag)[0] == "Logs/2026-01-01.md:3"


@pytest.mark.parametrize("lost", [STAMP, "matrix", VECTORS])
def test_what_is_lost_or_damaged_is_made_again(root: Path, bag: Bag, lost: str) -> None:
    stamp = read_stamp(root)
    assert stamp
    path = root / (stamp.file if lost == "matrix" else lost)
    for spoil in (path.unlink, lambda: path.write_bytes(b"x" * 5000)):
        spoil()
        update_index(root)
        embed_index(root, bag)
        assert found(root, "boat", bag)[0] == "Logs/2026-01-01.md:3"


def test_a_vector_that_the_disk_changed_is_not_believed(root: Path, bag: Bag) -> None:
    with closing(sqlite3.connect(root / VECTORS)) as store:
        store.execute("UPDATE vectors SET vector = zeroblob(length(vector))")
        store.commit()
    rebuild_index(root)
    assert embed_index(root, bag).embedded == 3


def test_the_files_are_private(root: Path) -> None:
    stamp = read_stamp(root)
    assert stamp
    assert all((root / path).stat().st_mode & 0o77 == 0 for path in (VECTORS, stamp.file, STAMP))


def test_numbers_that_lie_idle_are_given_anew(root: Path, bag: Bag, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_module, "SPARE_NUMBERS", 4)
    for turn in range(5):
        write(root, "Areas/a.md", "the physician was glad\n" if turn % 2 else "the physician was happy\n")
        update_index(root)
        embed_index(root, bag)
        stamp = read_stamp(root)
        assert stamp
        assert stamp.units <= 10
    assert found(root, "doctor", bag)[0] == "Areas/a.md:1"


def test_vectors_of_what_is_gone_are_dropped_in_time(root: Path, bag: Bag, monkeypatch: pytest.MonkeyPatch) -> None:
    def held() -> int:
        with closing(sqlite3.connect(root / VECTORS)) as store:
            return int(store.execute("SELECT count(*) FROM vectors").fetchone()[0])

    for path in ("Areas/a.md", "Logs/2026-01-01.md"):
        (root / path).unlink()
    write(root, "Areas/b.md", "new\n")
    update_index(root)
    embed_index(root, bag)
    rebuild_index(root)
    assert held() == 4
    monkeypatch.setattr(vectors_module, "_SPARE", 0)
    rebuild_index(root)
    assert held() == 1
    assert found(root, "new", bag) == ["Areas/b.md:1"]
