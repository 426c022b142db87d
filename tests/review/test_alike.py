"""`[review] duplicates = "merge"`: other words for the same are merged, and never what differs in a value or a name."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pipelines.errors import ModelFailed
from pipelines.extract.extraction import OperationKind
from pipelines.review.meaning import Vectors, repeated
from pipelines.search.embedders import choose_embedder as choose
from pipelines.store.item import Item, ItemType
from tests.making import candidate
from tests.review.ruling import context, rulings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tests.conftest import Memory

HELD = "The backup of the harbour station runs every night on the old server"
SAID = "The harbour station is backed up every night on the old server"


class Near:
    """An embedder to whom all sentences are nearly the same."""

    name, dimension = "local:near", 2

    def __init__(self, cosine: float) -> None:
        self.cosine, self.asked = cosine, list[str]()

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked += texts
        turned = [np.arccos(self.cosine) * (len(text) != len(HELD)) for text in texts]
        return np.stack([np.cos(turned), np.sin(turned)], axis=1).astype(np.float32)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        raise AssertionError(text)


def verdict(held: str, said: str, embedder: Near | None, kind: ItemType = ItemType.DECISION) -> OperationKind:
    items = [("Areas/general.md", Item(kind, held, id="k1111111111"))]
    vectors = Vectors(lambda: embedder)
    [ruling] = rulings([candidate(said)], replace(context(items, vectors=vectors), merging=vectors))
    [kept] = rulings([candidate(said)], context(items, vectors=vectors))
    assert kept.kind is not OperationKind.CONFIRM, "unless the settings want it, nothing is merged"
    return ruling.kind


def test_what_means_the_same_confirms_what_stands() -> None:
    assert verdict(HELD, SAID, Near(0.95)) is OperationKind.CONFIRM
    assert verdict(HELD, SAID, Near(0.9)) is OperationKind.ADD
    assert verdict(HELD, SAID, None) is OperationKind.ADD
    assert verdict(HELD, SAID, Near(0.95), ItemType.RULE) is OperationKind.ADD


@pytest.mark.parametrize(
    "said",
    [
        "The harbour station is backed up every night on server 7",
        "The harbour station is not backed up every night on the old server",
        "The harbour station is backed up every night on the old server until 2026-04-01",
        "The harbour station is backed up every night on the old server of Anna",
        "The harbour station is backed up only on Sundays on the old server",
        "Everybody likes tea",
    ],
)
def test_nothing_that_differs_is_merged_however_near_it_is(said: str) -> None:
    assert verdict(HELD, said, Near(0.999)) is not OperationKind.CONFIRM


def test_words_turned_round_are_not_the_same() -> None:
    held, said = (
        "Replace the parser with the lexer in the importer",
        "Replace the lexer with the parser in the importer",
    )
    assert verdict(held, said, Near(0.999)) is not OperationKind.CONFIRM


def test_each_sentence_is_embedded_once_and_a_failing_model_costs_nothing() -> None:
    near = Near(0.95)
    vectors = Vectors(lambda: near)
    assert repeated(SAID, [HELD], vectors) == repeated(SAID, [HELD], vectors) == [True]
    assert sorted(near.asked) == sorted([HELD, SAID])

    class Failing(Near):
        def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
            raise ModelFailed("local", f"cannot embed {len(texts)}")

    broken = Vectors(lambda: Failing(1.0))
    assert repeated(SAID, [HELD], broken) == [False]
    assert not broken.model


def test_a_night_with_meaning_merges(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choose, "choose_local", lambda _: Near(0.95))
    memory.write("curate.toml", '[review]\nduplicates = "merge"\n')
    memory.write("Logs/2026-03-11.md", f"- Fact: {HELD}\n")
    memory.curate("run", "--now", "2026-03-12T02:00")
    memory.write("Logs/2026-03-12.md", f"- Fact: {SAID}\n")
    told = json.loads(memory.curate("run", "--json", "--now", "2026-03-13T02:00"))
    assert told["items"]["added"] == 0
