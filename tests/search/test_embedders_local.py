"""The local model: a plain forward pass against the paper's, and what is said when it cannot run."""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pipelines.errors import EmbeddingFailed
from pipelines.search.embedders.local import LocalEmbedder
from tests.search import tiny_bert

TEXTS = [
    "the cat sat on the mat",
    "dogs ran home",
    "we chose blue paint",
    "",
    "the dog sat on a blue mat and the cats ran home",
    "日本語 \ud800 nothing known",
    *(f"{'the cat ran ' * count}home" for count in range(9)),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    tiny_bert.be_local(monkeypatch)
    return tiny_bert.lay(tmp_path / "tiny")


def test_it_computes_what_the_paper_says(folder: Path) -> None:
    tokenizer = tiny_bert.tokenizer()
    tokenizer.no_padding()
    tokenizer.no_truncation()
    ids = [tokenizer.encode(text.encode("utf-8", "replace").decode()).ids for text in TEXTS]
    limit = tiny_bert.POSITIONS
    assert max(map(len, ids)) > limit
    # A long text is read but for its middle: a quarter of what can be read is its end.
    ids = [row if len(row) <= limit else row[: limit - limit // 4] + row[-(limit // 4) :] for row in ids]
    wanted = np.stack([tiny_bert.forward(tiny_bert.weights(), row) for row in ids])
    found = LocalEmbedder(folder).embed_documents(TEXTS)
    assert found.dtype == np.float32
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)
    assert np.sum(found * wanted, axis=1).min() >= 0.9999


def test_the_vector_of_a_text_depends_on_no_other(folder: Path) -> None:
    one = LocalEmbedder(folder)
    together = one.embed_documents(TEXTS)
    assert [one.embed_query(text).tobytes() for text in TEXTS] == [row.tobytes() for row in together]


def test_a_missing_library_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(EmbeddingFailed, match="needs a library that is not installed"):
        LocalEmbedder(folder).embed_query("the cat")


def test_a_vector_without_direction_is_said(folder: Path) -> None:
    nothing = {name: tensor * np.float32(0) for name, tensor in tiny_bert.weights().items()}
    (folder / "model.safetensors").write_bytes(tiny_bert.safetensors(nothing))
    with pytest.raises(EmbeddingFailed, match="without a direction"):
        LocalEmbedder(folder).embed_query("the cat")


def cut(data: bytes) -> bytes:
    return data[: len(data) - 5]


def beyond(data: bytes) -> bytes:
    return (2**62).to_bytes(8, "little") + data[8:]


@pytest.mark.parametrize("damage", [cut, beyond, lambda _: b"", lambda _: b"x" * 400, lambda data: data[:30]])
@pytest.mark.parametrize("name", tiny_bert.FILES)
def test_damaged_files_are_said(folder: Path, name: str, damage: Callable[[bytes], bytes]) -> None:
    (folder / name).write_bytes(damage((folder / name).read_bytes()))
    with pytest.raises(EmbeddingFailed, match=r"cannot be loaded \(.*curate models fetch"):
        LocalEmbedder(folder).embed_documents(["the cat"])
