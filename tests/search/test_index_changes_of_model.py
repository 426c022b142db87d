"""A change of model, of dimension or of how files are cut is noticed, made aside, and no dearer than need be."""

from __future__ import annotations

import hashlib
import threading
from typing import TYPE_CHECKING

import pytest

from pipelines.search import embed as embed_module
from pipelines.search import rows
from pipelines.search.build import rebuild_index, update_index
from pipelines.search.chunk_context import surround
from pipelines.search.chunks import read_units
from pipelines.search.embed import embed_index
from pipelines.search.query import SearchRequest, search
from pipelines.search.schema import INDEX, VERSION
from pipelines.search.vectors import RECORD
from pipelines.store.generated import Sentence
from tests.search.bag import Bag
from tests.search.dying import dying

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

ITEM = "- Decision: Sail the vessel north. <!-- k7f3a9c2b10 since=2026-02-01 trust=self confidence=medium -->\n"
CLOSED = (
    "- ~~Decision: Sail the vessel north.~~ <!-- k7f3a9c2b10 since=2026-02-01 until=2026-03-01 superseded-by=k2 -->\n"
)


def write(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, encoding="utf-8")


def found(root: Path, query: str, bag: Bag) -> list[str]:
    asked = SearchRequest(vector=bag.embed_query(query), embedder=bag.name)
    return [f"{hit.path}:{hit.start_line}" for hit in search(root, query, 20, (), asked)]


@pytest.fixture(name="bag")
def embedder() -> Bag:
    return Bag()


@pytest.fixture(name="root")
def filled(root: Path, bag: Bag) -> Path:
    write(root, "Projects/p.md", f"---\ntitle: P\n---\n## Decisions\n\n{ITEM}")
    write(root, "Areas/untitled.md", "## Visits\n\nthe physician was glad\n")
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
    write(root, path, text)
    update_index(root)
    assert (embed_index(root, bag).missing, bag.asked) == (0, [])


def test_a_renamed_document_costs_nothing_even_where_only_its_name_is_its_title(root: Path, bag: Bag) -> None:
    (root / "Areas/untitled.md").rename(root / "Areas/renamed.md")
    update_index(root)
    assert (embed_index(root, bag).missing, bag.asked) == (0, [])
    assert found(root, "happy doctor", bag)[0] == "Areas/renamed.md:3"


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


@pytest.mark.parametrize("call", ["keep", "tidy"])
def test_a_change_of_model_that_is_killed_leaves_the_old_vectors(root: Path, bag: Bag, call: str) -> None:
    with dying(root, embed_module, call, 0) as fired:
        embed_index(root, Bag("test:other"))
    assert fired
    assert found(root, "boat", bag)[0] == "Projects/p.md:6"
    assert (embed_index(root, bag).embedded, bag.asked) == (0, [])


def test_while_most_is_not_embedded_what_is_answers_by_its_meaning(root: Path, bag: Bag) -> None:
    write(root, "Areas/b.md", "poison\n\npoison pear\n\npoison plum\n\nnothing of a cheerful kind, poison\n")
    update_index(root)
    assert embed_index(root, bag).missing == 4
    assert found(root, "boat", bag)[0] == "Projects/p.md:6"
    assert found(root, "pear", bag)[0] == "Areas/b.md:3"
    bag.failing = False
    (root / ".curate" / RECORD).unlink()
    embed_index(root, bag)
    assert found(root, "boat", bag)[0] == "Projects/p.md:6"


def test_a_search_is_answered_while_a_rebuild_is_under_way(
    root: Path, bag: Bag, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached, go_on, put, before = threading.Event(), threading.Event(), rows.put, (root / INDEX).stat().st_ino

    def held(*given: object) -> None:
        reached.set()
        assert go_on.wait(20)
        put(*given)  # type: ignore[arg-type]  # passed on as they came

    monkeypatch.setattr(rows, "put", held)
    rebuild = threading.Thread(target=rebuild_index, args=(root,))
    rebuild.start()
    try:
        assert reached.wait(20)
        assert found(root, "boat", bag)[0] == "Projects/p.md:6"
        assert (root / INDEX).stat().st_ino == before
    finally:
        go_on.set()
        rebuild.join()
    assert found(root, "boat", bag)[0] == "Projects/p.md:6"


# Whoever changes how files are cut, or what a unit is scored with, raises VERSION: only then is every index built anew.
CUT = (17, "486c5b4ea46b6183")


def test_a_change_of_how_files_are_cut_comes_with_a_new_version() -> None:
    text = (
        "# A\n\n- one\n- Fact: two <!-- k7f3a9c2b10 since=2026-02-01 -->\n  - note\n\n" + "Long prose goes on. " * 200
    )
    text += f"\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\ncode\n```\n\n{CLOSED}\n10:00 東京 #tag\n"
    text += "\n#quay 使用SQLite\n\na | b\n---|---\n1 | 2\n"
    text += f"\n## 2026-01-02\n\n{Sentence('Learnt: two.', ('k7f3a9c2b10',), lines='4').render()}\nWe met.\n"
    paths = ("Logs/2026-01-02.md", "Projects/p.md", "Episodes/2026-01.md")
    cut = [surround(path, read_units(path, text)) for path in paths]
    assert (VERSION, hashlib.sha256(repr(cut).encode()).hexdigest()[:16]) == CUT
