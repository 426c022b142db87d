"""What is not there is said not to be: by its words, and by how near the index comes to unrelated questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from pipelines.errors import ModelFailed
from pipelines.search.build import rebuild_index, update_index
from pipelines.search.embed import embed_index
from pipelines.search.found import QUESTIONS, floor_of
from pipelines.search.matrix import read_stamp
from pipelines.search.query import SearchRequest, answer, search
from pipelines.search.schema import reading
from tests.search.bag import Bag

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from pipelines.search.matrix import MatrixStamp

LINES = """\
- we moor the ship at the northern quay
- the fare of the ferry is four euros
- the ferry to the island leaves at nine
- the painter painted the harbour at dawn
- the volcano erupts on the island
"""


class Counting(Bag):
    """Counts the questions that it is asked; while `failing`, it answers none."""

    def __init__(self) -> None:
        super().__init__(dimension=512)
        self.questions = 0
        self.failing = False

    def embed_query(self, text: str) -> NDArray[np.float32]:
        self.questions += text in QUESTIONS
        if self.failing and text in QUESTIONS:
            raise ModelFailed("bag", "is busy")
        return super().embed_query(text)


def write(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, encoding="utf-8")


@pytest.fixture(name="root")
def filled(root: Path) -> Path:
    write(root, "Logs/2026-01-01.md", LINES)
    update_index(root)
    return root


def how_much(root: Path, query: str, bag: Bag | None = None) -> str:
    asked = SearchRequest(vector=bag.embed_query(query), embedder=bag.name) if bag else SearchRequest()
    with reading(root) as connection:
        return answer(root, connection, query, 10, (), asked)[1]


def stamp_of(root: Path) -> MatrixStamp:
    stamp = read_stamp(root)
    assert stamp
    return stamp


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("When does the ferry leave for the island?", "yes"),
        ("Who painted the harbour?", "yes"),
        ("kubernetes", "nothing"),
        ("Which kubernetes cluster serves the ferry?", "nothing"),
        ("ferry passport", "little"),
        ("", "nothing"),
        ("type:Decision", "nothing"),
    ],
)
def test_by_words_alone_the_words_decide(root: Path, query: str, found: str) -> None:
    assert how_much(root, query) == found


def test_what_is_as_near_as_unrelated_questions_is_not_found_unless_telling_words_occur(root: Path) -> None:
    bag = Counting()
    embed_index(root, bag)
    floor = floor_of(stamp_of(root).chance)
    assert 0 < floor < 1
    assert how_much(root, "we tie the vessel at the northern quay", bag) == "yes"
    assert how_much(root, "kubernetes cluster", bag) == "nothing"
    assert how_much(root, "quay northern moor kubernetes", bag) == "little"


def test_the_floor_is_what_95_in_100_unrelated_questions_stay_under(root: Path) -> None:
    bag = Counting()
    embed_index(root, bag)
    lines = bag.embed_documents([f"{line[2:]} (1 January 2026)" for line in LINES.splitlines()])
    best = sorted(float((lines @ bag.embed_query(question)).max()) for question in QUESTIONS)
    assert floor_of(stamp_of(root).chance) == pytest.approx(best[37], abs=0.01)  # numbers are kept in a byte each
    assert floor_of(()) == 0.0


def test_the_questions_are_asked_once_and_never_shown(root: Path) -> None:
    bag = Counting()
    embed_index(root, bag)
    write(root, "Logs/2026-01-02.md", "- another line\n")
    update_index(root)
    embed_index(root, bag)
    rebuild_index(root)
    assert bag.questions == len(QUESTIONS)
    question = "Which moons does Jupiter have?"
    asked = SearchRequest(vector=bag.embed_query(question), embedder=bag.name)
    assert all(hit.path.startswith("Logs/") for hit in search(root, question, 100, (), asked))


def test_what_comes_and_goes_changes_the_floor_as_a_new_index_has_it(root: Path) -> None:
    bag = Counting()
    embed_index(root, bag)
    before = floor_of(stamp_of(root).chance)
    near = [f"- {question}\n" for question in QUESTIONS[:6]]
    write(root, "Areas/a.md", "\n".join(near))
    update_index(root)
    embed_index(root, bag)
    assert floor_of(stamp_of(root).chance) > max(before, 0.8)
    write(root, "Areas/a.md", "".join(near[:1]))
    update_index(root)
    followed = stamp_of(root)
    assert floor_of(followed.chance) == pytest.approx(before, abs=0.1)
    rebuild_index(root)
    assert [one for one, _ in stamp_of(root).chance] == [one for one, _ in followed.chance]


def test_without_a_floor_nothing_is_called_nothing_for_its_meaning(root: Path) -> None:
    bag = Counting()
    bag.failing = True
    report = embed_index(root, bag)
    assert (report.missing, report.faults) == (0, ())
    assert (floor_of(stamp_of(root).chance), bag.questions) == (0.0, 1)
    assert how_much(root, "ship kubernetes", bag) == "yes"
    bag.failing = False
    embed_index(root, bag)
    assert floor_of(stamp_of(root).chance) > 0


class Shifted(Counting):
    """Puts all texts near one another, as some embedders do: 0 becomes a cosine of `most`, 1 stays 1."""

    def __init__(self, most: float) -> None:
        super().__init__()
        self.most, self.dimension = most, self.dimension + 1

    def embed_query(self, text: str) -> NDArray[np.float32]:
        self.dimension -= 1
        bare = super().embed_query(text)
        self.dimension += 1
        return np.append(bare * np.float32((1 - self.most) ** 0.5), np.float32(self.most**0.5))


@pytest.mark.parametrize("most", [0.5, 0.8])
def test_the_verdict_is_the_same_wherever_an_embedder_puts_unrelated_texts(root: Path, most: float) -> None:
    bag, shifted = Counting(), Shifted(most)
    asked = ("we tie the vessel at the northern quay", "kubernetes cluster", "quay northern moor kubernetes", "a boat")
    embed_index(root, bag)
    floor, verdicts = floor_of(stamp_of(root).chance), [how_much(root, one, bag) for one in asked]
    shifted.name = "test:shifted"
    embed_index(root, shifted)
    assert floor_of(stamp_of(root).chance) > max(floor, most)
    assert [how_much(root, one, shifted) for one in asked] == verdicts


def test_an_embedder_that_tells_nothing_apart_calls_nothing_nothing(root: Path) -> None:
    same = Shifted(1.0)
    embed_index(root, same)
    assert floor_of(stamp_of(root).chance) == pytest.approx(1.0, abs=0.01)
    assert how_much(root, "kubernetes cluster", same) != "nothing"
