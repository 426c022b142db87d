"""Signs: of very many vectors those that matter are looked at, and whatever happens to the signs, the answers stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pipelines.search import binary_vectors as scanning
from pipelines.search.binary_vectors import differing, exact, fewest, nearest, scan, signs_of, words_of
from pipelines.search.build import update_index
from pipelines.search.embed import embed_index
from pipelines.search.matrix import Matrix, MatrixStamp, open_matrix, read_stamp
from pipelines.search.query import SearchRequest, search
from pipelines.search.vectors import StoredVectors, packed
from tests.search.bag import Bag

if TYPE_CHECKING:
    from pathlib import Path

    import pytest
    from numpy.typing import NDArray


def made(count: int, dimension: int = 384) -> NDArray[np.float32]:
    """Return vectors of length one around topics, as real ones lie."""
    chance = np.random.default_rng(3)
    topics = chance.standard_normal((20, dimension), np.float32)
    rows = topics[chance.integers(0, 20, count)] + chance.standard_normal((count, dimension), np.float32)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


@given(st.integers(1, 200), st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_signs_are_counted_as_they_differ(dimension: int, count: int, seed: int) -> None:
    rows = np.random.default_rng(seed).standard_normal((count, dimension)).astype(np.float32)
    question = rows[0]
    counts = differing(signs_of(rows), signs_of(question[None])[0])
    assert signs_of(rows).shape == (count, words_of(dimension))
    assert counts.tolist() == ((rows > 0) != (question > 0)).sum(axis=1).tolist()


@given(st.lists(st.integers(0, 300), min_size=1, max_size=60), st.integers(1, 60))
def test_the_fewest_are_picked_with_all_that_are_as_few(counts: list[int], least: int) -> None:
    picked = fewest(np.asarray(counts, np.uint16), min(least, len(counts))).tolist()
    bar = sorted(counts)[min(least, len(counts)) - 1]
    assert picked == [place for place, count in enumerate(counts) if count <= bar]


def test_of_many_vectors_the_nearest_are_found_by_their_signs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanning, "LARGE", 1000)
    monkeypatch.setattr(scanning, "_FEW", 1000)
    monkeypatch.setattr(scanning, "_LEAST", 1000)
    rows = made(20_000)
    stamp = MatrixStamp("b", "m", rows.shape[1], vectors=len(rows), units=len(rows) - 1)
    numbers, factors = packed(rows)
    entries = np.zeros((len(rows), 24), np.uint8)
    entries[:, 16:20] = factors[:, None].view(np.uint8)
    kept, places = StoredVectors(stamp.model, 1, entries, numbers), np.arange(len(rows))
    signed, plain = Matrix(stamp, kept, places, signs_of(numbers)), Matrix(stamp, kept, places)
    allowed = list(range(0, len(rows), 3))
    shares = []
    for question in rows[:40]:
        for units in (None, allowed):
            scanned = scan(signed, question, units, 10)
            assert not scanned[2]
            near = set(nearest(scanned, 10))
            true = set(nearest(scan(plain, question, units, 10), 10))
            shares.append(len(near & true) / len(true))
            assert exact(signed, question, sorted(near & true)) == exact(plain, question, sorted(near & true))
            assert units is None or not near - set(allowed)
    assert np.mean(shares) >= 0.99


def test_whatever_is_wrong_with_the_signs_the_answers_stand(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanning, "LARGE", 2)
    monkeypatch.setattr(scanning, "_FEW", 1)
    monkeypatch.setattr(scanning, "_LEAST", 1)
    bag = Bag()
    (root / "Logs").mkdir(exist_ok=True)
    lines = "".join(f"- the {word} came at dawn\n" for word in ("vessel", "physician", "weather", "train", "letter"))
    (root / "Logs/2026-01-01.md").write_text(f"# d\n\n{lines}")
    update_index(root)
    embed_index(root, bag)
    stamp = read_stamp(root)
    assert stamp
    file = root / stamp.signs
    sound = file.read_bytes()
    assert len(sound) == stamp.vectors * 8 * words_of(stamp.dimension)

    def answers() -> list[tuple[str, float]]:
        asked = SearchRequest(vector=bag.embed_query("boat"), embedder=bag.name)
        return [(hit.text, hit.score) for hit in search(root, "boat", 5, (), asked)]

    before = answers()
    for damage in (sound[:-1], b"\xff" * len(sound), b""):
        file.unlink()
        file.write_bytes(damage)
        update_index(root)
        embed_index(root, bag)
        assert file.read_bytes() == sound
        assert answers() == before
    file.unlink()
    matrix = open_matrix(root, stamp.build)
    assert matrix is not None
    assert answers() == before
    embed_index(root, bag)
    assert file.read_bytes() == sound


def test_signs_follow_what_is_added(root: Path) -> None:
    bag = Bag()
    (root / "Logs").mkdir(exist_ok=True)
    for number in range(4):
        (root / f"Logs/2026-01-0{number + 1}.md").write_text(f"- the vessel number {number} came\n")
        update_index(root)
        embed_index(root, bag)
        stamp = read_stamp(root)
        assert stamp
        matrix = open_matrix(root, stamp.build)
        assert matrix is not None
        assert matrix.signs is not None
        assert np.array_equal(matrix.signs, signs_of(matrix.kept.rows))
    assert not list((root / ".curate").glob("*.new"))
