"""A change of model, of dimension or of how files are cut is noticed, made aside, and no dearer than need be."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.searching import search
from pipelines.search import embed as embed_module
from pipelines.search.build import update_index
from pipelines.search.embed import embed_index
from pipelines.search.query import SearchRequest
from tests.making import plant
from tests.search.bag import Bag
from tests.search.dying import dying

ITEM = "- Decision: Sail the vessel north. <!-- k7f3a9c2b10 since=2026-02-01 trust=self confidence=medium -->\n"
CLOSED = (
    "- ~~Decision: Sail the vessel north.~~ <!-- k7f3a9c2b10 since=2026-02-01 until=2026-03-01 superseded-by=k2 -->\n"
)


def found(root: Path, query: str, bag: Bag) -> list[str]:
    asked = SearchRequest(vector=bag.embed_query(query), embedder=bag.name)
    return [f"{hit.path}:{hit.start_line}" for hit in search(root, query, 20, (), asked)]


@pytest.fixture(name="bag")
def embedder() -> Bag:
    return Bag()


@pytest.fixture(name="root")
def filled(root: Path, bag: Bag) -> Path:
    plant(root, "Projects/p.md", f"---\ntitle: P\n---\n## Decisions\n\n{ITEM}")
    plant(root, "Areas/untitled.md", "## Visits\n\nthe physician was glad\n")
    update_index(root)
    embed_index(root, bag)
    bag.asked.clear()
    return root


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("Areas/other.md", f"---\ntitle: Other\n---\n## Elsewhere\n\n{ITEM}"),
        ("Projects/p.md", f"---\ntitle: Renamed\n---\n## History\n\n{ITEM}"),
        ("Projects/p.md", f"---\ntitle: P\n---\n## History\n\n{CLOSED}"),
    ],
)
def test_a_moved_item_costs_nothing(root: Path, bag: Bag, path: str, text: str) -> None:
    (root / "Projects/p.md").unlink()
    plant(root, path, text)
    update_index(root)
    assert (embed_index(root, bag).missing, bag.asked) == (0, [])


def test_another_dimension_of_the_same_model_is_not_compared(root: Path, bag: Bag) -> None:
    other = Bag(bag.name, 32)
    assert found(root, "boat", other) == []
    assert embed_index(root, other).embedded == 2
    assert found(root, "boat", other)[0] == "Projects/p.md:6"
    assert found(root, "boat", bag)[0] == "Projects/p.md:6"


def test_the_old_vectors_answer_until_the_new_ones_are_whole(
    root: Path, bag: Bag, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[list[str]] = []

    class Slow(Bag):
        def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
            seen.append(found(root, "boat", bag)[:1])
            return super().embed_documents(texts)

    monkeypatch.setattr(embed_module, "BATCH", 1)
    embed_index(root, Slow("test:slow"))
    assert seen == [["Projects/p.md:6"]] * 2


@pytest.mark.parametrize("call", ["keep", "drop_unused"])
def test_a_change_of_model_that_is_killed_leaves_the_old_vectors(root: Path, bag: Bag, call: str) -> None:
    with dying(root, embed_module, call, 0) as fired:
        embed_index(root, Bag("test:other"))
    assert fired
    assert found(root, "boat", bag)[0] == "Projects/p.md:6"
    assert (embed_index(root, bag).embedded, bag.asked) == (0, [])
