"""Hits that are not close to the question are marked: by the words they have, and by how near they are in meaning."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.searching import search
from pipelines.search.build import update_index
from pipelines.search.embed import embed_index
from pipelines.search.query import SearchRequest, answer
from pipelines.search.schema import reading
from tests.search.bag import Bag

LINES = """\
- we moor the ship at the northern quay
- the fare of the ferry is four euros
- the ferry to the island leaves at nine
- the painter painted the harbour at dawn
- the volcano erupts on the island
- 火山は島にあります
"""


@pytest.fixture(name="root")
def filled(root: Path) -> Path:
    (root / "Logs").mkdir()
    (root / "Logs/2026-01-01.md").write_text(LINES, encoding="utf-8")
    update_index(root)
    return root


def how_much(root: Path, query: str, bag: Bag | None = None) -> str:
    asked = SearchRequest(vector=bag.embed_query(query), embedder=bag.name) if bag else SearchRequest()
    with reading(root) as connection:
        hits, found = answer(root, connection, query, 10, (), asked)
    assert bool(hits) is (found != "nothing")
    return found


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("When does the ferry leave for the island?", "yes"),
        ("Who painted the harbour?", "yes"),
        ("Which kubernetes cluster serves the ferry?", "little"),
        ("ferry passport", "little"),
        ("島の火山", "yes"),
        ("kubernetes", "nothing"),
        ("", "nothing"),
        ("type:Decision", "nothing"),
    ],
)
def test_by_words_alone_the_words_decide(root: Path, query: str, found: str) -> None:
    assert how_much(root, query) == found


def test_what_a_question_names_by_a_number_comes_first_and_is_close(root: Path) -> None:
    lines = (
        "We begin with #1088.",
        "Begin the changelog of 0.26.1, of 0.26.2, of 0.26.3!",
        "Now 0.26 is there, at last.",
    )
    (root / "Logs/2026-01-02.md").write_text("".join(f"- {line}\n\n" for line in lines), encoding="utf-8")
    update_index(root)
    for query, line in (("when may the bookkeepers begin #1088", 0), ("did 0.26 begin?", 2), ("v0.26.2", 1)):
        assert how_much(root, query) == "yes"
        assert lines[line] in search(root, query, 1)[0].text


class Faint(Bag):
    """Puts every text at the same cosine to every question."""

    def __init__(self, name: str, cosine: float) -> None:
        super().__init__(name, 2)
        self.cosine = cosine

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.tile(np.array([1, 0], np.float32), (len(texts), 1))

    def embed_query(self, text: str) -> NDArray[np.float32]:
        assert text
        return np.array([self.cosine, (1 - self.cosine**2) ** 0.5], np.float32)


@pytest.mark.parametrize(
    ("name", "cosine", "found"),
    [
        ("local:all-MiniLM-L6-v2", 0.45, "yes"),
        ("local:all-MiniLM-L6-v2", 0.35, "little"),
        ("voyage:voyage-3.5", 0.55, "yes"),
        ("voyage:voyage-3.5", 0.45, "little"),
    ],
)
def test_by_meaning_nearness_or_most_of_the_words_decide(root: Path, name: str, cosine: float, found: str) -> None:
    bag = Faint(name, cosine)
    embed_index(root, bag)
    assert how_much(root, "kubernetes cluster", bag) == found
    assert how_much(root, "Who painted the harbour?", bag) == "yes"
