"""Vectors: nothing is embedded twice, a refused text stops no other, models are never mixed, damage is mended."""

import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.searching import search
from pipelines.errors import ModelFailed
from pipelines.search.build import rebuild_index, update_index
from pipelines.search.embed import embed_index
from pipelines.search.query import SearchRequest
from tests.making import plant
from tests.search.bag import Bag


def found(root: Path, query: str, bag: Bag, limit: int = 20) -> list[str]:
    asked = SearchRequest(vector=bag.embed_query(query), embedder=bag.name)
    return [f"{hit.path}:{hit.start_line}" for hit in search(root, query, limit, (), asked)]


@pytest.fixture(name="bag")
def embedder() -> Bag:
    return Bag()


@pytest.fixture(name="root")
def filled(root: Path, bag: Bag) -> Path:
    plant(root, "Logs/2026-01-01.md", "# d\n\n- we bought a vessel\n\n## more\n\n- the weather was cold\n")
    plant(root, "Areas/a.md", "---\ntitle: Health\n---\n# Visits\n\nthe physician was glad\n")
    update_index(root)
    embed_index(root, bag)
    return root


def test_nothing_is_embedded_twice(root: Path, bag: Bag) -> None:
    bag.asked.clear()
    (root / "Areas/a.md").rename(root / "Areas/b.md")
    plant(root, "Logs/2026-01-01.md", "# d\n\n- ahoy\n\n- we bought a vessel\n\n## more\n\n- the weather was cold\n")
    update_index(root)
    assert found(root, "boat", bag)[0] == "Logs/2026-01-01.md:5"
    assert embed_index(root, bag).embedded == 1
    rebuild_index(root)
    assert embed_index(root, bag).embedded == 0
    assert bag.asked == ["ahoy (d, 1 January 2026)"]
    assert found(root, "doctor", bag)[0] == "Areas/b.md:6"


def test_a_text_that_is_refused_costs_that_text_alone(root: Path, bag: Bag) -> None:
    words = ("boat", "tea", "plum", "lake", "north")
    lines = [f"- the {word} {number}" for number in range(40) for word in words]
    lines[77] = "- poison in the cellar"
    plant(root, "Logs/2026-01-02.md", "\n".join(lines))
    update_index(root)
    calls = count_calls(bag)
    report = embed_index(root, bag)
    assert (report.embedded, report.missing, report.faults) == (199, 1, ())
    assert len(calls) < 30
    assert found(root, "cellar", bag)[0] == "Logs/2026-01-02.md:78"


def test_an_embedder_that_fails_at_everything_blames_no_text(root: Path) -> None:
    class Down(Bag):
        def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
            raise ModelFailed("bag", f"is down for {'one text' if len(texts) == 1 else 'all'}")

    plant(root, "Areas/b.md", "\n\n".join(f"plum {number}" for number in range(500)))
    update_index(root)
    down = Down("test:down")
    calls = count_calls(down)
    report = embed_index(root, down)
    assert (report.embedded, report.missing, report.faults) == (0, 503, ("bag is down for one text.",))
    assert len(calls) == 6


def test_items_come_first_then_the_newest_and_of_a_day_the_shortest(root: Path, bag: Bag) -> None:
    plant(root, "Logs/2026-01-02.md", "- a boat on the lake\n\n- a boat\n")
    plant(root, "Logs/2026-01-03.md", "- a plum from the garden\n\n- a pear\n")
    plant(root, "Areas/b.md", "- Fact: tea is red <!-- k7f3a9c2b10 since=2025-01-01 -->\n\nundated\n")
    update_index(root)
    bag.asked.clear()
    told = list[tuple[int, int]]()
    embed_index(root, bag, advance=lambda *far: told.append(far))
    begins = [text.partition(" (")[0] for text in bag.asked]
    assert begins == [
        *("Fact: tea is red", "a pear", "a plum from the garden", "a boat", "a boat on the lake", "undated")
    ]
    assert told == [(6, 6)]


def count_calls(bag: Bag) -> list[int]:
    calls, work = list[int](), bag.embed_documents

    def counted(texts: Sequence[str]) -> NDArray[np.float32]:
        calls.append(len(texts))
        return work(texts)

    bag.embed_documents = counted  # type: ignore[method-assign]
    return calls


def test_vectors_of_two_models_are_never_compared(root: Path, bag: Bag) -> None:
    other = Bag("test:other", 32)
    assert found(root, "boat", other) == []
    embed_index(root, other)
    assert found(root, "boat", other)[0] == "Logs/2026-01-01.md:3"
    assert embed_index(root, bag).embedded == 0
    assert found(root, "boat", bag)[0] == "Logs/2026-01-01.md:3"


def test_the_files_are_private(root: Path, bag: Bag) -> None:
    plant(root, "Areas/b.md", "poison\n")
    update_index(root)
    embed_index(root, bag)
    files = [*(root / ".curate").glob("vectors*")]
    assert len(files) == 2
    assert all(path.stat().st_mode & 0o77 == 0 for path in files)


def test_the_vectors_of_another_model_make_room_after_a_month(
    root: Path, bag: Bag, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Bag("test:other", 32)
    embed_index(root, other)
    month = time.time() + 31 * 24 * 3600
    monkeypatch.setattr(time, "time", lambda: month)
    assert embed_index(root, bag).embedded == 0
    assert embed_index(root, other).embedded == 3
